enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(2) var<uniform> scales: scales_fields;
@group(0) @binding(3) var<storage, read> params: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
var<workgroup> staged: array<i32, 2304>;

@compute @workgroup_size(32)
fn ternary_matmul_matrix_add(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_tokens = params[0u];
  let first_row = wg.x * 32u;
  let first_token = wg.y * 32u;
  let subgroup = tid / 8u;
  let subgroup_row = subgroup % 2u * 16u;
  let subgroup_token = subgroup / 2u * 16u;
  var sums: subgroup_matrix_result<i32, 8, 8> = subgroup_matrix_result<i32, 8, 8>();
  var sums_1: subgroup_matrix_result<i32, 8, 8> = subgroup_matrix_result<i32, 8, 8>();
  var sums_2: subgroup_matrix_result<i32, 8, 8> = subgroup_matrix_result<i32, 8, 8>();
  var sums_3: subgroup_matrix_result<i32, 8, 8> = subgroup_matrix_result<i32, 8, 8>();
  for (var block = 0u; block < 12u; block += 1u) {
    for (var i = tid; i < 256u; i += 32u) {
      let token = min(first_token + i / 8u, n_tokens - 1u);
      let q4 = x[token * 97u + block * 8u + i % 8u];
      let to = i / 8u * 36u + i % 8u * 4u;
      staged[to + 0u] = bitcast<i32>(q4.x);
      staged[to + 1u] = bitcast<i32>(q4.y);
      staged[to + 2u] = bitcast<i32>(q4.z);
      staged[to + 3u] = bitcast<i32>(q4.w);
    }
    for (var i_1 = tid; i_1 < 64u; i_1 += 32u) {
      let row = min(first_row + i_1 / 2u, 511u);
      let w4 = w[row * 24u + block * 2u + i_1 % 2u];
      let to_1 = 1152u + i_1 / 2u * 36u + i_1 % 2u * 4u;
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
    for (var k = 0u; k < 128u; k += 8u) {
      let matrix = (subgroupMatrixLoad<subgroup_matrix_left<i8, 8, 8>>(&staged, (subgroup_token + 0u) * 144u + k, false, 144u));
      let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<i8, 8, 8>>(&staged, (subgroup_token + 8u) * 144u + k, false, 144u));
      let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 8, 8>>(&staged, (subgroup_row + 32u) * 144u + k, true, 144u));
      sums = subgroupMatrixMultiplyAccumulate(matrix, matrix_2, sums);
      sums_2 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_2, sums_2);
      let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_right<i8, 8, 8>>(&staged, (subgroup_row + 40u) * 144u + k, true, 144u));
      sums_1 = subgroupMatrixMultiplyAccumulate(matrix, matrix_3, sums_1);
      sums_3 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_3, sums_3);
    }
    workgroupBarrier();
  }
  let tile_token = subgroup_token + 0u;
  subgroupMatrixStore(&staged, tile_token * 32u + subgroup_row + 0u, sums, false, 32u);
  let tile_token_1 = subgroup_token + 0u;
  subgroupMatrixStore(&staged, tile_token_1 * 32u + subgroup_row + 8u, sums_1, false, 32u);
  let tile_token_2 = subgroup_token + 8u;
  subgroupMatrixStore(&staged, tile_token_2 * 32u + subgroup_row + 0u, sums_2, false, 32u);
  let tile_token_3 = subgroup_token + 8u;
  subgroupMatrixStore(&staged, tile_token_3 * 32u + subgroup_row + 8u, sums_3, false, 32u);
  workgroupBarrier();
  for (var i_2 = tid; i_2 < 1024u; i_2 += 32u) {
    let token_1 = first_token + i_2 / 32u;
    let row_1 = first_row + i_2 % 32u;
    if ((token_1 < n_tokens) && (row_1 < 512u)) {
      let x_base = token_1 * 97u;
      let x_meta = x[x_base + 96u];
      let x_scale = bitcast<f32>(x_meta.x);
      let x_sum = bitcast<i32>(x_meta.y);
      let index = token_1 * 512u + row_1;
      let sum = staged[i_2];
      let value = f32(sum - x_sum) / x_scale * scales.a;
      y[index] += value;
    }
  }
}
