enable subgroups;

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> bias: array<f32>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(5) var<uniform> range: range_fields;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
fn codes8_minus_128(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(255u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388736f);
}

@compute @workgroup_size(256)
fn float_linear_bias_add(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 16u;
  let lane_of_row = tid & 15u;
  let first = (wg.y * n_wg.x + wg.x) * 16u + group;
  let row = first + 0u;
  let count = range.count;
  let last_row = count - 1u;
  let start = min(row, last_row) * 160u;
  let x_base = wg.z * 640u;
  var squares: f32 = 0f;
  var acc: f32 = 0f;
  for (var i = lane_of_row; i < 160u; i += 16u) {
    let at = start + i;
    let unit = w[at];
    let block = at / 2u;
    let halves = scales[block / 2u] >> ((block & 1u) * 16u);
    let scale = unpack2x16float(halves);
    var part: f32 = 0f;
    let x_at = i * 4u;
    let q = x_at + 0u;
    let v = x[x_base + q];
    squares += dot(v, v);
    let x4 = v * gain[q];
    part += dot(codes8_minus_128(unit.x, 0u), x4);
    let q_1 = x_at + 1u;
    let v_1 = x[x_base + q_1];
    squares += dot(v_1, v_1);
    let x4_1 = v_1 * gain[q_1];
    part += dot(codes8_minus_128(unit.y, 0u), x4_1);
    let q_2 = x_at + 2u;
    let v_2 = x[x_base + q_2];
    squares += dot(v_2, v_2);
    let x4_2 = v_2 * gain[q_2];
    part += dot(codes8_minus_128(unit.z, 0u), x4_2);
    let q_3 = x_at + 3u;
    let v_3 = x[x_base + q_3];
    squares += dot(v_3, v_3);
    let x4_3 = v_3 * gain[q_3];
    part += dot(codes8_minus_128(unit.w, 0u), x4_3);
    acc += part * scale.x;
  }
  let mine = acc;
  let sg = subgroupShuffleXor(mine, 8u);
  let sum = mine + sg;
  let sg_1 = subgroupShuffleXor(sum, 4u);
  let sum_1 = sum + sg_1;
  let sg_2 = subgroupShuffleXor(sum_1, 2u);
  let sum_2 = sum_1 + sg_2;
  let sg_3 = subgroupShuffleXor(sum_2, 1u);
  let sum_3 = sum_2 + sg_3;
  let my_squares = squares;
  let sg_4 = subgroupShuffleXor(my_squares, 8u);
  let sum_4 = my_squares + sg_4;
  let sg_5 = subgroupShuffleXor(sum_4, 4u);
  let sum_5 = sum_4 + sg_5;
  let sg_6 = subgroupShuffleXor(sum_5, 2u);
  let sum_6 = sum_5 + sg_6;
  let sg_7 = subgroupShuffleXor(sum_6, 1u);
  let sum_7 = sum_6 + sg_7;
  let factor = 1f / sqrt(sum_7 / 2560f + 1e-05f);
  let normed = sum_3 * factor;
  if ((lane_of_row == 0u) && (row < count)) {
    let index = wg.z * 6912u + range.first + row;
    let biased = normed + bias[range.first + row];
    y[index] += biased;
  }
}
