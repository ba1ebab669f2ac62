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
fn codes4_minus_8(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388616f);
}
var<workgroup> staged: array<f16, 2560>;
var<workgroup> sums: array<f32, 4096>;

@compute @workgroup_size(128)
fn float_matmul_matrix(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_rows = range.count;
  let n_tokens = params[1u];
  let first_row = wg.x * 64u;
  let first_token = wg.y * 64u;
  let subgroup = tid / 32u;
  let subgroup_row = subgroup % 2u * 32u;
  let subgroup_token = subgroup / 2u * 32u;
  var sum: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_1: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_2: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_3: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  let x_start = (first_token + subgroup_token) * 6912u;
  for (var block = 0u; block < 216u; block += 1u) {
    let matrix = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 32u + 0u, false, 6912u));
    let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 32u + 110592u, false, 6912u));
    let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 32u + 16u, false, 6912u));
    let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 32u + 110608u, false, 6912u));
    for (var i = tid; i < 256u; i += 128u) {
      let row = min(first_row + i / 4u, n_rows - 1u);
      let word_of_row = block * 4u + i % 4u;
      let at = row * 216u + word_of_row / 4u;
      let unit = w[at];
      let word = unit[word_of_row % 4u];
      let to = 0u + i / 4u * 40u + i % 4u * 8u;
      let halves = scales[at / 2u] >> ((at & 1u) * 16u);
      let scale = unpack2x16float(halves);
      let value = codes4_minus_8(word, 0u) * scale.x;
      let to_quad = to + 0u;
      staged[to_quad + 0u] = f16(value.x);
      staged[to_quad + 1u] = f16(value.y);
      staged[to_quad + 2u] = f16(value.z);
      staged[to_quad + 3u] = f16(value.w);
      let value_1 = codes4_minus_8(word, 4u) * scale.x;
      let to_quad_1 = to + 4u;
      staged[to_quad_1 + 0u] = f16(value_1.x);
      staged[to_quad_1 + 1u] = f16(value_1.y);
      staged[to_quad_1 + 2u] = f16(value_1.z);
      staged[to_quad_1 + 3u] = f16(value_1.w);
    }
    workgroupBarrier();
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
  for (var i_1 = tid; i_1 < 4096u; i_1 += 128u) {
    let token = first_token + i_1 / 64u;
    let row_1 = first_row + i_1 % 64u;
    if ((token < n_tokens) && (row_1 < n_rows)) {
      let unscale = 1f / token_scales[token];
      let index = token * 2560u + range.first + row_1;
      let value_2 = sums[i_1] * unscale;
      y[index] = value_2;
    }
  }
}
