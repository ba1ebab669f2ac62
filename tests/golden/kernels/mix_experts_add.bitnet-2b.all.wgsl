@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> chosen: array<f32>;
@group(0) @binding(2) var<storage, read> shared_x: array<f32>;
@group(0) @binding(3) var<storage, read> gate: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(128)
fn mix_experts_add(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let column = wg.x * 128u + tid;
  var sum: f32 = 0f;
  let weight = chosen[wg.y * 4u + 2u + 0u];
  sum += weight * x[(wg.y * 2u + 0u) * 256u + column];
  let weight_1 = chosen[wg.y * 4u + 2u + 1u];
  sum += weight_1 * x[(wg.y * 2u + 1u) * 256u + column];
  let at = wg.y * 256u + column;
  let g = gate[wg.y];
  sum += shared_x[at] / (1f + exp(-g));
  y[at] += sum;
}
