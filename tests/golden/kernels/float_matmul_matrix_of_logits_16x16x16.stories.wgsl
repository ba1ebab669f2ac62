enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f16>>;
@group(0) @binding(3) var<storage, read> token_scales: array<f32>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(4) var<uniform> range: range_fields;
@group(0) @binding(5) var<storage, read> params: array<u32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
var<workgroup> staged: array<f16, 5120>;
fn codes4_minus_8(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388616f);
}
fn half_codes4_minus_8(word: u32, shift: u32, scale: f16) -> vec4<f16> {
  let even = (bitcast<vec2<f16>>(((word >> shift) & 983055u) | 1677747200u) - vec2<f16>(1032h)) * scale;
  let odd = (bitcast<vec2<f16>>(((word >> (shift + 8u)) & 983055u) | 1677747200u) - vec2<f16>(1032h)) * scale;
  return vec4<f16>(even.x, odd.x, even.y, odd.y);
}
var<workgroup> sums: array<f32, 1024>;

@compute @workgroup_size(128)
fn float_matmul_matrix(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_rows = range.count;
  let list = params[1u];
  let n_tokens = params[list - 1u];
  let first_row = wg.x * 64u;
  let first_token = wg.y * 64u;
  let subgroup = tid / 32u;
  let subgroup_row = subgroup % 2u * 32u;
  let subgroup_token = subgroup / 2u * 32u;
  let piece = tid + 0u;
  let row = min(first_row + piece / 2u, n_rows - 1u);
  let row_units = row * 48u;
  var unit: vec4<u32> = vec4<u32>(0u);
  var scale: f32 = 1f;
  let i = tid + 0u;
  let x_row = i / 8u;
  let x_stored = first_token + x_row;
  let x_first = (x_stored / 16u * 24576u + x_stored % 16u * 16u) / 4u + i % 2u * 64u + i / 2u % 4u;
  let x_to = (x_row + 64u) * 40u + i % 8u * 4u;
  var x_next: vec4<f16> = vec4<f16>();
  let i_1 = tid + 128u;
  let x_row_1 = i_1 / 8u;
  let x_stored_1 = first_token + x_row_1;
  let x_first_1 = (x_stored_1 / 16u * 24576u + x_stored_1 % 16u * 16u) / 4u + i_1 % 2u * 64u + i_1 / 2u % 4u;
  let x_to_1 = (x_row_1 + 64u) * 40u + i_1 % 8u * 4u;
  var x_next_1: vec4<f16> = vec4<f16>();
  let i_2 = tid + 256u;
  let x_row_2 = i_2 / 8u;
  let x_stored_2 = first_token + x_row_2;
  let x_first_2 = (x_stored_2 / 16u * 24576u + x_stored_2 % 16u * 16u) / 4u + i_2 % 2u * 64u + i_2 / 2u % 4u;
  let x_to_2 = (x_row_2 + 64u) * 40u + i_2 % 8u * 4u;
  var x_next_2: vec4<f16> = vec4<f16>();
  let i_3 = tid + 384u;
  let x_row_3 = i_3 / 8u;
  let x_stored_3 = first_token + x_row_3;
  let x_first_3 = (x_stored_3 / 16u * 24576u + x_stored_3 % 16u * 16u) / 4u + i_3 % 2u * 64u + i_3 / 2u % 4u;
  let x_to_3 = (x_row_3 + 64u) * 40u + i_3 % 8u * 4u;
  var x_next_3: vec4<f16> = vec4<f16>();
  var sum: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_1: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_2: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_3: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  let first_block = 0u;
  let number = first_block * 2u + piece % 2u;
  let at = row_units + number / 2u;
  unit = w[at];
  let halves = scales[at / 2u] >> ((at & 1u) * 16u);
  let scale_1 = unpack2x16float(halves);
  scale = scale_1.x;
  let x_behind_first = first_block * 128u;
  x_next = x[x_first + x_behind_first];
  x_next_1 = x[x_first_1 + x_behind_first];
  x_next_2 = x[x_first_2 + x_behind_first];
  x_next_3 = x[x_first_3 + x_behind_first];
  for (var block = 0u; block < 48u; block += 1u) {
    let base = 0u;
    let fetched = unit;
    let scale_of_unit = scale;
    let is_second = (piece & 1u) == 1u;
    let low_word = select(fetched.x, fetched.z, is_second);
    let high_word = select(fetched.y, fetched.w, is_second);
    let to = base + 0u + piece / 2u * 40u + piece % 2u * 4u;
    let half_scale = f16(scale_of_unit);
    let to_quad = to + 0u;
    let value = half_codes4_minus_8(low_word, 0u, half_scale);
    staged[to_quad + 0u] = value.x;
    staged[to_quad + 1u] = value.y;
    staged[to_quad + 2u] = value.z;
    staged[to_quad + 3u] = value.w;
    let to_quad_1 = to + 8u;
    let value_1 = half_codes4_minus_8(low_word, 4u, half_scale);
    staged[to_quad_1 + 0u] = value_1.x;
    staged[to_quad_1 + 1u] = value_1.y;
    staged[to_quad_1 + 2u] = value_1.z;
    staged[to_quad_1 + 3u] = value_1.w;
    let to_quad_2 = to + 16u;
    let value_2 = half_codes4_minus_8(high_word, 0u, half_scale);
    staged[to_quad_2 + 0u] = value_2.x;
    staged[to_quad_2 + 1u] = value_2.y;
    staged[to_quad_2 + 2u] = value_2.z;
    staged[to_quad_2 + 3u] = value_2.w;
    let to_quad_3 = to + 24u;
    let value_3 = half_codes4_minus_8(high_word, 4u, half_scale);
    staged[to_quad_3 + 0u] = value_3.x;
    staged[to_quad_3 + 1u] = value_3.y;
    staged[to_quad_3 + 2u] = value_3.z;
    staged[to_quad_3 + 3u] = value_3.w;
    let fetched_1 = x_next;
    let x_to_quad = base + x_to;
    staged[x_to_quad + 0u] = fetched_1.x;
    staged[x_to_quad + 1u] = fetched_1.y;
    staged[x_to_quad + 2u] = fetched_1.z;
    staged[x_to_quad + 3u] = fetched_1.w;
    let fetched_2 = x_next_1;
    let x_to_quad_1 = base + x_to_1;
    staged[x_to_quad_1 + 0u] = fetched_2.x;
    staged[x_to_quad_1 + 1u] = fetched_2.y;
    staged[x_to_quad_1 + 2u] = fetched_2.z;
    staged[x_to_quad_1 + 3u] = fetched_2.w;
    let fetched_3 = x_next_2;
    let x_to_quad_2 = base + x_to_2;
    staged[x_to_quad_2 + 0u] = fetched_3.x;
    staged[x_to_quad_2 + 1u] = fetched_3.y;
    staged[x_to_quad_2 + 2u] = fetched_3.z;
    staged[x_to_quad_2 + 3u] = fetched_3.w;
    let fetched_4 = x_next_3;
    let x_to_quad_3 = base + x_to_3;
    staged[x_to_quad_3 + 0u] = fetched_4.x;
    staged[x_to_quad_3 + 1u] = fetched_4.y;
    staged[x_to_quad_3 + 2u] = fetched_4.z;
    staged[x_to_quad_3 + 3u] = fetched_4.w;
    workgroupBarrier();
    let next_block = min(block + 1u, 47u);
    let number_1 = next_block * 2u + piece % 2u;
    let at_1 = row_units + number_1 / 2u;
    unit = w[at_1];
    let halves_1 = scales[at_1 / 2u] >> ((at_1 & 1u) * 16u);
    let scale_2 = unpack2x16float(halves_1);
    scale = scale_2.x;
    let x_behind_first_1 = next_block * 128u;
    x_next = x[x_first + x_behind_first_1];
    x_next_1 = x[x_first_1 + x_behind_first_1];
    x_next_2 = x[x_first_2 + x_behind_first_1];
    x_next_3 = x[x_first_3 + x_behind_first_1];
    let k = 0u;
    let x_at = base + k + subgroup_token * 40u;
    let matrix = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&staged, x_at + 2560u, false, 40u));
    let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&staged, x_at + 3200u, false, 40u));
    let w_at = base + k + subgroup_row * 40u;
    let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, w_at + 0u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix, matrix_2, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_2, sum_2);
    let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, w_at + 640u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix, matrix_3, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_3, sum_3);
    let k_1 = 16u;
    let x_at_1 = base + k_1 + subgroup_token * 40u;
    let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&staged, x_at_1 + 2560u, false, 40u));
    let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&staged, x_at_1 + 3200u, false, 40u));
    let w_at_1 = base + k_1 + subgroup_row * 40u;
    let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, w_at_1 + 0u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_6, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_6, sum_2);
    let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, w_at_1 + 640u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_7, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_7, sum_3);
    workgroupBarrier();
  }
  let sums_at = subgroup * 256u;
  let lane = tid % 32u;
  workgroupBarrier();
  subgroupMatrixStore(&sums, sums_at + 0u, sum, false, 16u);
  workgroupBarrier();
  for (var i_4 = lane; i_4 < 256u; i_4 += 32u) {
    let token = first_token + subgroup_token + i_4 / 16u + 0u;
    let row_1 = first_row + subgroup_row + i_4 % 16u + 0u;
    let sum_of_row = sums[sums_at + i_4 + 0u];
    if ((token < n_tokens) && (row_1 < n_rows)) {
      let unscale = 1f / token_scales[token];
      let unscaled = sum_of_row * unscale;
      let index = token * 512u + range.first + row_1;
      y[index] = unscaled;
    }
  }
  workgroupBarrier();
  subgroupMatrixStore(&sums, sums_at + 0u, sum_1, false, 16u);
  workgroupBarrier();
  for (var i_5 = lane; i_5 < 256u; i_5 += 32u) {
    let token_1 = first_token + subgroup_token + i_5 / 16u + 0u;
    let row_2 = first_row + subgroup_row + i_5 % 16u + 16u;
    let sum_of_row_1 = sums[sums_at + i_5 + 0u];
    if ((token_1 < n_tokens) && (row_2 < n_rows)) {
      let unscale_1 = 1f / token_scales[token_1];
      let unscaled_1 = sum_of_row_1 * unscale_1;
      let index_1 = token_1 * 512u + range.first + row_2;
      y[index_1] = unscaled_1;
    }
  }
  workgroupBarrier();
  subgroupMatrixStore(&sums, sums_at + 0u, sum_2, false, 16u);
  workgroupBarrier();
  for (var i_6 = lane; i_6 < 256u; i_6 += 32u) {
    let token_2 = first_token + subgroup_token + i_6 / 16u + 16u;
    let row_3 = first_row + subgroup_row + i_6 % 16u + 0u;
    let sum_of_row_2 = sums[sums_at + i_6 + 0u];
    if ((token_2 < n_tokens) && (row_3 < n_rows)) {
      let unscale_2 = 1f / token_scales[token_2];
      let unscaled_2 = sum_of_row_2 * unscale_2;
      let index_2 = token_2 * 512u + range.first + row_3;
      y[index_2] = unscaled_2;
    }
  }
  workgroupBarrier();
  subgroupMatrixStore(&sums, sums_at + 0u, sum_3, false, 16u);
  workgroupBarrier();
  for (var i_7 = lane; i_7 < 256u; i_7 += 32u) {
    let token_3 = first_token + subgroup_token + i_7 / 16u + 16u;
    let row_4 = first_row + subgroup_row + i_7 % 16u + 16u;
    let sum_of_row_3 = sums[sums_at + i_7 + 0u];
    if ((token_3 < n_tokens) && (row_4 < n_rows)) {
      let unscale_3 = 1f / token_scales[token_3];
      let unscaled_3 = sum_of_row_3 * unscale_3;
      let index_3 = token_3 * 512u + range.first + row_4;
      y[index_3] = unscaled_3;
    }
  }
}
