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
var<workgroup> staged: array<f16, 2560>;
var<workgroup> sums: array<f32, 2048>;

@compute @workgroup_size(32)
fn float_glu_matmul_matrix(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_rows = 512u;
  let n_tokens = params[1u];
  let first_row = wg.x * 32u;
  let first_token = wg.y * 32u;
  let subgroup = tid / 8u;
  let subgroup_row = subgroup % 2u * 16u;
  let subgroup_token = subgroup / 2u * 16u;
  var sum: subgroup_matrix_result<f32, 8, 8> = subgroup_matrix_result<f32, 8, 8>();
  var sum_1: subgroup_matrix_result<f32, 8, 8> = subgroup_matrix_result<f32, 8, 8>();
  var sum_2: subgroup_matrix_result<f32, 8, 8> = subgroup_matrix_result<f32, 8, 8>();
  var sum_3: subgroup_matrix_result<f32, 8, 8> = subgroup_matrix_result<f32, 8, 8>();
  var sum_4: subgroup_matrix_result<f32, 8, 8> = subgroup_matrix_result<f32, 8, 8>();
  var sum_5: subgroup_matrix_result<f32, 8, 8> = subgroup_matrix_result<f32, 8, 8>();
  var sum_6: subgroup_matrix_result<f32, 8, 8> = subgroup_matrix_result<f32, 8, 8>();
  var sum_7: subgroup_matrix_result<f32, 8, 8> = subgroup_matrix_result<f32, 8, 8>();
  let x_start = (first_token + subgroup_token) * 1536u;
  for (var block = 0u; block < 48u; block += 1u) {
    let matrix = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 0u, false, 1536u));
    let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 12288u, false, 1536u));
    let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 8u, false, 1536u));
    let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 12296u, false, 1536u));
    let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 16u, false, 1536u));
    let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 12304u, false, 1536u));
    let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 24u, false, 1536u));
    let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 12312u, false, 1536u));
    for (var i = tid; i < 128u; i += 32u) {
      let row = min(first_row + i / 4u, n_rows - 1u);
      let word_of_row = block * 4u + i % 4u;
      let at = row * 48u + word_of_row / 4u;
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
    for (var i_1 = tid; i_1 < 128u; i_1 += 32u) {
      let row_1 = min(first_row + i_1 / 4u, n_rows - 1u);
      let word_of_row_1 = block * 4u + i_1 % 4u;
      let at_1 = row_1 * 48u + word_of_row_1 / 4u;
      let unit_1 = w_up[at_1];
      let word_1 = unit_1[word_of_row_1 % 4u];
      let to_1 = 1280u + i_1 / 4u * 40u + i_1 % 4u * 8u;
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
    let matrix_8 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 0u) * 40u + 0u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix, matrix_8, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_8, sum_2);
    let matrix_9 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 8u) * 40u + 0u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix, matrix_9, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_9, sum_3);
    let matrix_10 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 32u) * 40u + 0u, true, 40u));
    sum_4 = subgroupMatrixMultiplyAccumulate(matrix, matrix_10, sum_4);
    sum_6 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_10, sum_6);
    let matrix_11 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 40u) * 40u + 0u, true, 40u));
    sum_5 = subgroupMatrixMultiplyAccumulate(matrix, matrix_11, sum_5);
    sum_7 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_11, sum_7);
    let matrix_12 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 0u) * 40u + 8u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_12, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_12, sum_2);
    let matrix_13 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 8u) * 40u + 8u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_13, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_13, sum_3);
    let matrix_14 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 32u) * 40u + 8u, true, 40u));
    sum_4 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_14, sum_4);
    sum_6 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_14, sum_6);
    let matrix_15 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 40u) * 40u + 8u, true, 40u));
    sum_5 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_15, sum_5);
    sum_7 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_15, sum_7);
    let matrix_16 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 0u) * 40u + 16u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_16, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_16, sum_2);
    let matrix_17 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 8u) * 40u + 16u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_17, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_17, sum_3);
    let matrix_18 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 32u) * 40u + 16u, true, 40u));
    sum_4 = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_18, sum_4);
    sum_6 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_18, sum_6);
    let matrix_19 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 40u) * 40u + 16u, true, 40u));
    sum_5 = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_19, sum_5);
    sum_7 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_19, sum_7);
    let matrix_20 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 0u) * 40u + 24u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_6, matrix_20, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_20, sum_2);
    let matrix_21 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 8u) * 40u + 24u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_6, matrix_21, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_21, sum_3);
    let matrix_22 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 32u) * 40u + 24u, true, 40u));
    sum_4 = subgroupMatrixMultiplyAccumulate(matrix_6, matrix_22, sum_4);
    sum_6 = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_22, sum_6);
    let matrix_23 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 40u) * 40u + 24u, true, 40u));
    sum_5 = subgroupMatrixMultiplyAccumulate(matrix_6, matrix_23, sum_5);
    sum_7 = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_23, sum_7);
    workgroupBarrier();
  }
  let tile_token = subgroup_token + 0u;
  subgroupMatrixStore(&sums, tile_token * 32u + subgroup_row + 0u, sum, false, 32u);
  let tile_token_1 = subgroup_token + 0u;
  subgroupMatrixStore(&sums, tile_token_1 * 32u + subgroup_row + 8u, sum_1, false, 32u);
  let tile_token_2 = subgroup_token + 8u;
  subgroupMatrixStore(&sums, tile_token_2 * 32u + subgroup_row + 0u, sum_2, false, 32u);
  let tile_token_3 = subgroup_token + 8u;
  subgroupMatrixStore(&sums, tile_token_3 * 32u + subgroup_row + 8u, sum_3, false, 32u);
  let tile_token_4 = subgroup_token + 32u;
  subgroupMatrixStore(&sums, tile_token_4 * 32u + subgroup_row + 0u, sum_4, false, 32u);
  let tile_token_5 = subgroup_token + 32u;
  subgroupMatrixStore(&sums, tile_token_5 * 32u + subgroup_row + 8u, sum_5, false, 32u);
  let tile_token_6 = subgroup_token + 40u;
  subgroupMatrixStore(&sums, tile_token_6 * 32u + subgroup_row + 0u, sum_6, false, 32u);
  let tile_token_7 = subgroup_token + 40u;
  subgroupMatrixStore(&sums, tile_token_7 * 32u + subgroup_row + 8u, sum_7, false, 32u);
  workgroupBarrier();
  for (var i_2 = tid; i_2 < 1024u; i_2 += 32u) {
    let token = first_token + i_2 / 32u;
    let row_2 = first_row + i_2 % 32u;
    if ((token < n_tokens) && (row_2 < n_rows)) {
      let unscale = 1f / token_scales[token];
      let gate_sum = sums[i_2] * unscale;
      let up_sum = sums[i_2 + 1024u] * unscale;
      let below = 1f + exp(min(-gate_sum, 80f));
      y[token * 512u + row_2] = gate_sum / below * up_sum;
    }
  }
}
