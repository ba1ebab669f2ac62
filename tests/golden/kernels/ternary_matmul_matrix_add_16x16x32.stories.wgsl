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
fn ternary_matmul_matrix_add(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_tokens = params[0u];
  let first_row = wg.x * 64u;
  let first_token = wg.y * 64u;
  let subgroup = tid / 32u;
  let subgroup_row = subgroup % 2u * 32u;
  let subgroup_token = subgroup / 2u * 32u;
  let i = tid + 0u;
  let w_row = min(first_row + i / 2u, 511u);
  let w_first = w_row * 24u + i % 2u;
  let w_to = (i / 2u + 0u) * 36u + i % 2u;
  var w_next: vec4<u32> = vec4<u32>();
  let i_1 = tid + 0u;
  let x_token = min(first_token + i_1 / 8u, n_tokens - 1u);
  let x_first = x_token * 97u + i_1 % 8u * 1u;
  let x_to = (i_1 / 8u + 64u) * 36u + i_1 % 8u;
  var x_next: vec4<u32> = vec4<u32>();
  let i_2 = tid + 128u;
  let x_token_1 = min(first_token + i_2 / 8u, n_tokens - 1u);
  let x_first_1 = x_token_1 * 97u + i_2 % 8u * 1u;
  let x_to_1 = (i_2 / 8u + 64u) * 36u + i_2 % 8u;
  var x_next_1: vec4<u32> = vec4<u32>();
  let i_3 = tid + 256u;
  let x_token_2 = min(first_token + i_3 / 8u, n_tokens - 1u);
  let x_first_2 = x_token_2 * 97u + i_3 % 8u * 1u;
  let x_to_2 = (i_3 / 8u + 64u) * 36u + i_3 % 8u;
  var x_next_2: vec4<u32> = vec4<u32>();
  let i_4 = tid + 384u;
  let x_token_3 = min(first_token + i_4 / 8u, n_tokens - 1u);
  let x_first_3 = x_token_3 * 97u + i_4 % 8u * 1u;
  let x_to_3 = (i_4 / 8u + 64u) * 36u + i_4 % 8u;
  var x_next_3: vec4<u32> = vec4<u32>();
  var sum: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  var sum_1: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  var sum_2: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  var sum_3: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  let first_block = 0u;
  let x_behind = first_block * 8u;
  x_next = x[x_first + x_behind];
  x_next_1 = x[x_first_1 + x_behind];
  x_next_2 = x[x_first_2 + x_behind];
  x_next_3 = x[x_first_3 + x_behind];
  let w_behind = first_block * 2u;
  w_next = w[w_first + w_behind];
  for (var block = 0u; block < 12u; block += 1u) {
    let base = 0u;
    let fetched = x_next;
    let x_to_words = base / 4u + x_to;
    staged[x_to_words + 0u] = bitcast<i32>(fetched.x);
    staged[x_to_words + 8u] = bitcast<i32>(fetched.y);
    staged[x_to_words + 16u] = bitcast<i32>(fetched.z);
    staged[x_to_words + 24u] = bitcast<i32>(fetched.w);
    let fetched_1 = x_next_1;
    let x_to_words_1 = base / 4u + x_to_1;
    staged[x_to_words_1 + 0u] = bitcast<i32>(fetched_1.x);
    staged[x_to_words_1 + 8u] = bitcast<i32>(fetched_1.y);
    staged[x_to_words_1 + 16u] = bitcast<i32>(fetched_1.z);
    staged[x_to_words_1 + 24u] = bitcast<i32>(fetched_1.w);
    let fetched_2 = x_next_2;
    let x_to_words_2 = base / 4u + x_to_2;
    staged[x_to_words_2 + 0u] = bitcast<i32>(fetched_2.x);
    staged[x_to_words_2 + 8u] = bitcast<i32>(fetched_2.y);
    staged[x_to_words_2 + 16u] = bitcast<i32>(fetched_2.z);
    staged[x_to_words_2 + 24u] = bitcast<i32>(fetched_2.w);
    let fetched_3 = x_next_3;
    let x_to_words_3 = base / 4u + x_to_3;
    staged[x_to_words_3 + 0u] = bitcast<i32>(fetched_3.x);
    staged[x_to_words_3 + 8u] = bitcast<i32>(fetched_3.y);
    staged[x_to_words_3 + 16u] = bitcast<i32>(fetched_3.z);
    staged[x_to_words_3 + 24u] = bitcast<i32>(fetched_3.w);
    let fetched_4 = w_next;
    let w_to_words = base / 4u + w_to;
    staged[w_to_words + 0u] = bitcast<i32>((fetched_4.x >> 6u) & 0x03030303u);
    staged[w_to_words + 2u] = bitcast<i32>((fetched_4.x >> 4u) & 0x03030303u);
    staged[w_to_words + 4u] = bitcast<i32>((fetched_4.x >> 2u) & 0x03030303u);
    staged[w_to_words + 6u] = bitcast<i32>(fetched_4.x & 0x03030303u);
    staged[w_to_words + 8u] = bitcast<i32>((fetched_4.y >> 6u) & 0x03030303u);
    staged[w_to_words + 10u] = bitcast<i32>((fetched_4.y >> 4u) & 0x03030303u);
    staged[w_to_words + 12u] = bitcast<i32>((fetched_4.y >> 2u) & 0x03030303u);
    staged[w_to_words + 14u] = bitcast<i32>(fetched_4.y & 0x03030303u);
    staged[w_to_words + 16u] = bitcast<i32>((fetched_4.z >> 6u) & 0x03030303u);
    staged[w_to_words + 18u] = bitcast<i32>((fetched_4.z >> 4u) & 0x03030303u);
    staged[w_to_words + 20u] = bitcast<i32>((fetched_4.z >> 2u) & 0x03030303u);
    staged[w_to_words + 22u] = bitcast<i32>(fetched_4.z & 0x03030303u);
    staged[w_to_words + 24u] = bitcast<i32>((fetched_4.w >> 6u) & 0x03030303u);
    staged[w_to_words + 26u] = bitcast<i32>((fetched_4.w >> 4u) & 0x03030303u);
    staged[w_to_words + 28u] = bitcast<i32>((fetched_4.w >> 2u) & 0x03030303u);
    staged[w_to_words + 30u] = bitcast<i32>(fetched_4.w & 0x03030303u);
    workgroupBarrier();
    let next_block = min(block + 1u, 11u);
    let x_behind_1 = next_block * 8u;
    x_next = x[x_first + x_behind_1];
    x_next_1 = x[x_first_1 + x_behind_1];
    x_next_2 = x[x_first_2 + x_behind_1];
    x_next_3 = x[x_first_3 + x_behind_1];
    let w_behind_1 = next_block * 2u;
    w_next = w[w_first + w_behind_1];
    let k = 0u;
    let x_at = base + k + subgroup_token * 144u;
    let matrix = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at + 9216u, false, 144u));
    let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at + 11520u, false, 144u));
    let w_at = base + k + subgroup_row * 144u;
    let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at + 0u, true, 144u));
    sum = subgroupMatrixMultiplyAccumulate(matrix, matrix_2, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_2, sum_2);
    let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at + 2304u, true, 144u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix, matrix_3, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_3, sum_3);
    let k_1 = 32u;
    let x_at_1 = base + k_1 + subgroup_token * 144u;
    let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_1 + 9216u, false, 144u));
    let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_1 + 11520u, false, 144u));
    let w_at_1 = base + k_1 + subgroup_row * 144u;
    let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_1 + 0u, true, 144u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_6, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_6, sum_2);
    let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_1 + 2304u, true, 144u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_7, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_7, sum_3);
    let k_2 = 64u;
    let x_at_2 = base + k_2 + subgroup_token * 144u;
    let matrix_8 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_2 + 9216u, false, 144u));
    let matrix_9 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_2 + 11520u, false, 144u));
    let w_at_2 = base + k_2 + subgroup_row * 144u;
    let matrix_10 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_2 + 0u, true, 144u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_8, matrix_10, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_9, matrix_10, sum_2);
    let matrix_11 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_2 + 2304u, true, 144u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_8, matrix_11, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_9, matrix_11, sum_3);
    let k_3 = 96u;
    let x_at_3 = base + k_3 + subgroup_token * 144u;
    let matrix_12 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_3 + 9216u, false, 144u));
    let matrix_13 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, x_at_3 + 11520u, false, 144u));
    let w_at_3 = base + k_3 + subgroup_row * 144u;
    let matrix_14 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_3 + 0u, true, 144u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_12, matrix_14, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_13, matrix_14, sum_2);
    let matrix_15 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, w_at_3 + 2304u, true, 144u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_12, matrix_15, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_13, matrix_15, sum_3);
    workgroupBarrier();
  }
  let sums_at = subgroup * 256u;
  let lane = tid % 32u;
  workgroupBarrier();
  subgroupMatrixStore(&staged, sums_at + 0u, sum, false, 16u);
  workgroupBarrier();
  for (var i_5 = lane; i_5 < 256u; i_5 += 32u) {
    let token = first_token + subgroup_token + i_5 / 16u + 0u;
    let row = first_row + subgroup_row + i_5 % 16u + 0u;
    let sum_of_row = staged[sums_at + i_5 + 0u];
    if ((token < n_tokens) && (row < 512u)) {
      let x_base = token * 97u;
      let x_meta = x[x_base + 96u];
      let x_scale = bitcast<f32>(x_meta.x);
      let x_sum = bitcast<i32>(x_meta.y);
      let index = token * 512u + row;
      let value = f32(sum_of_row - x_sum) / x_scale * scales.a;
      y[index] += value;
    }
  }
  workgroupBarrier();
  subgroupMatrixStore(&staged, sums_at + 0u, sum_1, false, 16u);
  workgroupBarrier();
  for (var i_6 = lane; i_6 < 256u; i_6 += 32u) {
    let token_1 = first_token + subgroup_token + i_6 / 16u + 0u;
    let row_1 = first_row + subgroup_row + i_6 % 16u + 16u;
    let sum_of_row_1 = staged[sums_at + i_6 + 0u];
    if ((token_1 < n_tokens) && (row_1 < 512u)) {
      let x_base_1 = token_1 * 97u;
      let x_meta_1 = x[x_base_1 + 96u];
      let x_scale_1 = bitcast<f32>(x_meta_1.x);
      let x_sum_1 = bitcast<i32>(x_meta_1.y);
      let index_1 = token_1 * 512u + row_1;
      let value_1 = f32(sum_of_row_1 - x_sum_1) / x_scale_1 * scales.a;
      y[index_1] += value_1;
    }
  }
  workgroupBarrier();
  subgroupMatrixStore(&staged, sums_at + 0u, sum_2, false, 16u);
  workgroupBarrier();
  for (var i_7 = lane; i_7 < 256u; i_7 += 32u) {
    let token_2 = first_token + subgroup_token + i_7 / 16u + 16u;
    let row_2 = first_row + subgroup_row + i_7 % 16u + 0u;
    let sum_of_row_2 = staged[sums_at + i_7 + 0u];
    if ((token_2 < n_tokens) && (row_2 < 512u)) {
      let x_base_2 = token_2 * 97u;
      let x_meta_2 = x[x_base_2 + 96u];
      let x_scale_2 = bitcast<f32>(x_meta_2.x);
      let x_sum_2 = bitcast<i32>(x_meta_2.y);
      let index_2 = token_2 * 512u + row_2;
      let value_2 = f32(sum_of_row_2 - x_sum_2) / x_scale_2 * scales.a;
      y[index_2] += value_2;
    }
  }
  workgroupBarrier();
  subgroupMatrixStore(&staged, sums_at + 0u, sum_3, false, 16u);
  workgroupBarrier();
  for (var i_8 = lane; i_8 < 256u; i_8 += 32u) {
    let token_3 = first_token + subgroup_token + i_8 / 16u + 16u;
    let row_3 = first_row + subgroup_row + i_8 % 16u + 16u;
    let sum_of_row_3 = staged[sums_at + i_8 + 0u];
    if ((token_3 < n_tokens) && (row_3 < 512u)) {
      let x_base_3 = token_3 * 97u;
      let x_meta_3 = x[x_base_3 + 96u];
      let x_scale_3 = bitcast<f32>(x_meta_3.x);
      let x_sum_3 = bitcast<i32>(x_meta_3.y);
      let index_3 = token_3 * 512u + row_3;
      let value_3 = f32(sum_of_row_3 - x_sum_3) / x_scale_3 * scales.a;
      y[index_3] += value_3;
    }
  }
}
