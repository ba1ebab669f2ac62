enable subgroups;
requires packed_4x8_integer_dot_product;
diagnostic(off, subgroup_uniformity);

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> vectors: array<f32>;
@group(0) @binding(2) var<storage, read_write> x: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> kv: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> words: array<atomic<u32>>;
var<workgroup> staged: array<vec4<u32>, 16>;
var<workgroup> residual: array<f32, 128>;
var<workgroup> turned: array<f32, 192>;
var<workgroup> sums: array<f32, 544>;
var<workgroup> group_stats: array<vec2<f32>, 8>;
var<workgroup> group_sums: array<i32, 8>;
var<workgroup> group_stats_1: array<vec2<f32>, 8>;
var<workgroup> group_sums_1: array<i32, 8>;
var<workgroup> group_stats_2: array<vec2<f32>, 8>;
var<workgroup> group_sums_2: array<i32, 8>;
var<workgroup> group_stats_3: array<vec2<f32>, 8>;
var<workgroup> group_sums_3: array<i32, 8>;

@compute @workgroup_size(256)
fn ternary_layers(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let now = (atomicLoad(&words[1u]));
  var patience: u32 = now;
  let first_row = wg.x * 256u / n_wg.x;
  let end_row = (wg.x + 1u) * 256u / n_wg.x;
  let now_1 = (atomicLoad(&words[0u]));
  let last_tag = now_1;
  let splits = max(1u, min(n_wg.x / 4u, 2u));
  let pos = params[0u * 3u + 3u];
  let kv_head = wg.x / splits;
  let n_heads = 1u;
  let first_head = kv_head * 1u;
  let split = wg.x % splits;
  let is_used = kv_head < 4u;
  let table = params[0u * 3u + 4u];
  let n_pos = pos + 1u;
  let first_pos = split * n_pos / splits;
  let next_split = split + 1u;
  let end_pos = select(first_pos, next_split * n_pos / splits, is_used);
  let lane_of_pos = tid % 8u;
  let group_of_pos = tid / 8u;
  let kv_layer = (arrayLength(&kv)) / 2u;
  let newest = first_pos + group_of_pos;
  let angles_at = (params[0u * 3u + 5u] + pos) * 32u;
  let pair = min(tid + 0u, 95u) % 32u;
  let angle = angles[angles_at + pair];
  let safe_pos = min(newest, pos);
  let safe_head = min(kv_head, 3u);
  let block = params[table + safe_pos / 64u];
  let key_at = ((block * 8u + safe_head) * 64u + safe_pos % 64u) * 8u + lane_of_pos;
  let first_row_1 = wg.x * 768u / n_wg.x;
  let end_row_1 = (wg.x + 1u) * 768u / n_wg.x;
  let first_row_2 = wg.x * 256u / n_wg.x;
  let end_row_2 = (wg.x + 1u) * 256u / n_wg.x;
  let first_row_3 = wg.x * 256u / n_wg.x;
  let end_row_3 = (wg.x + 1u) * 256u / n_wg.x;
  let first_row_4 = wg.x * 256u / n_wg.x;
  let end_row_4 = (wg.x + 1u) * 256u / n_wg.x;
  let first_tag = (last_tag + 1u) & 3u;
  for (var row = first_row + tid; row < end_row; row += 256u) {
    let x_value = x[row];
    residual[row - first_row] = x_value;
    let place = row + 64u;
    let value_bits = bitcast<u32>(x_value);
    let half = select(2u, 0u, (value_bits & 2139095040u) == 2139095040u);
    let rounded = value_bits + half;
    atomicStore(&words[place], (rounded & 4294967292u) | first_tag);
  }
  let first_layer = 0u;
  let group = tid / 16u;
  let lane_of_row = tid & 15u;
  let row_1 = first_row_1 + group;
  let safe_row = min(row_1, end_row_1 - 1u);
  let start = first_layer * 7168u + 0u + safe_row * 4u;
  let i = min(lane_of_row + 0u, 3u);
  let w4 = w[start + i];
  let vectors_at = first_layer * 1032u;
  let column = tid + 0u;
  let gain = vectors[vectors_at + 0u + column];
  let w_scale = vectors[vectors_at + 1024u];
  let w_scale_1 = vectors[vectors_at + 1025u];
  let w_scale_2 = vectors[vectors_at + 1026u];
  var kept_w: vec4<u32> = w4;
  var next_gain: f32 = gain;
  var next_scale: f32 = w_scale;
  var next_scale_1: f32 = w_scale_1;
  var next_scale_2: f32 = w_scale_2;
  for (var layer = 0u; layer < 2u; layer += 1u) {
    let tag = (last_tag + 1u + layer) & 3u;
    let next_tag = (tag + 1u) & 3u;
    let group_1 = tid / 16u;
    let lane_of_row_1 = tid & 15u;
    let row_2 = first_row_1 + group_1;
    let safe_row_1 = min(row_2, end_row_1 - 1u);
    let start_1 = layer * 7168u + 0u + safe_row_1 * 4u;
    let i_1 = min(lane_of_row_1 + 0u, 3u);
    let w4_1 = kept_w;
    let gain_1 = next_gain;
    let w_scale_3 = next_scale;
    let w_scale_4 = next_scale_1;
    let w_scale_5 = next_scale_2;
    let column_1 = tid + 0u;
    let place_1 = column_1 + 64u;
    let last_place = 319u;
    var found: u32 = 0u;
    var waits: u32 = 1u;
    if (tid < 32u) {
      let end = patience;
      for (var early = 0u; early < end; early += 1u) {
        let now_2 = (atomicLoad(&words[last_place]));
        found = now_2;
        var n_failed: u32 = 0u;
        if ((early & 255u) == 255u) {
          let now_3 = (atomicLoad(&words[32u]));
          n_failed = now_3;
        }
        let given_up = n_failed != 0u;
        if ((((found ^ tag) & 3u) == 0u) || given_up) {
          break;
        }
      }
    }
    workgroupBarrier();
    let end_1 = patience;
    for (var tries = 0u; tries < end_1; tries += 1u) {
      let now_4 = (atomicLoad(&words[place_1]));
      found = now_4;
      var odd: u32 = 0u;
      odd = odd | (found ^ tag);
      if ((odd & 3u) == 0u) {
        waits = 0u;
        break;
      }
      var n_failed_1: u32 = 0u;
      if ((tries & 255u) == 255u) {
        let now_5 = (atomicLoad(&words[32u]));
        n_failed_1 = now_5;
      }
      let given_up_1 = n_failed_1 != 0u;
      if (given_up_1) {
        break;
      }
    }
    if (waits != 0u) {
      if (patience != 1u) {
        let old = (atomicAdd(&words[32u], 1u));
      }
      patience = 1u;
    }
    let value = bitcast<f32>(found & 4294967292u);
    var squares: f32 = 0f;
    var largest: f32 = 0f;
    let vg = value * gain_1;
    largest = max(largest, abs(vg));
    squares += value * value;
    let my_squares = squares;
    let my_largest = largest;
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
    let sg_5 = subgroupShuffleXor(my_largest, 16u);
    let sum_5 = max(my_largest, sg_5);
    let sg_6 = subgroupShuffleXor(sum_5, 8u);
    let sum_6 = max(sum_5, sg_6);
    let sg_7 = subgroupShuffleXor(sum_6, 4u);
    let sum_7 = max(sum_6, sg_7);
    let sg_8 = subgroupShuffleXor(sum_7, 2u);
    let sum_8 = max(sum_7, sg_8);
    let sg_9 = subgroupShuffleXor(sum_8, 1u);
    let sum_9 = max(sum_8, sg_9);
    if ((tid & 31u) == 0u) {
      group_stats[tid / 32u] = vec2<f32>(sum_4, sum_9);
    }
    workgroupBarrier();
    let of_group = group_stats[tid & 7u];
    let sg_10 = subgroupShuffleXor(of_group.x, 4u);
    let sum_10 = of_group.x + sg_10;
    let sg_11 = subgroupShuffleXor(sum_10, 2u);
    let sum_11 = sum_10 + sg_11;
    let sg_12 = subgroupShuffleXor(sum_11, 1u);
    let sum_12 = sum_11 + sg_12;
    let largest_of_group = of_group.y;
    let sg_13 = subgroupShuffleXor(largest_of_group, 4u);
    let sum_13 = max(largest_of_group, sg_13);
    let sg_14 = subgroupShuffleXor(sum_13, 2u);
    let sum_14 = max(sum_13, sg_14);
    let sg_15 = subgroupShuffleXor(sum_14, 1u);
    let sum_15 = max(sum_14, sg_15);
    let factor = 1f / sqrt(sum_12 / 256f + 1e-05f);
    let finite_scale = 127f / max(sum_15 * factor, 1e-05f);
    let factor_and_scale = factor * finite_scale;
    let factor_bits = bitcast<u32>(factor);
    let x_scale = select(finite_scale, factor, (factor_bits - 1u) >= 2139095039u);
    var q_sum: i32 = 0i;
    let ones = 16843009u;
    let moved = vg * factor_and_scale + 12582912f;
    let q = bitcast<i32>(bitcast<u32>(moved) - 1262485504u);
    let byte = bitcast<u32>(q) & 255u;
    let sg_16 = subgroupShuffleXor(byte, 1u);
    let two = byte | (sg_16 << 8u);
    let sg_17 = subgroupShuffleXor(two, 2u);
    let word = two | (sg_17 << 16u);
    q_sum += dot4I8Packed(word, ones);
    if ((tid & 3u) == 0u) {
      let unit = (tid + 0u) / 16u;
      let vec = ((unit >> 1u) & 3u) * 4u + (unit >> 3u) * 2u + (unit & 1u);
      let part_of_unit = tid / 4u % 4u;
      staged[vec][part_of_unit] = word;
    }
    let my_sum = q_sum;
    let sg_18 = subgroupShuffleXor(my_sum, 4u);
    let group_sum = my_sum + sg_18;
    let sg_19 = subgroupShuffleXor(group_sum, 8u);
    let group_sum_1 = group_sum + sg_19;
    let sg_20 = subgroupShuffleXor(group_sum_1, 16u);
    let group_sum_2 = group_sum_1 + sg_20;
    if ((tid & 31u) == 0u) {
      group_sums[tid / 32u] = group_sum_2;
    }
    workgroupBarrier();
    let sum_of_group = group_sums[tid & 7u];
    let sg_21 = subgroupShuffleXor(sum_of_group, 4u);
    let sum_16 = sum_of_group + sg_21;
    let sg_22 = subgroupShuffleXor(sum_16, 2u);
    let sum_17 = sum_16 + sg_22;
    let sg_23 = subgroupShuffleXor(sum_17, 1u);
    let sum_18 = sum_17 + sg_23;
    let key_of_layer = layer * kv_layer + key_at;
    let k8 = kv[key_of_layer + 0u];
    let v8 = kv[key_of_layer + 2048u];
    var kept_w_1: vec4<u32> = w4_1;
    for (var first_of_groups = first_row_1; first_of_groups < end_row_1; first_of_groups += 16u) {
      let group_2 = tid / 16u;
      let lane_of_row_2 = tid & 15u;
      let row_3 = first_of_groups + group_2;
      let safe_row_2 = min(row_3, end_row_1 - 1u);
      let start_2 = layer * 7168u + 0u + safe_row_2 * 4u;
      let i_2 = min(lane_of_row_2 + 0u, 3u);
      let w4_2 = kept_w_1;
      var acc: i32 = 0i;
      let i_3 = lane_of_row_2 + 0u;
      if (i_3 < 4u) {
        let q4 = staged[0u + i_3];
        acc += dot4I8Packed((w4_2.x >> 6u) & 0x03030303u, q4.x);
        acc += dot4I8Packed((w4_2.y >> 6u) & 0x03030303u, q4.y);
        acc += dot4I8Packed((w4_2.z >> 6u) & 0x03030303u, q4.z);
        acc += dot4I8Packed((w4_2.w >> 6u) & 0x03030303u, q4.w);
        let q4_1 = staged[4u + i_3];
        acc += dot4I8Packed((w4_2.x >> 4u) & 0x03030303u, q4_1.x);
        acc += dot4I8Packed((w4_2.y >> 4u) & 0x03030303u, q4_1.y);
        acc += dot4I8Packed((w4_2.z >> 4u) & 0x03030303u, q4_1.z);
        acc += dot4I8Packed((w4_2.w >> 4u) & 0x03030303u, q4_1.w);
        let q4_2 = staged[8u + i_3];
        acc += dot4I8Packed((w4_2.x >> 2u) & 0x03030303u, q4_2.x);
        acc += dot4I8Packed((w4_2.y >> 2u) & 0x03030303u, q4_2.y);
        acc += dot4I8Packed((w4_2.z >> 2u) & 0x03030303u, q4_2.z);
        acc += dot4I8Packed((w4_2.w >> 2u) & 0x03030303u, q4_2.w);
        let q4_3 = staged[12u + i_3];
        acc += dot4I8Packed(w4_2.x & 0x03030303u, q4_3.x);
        acc += dot4I8Packed(w4_2.y & 0x03030303u, q4_3.y);
        acc += dot4I8Packed(w4_2.z & 0x03030303u, q4_3.z);
        acc += dot4I8Packed(w4_2.w & 0x03030303u, q4_3.w);
      }
      let mine = acc;
      let sg_24 = subgroupShuffleXor(mine, 8u);
      let sum_19 = mine + sg_24;
      let sg_25 = subgroupShuffleXor(sum_19, 4u);
      let sum_20 = sum_19 + sg_25;
      let sg_26 = subgroupShuffleXor(sum_20, 2u);
      let sum_21 = sum_20 + sg_26;
      let sg_27 = subgroupShuffleXor(sum_21, 1u);
      let sum_22 = sum_21 + sg_27;
      if ((lane_of_row_2 == 0u) && (row_3 < end_row_1)) {
        let of_k_or_v = select(w_scale_5, w_scale_4, row_3 < 512u);
        let w_scale_6 = select(of_k_or_v, w_scale_3, row_3 < 256u);
        let value_1 = f32(sum_22 - sum_18) / x_scale * w_scale_6;
        let place_2 = row_3 + 320u;
        let value_bits_1 = bitcast<u32>(value_1);
        let half_1 = select(2u, 0u, (value_bits_1 & 2139095040u) == 2139095040u);
        let rounded_1 = value_bits_1 + half_1;
        atomicStore(&words[place_2], (rounded_1 & 4294967292u) | tag);
      }
      if ((first_of_groups + 16u) < end_row_1) {
        let group_3 = tid / 16u;
        let lane_of_row_3 = tid & 15u;
        let later_row = row_3 + 16u;
        let safe_row_3 = min(later_row, end_row_1 - 1u);
        let start_3 = layer * 7168u + 0u + safe_row_3 * 4u;
        let i_4 = min(lane_of_row_3 + 0u, 3u);
        let w4_3 = w[start_3 + i_4];
        kept_w_1 = w4_3;
      }
    }
    let n_pairs = (n_heads + 2u) * 32u;
    let pair_1 = min(tid + 0u, n_pairs - 1u);
    let slot = pair_1 / 32u;
    let pair_of_head = pair_1 % 32u;
    let is_query = slot < n_heads;
    let is_value = slot == (n_heads + 1u);
    let of_kv = kv_head + 4u + select(0u, 4u, is_value);
    let head = select(of_kv, first_head + slot, is_query);
    let safe_slot = select(0u, head, is_used);
    let a_at = pair_of_head;
    let b_at = pair_of_head + 32u;
    let place_3 = safe_slot * 64u + a_at + 320u;
    let place_4 = safe_slot * 64u + b_at + 320u;
    let is_needed = (tid + 0u) < n_pairs;
    var found_1: u32 = 0u;
    var found_2: u32 = 0u;
    var waits_1: u32 = 1u;
    if (tid < 32u) {
      let end_2 = patience;
      for (var early_1 = 0u; early_1 < end_2; early_1 += 1u) {
        let now_6 = (atomicLoad(&words[place_4]));
        found_1 = now_6;
        var n_failed_2: u32 = 0u;
        if ((early_1 & 255u) == 255u) {
          let now_7 = (atomicLoad(&words[32u]));
          n_failed_2 = now_7;
        }
        let given_up_2 = n_failed_2 != 0u;
        if ((((found_1 ^ tag) & 3u) == 0u) || given_up_2) {
          break;
        }
      }
    }
    workgroupBarrier();
    if (is_needed) {
      let end_3 = patience;
      for (var tries_1 = 0u; tries_1 < end_3; tries_1 += 1u) {
        let now_8 = (atomicLoad(&words[place_3]));
        found_1 = now_8;
        let now_9 = (atomicLoad(&words[place_4]));
        found_2 = now_9;
        var odd_1: u32 = 0u;
        odd_1 = odd_1 | (found_1 ^ tag);
        odd_1 = odd_1 | (found_2 ^ tag);
        if ((odd_1 & 3u) == 0u) {
          waits_1 = 0u;
          break;
        }
        var n_failed_3: u32 = 0u;
        if ((tries_1 & 255u) == 255u) {
          let now_10 = (atomicLoad(&words[32u]));
          n_failed_3 = now_10;
        }
        let given_up_3 = n_failed_3 != 0u;
        if (given_up_3) {
          break;
        }
      }
    } else {
      waits_1 = 0u;
    }
    if (waits_1 != 0u) {
      if (patience != 1u) {
        let old_1 = (atomicAdd(&words[32u], 1u));
      }
      patience = 1u;
    }
    let value_2 = bitcast<f32>(found_1 & 4294967292u);
    let value_3 = bitcast<f32>(found_2 & 4294967292u);
    let turn = select(angle, vec2<f32>(1f, 0f), is_value);
    let q_factor = select(1f, 0.125f, is_query);
    let turned_a = (value_2 * turn.x - value_3 * turn.y) * q_factor;
    let turned_b = (value_3 * turn.x + value_2 * turn.y) * q_factor;
    let cached = pack2x16float(vec2<f32>(turned_a, turned_b));
    let as_cached = unpack2x16float(cached);
    if ((tid + 0u) < n_pairs) {
      turned[slot * 64u + a_at] = select(as_cached.x, turned_a, is_query);
      turned[slot * 64u + b_at] = select(as_cached.y, turned_b, is_query);
    }
    workgroupBarrier();
    let n_used = min((end_pos - first_pos + 3u) / 4u, 8u);
    var greatest: f32 = -3e+38f;
    var total: f32 = 0f;
    var acc_1: vec4<f32> = vec4<f32>();
    var acc_2: vec4<f32> = vec4<f32>();
    let has_positions = (tid / 32u) < n_used;
    if (has_positions) {
      let from_dim = (lane_of_pos + 0u) * 8u + 0u;
      let d0 = turned[from_dim];
      let d1 = turned[from_dim + 1u];
      let d2 = turned[from_dim + 2u];
      let d3 = turned[from_dim + 3u];
      let d4 = vec4<f32>(d0, d1, d2, d3);
      let from_dim_1 = (lane_of_pos + 0u) * 8u + 4u;
      let d0_1 = turned[from_dim_1];
      let d1_1 = turned[from_dim_1 + 1u];
      let d2_1 = turned[from_dim_1 + 2u];
      let d3_1 = turned[from_dim_1 + 3u];
      let d4_1 = vec4<f32>(d0_1, d1_1, d2_1, d3_1);
      var next_at: u32 = key_of_layer;
      var next_k: vec4<u32> = k8;
      var next_v: vec4<u32> = v8;
      if ((first_pos + 32u) < end_pos) {
        let later = newest + 32u;
        let safe_pos_1 = min(later, pos);
        let safe_head_1 = min(kv_head, 3u);
        let block_1 = params[table + safe_pos_1 / 64u];
        let key_at_1 = ((block_1 * 8u + safe_head_1) * 64u + safe_pos_1 % 64u) * 8u + lane_of_pos;
        let key_of_layer_1 = layer * kv_layer + key_at_1;
        let k8_1 = kv[key_of_layer_1 + 0u];
        let v8_1 = kv[key_of_layer_1 + 2048u];
        next_at = key_of_layer_1;
        next_k = k8_1;
        next_v = v8_1;
      }
      let is_seen = newest < end_pos;
      let k_low = unpack2x16float(k8.x);
      let k_high = unpack2x16float(k8.y);
      var k4: vec4<f32> = vec4<f32>(k_low, k_high);
      let v_low = unpack2x16float(v8.x);
      let v_high = unpack2x16float(v8.y);
      var v4: vec4<f32> = vec4<f32>(v_low, v_high);
      let k_low_1 = unpack2x16float(k8.z);
      let k_high_1 = unpack2x16float(k8.w);
      var k4_1: vec4<f32> = vec4<f32>(k_low_1, k_high_1);
      let v_low_1 = unpack2x16float(v8.z);
      let v_high_1 = unpack2x16float(v8.w);
      var v4_1: vec4<f32> = vec4<f32>(v_low_1, v_high_1);
      if ((newest == pos) && is_seen) {
        let from_dim_2 = (lane_of_pos + 0u) * 8u + 64u;
        let d0_2 = turned[from_dim_2];
        let d1_2 = turned[from_dim_2 + 1u];
        let d2_2 = turned[from_dim_2 + 2u];
        let d3_2 = turned[from_dim_2 + 3u];
        let d4_2 = vec4<f32>(d0_2, d1_2, d2_2, d3_2);
        let from_dim_3 = (lane_of_pos + 0u) * 8u + 68u;
        let d0_3 = turned[from_dim_3];
        let d1_3 = turned[from_dim_3 + 1u];
        let d2_3 = turned[from_dim_3 + 2u];
        let d3_3 = turned[from_dim_3 + 3u];
        let d4_3 = vec4<f32>(d0_3, d1_3, d2_3, d3_3);
        let from_dim_4 = (lane_of_pos + 0u) * 8u + 128u;
        let d0_4 = turned[from_dim_4];
        let d1_4 = turned[from_dim_4 + 1u];
        let d2_4 = turned[from_dim_4 + 2u];
        let d3_4 = turned[from_dim_4 + 3u];
        let d4_4 = vec4<f32>(d0_4, d1_4, d2_4, d3_4);
        let from_dim_5 = (lane_of_pos + 0u) * 8u + 132u;
        let d0_5 = turned[from_dim_5];
        let d1_5 = turned[from_dim_5 + 1u];
        let d2_5 = turned[from_dim_5 + 2u];
        let d3_5 = turned[from_dim_5 + 3u];
        let d4_5 = vec4<f32>(d0_5, d1_5, d2_5, d3_5);
        k4 = d4_2;
        v4 = d4_4;
        k4_1 = d4_3;
        v4_1 = d4_5;
        let half2 = pack2x16float(vec2<f32>(d4_2.x, d4_2.y));
        let half2_1 = pack2x16float(vec2<f32>(d4_2.z, d4_2.w));
        let half2_2 = pack2x16float(vec2<f32>(d4_3.x, d4_3.y));
        let half2_3 = pack2x16float(vec2<f32>(d4_3.z, d4_3.w));
        kv[key_of_layer + 0u] = vec4<u32>(half2, half2_1, half2_2, half2_3);
        let half2_4 = pack2x16float(vec2<f32>(d4_4.x, d4_4.y));
        let half2_5 = pack2x16float(vec2<f32>(d4_4.z, d4_4.w));
        let half2_6 = pack2x16float(vec2<f32>(d4_5.x, d4_5.y));
        let half2_7 = pack2x16float(vec2<f32>(d4_5.z, d4_5.w));
        kv[key_of_layer + 2048u] = vec4<u32>(half2_4, half2_5, half2_6, half2_7);
      }
      var score: f32 = 0f;
      let k4_2 = k4;
      score += dot(d4, k4_2);
      let k4_3 = k4_1;
      score += dot(d4_1, k4_3);
      let my_part = score;
      let sg_28 = subgroupShuffleXor(my_part, 4u);
      let sum_23 = my_part + sg_28;
      let sg_29 = subgroupShuffleXor(sum_23, 2u);
      let sum_24 = sum_23 + sg_29;
      let sg_30 = subgroupShuffleXor(sum_24, 1u);
      let sum_25 = sum_24 + sg_30;
      let seen = select(-3e+38f, sum_25, is_seen);
      greatest = seen;
      total = select(0f, 1f, is_seen);
      let v4_2 = select(vec4<f32>(0f), v4, is_seen);
      acc_1 = v4_2;
      let v4_3 = select(vec4<f32>(0f), v4_1, is_seen);
      acc_2 = v4_3;
      for (var from_pos = first_pos + 32u; from_pos < end_pos; from_pos += 32u) {
        let p = from_pos + group_of_pos;
        let key_at_2 = next_at;
        let k8_2 = next_k;
        let v8_2 = next_v;
        if ((from_pos + 32u) < end_pos) {
          let later_1 = p + 32u;
          let safe_pos_2 = min(later_1, pos);
          let safe_head_2 = min(kv_head, 3u);
          let block_2 = params[table + safe_pos_2 / 64u];
          let key_at_3 = ((block_2 * 8u + safe_head_2) * 64u + safe_pos_2 % 64u) * 8u + lane_of_pos;
          let key_of_layer_2 = layer * kv_layer + key_at_3;
          let k8_3 = kv[key_of_layer_2 + 0u];
          let v8_3 = kv[key_of_layer_2 + 2048u];
          next_at = key_of_layer_2;
          next_k = k8_3;
          next_v = v8_3;
        }
        let is_seen_1 = p < end_pos;
        let k_low_2 = unpack2x16float(k8_2.x);
        let k_high_2 = unpack2x16float(k8_2.y);
        var k4_4: vec4<f32> = vec4<f32>(k_low_2, k_high_2);
        let v_low_2 = unpack2x16float(v8_2.x);
        let v_high_2 = unpack2x16float(v8_2.y);
        var v4_4: vec4<f32> = vec4<f32>(v_low_2, v_high_2);
        let k_low_3 = unpack2x16float(k8_2.z);
        let k_high_3 = unpack2x16float(k8_2.w);
        var k4_5: vec4<f32> = vec4<f32>(k_low_3, k_high_3);
        let v_low_3 = unpack2x16float(v8_2.z);
        let v_high_3 = unpack2x16float(v8_2.w);
        var v4_5: vec4<f32> = vec4<f32>(v_low_3, v_high_3);
        if ((p == pos) && is_seen_1) {
          let from_dim_6 = (lane_of_pos + 0u) * 8u + 64u;
          let d0_6 = turned[from_dim_6];
          let d1_6 = turned[from_dim_6 + 1u];
          let d2_6 = turned[from_dim_6 + 2u];
          let d3_6 = turned[from_dim_6 + 3u];
          let d4_6 = vec4<f32>(d0_6, d1_6, d2_6, d3_6);
          let from_dim_7 = (lane_of_pos + 0u) * 8u + 68u;
          let d0_7 = turned[from_dim_7];
          let d1_7 = turned[from_dim_7 + 1u];
          let d2_7 = turned[from_dim_7 + 2u];
          let d3_7 = turned[from_dim_7 + 3u];
          let d4_7 = vec4<f32>(d0_7, d1_7, d2_7, d3_7);
          let from_dim_8 = (lane_of_pos + 0u) * 8u + 128u;
          let d0_8 = turned[from_dim_8];
          let d1_8 = turned[from_dim_8 + 1u];
          let d2_8 = turned[from_dim_8 + 2u];
          let d3_8 = turned[from_dim_8 + 3u];
          let d4_8 = vec4<f32>(d0_8, d1_8, d2_8, d3_8);
          let from_dim_9 = (lane_of_pos + 0u) * 8u + 132u;
          let d0_9 = turned[from_dim_9];
          let d1_9 = turned[from_dim_9 + 1u];
          let d2_9 = turned[from_dim_9 + 2u];
          let d3_9 = turned[from_dim_9 + 3u];
          let d4_9 = vec4<f32>(d0_9, d1_9, d2_9, d3_9);
          k4_4 = d4_6;
          v4_4 = d4_8;
          k4_5 = d4_7;
          v4_5 = d4_9;
          let half2_8 = pack2x16float(vec2<f32>(d4_6.x, d4_6.y));
          let half2_9 = pack2x16float(vec2<f32>(d4_6.z, d4_6.w));
          let half2_10 = pack2x16float(vec2<f32>(d4_7.x, d4_7.y));
          let half2_11 = pack2x16float(vec2<f32>(d4_7.z, d4_7.w));
          kv[key_at_2 + 0u] = vec4<u32>(half2_8, half2_9, half2_10, half2_11);
          let half2_12 = pack2x16float(vec2<f32>(d4_8.x, d4_8.y));
          let half2_13 = pack2x16float(vec2<f32>(d4_8.z, d4_8.w));
          let half2_14 = pack2x16float(vec2<f32>(d4_9.x, d4_9.y));
          let half2_15 = pack2x16float(vec2<f32>(d4_9.z, d4_9.w));
          kv[key_at_2 + 2048u] = vec4<u32>(half2_12, half2_13, half2_14, half2_15);
        }
        var score_1: f32 = 0f;
        let k4_6 = k4_4;
        score_1 += dot(d4, k4_6);
        let k4_7 = k4_5;
        score_1 += dot(d4_1, k4_7);
        let my_part_1 = score_1;
        let sg_31 = subgroupShuffleXor(my_part_1, 4u);
        let sum_26 = my_part_1 + sg_31;
        let sg_32 = subgroupShuffleXor(sum_26, 2u);
        let sum_27 = sum_26 + sg_32;
        let sg_33 = subgroupShuffleXor(sum_27, 1u);
        let sum_28 = sum_27 + sg_33;
        let seen_1 = select(-3e+38f, sum_28, is_seen_1);
        let most = max(greatest, seen_1);
        let shrink = exp(greatest - most);
        let weight = select(0f, exp(seen_1 - most), is_seen_1);
        total = total * shrink + weight;
        let v4_6 = select(vec4<f32>(0f), v4_4, is_seen_1);
        acc_1 = acc_1 * shrink + v4_6 * weight;
        let v4_7 = select(vec4<f32>(0f), v4_5, is_seen_1);
        acc_2 = acc_2 * shrink + v4_7 * weight;
        greatest = most;
      }
    }
    if (has_positions) {
      var most_1: f32 = greatest;
      let mine_1 = most_1;
      let sg_34 = subgroupShuffleXor(mine_1, 8u);
      most_1 = max(mine_1, sg_34);
      let mine_2 = most_1;
      let sg_35 = subgroupShuffleXor(mine_2, 16u);
      most_1 = max(mine_2, sg_35);
      let of_subgroup = most_1;
      let shrink_1 = exp(greatest - of_subgroup);
      let my_total = total * shrink_1;
      let sg_36 = subgroupShuffleXor(my_total, 8u);
      let sum_29 = my_total + sg_36;
      let sg_37 = subgroupShuffleXor(sum_29, 16u);
      let sum_30 = sum_29 + sg_37;
      let sums_row = (tid / 32u * 1u + 0u) * 68u;
      let mine_3 = acc_1.x * shrink_1;
      let sg_38 = subgroupShuffleXor(mine_3, 8u);
      let sum_31 = mine_3 + sg_38;
      let sg_39 = subgroupShuffleXor(sum_31, 16u);
      let sum_32 = sum_31 + sg_39;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 0u)] = sum_32;
      }
      let mine_4 = acc_1.y * shrink_1;
      let sg_40 = subgroupShuffleXor(mine_4, 8u);
      let sum_33 = mine_4 + sg_40;
      let sg_41 = subgroupShuffleXor(sum_33, 16u);
      let sum_34 = sum_33 + sg_41;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 1u)] = sum_34;
      }
      let mine_5 = acc_1.z * shrink_1;
      let sg_42 = subgroupShuffleXor(mine_5, 8u);
      let sum_35 = mine_5 + sg_42;
      let sg_43 = subgroupShuffleXor(sum_35, 16u);
      let sum_36 = sum_35 + sg_43;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 2u)] = sum_36;
      }
      let mine_6 = acc_1.w * shrink_1;
      let sg_44 = subgroupShuffleXor(mine_6, 8u);
      let sum_37 = mine_6 + sg_44;
      let sg_45 = subgroupShuffleXor(sum_37, 16u);
      let sum_38 = sum_37 + sg_45;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 3u)] = sum_38;
      }
      let mine_7 = acc_2.x * shrink_1;
      let sg_46 = subgroupShuffleXor(mine_7, 8u);
      let sum_39 = mine_7 + sg_46;
      let sg_47 = subgroupShuffleXor(sum_39, 16u);
      let sum_40 = sum_39 + sg_47;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 4u)] = sum_40;
      }
      let mine_8 = acc_2.y * shrink_1;
      let sg_48 = subgroupShuffleXor(mine_8, 8u);
      let sum_41 = mine_8 + sg_48;
      let sg_49 = subgroupShuffleXor(sum_41, 16u);
      let sum_42 = sum_41 + sg_49;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 5u)] = sum_42;
      }
      let mine_9 = acc_2.z * shrink_1;
      let sg_50 = subgroupShuffleXor(mine_9, 8u);
      let sum_43 = mine_9 + sg_50;
      let sg_51 = subgroupShuffleXor(sum_43, 16u);
      let sum_44 = sum_43 + sg_51;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 6u)] = sum_44;
      }
      let mine_10 = acc_2.w * shrink_1;
      let sg_52 = subgroupShuffleXor(mine_10, 8u);
      let sum_45 = mine_10 + sg_52;
      let sg_53 = subgroupShuffleXor(sum_45, 16u);
      let sum_46 = sum_45 + sg_53;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 7u)] = sum_46;
      }
      if ((tid % 32u) == 0u) {
        sums[sums_row + 64u] = of_subgroup;
        sums[sums_row + 65u] = sum_30;
      }
    }
    workgroupBarrier();
    let n_told = 1u;
    for (var out_value = tid; out_value < n_told * 64u; out_value += 256u) {
      let head_1 = out_value / 64u;
      let dim = out_value % 64u;
      var most_2: f32 = -3e+38f;
      for (var i_5 = 0u; i_5 < n_used; i_5 += 1u) {
        let sums_row_1 = (head_1 + i_5 * 1u) * 68u;
        let top = sums[sums_row_1 + 64u];
        most_2 = max(most_2, top);
      }
      var out_sum: f32 = 0f;
      var weights: f32 = 0f;
      for (var i_6 = 0u; i_6 < n_used; i_6 += 1u) {
        let sums_row_2 = (head_1 + i_6 * 1u) * 68u;
        let top_1 = sums[sums_row_2 + 64u];
        let shrink_2 = exp(top_1 - most_2);
        out_sum += sums[sums_row_2 + dim] * shrink_2;
        weights += sums[sums_row_2 + 65u] * shrink_2;
      }
      let part_at = ((first_head + head_1 + 0u) * 2u + split) * 66u;
      if (is_used) {
        let place_5 = part_at + dim + 1088u;
        let whole = out_sum;
        let value_bits_2 = bitcast<u32>(whole);
        let half_2 = select(2u, 0u, (value_bits_2 & 2139095040u) == 2139095040u);
        let rounded_2 = value_bits_2 + half_2;
        atomicStore(&words[place_5], (rounded_2 & 4294967292u) | tag);
        if (dim == 0u) {
          let place_6 = part_at + 1152u;
          let top_of_all = most_2;
          let value_bits_3 = bitcast<u32>(top_of_all);
          let half_3 = select(2u, 0u, (value_bits_3 & 2139095040u) == 2139095040u);
          let rounded_3 = value_bits_3 + half_3;
          atomicStore(&words[place_6], (rounded_3 & 4294967292u) | tag);
          let place_7 = part_at + 1153u;
          let whole_weight = weights;
          let value_bits_4 = bitcast<u32>(whole_weight);
          let half_4 = select(2u, 0u, (value_bits_4 & 2139095040u) == 2139095040u);
          let rounded_4 = value_bits_4 + half_4;
          atomicStore(&words[place_7], (rounded_4 & 4294967292u) | tag);
        }
      }
    }
    let group_4 = tid / 16u;
    let lane_of_row_4 = tid & 15u;
    let row_4 = first_row_2 + group_4;
    let safe_row_4 = min(row_4, end_row_2 - 1u);
    let start_4 = layer * 7168u + 3072u + safe_row_4 * 4u;
    let i_7 = min(lane_of_row_4 + 0u, 3u);
    let w4_4 = w[start_4 + i_7];
    let vectors_at_1 = layer * 1032u;
    let column_2 = tid + 0u;
    let gain_2 = vectors[vectors_at_1 + 256u + column_2];
    let w_scale_7 = vectors[vectors_at_1 + 1027u];
    let first_row_5 = wg.x * 256u / n_wg.x;
    let end_row_5 = (wg.x + 1u) * 256u / n_wg.x;
    let has_more = splits > 8u;
    let lane_of_value = tid % 8u;
    let group_of_value = tid / 8u;
    for (var from_value = first_row_5; from_value < end_row_5; from_value += 32u) {
      let is_needed_1 = (from_value + group_of_value) < end_row_5;
      let out = min(from_value + group_of_value, end_row_5 - 1u);
      let head_2 = out / 64u;
      let part = lane_of_value + 0u;
      let safe_part = min(part, splits - 1u);
      let part_at_1 = (head_2 * 2u + safe_part) * 66u + 1088u;
      let place_8 = part_at_1 + out % 64u;
      let place_9 = part_at_1 + 64u;
      let place_10 = part_at_1 + 65u;
      var found_3: u32 = 0u;
      var found_4: u32 = 0u;
      var found_5: u32 = 0u;
      var waits_2: u32 = 1u;
      if (tid < 32u) {
        let end_4 = patience;
        for (var early_2 = 0u; early_2 < end_4; early_2 += 1u) {
          let now_11 = (atomicLoad(&words[place_10]));
          found_3 = now_11;
          var n_failed_4: u32 = 0u;
          if ((early_2 & 255u) == 255u) {
            let now_12 = (atomicLoad(&words[32u]));
            n_failed_4 = now_12;
          }
          let given_up_4 = n_failed_4 != 0u;
          if ((((found_3 ^ tag) & 3u) == 0u) || given_up_4) {
            break;
          }
        }
      }
      workgroupBarrier();
      if (is_needed_1) {
        let end_5 = patience;
        for (var tries_2 = 0u; tries_2 < end_5; tries_2 += 1u) {
          let now_13 = (atomicLoad(&words[place_8]));
          found_3 = now_13;
          let now_14 = (atomicLoad(&words[place_9]));
          found_4 = now_14;
          let now_15 = (atomicLoad(&words[place_10]));
          found_5 = now_15;
          var odd_2: u32 = 0u;
          odd_2 = odd_2 | (found_3 ^ tag);
          odd_2 = odd_2 | (found_4 ^ tag);
          odd_2 = odd_2 | (found_5 ^ tag);
          if ((odd_2 & 3u) == 0u) {
            waits_2 = 0u;
            break;
          }
          var n_failed_5: u32 = 0u;
          if ((tries_2 & 255u) == 255u) {
            let now_16 = (atomicLoad(&words[32u]));
            n_failed_5 = now_16;
          }
          let given_up_5 = n_failed_5 != 0u;
          if (given_up_5) {
            break;
          }
        }
      } else {
        waits_2 = 0u;
      }
      if (waits_2 != 0u) {
        if (patience != 1u) {
          let old_2 = (atomicAdd(&words[32u], 1u));
        }
        patience = 1u;
      }
      let value_4 = bitcast<f32>(found_3 & 4294967292u);
      let value_5 = bitcast<f32>(found_4 & 4294967292u);
      let value_6 = bitcast<f32>(found_5 & 4294967292u);
      var most_of_lane: f32 = value_5;
      let my_most = most_of_lane;
      let sg_54 = subgroupShuffleXor(my_most, 4u);
      let sum_47 = max(my_most, sg_54);
      let sg_55 = subgroupShuffleXor(sum_47, 2u);
      let sum_48 = max(sum_47, sg_55);
      let sg_56 = subgroupShuffleXor(sum_48, 1u);
      let sum_49 = max(sum_48, sg_56);
      let shrink_3 = select(0f, exp(value_5 - sum_49), part < splits);
      var values_of_lane: f32 = value_4 * shrink_3;
      var weights_of_lane: f32 = value_6 * shrink_3;
      let my_value = values_of_lane;
      let my_weight = weights_of_lane;
      let sg_57 = subgroupShuffleXor(my_value, 4u);
      let sum_50 = my_value + sg_57;
      let sg_58 = subgroupShuffleXor(sum_50, 2u);
      let sum_51 = sum_50 + sg_58;
      let sg_59 = subgroupShuffleXor(sum_51, 1u);
      let sum_52 = sum_51 + sg_59;
      let sg_60 = subgroupShuffleXor(my_weight, 4u);
      let sum_53 = my_weight + sg_60;
      let sg_61 = subgroupShuffleXor(sum_53, 2u);
      let sum_54 = sum_53 + sg_61;
      let sg_62 = subgroupShuffleXor(sum_54, 1u);
      let sum_55 = sum_54 + sg_62;
      if ((lane_of_value == 0u) && is_needed_1) {
        let result = sum_52 / sum_55;
        let place_11 = out + 1616u;
        let value_bits_5 = bitcast<u32>(result);
        let half_5 = select(2u, 0u, (value_bits_5 & 2139095040u) == 2139095040u);
        let rounded_5 = value_bits_5 + half_5;
        atomicStore(&words[place_11], (rounded_5 & 4294967292u) | tag);
      }
    }
    let column_3 = tid + 0u;
    let place_12 = column_3 + 1616u;
    let last_place_1 = 1871u;
    var found_6: u32 = 0u;
    var waits_3: u32 = 1u;
    if (tid < 32u) {
      let end_6 = patience;
      for (var early_3 = 0u; early_3 < end_6; early_3 += 1u) {
        let now_17 = (atomicLoad(&words[last_place_1]));
        found_6 = now_17;
        var n_failed_6: u32 = 0u;
        if ((early_3 & 255u) == 255u) {
          let now_18 = (atomicLoad(&words[32u]));
          n_failed_6 = now_18;
        }
        let given_up_6 = n_failed_6 != 0u;
        if ((((found_6 ^ tag) & 3u) == 0u) || given_up_6) {
          break;
        }
      }
    }
    workgroupBarrier();
    let end_7 = patience;
    for (var tries_3 = 0u; tries_3 < end_7; tries_3 += 1u) {
      let now_19 = (atomicLoad(&words[place_12]));
      found_6 = now_19;
      var odd_3: u32 = 0u;
      odd_3 = odd_3 | (found_6 ^ tag);
      if ((odd_3 & 3u) == 0u) {
        waits_3 = 0u;
        break;
      }
      var n_failed_7: u32 = 0u;
      if ((tries_3 & 255u) == 255u) {
        let now_20 = (atomicLoad(&words[32u]));
        n_failed_7 = now_20;
      }
      let given_up_7 = n_failed_7 != 0u;
      if (given_up_7) {
        break;
      }
    }
    if (waits_3 != 0u) {
      if (patience != 1u) {
        let old_3 = (atomicAdd(&words[32u], 1u));
      }
      patience = 1u;
    }
    let value_7 = bitcast<f32>(found_6 & 4294967292u);
    var squares_1: f32 = 0f;
    var largest_1: f32 = 0f;
    let vg_1 = value_7 * gain_2;
    largest_1 = max(largest_1, abs(vg_1));
    squares_1 += value_7 * value_7;
    let my_squares_1 = squares_1;
    let my_largest_1 = largest_1;
    let sg_63 = subgroupShuffleXor(my_squares_1, 16u);
    let sum_56 = my_squares_1 + sg_63;
    let sg_64 = subgroupShuffleXor(sum_56, 8u);
    let sum_57 = sum_56 + sg_64;
    let sg_65 = subgroupShuffleXor(sum_57, 4u);
    let sum_58 = sum_57 + sg_65;
    let sg_66 = subgroupShuffleXor(sum_58, 2u);
    let sum_59 = sum_58 + sg_66;
    let sg_67 = subgroupShuffleXor(sum_59, 1u);
    let sum_60 = sum_59 + sg_67;
    let sg_68 = subgroupShuffleXor(my_largest_1, 16u);
    let sum_61 = max(my_largest_1, sg_68);
    let sg_69 = subgroupShuffleXor(sum_61, 8u);
    let sum_62 = max(sum_61, sg_69);
    let sg_70 = subgroupShuffleXor(sum_62, 4u);
    let sum_63 = max(sum_62, sg_70);
    let sg_71 = subgroupShuffleXor(sum_63, 2u);
    let sum_64 = max(sum_63, sg_71);
    let sg_72 = subgroupShuffleXor(sum_64, 1u);
    let sum_65 = max(sum_64, sg_72);
    if ((tid & 31u) == 0u) {
      group_stats_1[tid / 32u] = vec2<f32>(sum_60, sum_65);
    }
    workgroupBarrier();
    let of_group_1 = group_stats_1[tid & 7u];
    let sg_73 = subgroupShuffleXor(of_group_1.x, 4u);
    let sum_66 = of_group_1.x + sg_73;
    let sg_74 = subgroupShuffleXor(sum_66, 2u);
    let sum_67 = sum_66 + sg_74;
    let sg_75 = subgroupShuffleXor(sum_67, 1u);
    let sum_68 = sum_67 + sg_75;
    let largest_of_group_1 = of_group_1.y;
    let sg_76 = subgroupShuffleXor(largest_of_group_1, 4u);
    let sum_69 = max(largest_of_group_1, sg_76);
    let sg_77 = subgroupShuffleXor(sum_69, 2u);
    let sum_70 = max(sum_69, sg_77);
    let sg_78 = subgroupShuffleXor(sum_70, 1u);
    let sum_71 = max(sum_70, sg_78);
    let factor_1 = 1f / sqrt(sum_68 / 256f + 1e-05f);
    let finite_scale_1 = 127f / max(sum_71 * factor_1, 1e-05f);
    let factor_and_scale_1 = factor_1 * finite_scale_1;
    let factor_bits_1 = bitcast<u32>(factor_1);
    let x_scale_1 = select(finite_scale_1, factor_1, (factor_bits_1 - 1u) >= 2139095039u);
    var q_sum_1: i32 = 0i;
    let ones_1 = 16843009u;
    let moved_1 = vg_1 * factor_and_scale_1 + 12582912f;
    let q_1 = bitcast<i32>(bitcast<u32>(moved_1) - 1262485504u);
    let byte_1 = bitcast<u32>(q_1) & 255u;
    let sg_79 = subgroupShuffleXor(byte_1, 1u);
    let two_1 = byte_1 | (sg_79 << 8u);
    let sg_80 = subgroupShuffleXor(two_1, 2u);
    let word_1 = two_1 | (sg_80 << 16u);
    q_sum_1 += dot4I8Packed(word_1, ones_1);
    if ((tid & 3u) == 0u) {
      let unit_1 = (tid + 0u) / 16u;
      let vec_1 = ((unit_1 >> 1u) & 3u) * 4u + (unit_1 >> 3u) * 2u + (unit_1 & 1u);
      let part_of_unit_1 = tid / 4u % 4u;
      staged[vec_1][part_of_unit_1] = word_1;
    }
    let my_sum_1 = q_sum_1;
    let sg_81 = subgroupShuffleXor(my_sum_1, 4u);
    let group_sum_3 = my_sum_1 + sg_81;
    let sg_82 = subgroupShuffleXor(group_sum_3, 8u);
    let group_sum_4 = group_sum_3 + sg_82;
    let sg_83 = subgroupShuffleXor(group_sum_4, 16u);
    let group_sum_5 = group_sum_4 + sg_83;
    if ((tid & 31u) == 0u) {
      group_sums_1[tid / 32u] = group_sum_5;
    }
    workgroupBarrier();
    let sum_of_group_1 = group_sums_1[tid & 7u];
    let sg_84 = subgroupShuffleXor(sum_of_group_1, 4u);
    let sum_72 = sum_of_group_1 + sg_84;
    let sg_85 = subgroupShuffleXor(sum_72, 2u);
    let sum_73 = sum_72 + sg_85;
    let sg_86 = subgroupShuffleXor(sum_73, 1u);
    let sum_74 = sum_73 + sg_86;
    let group_5 = tid / 8u;
    let lane_of_row_5 = tid & 7u;
    let row_5 = first_row_3 + group_5;
    let safe_row_5 = min(row_5, end_row_3 - 1u);
    let start_5 = layer * 7168u + 4096u + safe_row_5 * 4u;
    let start_6 = layer * 7168u + 5120u + safe_row_5 * 4u;
    let i_8 = min(lane_of_row_5 + 0u, 3u);
    let w4_5 = w[start_5 + i_8];
    let w4_6 = w[start_6 + i_8];
    let vectors_at_2 = layer * 1032u;
    let column_4 = tid + 0u;
    let gain_3 = vectors[vectors_at_2 + 512u + column_4];
    let w_scale_8 = vectors[vectors_at_2 + 1028u];
    let w_scale_9 = vectors[vectors_at_2 + 1029u];
    var kept_w_2: vec4<u32> = w4_4;
    for (var first_of_groups_1 = first_row_2; first_of_groups_1 < end_row_2; first_of_groups_1 += 16u) {
      let group_6 = tid / 16u;
      let lane_of_row_6 = tid & 15u;
      let row_6 = first_of_groups_1 + group_6;
      let safe_row_6 = min(row_6, end_row_2 - 1u);
      let start_7 = layer * 7168u + 3072u + safe_row_6 * 4u;
      let i_9 = min(lane_of_row_6 + 0u, 3u);
      let w4_7 = kept_w_2;
      var acc_3: i32 = 0i;
      let i_10 = lane_of_row_6 + 0u;
      if (i_10 < 4u) {
        let q4_4 = staged[0u + i_10];
        acc_3 += dot4I8Packed((w4_7.x >> 6u) & 0x03030303u, q4_4.x);
        acc_3 += dot4I8Packed((w4_7.y >> 6u) & 0x03030303u, q4_4.y);
        acc_3 += dot4I8Packed((w4_7.z >> 6u) & 0x03030303u, q4_4.z);
        acc_3 += dot4I8Packed((w4_7.w >> 6u) & 0x03030303u, q4_4.w);
        let q4_5 = staged[4u + i_10];
        acc_3 += dot4I8Packed((w4_7.x >> 4u) & 0x03030303u, q4_5.x);
        acc_3 += dot4I8Packed((w4_7.y >> 4u) & 0x03030303u, q4_5.y);
        acc_3 += dot4I8Packed((w4_7.z >> 4u) & 0x03030303u, q4_5.z);
        acc_3 += dot4I8Packed((w4_7.w >> 4u) & 0x03030303u, q4_5.w);
        let q4_6 = staged[8u + i_10];
        acc_3 += dot4I8Packed((w4_7.x >> 2u) & 0x03030303u, q4_6.x);
        acc_3 += dot4I8Packed((w4_7.y >> 2u) & 0x03030303u, q4_6.y);
        acc_3 += dot4I8Packed((w4_7.z >> 2u) & 0x03030303u, q4_6.z);
        acc_3 += dot4I8Packed((w4_7.w >> 2u) & 0x03030303u, q4_6.w);
        let q4_7 = staged[12u + i_10];
        acc_3 += dot4I8Packed(w4_7.x & 0x03030303u, q4_7.x);
        acc_3 += dot4I8Packed(w4_7.y & 0x03030303u, q4_7.y);
        acc_3 += dot4I8Packed(w4_7.z & 0x03030303u, q4_7.z);
        acc_3 += dot4I8Packed(w4_7.w & 0x03030303u, q4_7.w);
      }
      let mine_11 = acc_3;
      let sg_87 = subgroupShuffleXor(mine_11, 8u);
      let sum_75 = mine_11 + sg_87;
      let sg_88 = subgroupShuffleXor(sum_75, 4u);
      let sum_76 = sum_75 + sg_88;
      let sg_89 = subgroupShuffleXor(sum_76, 2u);
      let sum_77 = sum_76 + sg_89;
      let sg_90 = subgroupShuffleXor(sum_77, 1u);
      let sum_78 = sum_77 + sg_90;
      if ((lane_of_row_6 == 0u) && (row_6 < end_row_2)) {
        let value_8 = f32(sum_78 - sum_74) / x_scale_1 * w_scale_7;
        let mine_at = row_6 - first_row;
        let x_new = residual[mine_at] + value_8;
        residual[mine_at] = x_new;
        let place_13 = row_6 + 1872u;
        let value_bits_6 = bitcast<u32>(x_new);
        let half_6 = select(2u, 0u, (value_bits_6 & 2139095040u) == 2139095040u);
        let rounded_6 = value_bits_6 + half_6;
        atomicStore(&words[place_13], (rounded_6 & 4294967292u) | tag);
      }
      if ((first_of_groups_1 + 16u) < end_row_2) {
        let group_7 = tid / 16u;
        let lane_of_row_7 = tid & 15u;
        let later_row_1 = row_6 + 16u;
        let safe_row_7 = min(later_row_1, end_row_2 - 1u);
        let start_8 = layer * 7168u + 3072u + safe_row_7 * 4u;
        let i_11 = min(lane_of_row_7 + 0u, 3u);
        let w4_8 = w[start_8 + i_11];
        kept_w_2 = w4_8;
      }
    }
    let column_5 = tid + 0u;
    let place_14 = column_5 + 1872u;
    let last_place_2 = 2127u;
    var found_7: u32 = 0u;
    var waits_4: u32 = 1u;
    if (tid < 32u) {
      let end_8 = patience;
      for (var early_4 = 0u; early_4 < end_8; early_4 += 1u) {
        let now_21 = (atomicLoad(&words[last_place_2]));
        found_7 = now_21;
        var n_failed_8: u32 = 0u;
        if ((early_4 & 255u) == 255u) {
          let now_22 = (atomicLoad(&words[32u]));
          n_failed_8 = now_22;
        }
        let given_up_8 = n_failed_8 != 0u;
        if ((((found_7 ^ tag) & 3u) == 0u) || given_up_8) {
          break;
        }
      }
    }
    workgroupBarrier();
    let end_9 = patience;
    for (var tries_4 = 0u; tries_4 < end_9; tries_4 += 1u) {
      let now_23 = (atomicLoad(&words[place_14]));
      found_7 = now_23;
      var odd_4: u32 = 0u;
      odd_4 = odd_4 | (found_7 ^ tag);
      if ((odd_4 & 3u) == 0u) {
        waits_4 = 0u;
        break;
      }
      var n_failed_9: u32 = 0u;
      if ((tries_4 & 255u) == 255u) {
        let now_24 = (atomicLoad(&words[32u]));
        n_failed_9 = now_24;
      }
      let given_up_9 = n_failed_9 != 0u;
      if (given_up_9) {
        break;
      }
    }
    if (waits_4 != 0u) {
      if (patience != 1u) {
        let old_4 = (atomicAdd(&words[32u], 1u));
      }
      patience = 1u;
    }
    let value_9 = bitcast<f32>(found_7 & 4294967292u);
    var squares_2: f32 = 0f;
    var largest_2: f32 = 0f;
    let vg_2 = value_9 * gain_3;
    largest_2 = max(largest_2, abs(vg_2));
    squares_2 += value_9 * value_9;
    let my_squares_2 = squares_2;
    let my_largest_2 = largest_2;
    let sg_91 = subgroupShuffleXor(my_squares_2, 16u);
    let sum_79 = my_squares_2 + sg_91;
    let sg_92 = subgroupShuffleXor(sum_79, 8u);
    let sum_80 = sum_79 + sg_92;
    let sg_93 = subgroupShuffleXor(sum_80, 4u);
    let sum_81 = sum_80 + sg_93;
    let sg_94 = subgroupShuffleXor(sum_81, 2u);
    let sum_82 = sum_81 + sg_94;
    let sg_95 = subgroupShuffleXor(sum_82, 1u);
    let sum_83 = sum_82 + sg_95;
    let sg_96 = subgroupShuffleXor(my_largest_2, 16u);
    let sum_84 = max(my_largest_2, sg_96);
    let sg_97 = subgroupShuffleXor(sum_84, 8u);
    let sum_85 = max(sum_84, sg_97);
    let sg_98 = subgroupShuffleXor(sum_85, 4u);
    let sum_86 = max(sum_85, sg_98);
    let sg_99 = subgroupShuffleXor(sum_86, 2u);
    let sum_87 = max(sum_86, sg_99);
    let sg_100 = subgroupShuffleXor(sum_87, 1u);
    let sum_88 = max(sum_87, sg_100);
    if ((tid & 31u) == 0u) {
      group_stats_2[tid / 32u] = vec2<f32>(sum_83, sum_88);
    }
    workgroupBarrier();
    let of_group_2 = group_stats_2[tid & 7u];
    let sg_101 = subgroupShuffleXor(of_group_2.x, 4u);
    let sum_89 = of_group_2.x + sg_101;
    let sg_102 = subgroupShuffleXor(sum_89, 2u);
    let sum_90 = sum_89 + sg_102;
    let sg_103 = subgroupShuffleXor(sum_90, 1u);
    let sum_91 = sum_90 + sg_103;
    let largest_of_group_2 = of_group_2.y;
    let sg_104 = subgroupShuffleXor(largest_of_group_2, 4u);
    let sum_92 = max(largest_of_group_2, sg_104);
    let sg_105 = subgroupShuffleXor(sum_92, 2u);
    let sum_93 = max(sum_92, sg_105);
    let sg_106 = subgroupShuffleXor(sum_93, 1u);
    let sum_94 = max(sum_93, sg_106);
    let factor_2 = 1f / sqrt(sum_91 / 256f + 1e-05f);
    let finite_scale_2 = 127f / max(sum_94 * factor_2, 1e-05f);
    let factor_and_scale_2 = factor_2 * finite_scale_2;
    let factor_bits_2 = bitcast<u32>(factor_2);
    let x_scale_2 = select(finite_scale_2, factor_2, (factor_bits_2 - 1u) >= 2139095039u);
    var q_sum_2: i32 = 0i;
    let ones_2 = 16843009u;
    let moved_2 = vg_2 * factor_and_scale_2 + 12582912f;
    let q_2 = bitcast<i32>(bitcast<u32>(moved_2) - 1262485504u);
    let byte_2 = bitcast<u32>(q_2) & 255u;
    let sg_107 = subgroupShuffleXor(byte_2, 1u);
    let two_2 = byte_2 | (sg_107 << 8u);
    let sg_108 = subgroupShuffleXor(two_2, 2u);
    let word_2 = two_2 | (sg_108 << 16u);
    q_sum_2 += dot4I8Packed(word_2, ones_2);
    if ((tid & 3u) == 0u) {
      let unit_2 = (tid + 0u) / 16u;
      let vec_2 = ((unit_2 >> 1u) & 3u) * 4u + (unit_2 >> 3u) * 2u + (unit_2 & 1u);
      let part_of_unit_2 = tid / 4u % 4u;
      staged[vec_2][part_of_unit_2] = word_2;
    }
    let my_sum_2 = q_sum_2;
    let sg_109 = subgroupShuffleXor(my_sum_2, 4u);
    let group_sum_6 = my_sum_2 + sg_109;
    let sg_110 = subgroupShuffleXor(group_sum_6, 8u);
    let group_sum_7 = group_sum_6 + sg_110;
    let sg_111 = subgroupShuffleXor(group_sum_7, 16u);
    let group_sum_8 = group_sum_7 + sg_111;
    if ((tid & 31u) == 0u) {
      group_sums_2[tid / 32u] = group_sum_8;
    }
    workgroupBarrier();
    let sum_of_group_2 = group_sums_2[tid & 7u];
    let sg_112 = subgroupShuffleXor(sum_of_group_2, 4u);
    let sum_95 = sum_of_group_2 + sg_112;
    let sg_113 = subgroupShuffleXor(sum_95, 2u);
    let sum_96 = sum_95 + sg_113;
    let sg_114 = subgroupShuffleXor(sum_96, 1u);
    let sum_97 = sum_96 + sg_114;
    let group_8 = tid / 16u;
    let lane_of_row_8 = tid & 15u;
    let row_7 = first_row_4 + group_8;
    let safe_row_8 = min(row_7, end_row_4 - 1u);
    let start_9 = layer * 7168u + 6144u + safe_row_8 * 4u;
    let i_12 = min(lane_of_row_8 + 0u, 3u);
    let w4_9 = w[start_9 + i_12];
    let vectors_at_3 = layer * 1032u;
    let column_6 = tid + 0u;
    let gain_4 = vectors[vectors_at_3 + 768u + column_6];
    let w_scale_10 = vectors[vectors_at_3 + 1030u];
    var kept_w_3: vec4<u32> = w4_5;
    var kept_w_4: vec4<u32> = w4_6;
    for (var first_of_groups_2 = first_row_3; first_of_groups_2 < end_row_3; first_of_groups_2 += 32u) {
      let group_9 = tid / 8u;
      let lane_of_row_9 = tid & 7u;
      let row_8 = first_of_groups_2 + group_9;
      let safe_row_9 = min(row_8, end_row_3 - 1u);
      let start_10 = layer * 7168u + 4096u + safe_row_9 * 4u;
      let start_11 = layer * 7168u + 5120u + safe_row_9 * 4u;
      let i_13 = min(lane_of_row_9 + 0u, 3u);
      let w4_10 = kept_w_3;
      let w4_11 = kept_w_4;
      var acc_4: i32 = 0i;
      var acc_5: i32 = 0i;
      let i_14 = lane_of_row_9 + 0u;
      if (i_14 < 4u) {
        let q4_8 = staged[0u + i_14];
        acc_4 += dot4I8Packed((w4_10.x >> 6u) & 0x03030303u, q4_8.x);
        acc_5 += dot4I8Packed((w4_11.x >> 6u) & 0x03030303u, q4_8.x);
        acc_4 += dot4I8Packed((w4_10.y >> 6u) & 0x03030303u, q4_8.y);
        acc_5 += dot4I8Packed((w4_11.y >> 6u) & 0x03030303u, q4_8.y);
        acc_4 += dot4I8Packed((w4_10.z >> 6u) & 0x03030303u, q4_8.z);
        acc_5 += dot4I8Packed((w4_11.z >> 6u) & 0x03030303u, q4_8.z);
        acc_4 += dot4I8Packed((w4_10.w >> 6u) & 0x03030303u, q4_8.w);
        acc_5 += dot4I8Packed((w4_11.w >> 6u) & 0x03030303u, q4_8.w);
        let q4_9 = staged[4u + i_14];
        acc_4 += dot4I8Packed((w4_10.x >> 4u) & 0x03030303u, q4_9.x);
        acc_5 += dot4I8Packed((w4_11.x >> 4u) & 0x03030303u, q4_9.x);
        acc_4 += dot4I8Packed((w4_10.y >> 4u) & 0x03030303u, q4_9.y);
        acc_5 += dot4I8Packed((w4_11.y >> 4u) & 0x03030303u, q4_9.y);
        acc_4 += dot4I8Packed((w4_10.z >> 4u) & 0x03030303u, q4_9.z);
        acc_5 += dot4I8Packed((w4_11.z >> 4u) & 0x03030303u, q4_9.z);
        acc_4 += dot4I8Packed((w4_10.w >> 4u) & 0x03030303u, q4_9.w);
        acc_5 += dot4I8Packed((w4_11.w >> 4u) & 0x03030303u, q4_9.w);
        let q4_10 = staged[8u + i_14];
        acc_4 += dot4I8Packed((w4_10.x >> 2u) & 0x03030303u, q4_10.x);
        acc_5 += dot4I8Packed((w4_11.x >> 2u) & 0x03030303u, q4_10.x);
        acc_4 += dot4I8Packed((w4_10.y >> 2u) & 0x03030303u, q4_10.y);
        acc_5 += dot4I8Packed((w4_11.y >> 2u) & 0x03030303u, q4_10.y);
        acc_4 += dot4I8Packed((w4_10.z >> 2u) & 0x03030303u, q4_10.z);
        acc_5 += dot4I8Packed((w4_11.z >> 2u) & 0x03030303u, q4_10.z);
        acc_4 += dot4I8Packed((w4_10.w >> 2u) & 0x03030303u, q4_10.w);
        acc_5 += dot4I8Packed((w4_11.w >> 2u) & 0x03030303u, q4_10.w);
        let q4_11 = staged[12u + i_14];
        acc_4 += dot4I8Packed(w4_10.x & 0x03030303u, q4_11.x);
        acc_5 += dot4I8Packed(w4_11.x & 0x03030303u, q4_11.x);
        acc_4 += dot4I8Packed(w4_10.y & 0x03030303u, q4_11.y);
        acc_5 += dot4I8Packed(w4_11.y & 0x03030303u, q4_11.y);
        acc_4 += dot4I8Packed(w4_10.z & 0x03030303u, q4_11.z);
        acc_5 += dot4I8Packed(w4_11.z & 0x03030303u, q4_11.z);
        acc_4 += dot4I8Packed(w4_10.w & 0x03030303u, q4_11.w);
        acc_5 += dot4I8Packed(w4_11.w & 0x03030303u, q4_11.w);
      }
      let mine_12 = acc_4;
      let sg_115 = subgroupShuffleXor(mine_12, 4u);
      let sum_98 = mine_12 + sg_115;
      let sg_116 = subgroupShuffleXor(sum_98, 2u);
      let sum_99 = sum_98 + sg_116;
      let sg_117 = subgroupShuffleXor(sum_99, 1u);
      let sum_100 = sum_99 + sg_117;
      let mine_13 = acc_5;
      let sg_118 = subgroupShuffleXor(mine_13, 4u);
      let sum_101 = mine_13 + sg_118;
      let sg_119 = subgroupShuffleXor(sum_101, 2u);
      let sum_102 = sum_101 + sg_119;
      let sg_120 = subgroupShuffleXor(sum_102, 1u);
      let sum_103 = sum_102 + sg_120;
      if ((lane_of_row_9 == 0u) && (row_8 < end_row_3)) {
        let gate = f32(sum_100 - sum_97) / x_scale_2 * w_scale_8;
        let up = f32(sum_103 - sum_97) / x_scale_2 * w_scale_9;
        let positive = max(gate, 0f);
        let value_10 = positive * positive * up;
        let place_15 = row_8 + 2128u;
        let value_bits_7 = bitcast<u32>(value_10);
        let half_7 = select(2u, 0u, (value_bits_7 & 2139095040u) == 2139095040u);
        let rounded_7 = value_bits_7 + half_7;
        atomicStore(&words[place_15], (rounded_7 & 4294967292u) | tag);
      }
      if ((first_of_groups_2 + 32u) < end_row_3) {
        let group_10 = tid / 8u;
        let lane_of_row_10 = tid & 7u;
        let later_row_2 = row_8 + 32u;
        let safe_row_10 = min(later_row_2, end_row_3 - 1u);
        let start_12 = layer * 7168u + 4096u + safe_row_10 * 4u;
        let start_13 = layer * 7168u + 5120u + safe_row_10 * 4u;
        let i_15 = min(lane_of_row_10 + 0u, 3u);
        let w4_12 = w[start_12 + i_15];
        let w4_13 = w[start_13 + i_15];
        kept_w_3 = w4_12;
        kept_w_4 = w4_13;
      }
    }
    let column_7 = tid + 0u;
    let place_16 = column_7 + 2128u;
    let last_place_3 = 2383u;
    var found_8: u32 = 0u;
    var waits_5: u32 = 1u;
    if (tid < 32u) {
      let end_10 = patience;
      for (var early_5 = 0u; early_5 < end_10; early_5 += 1u) {
        let now_25 = (atomicLoad(&words[last_place_3]));
        found_8 = now_25;
        var n_failed_10: u32 = 0u;
        if ((early_5 & 255u) == 255u) {
          let now_26 = (atomicLoad(&words[32u]));
          n_failed_10 = now_26;
        }
        let given_up_10 = n_failed_10 != 0u;
        if ((((found_8 ^ tag) & 3u) == 0u) || given_up_10) {
          break;
        }
      }
    }
    workgroupBarrier();
    let end_11 = patience;
    for (var tries_5 = 0u; tries_5 < end_11; tries_5 += 1u) {
      let now_27 = (atomicLoad(&words[place_16]));
      found_8 = now_27;
      var odd_5: u32 = 0u;
      odd_5 = odd_5 | (found_8 ^ tag);
      if ((odd_5 & 3u) == 0u) {
        waits_5 = 0u;
        break;
      }
      var n_failed_11: u32 = 0u;
      if ((tries_5 & 255u) == 255u) {
        let now_28 = (atomicLoad(&words[32u]));
        n_failed_11 = now_28;
      }
      let given_up_11 = n_failed_11 != 0u;
      if (given_up_11) {
        break;
      }
    }
    if (waits_5 != 0u) {
      if (patience != 1u) {
        let old_5 = (atomicAdd(&words[32u], 1u));
      }
      patience = 1u;
    }
    let value_11 = bitcast<f32>(found_8 & 4294967292u);
    var squares_3: f32 = 0f;
    var largest_3: f32 = 0f;
    let vg_3 = value_11 * gain_4;
    largest_3 = max(largest_3, abs(vg_3));
    squares_3 += value_11 * value_11;
    let my_squares_3 = squares_3;
    let my_largest_3 = largest_3;
    let sg_121 = subgroupShuffleXor(my_squares_3, 16u);
    let sum_104 = my_squares_3 + sg_121;
    let sg_122 = subgroupShuffleXor(sum_104, 8u);
    let sum_105 = sum_104 + sg_122;
    let sg_123 = subgroupShuffleXor(sum_105, 4u);
    let sum_106 = sum_105 + sg_123;
    let sg_124 = subgroupShuffleXor(sum_106, 2u);
    let sum_107 = sum_106 + sg_124;
    let sg_125 = subgroupShuffleXor(sum_107, 1u);
    let sum_108 = sum_107 + sg_125;
    let sg_126 = subgroupShuffleXor(my_largest_3, 16u);
    let sum_109 = max(my_largest_3, sg_126);
    let sg_127 = subgroupShuffleXor(sum_109, 8u);
    let sum_110 = max(sum_109, sg_127);
    let sg_128 = subgroupShuffleXor(sum_110, 4u);
    let sum_111 = max(sum_110, sg_128);
    let sg_129 = subgroupShuffleXor(sum_111, 2u);
    let sum_112 = max(sum_111, sg_129);
    let sg_130 = subgroupShuffleXor(sum_112, 1u);
    let sum_113 = max(sum_112, sg_130);
    if ((tid & 31u) == 0u) {
      group_stats_3[tid / 32u] = vec2<f32>(sum_108, sum_113);
    }
    workgroupBarrier();
    let of_group_3 = group_stats_3[tid & 7u];
    let sg_131 = subgroupShuffleXor(of_group_3.x, 4u);
    let sum_114 = of_group_3.x + sg_131;
    let sg_132 = subgroupShuffleXor(sum_114, 2u);
    let sum_115 = sum_114 + sg_132;
    let sg_133 = subgroupShuffleXor(sum_115, 1u);
    let sum_116 = sum_115 + sg_133;
    let largest_of_group_3 = of_group_3.y;
    let sg_134 = subgroupShuffleXor(largest_of_group_3, 4u);
    let sum_117 = max(largest_of_group_3, sg_134);
    let sg_135 = subgroupShuffleXor(sum_117, 2u);
    let sum_118 = max(sum_117, sg_135);
    let sg_136 = subgroupShuffleXor(sum_118, 1u);
    let sum_119 = max(sum_118, sg_136);
    let factor_3 = 1f / sqrt(sum_116 / 256f + 1e-05f);
    let finite_scale_3 = 127f / max(sum_119 * factor_3, 1e-05f);
    let factor_and_scale_3 = factor_3 * finite_scale_3;
    let factor_bits_3 = bitcast<u32>(factor_3);
    let x_scale_3 = select(finite_scale_3, factor_3, (factor_bits_3 - 1u) >= 2139095039u);
    var q_sum_3: i32 = 0i;
    let ones_3 = 16843009u;
    let moved_3 = vg_3 * factor_and_scale_3 + 12582912f;
    let q_3 = bitcast<i32>(bitcast<u32>(moved_3) - 1262485504u);
    let byte_3 = bitcast<u32>(q_3) & 255u;
    let sg_137 = subgroupShuffleXor(byte_3, 1u);
    let two_3 = byte_3 | (sg_137 << 8u);
    let sg_138 = subgroupShuffleXor(two_3, 2u);
    let word_3 = two_3 | (sg_138 << 16u);
    q_sum_3 += dot4I8Packed(word_3, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_3 = (tid + 0u) / 16u;
      let vec_3 = ((unit_3 >> 1u) & 3u) * 4u + (unit_3 >> 3u) * 2u + (unit_3 & 1u);
      let part_of_unit_3 = tid / 4u % 4u;
      staged[vec_3][part_of_unit_3] = word_3;
    }
    let my_sum_3 = q_sum_3;
    let sg_139 = subgroupShuffleXor(my_sum_3, 4u);
    let group_sum_9 = my_sum_3 + sg_139;
    let sg_140 = subgroupShuffleXor(group_sum_9, 8u);
    let group_sum_10 = group_sum_9 + sg_140;
    let sg_141 = subgroupShuffleXor(group_sum_10, 16u);
    let group_sum_11 = group_sum_10 + sg_141;
    if ((tid & 31u) == 0u) {
      group_sums_3[tid / 32u] = group_sum_11;
    }
    workgroupBarrier();
    let sum_of_group_3 = group_sums_3[tid & 7u];
    let sg_142 = subgroupShuffleXor(sum_of_group_3, 4u);
    let sum_120 = sum_of_group_3 + sg_142;
    let sg_143 = subgroupShuffleXor(sum_120, 2u);
    let sum_121 = sum_120 + sg_143;
    let sg_144 = subgroupShuffleXor(sum_121, 1u);
    let sum_122 = sum_121 + sg_144;
    let next_layer = min(layer + 1u, 1u);
    let group_11 = tid / 16u;
    let lane_of_row_11 = tid & 15u;
    let row_9 = first_row_1 + group_11;
    let safe_row_11 = min(row_9, end_row_1 - 1u);
    let start_14 = next_layer * 7168u + 0u + safe_row_11 * 4u;
    let i_16 = min(lane_of_row_11 + 0u, 3u);
    let w4_14 = w[start_14 + i_16];
    let vectors_at_4 = next_layer * 1032u;
    let column_8 = tid + 0u;
    let gain_5 = vectors[vectors_at_4 + 0u + column_8];
    let w_scale_11 = vectors[vectors_at_4 + 1024u];
    let w_scale_12 = vectors[vectors_at_4 + 1025u];
    let w_scale_13 = vectors[vectors_at_4 + 1026u];
    kept_w = w4_14;
    next_gain = gain_5;
    next_scale = w_scale_11;
    next_scale_1 = w_scale_12;
    next_scale_2 = w_scale_13;
    var kept_w_5: vec4<u32> = w4_9;
    for (var first_of_groups_3 = first_row_4; first_of_groups_3 < end_row_4; first_of_groups_3 += 16u) {
      let group_12 = tid / 16u;
      let lane_of_row_12 = tid & 15u;
      let row_10 = first_of_groups_3 + group_12;
      let safe_row_12 = min(row_10, end_row_4 - 1u);
      let start_15 = layer * 7168u + 6144u + safe_row_12 * 4u;
      let i_17 = min(lane_of_row_12 + 0u, 3u);
      let w4_15 = kept_w_5;
      var acc_6: i32 = 0i;
      let i_18 = lane_of_row_12 + 0u;
      if (i_18 < 4u) {
        let q4_12 = staged[0u + i_18];
        acc_6 += dot4I8Packed((w4_15.x >> 6u) & 0x03030303u, q4_12.x);
        acc_6 += dot4I8Packed((w4_15.y >> 6u) & 0x03030303u, q4_12.y);
        acc_6 += dot4I8Packed((w4_15.z >> 6u) & 0x03030303u, q4_12.z);
        acc_6 += dot4I8Packed((w4_15.w >> 6u) & 0x03030303u, q4_12.w);
        let q4_13 = staged[4u + i_18];
        acc_6 += dot4I8Packed((w4_15.x >> 4u) & 0x03030303u, q4_13.x);
        acc_6 += dot4I8Packed((w4_15.y >> 4u) & 0x03030303u, q4_13.y);
        acc_6 += dot4I8Packed((w4_15.z >> 4u) & 0x03030303u, q4_13.z);
        acc_6 += dot4I8Packed((w4_15.w >> 4u) & 0x03030303u, q4_13.w);
        let q4_14 = staged[8u + i_18];
        acc_6 += dot4I8Packed((w4_15.x >> 2u) & 0x03030303u, q4_14.x);
        acc_6 += dot4I8Packed((w4_15.y >> 2u) & 0x03030303u, q4_14.y);
        acc_6 += dot4I8Packed((w4_15.z >> 2u) & 0x03030303u, q4_14.z);
        acc_6 += dot4I8Packed((w4_15.w >> 2u) & 0x03030303u, q4_14.w);
        let q4_15 = staged[12u + i_18];
        acc_6 += dot4I8Packed(w4_15.x & 0x03030303u, q4_15.x);
        acc_6 += dot4I8Packed(w4_15.y & 0x03030303u, q4_15.y);
        acc_6 += dot4I8Packed(w4_15.z & 0x03030303u, q4_15.z);
        acc_6 += dot4I8Packed(w4_15.w & 0x03030303u, q4_15.w);
      }
      let mine_14 = acc_6;
      let sg_145 = subgroupShuffleXor(mine_14, 8u);
      let sum_123 = mine_14 + sg_145;
      let sg_146 = subgroupShuffleXor(sum_123, 4u);
      let sum_124 = sum_123 + sg_146;
      let sg_147 = subgroupShuffleXor(sum_124, 2u);
      let sum_125 = sum_124 + sg_147;
      let sg_148 = subgroupShuffleXor(sum_125, 1u);
      let sum_126 = sum_125 + sg_148;
      if ((lane_of_row_12 == 0u) && (row_10 < end_row_4)) {
        let value_12 = f32(sum_126 - sum_122) / x_scale_3 * w_scale_10;
        let mine_at_1 = row_10 - first_row;
        let x_new_1 = residual[mine_at_1] + value_12;
        residual[mine_at_1] = x_new_1;
        let place_17 = row_10 + 64u;
        let value_bits_8 = bitcast<u32>(x_new_1);
        let half_8 = select(2u, 0u, (value_bits_8 & 2139095040u) == 2139095040u);
        let rounded_8 = value_bits_8 + half_8;
        atomicStore(&words[place_17], (rounded_8 & 4294967292u) | next_tag);
      }
      if ((first_of_groups_3 + 16u) < end_row_4) {
        let group_13 = tid / 16u;
        let lane_of_row_13 = tid & 15u;
        let later_row_3 = row_10 + 16u;
        let safe_row_13 = min(later_row_3, end_row_4 - 1u);
        let start_16 = layer * 7168u + 6144u + safe_row_13 * 4u;
        let i_19 = min(lane_of_row_13 + 0u, 3u);
        let w4_16 = w[start_16 + i_19];
        kept_w_5 = w4_16;
      }
    }
  }
  workgroupBarrier();
  for (var row_11 = first_row + tid; row_11 < end_row; row_11 += 256u) {
    let x_value_1 = residual[row_11 - first_row];
    x[row_11] = x_value_1;
  }
  if ((wg.x == 0u) && (tid == 0u)) {
    atomicStore(&words[0u], (last_tag + 1u + 2u) & 3u);
  }
}
