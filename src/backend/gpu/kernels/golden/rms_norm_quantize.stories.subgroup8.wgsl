enable subgroups;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
var<workgroup> part: array<f32, 32>;
var<workgroup> part_1: array<u32, 32>;
var<workgroup> part_2: array<i32, 32>;

@compute @workgroup_size(256)
fn rms_norm_quantize(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  var v: vec4<f32> = vec4<f32>();
  let first = wg.y * 128u;
  let i = tid + 0u;
  if (i < 128u) {
    v = x[first + i];
  }
  var squares: f32 = 0f;
  squares += dot(v, v);
  let mine = squares;
  let sg = subgroupShuffleXor(mine, 4u);
  let sum = mine + sg;
  let sg_1 = subgroupShuffleXor(sum, 2u);
  let sum_1 = sum + sg_1;
  let sg_2 = subgroupShuffleXor(sum_1, 1u);
  let sum_2 = sum_1 + sg_2;
  if ((tid & 7u) == 0u) {
    part[tid / 8u] = sum_2;
  }
  workgroupBarrier();
  var total: f32 = part[0u];
  for (var i_1 = 1u; i_1 < 32u; i_1 += 1u) {
    let a = total;
    let b = part[i_1];
    total = a + b;
  }
  let reduced = total;
  let factor = 1f / sqrt(reduced / 512f + 1e-05f);
  let i_2 = tid + 0u;
  if (i_2 < 128u) {
    v = v * factor * gain[i_2];
  }
  var largest: u32 = 0u;
  let a_1 = bitcast<vec4<u32>>(abs(v));
  let b_1 = max(a_1.x, a_1.y);
  let d = max(a_1.z, a_1.w);
  largest = max(largest, max(b_1, d));
  let mine_1 = largest;
  let sg_3 = subgroupShuffleXor(mine_1, 4u);
  let sum_3 = max(mine_1, sg_3);
  let sg_4 = subgroupShuffleXor(sum_3, 2u);
  let sum_4 = max(sum_3, sg_4);
  let sg_5 = subgroupShuffleXor(sum_4, 1u);
  let sum_5 = max(sum_4, sg_5);
  if ((tid & 7u) == 0u) {
    part_1[tid / 8u] = sum_5;
  }
  workgroupBarrier();
  var total_1: u32 = part_1[0u];
  for (var i_3 = 1u; i_3 < 32u; i_3 += 1u) {
    let a_2 = total_1;
    let b_2 = part_1[i_3];
    total_1 = max(a_2, b_2);
  }
  let reduced_1 = total_1;
  let scale = 127f / max(bitcast<f32>(reduced_1), 1e-05f);
  let base = wg.y * 132u;
  var sum_6: i32 = 0i;
  let i_4 = tid + 0u;
  if (i_4 < 128u) {
    let limited = clamp(round(v * scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q = vec4<i32>(limited);
    let packed = (((bitcast<u32>(q.x) & 255u) | ((bitcast<u32>(q.y) & 255u) << 8u)) | ((bitcast<u32>(q.z) & 255u) << 16u)) | ((bitcast<u32>(q.w) & 255u) << 24u);
    y[base + i_4] = packed;
    sum_6 += q.x + q.y + q.z + q.w;
  }
  let my_sum = sum_6;
  let sg_6 = subgroupShuffleXor(my_sum, 4u);
  let sum_7 = my_sum + sg_6;
  let sg_7 = subgroupShuffleXor(sum_7, 2u);
  let sum_8 = sum_7 + sg_7;
  let sg_8 = subgroupShuffleXor(sum_8, 1u);
  let sum_9 = sum_8 + sg_8;
  if ((tid & 7u) == 0u) {
    part_2[tid / 8u] = sum_9;
  }
  workgroupBarrier();
  var total_2: i32 = part_2[0u];
  for (var i_5 = 1u; i_5 < 32u; i_5 += 1u) {
    let a_3 = total_2;
    let b_3 = part_2[i_5];
    total_2 = a_3 + b_3;
  }
  let reduced_2 = total_2;
  if (tid == 0u) {
    y[base + 128u] = select(bitcast<u32>(scale), 2143289344u, reduced_1 >= 2139095040u);
    y[base + 129u] = bitcast<u32>(reduced_2);
  }
}
