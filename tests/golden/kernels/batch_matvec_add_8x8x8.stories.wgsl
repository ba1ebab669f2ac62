enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(2) var<uniform> scales: scales_fields;
@group(0) @binding(3) var<storage, read> params: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<storage, read> next_gain: array<f32>;
@group(0) @binding(6) var<storage, read_write> next_parts: array<vec2<f32>>;
var<workgroup> staged: array<i32, 2312>;
var<workgroup> part_2: array<f32, 32>;
var<workgroup> part_3: array<f32, 32>;
var<workgroup> part_6: array<f32, 32>;
var<workgroup> part_7: array<f32, 32>;
var<workgroup> part_10: array<f32, 32>;
var<workgroup> part_11: array<f32, 32>;
var<workgroup> part_14: array<f32, 32>;
var<workgroup> part_15: array<f32, 32>;
var<workgroup> part_18: array<f32, 32>;
var<workgroup> part_19: array<f32, 32>;
var<workgroup> part_22: array<f32, 32>;
var<workgroup> part_23: array<f32, 32>;
var<workgroup> part_26: array<f32, 32>;
var<workgroup> part_27: array<f32, 32>;
var<workgroup> part_30: array<f32, 32>;
var<workgroup> part_31: array<f32, 32>;

@compute @workgroup_size(32)
fn batch_matvec_add(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let first_token = wg.y * 16u;
  let split = tid / 8u / 2u;
  let side = tid / 8u % 2u;
  let first_row = wg.x * 16u;
  var sums: subgroup_matrix_result<i32, 8, 8> = subgroup_matrix_result<i32, 8, 8>();
  var sums_1: subgroup_matrix_result<i32, 8, 8> = subgroup_matrix_result<i32, 8, 8>();
  let v = tid + 0u;
  let row = v / 4u;
  let vector = v % 4u;
  let half = vector % 2u;
  let to = vector / 2u * 1156u + row * 36u + half * 4u;
  let v_1 = tid + 32u;
  let row_1 = v_1 / 4u;
  let vector_1 = v_1 % 4u;
  let half_1 = vector_1 % 2u;
  let to_1 = vector_1 / 2u * 1156u + row_1 * 36u + half_1 * 4u;
  let x_v = tid + 0u;
  let in_block = x_v / 128u;
  let unit = x_v / 32u % 4u * 2u + (x_v & 1u);
  let x_token = x_v / 128u % 1u * 16u + (x_v >> 1u) % 16u;
  let x_row = first_token + x_token;
  let x_at = x_row / 16u * 1552u + x_row % 16u * 2u + (unit >> 1u) * 32u + (unit & 1u);
  let x_to = in_block * 1156u + (x_token + 16u) * 36u + unit * 4u;
  let x_v_1 = tid + 32u;
  let in_block_1 = x_v_1 / 128u;
  let unit_1 = x_v_1 / 32u % 4u * 2u + (x_v_1 & 1u);
  let x_token_1 = x_v_1 / 128u % 1u * 16u + (x_v_1 >> 1u) % 16u;
  let x_row_1 = first_token + x_token_1;
  let x_at_1 = x_row_1 / 16u * 1552u + x_row_1 % 16u * 2u + (unit_1 >> 1u) * 32u + (unit_1 & 1u);
  let x_to_1 = in_block_1 * 1156u + (x_token_1 + 16u) * 36u + unit_1 * 4u;
  let x_v_2 = tid + 64u;
  let in_block_2 = x_v_2 / 128u;
  let unit_2 = x_v_2 / 32u % 4u * 2u + (x_v_2 & 1u);
  let x_token_2 = x_v_2 / 128u % 1u * 16u + (x_v_2 >> 1u) % 16u;
  let x_row_2 = first_token + x_token_2;
  let x_at_2 = x_row_2 / 16u * 1552u + x_row_2 % 16u * 2u + (unit_2 >> 1u) * 32u + (unit_2 & 1u);
  let x_to_2 = in_block_2 * 1156u + (x_token_2 + 16u) * 36u + unit_2 * 4u;
  let x_v_3 = tid + 96u;
  let in_block_3 = x_v_3 / 128u;
  let unit_3 = x_v_3 / 32u % 4u * 2u + (x_v_3 & 1u);
  let x_token_3 = x_v_3 / 128u % 1u * 16u + (x_v_3 >> 1u) % 16u;
  let x_row_3 = first_token + x_token_3;
  let x_at_3 = x_row_3 / 16u * 1552u + x_row_3 % 16u * 2u + (unit_3 >> 1u) * 32u + (unit_3 & 1u);
  let x_to_3 = in_block_3 * 1156u + (x_token_3 + 16u) * 36u + unit_3 * 4u;
  let x_v_4 = tid + 128u;
  let in_block_4 = x_v_4 / 128u;
  let unit_4 = x_v_4 / 32u % 4u * 2u + (x_v_4 & 1u);
  let x_token_4 = x_v_4 / 128u % 1u * 16u + (x_v_4 >> 1u) % 16u;
  let x_row_4 = first_token + x_token_4;
  let x_at_4 = x_row_4 / 16u * 1552u + x_row_4 % 16u * 2u + (unit_4 >> 1u) * 32u + (unit_4 & 1u);
  let x_to_4 = in_block_4 * 1156u + (x_token_4 + 16u) * 36u + unit_4 * 4u;
  let x_v_5 = tid + 160u;
  let in_block_5 = x_v_5 / 128u;
  let unit_5 = x_v_5 / 32u % 4u * 2u + (x_v_5 & 1u);
  let x_token_5 = x_v_5 / 128u % 1u * 16u + (x_v_5 >> 1u) % 16u;
  let x_row_5 = first_token + x_token_5;
  let x_at_5 = x_row_5 / 16u * 1552u + x_row_5 % 16u * 2u + (unit_5 >> 1u) * 32u + (unit_5 & 1u);
  let x_to_5 = in_block_5 * 1156u + (x_token_5 + 16u) * 36u + unit_5 * 4u;
  let x_v_6 = tid + 192u;
  let in_block_6 = x_v_6 / 128u;
  let unit_6 = x_v_6 / 32u % 4u * 2u + (x_v_6 & 1u);
  let x_token_6 = x_v_6 / 128u % 1u * 16u + (x_v_6 >> 1u) % 16u;
  let x_row_6 = first_token + x_token_6;
  let x_at_6 = x_row_6 / 16u * 1552u + x_row_6 % 16u * 2u + (unit_6 >> 1u) * 32u + (unit_6 & 1u);
  let x_to_6 = in_block_6 * 1156u + (x_token_6 + 16u) * 36u + unit_6 * 4u;
  let x_v_7 = tid + 224u;
  let in_block_7 = x_v_7 / 128u;
  let unit_7 = x_v_7 / 32u % 4u * 2u + (x_v_7 & 1u);
  let x_token_7 = x_v_7 / 128u % 1u * 16u + (x_v_7 >> 1u) % 16u;
  let x_row_7 = first_token + x_token_7;
  let x_at_7 = x_row_7 / 16u * 1552u + x_row_7 % 16u * 2u + (unit_7 >> 1u) * 32u + (unit_7 & 1u);
  let x_to_7 = in_block_7 * 1156u + (x_token_7 + 16u) * 36u + unit_7 * 4u;
  let block = 0u;
  let some_vector = min(block * 2u + vector, 23u);
  var words: vec4<u32> = vec4<u32>();
  let of_side = row % 8u;
  if (row < 8u) {
    let row_2 = min(first_row + 0u + of_side, 511u);
    words = w[row_2 * 24u + (some_vector + 0u)];
  } else {
    let row_3 = min(first_row + 8u + of_side, 511u);
    words = w[row_3 * 24u + (some_vector + 0u)];
  }
  let loaded = words;
  var coming: vec4<u32> = loaded;
  let some_vector_1 = min(block * 2u + vector_1, 23u);
  var words_1: vec4<u32> = vec4<u32>();
  let of_side_1 = row_1 % 8u;
  if (row_1 < 8u) {
    let row_4 = min(first_row + 0u + of_side_1, 511u);
    words_1 = w[row_4 * 24u + (some_vector_1 + 0u)];
  } else {
    let row_5 = min(first_row + 8u + of_side_1, 511u);
    words_1 = w[row_5 * 24u + (some_vector_1 + 0u)];
  }
  let loaded_1 = words_1;
  var coming_1: vec4<u32> = loaded_1;
  let block_1 = 2u;
  let some_vector_2 = min(block_1 * 2u + vector, 23u);
  var words_2: vec4<u32> = vec4<u32>();
  let of_side_2 = row % 8u;
  if (row < 8u) {
    let row_6 = min(first_row + 0u + of_side_2, 511u);
    words_2 = w[row_6 * 24u + (some_vector_2 + 0u)];
  } else {
    let row_7 = min(first_row + 8u + of_side_2, 511u);
    words_2 = w[row_7 * 24u + (some_vector_2 + 0u)];
  }
  let loaded_2 = words_2;
  var coming_2: vec4<u32> = loaded_2;
  let some_vector_3 = min(block_1 * 2u + vector_1, 23u);
  var words_3: vec4<u32> = vec4<u32>();
  let of_side_3 = row_1 % 8u;
  if (row_1 < 8u) {
    let row_8 = min(first_row + 0u + of_side_3, 511u);
    words_3 = w[row_8 * 24u + (some_vector_3 + 0u)];
  } else {
    let row_9 = min(first_row + 8u + of_side_3, 511u);
    words_3 = w[row_9 * 24u + (some_vector_3 + 0u)];
  }
  let loaded_3 = words_3;
  var coming_3: vec4<u32> = loaded_3;
  let block_2 = 4u;
  let some_vector_4 = min(block_2 * 2u + vector, 23u);
  var words_4: vec4<u32> = vec4<u32>();
  let of_side_4 = row % 8u;
  if (row < 8u) {
    let row_10 = min(first_row + 0u + of_side_4, 511u);
    words_4 = w[row_10 * 24u + (some_vector_4 + 0u)];
  } else {
    let row_11 = min(first_row + 8u + of_side_4, 511u);
    words_4 = w[row_11 * 24u + (some_vector_4 + 0u)];
  }
  let loaded_4 = words_4;
  var coming_4: vec4<u32> = loaded_4;
  let some_vector_5 = min(block_2 * 2u + vector_1, 23u);
  var words_5: vec4<u32> = vec4<u32>();
  let of_side_5 = row_1 % 8u;
  if (row_1 < 8u) {
    let row_12 = min(first_row + 0u + of_side_5, 511u);
    words_5 = w[row_12 * 24u + (some_vector_5 + 0u)];
  } else {
    let row_13 = min(first_row + 8u + of_side_5, 511u);
    words_5 = w[row_13 * 24u + (some_vector_5 + 0u)];
  }
  let loaded_5 = words_5;
  var coming_5: vec4<u32> = loaded_5;
  let first = 0u;
  let x_block = min(first + in_block, 11u);
  var next_x: vec4<u32> = x[x_at + x_block * 128u];
  let x_block_1 = min(first + in_block_1, 11u);
  var next_x_1: vec4<u32> = x[x_at_1 + x_block_1 * 128u];
  let x_block_2 = min(first + in_block_2, 11u);
  var next_x_2: vec4<u32> = x[x_at_2 + x_block_2 * 128u];
  let x_block_3 = min(first + in_block_3, 11u);
  var next_x_3: vec4<u32> = x[x_at_3 + x_block_3 * 128u];
  let x_block_4 = min(first + in_block_4, 11u);
  var next_x_4: vec4<u32> = x[x_at_4 + x_block_4 * 128u];
  let x_block_5 = min(first + in_block_5, 11u);
  var next_x_5: vec4<u32> = x[x_at_5 + x_block_5 * 128u];
  let x_block_6 = min(first + in_block_6, 11u);
  var next_x_6: vec4<u32> = x[x_at_6 + x_block_6 * 128u];
  let x_block_7 = min(first + in_block_7, 11u);
  var next_x_7: vec4<u32> = x[x_at_7 + x_block_7 * 128u];
  for (var trip = 0u; trip < 6u; trip += 1u) {
    let first_block = trip * 2u;
    let next_block = first_block + 2u;
    let later = first_block + 6u;
    let w4 = coming;
    coming = coming_2;
    coming_2 = coming_4;
    let some_vector_6 = min(later * 2u + vector, 23u);
    var words_6: vec4<u32> = vec4<u32>();
    let of_side_6 = row % 8u;
    if (row < 8u) {
      let row_14 = min(first_row + 0u + of_side_6, 511u);
      words_6 = w[row_14 * 24u + (some_vector_6 + 0u)];
    } else {
      let row_15 = min(first_row + 8u + of_side_6, 511u);
      words_6 = w[row_15 * 24u + (some_vector_6 + 0u)];
    }
    let loaded_6 = words_6;
    coming_4 = loaded_6;
    let w4_1 = coming_1;
    coming_1 = coming_3;
    coming_3 = coming_5;
    let some_vector_7 = min(later * 2u + vector_1, 23u);
    var words_7: vec4<u32> = vec4<u32>();
    let of_side_7 = row_1 % 8u;
    if (row_1 < 8u) {
      let row_16 = min(first_row + 0u + of_side_7, 511u);
      words_7 = w[row_16 * 24u + (some_vector_7 + 0u)];
    } else {
      let row_17 = min(first_row + 8u + of_side_7, 511u);
      words_7 = w[row_17 * 24u + (some_vector_7 + 0u)];
    }
    let loaded_7 = words_7;
    coming_5 = loaded_7;
    let x4 = next_x;
    let x_block_8 = min(next_block + in_block, 11u);
    next_x = x[x_at + x_block_8 * 128u];
    let x4_1 = next_x_1;
    let x_block_9 = min(next_block + in_block_1, 11u);
    next_x_1 = x[x_at_1 + x_block_9 * 128u];
    let x4_2 = next_x_2;
    let x_block_10 = min(next_block + in_block_2, 11u);
    next_x_2 = x[x_at_2 + x_block_10 * 128u];
    let x4_3 = next_x_3;
    let x_block_11 = min(next_block + in_block_3, 11u);
    next_x_3 = x[x_at_3 + x_block_11 * 128u];
    let x4_4 = next_x_4;
    let x_block_12 = min(next_block + in_block_4, 11u);
    next_x_4 = x[x_at_4 + x_block_12 * 128u];
    let x4_5 = next_x_5;
    let x_block_13 = min(next_block + in_block_5, 11u);
    next_x_5 = x[x_at_5 + x_block_13 * 128u];
    let x4_6 = next_x_6;
    let x_block_14 = min(next_block + in_block_6, 11u);
    next_x_6 = x[x_at_6 + x_block_14 * 128u];
    let x4_7 = next_x_7;
    let x_block_15 = min(next_block + in_block_7, 11u);
    next_x_7 = x[x_at_7 + x_block_15 * 128u];
    let of_planes = w4.x;
    let word = (of_planes >> 6u) & 0x03030303u;
    staged[to + 0u] = bitcast<i32>(word);
    let of_planes_1 = w4.y;
    let word_1 = (of_planes_1 >> 6u) & 0x03030303u;
    staged[to + 1u] = bitcast<i32>(word_1);
    let of_planes_2 = w4.z;
    let word_2 = (of_planes_2 >> 6u) & 0x03030303u;
    staged[to + 2u] = bitcast<i32>(word_2);
    let of_planes_3 = w4.w;
    let word_3 = (of_planes_3 >> 6u) & 0x03030303u;
    staged[to + 3u] = bitcast<i32>(word_3);
    let of_planes_4 = w4.x;
    let word_4 = (of_planes_4 >> 4u) & 0x03030303u;
    staged[to + 8u] = bitcast<i32>(word_4);
    let of_planes_5 = w4.y;
    let word_5 = (of_planes_5 >> 4u) & 0x03030303u;
    staged[to + 9u] = bitcast<i32>(word_5);
    let of_planes_6 = w4.z;
    let word_6 = (of_planes_6 >> 4u) & 0x03030303u;
    staged[to + 10u] = bitcast<i32>(word_6);
    let of_planes_7 = w4.w;
    let word_7 = (of_planes_7 >> 4u) & 0x03030303u;
    staged[to + 11u] = bitcast<i32>(word_7);
    let of_planes_8 = w4.x;
    let word_8 = (of_planes_8 >> 2u) & 0x03030303u;
    staged[to + 16u] = bitcast<i32>(word_8);
    let of_planes_9 = w4.y;
    let word_9 = (of_planes_9 >> 2u) & 0x03030303u;
    staged[to + 17u] = bitcast<i32>(word_9);
    let of_planes_10 = w4.z;
    let word_10 = (of_planes_10 >> 2u) & 0x03030303u;
    staged[to + 18u] = bitcast<i32>(word_10);
    let of_planes_11 = w4.w;
    let word_11 = (of_planes_11 >> 2u) & 0x03030303u;
    staged[to + 19u] = bitcast<i32>(word_11);
    let of_planes_12 = w4.x;
    let word_12 = of_planes_12 & 0x03030303u;
    staged[to + 24u] = bitcast<i32>(word_12);
    let of_planes_13 = w4.y;
    let word_13 = of_planes_13 & 0x03030303u;
    staged[to + 25u] = bitcast<i32>(word_13);
    let of_planes_14 = w4.z;
    let word_14 = of_planes_14 & 0x03030303u;
    staged[to + 26u] = bitcast<i32>(word_14);
    let of_planes_15 = w4.w;
    let word_15 = of_planes_15 & 0x03030303u;
    staged[to + 27u] = bitcast<i32>(word_15);
    let of_planes_16 = w4_1.x;
    let word_16 = (of_planes_16 >> 6u) & 0x03030303u;
    staged[to_1 + 0u] = bitcast<i32>(word_16);
    let of_planes_17 = w4_1.y;
    let word_17 = (of_planes_17 >> 6u) & 0x03030303u;
    staged[to_1 + 1u] = bitcast<i32>(word_17);
    let of_planes_18 = w4_1.z;
    let word_18 = (of_planes_18 >> 6u) & 0x03030303u;
    staged[to_1 + 2u] = bitcast<i32>(word_18);
    let of_planes_19 = w4_1.w;
    let word_19 = (of_planes_19 >> 6u) & 0x03030303u;
    staged[to_1 + 3u] = bitcast<i32>(word_19);
    let of_planes_20 = w4_1.x;
    let word_20 = (of_planes_20 >> 4u) & 0x03030303u;
    staged[to_1 + 8u] = bitcast<i32>(word_20);
    let of_planes_21 = w4_1.y;
    let word_21 = (of_planes_21 >> 4u) & 0x03030303u;
    staged[to_1 + 9u] = bitcast<i32>(word_21);
    let of_planes_22 = w4_1.z;
    let word_22 = (of_planes_22 >> 4u) & 0x03030303u;
    staged[to_1 + 10u] = bitcast<i32>(word_22);
    let of_planes_23 = w4_1.w;
    let word_23 = (of_planes_23 >> 4u) & 0x03030303u;
    staged[to_1 + 11u] = bitcast<i32>(word_23);
    let of_planes_24 = w4_1.x;
    let word_24 = (of_planes_24 >> 2u) & 0x03030303u;
    staged[to_1 + 16u] = bitcast<i32>(word_24);
    let of_planes_25 = w4_1.y;
    let word_25 = (of_planes_25 >> 2u) & 0x03030303u;
    staged[to_1 + 17u] = bitcast<i32>(word_25);
    let of_planes_26 = w4_1.z;
    let word_26 = (of_planes_26 >> 2u) & 0x03030303u;
    staged[to_1 + 18u] = bitcast<i32>(word_26);
    let of_planes_27 = w4_1.w;
    let word_27 = (of_planes_27 >> 2u) & 0x03030303u;
    staged[to_1 + 19u] = bitcast<i32>(word_27);
    let of_planes_28 = w4_1.x;
    let word_28 = of_planes_28 & 0x03030303u;
    staged[to_1 + 24u] = bitcast<i32>(word_28);
    let of_planes_29 = w4_1.y;
    let word_29 = of_planes_29 & 0x03030303u;
    staged[to_1 + 25u] = bitcast<i32>(word_29);
    let of_planes_30 = w4_1.z;
    let word_30 = of_planes_30 & 0x03030303u;
    staged[to_1 + 26u] = bitcast<i32>(word_30);
    let of_planes_31 = w4_1.w;
    let word_31 = of_planes_31 & 0x03030303u;
    staged[to_1 + 27u] = bitcast<i32>(word_31);
    let x_word = x4.x;
    staged[x_to + 0u] = bitcast<i32>(x_word);
    let x_word_1 = x4.y;
    staged[x_to + 1u] = bitcast<i32>(x_word_1);
    let x_word_2 = x4.z;
    staged[x_to + 2u] = bitcast<i32>(x_word_2);
    let x_word_3 = x4.w;
    staged[x_to + 3u] = bitcast<i32>(x_word_3);
    let x_word_4 = x4_1.x;
    staged[x_to_1 + 0u] = bitcast<i32>(x_word_4);
    let x_word_5 = x4_1.y;
    staged[x_to_1 + 1u] = bitcast<i32>(x_word_5);
    let x_word_6 = x4_1.z;
    staged[x_to_1 + 2u] = bitcast<i32>(x_word_6);
    let x_word_7 = x4_1.w;
    staged[x_to_1 + 3u] = bitcast<i32>(x_word_7);
    let x_word_8 = x4_2.x;
    staged[x_to_2 + 0u] = bitcast<i32>(x_word_8);
    let x_word_9 = x4_2.y;
    staged[x_to_2 + 1u] = bitcast<i32>(x_word_9);
    let x_word_10 = x4_2.z;
    staged[x_to_2 + 2u] = bitcast<i32>(x_word_10);
    let x_word_11 = x4_2.w;
    staged[x_to_2 + 3u] = bitcast<i32>(x_word_11);
    let x_word_12 = x4_3.x;
    staged[x_to_3 + 0u] = bitcast<i32>(x_word_12);
    let x_word_13 = x4_3.y;
    staged[x_to_3 + 1u] = bitcast<i32>(x_word_13);
    let x_word_14 = x4_3.z;
    staged[x_to_3 + 2u] = bitcast<i32>(x_word_14);
    let x_word_15 = x4_3.w;
    staged[x_to_3 + 3u] = bitcast<i32>(x_word_15);
    let x_word_16 = x4_4.x;
    staged[x_to_4 + 0u] = bitcast<i32>(x_word_16);
    let x_word_17 = x4_4.y;
    staged[x_to_4 + 1u] = bitcast<i32>(x_word_17);
    let x_word_18 = x4_4.z;
    staged[x_to_4 + 2u] = bitcast<i32>(x_word_18);
    let x_word_19 = x4_4.w;
    staged[x_to_4 + 3u] = bitcast<i32>(x_word_19);
    let x_word_20 = x4_5.x;
    staged[x_to_5 + 0u] = bitcast<i32>(x_word_20);
    let x_word_21 = x4_5.y;
    staged[x_to_5 + 1u] = bitcast<i32>(x_word_21);
    let x_word_22 = x4_5.z;
    staged[x_to_5 + 2u] = bitcast<i32>(x_word_22);
    let x_word_23 = x4_5.w;
    staged[x_to_5 + 3u] = bitcast<i32>(x_word_23);
    let x_word_24 = x4_6.x;
    staged[x_to_6 + 0u] = bitcast<i32>(x_word_24);
    let x_word_25 = x4_6.y;
    staged[x_to_6 + 1u] = bitcast<i32>(x_word_25);
    let x_word_26 = x4_6.z;
    staged[x_to_6 + 2u] = bitcast<i32>(x_word_26);
    let x_word_27 = x4_6.w;
    staged[x_to_6 + 3u] = bitcast<i32>(x_word_27);
    let x_word_28 = x4_7.x;
    staged[x_to_7 + 0u] = bitcast<i32>(x_word_28);
    let x_word_29 = x4_7.y;
    staged[x_to_7 + 1u] = bitcast<i32>(x_word_29);
    let x_word_30 = x4_7.z;
    staged[x_to_7 + 2u] = bitcast<i32>(x_word_30);
    let x_word_31 = x4_7.w;
    staged[x_to_7 + 3u] = bitcast<i32>(x_word_31);
    workgroupBarrier();
    let start = split * 4624u;
    for (var k = 0u; k < 128u; k += 8u) {
      let matrix = (subgroupMatrixLoad<subgroup_matrix_right<i8, 8, 8>>(&staged, start + k + side * 1152u, true, 144u));
      let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 8, 8>>(&staged, start + k + 2304u, false, 144u));
      sums = subgroupMatrixMultiplyAccumulate(matrix_1, matrix, sums);
      let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 8, 8>>(&staged, start + k + 3456u, false, 144u));
      sums_1 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix, sums_1);
    }
    workgroupBarrier();
  }
  subgroupMatrixStore(&staged, split * 256u + side * 8u + 0u, sums, false, 16u);
  subgroupMatrixStore(&staged, split * 256u + side * 8u + 128u, sums_1, false, 16u);
  workgroupBarrier();
  let n_tokens = params[0u];
  let i = tid + 0u;
  let tile_token = i / 16u;
  let tile_row = i % 16u;
  let token = first_token + tile_token;
  let row_18 = first_row + tile_row;
  let at = tile_token * 16u + tile_row + 0u;
  let part = staged[at];
  let part_1 = part + staged[at + 256u];
  let token_1 = first_token + tile_token;
  let row_meta = x[token_1 / 16u * 1552u + token_1 % 16u + 1536u];
  let x_scale = bitcast<f32>(row_meta.x);
  let x_sum = bitcast<i32>(row_meta.y);
  let value = f32(part_1 - x_sum) / x_scale * scales.a;
  let index = token * 512u + row_18;
  var y_new: f32 = 0f;
  var gain: f32 = 0f;
  let token_exists = token < n_tokens;
  if (token_exists && (row_18 < 512u)) {
    y_new = y[index] + value;
    y[index] = y_new;
    gain = next_gain[row_18];
  }
  let y_new_1 = y_new;
  let next_g = gain;
  let to_part = token * 32u + wg.x;
  let square = y_new_1 * y_new_1;
  let magnitude = abs(y_new_1 * next_g);
  workgroupBarrier();
  part_2[tid] = square;
  workgroupBarrier();
  let part_lane = tid & 15u;
  if (part_lane < 8u) {
    let a = part_2[tid];
    let b = part_2[tid + 8u];
    part_2[tid] = a + b;
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_1 = part_2[tid];
    let b_1 = part_2[tid + 4u];
    part_2[tid] = a_1 + b_1;
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_2 = part_2[tid];
    let b_2 = part_2[tid + 2u];
    part_2[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_3 = part_2[tid];
    let b_3 = part_2[tid + 1u];
    part_2[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  let sum = part_2[tid - part_lane];
  workgroupBarrier();
  part_3[tid] = magnitude;
  workgroupBarrier();
  let part_lane_1 = tid & 15u;
  if (part_lane_1 < 8u) {
    let a_4 = part_3[tid];
    let b_4 = part_3[tid + 8u];
    part_3[tid] = max(a_4, b_4);
  }
  workgroupBarrier();
  if (part_lane_1 < 4u) {
    let a_5 = part_3[tid];
    let b_5 = part_3[tid + 4u];
    part_3[tid] = max(a_5, b_5);
  }
  workgroupBarrier();
  if (part_lane_1 < 2u) {
    let a_6 = part_3[tid];
    let b_6 = part_3[tid + 2u];
    part_3[tid] = max(a_6, b_6);
  }
  workgroupBarrier();
  if (part_lane_1 < 1u) {
    let a_7 = part_3[tid];
    let b_7 = part_3[tid + 1u];
    part_3[tid] = max(a_7, b_7);
  }
  workgroupBarrier();
  let sum_1 = part_3[tid - part_lane_1];
  if (token_exists && ((tid & 15u) == 0u)) {
    next_parts[to_part] = vec2<f32>(sum, sum_1);
  }
  let i_1 = tid + 32u;
  let tile_token_1 = i_1 / 16u;
  let tile_row_1 = i_1 % 16u;
  let token_2 = first_token + tile_token_1;
  let row_19 = first_row + tile_row_1;
  let at_1 = tile_token_1 * 16u + tile_row_1 + 0u;
  let part_4 = staged[at_1];
  let part_5 = part_4 + staged[at_1 + 256u];
  let token_3 = first_token + tile_token_1;
  let row_meta_1 = x[token_3 / 16u * 1552u + token_3 % 16u + 1536u];
  let x_scale_1 = bitcast<f32>(row_meta_1.x);
  let x_sum_1 = bitcast<i32>(row_meta_1.y);
  let value_1 = f32(part_5 - x_sum_1) / x_scale_1 * scales.a;
  let index_1 = token_2 * 512u + row_19;
  var y_new_2: f32 = 0f;
  var gain_1: f32 = 0f;
  let token_exists_1 = token_2 < n_tokens;
  if (token_exists_1 && (row_19 < 512u)) {
    y_new_2 = y[index_1] + value_1;
    y[index_1] = y_new_2;
    gain_1 = next_gain[row_19];
  }
  let y_new_3 = y_new_2;
  let next_g_1 = gain_1;
  let to_part_1 = token_2 * 32u + wg.x;
  let square_1 = y_new_3 * y_new_3;
  let magnitude_1 = abs(y_new_3 * next_g_1);
  workgroupBarrier();
  part_6[tid] = square_1;
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
  workgroupBarrier();
  part_7[tid] = magnitude_1;
  workgroupBarrier();
  let part_lane_3 = tid & 15u;
  if (part_lane_3 < 8u) {
    let a_12 = part_7[tid];
    let b_12 = part_7[tid + 8u];
    part_7[tid] = max(a_12, b_12);
  }
  workgroupBarrier();
  if (part_lane_3 < 4u) {
    let a_13 = part_7[tid];
    let b_13 = part_7[tid + 4u];
    part_7[tid] = max(a_13, b_13);
  }
  workgroupBarrier();
  if (part_lane_3 < 2u) {
    let a_14 = part_7[tid];
    let b_14 = part_7[tid + 2u];
    part_7[tid] = max(a_14, b_14);
  }
  workgroupBarrier();
  if (part_lane_3 < 1u) {
    let a_15 = part_7[tid];
    let b_15 = part_7[tid + 1u];
    part_7[tid] = max(a_15, b_15);
  }
  workgroupBarrier();
  let sum_3 = part_7[tid - part_lane_3];
  if (token_exists_1 && ((tid & 15u) == 0u)) {
    next_parts[to_part_1] = vec2<f32>(sum_2, sum_3);
  }
  let i_2 = tid + 64u;
  let tile_token_2 = i_2 / 16u;
  let tile_row_2 = i_2 % 16u;
  let token_4 = first_token + tile_token_2;
  let row_20 = first_row + tile_row_2;
  let at_2 = tile_token_2 * 16u + tile_row_2 + 0u;
  let part_8 = staged[at_2];
  let part_9 = part_8 + staged[at_2 + 256u];
  let token_5 = first_token + tile_token_2;
  let row_meta_2 = x[token_5 / 16u * 1552u + token_5 % 16u + 1536u];
  let x_scale_2 = bitcast<f32>(row_meta_2.x);
  let x_sum_2 = bitcast<i32>(row_meta_2.y);
  let value_2 = f32(part_9 - x_sum_2) / x_scale_2 * scales.a;
  let index_2 = token_4 * 512u + row_20;
  var y_new_4: f32 = 0f;
  var gain_2: f32 = 0f;
  let token_exists_2 = token_4 < n_tokens;
  if (token_exists_2 && (row_20 < 512u)) {
    y_new_4 = y[index_2] + value_2;
    y[index_2] = y_new_4;
    gain_2 = next_gain[row_20];
  }
  let y_new_5 = y_new_4;
  let next_g_2 = gain_2;
  let to_part_2 = token_4 * 32u + wg.x;
  let square_2 = y_new_5 * y_new_5;
  let magnitude_2 = abs(y_new_5 * next_g_2);
  workgroupBarrier();
  part_10[tid] = square_2;
  workgroupBarrier();
  let part_lane_4 = tid & 15u;
  if (part_lane_4 < 8u) {
    let a_16 = part_10[tid];
    let b_16 = part_10[tid + 8u];
    part_10[tid] = a_16 + b_16;
  }
  workgroupBarrier();
  if (part_lane_4 < 4u) {
    let a_17 = part_10[tid];
    let b_17 = part_10[tid + 4u];
    part_10[tid] = a_17 + b_17;
  }
  workgroupBarrier();
  if (part_lane_4 < 2u) {
    let a_18 = part_10[tid];
    let b_18 = part_10[tid + 2u];
    part_10[tid] = a_18 + b_18;
  }
  workgroupBarrier();
  if (part_lane_4 < 1u) {
    let a_19 = part_10[tid];
    let b_19 = part_10[tid + 1u];
    part_10[tid] = a_19 + b_19;
  }
  workgroupBarrier();
  let sum_4 = part_10[tid - part_lane_4];
  workgroupBarrier();
  part_11[tid] = magnitude_2;
  workgroupBarrier();
  let part_lane_5 = tid & 15u;
  if (part_lane_5 < 8u) {
    let a_20 = part_11[tid];
    let b_20 = part_11[tid + 8u];
    part_11[tid] = max(a_20, b_20);
  }
  workgroupBarrier();
  if (part_lane_5 < 4u) {
    let a_21 = part_11[tid];
    let b_21 = part_11[tid + 4u];
    part_11[tid] = max(a_21, b_21);
  }
  workgroupBarrier();
  if (part_lane_5 < 2u) {
    let a_22 = part_11[tid];
    let b_22 = part_11[tid + 2u];
    part_11[tid] = max(a_22, b_22);
  }
  workgroupBarrier();
  if (part_lane_5 < 1u) {
    let a_23 = part_11[tid];
    let b_23 = part_11[tid + 1u];
    part_11[tid] = max(a_23, b_23);
  }
  workgroupBarrier();
  let sum_5 = part_11[tid - part_lane_5];
  if (token_exists_2 && ((tid & 15u) == 0u)) {
    next_parts[to_part_2] = vec2<f32>(sum_4, sum_5);
  }
  let i_3 = tid + 96u;
  let tile_token_3 = i_3 / 16u;
  let tile_row_3 = i_3 % 16u;
  let token_6 = first_token + tile_token_3;
  let row_21 = first_row + tile_row_3;
  let at_3 = tile_token_3 * 16u + tile_row_3 + 0u;
  let part_12 = staged[at_3];
  let part_13 = part_12 + staged[at_3 + 256u];
  let token_7 = first_token + tile_token_3;
  let row_meta_3 = x[token_7 / 16u * 1552u + token_7 % 16u + 1536u];
  let x_scale_3 = bitcast<f32>(row_meta_3.x);
  let x_sum_3 = bitcast<i32>(row_meta_3.y);
  let value_3 = f32(part_13 - x_sum_3) / x_scale_3 * scales.a;
  let index_3 = token_6 * 512u + row_21;
  var y_new_6: f32 = 0f;
  var gain_3: f32 = 0f;
  let token_exists_3 = token_6 < n_tokens;
  if (token_exists_3 && (row_21 < 512u)) {
    y_new_6 = y[index_3] + value_3;
    y[index_3] = y_new_6;
    gain_3 = next_gain[row_21];
  }
  let y_new_7 = y_new_6;
  let next_g_3 = gain_3;
  let to_part_3 = token_6 * 32u + wg.x;
  let square_3 = y_new_7 * y_new_7;
  let magnitude_3 = abs(y_new_7 * next_g_3);
  workgroupBarrier();
  part_14[tid] = square_3;
  workgroupBarrier();
  let part_lane_6 = tid & 15u;
  if (part_lane_6 < 8u) {
    let a_24 = part_14[tid];
    let b_24 = part_14[tid + 8u];
    part_14[tid] = a_24 + b_24;
  }
  workgroupBarrier();
  if (part_lane_6 < 4u) {
    let a_25 = part_14[tid];
    let b_25 = part_14[tid + 4u];
    part_14[tid] = a_25 + b_25;
  }
  workgroupBarrier();
  if (part_lane_6 < 2u) {
    let a_26 = part_14[tid];
    let b_26 = part_14[tid + 2u];
    part_14[tid] = a_26 + b_26;
  }
  workgroupBarrier();
  if (part_lane_6 < 1u) {
    let a_27 = part_14[tid];
    let b_27 = part_14[tid + 1u];
    part_14[tid] = a_27 + b_27;
  }
  workgroupBarrier();
  let sum_6 = part_14[tid - part_lane_6];
  workgroupBarrier();
  part_15[tid] = magnitude_3;
  workgroupBarrier();
  let part_lane_7 = tid & 15u;
  if (part_lane_7 < 8u) {
    let a_28 = part_15[tid];
    let b_28 = part_15[tid + 8u];
    part_15[tid] = max(a_28, b_28);
  }
  workgroupBarrier();
  if (part_lane_7 < 4u) {
    let a_29 = part_15[tid];
    let b_29 = part_15[tid + 4u];
    part_15[tid] = max(a_29, b_29);
  }
  workgroupBarrier();
  if (part_lane_7 < 2u) {
    let a_30 = part_15[tid];
    let b_30 = part_15[tid + 2u];
    part_15[tid] = max(a_30, b_30);
  }
  workgroupBarrier();
  if (part_lane_7 < 1u) {
    let a_31 = part_15[tid];
    let b_31 = part_15[tid + 1u];
    part_15[tid] = max(a_31, b_31);
  }
  workgroupBarrier();
  let sum_7 = part_15[tid - part_lane_7];
  if (token_exists_3 && ((tid & 15u) == 0u)) {
    next_parts[to_part_3] = vec2<f32>(sum_6, sum_7);
  }
  let i_4 = tid + 128u;
  let tile_token_4 = i_4 / 16u;
  let tile_row_4 = i_4 % 16u;
  let token_8 = first_token + tile_token_4;
  let row_22 = first_row + tile_row_4;
  let at_4 = tile_token_4 * 16u + tile_row_4 + 0u;
  let part_16 = staged[at_4];
  let part_17 = part_16 + staged[at_4 + 256u];
  let token_9 = first_token + tile_token_4;
  let row_meta_4 = x[token_9 / 16u * 1552u + token_9 % 16u + 1536u];
  let x_scale_4 = bitcast<f32>(row_meta_4.x);
  let x_sum_4 = bitcast<i32>(row_meta_4.y);
  let value_4 = f32(part_17 - x_sum_4) / x_scale_4 * scales.a;
  let index_4 = token_8 * 512u + row_22;
  var y_new_8: f32 = 0f;
  var gain_4: f32 = 0f;
  let token_exists_4 = token_8 < n_tokens;
  if (token_exists_4 && (row_22 < 512u)) {
    y_new_8 = y[index_4] + value_4;
    y[index_4] = y_new_8;
    gain_4 = next_gain[row_22];
  }
  let y_new_9 = y_new_8;
  let next_g_4 = gain_4;
  let to_part_4 = token_8 * 32u + wg.x;
  let square_4 = y_new_9 * y_new_9;
  let magnitude_4 = abs(y_new_9 * next_g_4);
  workgroupBarrier();
  part_18[tid] = square_4;
  workgroupBarrier();
  let part_lane_8 = tid & 15u;
  if (part_lane_8 < 8u) {
    let a_32 = part_18[tid];
    let b_32 = part_18[tid + 8u];
    part_18[tid] = a_32 + b_32;
  }
  workgroupBarrier();
  if (part_lane_8 < 4u) {
    let a_33 = part_18[tid];
    let b_33 = part_18[tid + 4u];
    part_18[tid] = a_33 + b_33;
  }
  workgroupBarrier();
  if (part_lane_8 < 2u) {
    let a_34 = part_18[tid];
    let b_34 = part_18[tid + 2u];
    part_18[tid] = a_34 + b_34;
  }
  workgroupBarrier();
  if (part_lane_8 < 1u) {
    let a_35 = part_18[tid];
    let b_35 = part_18[tid + 1u];
    part_18[tid] = a_35 + b_35;
  }
  workgroupBarrier();
  let sum_8 = part_18[tid - part_lane_8];
  workgroupBarrier();
  part_19[tid] = magnitude_4;
  workgroupBarrier();
  let part_lane_9 = tid & 15u;
  if (part_lane_9 < 8u) {
    let a_36 = part_19[tid];
    let b_36 = part_19[tid + 8u];
    part_19[tid] = max(a_36, b_36);
  }
  workgroupBarrier();
  if (part_lane_9 < 4u) {
    let a_37 = part_19[tid];
    let b_37 = part_19[tid + 4u];
    part_19[tid] = max(a_37, b_37);
  }
  workgroupBarrier();
  if (part_lane_9 < 2u) {
    let a_38 = part_19[tid];
    let b_38 = part_19[tid + 2u];
    part_19[tid] = max(a_38, b_38);
  }
  workgroupBarrier();
  if (part_lane_9 < 1u) {
    let a_39 = part_19[tid];
    let b_39 = part_19[tid + 1u];
    part_19[tid] = max(a_39, b_39);
  }
  workgroupBarrier();
  let sum_9 = part_19[tid - part_lane_9];
  if (token_exists_4 && ((tid & 15u) == 0u)) {
    next_parts[to_part_4] = vec2<f32>(sum_8, sum_9);
  }
  let i_5 = tid + 160u;
  let tile_token_5 = i_5 / 16u;
  let tile_row_5 = i_5 % 16u;
  let token_10 = first_token + tile_token_5;
  let row_23 = first_row + tile_row_5;
  let at_5 = tile_token_5 * 16u + tile_row_5 + 0u;
  let part_20 = staged[at_5];
  let part_21 = part_20 + staged[at_5 + 256u];
  let token_11 = first_token + tile_token_5;
  let row_meta_5 = x[token_11 / 16u * 1552u + token_11 % 16u + 1536u];
  let x_scale_5 = bitcast<f32>(row_meta_5.x);
  let x_sum_5 = bitcast<i32>(row_meta_5.y);
  let value_5 = f32(part_21 - x_sum_5) / x_scale_5 * scales.a;
  let index_5 = token_10 * 512u + row_23;
  var y_new_10: f32 = 0f;
  var gain_5: f32 = 0f;
  let token_exists_5 = token_10 < n_tokens;
  if (token_exists_5 && (row_23 < 512u)) {
    y_new_10 = y[index_5] + value_5;
    y[index_5] = y_new_10;
    gain_5 = next_gain[row_23];
  }
  let y_new_11 = y_new_10;
  let next_g_5 = gain_5;
  let to_part_5 = token_10 * 32u + wg.x;
  let square_5 = y_new_11 * y_new_11;
  let magnitude_5 = abs(y_new_11 * next_g_5);
  workgroupBarrier();
  part_22[tid] = square_5;
  workgroupBarrier();
  let part_lane_10 = tid & 15u;
  if (part_lane_10 < 8u) {
    let a_40 = part_22[tid];
    let b_40 = part_22[tid + 8u];
    part_22[tid] = a_40 + b_40;
  }
  workgroupBarrier();
  if (part_lane_10 < 4u) {
    let a_41 = part_22[tid];
    let b_41 = part_22[tid + 4u];
    part_22[tid] = a_41 + b_41;
  }
  workgroupBarrier();
  if (part_lane_10 < 2u) {
    let a_42 = part_22[tid];
    let b_42 = part_22[tid + 2u];
    part_22[tid] = a_42 + b_42;
  }
  workgroupBarrier();
  if (part_lane_10 < 1u) {
    let a_43 = part_22[tid];
    let b_43 = part_22[tid + 1u];
    part_22[tid] = a_43 + b_43;
  }
  workgroupBarrier();
  let sum_10 = part_22[tid - part_lane_10];
  workgroupBarrier();
  part_23[tid] = magnitude_5;
  workgroupBarrier();
  let part_lane_11 = tid & 15u;
  if (part_lane_11 < 8u) {
    let a_44 = part_23[tid];
    let b_44 = part_23[tid + 8u];
    part_23[tid] = max(a_44, b_44);
  }
  workgroupBarrier();
  if (part_lane_11 < 4u) {
    let a_45 = part_23[tid];
    let b_45 = part_23[tid + 4u];
    part_23[tid] = max(a_45, b_45);
  }
  workgroupBarrier();
  if (part_lane_11 < 2u) {
    let a_46 = part_23[tid];
    let b_46 = part_23[tid + 2u];
    part_23[tid] = max(a_46, b_46);
  }
  workgroupBarrier();
  if (part_lane_11 < 1u) {
    let a_47 = part_23[tid];
    let b_47 = part_23[tid + 1u];
    part_23[tid] = max(a_47, b_47);
  }
  workgroupBarrier();
  let sum_11 = part_23[tid - part_lane_11];
  if (token_exists_5 && ((tid & 15u) == 0u)) {
    next_parts[to_part_5] = vec2<f32>(sum_10, sum_11);
  }
  let i_6 = tid + 192u;
  let tile_token_6 = i_6 / 16u;
  let tile_row_6 = i_6 % 16u;
  let token_12 = first_token + tile_token_6;
  let row_24 = first_row + tile_row_6;
  let at_6 = tile_token_6 * 16u + tile_row_6 + 0u;
  let part_24 = staged[at_6];
  let part_25 = part_24 + staged[at_6 + 256u];
  let token_13 = first_token + tile_token_6;
  let row_meta_6 = x[token_13 / 16u * 1552u + token_13 % 16u + 1536u];
  let x_scale_6 = bitcast<f32>(row_meta_6.x);
  let x_sum_6 = bitcast<i32>(row_meta_6.y);
  let value_6 = f32(part_25 - x_sum_6) / x_scale_6 * scales.a;
  let index_6 = token_12 * 512u + row_24;
  var y_new_12: f32 = 0f;
  var gain_6: f32 = 0f;
  let token_exists_6 = token_12 < n_tokens;
  if (token_exists_6 && (row_24 < 512u)) {
    y_new_12 = y[index_6] + value_6;
    y[index_6] = y_new_12;
    gain_6 = next_gain[row_24];
  }
  let y_new_13 = y_new_12;
  let next_g_6 = gain_6;
  let to_part_6 = token_12 * 32u + wg.x;
  let square_6 = y_new_13 * y_new_13;
  let magnitude_6 = abs(y_new_13 * next_g_6);
  workgroupBarrier();
  part_26[tid] = square_6;
  workgroupBarrier();
  let part_lane_12 = tid & 15u;
  if (part_lane_12 < 8u) {
    let a_48 = part_26[tid];
    let b_48 = part_26[tid + 8u];
    part_26[tid] = a_48 + b_48;
  }
  workgroupBarrier();
  if (part_lane_12 < 4u) {
    let a_49 = part_26[tid];
    let b_49 = part_26[tid + 4u];
    part_26[tid] = a_49 + b_49;
  }
  workgroupBarrier();
  if (part_lane_12 < 2u) {
    let a_50 = part_26[tid];
    let b_50 = part_26[tid + 2u];
    part_26[tid] = a_50 + b_50;
  }
  workgroupBarrier();
  if (part_lane_12 < 1u) {
    let a_51 = part_26[tid];
    let b_51 = part_26[tid + 1u];
    part_26[tid] = a_51 + b_51;
  }
  workgroupBarrier();
  let sum_12 = part_26[tid - part_lane_12];
  workgroupBarrier();
  part_27[tid] = magnitude_6;
  workgroupBarrier();
  let part_lane_13 = tid & 15u;
  if (part_lane_13 < 8u) {
    let a_52 = part_27[tid];
    let b_52 = part_27[tid + 8u];
    part_27[tid] = max(a_52, b_52);
  }
  workgroupBarrier();
  if (part_lane_13 < 4u) {
    let a_53 = part_27[tid];
    let b_53 = part_27[tid + 4u];
    part_27[tid] = max(a_53, b_53);
  }
  workgroupBarrier();
  if (part_lane_13 < 2u) {
    let a_54 = part_27[tid];
    let b_54 = part_27[tid + 2u];
    part_27[tid] = max(a_54, b_54);
  }
  workgroupBarrier();
  if (part_lane_13 < 1u) {
    let a_55 = part_27[tid];
    let b_55 = part_27[tid + 1u];
    part_27[tid] = max(a_55, b_55);
  }
  workgroupBarrier();
  let sum_13 = part_27[tid - part_lane_13];
  if (token_exists_6 && ((tid & 15u) == 0u)) {
    next_parts[to_part_6] = vec2<f32>(sum_12, sum_13);
  }
  let i_7 = tid + 224u;
  let tile_token_7 = i_7 / 16u;
  let tile_row_7 = i_7 % 16u;
  let token_14 = first_token + tile_token_7;
  let row_25 = first_row + tile_row_7;
  let at_7 = tile_token_7 * 16u + tile_row_7 + 0u;
  let part_28 = staged[at_7];
  let part_29 = part_28 + staged[at_7 + 256u];
  let token_15 = first_token + tile_token_7;
  let row_meta_7 = x[token_15 / 16u * 1552u + token_15 % 16u + 1536u];
  let x_scale_7 = bitcast<f32>(row_meta_7.x);
  let x_sum_7 = bitcast<i32>(row_meta_7.y);
  let value_7 = f32(part_29 - x_sum_7) / x_scale_7 * scales.a;
  let index_7 = token_14 * 512u + row_25;
  var y_new_14: f32 = 0f;
  var gain_7: f32 = 0f;
  let token_exists_7 = token_14 < n_tokens;
  if (token_exists_7 && (row_25 < 512u)) {
    y_new_14 = y[index_7] + value_7;
    y[index_7] = y_new_14;
    gain_7 = next_gain[row_25];
  }
  let y_new_15 = y_new_14;
  let next_g_7 = gain_7;
  let to_part_7 = token_14 * 32u + wg.x;
  let square_7 = y_new_15 * y_new_15;
  let magnitude_7 = abs(y_new_15 * next_g_7);
  workgroupBarrier();
  part_30[tid] = square_7;
  workgroupBarrier();
  let part_lane_14 = tid & 15u;
  if (part_lane_14 < 8u) {
    let a_56 = part_30[tid];
    let b_56 = part_30[tid + 8u];
    part_30[tid] = a_56 + b_56;
  }
  workgroupBarrier();
  if (part_lane_14 < 4u) {
    let a_57 = part_30[tid];
    let b_57 = part_30[tid + 4u];
    part_30[tid] = a_57 + b_57;
  }
  workgroupBarrier();
  if (part_lane_14 < 2u) {
    let a_58 = part_30[tid];
    let b_58 = part_30[tid + 2u];
    part_30[tid] = a_58 + b_58;
  }
  workgroupBarrier();
  if (part_lane_14 < 1u) {
    let a_59 = part_30[tid];
    let b_59 = part_30[tid + 1u];
    part_30[tid] = a_59 + b_59;
  }
  workgroupBarrier();
  let sum_14 = part_30[tid - part_lane_14];
  workgroupBarrier();
  part_31[tid] = magnitude_7;
  workgroupBarrier();
  let part_lane_15 = tid & 15u;
  if (part_lane_15 < 8u) {
    let a_60 = part_31[tid];
    let b_60 = part_31[tid + 8u];
    part_31[tid] = max(a_60, b_60);
  }
  workgroupBarrier();
  if (part_lane_15 < 4u) {
    let a_61 = part_31[tid];
    let b_61 = part_31[tid + 4u];
    part_31[tid] = max(a_61, b_61);
  }
  workgroupBarrier();
  if (part_lane_15 < 2u) {
    let a_62 = part_31[tid];
    let b_62 = part_31[tid + 2u];
    part_31[tid] = max(a_62, b_62);
  }
  workgroupBarrier();
  if (part_lane_15 < 1u) {
    let a_63 = part_31[tid];
    let b_63 = part_31[tid + 1u];
    part_31[tid] = max(a_63, b_63);
  }
  workgroupBarrier();
  let sum_15 = part_31[tid - part_lane_15];
  if (token_exists_7 && ((tid & 15u) == 0u)) {
    next_parts[to_part_7] = vec2<f32>(sum_14, sum_15);
  }
}
