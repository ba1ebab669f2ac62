enable subgroups;

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read> parts: array<u32>;
@group(0) @binding(2) var<storage, read_write> moments: array<f32>;
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
fn sample_moments(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
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
  let greatest_value = value_of(sum_7);
  var n_finite: f32 = f32();
  var sum_8: f32 = f32();
  var squares: f32 = f32();
  let end = min(wg.x * 1002u + 1002u, 128256u);
  for (var i = wg.x * 1002u + tid; i < end; i += 256u) {
    let key = key_of(logits[wg.y * 128256u + i]);
    if ((key > 8388607u) && (key < 4286578688u)) {
      let below_1 = greatest_value - value_of(key);
      n_finite += 1f;
      sum_8 += below_1;
      squares += below_1 * below_1;
    }
  }
  let moments_at = (wg.y * 128u + wg.x) * 3u;
  let my_n = n_finite;
  let sg_8 = subgroupShuffleXor(my_n, 16u);
  let sum_9 = my_n + sg_8;
  let sg_9 = subgroupShuffleXor(sum_9, 8u);
  let sum_10 = sum_9 + sg_9;
  let sg_10 = subgroupShuffleXor(sum_10, 4u);
  let sum_11 = sum_10 + sg_10;
  let sg_11 = subgroupShuffleXor(sum_11, 2u);
  let sum_12 = sum_11 + sg_11;
  let sg_12 = subgroupShuffleXor(sum_12, 1u);
  let sum_13 = sum_12 + sg_12;
  if ((tid & 31u) == 0u) {
    part_1[tid / 32u] = sum_13;
  }
  workgroupBarrier();
  let loaded_1 = part_1[tid & 7u];
  let sg_13 = subgroupShuffleXor(loaded_1, 4u);
  let sum_14 = loaded_1 + sg_13;
  let sg_14 = subgroupShuffleXor(sum_14, 2u);
  let sum_15 = sum_14 + sg_14;
  let sg_15 = subgroupShuffleXor(sum_15, 1u);
  let sum_16 = sum_15 + sg_15;
  let my_sum = sum_8;
  let sg_16 = subgroupShuffleXor(my_sum, 16u);
  let sum_17 = my_sum + sg_16;
  let sg_17 = subgroupShuffleXor(sum_17, 8u);
  let sum_18 = sum_17 + sg_17;
  let sg_18 = subgroupShuffleXor(sum_18, 4u);
  let sum_19 = sum_18 + sg_18;
  let sg_19 = subgroupShuffleXor(sum_19, 2u);
  let sum_20 = sum_19 + sg_19;
  let sg_20 = subgroupShuffleXor(sum_20, 1u);
  let sum_21 = sum_20 + sg_20;
  if ((tid & 31u) == 0u) {
    part_2[tid / 32u] = sum_21;
  }
  workgroupBarrier();
  let loaded_2 = part_2[tid & 7u];
  let sg_21 = subgroupShuffleXor(loaded_2, 4u);
  let sum_22 = loaded_2 + sg_21;
  let sg_22 = subgroupShuffleXor(sum_22, 2u);
  let sum_23 = sum_22 + sg_22;
  let sg_23 = subgroupShuffleXor(sum_23, 1u);
  let sum_24 = sum_23 + sg_23;
  let my_squares = squares;
  let sg_24 = subgroupShuffleXor(my_squares, 16u);
  let sum_25 = my_squares + sg_24;
  let sg_25 = subgroupShuffleXor(sum_25, 8u);
  let sum_26 = sum_25 + sg_25;
  let sg_26 = subgroupShuffleXor(sum_26, 4u);
  let sum_27 = sum_26 + sg_26;
  let sg_27 = subgroupShuffleXor(sum_27, 2u);
  let sum_28 = sum_27 + sg_27;
  let sg_28 = subgroupShuffleXor(sum_28, 1u);
  let sum_29 = sum_28 + sg_28;
  if ((tid & 31u) == 0u) {
    part_3[tid / 32u] = sum_29;
  }
  workgroupBarrier();
  let loaded_3 = part_3[tid & 7u];
  let sg_29 = subgroupShuffleXor(loaded_3, 4u);
  let sum_30 = loaded_3 + sg_29;
  let sg_30 = subgroupShuffleXor(sum_30, 2u);
  let sum_31 = sum_30 + sg_30;
  let sg_31 = subgroupShuffleXor(sum_31, 1u);
  let sum_32 = sum_31 + sg_31;
  if (tid == 0u) {
    moments[moments_at] = sum_16;
    moments[moments_at + 1u] = sum_24;
    moments[moments_at + 2u] = sum_32;
  }
}
