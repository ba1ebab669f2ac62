@group(0) @binding(0) var<storage, read> w_gate: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> gate_scales: array<u32>;
@group(0) @binding(2) var<storage, read> w_up: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> up_scales: array<u32>;
@group(0) @binding(4) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> params: array<u32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
fn signs(word: u32, at: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) << (vec4<u32>(31u, 23u, 15u, 7u) - vec4<u32>(at))) & vec4<u32>(2147483648u)) | vec4<u32>(1065353216u));
}
var<workgroup> gates: array<vec4<f32>, 256>;
var<workgroup> ups: array<vec4<f32>, 256>;
var<workgroup> tokens: array<vec4<f32>, 512>;

@compute @workgroup_size(256)
fn float_glu_matmul(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let n_rows = 2560u;
  let n_tokens = params[0u];
  let my_row = tid % 16u;
  let my_token = tid / 16u;
  let first_row = wg.x * 32u;
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
    let to = in_block * 32u + tile_row;
    let row = min(first_row + tile_row, n_rows - 1u);
    let at = row * 54u + quad / 32u;
    let unit = w_gate[at];
    let in_unit = quad % 32u;
    let quad_of_unit = in_unit + 0u;
    let word = unit[quad_of_unit / 8u];
    let value = signs(word, quad_of_unit % 8u * 1u);
    let halves = gate_scales[at / 2u] >> ((at & 1u) * 16u);
    let scale = unpack2x16float(halves);
    gates[to] = value * scale.x;
    let i_1 = tid + 0u;
    let tile_row_1 = i_1 / 8u;
    let in_block_1 = i_1 % 8u;
    let quad_1 = block * 8u + in_block_1;
    let to_1 = in_block_1 * 32u + tile_row_1;
    let row_1 = min(first_row + tile_row_1, n_rows - 1u);
    let at_1 = row_1 * 54u + quad_1 / 32u;
    let unit_1 = w_up[at_1];
    let in_unit_1 = quad_1 % 32u;
    let quad_of_unit_1 = in_unit_1 + 0u;
    let word_1 = unit_1[quad_of_unit_1 / 8u];
    let value_1 = signs(word_1, quad_of_unit_1 % 8u * 1u);
    let halves_1 = up_scales[at_1 / 2u] >> ((at_1 & 1u) * 16u);
    let scale_1 = unpack2x16float(halves_1);
    ups[to_1] = value_1 * scale_1.x;
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
      let w4 = gates[k * 32u + my_row + 0u];
      acc += dot(w4, x4);
      acc_1 += dot(w4, x4_1);
      acc_2 += dot(w4, x4_2);
      acc_3 += dot(w4, x4_3);
      let w4_1 = gates[k * 32u + my_row + 16u];
      acc_4 += dot(w4_1, x4);
      acc_5 += dot(w4_1, x4_1);
      acc_6 += dot(w4_1, x4_2);
      acc_7 += dot(w4_1, x4_3);
      let w4_2 = ups[k * 32u + my_row + 0u];
      acc_8 += dot(w4_2, x4);
      acc_9 += dot(w4_2, x4_1);
      acc_10 += dot(w4_2, x4_2);
      acc_11 += dot(w4_2, x4_3);
      let w4_3 = ups[k * 32u + my_row + 16u];
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
      let gate_sum = acc;
      let up_sum = acc_8;
      let below = 1f + exp(min(-gate_sum, 80f));
      y[token_2 * 2560u + row_2] = gate_sum / below * up_sum;
    }
    let row_3 = first_row + my_row + 16u;
    if (row_3 < n_rows) {
      let gate_sum_1 = acc_4;
      let up_sum_1 = acc_12;
      let below_1 = 1f + exp(min(-gate_sum_1, 80f));
      y[token_2 * 2560u + row_3] = gate_sum_1 / below_1 * up_sum_1;
    }
  }
  let token_3 = first_token + my_token + 16u;
  if (token_3 < n_tokens) {
    let row_4 = first_row + my_row + 0u;
    if (row_4 < n_rows) {
      let gate_sum_2 = acc_1;
      let up_sum_2 = acc_9;
      let below_2 = 1f + exp(min(-gate_sum_2, 80f));
      y[token_3 * 2560u + row_4] = gate_sum_2 / below_2 * up_sum_2;
    }
    let row_5 = first_row + my_row + 16u;
    if (row_5 < n_rows) {
      let gate_sum_3 = acc_5;
      let up_sum_3 = acc_13;
      let below_3 = 1f + exp(min(-gate_sum_3, 80f));
      y[token_3 * 2560u + row_5] = gate_sum_3 / below_3 * up_sum_3;
    }
  }
  let token_4 = first_token + my_token + 32u;
  if (token_4 < n_tokens) {
    let row_6 = first_row + my_row + 0u;
    if (row_6 < n_rows) {
      let gate_sum_4 = acc_2;
      let up_sum_4 = acc_10;
      let below_4 = 1f + exp(min(-gate_sum_4, 80f));
      y[token_4 * 2560u + row_6] = gate_sum_4 / below_4 * up_sum_4;
    }
    let row_7 = first_row + my_row + 16u;
    if (row_7 < n_rows) {
      let gate_sum_5 = acc_6;
      let up_sum_5 = acc_14;
      let below_5 = 1f + exp(min(-gate_sum_5, 80f));
      y[token_4 * 2560u + row_7] = gate_sum_5 / below_5 * up_sum_5;
    }
  }
  let token_5 = first_token + my_token + 48u;
  if (token_5 < n_tokens) {
    let row_8 = first_row + my_row + 0u;
    if (row_8 < n_rows) {
      let gate_sum_6 = acc_3;
      let up_sum_6 = acc_11;
      let below_6 = 1f + exp(min(-gate_sum_6, 80f));
      y[token_5 * 2560u + row_8] = gate_sum_6 / below_6 * up_sum_6;
    }
    let row_9 = first_row + my_row + 16u;
    if (row_9 < n_rows) {
      let gate_sum_7 = acc_7;
      let up_sum_7 = acc_15;
      let below_7 = 1f + exp(min(-gate_sum_7, 80f));
      y[token_5 * 2560u + row_9] = gate_sum_7 / below_7 * up_sum_7;
    }
  }
}
