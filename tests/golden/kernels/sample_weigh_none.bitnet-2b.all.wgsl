enable subgroups;

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read_write> parts: array<u32>;
@group(0) @binding(2) var<storage, read_write> hist: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> state: array<u32>;
@group(0) @binding(4) var<storage, read> options: array<vec4<f32>>;
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
var<workgroup> part_2: array<u32, 8>;

@compute @workgroup_size(256)
fn sample_weigh(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let row_options = options[wg.y];
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
  let hist_of_row = wg.y * 6144u;
  let state_of_row = wg.y * 72u;
  let cut = 0u;
  let ties = 0u;
  if ((wg.x == 0u) && (tid == 0u)) {
    state[state_of_row + 64u] = cut;
    state[state_of_row + 65u] = ties;
  }
  let temperature = row_options.x;
  let min_p = row_options.w;
  var sum_above: f32 = f32();
  var n_ties: u32 = u32();
  let end = min(wg.x * 1002u + 1002u, 128256u);
  for (var i = wg.x * 1002u + tid; i < end; i += 256u) {
    let key = key_of(logits[wg.y * 128256u + i]);
    if (key > cut) {
      sum_above += drawn_weight(key, sum_7, temperature, min_p);
    }
    if (key == cut) {
      n_ties += 1u;
    }
  }
  let my_sum = sum_above;
  let sg_8 = subgroupShuffleXor(my_sum, 16u);
  let sum_8 = my_sum + sg_8;
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
  let my_ties = n_ties;
  let sg_16 = subgroupShuffleXor(my_ties, 16u);
  let sum_16 = my_ties + sg_16;
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
  if (tid == 0u) {
    parts[parts_of_row + wg.x * 4u + 1u] = sum_23;
    parts[parts_of_row + wg.x * 4u + 2u] = bitcast<u32>(sum_15);
  }
}
