@group(0) @binding(0) var<storage, read_write> logits: array<u32>;
@group(0) @binding(1) var<storage, read> changes: array<u32>;

@compute @workgroup_size(256)
fn sample_change(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let i = wg.x * 256u + tid;
  if (i < changes[0u]) {
    let change_at = (i + 1u) * 8u;
    let place = changes[change_at];
    let bias_bits = changes[change_at + 1u];
    let bits = logits[place];
    let biased = bitcast<f32>(bits) + bitcast<f32>(bias_bits);
    let first = bitcast<f32>(changes[change_at + 2u]);
    let lowered = biased - first;
    let factor = bitcast<f32>(changes[change_at + 3u]);
    let divided = select(lowered * factor, lowered / factor, lowered > 0f);
    let second = bitcast<f32>(changes[change_at + 4u]);
    let less = divided - second;
    let third = bitcast<f32>(changes[change_at + 5u]);
    let least = clamp(less - third, -1e+15f, 1e+15f);
    let magnitude = bits & 2147483647u;
    let kept = select(bits, bitcast<u32>(least), magnitude < 2139095040u);
    let never = select(select(4286578688u, 2143289344u, bits == 2139095040u), bits, magnitude > 2139095040u);
    logits[place] = select(kept, never, bias_bits == 4286578688u);
  }
}
