enable subgroups;

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
  let start = min(row, last_row) * 160u;
  let start_1 = min(row_1, last_row) * 160u;
  let start_2 = min(row_2, last_row) * 160u;
  let start_3 = min(row_3, last_row) * 160u;
  let x_base = wg.z * 640u;
  var acc: f32 = 0f;
  var acc_1: f32 = 0f;
  var acc_2: f32 = 0f;
  var acc_3: f32 = 0f;
  for (var i = lane_of_row; i < 160u; i += 32u) {
    let at = start + i;
    let unit = w[at];
    let block = at / 2u;
    let halves = scales[block / 2u] >> ((block & 1u) * 16u);
    let scale = unpack2x16float(halves);
    let at_1 = start_1 + i;
    let unit_1 = w[at_1];
    let block_1 = at_1 / 2u;
    let halves_1 = scales[block_1 / 2u] >> ((block_1 & 1u) * 16u);
    let scale_1 = unpack2x16float(halves_1);
    let at_2 = start_2 + i;
    let unit_2 = w[at_2];
    let block_2 = at_2 / 2u;
    let halves_2 = scales[block_2 / 2u] >> ((block_2 & 1u) * 16u);
    let scale_2 = unpack2x16float(halves_2);
    let at_3 = start_3 + i;
    let unit_3 = w[at_3];
    let block_3 = at_3 / 2u;
    let halves_3 = scales[block_3 / 2u] >> ((block_3 & 1u) * 16u);
    let scale_3 = unpack2x16float(halves_3);
    var part: f32 = 0f;
    var part_1: f32 = 0f;
    var part_2: f32 = 0f;
    var part_3: f32 = 0f;
    let x_at = i * 4u;
    let q = x_at + 0u;
    let v = x[x_base + q];
    part += dot(codes8_minus_128(unit.x, 0u), v);
    part_1 += dot(codes8_minus_128(unit_1.x, 0u), v);
    part_2 += dot(codes8_minus_128(unit_2.x, 0u), v);
    part_3 += dot(codes8_minus_128(unit_3.x, 0u), v);
    let q_1 = x_at + 1u;
    let v_1 = x[x_base + q_1];
    part += dot(codes8_minus_128(unit.y, 0u), v_1);
    part_1 += dot(codes8_minus_128(unit_1.y, 0u), v_1);
    part_2 += dot(codes8_minus_128(unit_2.y, 0u), v_1);
    part_3 += dot(codes8_minus_128(unit_3.y, 0u), v_1);
    let q_2 = x_at + 2u;
    let v_2 = x[x_base + q_2];
    part += dot(codes8_minus_128(unit.z, 0u), v_2);
    part_1 += dot(codes8_minus_128(unit_1.z, 0u), v_2);
    part_2 += dot(codes8_minus_128(unit_2.z, 0u), v_2);
    part_3 += dot(codes8_minus_128(unit_3.z, 0u), v_2);
    let q_3 = x_at + 3u;
    let v_3 = x[x_base + q_3];
    part += dot(codes8_minus_128(unit.w, 0u), v_3);
    part_1 += dot(codes8_minus_128(unit_1.w, 0u), v_3);
    part_2 += dot(codes8_minus_128(unit_2.w, 0u), v_3);
    part_3 += dot(codes8_minus_128(unit_3.w, 0u), v_3);
    acc += part * scale.x;
    acc_1 += part_1 * scale_1.x;
    acc_2 += part_2 * scale_2.x;
    acc_3 += part_3 * scale_3.x;
  }
  let mine = acc;
  let sg = subgroupShuffleXor(mine, 16u);
  let sum = mine + sg;
  let sg_1 = subgroupShuffleXor(sum, 8u);
  let sum_1 = sum + sg_1;
  let sg_2 = subgroupShuffleXor(sum_1, 4u);
  let sum_2 = sum_1 + sg_2;
  let sg_3 = subgroupShuffleXor(sum_2, 2u);
  let sum_3 = sum_2 + sg_3;
  let sg_4 = subgroupShuffleXor(sum_3, 1u);
  let sum_4 = sum_3 + sg_4;
  let mine_1 = acc_1;
  let sg_5 = subgroupShuffleXor(mine_1, 16u);
  let sum_5 = mine_1 + sg_5;
  let sg_6 = subgroupShuffleXor(sum_5, 8u);
  let sum_6 = sum_5 + sg_6;
  let sg_7 = subgroupShuffleXor(sum_6, 4u);
  let sum_7 = sum_6 + sg_7;
  let sg_8 = subgroupShuffleXor(sum_7, 2u);
  let sum_8 = sum_7 + sg_8;
  let sg_9 = subgroupShuffleXor(sum_8, 1u);
  let sum_9 = sum_8 + sg_9;
  let mine_2 = acc_2;
  let sg_10 = subgroupShuffleXor(mine_2, 16u);
  let sum_10 = mine_2 + sg_10;
  let sg_11 = subgroupShuffleXor(sum_10, 8u);
  let sum_11 = sum_10 + sg_11;
  let sg_12 = subgroupShuffleXor(sum_11, 4u);
  let sum_12 = sum_11 + sg_12;
  let sg_13 = subgroupShuffleXor(sum_12, 2u);
  let sum_13 = sum_12 + sg_13;
  let sg_14 = subgroupShuffleXor(sum_13, 1u);
  let sum_14 = sum_13 + sg_14;
  let mine_3 = acc_3;
  let sg_15 = subgroupShuffleXor(mine_3, 16u);
  let sum_15 = mine_3 + sg_15;
  let sg_16 = subgroupShuffleXor(sum_15, 8u);
  let sum_16 = sum_15 + sg_16;
  let sg_17 = subgroupShuffleXor(sum_16, 4u);
  let sum_17 = sum_16 + sg_17;
  let sg_18 = subgroupShuffleXor(sum_17, 2u);
  let sum_18 = sum_17 + sg_18;
  let sg_19 = subgroupShuffleXor(sum_18, 1u);
  let sum_19 = sum_18 + sg_19;
  if ((lane_of_row == 0u) && (row < count)) {
    let index = wg.z * 128256u + range.first + row;
    y[index] = sum_4;
  }
  if ((lane_of_row == 0u) && (row_1 < count)) {
    let index_1 = wg.z * 128256u + range.first + row_1;
    y[index_1] = sum_9;
  }
  if ((lane_of_row == 0u) && (row_2 < count)) {
    let index_2 = wg.z * 128256u + range.first + row_2;
    y[index_2] = sum_14;
  }
  if ((lane_of_row == 0u) && (row_3 < count)) {
    let index_3 = wg.z * 128256u + range.first + row_3;
    y[index_3] = sum_19;
  }
}
