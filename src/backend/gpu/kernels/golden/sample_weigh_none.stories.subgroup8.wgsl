enable subgroups;

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read_write> parts: array<u32>;
@group(0) @binding(2) var<storage, read_write> hist: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> state: array<u32>;
struct options_fields { temperature: f32, top_k: f32, top_p: f32, min_p: f32 }
@group(0) @binding(4) var<uniform> options: options_fields;
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
var<workgroup> part: array<u32, 32>;
var<workgroup> part_1: array<f32, 32>;
var<workgroup> part_2: array<u32, 32>;

@compute @workgroup_size(256)
fn sample_weigh(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  var mine: u32 = u32();
  if (tid < 128u) {
    mine = parts[tid * 4u + 0u];
  }
  let part_greatest = mine;
  let sg = subgroupShuffleXor(part_greatest, 4u);
  let sum = max(part_greatest, sg);
  let sg_1 = subgroupShuffleXor(sum, 2u);
  let sum_1 = max(sum, sg_1);
  let sg_2 = subgroupShuffleXor(sum_1, 1u);
  let sum_2 = max(sum_1, sg_2);
  if ((tid & 7u) == 0u) {
    part[tid / 8u] = sum_2;
  }
  workgroupBarrier();
  var total: u32 = part[0u];
  for (var i = 1u; i < 32u; i += 1u) {
    let a_4 = total;
    let b_3 = part[i];
    total = max(a_4, b_3);
  }
  let reduced = total;
  let cut = 0u;
  let ties = 0u;
  if ((wg.x == 0u) && (tid == 0u)) {
    state[64u] = cut;
    state[65u] = ties;
  }
  var sum_above: f32 = f32();
  var n_ties: u32 = u32();
  let end = min(wg.x * 64u + 64u, 8192u);
  for (var i_1 = wg.x * 64u + tid; i_1 < end; i_1 += 256u) {
    let key = key_of(logits[i_1]);
    if (key > cut) {
      sum_above += drawn_weight(key, reduced, options.temperature, options.min_p);
    }
    if (key == cut) {
      n_ties += 1u;
    }
  }
  let my_sum = sum_above;
  let sg_3 = subgroupShuffleXor(my_sum, 4u);
  let sum_3 = my_sum + sg_3;
  let sg_4 = subgroupShuffleXor(sum_3, 2u);
  let sum_4 = sum_3 + sg_4;
  let sg_5 = subgroupShuffleXor(sum_4, 1u);
  let sum_5 = sum_4 + sg_5;
  if ((tid & 7u) == 0u) {
    part_1[tid / 8u] = sum_5;
  }
  workgroupBarrier();
  var total_1: f32 = part_1[0u];
  for (var i_2 = 1u; i_2 < 32u; i_2 += 1u) {
    let a_5 = total_1;
    let b_4 = part_1[i_2];
    total_1 = a_5 + b_4;
  }
  let reduced_1 = total_1;
  let my_ties = n_ties;
  let sg_6 = subgroupShuffleXor(my_ties, 4u);
  let sum_6 = my_ties + sg_6;
  let sg_7 = subgroupShuffleXor(sum_6, 2u);
  let sum_7 = sum_6 + sg_7;
  let sg_8 = subgroupShuffleXor(sum_7, 1u);
  let sum_8 = sum_7 + sg_8;
  if ((tid & 7u) == 0u) {
    part_2[tid / 8u] = sum_8;
  }
  workgroupBarrier();
  var total_2: u32 = part_2[0u];
  for (var i_3 = 1u; i_3 < 32u; i_3 += 1u) {
    let a_6 = total_2;
    let b_5 = part_2[i_3];
    total_2 = a_6 + b_5;
  }
  let reduced_2 = total_2;
  if (tid == 0u) {
    parts[wg.x * 4u + 1u] = reduced_2;
    parts[wg.x * 4u + 2u] = bitcast<u32>(reduced_1);
  }
}
