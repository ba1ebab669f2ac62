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
  var sums: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  var sums_1: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  var sums_2: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  var sums_3: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  for (var block = 0u; block < 12u; block += 1u) {
    for (var i = tid; i < 512u; i += 128u) {
      let token = min(first_token + i / 8u, n_tokens - 1u);
      let q4 = x[token * 97u + block * 8u + i % 8u];
      let to = i / 8u * 36u + i % 8u * 4u;
      staged[to + 0u] = bitcast<i32>(q4.x);
      staged[to + 1u] = bitcast<i32>(q4.y);
      staged[to + 2u] = bitcast<i32>(q4.z);
      staged[to + 3u] = bitcast<i32>(q4.w);
    }
    for (var i_1 = tid; i_1 < 128u; i_1 += 128u) {
      let row = min(first_row + i_1 / 2u, 511u);
      let w4 = w[row * 24u + block * 2u + i_1 % 2u];
      let to_1 = 2304u + i_1 / 2u * 36u + i_1 % 2u * 4u;
      staged[to_1 + 0u] = bitcast<i32>((w4.x >> 6u) & 0x03030303u);
      staged[to_1 + 8u] = bitcast<i32>((w4.x >> 4u) & 0x03030303u);
      staged[to_1 + 16u] = bitcast<i32>((w4.x >> 2u) & 0x03030303u);
      staged[to_1 + 24u] = bitcast<i32>(w4.x & 0x03030303u);
      staged[to_1 + 1u] = bitcast<i32>((w4.y >> 6u) & 0x03030303u);
      staged[to_1 + 9u] = bitcast<i32>((w4.y >> 4u) & 0x03030303u);
      staged[to_1 + 17u] = bitcast<i32>((w4.y >> 2u) & 0x03030303u);
      staged[to_1 + 25u] = bitcast<i32>(w4.y & 0x03030303u);
      staged[to_1 + 2u] = bitcast<i32>((w4.z >> 6u) & 0x03030303u);
      staged[to_1 + 10u] = bitcast<i32>((w4.z >> 4u) & 0x03030303u);
      staged[to_1 + 18u] = bitcast<i32>((w4.z >> 2u) & 0x03030303u);
      staged[to_1 + 26u] = bitcast<i32>(w4.z & 0x03030303u);
      staged[to_1 + 3u] = bitcast<i32>((w4.w >> 6u) & 0x03030303u);
      staged[to_1 + 11u] = bitcast<i32>((w4.w >> 4u) & 0x03030303u);
      staged[to_1 + 19u] = bitcast<i32>((w4.w >> 2u) & 0x03030303u);
      staged[to_1 + 27u] = bitcast<i32>(w4.w & 0x03030303u);
    }
    workgroupBarrier();
    let matrix = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 0u) * 144u + 0u, false, 144u));
    let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 16u) * 144u + 0u, false, 144u));
    let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 64u) * 144u + 0u, true, 144u));
    sums = subgroupMatrixMultiplyAccumulate(matrix, matrix_2, sums);
    sums_2 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_2, sums_2);
    let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 80u) * 144u + 0u, true, 144u));
    sums_1 = subgroupMatrixMultiplyAccumulate(matrix, matrix_3, sums_1);
    sums_3 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_3, sums_3);
    let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 0u) * 144u + 32u, false, 144u));
    let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 16u) * 144u + 32u, false, 144u));
    let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 64u) * 144u + 32u, true, 144u));
    sums = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_6, sums);
    sums_2 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_6, sums_2);
    let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 80u) * 144u + 32u, true, 144u));
    sums_1 = subgroupMatrixMultiplyAccumulate(matrix_4, matrix_7, sums_1);
    sums_3 = subgroupMatrixMultiplyAccumulate(matrix_5, matrix_7, sums_3);
    let matrix_8 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 0u) * 144u + 64u, false, 144u));
    let matrix_9 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 16u) * 144u + 64u, false, 144u));
    let matrix_10 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 64u) * 144u + 64u, true, 144u));
    sums = subgroupMatrixMultiplyAccumulate(matrix_8, matrix_10, sums);
    sums_2 = subgroupMatrixMultiplyAccumulate(matrix_9, matrix_10, sums_2);
    let matrix_11 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 80u) * 144u + 64u, true, 144u));
    sums_1 = subgroupMatrixMultiplyAccumulate(matrix_8, matrix_11, sums_1);
    sums_3 = subgroupMatrixMultiplyAccumulate(matrix_9, matrix_11, sums_3);
    let matrix_12 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 0u) * 144u + 96u, false, 144u));
    let matrix_13 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 16u) * 144u + 96u, false, 144u));
    let matrix_14 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 64u) * 144u + 96u, true, 144u));
    sums = subgroupMatrixMultiplyAccumulate(matrix_12, matrix_14, sums);
    sums_2 = subgroupMatrixMultiplyAccumulate(matrix_13, matrix_14, sums_2);
    let matrix_15 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 80u) * 144u + 96u, true, 144u));
    sums_1 = subgroupMatrixMultiplyAccumulate(matrix_12, matrix_15, sums_1);
    sums_3 = subgroupMatrixMultiplyAccumulate(matrix_13, matrix_15, sums_3);
    workgroupBarrier();
  }
  let tile_token = subgroup_token + 0u;
  subgroupMatrixStore(&staged, tile_token * 64u + subgroup_row + 0u, sums, false, 64u);
  let tile_token_1 = subgroup_token + 0u;
  subgroupMatrixStore(&staged, tile_token_1 * 64u + subgroup_row + 16u, sums_1, false, 64u);
  let tile_token_2 = subgroup_token + 16u;
  subgroupMatrixStore(&staged, tile_token_2 * 64u + subgroup_row + 0u, sums_2, false, 64u);
  let tile_token_3 = subgroup_token + 16u;
  subgroupMatrixStore(&staged, tile_token_3 * 64u + subgroup_row + 16u, sums_3, false, 64u);
  workgroupBarrier();
  for (var i_2 = tid; i_2 < 4096u; i_2 += 128u) {
    let token_1 = first_token + i_2 / 64u;
    let row_1 = first_row + i_2 % 64u;
    if ((token_1 < n_tokens) && (row_1 < 512u)) {
      let x_base = token_1 * 97u;
      let x_meta = x[x_base + 96u];
      let x_scale = bitcast<f32>(x_meta.x);
      let x_sum = bitcast<i32>(x_meta.y);
      let index = token_1 * 512u + row_1;
      let sum = staged[i_2];
      let value = f32(sum - x_sum) / x_scale * scales.a;
      y[index] = value;
    }
  }
}
