enable subgroups;

@group(0) @binding(0) var<storage, read> w_gate: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> gate_scales: array<u32>;
@group(0) @binding(2) var<storage, read> w_up: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> up_scales: array<u32>;
@group(0) @binding(4) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
var<workgroup> staged: array<vec4<f32>, 640>;
var<workgroup> part: array<f32, 8>;
fn codes4_minus_8(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388616f);
}

@compute @workgroup_size(256)
fn float_glu(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 16u;
  let lane_of_row = tid & 15u;
  let first = (wg.y * n_wg.x + wg.x) * 16u + group;
  let row = first + 0u;
  let last_row = 6911u;
  let start = min(row, last_row) * 80u;
  let x_base = wg.z * 640u;
  var squares: f32 = 0f;
  var acc: f32 = 0f;
  var acc_1: f32 = 0f;
  for (var q = tid; q < 640u; q += 256u) {
    let v = x[x_base + q];
    squares += dot(v, v);
    staged[q % 8u * 80u + q / 8u] = v * gain[q];
  }
  let my_squares = squares;
  let sg = subgroupShuffleXor(my_squares, 16u);
  let sum = my_squares + sg;
  let sg_1 = subgroupShuffleXor(sum, 8u);
  let sum_1 = sum + sg_1;
  let sg_2 = subgroupShuffleXor(sum_1, 4u);
  let sum_2 = sum_1 + sg_2;
  let sg_3 = subgroupShuffleXor(sum_2, 2u);
  let sum_3 = sum_2 + sg_3;
  let sg_4 = subgroupShuffleXor(sum_3, 1u);
  let sum_4 = sum_3 + sg_4;
  if ((tid & 31u) == 0u) {
    part[tid / 32u] = sum_4;
  }
  workgroupBarrier();
  let loaded = part[tid & 7u];
  let sg_5 = subgroupShuffleXor(loaded, 4u);
  let sum_5 = loaded + sg_5;
  let sg_6 = subgroupShuffleXor(sum_5, 2u);
  let sum_6 = sum_5 + sg_6;
  let sg_7 = subgroupShuffleXor(sum_6, 1u);
  let sum_7 = sum_6 + sg_7;
  workgroupBarrier();
  for (var i = lane_of_row; i < 80u; i += 16u) {
    let at = start + i;
    let unit = w_gate[at];
    let halves = gate_scales[at / 2u] >> ((at & 1u) * 16u);
    let scale = unpack2x16float(halves);
    let at_1 = start + i;
    let unit_1 = w_up[at_1];
    let halves_1 = up_scales[at_1 / 2u] >> ((at_1 & 1u) * 16u);
    let scale_1 = unpack2x16float(halves_1);
    var part_1: f32 = 0f;
    var part_2: f32 = 0f;
    let x4 = staged[i + 0u];
    part_1 += dot(codes4_minus_8(unit.x, 0u), x4);
    part_2 += dot(codes4_minus_8(unit_1.x, 0u), x4);
    let x4_1 = staged[i + 80u];
    part_1 += dot(codes4_minus_8(unit.x, 4u), x4_1);
    part_2 += dot(codes4_minus_8(unit_1.x, 4u), x4_1);
    let x4_2 = staged[i + 160u];
    part_1 += dot(codes4_minus_8(unit.y, 0u), x4_2);
    part_2 += dot(codes4_minus_8(unit_1.y, 0u), x4_2);
    let x4_3 = staged[i + 240u];
    part_1 += dot(codes4_minus_8(unit.y, 4u), x4_3);
    part_2 += dot(codes4_minus_8(unit_1.y, 4u), x4_3);
    let x4_4 = staged[i + 320u];
    part_1 += dot(codes4_minus_8(unit.z, 0u), x4_4);
    part_2 += dot(codes4_minus_8(unit_1.z, 0u), x4_4);
    let x4_5 = staged[i + 400u];
    part_1 += dot(codes4_minus_8(unit.z, 4u), x4_5);
    part_2 += dot(codes4_minus_8(unit_1.z, 4u), x4_5);
    let x4_6 = staged[i + 480u];
    part_1 += dot(codes4_minus_8(unit.w, 0u), x4_6);
    part_2 += dot(codes4_minus_8(unit_1.w, 0u), x4_6);
    let x4_7 = staged[i + 560u];
    part_1 += dot(codes4_minus_8(unit.w, 4u), x4_7);
    part_2 += dot(codes4_minus_8(unit_1.w, 4u), x4_7);
    acc += part_1 * scale.x;
    acc_1 += part_2 * scale_1.x;
  }
  let mine = acc;
  let sg_8 = subgroupShuffleXor(mine, 8u);
  let sum_8 = mine + sg_8;
  let sg_9 = subgroupShuffleXor(sum_8, 4u);
  let sum_9 = sum_8 + sg_9;
  let sg_10 = subgroupShuffleXor(sum_9, 2u);
  let sum_10 = sum_9 + sg_10;
  let sg_11 = subgroupShuffleXor(sum_10, 1u);
  let sum_11 = sum_10 + sg_11;
  let mine_1 = acc_1;
  let sg_12 = subgroupShuffleXor(mine_1, 8u);
  let sum_12 = mine_1 + sg_12;
  let sg_13 = subgroupShuffleXor(sum_12, 4u);
  let sum_13 = sum_12 + sg_13;
  let sg_14 = subgroupShuffleXor(sum_13, 2u);
  let sum_14 = sum_13 + sg_14;
  let sg_15 = subgroupShuffleXor(sum_14, 1u);
  let sum_15 = sum_14 + sg_15;
  let factor = 1f / sqrt(sum_7 / 2560f + 1e-05f);
  let normed = sum_11 * factor;
  let normed_1 = sum_15 * factor;
  if ((lane_of_row == 0u) && (row < 6912u)) {
    let index = wg.z * 6912u + row;
    let below = 1f + exp(min(-normed, 80f));
    y[index] = normed / below * normed_1;
  }
}
