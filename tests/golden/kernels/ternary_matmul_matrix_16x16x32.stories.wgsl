enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(2) var<uniform> scales: scales_fields;
@group(0) @binding(3) var<storage, read> params: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
var<workgroup> staged: array<i32, 4608>;

@compute @workgroup_size(128)
fn ternary_matmul_matrix(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_tokens = params[0u];
  let first_row = wg.x * 64u;
  let first_token = wg.y * 64u;
  let subgroup = tid / 32u;
  let subgroup_row = subgroup % 2u * 32u;
  let subgroup_token = subgroup / 2u * 32u;
  let w_i = tid + 0u;
  let w_row = min(first_row + w_i / 2u, 511u);
  let w_start = w_row * 24u + w_i % 2u;
  let w_to = (w_i / 2u + 0u) * 36u + w_i % 2u * 4u;
  var w_next: vec4<u32> = vec4<u32>();
  let x_i = tid + 0u;
  let x_token = min(first_token + x_i / 8u, n_tokens - 1u);
  let x_start = x_token * 97u + x_i % 8u * 1u;
  let x_to = (x_i / 8u + 64u) * 36u + x_i % 8u * 4u;
  var x_next: vec4<u32> = vec4<u32>();
  let x_i_1 = tid + 128u;
  let x_token_1 = min(first_token + x_i_1 / 8u, n_tokens - 1u);
  let x_start_1 = x_token_1 * 97u + x_i_1 % 8u * 1u;
  let x_to_1 = (x_i_1 / 8u + 64u) * 36u + x_i_1 % 8u * 4u;
  var x_next_1: vec4<u32> = vec4<u32>();
  let x_i_2 = tid + 256u;
  let x_token_2 = min(first_token + x_i_2 / 8u, n_tokens - 1u);
  let x_start_2 = x_token_2 * 97u + x_i_2 % 8u * 1u;
  let x_to_2 = (x_i_2 / 8u + 64u) * 36u + x_i_2 % 8u * 4u;
  var x_next_2: vec4<u32> = vec4<u32>();
  let x_i_3 = tid + 384u;
  let x_token_3 = min(first_token + x_i_3 / 8u, n_tokens - 1u);
  let x_start_3 = x_token_3 * 97u + x_i_3 % 8u * 1u;
  let x_to_3 = (x_i_3 / 8u + 64u) * 36u + x_i_3 % 8u * 4u;
  var x_next_3: vec4<u32> = vec4<u32>();
  var sum: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  var sum_1: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  var sum_2: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  var sum_3: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  let first_block = 0u;
  let x_of_block = first_block * 8u;
  x_next = x[x_start + x_of_block];
  x_next_1 = x[x_start_1 + x_of_block];
  x_next_2 = x[x_start_2 + x_of_block];
  x_next_3 = x[x_start_3 + x_of_block];
  w_next = w[w_start + first_block * 2u];
  for (var block = 0u; block < 12u; block += 1u) {
    let base = 0u;
    let x_words = x_next;
    let x_at = base / 4u + x_to;
    staged[x_at + 0u] = bitcast<i32>(x_words.x);
    staged[x_at + 1u] = bitcast<i32>(x_words.y);
    staged[x_at + 2u] = bitcast<i32>(x_words.z);
    staged[x_at + 3u] = bitcast<i32>(x_words.w);
    let x_words_1 = x_next_1;
    let x_at_1 = base / 4u + x_to_1;
    staged[x_at_1 + 0u] = bitcast<i32>(x_words_1.x);
    staged[x_at_1 + 1u] = bitcast<i32>(x_words_1.y);
    staged[x_at_1 + 2u] = bitcast<i32>(x_words_1.z);
    staged[x_at_1 + 3u] = bitcast<i32>(x_words_1.w);
    let x_words_2 = x_next_2;
    let x_at_2 = base / 4u + x_to_2;
    staged[x_at_2 + 0u] = bitcast<i32>(x_words_2.x);
    staged[x_at_2 + 1u] = bitcast<i32>(x_words_2.y);
    staged[x_at_2 + 2u] = bitcast<i32>(x_words_2.z);
    staged[x_at_2 + 3u] = bitcast<i32>(x_words_2.w);
    let x_words_3 = x_next_3;
    let x_at_3 = base / 4u + x_to_3;
    staged[x_at_3 + 0u] = bitcast<i32>(x_words_3.x);
    staged[x_at_3 + 1u] = bitcast<i32>(x_words_3.y);
    staged[x_at_3 + 2u] = bitcast<i32>(x_words_3.z);
    staged[x_at_3 + 3u] = bitcast<i32>(x_words_3.w);
    let w_words = w_next;
    let w_at = base / 4u + w_to;
    staged[w_at + 0u] = bitcast<i32>((w_words.x >> 6u) & 0x03030303u);
    staged[w_at + 8u] = bitcast<i32>((w_words.x >> 4u) & 0x03030303u);
    staged[w_at + 16u] = bitcast<i32>((w_words.x >> 2u) & 0x03030303u);
    staged[w_at + 24u] = bitcast<i32>(w_words.x & 0x03030303u);
    staged[w_at + 1u] = bitcast<i32>((w_words.y >> 6u) & 0x03030303u);
    staged[w_at + 9u] = bitcast<i32>((w_words.y >> 4u) & 0x03030303u);
    staged[w_at + 17u] = bitcast<i32>((w_words.y >> 2u) & 0x03030303u);
    staged[w_at + 25u] = bitcast<i32>(w_words.y & 0x03030303u);
    staged[w_at + 2u] = bitcast<i32>((w_words.z >> 6u) & 0x03030303u);
    staged[w_at + 10u] = bitcast<i32>((w_words.z >> 4u) & 0x03030303u);
    staged[w_at + 18u] = bitcast<i32>((w_words.z >> 2u) & 0x03030303u);
    staged[w_at + 26u] = bitcast<i32>(w_words.z & 0x03030303u);
    staged[w_at + 3u] = bitcast<i32>((w_words.w >> 6u) & 0x03030303u);
    staged[w_at + 11u] = bitcast<i32>((w_words.w >> 4u) & 0x03030303u);
    staged[w_at + 19u] = bitcast<i32>((w_words.w >> 2u) & 0x03030303u);
    staged[w_at + 27u] = bitcast<i32>(w_words.w & 0x03030303u);
    workgroupBarrier();
    let next_block = min(block + 1u, 11u);
    let x_of_block_1 = next_block * 8u;
    x_next = x[x_start + x_of_block_1];
    x_next_1 = x[x_start_1 + x_of_block_1];
    x_next_2 = x[x_start_2 + x_of_block_1];
    x_next_3 = x[x_start_3 + x_of_block_1];
    w_next = w[w_start + next_block * 2u];
    let k = 0u;
    let x_at_4 = base + k + subgroup_token * 144u;
    let matrix = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_4 + 9216u, false, 144u));
    let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_4 + 11520u, false, 144u));
    let w_at_1 = base + k + subgroup_row * 144u;
    let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_1 + 0u, true, 144u));
    sum = subgroupMatrixMultiplyAccumulate(matrix, matrix_2, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_2, sum_2);
    let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_1 + 2304u, true, 144u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix, matrix_3, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_3, sum_3);
    let k_1 = 32u;
    let x_at_5 = base + k_1 + subgroup_token * 144u;
    let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_5 + 9216u, false, 144u));
    let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_5 + 11520u, false, 144u));
    let w_at_2 = base + k_1 + subgroup_row * 144u;
    let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_2 + 0u, true, 144u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_6, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_6, sum_2);
    let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_2 + 2304u, true, 144u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_7, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_7, sum_3);
    let k_2 = 64u;
    let x_at_6 = base + k_2 + subgroup_token * 144u;
    let matrix_8 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_6 + 9216u, false, 144u));
    let matrix_9 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_6 + 11520u, false, 144u));
    let w_at_3 = base + k_2 + subgroup_row * 144u;
    let matrix_10 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_3 + 0u, true, 144u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_8, matrix_10, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_9, matrix_10, sum_2);
    let matrix_11 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_3 + 2304u, true, 144u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_8, matrix_11, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_9, matrix_11, sum_3);
    let k_3 = 96u;
    let x_at_7 = base + k_3 + subgroup_token * 144u;
    let matrix_12 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_7 + 9216u, false, 144u));
    let matrix_13 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_7 + 11520u, false, 144u));
    let w_at_4 = base + k_3 + subgroup_row * 144u;
    let matrix_14 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_4 + 0u, true, 144u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_12, matrix_14, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_13, matrix_14, sum_2);
    let matrix_15 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_4 + 2304u, true, 144u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_12, matrix_15, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_13, matrix_15, sum_3);
    workgroupBarrier();
  }
  let sums_at = subgroup * 256u;
  let lane = tid % 32u;
  workgroupBarrier();
  subgroupMatrixStore(&staged, sums_at + 0u, sum, false, 16u);
  workgroupBarrier();
  for (var i = lane; i < 256u; i += 32u) {
    let token = first_token + subgroup_token + i / 16u + 0u;
    let row = first_row + subgroup_row + i % 16u + 0u;
    let sum_of_row = staged[sums_at + i + 0u];
    if ((token < n_tokens) && (row < 512u)) {
      let x_base = token * 97u;
      let x_meta = x[x_base + 96u];
      let x_scale = bitcast<f32>(x_meta.x);
      let x_sum = bitcast<i32>(x_meta.y);
      let index = token * 512u + row;
      let value = f32(sum_of_row - x_sum) / x_scale * scales.a;
      y[index] = value;
    }
  }
  workgroupBarrier();
  subgroupMatrixStore(&staged, sums_at + 0u, sum_1, false, 16u);
  workgroupBarrier();
  for (var i_1 = lane; i_1 < 256u; i_1 += 32u) {
    let token_1 = first_token + subgroup_token + i_1 / 16u + 0u;
    let row_1 = first_row + subgroup_row + i_1 % 16u + 16u;
    let sum_of_row_1 = staged[sums_at + i_1 + 0u];
    if ((token_1 < n_tokens) && (row_1 < 512u)) {
      let x_base_1 = token_1 * 97u;
      let x_meta_1 = x[x_base_1 + 96u];
      let x_scale_1 = bitcast<f32>(x_meta_1.x);
      let x_sum_1 = bitcast<i32>(x_meta_1.y);
      let index_1 = token_1 * 512u + row_1;
      let value_1 = f32(sum_of_row_1 - x_sum_1) / x_scale_1 * scales.a;
      y[index_1] = value_1;
    }
  }
  workgroupBarrier();
  subgroupMatrixStore(&staged, sums_at + 0u, sum_2, false, 16u);
  workgroupBarrier();
  for (var i_2 = lane; i_2 < 256u; i_2 += 32u) {
    let token_2 = first_token + subgroup_token + i_2 / 16u + 16u;
    let row_2 = first_row + subgroup_row + i_2 % 16u + 0u;
    let sum_of_row_2 = staged[sums_at + i_2 + 0u];
    if ((token_2 < n_tokens) && (row_2 < 512u)) {
      let x_base_2 = token_2 * 97u;
      let x_meta_2 = x[x_base_2 + 96u];
      let x_scale_2 = bitcast<f32>(x_meta_2.x);
      let x_sum_2 = bitcast<i32>(x_meta_2.y);
      let index_2 = token_2 * 512u + row_2;
      let value_2 = f32(sum_of_row_2 - x_sum_2) / x_scale_2 * scales.a;
      y[index_2] = value_2;
    }
  }
  workgroupBarrier();
  subgroupMatrixStore(&staged, sums_at + 0u, sum_3, false, 16u);
  workgroupBarrier();
  for (var i_3 = lane; i_3 < 256u; i_3 += 32u) {
    let token_3 = first_token + subgroup_token + i_3 / 16u + 16u;
    let row_3 = first_row + subgroup_row + i_3 % 16u + 16u;
    let sum_of_row_3 = staged[sums_at + i_3 + 0u];
    if ((token_3 < n_tokens) && (row_3 < 512u)) {
      let x_base_3 = token_3 * 97u;
      let x_meta_3 = x[x_base_3 + 96u];
      let x_scale_3 = bitcast<f32>(x_meta_3.x);
      let x_sum_3 = bitcast<i32>(x_meta_3.y);
      let index_3 = token_3 * 512u + row_3;
      let value_3 = f32(sum_of_row_3 - x_sum_3) / x_scale_3 * scales.a;
      y[index_3] = value_3;
    }
  }
}
