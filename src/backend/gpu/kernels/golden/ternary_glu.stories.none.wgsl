@group(0) @binding(0) var<storage, read> w_gate: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> w_up: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> x: array<vec4<u32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(3) var<uniform> scales: scales_fields;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
fn dot4(a: u32, b: u32) -> i32 {
  let x_1 = bitcast<i32>(a);
  let y_1 = bitcast<i32>(b);
  let top = (x_1 >> 24u) * (y_1 >> 24u);
  let high = ((x_1 << 8u) >> 24u) * ((y_1 << 8u) >> 24u);
  let middle = ((x_1 << 16u) >> 24u) * ((y_1 << 16u) >> 24u);
  let low = ((x_1 << 24u) >> 24u) * ((y_1 << 24u) >> 24u);
  return top + high + middle + low;
}
var<workgroup> part: array<i32, 128>;
var<workgroup> part_1: array<i32, 128>;
var<workgroup> part_2: array<i32, 128>;
var<workgroup> part_3: array<i32, 128>;

@compute @workgroup_size(128)
fn ternary_glu(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let x_base = wg.y * 33u;
  let group = tid / 8u;
  let lane_of_row = tid & 7u;
  let row = wg.x * 32u + 0u + group;
  let row_1 = wg.x * 32u + 16u + group;
  let start = row * 8u;
  let start_1 = row_1 * 8u;
  let i = lane_of_row + 0u;
  let w4 = w_gate[start + i];
  let w4_1 = w_gate[start_1 + i];
  let w4_2 = w_up[start + i];
  let w4_3 = w_up[start_1 + i];
  var acc: i32 = 0i;
  var acc_1: i32 = 0i;
  var acc_2: i32 = 0i;
  var acc_3: i32 = 0i;
  let i_1 = lane_of_row + 0u;
  let q4 = x[x_base + ((i_1 >> 1u) * 8u + (i_1 & 1u)) + 0u];
  acc += dot4((w4.x >> 6u) & 0x03030303u, q4.x);
  acc_1 += dot4((w4_1.x >> 6u) & 0x03030303u, q4.x);
  acc_2 += dot4((w4_2.x >> 6u) & 0x03030303u, q4.x);
  acc_3 += dot4((w4_3.x >> 6u) & 0x03030303u, q4.x);
  acc += dot4((w4.y >> 6u) & 0x03030303u, q4.y);
  acc_1 += dot4((w4_1.y >> 6u) & 0x03030303u, q4.y);
  acc_2 += dot4((w4_2.y >> 6u) & 0x03030303u, q4.y);
  acc_3 += dot4((w4_3.y >> 6u) & 0x03030303u, q4.y);
  acc += dot4((w4.z >> 6u) & 0x03030303u, q4.z);
  acc_1 += dot4((w4_1.z >> 6u) & 0x03030303u, q4.z);
  acc_2 += dot4((w4_2.z >> 6u) & 0x03030303u, q4.z);
  acc_3 += dot4((w4_3.z >> 6u) & 0x03030303u, q4.z);
  acc += dot4((w4.w >> 6u) & 0x03030303u, q4.w);
  acc_1 += dot4((w4_1.w >> 6u) & 0x03030303u, q4.w);
  acc_2 += dot4((w4_2.w >> 6u) & 0x03030303u, q4.w);
  acc_3 += dot4((w4_3.w >> 6u) & 0x03030303u, q4.w);
  let q4_1 = x[x_base + ((i_1 >> 1u) * 8u + (i_1 & 1u)) + 2u];
  acc += dot4((w4.x >> 4u) & 0x03030303u, q4_1.x);
  acc_1 += dot4((w4_1.x >> 4u) & 0x03030303u, q4_1.x);
  acc_2 += dot4((w4_2.x >> 4u) & 0x03030303u, q4_1.x);
  acc_3 += dot4((w4_3.x >> 4u) & 0x03030303u, q4_1.x);
  acc += dot4((w4.y >> 4u) & 0x03030303u, q4_1.y);
  acc_1 += dot4((w4_1.y >> 4u) & 0x03030303u, q4_1.y);
  acc_2 += dot4((w4_2.y >> 4u) & 0x03030303u, q4_1.y);
  acc_3 += dot4((w4_3.y >> 4u) & 0x03030303u, q4_1.y);
  acc += dot4((w4.z >> 4u) & 0x03030303u, q4_1.z);
  acc_1 += dot4((w4_1.z >> 4u) & 0x03030303u, q4_1.z);
  acc_2 += dot4((w4_2.z >> 4u) & 0x03030303u, q4_1.z);
  acc_3 += dot4((w4_3.z >> 4u) & 0x03030303u, q4_1.z);
  acc += dot4((w4.w >> 4u) & 0x03030303u, q4_1.w);
  acc_1 += dot4((w4_1.w >> 4u) & 0x03030303u, q4_1.w);
  acc_2 += dot4((w4_2.w >> 4u) & 0x03030303u, q4_1.w);
  acc_3 += dot4((w4_3.w >> 4u) & 0x03030303u, q4_1.w);
  let q4_2 = x[x_base + ((i_1 >> 1u) * 8u + (i_1 & 1u)) + 4u];
  acc += dot4((w4.x >> 2u) & 0x03030303u, q4_2.x);
  acc_1 += dot4((w4_1.x >> 2u) & 0x03030303u, q4_2.x);
  acc_2 += dot4((w4_2.x >> 2u) & 0x03030303u, q4_2.x);
  acc_3 += dot4((w4_3.x >> 2u) & 0x03030303u, q4_2.x);
  acc += dot4((w4.y >> 2u) & 0x03030303u, q4_2.y);
  acc_1 += dot4((w4_1.y >> 2u) & 0x03030303u, q4_2.y);
  acc_2 += dot4((w4_2.y >> 2u) & 0x03030303u, q4_2.y);
  acc_3 += dot4((w4_3.y >> 2u) & 0x03030303u, q4_2.y);
  acc += dot4((w4.z >> 2u) & 0x03030303u, q4_2.z);
  acc_1 += dot4((w4_1.z >> 2u) & 0x03030303u, q4_2.z);
  acc_2 += dot4((w4_2.z >> 2u) & 0x03030303u, q4_2.z);
  acc_3 += dot4((w4_3.z >> 2u) & 0x03030303u, q4_2.z);
  acc += dot4((w4.w >> 2u) & 0x03030303u, q4_2.w);
  acc_1 += dot4((w4_1.w >> 2u) & 0x03030303u, q4_2.w);
  acc_2 += dot4((w4_2.w >> 2u) & 0x03030303u, q4_2.w);
  acc_3 += dot4((w4_3.w >> 2u) & 0x03030303u, q4_2.w);
  let q4_3 = x[x_base + ((i_1 >> 1u) * 8u + (i_1 & 1u)) + 6u];
  acc += dot4(w4.x & 0x03030303u, q4_3.x);
  acc_1 += dot4(w4_1.x & 0x03030303u, q4_3.x);
  acc_2 += dot4(w4_2.x & 0x03030303u, q4_3.x);
  acc_3 += dot4(w4_3.x & 0x03030303u, q4_3.x);
  acc += dot4(w4.y & 0x03030303u, q4_3.y);
  acc_1 += dot4(w4_1.y & 0x03030303u, q4_3.y);
  acc_2 += dot4(w4_2.y & 0x03030303u, q4_3.y);
  acc_3 += dot4(w4_3.y & 0x03030303u, q4_3.y);
  acc += dot4(w4.z & 0x03030303u, q4_3.z);
  acc_1 += dot4(w4_1.z & 0x03030303u, q4_3.z);
  acc_2 += dot4(w4_2.z & 0x03030303u, q4_3.z);
  acc_3 += dot4(w4_3.z & 0x03030303u, q4_3.z);
  acc += dot4(w4.w & 0x03030303u, q4_3.w);
  acc_1 += dot4(w4_1.w & 0x03030303u, q4_3.w);
  acc_2 += dot4(w4_2.w & 0x03030303u, q4_3.w);
  acc_3 += dot4(w4_3.w & 0x03030303u, q4_3.w);
  let mine = acc;
  workgroupBarrier();
  part[tid] = mine;
  workgroupBarrier();
  let part_lane = tid & 7u;
  if (part_lane < 4u) {
    let a_1 = part[tid];
    let b_1 = part[tid + 4u];
    part[tid] = a_1 + b_1;
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_2 = part[tid];
    let b_2 = part[tid + 2u];
    part[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_3 = part[tid];
    let b_3 = part[tid + 1u];
    part[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  let sum = part[tid - part_lane];
  let mine_1 = acc_1;
  workgroupBarrier();
  part_1[tid] = mine_1;
  workgroupBarrier();
  let part_lane_1 = tid & 7u;
  if (part_lane_1 < 4u) {
    let a_4 = part_1[tid];
    let b_4 = part_1[tid + 4u];
    part_1[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  if (part_lane_1 < 2u) {
    let a_5 = part_1[tid];
    let b_5 = part_1[tid + 2u];
    part_1[tid] = a_5 + b_5;
  }
  workgroupBarrier();
  if (part_lane_1 < 1u) {
    let a_6 = part_1[tid];
    let b_6 = part_1[tid + 1u];
    part_1[tid] = a_6 + b_6;
  }
  workgroupBarrier();
  let sum_1 = part_1[tid - part_lane_1];
  let mine_2 = acc_2;
  workgroupBarrier();
  part_2[tid] = mine_2;
  workgroupBarrier();
  let part_lane_2 = tid & 7u;
  if (part_lane_2 < 4u) {
    let a_7 = part_2[tid];
    let b_7 = part_2[tid + 4u];
    part_2[tid] = a_7 + b_7;
  }
  workgroupBarrier();
  if (part_lane_2 < 2u) {
    let a_8 = part_2[tid];
    let b_8 = part_2[tid + 2u];
    part_2[tid] = a_8 + b_8;
  }
  workgroupBarrier();
  if (part_lane_2 < 1u) {
    let a_9 = part_2[tid];
    let b_9 = part_2[tid + 1u];
    part_2[tid] = a_9 + b_9;
  }
  workgroupBarrier();
  let sum_2 = part_2[tid - part_lane_2];
  let mine_3 = acc_3;
  workgroupBarrier();
  part_3[tid] = mine_3;
  workgroupBarrier();
  let part_lane_3 = tid & 7u;
  if (part_lane_3 < 4u) {
    let a_10 = part_3[tid];
    let b_10 = part_3[tid + 4u];
    part_3[tid] = a_10 + b_10;
  }
  workgroupBarrier();
  if (part_lane_3 < 2u) {
    let a_11 = part_3[tid];
    let b_11 = part_3[tid + 2u];
    part_3[tid] = a_11 + b_11;
  }
  workgroupBarrier();
  if (part_lane_3 < 1u) {
    let a_12 = part_3[tid];
    let b_12 = part_3[tid + 1u];
    part_3[tid] = a_12 + b_12;
  }
  workgroupBarrier();
  let sum_3 = part_3[tid - part_lane_3];
  let x_meta = x[x_base + 32u];
  let x_scale = bitcast<f32>(x_meta.x);
  let x_sum = bitcast<i32>(x_meta.y);
  if (lane_of_row == 0u) {
    let gate = f32(sum - x_sum) / x_scale * scales.a;
    let up = f32(sum_2 - x_sum) / x_scale * scales.b;
    let positive = max(gate, 0f);
    let value = positive * positive * up;
    y[wg.y * 1536u + row] = value;
    let gate_1 = f32(sum_1 - x_sum) / x_scale * scales.a;
    let up_1 = f32(sum_3 - x_sum) / x_scale * scales.b;
    let positive_1 = max(gate_1, 0f);
    let value_1 = positive_1 * positive_1 * up_1;
    y[wg.y * 1536u + row_1] = value_1;
  }
}
