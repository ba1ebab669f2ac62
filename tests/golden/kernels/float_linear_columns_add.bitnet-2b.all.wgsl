enable subgroups;

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> gain: array<vec4<f32>>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(4) var<uniform> range: range_fields;
@group(0) @binding(5) var<storage, read> params: array<u32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
fn codes8_minus_128(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(255u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388736f);
}

@compute @workgroup_size(256)
fn float_linear_columns_add(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 16u;
  let lane_of_row = tid & 15u;
  let first = (wg.y * n_wg.x + wg.x) * 16u + group;
  let row = first + 0u;
  let count = range.count;
  let last_row = count - 1u;
  let start = min(row, last_row) * 160u;
  let n_rows = params[0u];
  let last_x = n_rows - 1u;
  let x_row = wg.z * 2u + 0u;
  let from_x = min(x_row, last_x);
  let x_base = from_x * 640u;
  var squares: f32 = 0f;
  let x_row_1 = wg.z * 2u + 1u;
  let from_x_1 = min(x_row_1, last_x);
  let x_base_1 = from_x_1 * 640u;
  var squares_1: f32 = 0f;
  var acc: f32 = 0f;
  var acc_1: f32 = 0f;
  for (var i = lane_of_row; i < 160u; i += 16u) {
    let at = start + i;
    let unit = w[at];
    let block = at / 2u;
    let halves = scales[block / 2u] >> ((block & 1u) * 16u);
    let scale = unpack2x16float(halves);
    var part: f32 = 0f;
    let x_at = i * 4u;
    let q = x_at + 0u;
    let v = x[x_base + q];
    squares += dot(v, v);
    let x4 = v * gain[q];
    part += dot(codes8_minus_128(unit.x, 0u), x4);
    let q_1 = x_at + 1u;
    let v_1 = x[x_base + q_1];
    squares += dot(v_1, v_1);
    let x4_1 = v_1 * gain[q_1];
    part += dot(codes8_minus_128(unit.y, 0u), x4_1);
    let q_2 = x_at + 2u;
    let v_2 = x[x_base + q_2];
    squares += dot(v_2, v_2);
    let x4_2 = v_2 * gain[q_2];
    part += dot(codes8_minus_128(unit.z, 0u), x4_2);
    let q_3 = x_at + 3u;
    let v_3 = x[x_base + q_3];
    squares += dot(v_3, v_3);
    let x4_3 = v_3 * gain[q_3];
    part += dot(codes8_minus_128(unit.w, 0u), x4_3);
    acc += part * scale.x;
    var part_1: f32 = 0f;
    let x_at_1 = i * 4u;
    let q_4 = x_at_1 + 0u;
    let v_4 = x[x_base_1 + q_4];
    squares_1 += dot(v_4, v_4);
    let x4_4 = v_4 * gain[q_4];
    part_1 += dot(codes8_minus_128(unit.x, 0u), x4_4);
    let q_5 = x_at_1 + 1u;
    let v_5 = x[x_base_1 + q_5];
    squares_1 += dot(v_5, v_5);
    let x4_5 = v_5 * gain[q_5];
    part_1 += dot(codes8_minus_128(unit.y, 0u), x4_5);
    let q_6 = x_at_1 + 2u;
    let v_6 = x[x_base_1 + q_6];
    squares_1 += dot(v_6, v_6);
    let x4_6 = v_6 * gain[q_6];
    part_1 += dot(codes8_minus_128(unit.z, 0u), x4_6);
    let q_7 = x_at_1 + 3u;
    let v_7 = x[x_base_1 + q_7];
    squares_1 += dot(v_7, v_7);
    let x4_7 = v_7 * gain[q_7];
    part_1 += dot(codes8_minus_128(unit.w, 0u), x4_7);
    acc_1 += part_1 * scale.x;
  }
  let mine = acc;
  let sg = subgroupShuffleXor(mine, 8u);
  let sum = mine + sg;
  let sg_1 = subgroupShuffleXor(sum, 4u);
  let sum_1 = sum + sg_1;
  let sg_2 = subgroupShuffleXor(sum_1, 2u);
  let sum_2 = sum_1 + sg_2;
  let sg_3 = subgroupShuffleXor(sum_2, 1u);
  let sum_3 = sum_2 + sg_3;
  let my_squares = squares;
  let sg_4 = subgroupShuffleXor(my_squares, 8u);
  let sum_4 = my_squares + sg_4;
  let sg_5 = subgroupShuffleXor(sum_4, 4u);
  let sum_5 = sum_4 + sg_5;
  let sg_6 = subgroupShuffleXor(sum_5, 2u);
  let sum_6 = sum_5 + sg_6;
  let sg_7 = subgroupShuffleXor(sum_6, 1u);
  let sum_7 = sum_6 + sg_7;
  let factor = 1f / sqrt(sum_7 / 2560f + 1e-05f);
  let normed = sum_3 * factor;
  let mine_1 = acc_1;
  let sg_8 = subgroupShuffleXor(mine_1, 8u);
  let sum_8 = mine_1 + sg_8;
  let sg_9 = subgroupShuffleXor(sum_8, 4u);
  let sum_9 = sum_8 + sg_9;
  let sg_10 = subgroupShuffleXor(sum_9, 2u);
  let sum_10 = sum_9 + sg_10;
  let sg_11 = subgroupShuffleXor(sum_10, 1u);
  let sum_11 = sum_10 + sg_11;
  let my_squares_1 = squares_1;
  let sg_12 = subgroupShuffleXor(my_squares_1, 8u);
  let sum_12 = my_squares_1 + sg_12;
  let sg_13 = subgroupShuffleXor(sum_12, 4u);
  let sum_13 = sum_12 + sg_13;
  let sg_14 = subgroupShuffleXor(sum_13, 2u);
  let sum_14 = sum_13 + sg_14;
  let sg_15 = subgroupShuffleXor(sum_14, 1u);
  let sum_15 = sum_14 + sg_15;
  let factor_1 = 1f / sqrt(sum_15 / 2560f + 1e-05f);
  let normed_1 = sum_11 * factor_1;
  if (((lane_of_row == 0u) && (row < count)) && (x_row < n_rows)) {
    let index = x_row * 6912u + range.first + row;
    y[index] += normed;
  }
  if (((lane_of_row == 0u) && (row < count)) && (x_row_1 < n_rows)) {
    let index_1 = x_row_1 * 6912u + range.first + row;
    y[index_1] += normed_1;
  }
}
