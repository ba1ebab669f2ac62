enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

@group(0) @binding(0) var<storage, read> w: array<f16>;
@group(0) @binding(1) var<storage, read> x: array<f16>;
@group(0) @binding(2) var<storage, read> token_scales: array<f32>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(3) var<uniform> range: range_fields;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
var<workgroup> sums: array<f32, 4096>;

@compute @workgroup_size(128)
fn logits_matrix(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_rows = range.count;
  let list = params[1u];
  let n_tokens = params[list - 1u];
  let split = tid / 32u;
  let first_row = min(wg.x * 128u + split * 32u, n_rows - 32u);
  let first_token = wg.y * 32u;
  var sum: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_1: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_2: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_3: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  let x_row = first_token + 0u;
  let x_start = x_row / 16u * 24576u + x_row % 16u * 16u;
  let x_row_1 = first_token + 16u;
  let x_start_1 = x_row_1 / 16u * 24576u + x_row_1 % 16u * 16u;
  let x_row_2 = first_token + 64u;
  let x_start_2 = x_row_2 / 16u * 24576u + x_row_2 % 16u * 16u;
  let x_row_3 = first_token + 80u;
  let x_start_3 = x_row_3 / 16u * 24576u + x_row_3 % 16u * 16u;
  let w_start = (first_row + 0u) * 1536u;
  let w_start_1 = (first_row + 16u) * 1536u;
  for (var block = 0u; block < 48u; block += 1u) {
    let matrix = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&w, w_start + block * 32u + 0u, true, 1536u));
    let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&w, w_start_1 + block * 32u + 0u, true, 1536u));
    let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 512u + 0u, false, 16u));
    let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start_1 + block * 512u + 0u, false, 16u));
    let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start_2 + block * 512u + 0u, false, 16u));
    let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start_3 + block * 512u + 0u, false, 16u));
    let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&w, w_start + block * 32u + 16u, true, 1536u));
    let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&w, w_start_1 + block * 32u + 16u, true, 1536u));
    let matrix_8 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start + block * 512u + 256u, false, 16u));
    let matrix_9 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start_1 + block * 512u + 256u, false, 16u));
    let matrix_10 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start_2 + block * 512u + 256u, false, 16u));
    let matrix_11 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&x, x_start_3 + block * 512u + 256u, false, 16u));
    sum = subgroupMatrixMultiplyAccumulate(matrix_2, matrix, sum);
    sum = subgroupMatrixMultiplyAccumulate(matrix_4, matrix, sum);
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_1, sum_1);
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_1, sum_1);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix, sum_2);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix, sum_2);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_1, sum_3);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_1, sum_3);
    sum = subgroupMatrixMultiplyAccumulate(matrix_8, matrix_6, sum);
    sum = subgroupMatrixMultiplyAccumulate(matrix_10, matrix_6, sum);
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_8, matrix_7, sum_1);
    sum_1 = subgroupMatrixMultiplyAccumulate(matrix_10, matrix_7, sum_1);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_9, matrix_6, sum_2);
    sum_2 = subgroupMatrixMultiplyAccumulate(matrix_11, matrix_6, sum_2);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_9, matrix_7, sum_3);
    sum_3 = subgroupMatrixMultiplyAccumulate(matrix_11, matrix_7, sum_3);
  }
  let tile_token = split * 32u + 0u;
  subgroupMatrixStore(&sums, tile_token * 32u + 0u, sum, false, 32u);
  let tile_token_1 = split * 32u + 0u;
  subgroupMatrixStore(&sums, tile_token_1 * 32u + 16u, sum_1, false, 32u);
  let tile_token_2 = split * 32u + 16u;
  subgroupMatrixStore(&sums, tile_token_2 * 32u + 0u, sum_2, false, 32u);
  let tile_token_3 = split * 32u + 16u;
  subgroupMatrixStore(&sums, tile_token_3 * 32u + 16u, sum_3, false, 32u);
  workgroupBarrier();
  for (var i = tid; i < 4096u; i += 128u) {
    let token = first_token + i / 32u % 32u;
    let of_subgroup = i / 1024u;
    let first_row_1 = min(wg.x * 128u + of_subgroup * 32u, n_rows - 32u);
    if (token < n_tokens) {
      y[token * 512u + range.first + first_row_1 + i % 32u] = sums[i] / token_scales[token];
    }
  }
}
