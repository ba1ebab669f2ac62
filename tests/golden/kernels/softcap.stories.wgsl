@group(0) @binding(0) var<storage, read_write> x: array<f32>;

@compute @workgroup_size(128)
fn softcap(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let column = wg.x * 128u + tid;
  let i = wg.y * 8192u + column;
  let v = x[i];
  let part = v * 0.033333335f;
  let grown = exp(clamp(part * 2f, -20f, 20f)) + 1f;
  let tangent = 1f - 2f / grown;
  let capped = tangent * 30f;
  x[i] = capped;
}
