@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(3) var<uniform> range: range_fields;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
var<workgroup> weights: array<vec4<f32>, 512>;
var<workgroup> tokens: array<vec4<f32>, 512>;

@compute @workgroup_size(256)
fn float_matmul_add(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_rows = range.count;
  let n_tokens = params[0u];
  let my_row = tid % 16u;
  let my_token = tid / 16u;
  let first_row = wg.x * 64u;
  let first_token = wg.y * 64u;
  var acc: f32 = 0f;
  var acc_1: f32 = 0f;
  var acc_2: f32 = 0f;
  var acc_3: f32 = 0f;
  var acc_4: f32 = 0f;
  var acc_5: f32 = 0f;
  var acc_6: f32 = 0f;
  var acc_7: f32 = 0f;
  var acc_8: f32 = 0f;
  var acc_9: f32 = 0f;
  var acc_10: f32 = 0f;
  var acc_11: f32 = 0f;
  var acc_12: f32 = 0f;
  var acc_13: f32 = 0f;
  var acc_14: f32 = 0f;
  var acc_15: f32 = 0f;
  for (var block = 0u; block < 216u; block += 1u) {
    let i = tid + 0u;
    let tile_row = i / 8u;
    let in_block = i % 8u;
    let quad = block * 8u + in_block;
    let to = in_block * 64u + tile_row;
    let row = min(first_row + tile_row, n_rows - 1u);
    let at = row * 864u + quad / 2u;
    let unit = w[at];
    let in_unit = quad % 2u;
    let low_word = select(unit.x, unit.z, in_unit == 1u);
    let high_word = select(unit.y, unit.w, in_unit == 1u);
    let value = vec4<f32>(unpack2x16float(low_word), unpack2x16float(high_word));
    weights[to] = value;
    let i_1 = tid + 256u;
    let tile_row_1 = i_1 / 8u;
    let in_block_1 = i_1 % 8u;
    let quad_1 = block * 8u + in_block_1;
    let to_1 = in_block_1 * 64u + tile_row_1;
    let row_1 = min(first_row + tile_row_1, n_rows - 1u);
    let at_1 = row_1 * 864u + quad_1 / 2u;
    let unit_1 = w[at_1];
    let in_unit_1 = quad_1 % 2u;
    let low_word_1 = select(unit_1.x, unit_1.z, in_unit_1 == 1u);
    let high_word_1 = select(unit_1.y, unit_1.w, in_unit_1 == 1u);
    let value_1 = vec4<f32>(unpack2x16float(low_word_1), unpack2x16float(high_word_1));
    weights[to_1] = value_1;
    let i_2 = tid + 0u;
    let tile_row_2 = i_2 / 8u;
    let in_block_2 = i_2 % 8u;
    let quad_2 = block * 8u + in_block_2;
    let to_2 = in_block_2 * 64u + tile_row_2;
    let token = min(first_token + tile_row_2, n_tokens - 1u);
    tokens[to_2] = x[token * 1728u + quad_2];
    let i_3 = tid + 256u;
    let tile_row_3 = i_3 / 8u;
    let in_block_3 = i_3 % 8u;
    let quad_3 = block * 8u + in_block_3;
    let to_3 = in_block_3 * 64u + tile_row_3;
    let token_1 = min(first_token + tile_row_3, n_tokens - 1u);
    tokens[to_3] = x[token_1 * 1728u + quad_3];
    workgroupBarrier();
    for (var k = 0u; k < 8u; k += 1u) {
      let x4 = tokens[k * 64u + my_token + 0u];
      let x4_1 = tokens[k * 64u + my_token + 16u];
      let x4_2 = tokens[k * 64u + my_token + 32u];
      let x4_3 = tokens[k * 64u + my_token + 48u];
      let w4 = weights[k * 64u + my_row + 0u];
      acc += dot(w4, x4);
      acc_1 += dot(w4, x4_1);
      acc_2 += dot(w4, x4_2);
      acc_3 += dot(w4, x4_3);
      let w4_1 = weights[k * 64u + my_row + 16u];
      acc_4 += dot(w4_1, x4);
      acc_5 += dot(w4_1, x4_1);
      acc_6 += dot(w4_1, x4_2);
      acc_7 += dot(w4_1, x4_3);
      let w4_2 = weights[k * 64u + my_row + 32u];
      acc_8 += dot(w4_2, x4);
      acc_9 += dot(w4_2, x4_1);
      acc_10 += dot(w4_2, x4_2);
      acc_11 += dot(w4_2, x4_3);
      let w4_3 = weights[k * 64u + my_row + 48u];
      acc_12 += dot(w4_3, x4);
      acc_13 += dot(w4_3, x4_1);
      acc_14 += dot(w4_3, x4_2);
      acc_15 += dot(w4_3, x4_3);
    }
    workgroupBarrier();
  }
  let token_2 = first_token + my_token + 0u;
  if (token_2 < n_tokens) {
    let row_2 = first_row + my_row + 0u;
    if (row_2 < n_rows) {
      let index = token_2 * 2560u + range.first + row_2;
      y[index] += acc;
    }
    let row_3 = first_row + my_row + 16u;
    if (row_3 < n_rows) {
      let index_1 = token_2 * 2560u + range.first + row_3;
      y[index_1] += acc_4;
    }
    let row_4 = first_row + my_row + 32u;
    if (row_4 < n_rows) {
      let index_2 = token_2 * 2560u + range.first + row_4;
      y[index_2] += acc_8;
    }
    let row_5 = first_row + my_row + 48u;
    if (row_5 < n_rows) {
      let index_3 = token_2 * 2560u + range.first + row_5;
      y[index_3] += acc_12;
    }
  }
  let token_3 = first_token + my_token + 16u;
  if (token_3 < n_tokens) {
    let row_6 = first_row + my_row + 0u;
    if (row_6 < n_rows) {
      let index_4 = token_3 * 2560u + range.first + row_6;
      y[index_4] += acc_1;
    }
    let row_7 = first_row + my_row + 16u;
    if (row_7 < n_rows) {
      let index_5 = token_3 * 2560u + range.first + row_7;
      y[index_5] += acc_5;
    }
    let row_8 = first_row + my_row + 32u;
    if (row_8 < n_rows) {
      let index_6 = token_3 * 2560u + range.first + row_8;
      y[index_6] += acc_9;
    }
    let row_9 = first_row + my_row + 48u;
    if (row_9 < n_rows) {
      let index_7 = token_3 * 2560u + range.first + row_9;
      y[index_7] += acc_13;
    }
  }
  let token_4 = first_token + my_token + 32u;
  if (token_4 < n_tokens) {
    let row_10 = first_row + my_row + 0u;
    if (row_10 < n_rows) {
      let index_8 = token_4 * 2560u + range.first + row_10;
      y[index_8] += acc_2;
    }
    let row_11 = first_row + my_row + 16u;
    if (row_11 < n_rows) {
      let index_9 = token_4 * 2560u + range.first + row_11;
      y[index_9] += acc_6;
    }
    let row_12 = first_row + my_row + 32u;
    if (row_12 < n_rows) {
      let index_10 = token_4 * 2560u + range.first + row_12;
      y[index_10] += acc_10;
    }
    let row_13 = first_row + my_row + 48u;
    if (row_13 < n_rows) {
      let index_11 = token_4 * 2560u + range.first + row_13;
      y[index_11] += acc_14;
    }
  }
  let token_5 = first_token + my_token + 48u;
  if (token_5 < n_tokens) {
    let row_14 = first_row + my_row + 0u;
    if (row_14 < n_rows) {
      let index_12 = token_5 * 2560u + range.first + row_14;
      y[index_12] += acc_3;
    }
    let row_15 = first_row + my_row + 16u;
    if (row_15 < n_rows) {
      let index_13 = token_5 * 2560u + range.first + row_15;
      y[index_13] += acc_7;
    }
    let row_16 = first_row + my_row + 32u;
    if (row_16 < n_rows) {
      let index_14 = token_5 * 2560u + range.first + row_16;
      y[index_14] += acc_11;
    }
    let row_17 = first_row + my_row + 48u;
    if (row_17 < n_rows) {
      let index_15 = token_5 * 2560u + range.first + row_17;
      y[index_15] += acc_15;
    }
  }
}
