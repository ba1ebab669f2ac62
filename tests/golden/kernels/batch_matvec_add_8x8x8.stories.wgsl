enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<i32>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(2) var<uniform> scales: scales_fields;
@group(0) @binding(3) var<storage, read> params: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<storage, read> next_gain: array<f32>;
@group(0) @binding(6) var<storage, read_write> next_parts: array<vec2<f32>>;
var<workgroup> staged: array<i32, 2320>;
var<workgroup> part_4: array<f32, 32>;
var<workgroup> part_5: array<f32, 32>;
var<workgroup> part_10: array<f32, 32>;
var<workgroup> part_11: array<f32, 32>;
var<workgroup> part_16: array<f32, 32>;
var<workgroup> part_17: array<f32, 32>;
var<workgroup> part_22: array<f32, 32>;
var<workgroup> part_23: array<f32, 32>;
var<workgroup> part_28: array<f32, 32>;
var<workgroup> part_29: array<f32, 32>;
var<workgroup> part_34: array<f32, 32>;
var<workgroup> part_35: array<f32, 32>;
var<workgroup> part_40: array<f32, 32>;
var<workgroup> part_41: array<f32, 32>;
var<workgroup> part_46: array<f32, 32>;
var<workgroup> part_47: array<f32, 32>;

@compute @workgroup_size(32)
fn batch_matvec_add(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let first_token = wg.y * 16u;
  let lane = tid & 7u;
  let split = tid / 8u;
  let first_row = wg.x * 16u;
  var sums: subgroup_matrix_result<i32, 8, 8> = subgroup_matrix_result<i32, 8, 8>();
  var sums_1: subgroup_matrix_result<i32, 8, 8> = subgroup_matrix_result<i32, 8, 8>();
  var sums_2: subgroup_matrix_result<i32, 8, 8> = subgroup_matrix_result<i32, 8, 8>();
  var sums_3: subgroup_matrix_result<i32, 8, 8> = subgroup_matrix_result<i32, 8, 8>();
  let token = first_token + 0u;
  let x_start = token / 16u * 24832u + token % 16u * 32u;
  let token_1 = first_token + 8u;
  let x_start_1 = token_1 / 16u * 24832u + token_1 % 16u * 32u;
  let v = tid + 0u;
  let row = v / 8u;
  let vector = v % 8u;
  let half = vector & 1u;
  let to = vector / 2u * 580u + (0u + row) * 36u + half * 4u;
  let turn = half | ((row & 1u) << 1u);
  let v_1 = tid + 32u;
  let row_1 = v_1 / 8u;
  let vector_1 = v_1 % 8u;
  let half_1 = vector_1 & 1u;
  let to_1 = vector_1 / 2u * 580u + (0u + row_1) * 36u + half_1 * 4u;
  let turn_1 = half_1 | ((row_1 & 1u) << 1u);
  let v_2 = tid + 0u;
  let row_2 = v_2 / 8u;
  let vector_2 = v_2 % 8u;
  let half_2 = vector_2 & 1u;
  let to_2 = vector_2 / 2u * 580u + (8u + row_2) * 36u + half_2 * 4u;
  let turn_2 = half_2 | ((row_2 & 1u) << 1u);
  let v_3 = tid + 32u;
  let row_3 = v_3 / 8u;
  let vector_3 = v_3 % 8u;
  let half_3 = vector_3 & 1u;
  let to_3 = vector_3 / 2u * 580u + (8u + row_3) * 36u + half_3 * 4u;
  let turn_3 = half_3 | ((row_3 & 1u) << 1u);
  let block = 0u;
  let row_4 = min(first_row + 0u + row, 511u);
  var coming: vec4<u32> = w[row_4 * 24u + min(block * 2u + vector, 23u)];
  let row_5 = min(first_row + 0u + row_1, 511u);
  var coming_1: vec4<u32> = w[row_5 * 24u + min(block * 2u + vector_1, 23u)];
  let row_6 = min(first_row + 8u + row_2, 511u);
  var coming_2: vec4<u32> = w[row_6 * 24u + min(block * 2u + vector_2, 23u)];
  let row_7 = min(first_row + 8u + row_3, 511u);
  var coming_3: vec4<u32> = w[row_7 * 24u + min(block * 2u + vector_3, 23u)];
  let block_1 = 4u;
  let row_8 = min(first_row + 0u + row, 511u);
  var coming_4: vec4<u32> = w[row_8 * 24u + min(block_1 * 2u + vector, 23u)];
  let row_9 = min(first_row + 0u + row_1, 511u);
  var coming_5: vec4<u32> = w[row_9 * 24u + min(block_1 * 2u + vector_1, 23u)];
  let row_10 = min(first_row + 8u + row_2, 511u);
  var coming_6: vec4<u32> = w[row_10 * 24u + min(block_1 * 2u + vector_2, 23u)];
  let row_11 = min(first_row + 8u + row_3, 511u);
  var coming_7: vec4<u32> = w[row_11 * 24u + min(block_1 * 2u + vector_3, 23u)];
  let block_2 = 8u;
  let row_12 = min(first_row + 0u + row, 511u);
  var coming_8: vec4<u32> = w[row_12 * 24u + min(block_2 * 2u + vector, 23u)];
  let row_13 = min(first_row + 0u + row_1, 511u);
  var coming_9: vec4<u32> = w[row_13 * 24u + min(block_2 * 2u + vector_1, 23u)];
  let row_14 = min(first_row + 8u + row_2, 511u);
  var coming_10: vec4<u32> = w[row_14 * 24u + min(block_2 * 2u + vector_2, 23u)];
  let row_15 = min(first_row + 8u + row_3, 511u);
  var coming_11: vec4<u32> = w[row_15 * 24u + min(block_2 * 2u + vector_3, 23u)];
  for (var trip = 0u; trip < 3u; trip += 1u) {
    let first_block = trip * 4u;
    let block_3 = first_block + split;
    let later = first_block + 12u;
    let w4 = coming;
    coming = coming_4;
    coming_4 = coming_8;
    let row_16 = min(first_row + 0u + row, 511u);
    coming_8 = w[row_16 * 24u + min(later * 2u + vector, 23u)];
    let w4_1 = coming_1;
    coming_1 = coming_5;
    coming_5 = coming_9;
    let row_17 = min(first_row + 0u + row_1, 511u);
    coming_9 = w[row_17 * 24u + min(later * 2u + vector_1, 23u)];
    let w4_2 = coming_2;
    coming_2 = coming_6;
    coming_6 = coming_10;
    let row_18 = min(first_row + 8u + row_2, 511u);
    coming_10 = w[row_18 * 24u + min(later * 2u + vector_2, 23u)];
    let w4_3 = coming_3;
    coming_3 = coming_7;
    coming_7 = coming_11;
    let row_19 = min(first_row + 8u + row_3, 511u);
    coming_11 = w[row_19 * 24u + min(later * 2u + vector_3, 23u)];
    let x_block = min(block_3, 11u) * 2048u;
    let by_one = (turn & 1u) != 0u;
    let by_two = (turn & 2u) != 0u;
    let w_1 = select(w4.x, w4.y, by_one);
    let w_2 = select(w4.y, w4.z, by_one);
    let w_3 = select(w4.z, w4.w, by_one);
    let w_4 = select(w4.w, w4.x, by_one);
    let w_5 = select(w_1, w_3, by_two);
    let w_6 = select(w_2, w_4, by_two);
    let w_7 = select(w_3, w_1, by_two);
    let w_8 = select(w_4, w_2, by_two);
    let to_word = to + ((turn + 0u) & 3u);
    let word = (w_5 >> 6u) & 0x03030303u;
    staged[to_word + 0u] = bitcast<i32>(word);
    let word_1 = (w_5 >> 4u) & 0x03030303u;
    staged[to_word + 8u] = bitcast<i32>(word_1);
    let word_2 = (w_5 >> 2u) & 0x03030303u;
    staged[to_word + 16u] = bitcast<i32>(word_2);
    let word_3 = w_5 & 0x03030303u;
    staged[to_word + 24u] = bitcast<i32>(word_3);
    let to_word_1 = to + ((turn + 1u) & 3u);
    let word_4 = (w_6 >> 6u) & 0x03030303u;
    staged[to_word_1 + 0u] = bitcast<i32>(word_4);
    let word_5 = (w_6 >> 4u) & 0x03030303u;
    staged[to_word_1 + 8u] = bitcast<i32>(word_5);
    let word_6 = (w_6 >> 2u) & 0x03030303u;
    staged[to_word_1 + 16u] = bitcast<i32>(word_6);
    let word_7 = w_6 & 0x03030303u;
    staged[to_word_1 + 24u] = bitcast<i32>(word_7);
    let to_word_2 = to + ((turn + 2u) & 3u);
    let word_8 = (w_7 >> 6u) & 0x03030303u;
    staged[to_word_2 + 0u] = bitcast<i32>(word_8);
    let word_9 = (w_7 >> 4u) & 0x03030303u;
    staged[to_word_2 + 8u] = bitcast<i32>(word_9);
    let word_10 = (w_7 >> 2u) & 0x03030303u;
    staged[to_word_2 + 16u] = bitcast<i32>(word_10);
    let word_11 = w_7 & 0x03030303u;
    staged[to_word_2 + 24u] = bitcast<i32>(word_11);
    let to_word_3 = to + ((turn + 3u) & 3u);
    let word_12 = (w_8 >> 6u) & 0x03030303u;
    staged[to_word_3 + 0u] = bitcast<i32>(word_12);
    let word_13 = (w_8 >> 4u) & 0x03030303u;
    staged[to_word_3 + 8u] = bitcast<i32>(word_13);
    let word_14 = (w_8 >> 2u) & 0x03030303u;
    staged[to_word_3 + 16u] = bitcast<i32>(word_14);
    let word_15 = w_8 & 0x03030303u;
    staged[to_word_3 + 24u] = bitcast<i32>(word_15);
    let by_one_1 = (turn_1 & 1u) != 0u;
    let by_two_1 = (turn_1 & 2u) != 0u;
    let w_9 = select(w4_1.x, w4_1.y, by_one_1);
    let w_10 = select(w4_1.y, w4_1.z, by_one_1);
    let w_11 = select(w4_1.z, w4_1.w, by_one_1);
    let w_12 = select(w4_1.w, w4_1.x, by_one_1);
    let w_13 = select(w_9, w_11, by_two_1);
    let w_14 = select(w_10, w_12, by_two_1);
    let w_15 = select(w_11, w_9, by_two_1);
    let w_16 = select(w_12, w_10, by_two_1);
    let to_word_4 = to_1 + ((turn_1 + 0u) & 3u);
    let word_16 = (w_13 >> 6u) & 0x03030303u;
    staged[to_word_4 + 0u] = bitcast<i32>(word_16);
    let word_17 = (w_13 >> 4u) & 0x03030303u;
    staged[to_word_4 + 8u] = bitcast<i32>(word_17);
    let word_18 = (w_13 >> 2u) & 0x03030303u;
    staged[to_word_4 + 16u] = bitcast<i32>(word_18);
    let word_19 = w_13 & 0x03030303u;
    staged[to_word_4 + 24u] = bitcast<i32>(word_19);
    let to_word_5 = to_1 + ((turn_1 + 1u) & 3u);
    let word_20 = (w_14 >> 6u) & 0x03030303u;
    staged[to_word_5 + 0u] = bitcast<i32>(word_20);
    let word_21 = (w_14 >> 4u) & 0x03030303u;
    staged[to_word_5 + 8u] = bitcast<i32>(word_21);
    let word_22 = (w_14 >> 2u) & 0x03030303u;
    staged[to_word_5 + 16u] = bitcast<i32>(word_22);
    let word_23 = w_14 & 0x03030303u;
    staged[to_word_5 + 24u] = bitcast<i32>(word_23);
    let to_word_6 = to_1 + ((turn_1 + 2u) & 3u);
    let word_24 = (w_15 >> 6u) & 0x03030303u;
    staged[to_word_6 + 0u] = bitcast<i32>(word_24);
    let word_25 = (w_15 >> 4u) & 0x03030303u;
    staged[to_word_6 + 8u] = bitcast<i32>(word_25);
    let word_26 = (w_15 >> 2u) & 0x03030303u;
    staged[to_word_6 + 16u] = bitcast<i32>(word_26);
    let word_27 = w_15 & 0x03030303u;
    staged[to_word_6 + 24u] = bitcast<i32>(word_27);
    let to_word_7 = to_1 + ((turn_1 + 3u) & 3u);
    let word_28 = (w_16 >> 6u) & 0x03030303u;
    staged[to_word_7 + 0u] = bitcast<i32>(word_28);
    let word_29 = (w_16 >> 4u) & 0x03030303u;
    staged[to_word_7 + 8u] = bitcast<i32>(word_29);
    let word_30 = (w_16 >> 2u) & 0x03030303u;
    staged[to_word_7 + 16u] = bitcast<i32>(word_30);
    let word_31 = w_16 & 0x03030303u;
    staged[to_word_7 + 24u] = bitcast<i32>(word_31);
    let by_one_2 = (turn_2 & 1u) != 0u;
    let by_two_2 = (turn_2 & 2u) != 0u;
    let w_17 = select(w4_2.x, w4_2.y, by_one_2);
    let w_18 = select(w4_2.y, w4_2.z, by_one_2);
    let w_19 = select(w4_2.z, w4_2.w, by_one_2);
    let w_20 = select(w4_2.w, w4_2.x, by_one_2);
    let w_21 = select(w_17, w_19, by_two_2);
    let w_22 = select(w_18, w_20, by_two_2);
    let w_23 = select(w_19, w_17, by_two_2);
    let w_24 = select(w_20, w_18, by_two_2);
    let to_word_8 = to_2 + ((turn_2 + 0u) & 3u);
    let word_32 = (w_21 >> 6u) & 0x03030303u;
    staged[to_word_8 + 0u] = bitcast<i32>(word_32);
    let word_33 = (w_21 >> 4u) & 0x03030303u;
    staged[to_word_8 + 8u] = bitcast<i32>(word_33);
    let word_34 = (w_21 >> 2u) & 0x03030303u;
    staged[to_word_8 + 16u] = bitcast<i32>(word_34);
    let word_35 = w_21 & 0x03030303u;
    staged[to_word_8 + 24u] = bitcast<i32>(word_35);
    let to_word_9 = to_2 + ((turn_2 + 1u) & 3u);
    let word_36 = (w_22 >> 6u) & 0x03030303u;
    staged[to_word_9 + 0u] = bitcast<i32>(word_36);
    let word_37 = (w_22 >> 4u) & 0x03030303u;
    staged[to_word_9 + 8u] = bitcast<i32>(word_37);
    let word_38 = (w_22 >> 2u) & 0x03030303u;
    staged[to_word_9 + 16u] = bitcast<i32>(word_38);
    let word_39 = w_22 & 0x03030303u;
    staged[to_word_9 + 24u] = bitcast<i32>(word_39);
    let to_word_10 = to_2 + ((turn_2 + 2u) & 3u);
    let word_40 = (w_23 >> 6u) & 0x03030303u;
    staged[to_word_10 + 0u] = bitcast<i32>(word_40);
    let word_41 = (w_23 >> 4u) & 0x03030303u;
    staged[to_word_10 + 8u] = bitcast<i32>(word_41);
    let word_42 = (w_23 >> 2u) & 0x03030303u;
    staged[to_word_10 + 16u] = bitcast<i32>(word_42);
    let word_43 = w_23 & 0x03030303u;
    staged[to_word_10 + 24u] = bitcast<i32>(word_43);
    let to_word_11 = to_2 + ((turn_2 + 3u) & 3u);
    let word_44 = (w_24 >> 6u) & 0x03030303u;
    staged[to_word_11 + 0u] = bitcast<i32>(word_44);
    let word_45 = (w_24 >> 4u) & 0x03030303u;
    staged[to_word_11 + 8u] = bitcast<i32>(word_45);
    let word_46 = (w_24 >> 2u) & 0x03030303u;
    staged[to_word_11 + 16u] = bitcast<i32>(word_46);
    let word_47 = w_24 & 0x03030303u;
    staged[to_word_11 + 24u] = bitcast<i32>(word_47);
    let by_one_3 = (turn_3 & 1u) != 0u;
    let by_two_3 = (turn_3 & 2u) != 0u;
    let w_25 = select(w4_3.x, w4_3.y, by_one_3);
    let w_26 = select(w4_3.y, w4_3.z, by_one_3);
    let w_27 = select(w4_3.z, w4_3.w, by_one_3);
    let w_28 = select(w4_3.w, w4_3.x, by_one_3);
    let w_29 = select(w_25, w_27, by_two_3);
    let w_30 = select(w_26, w_28, by_two_3);
    let w_31 = select(w_27, w_25, by_two_3);
    let w_32 = select(w_28, w_26, by_two_3);
    let to_word_12 = to_3 + ((turn_3 + 0u) & 3u);
    let word_48 = (w_29 >> 6u) & 0x03030303u;
    staged[to_word_12 + 0u] = bitcast<i32>(word_48);
    let word_49 = (w_29 >> 4u) & 0x03030303u;
    staged[to_word_12 + 8u] = bitcast<i32>(word_49);
    let word_50 = (w_29 >> 2u) & 0x03030303u;
    staged[to_word_12 + 16u] = bitcast<i32>(word_50);
    let word_51 = w_29 & 0x03030303u;
    staged[to_word_12 + 24u] = bitcast<i32>(word_51);
    let to_word_13 = to_3 + ((turn_3 + 1u) & 3u);
    let word_52 = (w_30 >> 6u) & 0x03030303u;
    staged[to_word_13 + 0u] = bitcast<i32>(word_52);
    let word_53 = (w_30 >> 4u) & 0x03030303u;
    staged[to_word_13 + 8u] = bitcast<i32>(word_53);
    let word_54 = (w_30 >> 2u) & 0x03030303u;
    staged[to_word_13 + 16u] = bitcast<i32>(word_54);
    let word_55 = w_30 & 0x03030303u;
    staged[to_word_13 + 24u] = bitcast<i32>(word_55);
    let to_word_14 = to_3 + ((turn_3 + 2u) & 3u);
    let word_56 = (w_31 >> 6u) & 0x03030303u;
    staged[to_word_14 + 0u] = bitcast<i32>(word_56);
    let word_57 = (w_31 >> 4u) & 0x03030303u;
    staged[to_word_14 + 8u] = bitcast<i32>(word_57);
    let word_58 = (w_31 >> 2u) & 0x03030303u;
    staged[to_word_14 + 16u] = bitcast<i32>(word_58);
    let word_59 = w_31 & 0x03030303u;
    staged[to_word_14 + 24u] = bitcast<i32>(word_59);
    let to_word_15 = to_3 + ((turn_3 + 3u) & 3u);
    let word_60 = (w_32 >> 6u) & 0x03030303u;
    staged[to_word_15 + 0u] = bitcast<i32>(word_60);
    let word_61 = (w_32 >> 4u) & 0x03030303u;
    staged[to_word_15 + 8u] = bitcast<i32>(word_61);
    let word_62 = (w_32 >> 2u) & 0x03030303u;
    staged[to_word_15 + 16u] = bitcast<i32>(word_62);
    let word_63 = w_32 & 0x03030303u;
    staged[to_word_15 + 24u] = bitcast<i32>(word_63);
    workgroupBarrier();
    for (var k = 0u; k < 128u; k += 8u) {
      let matrix = (subgroupMatrixLoad<subgroup_matrix_left<i8, 8, 8>>(&x, x_start + x_block + k / 32u * 512u + k % 32u, false, 32u));
      let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 8, 8>>(&x, x_start_1 + x_block + k / 32u * 512u + k % 32u, false, 32u));
      let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 8, 8>>(&staged, split * 2320u + k + 0u, true, 144u));
      sums = subgroupMatrixMultiplyAccumulate(matrix, matrix_2, sums);
      sums_2 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_2, sums_2);
      let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 8, 8>>(&staged, split * 2320u + k + 1152u, true, 144u));
      sums_1 = subgroupMatrixMultiplyAccumulate(matrix, matrix_3, sums_1);
      sums_3 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_3, sums_3);
    }
    workgroupBarrier();
  }
  subgroupMatrixStore(&staged, split * 256u + 0u, sums, false, 16u);
  subgroupMatrixStore(&staged, split * 256u + 8u, sums_1, false, 16u);
  subgroupMatrixStore(&staged, split * 256u + 128u, sums_2, false, 16u);
  subgroupMatrixStore(&staged, split * 256u + 136u, sums_3, false, 16u);
  workgroupBarrier();
  let n_tokens = params[0u];
  let i = tid + 0u;
  let tile_token = i / 16u;
  let tile_row = i % 16u;
  let token_2 = first_token + tile_token;
  let row_20 = first_row + tile_row;
  let at = tile_token * 16u + tile_row + 0u;
  let part = staged[at];
  let part_1 = part + staged[at + 256u];
  let part_2 = part_1 + staged[at + 512u];
  let part_3 = part_2 + staged[at + 768u];
  let token_3 = first_token + tile_token;
  let meta_at = (token_3 / 16u * 1552u + token_3 % 16u + 1536u) * 4u;
  let x_scale = bitcast<f32>(x[meta_at]);
  let x_sum = i32(x[meta_at + 1u]);
  let value = f32(part_3 - x_sum) / x_scale * scales.a;
  let index = token_2 * 512u + row_20;
  var y_new: f32 = 0f;
  var gain: f32 = 0f;
  let token_exists = token_2 < n_tokens;
  if (token_exists && (row_20 < 512u)) {
    y_new = y[index] + value;
    y[index] = y_new;
    gain = next_gain[row_20];
  }
  let y_new_1 = y_new;
  let next_g = gain;
  let to_part = token_2 * 32u + wg.x;
  let square = y_new_1 * y_new_1;
  let magnitude = abs(y_new_1 * next_g);
  workgroupBarrier();
  part_4[tid] = square;
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
  workgroupBarrier();
  part_5[tid] = magnitude;
  workgroupBarrier();
  let part_lane_1 = tid & 15u;
  if (part_lane_1 < 8u) {
    let a_4 = part_5[tid];
    let b_4 = part_5[tid + 8u];
    part_5[tid] = max(a_4, b_4);
  }
  workgroupBarrier();
  if (part_lane_1 < 4u) {
    let a_5 = part_5[tid];
    let b_5 = part_5[tid + 4u];
    part_5[tid] = max(a_5, b_5);
  }
  workgroupBarrier();
  if (part_lane_1 < 2u) {
    let a_6 = part_5[tid];
    let b_6 = part_5[tid + 2u];
    part_5[tid] = max(a_6, b_6);
  }
  workgroupBarrier();
  if (part_lane_1 < 1u) {
    let a_7 = part_5[tid];
    let b_7 = part_5[tid + 1u];
    part_5[tid] = max(a_7, b_7);
  }
  workgroupBarrier();
  let sum_1 = part_5[tid - part_lane_1];
  if (token_exists && ((tid & 15u) == 0u)) {
    next_parts[to_part] = vec2<f32>(sum, sum_1);
  }
  let i_1 = tid + 32u;
  let tile_token_1 = i_1 / 16u;
  let tile_row_1 = i_1 % 16u;
  let token_4 = first_token + tile_token_1;
  let row_21 = first_row + tile_row_1;
  let at_1 = tile_token_1 * 16u + tile_row_1 + 0u;
  let part_6 = staged[at_1];
  let part_7 = part_6 + staged[at_1 + 256u];
  let part_8 = part_7 + staged[at_1 + 512u];
  let part_9 = part_8 + staged[at_1 + 768u];
  let token_5 = first_token + tile_token_1;
  let meta_at_1 = (token_5 / 16u * 1552u + token_5 % 16u + 1536u) * 4u;
  let x_scale_1 = bitcast<f32>(x[meta_at_1]);
  let x_sum_1 = i32(x[meta_at_1 + 1u]);
  let value_1 = f32(part_9 - x_sum_1) / x_scale_1 * scales.a;
  let index_1 = token_4 * 512u + row_21;
  var y_new_2: f32 = 0f;
  var gain_1: f32 = 0f;
  let token_exists_1 = token_4 < n_tokens;
  if (token_exists_1 && (row_21 < 512u)) {
    y_new_2 = y[index_1] + value_1;
    y[index_1] = y_new_2;
    gain_1 = next_gain[row_21];
  }
  let y_new_3 = y_new_2;
  let next_g_1 = gain_1;
  let to_part_1 = token_4 * 32u + wg.x;
  let square_1 = y_new_3 * y_new_3;
  let magnitude_1 = abs(y_new_3 * next_g_1);
  workgroupBarrier();
  part_10[tid] = square_1;
  workgroupBarrier();
  let part_lane_2 = tid & 15u;
  if (part_lane_2 < 8u) {
    let a_8 = part_10[tid];
    let b_8 = part_10[tid + 8u];
    part_10[tid] = a_8 + b_8;
  }
  workgroupBarrier();
  if (part_lane_2 < 4u) {
    let a_9 = part_10[tid];
    let b_9 = part_10[tid + 4u];
    part_10[tid] = a_9 + b_9;
  }
  workgroupBarrier();
  if (part_lane_2 < 2u) {
    let a_10 = part_10[tid];
    let b_10 = part_10[tid + 2u];
    part_10[tid] = a_10 + b_10;
  }
  workgroupBarrier();
  if (part_lane_2 < 1u) {
    let a_11 = part_10[tid];
    let b_11 = part_10[tid + 1u];
    part_10[tid] = a_11 + b_11;
  }
  workgroupBarrier();
  let sum_2 = part_10[tid - part_lane_2];
  workgroupBarrier();
  part_11[tid] = magnitude_1;
  workgroupBarrier();
  let part_lane_3 = tid & 15u;
  if (part_lane_3 < 8u) {
    let a_12 = part_11[tid];
    let b_12 = part_11[tid + 8u];
    part_11[tid] = max(a_12, b_12);
  }
  workgroupBarrier();
  if (part_lane_3 < 4u) {
    let a_13 = part_11[tid];
    let b_13 = part_11[tid + 4u];
    part_11[tid] = max(a_13, b_13);
  }
  workgroupBarrier();
  if (part_lane_3 < 2u) {
    let a_14 = part_11[tid];
    let b_14 = part_11[tid + 2u];
    part_11[tid] = max(a_14, b_14);
  }
  workgroupBarrier();
  if (part_lane_3 < 1u) {
    let a_15 = part_11[tid];
    let b_15 = part_11[tid + 1u];
    part_11[tid] = max(a_15, b_15);
  }
  workgroupBarrier();
  let sum_3 = part_11[tid - part_lane_3];
  if (token_exists_1 && ((tid & 15u) == 0u)) {
    next_parts[to_part_1] = vec2<f32>(sum_2, sum_3);
  }
  let i_2 = tid + 64u;
  let tile_token_2 = i_2 / 16u;
  let tile_row_2 = i_2 % 16u;
  let token_6 = first_token + tile_token_2;
  let row_22 = first_row + tile_row_2;
  let at_2 = tile_token_2 * 16u + tile_row_2 + 0u;
  let part_12 = staged[at_2];
  let part_13 = part_12 + staged[at_2 + 256u];
  let part_14 = part_13 + staged[at_2 + 512u];
  let part_15 = part_14 + staged[at_2 + 768u];
  let token_7 = first_token + tile_token_2;
  let meta_at_2 = (token_7 / 16u * 1552u + token_7 % 16u + 1536u) * 4u;
  let x_scale_2 = bitcast<f32>(x[meta_at_2]);
  let x_sum_2 = i32(x[meta_at_2 + 1u]);
  let value_2 = f32(part_15 - x_sum_2) / x_scale_2 * scales.a;
  let index_2 = token_6 * 512u + row_22;
  var y_new_4: f32 = 0f;
  var gain_2: f32 = 0f;
  let token_exists_2 = token_6 < n_tokens;
  if (token_exists_2 && (row_22 < 512u)) {
    y_new_4 = y[index_2] + value_2;
    y[index_2] = y_new_4;
    gain_2 = next_gain[row_22];
  }
  let y_new_5 = y_new_4;
  let next_g_2 = gain_2;
  let to_part_2 = token_6 * 32u + wg.x;
  let square_2 = y_new_5 * y_new_5;
  let magnitude_2 = abs(y_new_5 * next_g_2);
  workgroupBarrier();
  part_16[tid] = square_2;
  workgroupBarrier();
  let part_lane_4 = tid & 15u;
  if (part_lane_4 < 8u) {
    let a_16 = part_16[tid];
    let b_16 = part_16[tid + 8u];
    part_16[tid] = a_16 + b_16;
  }
  workgroupBarrier();
  if (part_lane_4 < 4u) {
    let a_17 = part_16[tid];
    let b_17 = part_16[tid + 4u];
    part_16[tid] = a_17 + b_17;
  }
  workgroupBarrier();
  if (part_lane_4 < 2u) {
    let a_18 = part_16[tid];
    let b_18 = part_16[tid + 2u];
    part_16[tid] = a_18 + b_18;
  }
  workgroupBarrier();
  if (part_lane_4 < 1u) {
    let a_19 = part_16[tid];
    let b_19 = part_16[tid + 1u];
    part_16[tid] = a_19 + b_19;
  }
  workgroupBarrier();
  let sum_4 = part_16[tid - part_lane_4];
  workgroupBarrier();
  part_17[tid] = magnitude_2;
  workgroupBarrier();
  let part_lane_5 = tid & 15u;
  if (part_lane_5 < 8u) {
    let a_20 = part_17[tid];
    let b_20 = part_17[tid + 8u];
    part_17[tid] = max(a_20, b_20);
  }
  workgroupBarrier();
  if (part_lane_5 < 4u) {
    let a_21 = part_17[tid];
    let b_21 = part_17[tid + 4u];
    part_17[tid] = max(a_21, b_21);
  }
  workgroupBarrier();
  if (part_lane_5 < 2u) {
    let a_22 = part_17[tid];
    let b_22 = part_17[tid + 2u];
    part_17[tid] = max(a_22, b_22);
  }
  workgroupBarrier();
  if (part_lane_5 < 1u) {
    let a_23 = part_17[tid];
    let b_23 = part_17[tid + 1u];
    part_17[tid] = max(a_23, b_23);
  }
  workgroupBarrier();
  let sum_5 = part_17[tid - part_lane_5];
  if (token_exists_2 && ((tid & 15u) == 0u)) {
    next_parts[to_part_2] = vec2<f32>(sum_4, sum_5);
  }
  let i_3 = tid + 96u;
  let tile_token_3 = i_3 / 16u;
  let tile_row_3 = i_3 % 16u;
  let token_8 = first_token + tile_token_3;
  let row_23 = first_row + tile_row_3;
  let at_3 = tile_token_3 * 16u + tile_row_3 + 0u;
  let part_18 = staged[at_3];
  let part_19 = part_18 + staged[at_3 + 256u];
  let part_20 = part_19 + staged[at_3 + 512u];
  let part_21 = part_20 + staged[at_3 + 768u];
  let token_9 = first_token + tile_token_3;
  let meta_at_3 = (token_9 / 16u * 1552u + token_9 % 16u + 1536u) * 4u;
  let x_scale_3 = bitcast<f32>(x[meta_at_3]);
  let x_sum_3 = i32(x[meta_at_3 + 1u]);
  let value_3 = f32(part_21 - x_sum_3) / x_scale_3 * scales.a;
  let index_3 = token_8 * 512u + row_23;
  var y_new_6: f32 = 0f;
  var gain_3: f32 = 0f;
  let token_exists_3 = token_8 < n_tokens;
  if (token_exists_3 && (row_23 < 512u)) {
    y_new_6 = y[index_3] + value_3;
    y[index_3] = y_new_6;
    gain_3 = next_gain[row_23];
  }
  let y_new_7 = y_new_6;
  let next_g_3 = gain_3;
  let to_part_3 = token_8 * 32u + wg.x;
  let square_3 = y_new_7 * y_new_7;
  let magnitude_3 = abs(y_new_7 * next_g_3);
  workgroupBarrier();
  part_22[tid] = square_3;
  workgroupBarrier();
  let part_lane_6 = tid & 15u;
  if (part_lane_6 < 8u) {
    let a_24 = part_22[tid];
    let b_24 = part_22[tid + 8u];
    part_22[tid] = a_24 + b_24;
  }
  workgroupBarrier();
  if (part_lane_6 < 4u) {
    let a_25 = part_22[tid];
    let b_25 = part_22[tid + 4u];
    part_22[tid] = a_25 + b_25;
  }
  workgroupBarrier();
  if (part_lane_6 < 2u) {
    let a_26 = part_22[tid];
    let b_26 = part_22[tid + 2u];
    part_22[tid] = a_26 + b_26;
  }
  workgroupBarrier();
  if (part_lane_6 < 1u) {
    let a_27 = part_22[tid];
    let b_27 = part_22[tid + 1u];
    part_22[tid] = a_27 + b_27;
  }
  workgroupBarrier();
  let sum_6 = part_22[tid - part_lane_6];
  workgroupBarrier();
  part_23[tid] = magnitude_3;
  workgroupBarrier();
  let part_lane_7 = tid & 15u;
  if (part_lane_7 < 8u) {
    let a_28 = part_23[tid];
    let b_28 = part_23[tid + 8u];
    part_23[tid] = max(a_28, b_28);
  }
  workgroupBarrier();
  if (part_lane_7 < 4u) {
    let a_29 = part_23[tid];
    let b_29 = part_23[tid + 4u];
    part_23[tid] = max(a_29, b_29);
  }
  workgroupBarrier();
  if (part_lane_7 < 2u) {
    let a_30 = part_23[tid];
    let b_30 = part_23[tid + 2u];
    part_23[tid] = max(a_30, b_30);
  }
  workgroupBarrier();
  if (part_lane_7 < 1u) {
    let a_31 = part_23[tid];
    let b_31 = part_23[tid + 1u];
    part_23[tid] = max(a_31, b_31);
  }
  workgroupBarrier();
  let sum_7 = part_23[tid - part_lane_7];
  if (token_exists_3 && ((tid & 15u) == 0u)) {
    next_parts[to_part_3] = vec2<f32>(sum_6, sum_7);
  }
  let i_4 = tid + 128u;
  let tile_token_4 = i_4 / 16u;
  let tile_row_4 = i_4 % 16u;
  let token_10 = first_token + tile_token_4;
  let row_24 = first_row + tile_row_4;
  let at_4 = tile_token_4 * 16u + tile_row_4 + 0u;
  let part_24 = staged[at_4];
  let part_25 = part_24 + staged[at_4 + 256u];
  let part_26 = part_25 + staged[at_4 + 512u];
  let part_27 = part_26 + staged[at_4 + 768u];
  let token_11 = first_token + tile_token_4;
  let meta_at_4 = (token_11 / 16u * 1552u + token_11 % 16u + 1536u) * 4u;
  let x_scale_4 = bitcast<f32>(x[meta_at_4]);
  let x_sum_4 = i32(x[meta_at_4 + 1u]);
  let value_4 = f32(part_27 - x_sum_4) / x_scale_4 * scales.a;
  let index_4 = token_10 * 512u + row_24;
  var y_new_8: f32 = 0f;
  var gain_4: f32 = 0f;
  let token_exists_4 = token_10 < n_tokens;
  if (token_exists_4 && (row_24 < 512u)) {
    y_new_8 = y[index_4] + value_4;
    y[index_4] = y_new_8;
    gain_4 = next_gain[row_24];
  }
  let y_new_9 = y_new_8;
  let next_g_4 = gain_4;
  let to_part_4 = token_10 * 32u + wg.x;
  let square_4 = y_new_9 * y_new_9;
  let magnitude_4 = abs(y_new_9 * next_g_4);
  workgroupBarrier();
  part_28[tid] = square_4;
  workgroupBarrier();
  let part_lane_8 = tid & 15u;
  if (part_lane_8 < 8u) {
    let a_32 = part_28[tid];
    let b_32 = part_28[tid + 8u];
    part_28[tid] = a_32 + b_32;
  }
  workgroupBarrier();
  if (part_lane_8 < 4u) {
    let a_33 = part_28[tid];
    let b_33 = part_28[tid + 4u];
    part_28[tid] = a_33 + b_33;
  }
  workgroupBarrier();
  if (part_lane_8 < 2u) {
    let a_34 = part_28[tid];
    let b_34 = part_28[tid + 2u];
    part_28[tid] = a_34 + b_34;
  }
  workgroupBarrier();
  if (part_lane_8 < 1u) {
    let a_35 = part_28[tid];
    let b_35 = part_28[tid + 1u];
    part_28[tid] = a_35 + b_35;
  }
  workgroupBarrier();
  let sum_8 = part_28[tid - part_lane_8];
  workgroupBarrier();
  part_29[tid] = magnitude_4;
  workgroupBarrier();
  let part_lane_9 = tid & 15u;
  if (part_lane_9 < 8u) {
    let a_36 = part_29[tid];
    let b_36 = part_29[tid + 8u];
    part_29[tid] = max(a_36, b_36);
  }
  workgroupBarrier();
  if (part_lane_9 < 4u) {
    let a_37 = part_29[tid];
    let b_37 = part_29[tid + 4u];
    part_29[tid] = max(a_37, b_37);
  }
  workgroupBarrier();
  if (part_lane_9 < 2u) {
    let a_38 = part_29[tid];
    let b_38 = part_29[tid + 2u];
    part_29[tid] = max(a_38, b_38);
  }
  workgroupBarrier();
  if (part_lane_9 < 1u) {
    let a_39 = part_29[tid];
    let b_39 = part_29[tid + 1u];
    part_29[tid] = max(a_39, b_39);
  }
  workgroupBarrier();
  let sum_9 = part_29[tid - part_lane_9];
  if (token_exists_4 && ((tid & 15u) == 0u)) {
    next_parts[to_part_4] = vec2<f32>(sum_8, sum_9);
  }
  let i_5 = tid + 160u;
  let tile_token_5 = i_5 / 16u;
  let tile_row_5 = i_5 % 16u;
  let token_12 = first_token + tile_token_5;
  let row_25 = first_row + tile_row_5;
  let at_5 = tile_token_5 * 16u + tile_row_5 + 0u;
  let part_30 = staged[at_5];
  let part_31 = part_30 + staged[at_5 + 256u];
  let part_32 = part_31 + staged[at_5 + 512u];
  let part_33 = part_32 + staged[at_5 + 768u];
  let token_13 = first_token + tile_token_5;
  let meta_at_5 = (token_13 / 16u * 1552u + token_13 % 16u + 1536u) * 4u;
  let x_scale_5 = bitcast<f32>(x[meta_at_5]);
  let x_sum_5 = i32(x[meta_at_5 + 1u]);
  let value_5 = f32(part_33 - x_sum_5) / x_scale_5 * scales.a;
  let index_5 = token_12 * 512u + row_25;
  var y_new_10: f32 = 0f;
  var gain_5: f32 = 0f;
  let token_exists_5 = token_12 < n_tokens;
  if (token_exists_5 && (row_25 < 512u)) {
    y_new_10 = y[index_5] + value_5;
    y[index_5] = y_new_10;
    gain_5 = next_gain[row_25];
  }
  let y_new_11 = y_new_10;
  let next_g_5 = gain_5;
  let to_part_5 = token_12 * 32u + wg.x;
  let square_5 = y_new_11 * y_new_11;
  let magnitude_5 = abs(y_new_11 * next_g_5);
  workgroupBarrier();
  part_34[tid] = square_5;
  workgroupBarrier();
  let part_lane_10 = tid & 15u;
  if (part_lane_10 < 8u) {
    let a_40 = part_34[tid];
    let b_40 = part_34[tid + 8u];
    part_34[tid] = a_40 + b_40;
  }
  workgroupBarrier();
  if (part_lane_10 < 4u) {
    let a_41 = part_34[tid];
    let b_41 = part_34[tid + 4u];
    part_34[tid] = a_41 + b_41;
  }
  workgroupBarrier();
  if (part_lane_10 < 2u) {
    let a_42 = part_34[tid];
    let b_42 = part_34[tid + 2u];
    part_34[tid] = a_42 + b_42;
  }
  workgroupBarrier();
  if (part_lane_10 < 1u) {
    let a_43 = part_34[tid];
    let b_43 = part_34[tid + 1u];
    part_34[tid] = a_43 + b_43;
  }
  workgroupBarrier();
  let sum_10 = part_34[tid - part_lane_10];
  workgroupBarrier();
  part_35[tid] = magnitude_5;
  workgroupBarrier();
  let part_lane_11 = tid & 15u;
  if (part_lane_11 < 8u) {
    let a_44 = part_35[tid];
    let b_44 = part_35[tid + 8u];
    part_35[tid] = max(a_44, b_44);
  }
  workgroupBarrier();
  if (part_lane_11 < 4u) {
    let a_45 = part_35[tid];
    let b_45 = part_35[tid + 4u];
    part_35[tid] = max(a_45, b_45);
  }
  workgroupBarrier();
  if (part_lane_11 < 2u) {
    let a_46 = part_35[tid];
    let b_46 = part_35[tid + 2u];
    part_35[tid] = max(a_46, b_46);
  }
  workgroupBarrier();
  if (part_lane_11 < 1u) {
    let a_47 = part_35[tid];
    let b_47 = part_35[tid + 1u];
    part_35[tid] = max(a_47, b_47);
  }
  workgroupBarrier();
  let sum_11 = part_35[tid - part_lane_11];
  if (token_exists_5 && ((tid & 15u) == 0u)) {
    next_parts[to_part_5] = vec2<f32>(sum_10, sum_11);
  }
  let i_6 = tid + 192u;
  let tile_token_6 = i_6 / 16u;
  let tile_row_6 = i_6 % 16u;
  let token_14 = first_token + tile_token_6;
  let row_26 = first_row + tile_row_6;
  let at_6 = tile_token_6 * 16u + tile_row_6 + 0u;
  let part_36 = staged[at_6];
  let part_37 = part_36 + staged[at_6 + 256u];
  let part_38 = part_37 + staged[at_6 + 512u];
  let part_39 = part_38 + staged[at_6 + 768u];
  let token_15 = first_token + tile_token_6;
  let meta_at_6 = (token_15 / 16u * 1552u + token_15 % 16u + 1536u) * 4u;
  let x_scale_6 = bitcast<f32>(x[meta_at_6]);
  let x_sum_6 = i32(x[meta_at_6 + 1u]);
  let value_6 = f32(part_39 - x_sum_6) / x_scale_6 * scales.a;
  let index_6 = token_14 * 512u + row_26;
  var y_new_12: f32 = 0f;
  var gain_6: f32 = 0f;
  let token_exists_6 = token_14 < n_tokens;
  if (token_exists_6 && (row_26 < 512u)) {
    y_new_12 = y[index_6] + value_6;
    y[index_6] = y_new_12;
    gain_6 = next_gain[row_26];
  }
  let y_new_13 = y_new_12;
  let next_g_6 = gain_6;
  let to_part_6 = token_14 * 32u + wg.x;
  let square_6 = y_new_13 * y_new_13;
  let magnitude_6 = abs(y_new_13 * next_g_6);
  workgroupBarrier();
  part_40[tid] = square_6;
  workgroupBarrier();
  let part_lane_12 = tid & 15u;
  if (part_lane_12 < 8u) {
    let a_48 = part_40[tid];
    let b_48 = part_40[tid + 8u];
    part_40[tid] = a_48 + b_48;
  }
  workgroupBarrier();
  if (part_lane_12 < 4u) {
    let a_49 = part_40[tid];
    let b_49 = part_40[tid + 4u];
    part_40[tid] = a_49 + b_49;
  }
  workgroupBarrier();
  if (part_lane_12 < 2u) {
    let a_50 = part_40[tid];
    let b_50 = part_40[tid + 2u];
    part_40[tid] = a_50 + b_50;
  }
  workgroupBarrier();
  if (part_lane_12 < 1u) {
    let a_51 = part_40[tid];
    let b_51 = part_40[tid + 1u];
    part_40[tid] = a_51 + b_51;
  }
  workgroupBarrier();
  let sum_12 = part_40[tid - part_lane_12];
  workgroupBarrier();
  part_41[tid] = magnitude_6;
  workgroupBarrier();
  let part_lane_13 = tid & 15u;
  if (part_lane_13 < 8u) {
    let a_52 = part_41[tid];
    let b_52 = part_41[tid + 8u];
    part_41[tid] = max(a_52, b_52);
  }
  workgroupBarrier();
  if (part_lane_13 < 4u) {
    let a_53 = part_41[tid];
    let b_53 = part_41[tid + 4u];
    part_41[tid] = max(a_53, b_53);
  }
  workgroupBarrier();
  if (part_lane_13 < 2u) {
    let a_54 = part_41[tid];
    let b_54 = part_41[tid + 2u];
    part_41[tid] = max(a_54, b_54);
  }
  workgroupBarrier();
  if (part_lane_13 < 1u) {
    let a_55 = part_41[tid];
    let b_55 = part_41[tid + 1u];
    part_41[tid] = max(a_55, b_55);
  }
  workgroupBarrier();
  let sum_13 = part_41[tid - part_lane_13];
  if (token_exists_6 && ((tid & 15u) == 0u)) {
    next_parts[to_part_6] = vec2<f32>(sum_12, sum_13);
  }
  let i_7 = tid + 224u;
  let tile_token_7 = i_7 / 16u;
  let tile_row_7 = i_7 % 16u;
  let token_16 = first_token + tile_token_7;
  let row_27 = first_row + tile_row_7;
  let at_7 = tile_token_7 * 16u + tile_row_7 + 0u;
  let part_42 = staged[at_7];
  let part_43 = part_42 + staged[at_7 + 256u];
  let part_44 = part_43 + staged[at_7 + 512u];
  let part_45 = part_44 + staged[at_7 + 768u];
  let token_17 = first_token + tile_token_7;
  let meta_at_7 = (token_17 / 16u * 1552u + token_17 % 16u + 1536u) * 4u;
  let x_scale_7 = bitcast<f32>(x[meta_at_7]);
  let x_sum_7 = i32(x[meta_at_7 + 1u]);
  let value_7 = f32(part_45 - x_sum_7) / x_scale_7 * scales.a;
  let index_7 = token_16 * 512u + row_27;
  var y_new_14: f32 = 0f;
  var gain_7: f32 = 0f;
  let token_exists_7 = token_16 < n_tokens;
  if (token_exists_7 && (row_27 < 512u)) {
    y_new_14 = y[index_7] + value_7;
    y[index_7] = y_new_14;
    gain_7 = next_gain[row_27];
  }
  let y_new_15 = y_new_14;
  let next_g_7 = gain_7;
  let to_part_7 = token_16 * 32u + wg.x;
  let square_7 = y_new_15 * y_new_15;
  let magnitude_7 = abs(y_new_15 * next_g_7);
  workgroupBarrier();
  part_46[tid] = square_7;
  workgroupBarrier();
  let part_lane_14 = tid & 15u;
  if (part_lane_14 < 8u) {
    let a_56 = part_46[tid];
    let b_56 = part_46[tid + 8u];
    part_46[tid] = a_56 + b_56;
  }
  workgroupBarrier();
  if (part_lane_14 < 4u) {
    let a_57 = part_46[tid];
    let b_57 = part_46[tid + 4u];
    part_46[tid] = a_57 + b_57;
  }
  workgroupBarrier();
  if (part_lane_14 < 2u) {
    let a_58 = part_46[tid];
    let b_58 = part_46[tid + 2u];
    part_46[tid] = a_58 + b_58;
  }
  workgroupBarrier();
  if (part_lane_14 < 1u) {
    let a_59 = part_46[tid];
    let b_59 = part_46[tid + 1u];
    part_46[tid] = a_59 + b_59;
  }
  workgroupBarrier();
  let sum_14 = part_46[tid - part_lane_14];
  workgroupBarrier();
  part_47[tid] = magnitude_7;
  workgroupBarrier();
  let part_lane_15 = tid & 15u;
  if (part_lane_15 < 8u) {
    let a_60 = part_47[tid];
    let b_60 = part_47[tid + 8u];
    part_47[tid] = max(a_60, b_60);
  }
  workgroupBarrier();
  if (part_lane_15 < 4u) {
    let a_61 = part_47[tid];
    let b_61 = part_47[tid + 4u];
    part_47[tid] = max(a_61, b_61);
  }
  workgroupBarrier();
  if (part_lane_15 < 2u) {
    let a_62 = part_47[tid];
    let b_62 = part_47[tid + 2u];
    part_47[tid] = max(a_62, b_62);
  }
  workgroupBarrier();
  if (part_lane_15 < 1u) {
    let a_63 = part_47[tid];
    let b_63 = part_47[tid + 1u];
    part_47[tid] = max(a_63, b_63);
  }
  workgroupBarrier();
  let sum_15 = part_47[tid - part_lane_15];
  if (token_exists_7 && ((tid & 15u) == 0u)) {
    next_parts[to_part_7] = vec2<f32>(sum_14, sum_15);
  }
}
