@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> gain: array<vec4<f32>>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(4) var<uniform> range: range_fields;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
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
var<workgroup> part_3: array<f32, 256>;

@compute @workgroup_size(256)
fn float_linear(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 16u;
  let lane_of_row = tid & 15u;
  let first = (wg.y * n_wg.x + wg.x) * 16u + group;
  let row = first + 0u;
  let count = range.count;
  let last_row = count - 1u;
  let start = min(row, last_row) * 4u;
  let x_base = wg.z * 128u;
  var acc: f32 = 0f;
  let i = min(lane_of_row + 0u, 3u);
  let at = start + i;
  let unit = w[at];
  let halves = scales[at / 2u] >> ((at & 1u) * 16u);
  let scale = unpack2x16float(halves);
  let piece = tid + 0u;
  let last_piece = min(piece, 31u);
  let q = last_piece * 4u + 0u;
  let v = x[x_base + q];
  let value = v;
  let q_1 = last_piece * 4u + 1u;
  let v_1 = x[x_base + q_1];
  let value_1 = v_1;
  let q_2 = last_piece * 4u + 2u;
  let v_2 = x[x_base + q_2];
  let value_2 = v_2;
  let q_3 = last_piece * 4u + 3u;
  let v_3 = x[x_base + q_3];
  let value_3 = v_3;
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
  let scale_1 = sum / 127f;
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
    staged[piece % 8u * 4u + piece / 8u] = vec4<u32>(packed, packed_1, packed_2, packed_3);
    if ((piece & 1u) == 0u) {
      let run_of_row = piece / 2u;
      let run_at = run_of_row % 4u * 4u + run_of_row / 4u;
      runs[run_at] = vec2<f32>(scale_1, sum_1);
    }
  }
  workgroupBarrier();
  let i_1 = lane_of_row + 0u;
  if (i_1 < 4u) {
    var part_2: f32 = 0f;
    let x16 = staged[i_1 + 0u];
    let x4 = x16.x;
    let x4_1 = x16.y;
    let x4_2 = x16.z;
    let x4_3 = x16.w;
    let x16_1 = staged[i_1 + 4u];
    let x4_4 = x16_1.x;
    let x4_5 = x16_1.y;
    let x4_6 = x16_1.z;
    let x4_7 = x16_1.w;
    let run = runs[i_1 + 0u];
    var dot_of_bytes: i32 = 0i;
    let bytes = unit.x & 16843009u;
    dot_of_bytes = dot_of_bytes + dot4(bytes, x4);
    let bytes_1 = (unit.x >> 1u) & 16843009u;
    dot_of_bytes = dot_of_bytes + dot4(bytes_1, x4_1);
    let bytes_2 = (unit.x >> 2u) & 16843009u;
    dot_of_bytes = dot_of_bytes + dot4(bytes_2, x4_2);
    let bytes_3 = (unit.x >> 3u) & 16843009u;
    dot_of_bytes = dot_of_bytes + dot4(bytes_3, x4_3);
    let bytes_4 = (unit.x >> 4u) & 16843009u;
    dot_of_bytes = dot_of_bytes + dot4(bytes_4, x4_4);
    let bytes_5 = (unit.x >> 5u) & 16843009u;
    dot_of_bytes = dot_of_bytes + dot4(bytes_5, x4_5);
    let bytes_6 = (unit.x >> 6u) & 16843009u;
    dot_of_bytes = dot_of_bytes + dot4(bytes_6, x4_6);
    let bytes_7 = (unit.x >> 7u) & 16843009u;
    dot_of_bytes = dot_of_bytes + dot4(bytes_7, x4_7);
    let int8_dot = f32(dot_of_bytes);
    part_2 += (run.y - 2f * int8_dot) * run.x;
    let x16_2 = staged[i_1 + 8u];
    let x4_8 = x16_2.x;
    let x4_9 = x16_2.y;
    let x4_10 = x16_2.z;
    let x4_11 = x16_2.w;
    let x16_3 = staged[i_1 + 12u];
    let x4_12 = x16_3.x;
    let x4_13 = x16_3.y;
    let x4_14 = x16_3.z;
    let x4_15 = x16_3.w;
    let run_1 = runs[i_1 + 4u];
    var dot_of_bytes_1: i32 = 0i;
    let bytes_8 = unit.y & 16843009u;
    dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_8, x4_8);
    let bytes_9 = (unit.y >> 1u) & 16843009u;
    dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_9, x4_9);
    let bytes_10 = (unit.y >> 2u) & 16843009u;
    dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_10, x4_10);
    let bytes_11 = (unit.y >> 3u) & 16843009u;
    dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_11, x4_11);
    let bytes_12 = (unit.y >> 4u) & 16843009u;
    dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_12, x4_12);
    let bytes_13 = (unit.y >> 5u) & 16843009u;
    dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_13, x4_13);
    let bytes_14 = (unit.y >> 6u) & 16843009u;
    dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_14, x4_14);
    let bytes_15 = (unit.y >> 7u) & 16843009u;
    dot_of_bytes_1 = dot_of_bytes_1 + dot4(bytes_15, x4_15);
    let int8_dot_1 = f32(dot_of_bytes_1);
    part_2 += (run_1.y - 2f * int8_dot_1) * run_1.x;
    let x16_4 = staged[i_1 + 16u];
    let x4_16 = x16_4.x;
    let x4_17 = x16_4.y;
    let x4_18 = x16_4.z;
    let x4_19 = x16_4.w;
    let x16_5 = staged[i_1 + 20u];
    let x4_20 = x16_5.x;
    let x4_21 = x16_5.y;
    let x4_22 = x16_5.z;
    let x4_23 = x16_5.w;
    let run_2 = runs[i_1 + 8u];
    var dot_of_bytes_2: i32 = 0i;
    let bytes_16 = unit.z & 16843009u;
    dot_of_bytes_2 = dot_of_bytes_2 + dot4(bytes_16, x4_16);
    let bytes_17 = (unit.z >> 1u) & 16843009u;
    dot_of_bytes_2 = dot_of_bytes_2 + dot4(bytes_17, x4_17);
    let bytes_18 = (unit.z >> 2u) & 16843009u;
    dot_of_bytes_2 = dot_of_bytes_2 + dot4(bytes_18, x4_18);
    let bytes_19 = (unit.z >> 3u) & 16843009u;
    dot_of_bytes_2 = dot_of_bytes_2 + dot4(bytes_19, x4_19);
    let bytes_20 = (unit.z >> 4u) & 16843009u;
    dot_of_bytes_2 = dot_of_bytes_2 + dot4(bytes_20, x4_20);
    let bytes_21 = (unit.z >> 5u) & 16843009u;
    dot_of_bytes_2 = dot_of_bytes_2 + dot4(bytes_21, x4_21);
    let bytes_22 = (unit.z >> 6u) & 16843009u;
    dot_of_bytes_2 = dot_of_bytes_2 + dot4(bytes_22, x4_22);
    let bytes_23 = (unit.z >> 7u) & 16843009u;
    dot_of_bytes_2 = dot_of_bytes_2 + dot4(bytes_23, x4_23);
    let int8_dot_2 = f32(dot_of_bytes_2);
    part_2 += (run_2.y - 2f * int8_dot_2) * run_2.x;
    let x16_6 = staged[i_1 + 24u];
    let x4_24 = x16_6.x;
    let x4_25 = x16_6.y;
    let x4_26 = x16_6.z;
    let x4_27 = x16_6.w;
    let x16_7 = staged[i_1 + 28u];
    let x4_28 = x16_7.x;
    let x4_29 = x16_7.y;
    let x4_30 = x16_7.z;
    let x4_31 = x16_7.w;
    let run_3 = runs[i_1 + 12u];
    var dot_of_bytes_3: i32 = 0i;
    let bytes_24 = unit.w & 16843009u;
    dot_of_bytes_3 = dot_of_bytes_3 + dot4(bytes_24, x4_24);
    let bytes_25 = (unit.w >> 1u) & 16843009u;
    dot_of_bytes_3 = dot_of_bytes_3 + dot4(bytes_25, x4_25);
    let bytes_26 = (unit.w >> 2u) & 16843009u;
    dot_of_bytes_3 = dot_of_bytes_3 + dot4(bytes_26, x4_26);
    let bytes_27 = (unit.w >> 3u) & 16843009u;
    dot_of_bytes_3 = dot_of_bytes_3 + dot4(bytes_27, x4_27);
    let bytes_28 = (unit.w >> 4u) & 16843009u;
    dot_of_bytes_3 = dot_of_bytes_3 + dot4(bytes_28, x4_28);
    let bytes_29 = (unit.w >> 5u) & 16843009u;
    dot_of_bytes_3 = dot_of_bytes_3 + dot4(bytes_29, x4_29);
    let bytes_30 = (unit.w >> 6u) & 16843009u;
    dot_of_bytes_3 = dot_of_bytes_3 + dot4(bytes_30, x4_30);
    let bytes_31 = (unit.w >> 7u) & 16843009u;
    dot_of_bytes_3 = dot_of_bytes_3 + dot4(bytes_31, x4_31);
    let int8_dot_3 = f32(dot_of_bytes_3);
    part_2 += (run_3.y - 2f * int8_dot_3) * run_3.x;
    acc += part_2 * scale.x;
  }
  let mine = acc;
  workgroupBarrier();
  part_3[tid] = mine;
  workgroupBarrier();
  let part_lane_2 = tid & 15u;
  if (part_lane_2 < 8u) {
    let a_3 = part_3[tid];
    let b_3 = part_3[tid + 8u];
    part_3[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  if (part_lane_2 < 4u) {
    let a_4 = part_3[tid];
    let b_4 = part_3[tid + 4u];
    part_3[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  if (part_lane_2 < 2u) {
    let a_5 = part_3[tid];
    let b_5 = part_3[tid + 2u];
    part_3[tid] = a_5 + b_5;
  }
  workgroupBarrier();
  if (part_lane_2 < 1u) {
    let a_6 = part_3[tid];
    let b_6 = part_3[tid + 1u];
    part_3[tid] = a_6 + b_6;
  }
  workgroupBarrier();
  let sum_2 = part_3[tid - part_lane_2];
  if ((lane_of_row == 0u) && (row < count)) {
    let index = wg.z * 1536u + range.first + row;
    y[index] = sum_2;
  }
}
