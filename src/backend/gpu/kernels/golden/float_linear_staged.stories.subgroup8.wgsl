enable subgroups;

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> gain: array<vec4<f32>>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(4) var<uniform> range: range_fields;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
var<workgroup> staged: array<vec4<f32>, 128>;
var<workgroup> part: array<f32, 32>;
fn codes4_minus_8(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388616f);
}
var<workgroup> part_2: array<f32, 256>;

@compute @workgroup_size(256)
fn float_linear(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 16u;
  let lane_of_row = tid & 15u;
  let first = (wg.y * n_wg.x + wg.x) * 16u + group;
  let row = first + 0u;
  let count = range.count;
  let last_row = count - 1u;
  let start = min(row, last_row) * 16u;
  let x_base = wg.z * 128u;
  var squares: f32 = 0f;
  var acc: f32 = 0f;
  let i = lane_of_row + 0u;
  let at = start + i;
  let unit = w[at];
  let halves = scales[at / 2u] >> ((at & 1u) * 16u);
  let scale = unpack2x16float(halves);
  for (var q = tid; q < 128u; q += 256u) {
    let v = x[x_base + q];
    squares += dot(v, v);
    staged[q % 8u * 16u + q / 8u] = v * gain[q];
  }
  let my_squares = squares;
  let sg = subgroupShuffleXor(my_squares, 4u);
  let sum = my_squares + sg;
  let sg_1 = subgroupShuffleXor(sum, 2u);
  let sum_1 = sum + sg_1;
  let sg_2 = subgroupShuffleXor(sum_1, 1u);
  let sum_2 = sum_1 + sg_2;
  if ((tid & 7u) == 0u) {
    part[tid / 8u] = sum_2;
  }
  workgroupBarrier();
  var total: f32 = part[0u];
  for (var i_1 = 1u; i_1 < 32u; i_1 += 1u) {
    let a = total;
    let b = part[i_1];
    total = a + b;
  }
  let reduced = total;
  workgroupBarrier();
  let i_2 = lane_of_row + 0u;
  var part_1: f32 = 0f;
  let x4 = staged[i_2 + 0u];
  part_1 += dot(codes4_minus_8(unit.x, 0u), x4);
  let x4_1 = staged[i_2 + 16u];
  part_1 += dot(codes4_minus_8(unit.x, 4u), x4_1);
  let x4_2 = staged[i_2 + 32u];
  part_1 += dot(codes4_minus_8(unit.y, 0u), x4_2);
  let x4_3 = staged[i_2 + 48u];
  part_1 += dot(codes4_minus_8(unit.y, 4u), x4_3);
  let x4_4 = staged[i_2 + 64u];
  part_1 += dot(codes4_minus_8(unit.z, 0u), x4_4);
  let x4_5 = staged[i_2 + 80u];
  part_1 += dot(codes4_minus_8(unit.z, 4u), x4_5);
  let x4_6 = staged[i_2 + 96u];
  part_1 += dot(codes4_minus_8(unit.w, 0u), x4_6);
  let x4_7 = staged[i_2 + 112u];
  part_1 += dot(codes4_minus_8(unit.w, 4u), x4_7);
  acc += part_1 * scale.x;
  let mine = acc;
  workgroupBarrier();
  part_2[tid] = mine;
  workgroupBarrier();
  let part_lane = tid & 15u;
  if (part_lane < 8u) {
    let a_1 = part_2[tid];
    let b_1 = part_2[tid + 8u];
    part_2[tid] = a_1 + b_1;
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_2 = part_2[tid];
    let b_2 = part_2[tid + 4u];
    part_2[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_3 = part_2[tid];
    let b_3 = part_2[tid + 2u];
    part_2[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_4 = part_2[tid];
    let b_4 = part_2[tid + 1u];
    part_2[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  let sum_3 = part_2[tid - part_lane];
  let factor = 1f / sqrt(reduced / 512f + 1e-05f);
  let normed = sum_3 * factor;
  if ((lane_of_row == 0u) && (row < count)) {
    let index = wg.z * 1536u + range.first + row;
    y[index] = normed;
  }
}
