enable subgroups;

@group(0) @binding(0) var<storage, read> parts: array<u32>;
@group(0) @binding(1) var<storage, read> moments: array<f32>;
@group(0) @binding(2) var<storage, read> deviations: array<f32>;
@group(0) @binding(3) var<storage, read_write> state: array<u32>;
fn key_of(a: u32) -> u32 {
  let b = select(a, 0u, a == 2147483648u);
  let order = select(b | 2147483648u, ~b, b >= 2147483648u);
  return select(order, 0u, (a & 2147483647u) > 2139095040u);
}
fn value_of(a_1: u32) -> f32 {
  return bitcast<f32>(select(~a_1, a_1 ^ 2147483648u, a_1 >= 2147483648u));
}
fn weight_of(a_2: u32, b_1: u32, c: f32) -> f32 {
  let below = value_of(a_2) - value_of(b_1);
  let w = exp(max(below / c, -200f));
  let none = (a_2 <= 8388607u) || (b_1 == 4286578688u);
  return select(select(w, 0f, none), 1f, a_2 == b_1);
}
fn drawn_weight(a_3: u32, b_2: u32, c_1: f32, d: f32) -> f32 {
  let w_1 = weight_of(a_3, b_2, c_1);
  return select(w_1, 0f, weight_of(a_3, b_2, 1f) < d);
}
var<workgroup> part: array<u32, 8>;
var<workgroup> part_1: array<f32, 8>;
var<workgroup> part_2: array<f32, 8>;
var<workgroup> part_3: array<f32, 8>;

@compute @workgroup_size(256)
fn sample_floor(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let parts_of_row = wg.y * 512u;
  var mine: u32 = u32();
  if (tid < 128u) {
    mine = parts[parts_of_row + tid * 4u + 0u];
  }
  let part_greatest = mine;
  let sg = subgroupShuffleXor(part_greatest, 16u);
  let sum = max(part_greatest, sg);
  let sg_1 = subgroupShuffleXor(sum, 8u);
  let sum_1 = max(sum, sg_1);
  let sg_2 = subgroupShuffleXor(sum_1, 4u);
  let sum_2 = max(sum_1, sg_2);
  let sg_3 = subgroupShuffleXor(sum_2, 2u);
  let sum_3 = max(sum_2, sg_3);
  let sg_4 = subgroupShuffleXor(sum_3, 1u);
  let sum_4 = max(sum_3, sg_4);
  if ((tid & 31u) == 0u) {
    part[tid / 32u] = sum_4;
  }
  workgroupBarrier();
  let loaded = part[tid & 7u];
  let sg_5 = subgroupShuffleXor(loaded, 4u);
  let sum_5 = max(loaded, sg_5);
  let sg_6 = subgroupShuffleXor(sum_5, 2u);
  let sum_6 = max(sum_5, sg_6);
  let sg_7 = subgroupShuffleXor(sum_6, 1u);
  let sum_7 = max(sum_6, sg_7);
  var part_n: f32 = f32();
  var part_sum: f32 = f32();
  var part_squares: f32 = f32();
  if (tid < 128u) {
    let moments_at = (wg.y * 128u + tid) * 3u;
    part_n = moments[moments_at];
    part_sum = moments[moments_at + 1u];
    part_squares = moments[moments_at + 2u];
  }
  let some_n = part_n;
  let sg_8 = subgroupShuffleXor(some_n, 16u);
  let sum_8 = some_n + sg_8;
  let sg_9 = subgroupShuffleXor(sum_8, 8u);
  let sum_9 = sum_8 + sg_9;
  let sg_10 = subgroupShuffleXor(sum_9, 4u);
  let sum_10 = sum_9 + sg_10;
  let sg_11 = subgroupShuffleXor(sum_10, 2u);
  let sum_11 = sum_10 + sg_11;
  let sg_12 = subgroupShuffleXor(sum_11, 1u);
  let sum_12 = sum_11 + sg_12;
  if ((tid & 31u) == 0u) {
    part_1[tid / 32u] = sum_12;
  }
  workgroupBarrier();
  let loaded_1 = part_1[tid & 7u];
  let sg_13 = subgroupShuffleXor(loaded_1, 4u);
  let sum_13 = loaded_1 + sg_13;
  let sg_14 = subgroupShuffleXor(sum_13, 2u);
  let sum_14 = sum_13 + sg_14;
  let sg_15 = subgroupShuffleXor(sum_14, 1u);
  let sum_15 = sum_14 + sg_15;
  let some_sum = part_sum;
  let sg_16 = subgroupShuffleXor(some_sum, 16u);
  let sum_16 = some_sum + sg_16;
  let sg_17 = subgroupShuffleXor(sum_16, 8u);
  let sum_17 = sum_16 + sg_17;
  let sg_18 = subgroupShuffleXor(sum_17, 4u);
  let sum_18 = sum_17 + sg_18;
  let sg_19 = subgroupShuffleXor(sum_18, 2u);
  let sum_19 = sum_18 + sg_19;
  let sg_20 = subgroupShuffleXor(sum_19, 1u);
  let sum_20 = sum_19 + sg_20;
  if ((tid & 31u) == 0u) {
    part_2[tid / 32u] = sum_20;
  }
  workgroupBarrier();
  let loaded_2 = part_2[tid & 7u];
  let sg_21 = subgroupShuffleXor(loaded_2, 4u);
  let sum_21 = loaded_2 + sg_21;
  let sg_22 = subgroupShuffleXor(sum_21, 2u);
  let sum_22 = sum_21 + sg_22;
  let sg_23 = subgroupShuffleXor(sum_22, 1u);
  let sum_23 = sum_22 + sg_23;
  let some_squares = part_squares;
  let sg_24 = subgroupShuffleXor(some_squares, 16u);
  let sum_24 = some_squares + sg_24;
  let sg_25 = subgroupShuffleXor(sum_24, 8u);
  let sum_25 = sum_24 + sg_25;
  let sg_26 = subgroupShuffleXor(sum_25, 4u);
  let sum_26 = sum_25 + sg_26;
  let sg_27 = subgroupShuffleXor(sum_26, 2u);
  let sum_27 = sum_26 + sg_27;
  let sg_28 = subgroupShuffleXor(sum_27, 1u);
  let sum_28 = sum_27 + sg_28;
  if ((tid & 31u) == 0u) {
    part_3[tid / 32u] = sum_28;
  }
  workgroupBarrier();
  let loaded_3 = part_3[tid & 7u];
  let sg_29 = subgroupShuffleXor(loaded_3, 4u);
  let sum_29 = loaded_3 + sg_29;
  let sg_30 = subgroupShuffleXor(sum_29, 2u);
  let sum_30 = sum_29 + sg_30;
  let sg_31 = subgroupShuffleXor(sum_30, 1u);
  let sum_31 = sum_30 + sg_31;
  if (tid == 0u) {
    let width = deviations[wg.y];
    let mean = sum_23 / max(sum_15, 1f);
    let variance = max(sum_31 / max(sum_15, 1f) - mean * mean, 0f);
    let least = value_of(sum_7) - width * sqrt(variance);
    let is_off = ((width <= 0f) || (sum_15 == 0f)) || (sum_7 == 4286578688u);
    let state_of_row = wg.y * 72u;
    state[state_of_row + 66u] = select(max(min(key_of(bitcast<u32>(least)), sum_7), 1u), 1u, is_off);
  }
}
