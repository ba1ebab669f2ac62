enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

@group(0) @binding(0) var<storage, read> w_gate: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> w_up: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> x: array<vec4<u32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(3) var<uniform> scales: scales_fields;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
var<workgroup> staged: array<i32, 8192>;

@compute @workgroup_size(128)
fn ternary_glu_matmul_matrix(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
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
  var sums_4: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  var sums_5: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  var sums_6: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  var sums_7: subgroup_matrix_result<i32, 16, 16> = subgroup_matrix_result<i32, 16, 16>();
  for (var block = 0u; block < 4u; block += 1u) {
    for (var i = tid; i < 512u; i += 128u) {
      let token = min(first_token + i / 8u, n_tokens - 1u);
      let q4 = x[token * 33u + block * 8u + i % 8u];
      let to = i / 8u * 36u + i % 8u * 4u;
      staged[to + 0u] = bitcast<i32>(q4.x);
      staged[to + 1u] = bitcast<i32>(q4.y);
      staged[to + 2u] = bitcast<i32>(q4.z);
      staged[to + 3u] = bitcast<i32>(q4.w);
    }
    for (var i_1 = tid; i_1 < 128u; i_1 += 128u) {
      let row = min(first_row + i_1 / 2u, 1535u);
      let w4 = w_gate[row * 8u + block * 2u + i_1 % 2u];
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
    for (var i_2 = tid; i_2 < 128u; i_2 += 128u) {
      let row_1 = min(first_row + i_2 / 2u, 1535u);
      let w4_1 = w_up[row_1 * 8u + block * 2u + i_2 % 2u];
      let to_2 = 4608u + i_2 / 2u * 36u + i_2 % 2u * 4u;
      staged[to_2 + 0u] = bitcast<i32>((w4_1.x >> 6u) & 0x03030303u);
      staged[to_2 + 8u] = bitcast<i32>((w4_1.x >> 4u) & 0x03030303u);
      staged[to_2 + 16u] = bitcast<i32>((w4_1.x >> 2u) & 0x03030303u);
      staged[to_2 + 24u] = bitcast<i32>(w4_1.x & 0x03030303u);
      staged[to_2 + 1u] = bitcast<i32>((w4_1.y >> 6u) & 0x03030303u);
      staged[to_2 + 9u] = bitcast<i32>((w4_1.y >> 4u) & 0x03030303u);
      staged[to_2 + 17u] = bitcast<i32>((w4_1.y >> 2u) & 0x03030303u);
      staged[to_2 + 25u] = bitcast<i32>(w4_1.y & 0x03030303u);
      staged[to_2 + 2u] = bitcast<i32>((w4_1.z >> 6u) & 0x03030303u);
      staged[to_2 + 10u] = bitcast<i32>((w4_1.z >> 4u) & 0x03030303u);
      staged[to_2 + 18u] = bitcast<i32>((w4_1.z >> 2u) & 0x03030303u);
      staged[to_2 + 26u] = bitcast<i32>(w4_1.z & 0x03030303u);
      staged[to_2 + 3u] = bitcast<i32>((w4_1.w >> 6u) & 0x03030303u);
      staged[to_2 + 11u] = bitcast<i32>((w4_1.w >> 4u) & 0x03030303u);
      staged[to_2 + 19u] = bitcast<i32>((w4_1.w >> 2u) & 0x03030303u);
      staged[to_2 + 27u] = bitcast<i32>(w4_1.w & 0x03030303u);
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
    let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 128u) * 144u + 0u, true, 144u));
    sums_4 = subgroupMatrixMultiplyAccumulate(matrix, matrix_4, sums_4);
    sums_6 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_4, sums_6);
    let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 144u) * 144u + 0u, true, 144u));
    sums_5 = subgroupMatrixMultiplyAccumulate(matrix, matrix_5, sums_5);
    sums_7 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_5, sums_7);
    let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 0u) * 144u + 32u, false, 144u));
    let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 16u) * 144u + 32u, false, 144u));
    let matrix_8 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 64u) * 144u + 32u, true, 144u));
    sums = subgroupMatrixMultiplyAccumulate(matrix_6, matrix_8, sums);
    sums_2 = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_8, sums_2);
    let matrix_9 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 80u) * 144u + 32u, true, 144u));
    sums_1 = subgroupMatrixMultiplyAccumulate(matrix_6, matrix_9, sums_1);
    sums_3 = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_9, sums_3);
    let matrix_10 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 128u) * 144u + 32u, true, 144u));
    sums_4 = subgroupMatrixMultiplyAccumulate(matrix_6, matrix_10, sums_4);
    sums_6 = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_10, sums_6);
    let matrix_11 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 144u) * 144u + 32u, true, 144u));
    sums_5 = subgroupMatrixMultiplyAccumulate(matrix_6, matrix_11, sums_5);
    sums_7 = subgroupMatrixMultiplyAccumulate(matrix_7, matrix_11, sums_7);
    let matrix_12 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 0u) * 144u + 64u, false, 144u));
    let matrix_13 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 16u) * 144u + 64u, false, 144u));
    let matrix_14 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 64u) * 144u + 64u, true, 144u));
    sums = subgroupMatrixMultiplyAccumulate(matrix_12, matrix_14, sums);
    sums_2 = subgroupMatrixMultiplyAccumulate(matrix_13, matrix_14, sums_2);
    let matrix_15 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 80u) * 144u + 64u, true, 144u));
    sums_1 = subgroupMatrixMultiplyAccumulate(matrix_12, matrix_15, sums_1);
    sums_3 = subgroupMatrixMultiplyAccumulate(matrix_13, matrix_15, sums_3);
    let matrix_16 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 128u) * 144u + 64u, true, 144u));
    sums_4 = subgroupMatrixMultiplyAccumulate(matrix_12, matrix_16, sums_4);
    sums_6 = subgroupMatrixMultiplyAccumulate(matrix_13, matrix_16, sums_6);
    let matrix_17 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 144u) * 144u + 64u, true, 144u));
    sums_5 = subgroupMatrixMultiplyAccumulate(matrix_12, matrix_17, sums_5);
    sums_7 = subgroupMatrixMultiplyAccumulate(matrix_13, matrix_17, sums_7);
    let matrix_18 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 0u) * 144u + 96u, false, 144u));
    let matrix_19 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>>(&staged, (subgroup_token + 16u) * 144u + 96u, false, 144u));
    let matrix_20 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 64u) * 144u + 96u, true, 144u));
    sums = subgroupMatrixMultiplyAccumulate(matrix_18, matrix_20, sums);
    sums_2 = subgroupMatrixMultiplyAccumulate(matrix_19, matrix_20, sums_2);
    let matrix_21 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 80u) * 144u + 96u, true, 144u));
    sums_1 = subgroupMatrixMultiplyAccumulate(matrix_18, matrix_21, sums_1);
    sums_3 = subgroupMatrixMultiplyAccumulate(matrix_19, matrix_21, sums_3);
    let matrix_22 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 128u) * 144u + 96u, true, 144u));
    sums_4 = subgroupMatrixMultiplyAccumulate(matrix_18, matrix_22, sums_4);
    sums_6 = subgroupMatrixMultiplyAccumulate(matrix_19, matrix_22, sums_6);
    let matrix_23 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>>(&staged, (subgroup_row + 144u) * 144u + 96u, true, 144u));
    sums_5 = subgroupMatrixMultiplyAccumulate(matrix_18, matrix_23, sums_5);
    sums_7 = subgroupMatrixMultiplyAccumulate(matrix_19, matrix_23, sums_7);
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
  let tile_token_4 = subgroup_token + 64u;
  subgroupMatrixStore(&staged, tile_token_4 * 64u + subgroup_row + 0u, sums_4, false, 64u);
  let tile_token_5 = subgroup_token + 64u;
  subgroupMatrixStore(&staged, tile_token_5 * 64u + subgroup_row + 16u, sums_5, false, 64u);
  let tile_token_6 = subgroup_token + 80u;
  subgroupMatrixStore(&staged, tile_token_6 * 64u + subgroup_row + 0u, sums_6, false, 64u);
  let tile_token_7 = subgroup_token + 80u;
  subgroupMatrixStore(&staged, tile_token_7 * 64u + subgroup_row + 16u, sums_7, false, 64u);
  workgroupBarrier();
  for (var i_3 = tid; i_3 < 4096u; i_3 += 128u) {
    let token_1 = first_token + i_3 / 64u;
    let row_2 = first_row + i_3 % 64u;
    if ((token_1 < n_tokens) && (row_2 < 1536u)) {
      let x_base = token_1 * 33u;
      let x_meta = x[x_base + 32u];
      let x_scale = bitcast<f32>(x_meta.x);
      let x_sum = bitcast<i32>(x_meta.y);
      let index = token_1 * 1536u + row_2;
      let gate_sum = staged[i_3];
      let up_sum = staged[i_3 + 4096u];
      let gate = f32(gate_sum - x_sum) / x_scale * scales.a;
      let up = f32(up_sum - x_sum) / x_scale * scales.b;
      let positive = max(gate, 0f);
      y[index] = positive * positive * up;
    }
  }
}
