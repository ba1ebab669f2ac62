enable subgroups;
requires packed_4x8_integer_dot_product;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(4)
fn rms_norm_quantize(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let first = wg.y * 128u;
  var squares: f32 = 0f;
  for (var i = tid; i < 128u; i += 4u) {
    let v = x[first + i];
    squares += dot(v, v);
  }
  let mine = squares;
  let sg = subgroupShuffleXor(mine, 2u);
  let sum = mine + sg;
  let sg_1 = subgroupShuffleXor(sum, 1u);
  let sum_1 = sum + sg_1;
  let factor = 1f / sqrt(sum_1 / 512f + 1e-05f);
  var largest: u32 = 0u;
  for (var i_1 = tid; i_1 < 128u; i_1 += 4u) {
    let v_1 = x[first + i_1] * factor * gain[i_1];
    let a = bitcast<vec4<u32>>(abs(v_1));
    let b = max(a.x, a.y);
    let d = max(a.z, a.w);
    largest = max(largest, max(b, d));
  }
  let mine_1 = largest;
  let sg_2 = subgroupShuffleXor(mine_1, 2u);
  let sum_2 = max(mine_1, sg_2);
  let sg_3 = subgroupShuffleXor(sum_2, 1u);
  let sum_3 = max(sum_2, sg_3);
  let scale = 127f / max(bitcast<f32>(sum_3), 1e-05f);
  let base = wg.y * 132u;
  var sum_4: i32 = 0i;
  for (var i_2 = tid; i_2 < 128u; i_2 += 4u) {
    let v_2 = x[first + i_2] * factor * gain[i_2];
    let limited = clamp(round(v_2 * scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q = vec4<i32>(limited);
    let packed = pack4xI8(q);
    y[base + i_2] = packed;
    sum_4 += q.x + q.y + q.z + q.w;
  }
  let my_sum = sum_4;
  let sg_4 = subgroupShuffleXor(my_sum, 2u);
  let sum_5 = my_sum + sg_4;
  let sg_5 = subgroupShuffleXor(sum_5, 1u);
  let sum_6 = sum_5 + sg_5;
  if (tid == 0u) {
    y[base + 128u] = select(bitcast<u32>(scale), 2143289344u, sum_3 >= 2139095040u);
    y[base + 129u] = bitcast<u32>(sum_6);
  }
}
