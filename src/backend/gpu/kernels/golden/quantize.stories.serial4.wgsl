enable subgroups;
requires packed_4x8_integer_dot_product;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(4)
fn quantize(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let first = wg.y * 128u;
  var largest: u32 = 0u;
  for (var i = tid; i < 128u; i += 4u) {
    let v = x[first + i];
    let a = bitcast<vec4<u32>>(abs(v));
    let b = max(a.x, a.y);
    let d = max(a.z, a.w);
    largest = max(largest, max(b, d));
  }
  let mine = largest;
  let sg = subgroupShuffleXor(mine, 2u);
  let sum = max(mine, sg);
  let sg_1 = subgroupShuffleXor(sum, 1u);
  let sum_1 = max(sum, sg_1);
  let scale = 127f / max(bitcast<f32>(sum_1), 1e-05f);
  let base = wg.y * 132u;
  var sum_2: i32 = 0i;
  for (var i_1 = tid; i_1 < 128u; i_1 += 4u) {
    let v_1 = x[first + i_1];
    let limited = clamp(round(v_1 * scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q = vec4<i32>(limited);
    let packed = pack4xI8(q);
    y[base + i_1] = packed;
    sum_2 += q.x + q.y + q.z + q.w;
  }
  let my_sum = sum_2;
  let sg_2 = subgroupShuffleXor(my_sum, 2u);
  let sum_3 = my_sum + sg_2;
  let sg_3 = subgroupShuffleXor(sum_3, 1u);
  let sum_4 = sum_3 + sg_3;
  if (tid == 0u) {
    y[base + 128u] = select(bitcast<u32>(scale), 2143289344u, sum_1 >= 2139095040u);
    y[base + 129u] = bitcast<u32>(sum_4);
  }
}
