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

@compute @workgroup_size(128)
fn float_matmul_matrix_exact(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_rows = range.count;
  let list = params[1u];
  let n_tokens = params[list - 1u];
  let first_row = wg.x * 64u;
  let first_token = wg.y * 64u;
  let subgroup = tid / 32u;
  let subgroup_row = subgroup % 2u * 32u;
  let subgroup_token = subgroup / 2u * 32u;
  var sum: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_1: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_2: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_3: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  let x_start = (first_token + subgroup_token) * 1536u;
  let first_block = 0u;
  for (var block = 0u; block < 48u; block += 1u) {
    let matrix = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 32u + 0u, false, 1536u));
    let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 32u + 98304u, false, 1536u));
    let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 32u + 24576u, false, 1536u));
    let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 32u + 122880u, false, 1536u));
    let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 32u + 16u, false, 1536u));
    let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 32u + 98320u, false, 1536u));
    let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 32u + 24592u, false, 1536u));
    let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 32u + 122896u, false, 1536u));
    for (var i = tid; i < 512u; i += 128u) {
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
    let matrix_8 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 0u) * 40u + 0u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix, matrix_8, sum);
    sum = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_8, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_8, sum_2);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_8, sum_2);
    let matrix_9 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 16u) * 40u + 0u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix, matrix_9, sum_1);
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_9, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_9, sum_3);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_9, sum_3);
    let matrix_10 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 0u) * 40u + 16u, true, 40u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_10, sum);
    sum = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_10, sum);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_6, matrix_10, sum_2);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_10, sum_2);
    let matrix_11 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, (subgroup_row + 16u) * 40u + 16u, true, 40u));
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_11, sum_1);
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_11, sum_1);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_6, matrix_11, sum_3);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_11, sum_3);
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
      let index = token * 512u + range.first + row_1;
      let value_1 = sums[i_1] * unscale;
      y[index] = value_1;
    }
  }
}
