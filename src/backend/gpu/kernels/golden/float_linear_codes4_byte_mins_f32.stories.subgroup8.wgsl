@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> gain: array<vec4<f32>>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(4) var<uniform> range: range_fields;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
fn codes4_minus_0(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388608f);
}
var<workgroup> part_4: array<f32, 256>;
var<workgroup> part_5: array<f32, 256>;
var<workgroup> part_6: array<f32, 256>;
var<workgroup> part_7: array<f32, 256>;

@compute @workgroup_size(256)
fn float_linear(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 16u;
  let lane_of_row = tid & 15u;
  let first = (wg.y * n_wg.x + wg.x) * 64u + group;
  let row = first + 0u;
  let row_1 = first + 16u;
  let row_2 = first + 32u;
  let row_3 = first + 48u;
  let count = range.count;
  let last_row = count - 1u;
  let start = min(row, last_row) * 16u;
  let start_1 = min(row_1, last_row) * 16u;
  let start_2 = min(row_2, last_row) * 16u;
  let start_3 = min(row_3, last_row) * 16u;
  let x_base = wg.z * 128u;
  var acc: f32 = 0f;
  var acc_1: f32 = 0f;
  var acc_2: f32 = 0f;
  var acc_3: f32 = 0f;
  let i = lane_of_row + 0u;
  let at = start + i;
  let unit = w[at];
  let scales_at = at / 8u * 6u;
  let group_of_block = at % 8u / 1u;
  let factors = bitcast<f32>(scales[scales_at]);
  let min_of_pair = bitcast<f32>(scales[scales_at + 1u]);
  let bytes_of_group = scales[scales_at + 2u + group_of_block / 2u] >> ((group_of_block & 1u) * 16u);
  let scale = factors * f32(bytes_of_group & 255u);
  let min_of_group = min_of_pair * f32((bytes_of_group >> 8u) & 255u);
  let at_1 = start_1 + i;
  let unit_1 = w[at_1];
  let scales_at_1 = at_1 / 8u * 6u;
  let group_of_block_1 = at_1 % 8u / 1u;
  let factors_1 = bitcast<f32>(scales[scales_at_1]);
  let min_of_pair_1 = bitcast<f32>(scales[scales_at_1 + 1u]);
  let bytes_of_group_1 = scales[scales_at_1 + 2u + group_of_block_1 / 2u] >> ((group_of_block_1 & 1u) * 16u);
  let scale_1 = factors_1 * f32(bytes_of_group_1 & 255u);
  let min_of_group_1 = min_of_pair_1 * f32((bytes_of_group_1 >> 8u) & 255u);
  let at_2 = start_2 + i;
  let unit_2 = w[at_2];
  let scales_at_2 = at_2 / 8u * 6u;
  let group_of_block_2 = at_2 % 8u / 1u;
  let factors_2 = bitcast<f32>(scales[scales_at_2]);
  let min_of_pair_2 = bitcast<f32>(scales[scales_at_2 + 1u]);
  let bytes_of_group_2 = scales[scales_at_2 + 2u + group_of_block_2 / 2u] >> ((group_of_block_2 & 1u) * 16u);
  let scale_2 = factors_2 * f32(bytes_of_group_2 & 255u);
  let min_of_group_2 = min_of_pair_2 * f32((bytes_of_group_2 >> 8u) & 255u);
  let at_3 = start_3 + i;
  let unit_3 = w[at_3];
  let scales_at_3 = at_3 / 8u * 6u;
  let group_of_block_3 = at_3 % 8u / 1u;
  let factors_3 = bitcast<f32>(scales[scales_at_3]);
  let min_of_pair_3 = bitcast<f32>(scales[scales_at_3 + 1u]);
  let bytes_of_group_3 = scales[scales_at_3 + 2u + group_of_block_3 / 2u] >> ((group_of_block_3 & 1u) * 16u);
  let scale_3 = factors_3 * f32(bytes_of_group_3 & 255u);
  let min_of_group_3 = min_of_pair_3 * f32((bytes_of_group_3 >> 8u) & 255u);
  let i_1 = lane_of_row + 0u;
  var part: f32 = 0f;
  var part_1: f32 = 0f;
  var part_2: f32 = 0f;
  var part_3: f32 = 0f;
  var x_sum: f32 = 0f;
  let x_at = i_1 * 8u;
  let q = x_at + 0u;
  let v = x[x_base + q];
  x_sum += dot(v, vec4<f32>(1f));
  part += dot(codes4_minus_0(unit.x, 0u), v);
  part_1 += dot(codes4_minus_0(unit_1.x, 0u), v);
  part_2 += dot(codes4_minus_0(unit_2.x, 0u), v);
  part_3 += dot(codes4_minus_0(unit_3.x, 0u), v);
  let q_1 = x_at + 1u;
  let v_1 = x[x_base + q_1];
  x_sum += dot(v_1, vec4<f32>(1f));
  part += dot(codes4_minus_0(unit.x, 4u), v_1);
  part_1 += dot(codes4_minus_0(unit_1.x, 4u), v_1);
  part_2 += dot(codes4_minus_0(unit_2.x, 4u), v_1);
  part_3 += dot(codes4_minus_0(unit_3.x, 4u), v_1);
  let q_2 = x_at + 2u;
  let v_2 = x[x_base + q_2];
  x_sum += dot(v_2, vec4<f32>(1f));
  part += dot(codes4_minus_0(unit.y, 0u), v_2);
  part_1 += dot(codes4_minus_0(unit_1.y, 0u), v_2);
  part_2 += dot(codes4_minus_0(unit_2.y, 0u), v_2);
  part_3 += dot(codes4_minus_0(unit_3.y, 0u), v_2);
  let q_3 = x_at + 3u;
  let v_3 = x[x_base + q_3];
  x_sum += dot(v_3, vec4<f32>(1f));
  part += dot(codes4_minus_0(unit.y, 4u), v_3);
  part_1 += dot(codes4_minus_0(unit_1.y, 4u), v_3);
  part_2 += dot(codes4_minus_0(unit_2.y, 4u), v_3);
  part_3 += dot(codes4_minus_0(unit_3.y, 4u), v_3);
  let q_4 = x_at + 4u;
  let v_4 = x[x_base + q_4];
  x_sum += dot(v_4, vec4<f32>(1f));
  part += dot(codes4_minus_0(unit.z, 0u), v_4);
  part_1 += dot(codes4_minus_0(unit_1.z, 0u), v_4);
  part_2 += dot(codes4_minus_0(unit_2.z, 0u), v_4);
  part_3 += dot(codes4_minus_0(unit_3.z, 0u), v_4);
  let q_5 = x_at + 5u;
  let v_5 = x[x_base + q_5];
  x_sum += dot(v_5, vec4<f32>(1f));
  part += dot(codes4_minus_0(unit.z, 4u), v_5);
  part_1 += dot(codes4_minus_0(unit_1.z, 4u), v_5);
  part_2 += dot(codes4_minus_0(unit_2.z, 4u), v_5);
  part_3 += dot(codes4_minus_0(unit_3.z, 4u), v_5);
  let q_6 = x_at + 6u;
  let v_6 = x[x_base + q_6];
  x_sum += dot(v_6, vec4<f32>(1f));
  part += dot(codes4_minus_0(unit.w, 0u), v_6);
  part_1 += dot(codes4_minus_0(unit_1.w, 0u), v_6);
  part_2 += dot(codes4_minus_0(unit_2.w, 0u), v_6);
  part_3 += dot(codes4_minus_0(unit_3.w, 0u), v_6);
  let q_7 = x_at + 7u;
  let v_7 = x[x_base + q_7];
  x_sum += dot(v_7, vec4<f32>(1f));
  part += dot(codes4_minus_0(unit.w, 4u), v_7);
  part_1 += dot(codes4_minus_0(unit_1.w, 4u), v_7);
  part_2 += dot(codes4_minus_0(unit_2.w, 4u), v_7);
  part_3 += dot(codes4_minus_0(unit_3.w, 4u), v_7);
  acc += part * scale - x_sum * min_of_group;
  acc_1 += part_1 * scale_1 - x_sum * min_of_group_1;
  acc_2 += part_2 * scale_2 - x_sum * min_of_group_2;
  acc_3 += part_3 * scale_3 - x_sum * min_of_group_3;
  let mine = acc;
  workgroupBarrier();
  part_4[tid] = mine;
  workgroupBarrier();
  let part_lane = tid & 15u;
  if (part_lane < 8u) {
    let a = part_4[tid];
    let b = part_4[tid + 8u];
    part_4[tid] = a + b;
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_1 = part_4[tid];
    let b_1 = part_4[tid + 4u];
    part_4[tid] = a_1 + b_1;
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_2 = part_4[tid];
    let b_2 = part_4[tid + 2u];
    part_4[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_3 = part_4[tid];
    let b_3 = part_4[tid + 1u];
    part_4[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  let sum = part_4[tid - part_lane];
  let mine_1 = acc_1;
  workgroupBarrier();
  part_5[tid] = mine_1;
  workgroupBarrier();
  let part_lane_1 = tid & 15u;
  if (part_lane_1 < 8u) {
    let a_4 = part_5[tid];
    let b_4 = part_5[tid + 8u];
    part_5[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  if (part_lane_1 < 4u) {
    let a_5 = part_5[tid];
    let b_5 = part_5[tid + 4u];
    part_5[tid] = a_5 + b_5;
  }
  workgroupBarrier();
  if (part_lane_1 < 2u) {
    let a_6 = part_5[tid];
    let b_6 = part_5[tid + 2u];
    part_5[tid] = a_6 + b_6;
  }
  workgroupBarrier();
  if (part_lane_1 < 1u) {
    let a_7 = part_5[tid];
    let b_7 = part_5[tid + 1u];
    part_5[tid] = a_7 + b_7;
  }
  workgroupBarrier();
  let sum_1 = part_5[tid - part_lane_1];
  let mine_2 = acc_2;
  workgroupBarrier();
  part_6[tid] = mine_2;
  workgroupBarrier();
  let part_lane_2 = tid & 15u;
  if (part_lane_2 < 8u) {
    let a_8 = part_6[tid];
    let b_8 = part_6[tid + 8u];
    part_6[tid] = a_8 + b_8;
  }
  workgroupBarrier();
  if (part_lane_2 < 4u) {
    let a_9 = part_6[tid];
    let b_9 = part_6[tid + 4u];
    part_6[tid] = a_9 + b_9;
  }
  workgroupBarrier();
  if (part_lane_2 < 2u) {
    let a_10 = part_6[tid];
    let b_10 = part_6[tid + 2u];
    part_6[tid] = a_10 + b_10;
  }
  workgroupBarrier();
  if (part_lane_2 < 1u) {
    let a_11 = part_6[tid];
    let b_11 = part_6[tid + 1u];
    part_6[tid] = a_11 + b_11;
  }
  workgroupBarrier();
  let sum_2 = part_6[tid - part_lane_2];
  let mine_3 = acc_3;
  workgroupBarrier();
  part_7[tid] = mine_3;
  workgroupBarrier();
  let part_lane_3 = tid & 15u;
  if (part_lane_3 < 8u) {
    let a_12 = part_7[tid];
    let b_12 = part_7[tid + 8u];
    part_7[tid] = a_12 + b_12;
  }
  workgroupBarrier();
  if (part_lane_3 < 4u) {
    let a_13 = part_7[tid];
    let b_13 = part_7[tid + 4u];
    part_7[tid] = a_13 + b_13;
  }
  workgroupBarrier();
  if (part_lane_3 < 2u) {
    let a_14 = part_7[tid];
    let b_14 = part_7[tid + 2u];
    part_7[tid] = a_14 + b_14;
  }
  workgroupBarrier();
  if (part_lane_3 < 1u) {
    let a_15 = part_7[tid];
    let b_15 = part_7[tid + 1u];
    part_7[tid] = a_15 + b_15;
  }
  workgroupBarrier();
  let sum_3 = part_7[tid - part_lane_3];
  if ((lane_of_row == 0u) && (row < count)) {
    let index = wg.z * 8192u + range.first + row;
    y[index] = sum;
  }
  if ((lane_of_row == 0u) && (row_1 < count)) {
    let index_1 = wg.z * 8192u + range.first + row_1;
    y[index_1] = sum_1;
  }
  if ((lane_of_row == 0u) && (row_2 < count)) {
    let index_2 = wg.z * 8192u + range.first + row_2;
    y[index_2] = sum_2;
  }
  if ((lane_of_row == 0u) && (row_3 < count)) {
    let index_3 = wg.z * 8192u + range.first + row_3;
    y[index_3] = sum_3;
  }
}
