@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> gain: array<vec4<f32>>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(4) var<uniform> range: range_fields;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
fn codes8_minus_128(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(255u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388736f);
}
var<workgroup> part_4: array<f32, 256>;
var<workgroup> part_5: array<f32, 256>;
var<workgroup> part_6: array<f32, 256>;
var<workgroup> part_7: array<f32, 256>;

@compute @workgroup_size(256)
fn float_linear(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 32u;
  let lane_of_row = tid & 31u;
  let first = (wg.y * n_wg.x + wg.x) * 32u + group;
  let row = first + 0u;
  let row_1 = first + 8u;
  let row_2 = first + 16u;
  let row_3 = first + 24u;
  let count = range.count;
  let last_row = count - 1u;
  let start = min(row, last_row) * 32u;
  let start_1 = min(row_1, last_row) * 32u;
  let start_2 = min(row_2, last_row) * 32u;
  let start_3 = min(row_3, last_row) * 32u;
  let x_base = wg.z * 128u;
  var acc: f32 = 0f;
  var acc_1: f32 = 0f;
  var acc_2: f32 = 0f;
  var acc_3: f32 = 0f;
  let i = lane_of_row + 0u;
  let at = start + i;
  let unit = w[at];
  let block = at / 2u;
  let pair = block * 2u;
  let scale = bitcast<f32>(scales[pair]);
  let min_of_pair = bitcast<f32>(scales[pair + 1u]);
  let at_1 = start_1 + i;
  let unit_1 = w[at_1];
  let block_1 = at_1 / 2u;
  let pair_1 = block_1 * 2u;
  let scale_1 = bitcast<f32>(scales[pair_1]);
  let min_of_pair_1 = bitcast<f32>(scales[pair_1 + 1u]);
  let at_2 = start_2 + i;
  let unit_2 = w[at_2];
  let block_2 = at_2 / 2u;
  let pair_2 = block_2 * 2u;
  let scale_2 = bitcast<f32>(scales[pair_2]);
  let min_of_pair_2 = bitcast<f32>(scales[pair_2 + 1u]);
  let at_3 = start_3 + i;
  let unit_3 = w[at_3];
  let block_3 = at_3 / 2u;
  let pair_3 = block_3 * 2u;
  let scale_3 = bitcast<f32>(scales[pair_3]);
  let min_of_pair_3 = bitcast<f32>(scales[pair_3 + 1u]);
  let i_1 = lane_of_row + 0u;
  var part: f32 = 0f;
  var part_1: f32 = 0f;
  var part_2: f32 = 0f;
  var part_3: f32 = 0f;
  var x_sum: f32 = 0f;
  let x_at = i_1 * 4u;
  let q = x_at + 0u;
  let v = x[x_base + q];
  x_sum += dot(v, vec4<f32>(1f));
  part += dot(codes8_minus_128(unit.x, 0u), v);
  part_1 += dot(codes8_minus_128(unit_1.x, 0u), v);
  part_2 += dot(codes8_minus_128(unit_2.x, 0u), v);
  part_3 += dot(codes8_minus_128(unit_3.x, 0u), v);
  let q_1 = x_at + 1u;
  let v_1 = x[x_base + q_1];
  x_sum += dot(v_1, vec4<f32>(1f));
  part += dot(codes8_minus_128(unit.y, 0u), v_1);
  part_1 += dot(codes8_minus_128(unit_1.y, 0u), v_1);
  part_2 += dot(codes8_minus_128(unit_2.y, 0u), v_1);
  part_3 += dot(codes8_minus_128(unit_3.y, 0u), v_1);
  let q_2 = x_at + 2u;
  let v_2 = x[x_base + q_2];
  x_sum += dot(v_2, vec4<f32>(1f));
  part += dot(codes8_minus_128(unit.z, 0u), v_2);
  part_1 += dot(codes8_minus_128(unit_1.z, 0u), v_2);
  part_2 += dot(codes8_minus_128(unit_2.z, 0u), v_2);
  part_3 += dot(codes8_minus_128(unit_3.z, 0u), v_2);
  let q_3 = x_at + 3u;
  let v_3 = x[x_base + q_3];
  x_sum += dot(v_3, vec4<f32>(1f));
  part += dot(codes8_minus_128(unit.w, 0u), v_3);
  part_1 += dot(codes8_minus_128(unit_1.w, 0u), v_3);
  part_2 += dot(codes8_minus_128(unit_2.w, 0u), v_3);
  part_3 += dot(codes8_minus_128(unit_3.w, 0u), v_3);
  acc += part * scale - x_sum * min_of_pair;
  acc_1 += part_1 * scale_1 - x_sum * min_of_pair_1;
  acc_2 += part_2 * scale_2 - x_sum * min_of_pair_2;
  acc_3 += part_3 * scale_3 - x_sum * min_of_pair_3;
  let mine = acc;
  workgroupBarrier();
  part_4[tid] = mine;
  workgroupBarrier();
  let part_lane = tid & 31u;
  if (part_lane < 16u) {
    let a = part_4[tid];
    let b = part_4[tid + 16u];
    part_4[tid] = a + b;
  }
  workgroupBarrier();
  if (part_lane < 8u) {
    let a_1 = part_4[tid];
    let b_1 = part_4[tid + 8u];
    part_4[tid] = a_1 + b_1;
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_2 = part_4[tid];
    let b_2 = part_4[tid + 4u];
    part_4[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_3 = part_4[tid];
    let b_3 = part_4[tid + 2u];
    part_4[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_4 = part_4[tid];
    let b_4 = part_4[tid + 1u];
    part_4[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  let sum = part_4[tid - part_lane];
  let mine_1 = acc_1;
  workgroupBarrier();
  part_5[tid] = mine_1;
  workgroupBarrier();
  let part_lane_1 = tid & 31u;
  if (part_lane_1 < 16u) {
    let a_5 = part_5[tid];
    let b_5 = part_5[tid + 16u];
    part_5[tid] = a_5 + b_5;
  }
  workgroupBarrier();
  if (part_lane_1 < 8u) {
    let a_6 = part_5[tid];
    let b_6 = part_5[tid + 8u];
    part_5[tid] = a_6 + b_6;
  }
  workgroupBarrier();
  if (part_lane_1 < 4u) {
    let a_7 = part_5[tid];
    let b_7 = part_5[tid + 4u];
    part_5[tid] = a_7 + b_7;
  }
  workgroupBarrier();
  if (part_lane_1 < 2u) {
    let a_8 = part_5[tid];
    let b_8 = part_5[tid + 2u];
    part_5[tid] = a_8 + b_8;
  }
  workgroupBarrier();
  if (part_lane_1 < 1u) {
    let a_9 = part_5[tid];
    let b_9 = part_5[tid + 1u];
    part_5[tid] = a_9 + b_9;
  }
  workgroupBarrier();
  let sum_1 = part_5[tid - part_lane_1];
  let mine_2 = acc_2;
  workgroupBarrier();
  part_6[tid] = mine_2;
  workgroupBarrier();
  let part_lane_2 = tid & 31u;
  if (part_lane_2 < 16u) {
    let a_10 = part_6[tid];
    let b_10 = part_6[tid + 16u];
    part_6[tid] = a_10 + b_10;
  }
  workgroupBarrier();
  if (part_lane_2 < 8u) {
    let a_11 = part_6[tid];
    let b_11 = part_6[tid + 8u];
    part_6[tid] = a_11 + b_11;
  }
  workgroupBarrier();
  if (part_lane_2 < 4u) {
    let a_12 = part_6[tid];
    let b_12 = part_6[tid + 4u];
    part_6[tid] = a_12 + b_12;
  }
  workgroupBarrier();
  if (part_lane_2 < 2u) {
    let a_13 = part_6[tid];
    let b_13 = part_6[tid + 2u];
    part_6[tid] = a_13 + b_13;
  }
  workgroupBarrier();
  if (part_lane_2 < 1u) {
    let a_14 = part_6[tid];
    let b_14 = part_6[tid + 1u];
    part_6[tid] = a_14 + b_14;
  }
  workgroupBarrier();
  let sum_2 = part_6[tid - part_lane_2];
  let mine_3 = acc_3;
  workgroupBarrier();
  part_7[tid] = mine_3;
  workgroupBarrier();
  let part_lane_3 = tid & 31u;
  if (part_lane_3 < 16u) {
    let a_15 = part_7[tid];
    let b_15 = part_7[tid + 16u];
    part_7[tid] = a_15 + b_15;
  }
  workgroupBarrier();
  if (part_lane_3 < 8u) {
    let a_16 = part_7[tid];
    let b_16 = part_7[tid + 8u];
    part_7[tid] = a_16 + b_16;
  }
  workgroupBarrier();
  if (part_lane_3 < 4u) {
    let a_17 = part_7[tid];
    let b_17 = part_7[tid + 4u];
    part_7[tid] = a_17 + b_17;
  }
  workgroupBarrier();
  if (part_lane_3 < 2u) {
    let a_18 = part_7[tid];
    let b_18 = part_7[tid + 2u];
    part_7[tid] = a_18 + b_18;
  }
  workgroupBarrier();
  if (part_lane_3 < 1u) {
    let a_19 = part_7[tid];
    let b_19 = part_7[tid + 1u];
    part_7[tid] = a_19 + b_19;
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
