enable subgroups;

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read> parts: array<u32>;
@group(0) @binding(2) var<storage, read> state: array<u32>;
@group(0) @binding(3) var<storage, read> draws: array<f32>;
@group(0) @binding(4) var<storage, read> options: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(6) var<storage, read_write> ids: array<u32>;
@group(0) @binding(7) var<storage, read_write> params: array<u32>;
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
var<workgroup> all_ties: array<u32, 256>;
var<workgroup> weights: array<f32, 256>;
var<workgroup> best: array<atomic<u32>, 1>;
var<workgroup> all_ties_1: array<u32, 256>;
var<workgroup> weights_1: array<f32, 256>;
var<workgroup> best_1: array<atomic<u32>, 1>;

@compute @workgroup_size(256)
fn sample_next(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let row_options = options[wg.y];
  let parts_of_row = wg.y * 512u;
  let state_of_row = wg.y * 72u;
  let logits_of_row = wg.y * 128256u;
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
  let cut = state[state_of_row + 64u];
  let ties_left = state[state_of_row + 65u];
  let temperature = row_options.x;
  let min_p = row_options.w;
  let tie_weight = drawn_weight(cut, sum_7, temperature, min_p);
  let step_now = params[2u] - 1u;
  let in_ring = step_now % 64u * params[0u] + wg.y;
  // The part of the vocabulary, one per invocation.
  var part_above: f32 = f32();
  var part_ties: u32 = u32();
  if (tid < 128u) {
    part_above = bitcast<f32>(parts[parts_of_row + tid * 4u + 2u]);
    part_ties = parts[parts_of_row + tid * 4u + 1u];
  }
  let my_above = part_above;
  let my_ties = part_ties;
  var sum_8: u32 = my_ties;
  all_ties[tid] = my_ties;
  workgroupBarrier();
  if (tid >= 1u) {
    sum_8 += all_ties[tid - 1u];
  }
  workgroupBarrier();
  all_ties[tid] = sum_8;
  workgroupBarrier();
  if (tid >= 2u) {
    sum_8 += all_ties[tid - 2u];
  }
  workgroupBarrier();
  all_ties[tid] = sum_8;
  workgroupBarrier();
  if (tid >= 4u) {
    sum_8 += all_ties[tid - 4u];
  }
  workgroupBarrier();
  all_ties[tid] = sum_8;
  workgroupBarrier();
  if (tid >= 8u) {
    sum_8 += all_ties[tid - 8u];
  }
  workgroupBarrier();
  all_ties[tid] = sum_8;
  workgroupBarrier();
  if (tid >= 16u) {
    sum_8 += all_ties[tid - 16u];
  }
  workgroupBarrier();
  all_ties[tid] = sum_8;
  workgroupBarrier();
  if (tid >= 32u) {
    sum_8 += all_ties[tid - 32u];
  }
  workgroupBarrier();
  all_ties[tid] = sum_8;
  workgroupBarrier();
  if (tid >= 64u) {
    sum_8 += all_ties[tid - 64u];
  }
  workgroupBarrier();
  all_ties[tid] = sum_8;
  workgroupBarrier();
  if (tid >= 128u) {
    sum_8 += all_ties[tid - 128u];
  }
  workgroupBarrier();
  all_ties[tid] = sum_8;
  workgroupBarrier();
  var ties_before: u32 = u32();
  if (tid > 0u) {
    ties_before = all_ties[tid - 1u];
  }
  let ties_before_1 = ties_before;
  let kept = min(my_ties, ties_left - min(ties_left, ties_before_1));
  let weight = my_above + f32(kept) * tie_weight;
  var sum_9: f32 = weight;
  weights[tid] = weight;
  workgroupBarrier();
  if (tid >= 1u) {
    sum_9 += weights[tid - 1u];
  }
  workgroupBarrier();
  weights[tid] = sum_9;
  workgroupBarrier();
  if (tid >= 2u) {
    sum_9 += weights[tid - 2u];
  }
  workgroupBarrier();
  weights[tid] = sum_9;
  workgroupBarrier();
  if (tid >= 4u) {
    sum_9 += weights[tid - 4u];
  }
  workgroupBarrier();
  weights[tid] = sum_9;
  workgroupBarrier();
  if (tid >= 8u) {
    sum_9 += weights[tid - 8u];
  }
  workgroupBarrier();
  weights[tid] = sum_9;
  workgroupBarrier();
  if (tid >= 16u) {
    sum_9 += weights[tid - 16u];
  }
  workgroupBarrier();
  weights[tid] = sum_9;
  workgroupBarrier();
  if (tid >= 32u) {
    sum_9 += weights[tid - 32u];
  }
  workgroupBarrier();
  weights[tid] = sum_9;
  workgroupBarrier();
  if (tid >= 64u) {
    sum_9 += weights[tid - 64u];
  }
  workgroupBarrier();
  weights[tid] = sum_9;
  workgroupBarrier();
  if (tid >= 128u) {
    sum_9 += weights[tid - 128u];
  }
  workgroupBarrier();
  weights[tid] = sum_9;
  workgroupBarrier();
  let all_weights = weights[255u];
  let aim = draws[in_ring] * all_weights;
  let reached = weights[tid] > aim;
  let has_weight = weight > 0f;
  if (has_weight) {
    let old = (atomicMax(&best[0u], select(tid + 1u, 512u - tid, reached)));
  }
  workgroupBarrier();
  let now = (atomicLoad(&best[0u]));
  let found = now;
  let first = select(select(found - 1u, 0u, found == 0u), 512u - found, found > 256u);
  var weight_before: f32 = f32();
  if (first > 0u) {
    weight_before = weights[first - 1u];
  }
  let weight_before_1 = weight_before;
  var run_ties_before: u32 = u32();
  if (first > 0u) {
    run_ties_before = all_ties[first - 1u];
  }
  let run_ties_before_1 = run_ties_before;
  let target_left = aim - weight_before_1;
  // The run of that part's tokens, one per invocation.
  let part_begin = first * 1002u;
  let part_end = min(part_begin + 1002u, 128256u);
  let first_token = part_begin + tid * 4u;
  let end_token = min(first_token + 4u, part_end);
  var run_above: f32 = f32();
  var run_ties: u32 = u32();
  for (var i = first_token; i < end_token; i += 1u) {
    let key = key_of(logits[logits_of_row + i]);
    if (key > cut) {
      run_above += drawn_weight(key, sum_7, temperature, min_p);
    }
    if (key == cut) {
      run_ties += 1u;
    }
  }
  let above = run_above;
  let ties = run_ties;
  let ties_here = ties_left - min(ties_left, run_ties_before_1);
  var sum_10: u32 = ties;
  all_ties_1[tid] = ties;
  workgroupBarrier();
  if (tid >= 1u) {
    sum_10 += all_ties_1[tid - 1u];
  }
  workgroupBarrier();
  all_ties_1[tid] = sum_10;
  workgroupBarrier();
  if (tid >= 2u) {
    sum_10 += all_ties_1[tid - 2u];
  }
  workgroupBarrier();
  all_ties_1[tid] = sum_10;
  workgroupBarrier();
  if (tid >= 4u) {
    sum_10 += all_ties_1[tid - 4u];
  }
  workgroupBarrier();
  all_ties_1[tid] = sum_10;
  workgroupBarrier();
  if (tid >= 8u) {
    sum_10 += all_ties_1[tid - 8u];
  }
  workgroupBarrier();
  all_ties_1[tid] = sum_10;
  workgroupBarrier();
  if (tid >= 16u) {
    sum_10 += all_ties_1[tid - 16u];
  }
  workgroupBarrier();
  all_ties_1[tid] = sum_10;
  workgroupBarrier();
  if (tid >= 32u) {
    sum_10 += all_ties_1[tid - 32u];
  }
  workgroupBarrier();
  all_ties_1[tid] = sum_10;
  workgroupBarrier();
  if (tid >= 64u) {
    sum_10 += all_ties_1[tid - 64u];
  }
  workgroupBarrier();
  all_ties_1[tid] = sum_10;
  workgroupBarrier();
  if (tid >= 128u) {
    sum_10 += all_ties_1[tid - 128u];
  }
  workgroupBarrier();
  all_ties_1[tid] = sum_10;
  workgroupBarrier();
  var ties_before_2: u32 = u32();
  if (tid > 0u) {
    ties_before_2 = all_ties_1[tid - 1u];
  }
  let ties_before_3 = ties_before_2;
  let kept_1 = min(ties, ties_here - min(ties_here, ties_before_3));
  let weight_1 = above + f32(kept_1) * tie_weight;
  var sum_11: f32 = weight_1;
  weights_1[tid] = weight_1;
  workgroupBarrier();
  if (tid >= 1u) {
    sum_11 += weights_1[tid - 1u];
  }
  workgroupBarrier();
  weights_1[tid] = sum_11;
  workgroupBarrier();
  if (tid >= 2u) {
    sum_11 += weights_1[tid - 2u];
  }
  workgroupBarrier();
  weights_1[tid] = sum_11;
  workgroupBarrier();
  if (tid >= 4u) {
    sum_11 += weights_1[tid - 4u];
  }
  workgroupBarrier();
  weights_1[tid] = sum_11;
  workgroupBarrier();
  if (tid >= 8u) {
    sum_11 += weights_1[tid - 8u];
  }
  workgroupBarrier();
  weights_1[tid] = sum_11;
  workgroupBarrier();
  if (tid >= 16u) {
    sum_11 += weights_1[tid - 16u];
  }
  workgroupBarrier();
  weights_1[tid] = sum_11;
  workgroupBarrier();
  if (tid >= 32u) {
    sum_11 += weights_1[tid - 32u];
  }
  workgroupBarrier();
  weights_1[tid] = sum_11;
  workgroupBarrier();
  if (tid >= 64u) {
    sum_11 += weights_1[tid - 64u];
  }
  workgroupBarrier();
  weights_1[tid] = sum_11;
  workgroupBarrier();
  if (tid >= 128u) {
    sum_11 += weights_1[tid - 128u];
  }
  workgroupBarrier();
  weights_1[tid] = sum_11;
  workgroupBarrier();
  let all_weights_1 = weights_1[255u];
  let reached_1 = weights_1[tid] > target_left;
  let has_weight_1 = weight_1 > 0f;
  if (has_weight_1) {
    let old_1 = (atomicMax(&best_1[0u], select(tid + 1u, 512u - tid, reached_1)));
  }
  workgroupBarrier();
  let now_1 = (atomicLoad(&best_1[0u]));
  let found_1 = now_1;
  let first_1 = select(select(found_1 - 1u, 0u, found_1 == 0u), 512u - found_1, found_1 > 256u);
  var weight_before_2: f32 = f32();
  if (first_1 > 0u) {
    weight_before_2 = weights_1[first_1 - 1u];
  }
  let weight_before_3 = weight_before_2;
  var run_ties_before_2: u32 = u32();
  if (first_1 > 0u) {
    run_ties_before_2 = all_ties_1[first_1 - 1u];
  }
  let run_ties_before_3 = run_ties_before_2;
  let target_left_1 = target_left - weight_before_3;
  // The token, by the invocation that has the run.
  if (tid == first_1) {
    var token: u32 = u32();
    var sum_12: f32 = f32();
    var n_ties: u32 = run_ties_before_3;
    var is_done: u32 = u32();
    for (var i_1 = first_token; i_1 < end_token; i_1 += 1u) {
      let key_1 = key_of(logits[logits_of_row + i_1]);
      var token_weight: f32 = f32();
      if (key_1 > cut) {
        token_weight = drawn_weight(key_1, sum_7, temperature, min_p);
      }
      if (key_1 == cut) {
        if (n_ties < ties_here) {
          token_weight = tie_weight;
        }
        n_ties += 1u;
      }
      if ((is_done == 0u) && (token_weight > 0f)) {
        token = i_1;
        sum_12 += token_weight;
        if (sum_12 > target_left_1) {
          is_done = 1u;
        }
      }
    }
    let chosen = token;
    tokens[wg.y] = chosen;
    ids[in_ring] = chosen;
    params[wg.y * 3u + 3u] += 1u;
  }
}
