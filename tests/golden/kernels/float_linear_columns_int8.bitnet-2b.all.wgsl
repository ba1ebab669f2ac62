enable subgroups;
requires packed_4x8_integer_dot_product;

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> gain: array<vec4<f32>>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(4) var<uniform> range: range_fields;
@group(0) @binding(5) var<storage, read> params: array<u32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
var<workgroup> staged: array<vec4<u32>, 160>;
var<workgroup> runs: array<vec2<f32>, 80>;
var<workgroup> staged_1: array<vec4<u32>, 160>;
var<workgroup> runs_1: array<vec2<f32>, 80>;

@compute @workgroup_size(256)
fn float_linear_columns(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 16u;
  let lane_of_row = tid & 15u;
  let first = (wg.y * n_wg.x + wg.x) * 16u + group;
  let row = first + 0u;
  let count = range.count;
  let last_row = count - 1u;
  let start = min(row, last_row) * 160u;
  let list = params[1u];
  let n_rows = params[list - 1u];
  let last_x = n_rows - 1u;
  let x_row = wg.z * 2u + 0u;
  let from_x = min(x_row, last_x);
  let x_base = from_x * 640u;
  let x_row_1 = wg.z * 2u + 1u;
  let from_x_1 = min(x_row_1, last_x);
  let x_base_1 = from_x_1 * 640u;
  var acc: f32 = 0f;
  var acc_1: f32 = 0f;
  let piece = tid + 0u;
  let last_piece = min(piece, 159u);
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
  let sg = subgroupShuffleXor(of_piece, 1u);
  let sum = max(of_piece, sg);
  let scale = sum / 127f;
  let to_int8 = select(0f, 127f / sum, sum > 1e-35f);
  var sum_of_piece: i32 = 0i;
  let q4 = vec4<i32>(round(value * to_int8));
  let packed = pack4xI8(q4);
  let q4_1 = vec4<i32>(round(value_1 * to_int8));
  let packed_1 = pack4xI8(q4_1);
  let q4_2 = vec4<i32>(round(value_2 * to_int8));
  let packed_2 = pack4xI8(q4_2);
  let q4_3 = vec4<i32>(round(value_3 * to_int8));
  let packed_3 = pack4xI8(q4_3);
  let sum_of_piece_1 = f32(sum_of_piece);
  if (piece < 160u) {
    staged[piece % 1u * 160u + piece / 1u] = vec4<u32>(packed, packed_1, packed_2, packed_3);
    if ((piece & 1u) == 0u) {
      let run_of_row = piece / 2u;
      let run_at = run_of_row % 1u * 160u + run_of_row / 1u;
      runs[run_at] = vec2<f32>(scale, sum_of_piece_1);
    }
  }
  workgroupBarrier();
  let piece_1 = tid + 0u;
  let last_piece_1 = min(piece_1, 159u);
  let q_4 = last_piece_1 * 4u + 0u;
  let v_4 = x[x_base_1 + q_4];
  let value_4 = v_4;
  let q_5 = last_piece_1 * 4u + 1u;
  let v_5 = x[x_base_1 + q_5];
  let value_5 = v_5;
  let q_6 = last_piece_1 * 4u + 2u;
  let v_6 = x[x_base_1 + q_6];
  let value_6 = v_6;
  let q_7 = last_piece_1 * 4u + 3u;
  let v_7 = x[x_base_1 + q_7];
  let value_7 = v_7;
  var most_1: f32 = 0f;
  let size_4 = abs(value_4);
  most_1 = max(most_1, max(max(size_4.x, size_4.y), max(size_4.z, size_4.w)));
  let size_5 = abs(value_5);
  most_1 = max(most_1, max(max(size_5.x, size_5.y), max(size_5.z, size_5.w)));
  let size_6 = abs(value_6);
  most_1 = max(most_1, max(max(size_6.x, size_6.y), max(size_6.z, size_6.w)));
  let size_7 = abs(value_7);
  most_1 = max(most_1, max(max(size_7.x, size_7.y), max(size_7.z, size_7.w)));
  let of_piece_1 = most_1;
  let sg_1 = subgroupShuffleXor(of_piece_1, 1u);
  let sum_1 = max(of_piece_1, sg_1);
  let scale_1 = sum_1 / 127f;
  let to_int8_1 = select(0f, 127f / sum_1, sum_1 > 1e-35f);
  var sum_of_piece_2: i32 = 0i;
  let q4_4 = vec4<i32>(round(value_4 * to_int8_1));
  let packed_4 = pack4xI8(q4_4);
  let q4_5 = vec4<i32>(round(value_5 * to_int8_1));
  let packed_5 = pack4xI8(q4_5);
  let q4_6 = vec4<i32>(round(value_6 * to_int8_1));
  let packed_6 = pack4xI8(q4_6);
  let q4_7 = vec4<i32>(round(value_7 * to_int8_1));
  let packed_7 = pack4xI8(q4_7);
  let sum_of_piece_3 = f32(sum_of_piece_2);
  if (piece_1 < 160u) {
    staged_1[piece_1 % 1u * 160u + piece_1 / 1u] = vec4<u32>(packed_4, packed_5, packed_6, packed_7);
    if ((piece_1 & 1u) == 0u) {
      let run_of_row_1 = piece_1 / 2u;
      let run_at_1 = run_of_row_1 % 1u * 160u + run_of_row_1 / 1u;
      runs_1[run_at_1] = vec2<f32>(scale_1, sum_of_piece_3);
    }
  }
  workgroupBarrier();
  for (var i = lane_of_row; i < 160u; i += 16u) {
    let at = start + i;
    let unit = w[at];
    let block = at / 2u;
    let halves = scales[block / 2u] >> ((block & 1u) * 16u);
    let scale_2 = unpack2x16float(halves);
    var part: f32 = 0f;
    let x16 = staged[i + 0u];
    let x4 = x16.x;
    let x4_1 = x16.y;
    let x4_2 = x16.z;
    let x4_3 = x16.w;
    let run = runs[i / 2u];
    var dot_of_bytes: i32 = 0i;
    let bytes = unit.x ^ 2155905152u;
    dot_of_bytes = dot_of_bytes + dot4I8Packed(bytes, x4);
    let bytes_1 = unit.y ^ 2155905152u;
    dot_of_bytes = dot_of_bytes + dot4I8Packed(bytes_1, x4_1);
    let bytes_2 = unit.z ^ 2155905152u;
    dot_of_bytes = dot_of_bytes + dot4I8Packed(bytes_2, x4_2);
    let bytes_3 = unit.w ^ 2155905152u;
    dot_of_bytes = dot_of_bytes + dot4I8Packed(bytes_3, x4_3);
    let int8_dot = f32(dot_of_bytes);
    part += int8_dot * run.x;
    acc += part * scale_2.x;
    var part_1: f32 = 0f;
    let x16_1 = staged_1[i + 0u];
    let x4_4 = x16_1.x;
    let x4_5 = x16_1.y;
    let x4_6 = x16_1.z;
    let x4_7 = x16_1.w;
    let run_1 = runs_1[i / 2u];
    var dot_of_bytes_1: i32 = 0i;
    let bytes_4 = unit.x ^ 2155905152u;
    dot_of_bytes_1 = dot_of_bytes_1 + dot4I8Packed(bytes_4, x4_4);
    let bytes_5 = unit.y ^ 2155905152u;
    dot_of_bytes_1 = dot_of_bytes_1 + dot4I8Packed(bytes_5, x4_5);
    let bytes_6 = unit.z ^ 2155905152u;
    dot_of_bytes_1 = dot_of_bytes_1 + dot4I8Packed(bytes_6, x4_6);
    let bytes_7 = unit.w ^ 2155905152u;
    dot_of_bytes_1 = dot_of_bytes_1 + dot4I8Packed(bytes_7, x4_7);
    let int8_dot_1 = f32(dot_of_bytes_1);
    part_1 += int8_dot_1 * run_1.x;
    acc_1 += part_1 * scale_2.x;
  }
  let mine = acc;
  let sg_2 = subgroupShuffleXor(mine, 8u);
  let sum_2 = mine + sg_2;
  let sg_3 = subgroupShuffleXor(sum_2, 4u);
  let sum_3 = sum_2 + sg_3;
  let sg_4 = subgroupShuffleXor(sum_3, 2u);
  let sum_4 = sum_3 + sg_4;
  let sg_5 = subgroupShuffleXor(sum_4, 1u);
  let sum_5 = sum_4 + sg_5;
  let mine_1 = acc_1;
  let sg_6 = subgroupShuffleXor(mine_1, 8u);
  let sum_6 = mine_1 + sg_6;
  let sg_7 = subgroupShuffleXor(sum_6, 4u);
  let sum_7 = sum_6 + sg_7;
  let sg_8 = subgroupShuffleXor(sum_7, 2u);
  let sum_8 = sum_7 + sg_8;
  let sg_9 = subgroupShuffleXor(sum_8, 1u);
  let sum_9 = sum_8 + sg_9;
  if (((lane_of_row == 0u) && (row < count)) && (x_row < n_rows)) {
    let index = x_row * 6912u + range.first + row;
    y[index] = sum_5;
  }
  if (((lane_of_row == 0u) && (row < count)) && (x_row_1 < n_rows)) {
    let index_1 = x_row_1 * 6912u + range.first + row;
    y[index_1] = sum_9;
  }
}
