@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(2) var<uniform> scales: scales_fields;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
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

@compute @workgroup_size(128)
fn ternary_matvec_add(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let x_base = wg.y * 97u;
  let group = tid / 8u;
  let lane_of_row = tid & 7u;
  let row = wg.x * 32u + 0u + group;
  let row_1 = wg.x * 32u + 16u + group;
  let start = row * 24u;
  let start_1 = row_1 * 24u;
  let i = lane_of_row + 0u;
  let w4 = w[start + i];
  let w4_1 = w[start_1 + i];
  let i_1 = lane_of_row + 8u;
  let w4_2 = w[start + i_1];
  let w4_3 = w[start_1 + i_1];
  let i_2 = lane_of_row + 16u;
  let w4_4 = w[start + i_2];
  let w4_5 = w[start_1 + i_2];
  var acc: i32 = 0i;
  var acc_1: i32 = 0i;
  let i_3 = lane_of_row + 0u;
  let q4 = x[x_base + ((i_3 >> 1u) * 8u + (i_3 & 1u)) + 0u];
  acc += dot4((w4.x >> 6u) & 0x03030303u, q4.x);
  acc_1 += dot4((w4_1.x >> 6u) & 0x03030303u, q4.x);
  acc += dot4((w4.y >> 6u) & 0x03030303u, q4.y);
  acc_1 += dot4((w4_1.y >> 6u) & 0x03030303u, q4.y);
  acc += dot4((w4.z >> 6u) & 0x03030303u, q4.z);
  acc_1 += dot4((w4_1.z >> 6u) & 0x03030303u, q4.z);
  acc += dot4((w4.w >> 6u) & 0x03030303u, q4.w);
  acc_1 += dot4((w4_1.w >> 6u) & 0x03030303u, q4.w);
  let q4_1 = x[x_base + ((i_3 >> 1u) * 8u + (i_3 & 1u)) + 2u];
  acc += dot4((w4.x >> 4u) & 0x03030303u, q4_1.x);
  acc_1 += dot4((w4_1.x >> 4u) & 0x03030303u, q4_1.x);
  acc += dot4((w4.y >> 4u) & 0x03030303u, q4_1.y);
  acc_1 += dot4((w4_1.y >> 4u) & 0x03030303u, q4_1.y);
  acc += dot4((w4.z >> 4u) & 0x03030303u, q4_1.z);
  acc_1 += dot4((w4_1.z >> 4u) & 0x03030303u, q4_1.z);
  acc += dot4((w4.w >> 4u) & 0x03030303u, q4_1.w);
  acc_1 += dot4((w4_1.w >> 4u) & 0x03030303u, q4_1.w);
  let q4_2 = x[x_base + ((i_3 >> 1u) * 8u + (i_3 & 1u)) + 4u];
  acc += dot4((w4.x >> 2u) & 0x03030303u, q4_2.x);
  acc_1 += dot4((w4_1.x >> 2u) & 0x03030303u, q4_2.x);
  acc += dot4((w4.y >> 2u) & 0x03030303u, q4_2.y);
  acc_1 += dot4((w4_1.y >> 2u) & 0x03030303u, q4_2.y);
  acc += dot4((w4.z >> 2u) & 0x03030303u, q4_2.z);
  acc_1 += dot4((w4_1.z >> 2u) & 0x03030303u, q4_2.z);
  acc += dot4((w4.w >> 2u) & 0x03030303u, q4_2.w);
  acc_1 += dot4((w4_1.w >> 2u) & 0x03030303u, q4_2.w);
  let q4_3 = x[x_base + ((i_3 >> 1u) * 8u + (i_3 & 1u)) + 6u];
  acc += dot4(w4.x & 0x03030303u, q4_3.x);
  acc_1 += dot4(w4_1.x & 0x03030303u, q4_3.x);
  acc += dot4(w4.y & 0x03030303u, q4_3.y);
  acc_1 += dot4(w4_1.y & 0x03030303u, q4_3.y);
  acc += dot4(w4.z & 0x03030303u, q4_3.z);
  acc_1 += dot4(w4_1.z & 0x03030303u, q4_3.z);
  acc += dot4(w4.w & 0x03030303u, q4_3.w);
  acc_1 += dot4(w4_1.w & 0x03030303u, q4_3.w);
  let i_4 = lane_of_row + 8u;
  let q4_4 = x[x_base + ((i_4 >> 1u) * 8u + (i_4 & 1u)) + 0u];
  acc += dot4((w4_2.x >> 6u) & 0x03030303u, q4_4.x);
  acc_1 += dot4((w4_3.x >> 6u) & 0x03030303u, q4_4.x);
  acc += dot4((w4_2.y >> 6u) & 0x03030303u, q4_4.y);
  acc_1 += dot4((w4_3.y >> 6u) & 0x03030303u, q4_4.y);
  acc += dot4((w4_2.z >> 6u) & 0x03030303u, q4_4.z);
  acc_1 += dot4((w4_3.z >> 6u) & 0x03030303u, q4_4.z);
  acc += dot4((w4_2.w >> 6u) & 0x03030303u, q4_4.w);
  acc_1 += dot4((w4_3.w >> 6u) & 0x03030303u, q4_4.w);
  let q4_5 = x[x_base + ((i_4 >> 1u) * 8u + (i_4 & 1u)) + 2u];
  acc += dot4((w4_2.x >> 4u) & 0x03030303u, q4_5.x);
  acc_1 += dot4((w4_3.x >> 4u) & 0x03030303u, q4_5.x);
  acc += dot4((w4_2.y >> 4u) & 0x03030303u, q4_5.y);
  acc_1 += dot4((w4_3.y >> 4u) & 0x03030303u, q4_5.y);
  acc += dot4((w4_2.z >> 4u) & 0x03030303u, q4_5.z);
  acc_1 += dot4((w4_3.z >> 4u) & 0x03030303u, q4_5.z);
  acc += dot4((w4_2.w >> 4u) & 0x03030303u, q4_5.w);
  acc_1 += dot4((w4_3.w >> 4u) & 0x03030303u, q4_5.w);
  let q4_6 = x[x_base + ((i_4 >> 1u) * 8u + (i_4 & 1u)) + 4u];
  acc += dot4((w4_2.x >> 2u) & 0x03030303u, q4_6.x);
  acc_1 += dot4((w4_3.x >> 2u) & 0x03030303u, q4_6.x);
  acc += dot4((w4_2.y >> 2u) & 0x03030303u, q4_6.y);
  acc_1 += dot4((w4_3.y >> 2u) & 0x03030303u, q4_6.y);
  acc += dot4((w4_2.z >> 2u) & 0x03030303u, q4_6.z);
  acc_1 += dot4((w4_3.z >> 2u) & 0x03030303u, q4_6.z);
  acc += dot4((w4_2.w >> 2u) & 0x03030303u, q4_6.w);
  acc_1 += dot4((w4_3.w >> 2u) & 0x03030303u, q4_6.w);
  let q4_7 = x[x_base + ((i_4 >> 1u) * 8u + (i_4 & 1u)) + 6u];
  acc += dot4(w4_2.x & 0x03030303u, q4_7.x);
  acc_1 += dot4(w4_3.x & 0x03030303u, q4_7.x);
  acc += dot4(w4_2.y & 0x03030303u, q4_7.y);
  acc_1 += dot4(w4_3.y & 0x03030303u, q4_7.y);
  acc += dot4(w4_2.z & 0x03030303u, q4_7.z);
  acc_1 += dot4(w4_3.z & 0x03030303u, q4_7.z);
  acc += dot4(w4_2.w & 0x03030303u, q4_7.w);
  acc_1 += dot4(w4_3.w & 0x03030303u, q4_7.w);
  let i_5 = lane_of_row + 16u;
  let q4_8 = x[x_base + ((i_5 >> 1u) * 8u + (i_5 & 1u)) + 0u];
  acc += dot4((w4_4.x >> 6u) & 0x03030303u, q4_8.x);
  acc_1 += dot4((w4_5.x >> 6u) & 0x03030303u, q4_8.x);
  acc += dot4((w4_4.y >> 6u) & 0x03030303u, q4_8.y);
  acc_1 += dot4((w4_5.y >> 6u) & 0x03030303u, q4_8.y);
  acc += dot4((w4_4.z >> 6u) & 0x03030303u, q4_8.z);
  acc_1 += dot4((w4_5.z >> 6u) & 0x03030303u, q4_8.z);
  acc += dot4((w4_4.w >> 6u) & 0x03030303u, q4_8.w);
  acc_1 += dot4((w4_5.w >> 6u) & 0x03030303u, q4_8.w);
  let q4_9 = x[x_base + ((i_5 >> 1u) * 8u + (i_5 & 1u)) + 2u];
  acc += dot4((w4_4.x >> 4u) & 0x03030303u, q4_9.x);
  acc_1 += dot4((w4_5.x >> 4u) & 0x03030303u, q4_9.x);
  acc += dot4((w4_4.y >> 4u) & 0x03030303u, q4_9.y);
  acc_1 += dot4((w4_5.y >> 4u) & 0x03030303u, q4_9.y);
  acc += dot4((w4_4.z >> 4u) & 0x03030303u, q4_9.z);
  acc_1 += dot4((w4_5.z >> 4u) & 0x03030303u, q4_9.z);
  acc += dot4((w4_4.w >> 4u) & 0x03030303u, q4_9.w);
  acc_1 += dot4((w4_5.w >> 4u) & 0x03030303u, q4_9.w);
  let q4_10 = x[x_base + ((i_5 >> 1u) * 8u + (i_5 & 1u)) + 4u];
  acc += dot4((w4_4.x >> 2u) & 0x03030303u, q4_10.x);
  acc_1 += dot4((w4_5.x >> 2u) & 0x03030303u, q4_10.x);
  acc += dot4((w4_4.y >> 2u) & 0x03030303u, q4_10.y);
  acc_1 += dot4((w4_5.y >> 2u) & 0x03030303u, q4_10.y);
  acc += dot4((w4_4.z >> 2u) & 0x03030303u, q4_10.z);
  acc_1 += dot4((w4_5.z >> 2u) & 0x03030303u, q4_10.z);
  acc += dot4((w4_4.w >> 2u) & 0x03030303u, q4_10.w);
  acc_1 += dot4((w4_5.w >> 2u) & 0x03030303u, q4_10.w);
  let q4_11 = x[x_base + ((i_5 >> 1u) * 8u + (i_5 & 1u)) + 6u];
  acc += dot4(w4_4.x & 0x03030303u, q4_11.x);
  acc_1 += dot4(w4_5.x & 0x03030303u, q4_11.x);
  acc += dot4(w4_4.y & 0x03030303u, q4_11.y);
  acc_1 += dot4(w4_5.y & 0x03030303u, q4_11.y);
  acc += dot4(w4_4.z & 0x03030303u, q4_11.z);
  acc_1 += dot4(w4_5.z & 0x03030303u, q4_11.z);
  acc += dot4(w4_4.w & 0x03030303u, q4_11.w);
  acc_1 += dot4(w4_5.w & 0x03030303u, q4_11.w);
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
  let x_meta = x[x_base + 96u];
  let x_scale = bitcast<f32>(x_meta.x);
  let x_sum = bitcast<i32>(x_meta.y);
  if (lane_of_row == 0u) {
    let value = f32(sum - x_sum) / x_scale * scales.a;
    let index = wg.y * 512u + row;
    let y_new = y[index] + value;
    y[index] = y_new;
    let value_1 = f32(sum_1 - x_sum) / x_scale * scales.a;
    let index_1 = wg.y * 512u + row_1;
    let y_new_1 = y[index_1] + value_1;
    y[index_1] = y_new_1;
  }
}
