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
var<workgroup> part: array<u32, 256>;
var<workgroup> shares: array<f32, 256>;
var<workgroup> counts: array<f32, 256>;
var<workgroup> best: array<atomic<u32>, 1>;
var<workgroup> part_1: array<f32, 256>;
var<workgroup> part_2: array<u32, 256>;

@compute @workgroup_size(256)
fn sample_weigh_count(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  var mine: u32 = u32();
  if (tid < 128u) {
    mine = parts[tid * 4u + 0u];
  }
  let part_greatest = mine;
  workgroupBarrier();
  part[tid] = part_greatest;
  workgroupBarrier();
  let part_lane = tid & 255u;
  if (part_lane < 128u) {
    let a_4 = part[tid];
    let b_3 = part[tid + 128u];
    part[tid] = max(a_4, b_3);
  }
  workgroupBarrier();
  if (part_lane < 64u) {
    let a_5 = part[tid];
    let b_4 = part[tid + 64u];
    part[tid] = max(a_5, b_4);
  }
  workgroupBarrier();
  if (part_lane < 32u) {
    let a_6 = part[tid];
    let b_5 = part[tid + 32u];
    part[tid] = max(a_6, b_5);
  }
  workgroupBarrier();
  if (part_lane < 16u) {
    let a_7 = part[tid];
    let b_6 = part[tid + 16u];
    part[tid] = max(a_7, b_6);
  }
  workgroupBarrier();
  if (part_lane < 8u) {
    let a_8 = part[tid];
    let b_7 = part[tid + 8u];
    part[tid] = max(a_8, b_7);
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_9 = part[tid];
    let b_8 = part[tid + 4u];
    part[tid] = max(a_9, b_8);
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_10 = part[tid];
    let b_9 = part[tid + 2u];
    part[tid] = max(a_10, b_9);
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_11 = part[tid];
    let b_10 = part[tid + 1u];
    part[tid] = max(a_11, b_10);
  }
  workgroupBarrier();
  let sum = part[tid - part_lane];
  let last_level = 3u;
  let old_prefix = state[last_level * 8u + 0u];
  let old_rest = bitcast<f32>(state[last_level * 8u + 1u]);
  let old_above = bitcast<f32>(state[last_level * 8u + 2u]);
  let least = state[last_level * 8u + 3u];
  let floor_ties = bitcast<f32>(state[last_level * 8u + 4u]);
  let bin_at = (last_level * 256u + (255u - tid)) * 3u;
  let now = (atomicLoad(&hist[bin_at]));
  let now_1 = (atomicLoad(&hist[bin_at + 1u]));
  let now_2 = (atomicLoad(&hist[bin_at + 2u]));
  let share = f32(now_1) * 0.00012207031f + f32(now_2) * 1.4901161e-08f;
  var sum_1: f32 = share;
  shares[tid] = share;
  workgroupBarrier();
  if (tid >= 1u) {
    sum_1 += shares[tid - 1u];
  }
  workgroupBarrier();
  shares[tid] = sum_1;
  workgroupBarrier();
  if (tid >= 2u) {
    sum_1 += shares[tid - 2u];
  }
  workgroupBarrier();
  shares[tid] = sum_1;
  workgroupBarrier();
  if (tid >= 4u) {
    sum_1 += shares[tid - 4u];
  }
  workgroupBarrier();
  shares[tid] = sum_1;
  workgroupBarrier();
  if (tid >= 8u) {
    sum_1 += shares[tid - 8u];
  }
  workgroupBarrier();
  shares[tid] = sum_1;
  workgroupBarrier();
  if (tid >= 16u) {
    sum_1 += shares[tid - 16u];
  }
  workgroupBarrier();
  shares[tid] = sum_1;
  workgroupBarrier();
  if (tid >= 32u) {
    sum_1 += shares[tid - 32u];
  }
  workgroupBarrier();
  shares[tid] = sum_1;
  workgroupBarrier();
  if (tid >= 64u) {
    sum_1 += shares[tid - 64u];
  }
  workgroupBarrier();
  shares[tid] = sum_1;
  workgroupBarrier();
  if (tid >= 128u) {
    sum_1 += shares[tid - 128u];
  }
  workgroupBarrier();
  shares[tid] = sum_1;
  workgroupBarrier();
  let in_bin = f32(now);
  var sum_2: f32 = in_bin;
  counts[tid] = in_bin;
  workgroupBarrier();
  if (tid >= 1u) {
    sum_2 += counts[tid - 1u];
  }
  workgroupBarrier();
  counts[tid] = sum_2;
  workgroupBarrier();
  if (tid >= 2u) {
    sum_2 += counts[tid - 2u];
  }
  workgroupBarrier();
  counts[tid] = sum_2;
  workgroupBarrier();
  if (tid >= 4u) {
    sum_2 += counts[tid - 4u];
  }
  workgroupBarrier();
  counts[tid] = sum_2;
  workgroupBarrier();
  if (tid >= 8u) {
    sum_2 += counts[tid - 8u];
  }
  workgroupBarrier();
  counts[tid] = sum_2;
  workgroupBarrier();
  if (tid >= 16u) {
    sum_2 += counts[tid - 16u];
  }
  workgroupBarrier();
  counts[tid] = sum_2;
  workgroupBarrier();
  if (tid >= 32u) {
    sum_2 += counts[tid - 32u];
  }
  workgroupBarrier();
  counts[tid] = sum_2;
  workgroupBarrier();
  if (tid >= 64u) {
    sum_2 += counts[tid - 64u];
  }
  workgroupBarrier();
  counts[tid] = sum_2;
  workgroupBarrier();
  if (tid >= 128u) {
    sum_2 += counts[tid - 128u];
  }
  workgroupBarrier();
  counts[tid] = sum_2;
  workgroupBarrier();
  let is_any = now > 0u;
  let reached = counts[tid] >= old_rest;
  if (is_any) {
    let old = (atomicMax(&best[0u], select(tid + 1u, 512u - tid, reached)));
  }
  workgroupBarrier();
  let now_3 = (atomicLoad(&best[0u]));
  let found = now_3;
  let first = select(select(found - 1u, 0u, found == 0u), 512u - found, found > 256u);
  var counts_before: f32 = f32();
  if (first > 0u) {
    counts_before = counts[first - 1u];
  }
  let counts_before_1 = counts_before;
  var shares_before: f32 = f32();
  if (first > 0u) {
    shares_before = shares[first - 1u];
  }
  let shares_before_1 = shares_before;
  let prefix = (old_prefix << 8u) | (255u - first);
  let new_rest = old_rest - counts_before_1;
  let above = old_above + shares_before_1;
  let ties = u32(new_rest);
  if ((wg.x == 0u) && (tid == 0u)) {
    state[64u] = prefix;
    state[65u] = ties;
  }
  var sum_above: f32 = f32();
  var n_ties: u32 = u32();
  let end = min(wg.x * 64u + 64u, 8192u);
  for (var i = wg.x * 64u + tid; i < end; i += 256u) {
    let key = key_of(logits[i]);
    if (key > prefix) {
      sum_above += drawn_weight(key, sum, options.temperature, options.min_p);
    }
    if (key == prefix) {
      n_ties += 1u;
    }
  }
  let my_sum = sum_above;
  workgroupBarrier();
  part_1[tid] = my_sum;
  workgroupBarrier();
  let part_lane_1 = tid & 255u;
  if (part_lane_1 < 128u) {
    let a_12 = part_1[tid];
    let b_11 = part_1[tid + 128u];
    part_1[tid] = a_12 + b_11;
  }
  workgroupBarrier();
  if (part_lane_1 < 64u) {
    let a_13 = part_1[tid];
    let b_12 = part_1[tid + 64u];
    part_1[tid] = a_13 + b_12;
  }
  workgroupBarrier();
  if (part_lane_1 < 32u) {
    let a_14 = part_1[tid];
    let b_13 = part_1[tid + 32u];
    part_1[tid] = a_14 + b_13;
  }
  workgroupBarrier();
  if (part_lane_1 < 16u) {
    let a_15 = part_1[tid];
    let b_14 = part_1[tid + 16u];
    part_1[tid] = a_15 + b_14;
  }
  workgroupBarrier();
  if (part_lane_1 < 8u) {
    let a_16 = part_1[tid];
    let b_15 = part_1[tid + 8u];
    part_1[tid] = a_16 + b_15;
  }
  workgroupBarrier();
  if (part_lane_1 < 4u) {
    let a_17 = part_1[tid];
    let b_16 = part_1[tid + 4u];
    part_1[tid] = a_17 + b_16;
  }
  workgroupBarrier();
  if (part_lane_1 < 2u) {
    let a_18 = part_1[tid];
    let b_17 = part_1[tid + 2u];
    part_1[tid] = a_18 + b_17;
  }
  workgroupBarrier();
  if (part_lane_1 < 1u) {
    let a_19 = part_1[tid];
    let b_18 = part_1[tid + 1u];
    part_1[tid] = a_19 + b_18;
  }
  workgroupBarrier();
  let sum_3 = part_1[tid - part_lane_1];
  let my_ties = n_ties;
  workgroupBarrier();
  part_2[tid] = my_ties;
  workgroupBarrier();
  let part_lane_2 = tid & 255u;
  if (part_lane_2 < 128u) {
    let a_20 = part_2[tid];
    let b_19 = part_2[tid + 128u];
    part_2[tid] = a_20 + b_19;
  }
  workgroupBarrier();
  if (part_lane_2 < 64u) {
    let a_21 = part_2[tid];
    let b_20 = part_2[tid + 64u];
    part_2[tid] = a_21 + b_20;
  }
  workgroupBarrier();
  if (part_lane_2 < 32u) {
    let a_22 = part_2[tid];
    let b_21 = part_2[tid + 32u];
    part_2[tid] = a_22 + b_21;
  }
  workgroupBarrier();
  if (part_lane_2 < 16u) {
    let a_23 = part_2[tid];
    let b_22 = part_2[tid + 16u];
    part_2[tid] = a_23 + b_22;
  }
  workgroupBarrier();
  if (part_lane_2 < 8u) {
    let a_24 = part_2[tid];
    let b_23 = part_2[tid + 8u];
    part_2[tid] = a_24 + b_23;
  }
  workgroupBarrier();
  if (part_lane_2 < 4u) {
    let a_25 = part_2[tid];
    let b_24 = part_2[tid + 4u];
    part_2[tid] = a_25 + b_24;
  }
  workgroupBarrier();
  if (part_lane_2 < 2u) {
    let a_26 = part_2[tid];
    let b_25 = part_2[tid + 2u];
    part_2[tid] = a_26 + b_25;
  }
  workgroupBarrier();
  if (part_lane_2 < 1u) {
    let a_27 = part_2[tid];
    let b_26 = part_2[tid + 1u];
    part_2[tid] = a_27 + b_26;
  }
  workgroupBarrier();
  let sum_4 = part_2[tid - part_lane_2];
  if (tid == 0u) {
    parts[wg.x * 4u + 1u] = sum_4;
    parts[wg.x * 4u + 2u] = bitcast<u32>(sum_3);
  }
}
