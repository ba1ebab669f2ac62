@group(0) @binding(0) var<storage, read> gate: array<f32>;
@group(0) @binding(1) var<storage, read> up: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(128)
fn relu2_mul(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let column = wg.x * 128u + tid;
  let i = wg.y * 1536u + column;
  let g = gate[i];
  let u = up[i];
  let positive = max(g, 0f);
  y[i] = positive * positive * u;
}
