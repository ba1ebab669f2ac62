enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(2) var<uniform> scales: scales_fields;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<f32>;
var<workgroup> staged: array<i32, 3464>;
var<workgroup> heads: array<f32, 512>;

@compute @workgroup_size(128)
fn batch_qkv(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let first_token = wg.y * 16u;
  let split = tid / 32u / 2u;
  let side = tid / 32u % 2u;
  let head = wg.x / 2u;
  let first_pair = wg.x % 2u * 16u;
  var sums: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  let v = tid + 0u;
  let row = v / 4u;
  let vector = v % 4u;
  let half = vector % 2u;
  let to = vector / 2u * 1732u + row * 36u + half * 4u;
  let x_v = tid + 0u;
  let in_block = x_v / 128u;
  let unit = x_v / 32u % 4u * 2u + (x_v & 1u);
  let x_token = x_v / 128u % 1u * 16u + (x_v >> 1u) % 16u;
  let x_row = first_token + x_token;
  let x_at = x_row / 16u * 528u + x_row % 16u * 2u + (unit >> 1u) * 32u + (unit & 1u);
  let x_to = in_block * 1732u + (x_token + 32u) * 36u + unit * 4u;
  let x_v_1 = tid + 128u;
  let in_block_1 = x_v_1 / 128u;
  let unit_1 = x_v_1 / 32u % 4u * 2u + (x_v_1 & 1u);
  let x_token_1 = x_v_1 / 128u % 1u * 16u + (x_v_1 >> 1u) % 16u;
  let x_row_1 = first_token + x_token_1;
  let x_at_1 = x_row_1 / 16u * 528u + x_row_1 % 16u * 2u + (unit_1 >> 1u) * 32u + (unit_1 & 1u);
  let x_to_1 = in_block_1 * 1732u + (x_token_1 + 32u) * 36u + unit_1 * 4u;
  let block = 0u;
  let some_vector = min(block * 2u + vector, 7u);
  var words: vec4<u32> = vec4<u32>();
  let of_side = row % 16u;
  if (row < 16u) {
    let pair = first_pair + of_side;
    let row_1 = head * 64u + (pair * 2u + 0u);
    words = w[row_1 * 8u + (some_vector + 0u)];
  } else {
    let pair_1 = first_pair + of_side;
    let row_2 = head * 64u + (pair_1 * 2u + 1u);
    words = w[row_2 * 8u + (some_vector + 0u)];
  }
  let loaded = words;
  var coming: vec4<u32> = loaded;
  let block_1 = 2u;
  let some_vector_1 = min(block_1 * 2u + vector, 7u);
  var words_1: vec4<u32> = vec4<u32>();
  let of_side_1 = row % 16u;
  if (row < 16u) {
    let pair_2 = first_pair + of_side_1;
    let row_3 = head * 64u + (pair_2 * 2u + 0u);
    words_1 = w[row_3 * 8u + (some_vector_1 + 0u)];
  } else {
    let pair_3 = first_pair + of_side_1;
    let row_4 = head * 64u + (pair_3 * 2u + 1u);
    words_1 = w[row_4 * 8u + (some_vector_1 + 0u)];
  }
  let loaded_1 = words_1;
  var coming_1: vec4<u32> = loaded_1;
  let first = 0u;
  let x_block = min(first + in_block, 3u);
  var next_x: vec4<u32> = x[x_at + x_block * 128u];
  let x_block_1 = min(first + in_block_1, 3u);
  var next_x_1: vec4<u32> = x[x_at_1 + x_block_1 * 128u];
  for (var trip = 0u; trip < 2u; trip += 1u) {
    let first_block = trip * 2u;
    let next_block = first_block + 2u;
    let later = first_block + 4u;
    let w4 = coming;
    coming = coming_1;
    let some_vector_2 = min(later * 2u + vector, 7u);
    var words_2: vec4<u32> = vec4<u32>();
    let of_side_2 = row % 16u;
    if (row < 16u) {
      let pair_4 = first_pair + of_side_2;
      let row_5 = head * 64u + (pair_4 * 2u + 0u);
      words_2 = w[row_5 * 8u + (some_vector_2 + 0u)];
    } else {
      let pair_5 = first_pair + of_side_2;
      let row_6 = head * 64u + (pair_5 * 2u + 1u);
      words_2 = w[row_6 * 8u + (some_vector_2 + 0u)];
    }
    let loaded_2 = words_2;
    coming_1 = loaded_2;
    let x4 = next_x;
    let x_block_2 = min(next_block + in_block, 3u);
    next_x = x[x_at + x_block_2 * 128u];
    let x4_1 = next_x_1;
    let x_block_3 = min(next_block + in_block_1, 3u);
    next_x_1 = x[x_at_1 + x_block_3 * 128u];
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
    workgroupBarrier();
    let start = split * 6928u;
    let k = 0u;
    let matrix = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, start + k + side * 2304u, true, 144u));
    let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, start + k + 4608u, false, 144u));
    sums = subgroupMatrixMultiplyAccumulate(matrix_1, matrix, sums);
    let k_1 = 32u;
    let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, start + k_1 + side * 2304u, true, 144u));
    let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, start + k_1 + 4608u, false, 144u));
    sums = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_2, sums);
    let k_2 = 64u;
    let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, start + k_2 + side * 2304u, true, 144u));
    let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, start + k_2 + 4608u, false, 144u));
    sums = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_4, sums);
    let k_3 = 96u;
    let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, start + k_3 + side * 2304u, true, 144u));
    let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, start + k_3 + 4608u, false, 144u));
    sums = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_6, sums);
    workgroupBarrier();
  }
  subgroupMatrixStore(&staged, split * 512u + side * 16u + 0u, sums, false, 32u);
  workgroupBarrier();
  let is_query = head < 8u;
  let is_key = head < 10u;
  let key_or_value = select(scales.c, scales.b, is_key);
  let scale = select(key_or_value, scales.a, is_query);
  let n_tokens = params[0u];
  let i = tid + 0u;
  let tile_token = i / 16u;
  let tile_row = i % 16u;
  let token = first_token + tile_token;
  let row_meta = x[token / 16u * 528u + token % 16u + 512u];
  let x_scale = bitcast<f32>(row_meta.x);
  let x_sum = bitcast<i32>(row_meta.y);
  let at = tile_token * 32u + tile_row + 0u;
  let part = staged[at];
  let part_1 = part + staged[at + 512u];
  let at_1 = tile_token * 32u + tile_row + 16u;
  let part_2 = staged[at_1];
  let part_3 = part_2 + staged[at_1 + 512u];
  let a = f32(part_1 - x_sum) / x_scale * scale;
  let b = f32(part_3 - x_sum) / x_scale * scale;
  let token_1 = min(first_token + tile_token, n_tokens - 1u);
  let turns = params[token_1 * 3u + 5u] + params[token_1 * 3u + 3u];
  let turn = angles[turns * 32u + first_pair + tile_row];
  let angle = select(vec2<f32>(1f, 0f), turn, is_key);
  let to_1 = tile_token * 32u + tile_row * 2u;
  heads[to_1] = a * angle.x - b * angle.y;
  heads[to_1 + 1u] = b * angle.x + a * angle.y;
  let i_1 = tid + 128u;
  let tile_token_1 = i_1 / 16u;
  let tile_row_1 = i_1 % 16u;
  let token_2 = first_token + tile_token_1;
  let row_meta_1 = x[token_2 / 16u * 528u + token_2 % 16u + 512u];
  let x_scale_1 = bitcast<f32>(row_meta_1.x);
  let x_sum_1 = bitcast<i32>(row_meta_1.y);
  let at_2 = tile_token_1 * 32u + tile_row_1 + 0u;
  let part_4 = staged[at_2];
  let part_5 = part_4 + staged[at_2 + 512u];
  let at_3 = tile_token_1 * 32u + tile_row_1 + 16u;
  let part_6 = staged[at_3];
  let part_7 = part_6 + staged[at_3 + 512u];
  let a_1 = f32(part_5 - x_sum_1) / x_scale_1 * scale;
  let b_1 = f32(part_7 - x_sum_1) / x_scale_1 * scale;
  let token_3 = min(first_token + tile_token_1, n_tokens - 1u);
  let turns_1 = params[token_3 * 3u + 5u] + params[token_3 * 3u + 3u];
  let turn_1 = angles[turns_1 * 32u + first_pair + tile_row_1];
  let angle_1 = select(vec2<f32>(1f, 0f), turn_1, is_key);
  let to_2 = tile_token_1 * 32u + tile_row_1 * 2u;
  heads[to_2] = a_1 * angle_1.x - b_1 * angle_1.y;
  heads[to_2 + 1u] = b_1 * angle_1.x + a_1 * angle_1.y;
  workgroupBarrier();
  let n_tokens_1 = params[0u];
  let is_query_1 = head < 8u;
  if (is_query_1) {
    for (var i_2 = tid * 1u; i_2 < 512u; i_2 += 128u) {
      let to_token = first_token + i_2 / 32u;
      let t = i_2 % 32u;
      let dim = first_pair * 2u + t;
      if (to_token < n_tokens_1) {
        q[(to_token * 8u + head) * 64u + dim] = heads[i_2];
      }
    }
  } else {
    let kv_row = head - 8u;
    for (var i_3 = tid * 1u; i_3 < 512u; i_3 += 128u) {
      let to_token_1 = first_token + i_3 / 32u;
      let t_1 = i_3 % 32u;
      let dim_1 = first_pair * 2u + t_1;
      if (to_token_1 < n_tokens_1) {
        let pos = params[to_token_1 * 3u + 3u];
        let table = params[to_token_1 * 3u + 4u];
        let block_2 = params[table + pos / 64u];
        let to_row = ((block_2 * 4u + kv_row) * 64u + pos % 64u) * 64u;
        let v0 = heads[i_3];
        let word_16 = v0;
        kv[(to_row + dim_1) / 1u] = word_16;
      }
    }
  }
}
