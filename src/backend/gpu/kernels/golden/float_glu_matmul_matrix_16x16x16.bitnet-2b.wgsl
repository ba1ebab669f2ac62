enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

@group(0) @binding(0) var<storage, read> w_gate: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> gate_scales: array<u32>;
@group(0) @binding(2) var<storage, read> w_up: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> up_scales: array<u32>;
@group(0) @binding(4) var<storage, read> x: array<f16>;
@group(0) @binding(5) var<storage, read> token_scales: array<f32>;
@group(0) @binding(6) var<storage, read> params: array<u32>;
@group(0) @binding(7) var<storage, read_write> y: array<f32>;
fn codes4_minus_8(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388616f);
}
var<workgroup> staged: array<f16, 5120>;
var<workgroup> sums: array<f32, 8192>;

@compute @workgroup_size(128)
fn float_glu_matmul_matrix(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_rows = 2560u;
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
  var sum_4: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_5: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_6: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_7: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
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
      let unit = w_gate[at];
      let word = unit[word_of_row % 4u];
      let to = 0u + i / 4u * 40u + i % 4u * 8u;
      let halves = gate_scales[at / 2u] >> ((at & 1u) * 16u);
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
    for (var i_1 = tid; i_1 < 256u; i_1 += 128u) {
      let row_1 = min(first_row + i_1 / 4u, n_rows - 1u);
      let word_of_row_1 = block * 4u + i_1 % 4u;
      let at_1 = row_1 * 216u + word_of_row_1 / 4u;
      let unit_1 = w_up[at_1];
      let word_1 = unit_1[word_of_row_1 % 4u];
      let to_1 = 2560u + i_1 / 4u * 40u + i_1 % 4u * 8u;
      let halves_1 = up_scales[at_1 / 2u] >> ((at_1 & 1u) * 16u);
      let scale_1 = unpack2x16float(halves_1);
      let value_2 = codes4_minus_8(word_1, 0u) * scale_1.x;
      let to_quad_2 = to_1 + 0u;
      staged[to_quad_2 + 0u] = f16(value_2.x);
      staged[to_quad_2 + 1u] = f16(value_2.y);
      staged[to_quad_2 + 2u] = f16(value_2.z);
      staged[to_quad_2 + 3u] = f16(value_2.w);
      let value_3 = codes4_minus_8(word_1, 4u) * scale_1.x;
      let to_quad_3 = to_1 + 4u;
      staged[to_quad_3 + 0u] = f16(value_3.x);
      staged[to_quad_3 + 1u] = f16(value_3.y);
      staged[to_quad_3 + 2u] = f16(value_3.z);
      staged[to_quad_3 + 3u] = f16(value_3.w);
    }
    workgroupBarrier();
    let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 0u) * 40u + 0u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix, matrix_4, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_4, sum_2);
    let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 16u) * 40u + 0u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix, matrix_5, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_5, sum_3);
    let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 64u) * 40u + 0u, true, 40u));
    sum_4 = subgroupMatrixMultiplyAccumulate(matrix, matrix_6, sum_4);
    sum_6 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_6, sum_6);
    let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 80u) * 40u + 0u, true, 40u));
    sum_5 = subgroupMatrixMultiplyAccumulate(matrix, matrix_7, sum_5);
    sum_7 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_7, sum_7);
    let matrix_8 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 0u) * 40u + 16u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_8, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_8, sum_2);
    let matrix_9 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 16u) * 40u + 16u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_9, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_9, sum_3);
    let matrix_10 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 64u) * 40u + 16u, true, 40u));
    sum_4 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_10, sum_4);
    sum_6 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_10, sum_6);
    let matrix_11 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 80u) * 40u + 16u, true, 40u));
    sum_5 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_11, sum_5);
    sum_7 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_11, sum_7);
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
  let tile_token_4 = subgroup_token + 64u;
  subgroupMatrixStore(&sums, tile_token_4 * 64u + subgroup_row + 0u, sum_4, false, 64u);
  let tile_token_5 = subgroup_token + 64u;
  subgroupMatrixStore(&sums, tile_token_5 * 64u + subgroup_row + 16u, sum_5, false, 64u);
  let tile_token_6 = subgroup_token + 80u;
  subgroupMatrixStore(&sums, tile_token_6 * 64u + subgroup_row + 0u, sum_6, false, 64u);
  let tile_token_7 = subgroup_token + 80u;
  subgroupMatrixStore(&sums, tile_token_7 * 64u + subgroup_row + 16u, sum_7, false, 64u);
  workgroupBarrier();
  for (var i_2 = tid; i_2 < 4096u; i_2 += 128u) {
    let token = first_token + i_2 / 64u;
    let row_2 = first_row + i_2 % 64u;
    if ((token < n_tokens) && (row_2 < n_rows)) {
      let unscale = 1f / token_scales[token];
      let gate_sum = sums[i_2] * unscale;
      let up_sum = sums[i_2 + 4096u] * unscale;
      let below = 1f + exp(min(-gate_sum, 80f));
      y[token * 2560u + row_2] = gate_sum / below * up_sum;
    }
  }
}
