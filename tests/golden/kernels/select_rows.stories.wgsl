@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> params: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(128)
fn select_rows(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let list = params[1u];
  let row = params[list + wg.y];
  let column = wg.x * 128u + tid;
  y[wg.y * 512u + column] = x[row * 512u + column];
}
