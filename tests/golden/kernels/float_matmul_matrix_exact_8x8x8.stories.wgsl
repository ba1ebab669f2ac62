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
var<workgroup> staged: array<f16, 1280>;
var<workgroup> sums: array<f32, 1024>;

@compute @workgroup_size(32)
fn float_matmul_matrix_exact(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_rows = range.count;
  let list = params[1u];
  let n_tokens = params[list - 1u];
  let first_row = wg.x * 32u;
  let first_token = wg.y * 32u;
  let subgroup = tid / 8u;
  let subgroup_row = subgroup % 2u * 16u;
  let subgroup_token = subgroup / 2u * 16u;
  var sum: subgroup_matrix_result<f32, 8, 8> = subgroup_matrix_result<f32, 8, 8>();
  var sum_1: subgroup_matrix_result<f32, 8, 8> = subgroup_matrix_result<f32, 8, 8>();
  var sum_2: subgroup_matrix_result<f32, 8, 8> = subgroup_matrix_result<f32, 8, 8>();
  var sum_3: subgroup_matrix_result<f32, 8, 8> = subgroup_matrix_result<f32, 8, 8>();
  let x_start = (first_token + subgroup_token) * 1536u;
  let first_block = 0u;
  for (var block = 0u; block < 48u; block += 1u) {
    let matrix = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 0u, false, 1536u));
    let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 98304u, false, 1536u));
    let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 12288u, false, 1536u));
    let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 110592u, false, 1536u));
    let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 8u, false, 1536u));
    let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 98312u, false, 1536u));
    let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 12296u, false, 1536u));
    let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 110600u, false, 1536u));
    let matrix_8 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 16u, false, 1536u));
    let matrix_9 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 98320u, false, 1536u));
    let matrix_10 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 12304u, false, 1536u));
    let matrix_11 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 110608u, false, 1536u));
    let matrix_12 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 24u, false, 1536u));
    let matrix_13 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 98328u, false, 1536u));
    let matrix_14 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 12312u, false, 1536u));
    let matrix_15 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 8, 8>>(&x, x_start + block * 32u + 110616u, false, 1536u));
    for (var i = tid; i < 256u; i += 32u) {
      let row = min(first_row + i / 8u, n_rows - 1u);
      let quad = block * 8u + i % 8u;
      let at = row * 192u + quad / 2u;
      let unit = w[at];
      let in_unit = quad % 2u;
      let to = 0u + i / 8u * 40u + i % 8u * 4u;
      let low_word = select(unit.x, unit.z, in_unit == 1u);
      let high_word = select(unit.y, unit.w, in_unit == 1u);
      let value = vec4<f32>(unpack2x16float(low_word), unpack2x16float(high_word));
      staged[to + 0u] = f16(value.x);
      staged[to + 1u] = f16(value.y);
      staged[to + 2u] = f16(value.z);
      staged[to + 3u] = f16(value.w);
    }
    workgroupBarrier();
    let next_block = min(block + 1u, 47u);
    let matrix_16 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 0u) * 40u + 0u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix, matrix_16, sum);
    sum = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_16, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_16, sum_2);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_16, sum_2);
    let matrix_17 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 8u) * 40u + 0u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix, matrix_17, sum_1);
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_17, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_17, sum_3);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_17, sum_3);
    let matrix_18 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 0u) * 40u + 8u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_18, sum);
    sum = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_18, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_6, matrix_18, sum_2);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_18, sum_2);
    let matrix_19 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 8u) * 40u + 8u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_19, sum_1);
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_19, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_6, matrix_19, sum_3);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_19, sum_3);
    let matrix_20 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 0u) * 40u + 16u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_8, matrix_20, sum);
    sum = subgroupMatrixMultiplyAccumulate(matrix_9, matrix_20, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_10, matrix_20, sum_2);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_11, matrix_20, sum_2);
    let matrix_21 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 8u) * 40u + 16u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_8, matrix_21, sum_1);
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_9, matrix_21, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_10, matrix_21, sum_3);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_11, matrix_21, sum_3);
    let matrix_22 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 0u) * 40u + 24u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_12, matrix_22, sum);
    sum = subgroupMatrixMultiplyAccumulate(matrix_13, matrix_22, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_14, matrix_22, sum_2);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_15, matrix_22, sum_2);
    let matrix_23 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>>(&staged, (subgroup_row + 8u) * 40u + 24u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_12, matrix_23, sum_1);
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_13, matrix_23, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_14, matrix_23, sum_3);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_15, matrix_23, sum_3);
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
  workgroupBarrier();
  for (var i_1 = tid; i_1 < 1024u; i_1 += 32u) {
    let token = first_token + i_1 / 32u;
    let row_1 = first_row + i_1 % 32u;
    if ((token < n_tokens) && (row_1 < n_rows)) {
      let unscale = 1f / token_scales[token];
      let index = token * 512u + range.first + row_1;
      let value_1 = sums[i_1] * unscale;
      y[index] = value_1;
    }
  }
}
