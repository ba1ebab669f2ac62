@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> q: array<f32>;
@group(0) @binding(2) var<storage, read_write> gate: array<f32>;

@compute @workgroup_size(128)
fn split_heads(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let column = wg.x * 128u + tid;
  let source = wg.y * 512u + column + column / 64u * 64u;
  let to = wg.y * 256u + column;
  q[to] = x[source];
  gate[to] = x[source + 64u];
}
