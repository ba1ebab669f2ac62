@group(0) @binding(0) var<storage, read> w_gate: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> gate_scales: array<u32>;
@group(0) @binding(2) var<storage, read> w_up: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> up_scales: array<u32>;
@group(0) @binding(4) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
fn dot4(a: u32, b: u32) -> i32 {
  let x_1 = bitcast<i32>(a);
  let y_1 = bitcast<i32>(b);
  let top = (x_1 >> 24u) * (y_1 >> 24u);
  let high = ((x_1 << 8u) >> 24u) * ((y_1 << 8u) >> 24u);
  let middle = ((x_1 << 16u) >> 24u) * ((y_1 << 16u) >> 24u);
  let low = ((x_1 << 24u) >> 24u) * ((y_1 << 24u) >> 24u);
  return top + high + middle + low;
}
var<workgroup> staged: array<vec4<u32>, 32>;
var<workgroup> runs: array<vec2<f32>, 16>;
var<workgroup> part: array<f32, 256>;
var<workgroup> part_1: array<f32, 256>;
var<workgroup> part_2: array<f32, 256>;
var<workgroup> part_5: array<f32, 256>;
var<workgroup> part_6: array<f32, 256>;

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
  let piece = tid + 0u;
  let last_piece = min(piece, 31u);
  let q = last_piece * 4u + 0u;
  let v = x[x_base + q];
  let value = v * gain[q];
  let q_1 = last_piece * 4u + 1u;
  let v_1 = x[x_base + q_1];
  let value_1 = v_1 * gain[q_1];
  let q_2 = last_piece * 4u + 2u;
  let v_2 = x[x_base + q_2];
  let value_2 = v_2 * gain[q_2];
  let q_3 = last_piece * 4u + 3u;
  let v_3 = x[x_base + q_3];
  let value_3 = v_3 * gain[q_3];
  if (piece < 32u) {
    squares += dot(v, v);
    squares += dot(v_1, v_1);
    squares += dot(v_2, v_2);
    squares += dot(v_3, v_3);
  }
  var most: f32 = 0f;
  let size = abs(value);
  most = max(most, max(max(size.x, size.y), max(size.z, size.w)));
  let size_1 = abs(value_1);
  most = max(most, max(max(size_1.x, size_1.y), max(size_1.z, size_1.w)));
  let size_2 = abs(value_2);
  most = max(most, max(max(size_2.x, size_2.y), max(size_2.z, size_2.w)));
  let size_3 = abs(value_3);
  most = max(most, max(max(size_3.x, size_3.y), max(size_3.z, size_3.w)));
  let of_piece = most;
  workgroupBarrier();
  part[tid] = of_piece;
  workgroupBarrier();
  let part_lane = tid & 1u;
  if (part_lane < 1u) {
    let a_1 = part[tid];
    let b_1 = part[tid + 1u];
    part[tid] = max(a_1, b_1);
  }
  workgroupBarrier();
  let sum = part[tid - part_lane];
  let scale_2 = sum / 127f;
  let to_int8 = select(0f, 127f / sum, sum > 1e-35f);
  var sum_of_piece: i32 = 0i;
  let q4 = vec4<i32>(round(value * to_int8));
  let packed = (((bitcast<u32>(q4.x) & 255u) | ((bitcast<u32>(q4.y) & 255u) << 8u)) | ((bitcast<u32>(q4.z) & 255u) << 16u)) | ((bitcast<u32>(q4.w) & 255u) << 24u);
  sum_of_piece += q4.x + q4.y + q4.z + q4.w;
  let q4_1 = vec4<i32>(round(value_1 * to_int8));
  let packed_1 = (((bitcast<u32>(q4_1.x) & 255u) | ((bitcast<u32>(q4_1.y) & 255u) << 8u)) | ((bitcast<u32>(q4_1.z) & 255u) << 16u)) | ((bitcast<u32>(q4_1.w) & 255u) << 24u);
  sum_of_piece += q4_1.x + q4_1.y + q4_1.z + q4_1.w;
  let q4_2 = vec4<i32>(round(value_2 * to_int8));
  let packed_2 = (((bitcast<u32>(q4_2.x) & 255u) | ((bitcast<u32>(q4_2.y) & 255u) << 8u)) | ((bitcast<u32>(q4_2.z) & 255u) << 16u)) | ((bitcast<u32>(q4_2.w) & 255u) << 24u);
  sum_of_piece += q4_2.x + q4_2.y + q4_2.z + q4_2.w;
  let q4_3 = vec4<i32>(round(value_3 * to_int8));
  let packed_3 = (((bitcast<u32>(q4_3.x) & 255u) | ((bitcast<u32>(q4_3.y) & 255u) << 8u)) | ((bitcast<u32>(q4_3.z) & 255u) << 16u)) | ((bitcast<u32>(q4_3.w) & 255u) << 24u);
  sum_of_piece += q4_3.x + q4_3.y + q4_3.z + q4_3.w;
  let sum_of_piece_1 = f32(sum_of_piece);
  workgroupBarrier();
  part_1[tid] = sum_of_piece_1;
  workgroupBarrier();
  let part_lane_1 = tid & 1u;
  if (part_lane_1 < 1u) {
    let a_2 = part_1[tid];
    let b_2 = part_1[tid + 1u];
    part_1[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  let sum_1 = part_1[tid - part_lane_1];
  if (piece < 32u) {
    staged[piece % 2u * 16u + piece / 2u] = vec4<u32>(packed, packed_1, packed_2, packed_3);
    if ((piece & 1u) == 0u) {
      let run_of_row = piece / 2u;
      let run_at = run_of_row % 1u * 16u + run_of_row / 1u;
      runs[run_at] = vec2<f32>(scale_2, sum_1);
    }
  }
  let my_squares = squares;
  workgroupBarrier();
  part_2[tid] = my_squares;
  workgroupBarrier();
  let part_lane_2 = tid & 255u;
  if (part_lane_2 < 128u) {
    let a_3 = part_2[tid];
    let b_3 = part_2[tid + 128u];
    part_2[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  if (part_lane_2 < 64u) {
    let a_4 = part_2[tid];
    let b_4 = part_2[tid + 64u];
    part_2[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  if (part_lane_2 < 32u) {
    let a_5 = part_2[tid];
    let b_5 = part_2[tid + 32u];
    part_2[tid] = a_5 + b_5;
  }
  workgroupBarrier();
  if (part_lane_2 < 16u) {
    let a_6 = part_2[tid];
    let b_6 = part_2[tid + 16u];
    part_2[tid] = a_6 + b_6;
  }
  workgroupBarrier();
  if (part_lane_2 < 8u) {
    let a_7 = part_2[tid];
    let b_7 = part_2[tid + 8u];
    part_2[tid] = a_7 + b_7;
  }
  workgroupBarrier();
  if (part_lane_2 < 4u) {
    let a_8 = part_2[tid];
    let b_8 = part_2[tid + 4u];
    part_2[tid] = a_8 + b_8;
  }
  workgroupBarrier();
  if (part_lane_2 < 2u) {
    let a_9 = part_2[tid];
    let b_9 = part_2[tid + 2u];
    part_2[tid] = a_9 + b_9;
  }
  workgroupBarrier();
  if (part_lane_2 < 1u) {
    let a_10 = part_2[tid];
    let b_10 = part_2[tid + 1u];
    part_2[tid] = a_10 + b_10;
  }
  workgroupBarrier();
  let sum_2 = part_2[tid - part_lane_2];
  workgroupBarrier();
  let i_1 = lane_of_row + 0u;
  var part_3: f32 = 0f;
  var part_4: f32 = 0f;
  let x16 = staged[i_1 + 0u];
  let x4 = x16.x;
  let x4_1 = x16.y;
  let x4_2 = x16.z;
  let x4_3 = x16.w;
  let x16_1 = staged[i_1 + 16u];
  let x4_4 = x16_1.x;
  let x4_5 = x16_1.y;
  let x4_6 = x16_1.z;
  let x4_7 = x16_1.w;
  let run = runs[i_1 + 0u];
  var dot_of_bytes: i32 = 0i;
  let bytes = unit.x & 252645135u;
  dot_of_bytes = dot_of_bytes + dot4(bytes, x4);
  let bytes_1 = (unit.x >> 4u) & 252645135u;
  dot_of_bytes = dot_of_bytes + dot4(bytes_1, x4_1);
  let bytes_2 = unit.y & 252645135u;
  dot_of_bytes = dot_of_bytes + dot4(bytes_2, x4_2);
  let bytes_3 = (unit.y >> 4u) & 252645135u;
  dot_of_bytes = dot_of_bytes + dot4(bytes_3, x4_3);
  let bytes_4 = unit.z & 252645135u;
  dot_of_bytes = dot_of_bytes + dot4(bytes_4, x4_4);
  let bytes_5 = (unit.z >> 4u) & 252645135u;
  dot_of_bytes = dot_of_bytes + dot4(bytes_5, x4_5);
  let bytes_6 = unit.w & 252645135u;
  dot_of_bytes = dot_of_bytes + dot4(bytes_6, x4_6);
  let bytes_7 = (unit.w >> 4u) & 252645135u;
  dot_of_bytes = dot_of_bytes + dot4(bytes_7, x4_7);
  let int8_dot = f32(dot_of_bytes);
  part_3 += (int8_dot - 8f * run.y) * run.x;
  var dot_of_bytes_1: i32 = 0i;
  let bytes_8 = unit_1.x & 252645135u;
  dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_8, x4);
  let bytes_9 = (unit_1.x >> 4u) & 252645135u;
  dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_9, x4_1);
  let bytes_10 = unit_1.y & 252645135u;
  dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_10, x4_2);
  let bytes_11 = (unit_1.y >> 4u) & 252645135u;
  dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_11, x4_3);
  let bytes_12 = unit_1.z & 252645135u;
  dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_12, x4_4);
  let bytes_13 = (unit_1.z >> 4u) & 252645135u;
  dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_13, x4_5);
  let bytes_14 = unit_1.w & 252645135u;
  dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_14, x4_6);
  let bytes_15 = (unit_1.w >> 4u) & 252645135u;
  dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_15, x4_7);
  let int8_dot_1 = f32(dot_of_bytes_1);
  part_4 += (int8_dot_1 - 8f * run.y) * run.x;
  acc += part_3 * scale.x;
  acc_1 += part_4 * scale_1.x;
  let mine = acc;
  workgroupBarrier();
  part_5[tid] = mine;
  workgroupBarrier();
  let part_lane_3 = tid & 15u;
  if (part_lane_3 < 8u) {
    let a_11 = part_5[tid];
    let b_11 = part_5[tid + 8u];
    part_5[tid] = a_11 + b_11;
  }
  workgroupBarrier();
  if (part_lane_3 < 4u) {
    let a_12 = part_5[tid];
    let b_12 = part_5[tid + 4u];
    part_5[tid] = a_12 + b_12;
  }
  workgroupBarrier();
  if (part_lane_3 < 2u) {
    let a_13 = part_5[tid];
    let b_13 = part_5[tid + 2u];
    part_5[tid] = a_13 + b_13;
  }
  workgroupBarrier();
  if (part_lane_3 < 1u) {
    let a_14 = part_5[tid];
    let b_14 = part_5[tid + 1u];
    part_5[tid] = a_14 + b_14;
  }
  workgroupBarrier();
  let sum_3 = part_5[tid - part_lane_3];
  let mine_1 = acc_1;
  workgroupBarrier();
  part_6[tid] = mine_1;
  workgroupBarrier();
  let part_lane_4 = tid & 15u;
  if (part_lane_4 < 8u) {
    let a_15 = part_6[tid];
    let b_15 = part_6[tid + 8u];
    part_6[tid] = a_15 + b_15;
  }
  workgroupBarrier();
  if (part_lane_4 < 4u) {
    let a_16 = part_6[tid];
    let b_16 = part_6[tid + 4u];
    part_6[tid] = a_16 + b_16;
  }
  workgroupBarrier();
  if (part_lane_4 < 2u) {
    let a_17 = part_6[tid];
    let b_17 = part_6[tid + 2u];
    part_6[tid] = a_17 + b_17;
  }
  workgroupBarrier();
  if (part_lane_4 < 1u) {
    let a_18 = part_6[tid];
    let b_18 = part_6[tid + 1u];
    part_6[tid] = a_18 + b_18;
  }
  workgroupBarrier();
  let sum_4 = part_6[tid - part_lane_4];
  let factor = 1f / sqrt(sum_2 / 512f + 1e-05f);
  let normed = sum_3 * factor;
  let normed_1 = sum_4 * factor;
  if ((lane_of_row == 0u) && (row < 1536u)) {
    let index = wg.z * 1536u + row;
    let below = 1f + exp(min(-normed, 80f));
    y[index] = normed / below * normed_1;
  }
}
