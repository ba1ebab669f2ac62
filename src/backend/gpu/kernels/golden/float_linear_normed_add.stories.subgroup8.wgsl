@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> gain: array<vec4<f32>>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(4) var<uniform> range: range_fields;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
fn codes8_minus_128(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(255u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388736f);
}
var<workgroup> part_2: array<f32, 256>;
var<workgroup> part_3: array<f32, 256>;

@compute @workgroup_size(256)
fn float_linear_add(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 16u;
  let lane_of_row = tid & 15u;
  let first = (wg.y * n_wg.x + wg.x) * 16u + group;
  let row = first + 0u;
  let count = range.count;
  let last_row = count - 1u;
  let start = min(row, last_row) * 32u;
  let x_base = wg.z * 128u;
  var squares: f32 = 0f;
  var acc: f32 = 0f;
  let i = lane_of_row + 0u;
  let at = start + i;
  let unit = w[at];
  let block = at / 2u;
  let halves = scales[block / 2u] >> ((block & 1u) * 16u);
  let scale = unpack2x16float(halves);
  let i_1 = lane_of_row + 16u;
  let at_1 = start + i_1;
  let unit_1 = w[at_1];
  let block_1 = at_1 / 2u;
  let halves_1 = scales[block_1 / 2u] >> ((block_1 & 1u) * 16u);
  let scale_1 = unpack2x16float(halves_1);
  let i_2 = lane_of_row + 0u;
  var part: f32 = 0f;
  let x_at = i_2 * 4u;
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
  let i_3 = lane_of_row + 16u;
  var part_1: f32 = 0f;
  let x_at_1 = i_3 * 4u;
  let q_4 = x_at_1 + 0u;
  let v_4 = x[x_base + q_4];
  squares += dot(v_4, v_4);
  let x4_4 = v_4 * gain[q_4];
  part_1 += dot(codes8_minus_128(unit_1.x, 0u), x4_4);
  let q_5 = x_at_1 + 1u;
  let v_5 = x[x_base + q_5];
  squares += dot(v_5, v_5);
  let x4_5 = v_5 * gain[q_5];
  part_1 += dot(codes8_minus_128(unit_1.y, 0u), x4_5);
  let q_6 = x_at_1 + 2u;
  let v_6 = x[x_base + q_6];
  squares += dot(v_6, v_6);
  let x4_6 = v_6 * gain[q_6];
  part_1 += dot(codes8_minus_128(unit_1.z, 0u), x4_6);
  let q_7 = x_at_1 + 3u;
  let v_7 = x[x_base + q_7];
  squares += dot(v_7, v_7);
  let x4_7 = v_7 * gain[q_7];
  part_1 += dot(codes8_minus_128(unit_1.w, 0u), x4_7);
  acc += part_1 * scale_1.x;
  let mine = acc;
  workgroupBarrier();
  part_2[tid] = mine;
  workgroupBarrier();
  let part_lane = tid & 15u;
  if (part_lane < 8u) {
    let a = part_2[tid];
    let b = part_2[tid + 8u];
    part_2[tid] = a + b;
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_1 = part_2[tid];
    let b_1 = part_2[tid + 4u];
    part_2[tid] = a_1 + b_1;
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_2 = part_2[tid];
    let b_2 = part_2[tid + 2u];
    part_2[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_3 = part_2[tid];
    let b_3 = part_2[tid + 1u];
    part_2[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  let sum = part_2[tid - part_lane];
  let my_squares = squares;
  workgroupBarrier();
  part_3[tid] = my_squares;
  workgroupBarrier();
  let part_lane_1 = tid & 15u;
  if (part_lane_1 < 8u) {
    let a_4 = part_3[tid];
    let b_4 = part_3[tid + 8u];
    part_3[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  if (part_lane_1 < 4u) {
    let a_5 = part_3[tid];
    let b_5 = part_3[tid + 4u];
    part_3[tid] = a_5 + b_5;
  }
  workgroupBarrier();
  if (part_lane_1 < 2u) {
    let a_6 = part_3[tid];
    let b_6 = part_3[tid + 2u];
    part_3[tid] = a_6 + b_6;
  }
  workgroupBarrier();
  if (part_lane_1 < 1u) {
    let a_7 = part_3[tid];
    let b_7 = part_3[tid + 1u];
    part_3[tid] = a_7 + b_7;
  }
  workgroupBarrier();
  let sum_1 = part_3[tid - part_lane_1];
  let factor = 1f / sqrt(sum_1 / 512f + 1e-05f);
  let normed = sum * factor;
  if ((lane_of_row == 0u) && (row < count)) {
    let index = wg.z * 1536u + range.first + row;
    y[index] += normed;
  }
}
