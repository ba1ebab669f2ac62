@group(0) @binding(0) var<storage, read> gate: array<f32>;
@group(0) @binding(1) var<storage, read> up: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(128)
fn gelu_mul(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let column = wg.x * 128u + tid;
  let i = wg.y * 256u + column;
  let g = gate[i];
  let u = up[wg.y * 8960u + 512u + column];
  let cube = g * g * g;
  let inner = (g + cube * 0.044715f) * 0.7978846f;
  let grown = exp(clamp(inner * 2f, -20f, 20f)) + 1f;
  let tangent = 1f - 2f / grown;
  y[i] = g * 0.5f * (tangent + 1f) * u;
}
