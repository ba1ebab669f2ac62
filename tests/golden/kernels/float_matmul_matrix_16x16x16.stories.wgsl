enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<f16>;
@group(0) @binding(3) var<storage, read> token_scales: array<f32>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(4) var<uniform> range: range_fields;
@group(0) @binding(5) var<storage, read> params: array<u32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
var<workgroup> staged: array<f16, 2560>;
var<workgroup> sums: array<f32, 4096>;
fn codes4_minus_8(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388616f);
}

@compute @workgroup_size(128)
fn float_matmul_matrix(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_rows = range.count;
  let n_tokens = params[0u];
  let first_row = wg.x * 64u;
  let first_token = wg.y * 64u;
  let subgroup = tid / 32u;
  let subgroup_row = subgroup % 2u * 32u;
  let subgroup_token = subgroup / 2u * 32u;
  let half = tid + 0u;
  let row = min(first_row + half / 2u, n_rows - 1u);
  let row_units = row * 48u;
  var unit: vec4<u32> = vec4<u32>(0u);
  var scale: f32 = 1f;
  var sum: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_1: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_2: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_3: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  let token = first_token + subgroup_token + 0u;
  let x_start = token / 16u * 24576u + token % 16u * 16u;
  let token_1 = first_token + subgroup_token + 16u;
  let x_start_1 = token_1 / 16u * 24576u + token_1 % 16u * 16u;
  let first_block = 0u;
  let at = row_units + first_block;
  unit = w[at];
  let halves = scales[at / 2u] >> ((at & 1u) * 16u);
  let scale_1 = unpack2x16float(halves);
  scale = scale_1.x;
  for (var block = 0u; block < 48u; block += 1u) {
    let matrix = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 512u + 0u, false, 16u));
    let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start_1 + block * 512u + 0u, false, 16u));
    let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 512u + 256u, false, 16u));
    let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start_1 + block * 512u + 256u, false, 16u));
    let fetched = unit;
    let scale_of_unit = scale;
    let is_second = (half & 1u) == 1u;
    let low_word = select(fetched.x, fetched.z, is_second);
    let high_word = select(fetched.y, fetched.w, is_second);
    let to = 0u + half / 2u * 40u + (half & 1u) * 16u;
    let value = codes4_minus_8(low_word, 0u) * scale_of_unit;
    let to_quad = to + 0u;
    staged[to_quad + 0u] = f16(value.x);
    staged[to_quad + 1u] = f16(value.y);
    staged[to_quad + 2u] = f16(value.z);
    staged[to_quad + 3u] = f16(value.w);
    let value_1 = codes4_minus_8(low_word, 4u) * scale_of_unit;
    let to_quad_1 = to + 4u;
    staged[to_quad_1 + 0u] = f16(value_1.x);
    staged[to_quad_1 + 1u] = f16(value_1.y);
    staged[to_quad_1 + 2u] = f16(value_1.z);
    staged[to_quad_1 + 3u] = f16(value_1.w);
    let value_2 = codes4_minus_8(high_word, 0u) * scale_of_unit;
    let to_quad_2 = to + 8u;
    staged[to_quad_2 + 0u] = f16(value_2.x);
    staged[to_quad_2 + 1u] = f16(value_2.y);
    staged[to_quad_2 + 2u] = f16(value_2.z);
    staged[to_quad_2 + 3u] = f16(value_2.w);
    let value_3 = codes4_minus_8(high_word, 4u) * scale_of_unit;
    let to_quad_3 = to + 12u;
    staged[to_quad_3 + 0u] = f16(value_3.x);
    staged[to_quad_3 + 1u] = f16(value_3.y);
    staged[to_quad_3 + 2u] = f16(value_3.z);
    staged[to_quad_3 + 3u] = f16(value_3.w);
    workgroupBarrier();
    let next_block = min(block + 1u, 47u);
    let at_1 = row_units + next_block;
    unit = w[at_1];
    let halves_1 = scales[at_1 / 2u] >> ((at_1 & 1u) * 16u);
    let scale_2 = unpack2x16float(halves_1);
    scale = scale_2.x;
    let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 0u) * 40u + 0u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix, matrix_4, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_4, sum_2);
    let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 16u) * 40u + 0u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix, matrix_5, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_5, sum_3);
    let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 0u) * 40u + 16u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_6, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_6, sum_2);
    let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 16u) * 40u + 16u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_7, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_7, sum_3);
    workgroupBarrier();
  }
  let tile_token = subgroup_token + 0u;
  subgroupMatrixStore(&sums, tile_token * 64u + subgroup_row + 0u, sum, false, 64u);
  let tile_token_1 = subgroup_token + 0u;
  subgroupMatrixStore(&sums, tile_token_1 * 64u + subgroup_row + 16u, sum_1, false, 64u);
  let tile_token_2 = subgroup_token + 16u;
  subgroupMatrixStore(&sums, tile_token_2 * 64u + subgroup_row + 0u, sum_2, false, 64u);
  let tile_token_3 = subgroup_token + 16u;
  subgroupMatrixStore(&sums, tile_token_3 * 64u + subgroup_row + 16u, sum_3, false, 64u);
  workgroupBarrier();
  for (var i = tid; i < 4096u; i += 128u) {
    let token_2 = first_token + i / 64u;
    let row_1 = first_row + i % 64u;
    if ((token_2 < n_tokens) && (row_1 < n_rows)) {
      let unscale = 1f / token_scales[token_2];
      let index = token_2 * 512u + range.first + row_1;
      let value_4 = sums[i] * unscale;
      y[index] = value_4;
    }
  }
}
