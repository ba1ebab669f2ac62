@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read_write> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> indices: array<u32>;

@compute @workgroup_size(16)
fn argmax_parts(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  var value: f32 = -3.4e+38f;
  var index: u32 = 4294967295u;
  let part = wg.x * 16u + tid;
  let last = min(part * 128u + 128u, 8192u);
  for (var i = part * 128u; i < last; i += 1u) {
    let logit = logits[i];
    if ((logit > value) || ((logit == value) && (i < index))) {
      value = logit;
      index = i;
    }
  }
  values[part] = value;
  indices[part] = index;
}
