@group(0) @binding(0) var<storage, read> w_gate: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> gate_scales: array<u32>;
@group(0) @binding(2) var<storage, read> w_up: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> up_scales: array<u32>;
@group(0) @binding(4) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
var<workgroup> staged: array<vec4<f32>, 128>;
var<workgroup> part: array<f32, 256>;
fn codes4_minus_8(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388616f);
}
var<workgroup> part_3: array<f32, 256>;
var<workgroup> part_4: array<f32, 256>;

@compute @workgroup_size(256)
fn float_glu(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 16u;
  let lane_of_row = tid & 15u;
  let first = (wg.y * n_wg.x + wg.x) * 16u + group;
  let row = first + 0u;
  let last_row = 1535u;
  let start = min(row, last_row) * 16u;
  let x_base = wg.z * 128u;
  var squares: f32 = 0f;
  var acc: f32 = 0f;
  var acc_1: f32 = 0f;
  let i = lane_of_row + 0u;
  let at = start + i;
  let unit = w_gate[at];
  let halves = gate_scales[at / 2u] >> ((at & 1u) * 16u);
  let scale = unpack2x16float(halves);
  let at_1 = start + i;
  let unit_1 = w_up[at_1];
  let halves_1 = up_scales[at_1 / 2u] >> ((at_1 & 1u) * 16u);
  let scale_1 = unpack2x16float(halves_1);
  for (var q = tid; q < 128u; q += 256u) {
    let v = x[x_base + q];
    squares += dot(v, v);
    staged[q % 8u * 16u + q / 8u] = v * gain[q];
  }
  let my_squares = squares;
  workgroupBarrier();
  part[tid] = my_squares;
  workgroupBarrier();
  let part_lane = tid & 255u;
  if (part_lane < 128u) {
    let a = part[tid];
    let b = part[tid + 128u];
    part[tid] = a + b;
  }
  workgroupBarrier();
  if (part_lane < 64u) {
    let a_1 = part[tid];
    let b_1 = part[tid + 64u];
    part[tid] = a_1 + b_1;
  }
  workgroupBarrier();
  if (part_lane < 32u) {
    let a_2 = part[tid];
    let b_2 = part[tid + 32u];
    part[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  if (part_lane < 16u) {
    let a_3 = part[tid];
    let b_3 = part[tid + 16u];
    part[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  if (part_lane < 8u) {
    let a_4 = part[tid];
    let b_4 = part[tid + 8u];
    part[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_5 = part[tid];
    let b_5 = part[tid + 4u];
    part[tid] = a_5 + b_5;
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_6 = part[tid];
    let b_6 = part[tid + 2u];
    part[tid] = a_6 + b_6;
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_7 = part[tid];
    let b_7 = part[tid + 1u];
    part[tid] = a_7 + b_7;
  }
  workgroupBarrier();
  let sum = part[tid - part_lane];
  workgroupBarrier();
  let i_1 = lane_of_row + 0u;
  var part_1: f32 = 0f;
  var part_2: f32 = 0f;
  let x4 = staged[i_1 + 0u];
  part_1 += dot(codes4_minus_8(unit.x, 0u), x4);
  part_2 += dot(codes4_minus_8(unit_1.x, 0u), x4);
  let x4_1 = staged[i_1 + 16u];
  part_1 += dot(codes4_minus_8(unit.x, 4u), x4_1);
  part_2 += dot(codes4_minus_8(unit_1.x, 4u), x4_1);
  let x4_2 = staged[i_1 + 32u];
  part_1 += dot(codes4_minus_8(unit.y, 0u), x4_2);
  part_2 += dot(codes4_minus_8(unit_1.y, 0u), x4_2);
  let x4_3 = staged[i_1 + 48u];
  part_1 += dot(codes4_minus_8(unit.y, 4u), x4_3);
  part_2 += dot(codes4_minus_8(unit_1.y, 4u), x4_3);
  let x4_4 = staged[i_1 + 64u];
  part_1 += dot(codes4_minus_8(unit.z, 0u), x4_4);
  part_2 += dot(codes4_minus_8(unit_1.z, 0u), x4_4);
  let x4_5 = staged[i_1 + 80u];
  part_1 += dot(codes4_minus_8(unit.z, 4u), x4_5);
  part_2 += dot(codes4_minus_8(unit_1.z, 4u), x4_5);
  let x4_6 = staged[i_1 + 96u];
  part_1 += dot(codes4_minus_8(unit.w, 0u), x4_6);
  part_2 += dot(codes4_minus_8(unit_1.w, 0u), x4_6);
  let x4_7 = staged[i_1 + 112u];
  part_1 += dot(codes4_minus_8(unit.w, 4u), x4_7);
  part_2 += dot(codes4_minus_8(unit_1.w, 4u), x4_7);
  acc += part_1 * scale.x;
  acc_1 += part_2 * scale_1.x;
  let mine = acc;
  workgroupBarrier();
  part_3[tid] = mine;
  workgroupBarrier();
  let part_lane_1 = tid & 15u;
  if (part_lane_1 < 8u) {
    let a_8 = part_3[tid];
    let b_8 = part_3[tid + 8u];
    part_3[tid] = a_8 + b_8;
  }
  workgroupBarrier();
  if (part_lane_1 < 4u) {
    let a_9 = part_3[tid];
    let b_9 = part_3[tid + 4u];
    part_3[tid] = a_9 + b_9;
  }
  workgroupBarrier();
  if (part_lane_1 < 2u) {
    let a_10 = part_3[tid];
    let b_10 = part_3[tid + 2u];
    part_3[tid] = a_10 + b_10;
  }
  workgroupBarrier();
  if (part_lane_1 < 1u) {
    let a_11 = part_3[tid];
    let b_11 = part_3[tid + 1u];
    part_3[tid] = a_11 + b_11;
  }
  workgroupBarrier();
  let sum_1 = part_3[tid - part_lane_1];
  let mine_1 = acc_1;
  workgroupBarrier();
  part_4[tid] = mine_1;
  workgroupBarrier();
  let part_lane_2 = tid & 15u;
  if (part_lane_2 < 8u) {
    let a_12 = part_4[tid];
    let b_12 = part_4[tid + 8u];
    part_4[tid] = a_12 + b_12;
  }
  workgroupBarrier();
  if (part_lane_2 < 4u) {
    let a_13 = part_4[tid];
    let b_13 = part_4[tid + 4u];
    part_4[tid] = a_13 + b_13;
  }
  workgroupBarrier();
  if (part_lane_2 < 2u) {
    let a_14 = part_4[tid];
    let b_14 = part_4[tid + 2u];
    part_4[tid] = a_14 + b_14;
  }
  workgroupBarrier();
  if (part_lane_2 < 1u) {
    let a_15 = part_4[tid];
    let b_15 = part_4[tid + 1u];
    part_4[tid] = a_15 + b_15;
  }
  workgroupBarrier();
  let sum_2 = part_4[tid - part_lane_2];
  let factor = 1f / sqrt(sum / 512f + 1e-05f);
  let normed = sum_1 * factor;
  let normed_1 = sum_2 * factor;
  if ((lane_of_row == 0u) && (row < 1536u)) {
    let index = wg.z * 1536u + row;
    let below = 1f + exp(min(-normed, 80f));
    y[index] = normed / below * normed_1;
  }
}
