@group(0) @binding(0) var<storage, read> gate: array<f32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;

@compute @workgroup_size(128)
fn sigmoid_mul(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let column = wg.x * 128u + tid;
  let i = wg.y * 256u + column;
  let g = gate[i];
  let gated = x[i] / (1f + exp(-g));
  x[i] = gated;
}
