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
var<workgroup> residual: array<f32, 256>;
var<workgroup> turned: array<f32, 192>;
var<workgroup> sums: array<f32, 544>;
var<workgroup> staged: array<vec4<u32>, 32>;
var<workgroup> row_stats: array<vec2<f32>, 8>;
var<workgroup> made_stats: array<vec2<f32>, 16>;
var<workgroup> row_scales: array<f32, 2>;
var<workgroup> row_sums: array<i32, 8>;

@compute @workgroup_size(256)
fn ternary_rows(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let now = (atomicLoad(&words[1u]));
  var patience: u32 = now;
  let now_1 = (atomicLoad(&words[0u]));
  let last_tag = now_1;
  let n_rows = min(params[0u], 2u);
  let my_row = tid & 1u;
  let is_row = my_row < n_rows;
  let my_words = my_row * 3344u;
  let team = tid / 128u;
  let lane_of_team = tid % 128u;
  let row_of_team = min(team, n_rows - 1u);
  let words_of_team = row_of_team * 3344u;
  let first_row = wg.x * 256u / n_wg.x;
  let end_row = (wg.x + 1u) * 256u / n_wg.x;
  let first_row_1 = wg.x * 768u / n_wg.x;
  let end_row_1 = (wg.x + 1u) * 768u / n_wg.x;
  let first_row_2 = wg.x * 256u / n_wg.x;
  let end_row_2 = (wg.x + 1u) * 256u / n_wg.x;
  let first_row_3 = wg.x * 256u / n_wg.x;
  let end_row_3 = (wg.x + 1u) * 256u / n_wg.x;
  let first_row_4 = wg.x * 256u / n_wg.x;
  let end_row_4 = (wg.x + 1u) * 256u / n_wg.x;
  let first_tag = (last_tag + 1u) & 3u;
  let first_vectors = 0u;
  var squares: f32 = 0f;
  var largest: f32 = 0f;
  for (var col = first_row + tid / 2u; col < end_row; col += 128u) {
    if (is_row) {
      let x_value = x[my_row * 256u + col];
      let mine_at = my_row * 128u + (col - first_row);
      residual[mine_at] = x_value;
      let gain = vectors[first_vectors + col + 0u];
      let vg = x_value * gain;
      squares += x_value * x_value;
      largest = max(largest, abs(vg));
      let row_of_block = (col & 15u) * 32u + ((col >> 4u) & 31u);
      let place = (col & 4294966784u) + row_of_block + 64u;
      let place_in_row = place + my_words;
      let value_bits = bitcast<u32>(vg);
      let half = select(2u, 0u, (value_bits & 2139095040u) == 2139095040u);
      let rounded = value_bits + half;
      atomicStore(&words[place_in_row], (rounded & 4294967292u) | first_tag);
    }
  }
  let my_squares = squares;
  let my_largest = largest;
  let sg = subgroupShuffleXor(my_squares, 2u);
  let both = my_squares + sg;
  let sg_1 = subgroupShuffleXor(both, 4u);
  let both_1 = both + sg_1;
  let sg_2 = subgroupShuffleXor(both_1, 8u);
  let both_2 = both_1 + sg_2;
  let sg_3 = subgroupShuffleXor(both_2, 16u);
  let both_3 = both_2 + sg_3;
  let sg_4 = subgroupShuffleXor(my_largest, 2u);
  let both_4 = max(my_largest, sg_4);
  let sg_5 = subgroupShuffleXor(both_4, 4u);
  let both_5 = max(both_4, sg_5);
  let sg_6 = subgroupShuffleXor(both_5, 8u);
  let both_6 = max(both_5, sg_6);
  let sg_7 = subgroupShuffleXor(both_6, 16u);
  let both_7 = max(both_6, sg_7);
  if ((tid % 32u) < 2u) {
    made_stats[my_row * 8u + tid / 32u] = vec2<f32>(both_3, both_7);
  }
  workgroupBarrier();
  let made_of_subgroup = made_stats[tid & 15u];
  let squares_part = made_of_subgroup.x;
  let sg_8 = subgroupShuffleXor(squares_part, 1u);
  let both_8 = squares_part + sg_8;
  let sg_9 = subgroupShuffleXor(both_8, 2u);
  let both_9 = both_8 + sg_9;
  let sg_10 = subgroupShuffleXor(both_9, 4u);
  let both_10 = both_9 + sg_10;
  let largest_part = made_of_subgroup.y;
  let sg_11 = subgroupShuffleXor(largest_part, 1u);
  let both_11 = max(largest_part, sg_11);
  let sg_12 = subgroupShuffleXor(both_11, 2u);
  let both_12 = max(both_11, sg_12);
  let sg_13 = subgroupShuffleXor(both_12, 4u);
  let both_13 = max(both_12, sg_13);
  let made_row = tid / 8u;
  if ((made_row < n_rows) && ((tid % 8u) == 0u)) {
    let group = wg.x;
    let stats_at = made_row * 2048u + group + 6752u;
    let stats_at_1 = stats_at + 1024u;
    let value_bits_1 = bitcast<u32>(both_10);
    let half_1 = select(2u, 0u, (value_bits_1 & 2139095040u) == 2139095040u);
    let rounded_1 = value_bits_1 + half_1;
    atomicStore(&words[stats_at], (rounded_1 & 4294967292u) | first_tag);
    let value_bits_2 = bitcast<u32>(both_13);
    let half_2 = select(2u, 0u, (value_bits_2 & 2139095040u) == 2139095040u);
    let rounded_2 = value_bits_2 + half_2;
    atomicStore(&words[stats_at_1], (rounded_2 & 4294967292u) | first_tag);
  }
  for (var layer = 0u; layer < 2u; layer += 1u) {
    let tag = (last_tag + 1u + layer) & 3u;
    let next_tag = (tag + 1u) & 3u;
    let vectors_at = layer * 1032u;
    let next_vectors = min(layer + 1u, 1u) * 1032u;
    let group_1 = tid / 16u;
    let lane_of_row = tid & 15u;
    let group_2 = tid / 16u;
    let lane_of_row_1 = tid & 15u;
    let row = first_row_1 + group_2;
    let safe_row = min(row, end_row_1 - 1u);
    let start = layer * 7168u + safe_row * 4u + 0u;
    let i = min(lane_of_row_1 + 0u, 3u);
    let w4 = w[start + i];
    var kept_w: vec4<u32> = w4;
    let w_scale = vectors[vectors_at + 1024u];
    let w_scale_1 = vectors[vectors_at + 1025u];
    let w_scale_2 = vectors[vectors_at + 1026u];
    var row_squares: f32 = 0f;
    var row_largest: f32 = 0f;
    let unit = lane_of_team + 0u;
    let safe_unit = min(unit, 15u) + 0u;
    let place_1 = words_of_team + safe_unit / 32u * 512u + safe_unit % 32u + 64u;
    let place_2 = place_1 + 32u;
    let place_3 = place_1 + 64u;
    let place_4 = place_1 + 96u;
    let place_5 = place_1 + 128u;
    let place_6 = place_1 + 160u;
    let place_7 = place_1 + 192u;
    let place_8 = place_1 + 224u;
    let place_9 = place_1 + 256u;
    let place_10 = place_1 + 288u;
    let place_11 = place_1 + 320u;
    let place_12 = place_1 + 352u;
    let place_13 = place_1 + 384u;
    let place_14 = place_1 + 416u;
    let place_15 = place_1 + 448u;
    let place_16 = place_1 + 480u;
    let first_part = 0u;
    let part = first_part + lane_of_team + 0u;
    let safe_part = min(part, n_wg.x - 1u);
    let stats_at_2 = row_of_team * 2048u + safe_part + 6752u;
    let stats_at_3 = stats_at_2 + 1024u;
    let part_1 = first_part + lane_of_team + 128u;
    let safe_part_1 = min(part_1, n_wg.x - 1u);
    let stats_at_4 = row_of_team * 2048u + safe_part_1 + 6752u;
    let stats_at_5 = stats_at_4 + 1024u;
    let part_2 = first_part + lane_of_team + 256u;
    let safe_part_2 = min(part_2, n_wg.x - 1u);
    let stats_at_6 = row_of_team * 2048u + safe_part_2 + 6752u;
    let stats_at_7 = stats_at_6 + 1024u;
    var found: u32 = 0u;
    var found_1: u32 = 0u;
    var found_2: u32 = 0u;
    var found_3: u32 = 0u;
    var found_4: u32 = 0u;
    var found_5: u32 = 0u;
    var found_6: u32 = 0u;
    var found_7: u32 = 0u;
    var found_8: u32 = 0u;
    var found_9: u32 = 0u;
    var found_10: u32 = 0u;
    var found_11: u32 = 0u;
    var found_12: u32 = 0u;
    var found_13: u32 = 0u;
    var found_14: u32 = 0u;
    var found_15: u32 = 0u;
    var found_16: u32 = 0u;
    var found_17: u32 = 0u;
    var found_18: u32 = 0u;
    var found_19: u32 = 0u;
    var found_20: u32 = 0u;
    var found_21: u32 = 0u;
    var waits: u32 = 1u;
    let end = patience;
    for (var early = 0u; early < end; early += 1u) {
      let now_2 = (atomicLoad(&words[stats_at_7]));
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
    let end_1 = patience;
    for (var tries = 0u; tries < end_1; tries += 1u) {
      let now_4 = (atomicLoad(&words[place_1]));
      found = now_4;
      let now_5 = (atomicLoad(&words[place_2]));
      found_1 = now_5;
      let now_6 = (atomicLoad(&words[place_3]));
      found_2 = now_6;
      let now_7 = (atomicLoad(&words[place_4]));
      found_3 = now_7;
      let now_8 = (atomicLoad(&words[place_5]));
      found_4 = now_8;
      let now_9 = (atomicLoad(&words[place_6]));
      found_5 = now_9;
      let now_10 = (atomicLoad(&words[place_7]));
      found_6 = now_10;
      let now_11 = (atomicLoad(&words[place_8]));
      found_7 = now_11;
      let now_12 = (atomicLoad(&words[place_9]));
      found_8 = now_12;
      let now_13 = (atomicLoad(&words[place_10]));
      found_9 = now_13;
      let now_14 = (atomicLoad(&words[place_11]));
      found_10 = now_14;
      let now_15 = (atomicLoad(&words[place_12]));
      found_11 = now_15;
      let now_16 = (atomicLoad(&words[place_13]));
      found_12 = now_16;
      let now_17 = (atomicLoad(&words[place_14]));
      found_13 = now_17;
      let now_18 = (atomicLoad(&words[place_15]));
      found_14 = now_18;
      let now_19 = (atomicLoad(&words[place_16]));
      found_15 = now_19;
      let now_20 = (atomicLoad(&words[stats_at_2]));
      found_16 = now_20;
      let now_21 = (atomicLoad(&words[stats_at_3]));
      found_17 = now_21;
      let now_22 = (atomicLoad(&words[stats_at_4]));
      found_18 = now_22;
      let now_23 = (atomicLoad(&words[stats_at_5]));
      found_19 = now_23;
      let now_24 = (atomicLoad(&words[stats_at_6]));
      found_20 = now_24;
      let now_25 = (atomicLoad(&words[stats_at_7]));
      found_21 = now_25;
      var odd: u32 = 0u;
      odd = odd | (found ^ tag);
      odd = odd | (found_1 ^ tag);
      odd = odd | (found_2 ^ tag);
      odd = odd | (found_3 ^ tag);
      odd = odd | (found_4 ^ tag);
      odd = odd | (found_5 ^ tag);
      odd = odd | (found_6 ^ tag);
      odd = odd | (found_7 ^ tag);
      odd = odd | (found_8 ^ tag);
      odd = odd | (found_9 ^ tag);
      odd = odd | (found_10 ^ tag);
      odd = odd | (found_11 ^ tag);
      odd = odd | (found_12 ^ tag);
      odd = odd | (found_13 ^ tag);
      odd = odd | (found_14 ^ tag);
      odd = odd | (found_15 ^ tag);
      odd = odd | (found_16 ^ tag);
      odd = odd | (found_17 ^ tag);
      odd = odd | (found_18 ^ tag);
      odd = odd | (found_19 ^ tag);
      odd = odd | (found_20 ^ tag);
      odd = odd | (found_21 ^ tag);
      if ((odd & 3u) == 0u) {
        waits = 0u;
        break;
      }
      var n_failed_1: u32 = 0u;
      if ((tries & 255u) == 255u) {
        let now_26 = (atomicLoad(&words[32u]));
        n_failed_1 = now_26;
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
    let value_1 = bitcast<f32>(found_1 & 4294967292u);
    let value_2 = bitcast<f32>(found_2 & 4294967292u);
    let value_3 = bitcast<f32>(found_3 & 4294967292u);
    let value_4 = bitcast<f32>(found_4 & 4294967292u);
    let value_5 = bitcast<f32>(found_5 & 4294967292u);
    let value_6 = bitcast<f32>(found_6 & 4294967292u);
    let value_7 = bitcast<f32>(found_7 & 4294967292u);
    let value_8 = bitcast<f32>(found_8 & 4294967292u);
    let value_9 = bitcast<f32>(found_9 & 4294967292u);
    let value_10 = bitcast<f32>(found_10 & 4294967292u);
    let value_11 = bitcast<f32>(found_11 & 4294967292u);
    let value_12 = bitcast<f32>(found_12 & 4294967292u);
    let value_13 = bitcast<f32>(found_13 & 4294967292u);
    let value_14 = bitcast<f32>(found_14 & 4294967292u);
    let value_15 = bitcast<f32>(found_15 & 4294967292u);
    let value_16 = bitcast<f32>(found_16 & 4294967292u);
    let value_17 = bitcast<f32>(found_17 & 4294967292u);
    let value_18 = bitcast<f32>(found_18 & 4294967292u);
    let value_19 = bitcast<f32>(found_19 & 4294967292u);
    let value_20 = bitcast<f32>(found_20 & 4294967292u);
    let value_21 = bitcast<f32>(found_21 & 4294967292u);
    if (part < n_wg.x) {
      row_squares += value_16;
    }
    row_largest = max(row_largest, value_17);
    if (part_1 < n_wg.x) {
      row_squares += value_18;
    }
    row_largest = max(row_largest, value_19);
    if (part_2 < n_wg.x) {
      row_squares += value_20;
    }
    row_largest = max(row_largest, value_21);
    for (var from_part = 384u; from_part < n_wg.x; from_part += 384u) {
      let part_3 = from_part + lane_of_team + 0u;
      let safe_part_3 = min(part_3, n_wg.x - 1u);
      let stats_at_8 = row_of_team * 2048u + safe_part_3 + 6752u;
      let stats_at_9 = stats_at_8 + 1024u;
      let part_4 = from_part + lane_of_team + 128u;
      let safe_part_4 = min(part_4, n_wg.x - 1u);
      let stats_at_10 = row_of_team * 2048u + safe_part_4 + 6752u;
      let stats_at_11 = stats_at_10 + 1024u;
      let part_5 = from_part + lane_of_team + 256u;
      let safe_part_5 = min(part_5, n_wg.x - 1u);
      let stats_at_12 = row_of_team * 2048u + safe_part_5 + 6752u;
      let stats_at_13 = stats_at_12 + 1024u;
      var found_22: u32 = 0u;
      var found_23: u32 = 0u;
      var found_24: u32 = 0u;
      var found_25: u32 = 0u;
      var found_26: u32 = 0u;
      var found_27: u32 = 0u;
      var waits_1: u32 = 1u;
      let end_2 = patience;
      for (var early_1 = 0u; early_1 < end_2; early_1 += 1u) {
        let now_27 = (atomicLoad(&words[stats_at_13]));
        found_22 = now_27;
        var n_failed_2: u32 = 0u;
        if ((early_1 & 255u) == 255u) {
          let now_28 = (atomicLoad(&words[32u]));
          n_failed_2 = now_28;
        }
        let given_up_2 = n_failed_2 != 0u;
        if ((((found_22 ^ tag) & 3u) == 0u) || given_up_2) {
          break;
        }
      }
      let end_3 = patience;
      for (var tries_1 = 0u; tries_1 < end_3; tries_1 += 1u) {
        let now_29 = (atomicLoad(&words[stats_at_8]));
        found_22 = now_29;
        let now_30 = (atomicLoad(&words[stats_at_9]));
        found_23 = now_30;
        let now_31 = (atomicLoad(&words[stats_at_10]));
        found_24 = now_31;
        let now_32 = (atomicLoad(&words[stats_at_11]));
        found_25 = now_32;
        let now_33 = (atomicLoad(&words[stats_at_12]));
        found_26 = now_33;
        let now_34 = (atomicLoad(&words[stats_at_13]));
        found_27 = now_34;
        var odd_1: u32 = 0u;
        odd_1 = odd_1 | (found_22 ^ tag);
        odd_1 = odd_1 | (found_23 ^ tag);
        odd_1 = odd_1 | (found_24 ^ tag);
        odd_1 = odd_1 | (found_25 ^ tag);
        odd_1 = odd_1 | (found_26 ^ tag);
        odd_1 = odd_1 | (found_27 ^ tag);
        if ((odd_1 & 3u) == 0u) {
          waits_1 = 0u;
          break;
        }
        var n_failed_3: u32 = 0u;
        if ((tries_1 & 255u) == 255u) {
          let now_35 = (atomicLoad(&words[32u]));
          n_failed_3 = now_35;
        }
        let given_up_3 = n_failed_3 != 0u;
        if (given_up_3) {
          break;
        }
      }
      if (waits_1 != 0u) {
        if (patience != 1u) {
          let old_1 = (atomicAdd(&words[32u], 1u));
        }
        patience = 1u;
      }
      let value_22 = bitcast<f32>(found_22 & 4294967292u);
      let value_23 = bitcast<f32>(found_23 & 4294967292u);
      let value_24 = bitcast<f32>(found_24 & 4294967292u);
      let value_25 = bitcast<f32>(found_25 & 4294967292u);
      let value_26 = bitcast<f32>(found_26 & 4294967292u);
      let value_27 = bitcast<f32>(found_27 & 4294967292u);
      if (part_3 < n_wg.x) {
        row_squares += value_22;
      }
      row_largest = max(row_largest, value_23);
      if (part_4 < n_wg.x) {
        row_squares += value_24;
      }
      row_largest = max(row_largest, value_25);
      if (part_5 < n_wg.x) {
        row_squares += value_26;
      }
      row_largest = max(row_largest, value_27);
    }
    let my_squares_1 = row_squares;
    let my_largest_1 = row_largest;
    let sg_14 = subgroupShuffleXor(my_squares_1, 1u);
    let both_14 = my_squares_1 + sg_14;
    let sg_15 = subgroupShuffleXor(both_14, 2u);
    let both_15 = both_14 + sg_15;
    let sg_16 = subgroupShuffleXor(both_15, 4u);
    let both_16 = both_15 + sg_16;
    let sg_17 = subgroupShuffleXor(both_16, 8u);
    let both_17 = both_16 + sg_17;
    let sg_18 = subgroupShuffleXor(both_17, 16u);
    let both_18 = both_17 + sg_18;
    let sg_19 = subgroupShuffleXor(my_largest_1, 1u);
    let both_19 = max(my_largest_1, sg_19);
    let sg_20 = subgroupShuffleXor(both_19, 2u);
    let both_20 = max(both_19, sg_20);
    let sg_21 = subgroupShuffleXor(both_20, 4u);
    let both_21 = max(both_20, sg_21);
    let sg_22 = subgroupShuffleXor(both_21, 8u);
    let both_22 = max(both_21, sg_22);
    let sg_23 = subgroupShuffleXor(both_22, 16u);
    let both_23 = max(both_22, sg_23);
    if ((tid % 32u) == 0u) {
      row_stats[tid / 32u] = vec2<f32>(both_18, both_23);
    }
    workgroupBarrier();
    var all_squares: f32 = 0f;
    var all_largest: f32 = 0f;
    let stats_part = row_stats[team * 4u + 0u];
    all_squares += stats_part.x;
    all_largest = max(all_largest, stats_part.y);
    let stats_part_1 = row_stats[team * 4u + 1u];
    all_squares += stats_part_1.x;
    all_largest = max(all_largest, stats_part_1.y);
    let stats_part_2 = row_stats[team * 4u + 2u];
    all_squares += stats_part_2.x;
    all_largest = max(all_largest, stats_part_2.y);
    let stats_part_3 = row_stats[team * 4u + 3u];
    all_squares += stats_part_3.x;
    all_largest = max(all_largest, stats_part_3.y);
    let squares_of_row = all_squares;
    let largest_of_row = all_largest;
    let factor = 1f / sqrt(squares_of_row / 256f + 1e-05f);
    let finite_scale = 127f / max(largest_of_row * factor, 1e-05f);
    let factor_and_scale = factor * finite_scale;
    let factor_bits = bitcast<u32>(factor);
    let x_scale = select(finite_scale, factor, (factor_bits - 1u) >= 2139095039u);
    if (lane_of_team == 0u) {
      row_scales[team] = x_scale;
    }
    var q_sum: i32 = 0i;
    if (unit < 16u) {
      let ones = 16843009u;
      let vg4 = vec4<f32>(value, value_1, value_2, value_3);
      let moved = vg4 * factor_and_scale + vec4<f32>(12582912f);
      let q = bitcast<vec4<i32>>(moved);
      let packed = pack4xI8(q);
      q_sum += dot4I8Packed(packed, ones);
      let vg4_1 = vec4<f32>(value_4, value_5, value_6, value_7);
      let moved_1 = vg4_1 * factor_and_scale + vec4<f32>(12582912f);
      let q_1 = bitcast<vec4<i32>>(moved_1);
      let packed_1 = pack4xI8(q_1);
      q_sum += dot4I8Packed(packed_1, ones);
      let vg4_2 = vec4<f32>(value_8, value_9, value_10, value_11);
      let moved_2 = vg4_2 * factor_and_scale + vec4<f32>(12582912f);
      let q_2 = bitcast<vec4<i32>>(moved_2);
      let packed_2 = pack4xI8(q_2);
      q_sum += dot4I8Packed(packed_2, ones);
      let vg4_3 = vec4<f32>(value_12, value_13, value_14, value_15);
      let moved_3 = vg4_3 * factor_and_scale + vec4<f32>(12582912f);
      let q_3 = bitcast<vec4<i32>>(moved_3);
      let packed_3 = pack4xI8(q_3);
      q_sum += dot4I8Packed(packed_3, ones);
      let staged_at = team * 16u + ((unit >> 1u) & 3u) * 4u + ((unit >> 3u) * 2u + (unit & 1u));
      staged[staged_at] = vec4<u32>(packed, packed_1, packed_2, packed_3);
    }
    let my_sum = q_sum;
    let sg_24 = subgroupShuffleXor(my_sum, 16u);
    let sum = my_sum + sg_24;
    let sg_25 = subgroupShuffleXor(sum, 8u);
    let sum_1 = sum + sg_25;
    let sg_26 = subgroupShuffleXor(sum_1, 4u);
    let sum_2 = sum_1 + sg_26;
    let sg_27 = subgroupShuffleXor(sum_2, 2u);
    let sum_3 = sum_2 + sg_27;
    let sg_28 = subgroupShuffleXor(sum_3, 1u);
    let sum_4 = sum_3 + sg_28;
    if ((tid % 32u) == 0u) {
      row_sums[tid / 32u] = sum_4;
    }
    workgroupBarrier();
    let x_scale_1 = row_scales[my_row];
    var x_sum: i32 = 0i;
    x_sum += row_sums[my_row * 4u + 0u];
    x_sum += row_sums[my_row * 4u + 1u];
    x_sum += row_sums[my_row * 4u + 2u];
    x_sum += row_sums[my_row * 4u + 3u];
    let x_sum_of_row = x_sum;
    for (var from_row = first_row_1; from_row < end_row_1; from_row += 16u) {
      let group_3 = tid / 16u;
      let lane_of_row_2 = tid & 15u;
      let row_1 = from_row + group_3;
      let safe_row_1 = min(row_1, end_row_1 - 1u);
      let start_1 = layer * 7168u + safe_row_1 * 4u + 0u;
      let i_1 = min(lane_of_row_2 + 0u, 3u);
      let w4_1 = kept_w;
      var acc: i32 = 0i;
      var acc_1: i32 = 0i;
      let i_2 = lane_of_row_2 + 0u;
      if (i_2 < 4u) {
        for (var plane = 0u; plane < 4u; plane += 1u) {
          let shift = 6u - plane * 2u;
          let codes = (w4_1.x >> shift) & 0x03030303u;
          let codes_1 = (w4_1.y >> shift) & 0x03030303u;
          let codes_2 = (w4_1.z >> shift) & 0x03030303u;
          let codes_3 = (w4_1.w >> shift) & 0x03030303u;
          let q4 = staged[i_2 + plane * 4u + 0u];
          acc += dot4I8Packed(codes, q4.x);
          acc += dot4I8Packed(codes_1, q4.y);
          acc += dot4I8Packed(codes_2, q4.z);
          acc += dot4I8Packed(codes_3, q4.w);
          let q4_1 = staged[i_2 + plane * 4u + 16u];
          acc_1 += dot4I8Packed(codes, q4_1.x);
          acc_1 += dot4I8Packed(codes_1, q4_1.y);
          acc_1 += dot4I8Packed(codes_2, q4_1.z);
          acc_1 += dot4I8Packed(codes_3, q4_1.w);
        }
      }
      let mine = acc;
      let mine_1 = acc_1;
      let is_upper = (lane_of_row_2 & 1u) != 0u;
      let given = select(mine_1, mine, is_upper);
      let stays = select(mine, mine_1, is_upper);
      let sg_29 = subgroupShuffleXor(given, 1u);
      let sum_5 = stays + sg_29;
      let sg_30 = subgroupShuffleXor(sum_5, 2u);
      let sum_6 = sum_5 + sg_30;
      let sg_31 = subgroupShuffleXor(sum_6, 4u);
      let sum_7 = sum_6 + sg_31;
      let sg_32 = subgroupShuffleXor(sum_7, 8u);
      let sum_8 = sum_7 + sg_32;
      if (((lane_of_row_2 < 2u) && is_row) && (row_1 < end_row_1)) {
        let of_k_or_v = select(w_scale_2, w_scale_1, row_1 < 512u);
        let w_scale_of_row = select(of_k_or_v, w_scale, row_1 < 256u);
        let place_17 = row_1 + my_words + 576u;
        let value_28 = f32(sum_8 - x_sum_of_row) / x_scale_1 * w_scale_of_row;
        let value_bits_3 = bitcast<u32>(value_28);
        let half_3 = select(2u, 0u, (value_bits_3 & 2139095040u) == 2139095040u);
        let rounded_3 = value_bits_3 + half_3;
        atomicStore(&words[place_17], (rounded_3 & 4294967292u) | tag);
      }
      let next_rows = from_row + 16u;
      if (next_rows < end_row_1) {
        let group_4 = tid / 16u;
        let lane_of_row_3 = tid & 15u;
        let row_2 = next_rows + group_4;
        let safe_row_2 = min(row_2, end_row_1 - 1u);
        let start_2 = layer * 7168u + safe_row_2 * 4u + 0u;
        let i_3 = min(lane_of_row_3 + 0u, 3u);
        let w4_2 = w[start_2 + i_3];
        kept_w = w4_2;
      }
    }
    let splits = max(1u, min(n_wg.x / (n_rows * 4u), 2u));
    let pairs_at_once = n_wg.x / splits;
    let n_rounds = (n_rows * 4u + pairs_at_once - 1u) / pairs_at_once;
    for (var nth = 0u; nth < n_rounds; nth += 1u) {
      workgroupBarrier();
      let splits_1 = max(1u, min(n_wg.x / (n_rows * 4u), 2u));
      let pairs_at_once_1 = n_wg.x / splits_1;
      let group_of_splits = wg.x / splits_1;
      let pair_of_head = group_of_splits + pairs_at_once_1 * nth;
      let is_used = (group_of_splits < pairs_at_once_1) && (pair_of_head < (n_rows * 4u));
      let safe_pair = select(0u, pair_of_head, is_used);
      let kv_head = safe_pair % 4u;
      let n_heads = 1u;
      let first_head = kv_head * 1u;
      let split = wg.x % splits_1;
      let row_of_head = safe_pair / 4u;
      let row_words = row_of_head * 3344u;
      let pos = params[row_of_head * 3u + 3u];
      let table = params[row_of_head * 3u + 4u];
      let n_pos = pos + 1u;
      let first_pos = split * n_pos / splits_1;
      let next_split = split + 1u;
      let end_pos = select(first_pos, next_split * n_pos / splits_1, is_used);
      let lane_of_pos = tid % 8u;
      let group_of_pos = tid / 8u;
      let kv_layer = (arrayLength(&kv)) / 2u;
      let newest = first_pos + group_of_pos;
      let angles_at = (params[row_of_head * 3u + 5u] + pos) * 32u;
      let pair = min(tid + 0u, 95u) % 32u;
      let angle = angles[angles_at + pair];
      let safe_pos = min(newest, pos);
      let safe_head = min(kv_head, 3u);
      let block = params[table + safe_pos / 64u];
      let key_at = ((block * 8u + safe_head) * 64u + safe_pos % 64u) * 8u + lane_of_pos;
      let key_of_layer = layer * kv_layer + key_at;
      let k8 = kv[key_of_layer + 0u];
      let v8 = kv[key_of_layer + 2048u];
      let n_pairs = (n_heads + 2u) * 32u;
      let pair_1 = min(tid + 0u, n_pairs - 1u);
      let slot = pair_1 / 32u;
      let pair_of_head_1 = pair_1 % 32u;
      let is_query = slot < n_heads;
      let is_value = slot == (n_heads + 1u);
      let of_kv = kv_head + 4u + select(0u, 4u, is_value);
      let head = select(of_kv, first_head + slot, is_query);
      let safe_slot = select(0u, head, is_used);
      let a_at = pair_of_head_1;
      let b_at = pair_of_head_1 + 32u;
      let place_18 = safe_slot * 64u + a_at + 576u;
      let place_19 = place_18 + row_words;
      let place_20 = safe_slot * 64u + b_at + 576u;
      let place_21 = place_20 + row_words;
      var found_28: u32 = 0u;
      var found_29: u32 = 0u;
      var waits_2: u32 = 1u;
      let end_4 = patience;
      for (var early_2 = 0u; early_2 < end_4; early_2 += 1u) {
        let now_36 = (atomicLoad(&words[place_21]));
        found_28 = now_36;
        var n_failed_4: u32 = 0u;
        if ((early_2 & 255u) == 255u) {
          let now_37 = (atomicLoad(&words[32u]));
          n_failed_4 = now_37;
        }
        let given_up_4 = n_failed_4 != 0u;
        if ((((found_28 ^ tag) & 3u) == 0u) || given_up_4) {
          break;
        }
      }
      let end_5 = patience;
      for (var tries_2 = 0u; tries_2 < end_5; tries_2 += 1u) {
        let now_38 = (atomicLoad(&words[place_19]));
        found_28 = now_38;
        let now_39 = (atomicLoad(&words[place_21]));
        found_29 = now_39;
        var odd_2: u32 = 0u;
        odd_2 = odd_2 | (found_28 ^ tag);
        odd_2 = odd_2 | (found_29 ^ tag);
        if ((odd_2 & 3u) == 0u) {
          waits_2 = 0u;
          break;
        }
        var n_failed_5: u32 = 0u;
        if ((tries_2 & 255u) == 255u) {
          let now_40 = (atomicLoad(&words[32u]));
          n_failed_5 = now_40;
        }
        let given_up_5 = n_failed_5 != 0u;
        if (given_up_5) {
          break;
        }
      }
      if (waits_2 != 0u) {
        if (patience != 1u) {
          let old_2 = (atomicAdd(&words[32u], 1u));
        }
        patience = 1u;
      }
      let value_29 = bitcast<f32>(found_28 & 4294967292u);
      let value_30 = bitcast<f32>(found_29 & 4294967292u);
      let turn = select(angle, vec2<f32>(1f, 0f), is_value);
      let q_factor = select(1f, 0.125f, is_query);
      let turned_a = (value_29 * turn.x - value_30 * turn.y) * q_factor;
      let turned_b = (value_30 * turn.x + value_29 * turn.y) * q_factor;
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
      var acc_2: vec4<f32> = vec4<f32>();
      var acc_3: vec4<f32> = vec4<f32>();
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
        let sg_33 = subgroupShuffleXor(my_part, 4u);
        let sum_9 = my_part + sg_33;
        let sg_34 = subgroupShuffleXor(sum_9, 2u);
        let sum_10 = sum_9 + sg_34;
        let sg_35 = subgroupShuffleXor(sum_10, 1u);
        let sum_11 = sum_10 + sg_35;
        let seen = select(-3e+38f, sum_11, is_seen);
        greatest = seen;
        total = select(0f, 1f, is_seen);
        let v4_2 = select(vec4<f32>(0f), v4, is_seen);
        acc_2 = v4_2;
        let v4_3 = select(vec4<f32>(0f), v4_1, is_seen);
        acc_3 = v4_3;
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
          let sg_36 = subgroupShuffleXor(my_part_1, 4u);
          let sum_12 = my_part_1 + sg_36;
          let sg_37 = subgroupShuffleXor(sum_12, 2u);
          let sum_13 = sum_12 + sg_37;
          let sg_38 = subgroupShuffleXor(sum_13, 1u);
          let sum_14 = sum_13 + sg_38;
          let seen_1 = select(-3e+38f, sum_14, is_seen_1);
          let most = max(greatest, seen_1);
          let shrink = exp(greatest - most);
          let weight = select(0f, exp(seen_1 - most), is_seen_1);
          total = total * shrink + weight;
          let v4_6 = select(vec4<f32>(0f), v4_4, is_seen_1);
          acc_2 = acc_2 * shrink + v4_6 * weight;
          let v4_7 = select(vec4<f32>(0f), v4_5, is_seen_1);
          acc_3 = acc_3 * shrink + v4_7 * weight;
          greatest = most;
        }
      }
      if (has_positions) {
        var most_1: f32 = greatest;
        let mine_2 = most_1;
        let sg_39 = subgroupShuffleXor(mine_2, 8u);
        most_1 = max(mine_2, sg_39);
        let mine_3 = most_1;
        let sg_40 = subgroupShuffleXor(mine_3, 16u);
        most_1 = max(mine_3, sg_40);
        let of_subgroup = most_1;
        let shrink_1 = exp(greatest - of_subgroup);
        let my_total = total * shrink_1;
        let sg_41 = subgroupShuffleXor(my_total, 8u);
        let sum_15 = my_total + sg_41;
        let sg_42 = subgroupShuffleXor(sum_15, 16u);
        let sum_16 = sum_15 + sg_42;
        let sums_row = (tid / 32u * 1u + 0u) * 68u;
        let mine_4 = acc_2.x * shrink_1;
        let sg_43 = subgroupShuffleXor(mine_4, 8u);
        let sum_17 = mine_4 + sg_43;
        let sg_44 = subgroupShuffleXor(sum_17, 16u);
        let sum_18 = sum_17 + sg_44;
        if ((tid % 32u) < 8u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 0u)] = sum_18;
        }
        let mine_5 = acc_2.y * shrink_1;
        let sg_45 = subgroupShuffleXor(mine_5, 8u);
        let sum_19 = mine_5 + sg_45;
        let sg_46 = subgroupShuffleXor(sum_19, 16u);
        let sum_20 = sum_19 + sg_46;
        if ((tid % 32u) < 8u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 1u)] = sum_20;
        }
        let mine_6 = acc_2.z * shrink_1;
        let sg_47 = subgroupShuffleXor(mine_6, 8u);
        let sum_21 = mine_6 + sg_47;
        let sg_48 = subgroupShuffleXor(sum_21, 16u);
        let sum_22 = sum_21 + sg_48;
        if ((tid % 32u) < 8u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 2u)] = sum_22;
        }
        let mine_7 = acc_2.w * shrink_1;
        let sg_49 = subgroupShuffleXor(mine_7, 8u);
        let sum_23 = mine_7 + sg_49;
        let sg_50 = subgroupShuffleXor(sum_23, 16u);
        let sum_24 = sum_23 + sg_50;
        if ((tid % 32u) < 8u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 3u)] = sum_24;
        }
        let mine_8 = acc_3.x * shrink_1;
        let sg_51 = subgroupShuffleXor(mine_8, 8u);
        let sum_25 = mine_8 + sg_51;
        let sg_52 = subgroupShuffleXor(sum_25, 16u);
        let sum_26 = sum_25 + sg_52;
        if ((tid % 32u) < 8u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 4u)] = sum_26;
        }
        let mine_9 = acc_3.y * shrink_1;
        let sg_53 = subgroupShuffleXor(mine_9, 8u);
        let sum_27 = mine_9 + sg_53;
        let sg_54 = subgroupShuffleXor(sum_27, 16u);
        let sum_28 = sum_27 + sg_54;
        if ((tid % 32u) < 8u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 5u)] = sum_28;
        }
        let mine_10 = acc_3.z * shrink_1;
        let sg_55 = subgroupShuffleXor(mine_10, 8u);
        let sum_29 = mine_10 + sg_55;
        let sg_56 = subgroupShuffleXor(sum_29, 16u);
        let sum_30 = sum_29 + sg_56;
        if ((tid % 32u) < 8u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 6u)] = sum_30;
        }
        let mine_11 = acc_3.w * shrink_1;
        let sg_57 = subgroupShuffleXor(mine_11, 8u);
        let sum_31 = mine_11 + sg_57;
        let sg_58 = subgroupShuffleXor(sum_31, 16u);
        let sum_32 = sum_31 + sg_58;
        if ((tid % 32u) < 8u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 7u)] = sum_32;
        }
        if ((tid % 32u) == 0u) {
          sums[sums_row + 64u] = of_subgroup;
          sums[sums_row + 65u] = sum_16;
        }
      }
      workgroupBarrier();
      let n_told = 1u;
      for (var out_value = tid; out_value < n_told * 64u; out_value += 256u) {
        let head_1 = out_value / 64u;
        let dim = out_value % 64u;
        var most_2: f32 = -3e+38f;
        for (var i_4 = 0u; i_4 < n_used; i_4 += 1u) {
          let sums_row_1 = (head_1 + i_4 * 1u) * 68u;
          let top = sums[sums_row_1 + 64u];
          most_2 = max(most_2, top);
        }
        var out_sum: f32 = 0f;
        var weights: f32 = 0f;
        for (var i_5 = 0u; i_5 < n_used; i_5 += 1u) {
          let sums_row_2 = (head_1 + i_5 * 1u) * 68u;
          let top_1 = sums[sums_row_2 + 64u];
          let shrink_2 = exp(top_1 - most_2);
          out_sum += sums[sums_row_2 + dim] * shrink_2;
          weights += sums[sums_row_2 + 65u] * shrink_2;
        }
        let part_at = ((first_head + head_1 + 0u) * 2u + split) * 66u;
        if (is_used) {
          let place_22 = part_at + dim + 1344u;
          let place_23 = place_22 + row_words;
          let whole = out_sum;
          let value_bits_4 = bitcast<u32>(whole);
          let half_4 = select(2u, 0u, (value_bits_4 & 2139095040u) == 2139095040u);
          let rounded_4 = value_bits_4 + half_4;
          atomicStore(&words[place_23], (rounded_4 & 4294967292u) | tag);
          if (dim == 0u) {
            let place_24 = part_at + 1408u;
            let place_25 = place_24 + row_words;
            let top_of_all = most_2;
            let value_bits_5 = bitcast<u32>(top_of_all);
            let half_5 = select(2u, 0u, (value_bits_5 & 2139095040u) == 2139095040u);
            let rounded_5 = value_bits_5 + half_5;
            atomicStore(&words[place_25], (rounded_5 & 4294967292u) | tag);
            let place_26 = part_at + 1409u;
            let place_27 = place_26 + row_words;
            let whole_weight = weights;
            let value_bits_6 = bitcast<u32>(whole_weight);
            let half_6 = select(2u, 0u, (value_bits_6 & 2139095040u) == 2139095040u);
            let rounded_6 = value_bits_6 + half_6;
            atomicStore(&words[place_27], (rounded_6 & 4294967292u) | tag);
          }
        }
      }
    }
    let group_5 = tid / 32u;
    let lane_of_row_4 = tid & 31u;
    let group_6 = tid / 32u;
    let lane_of_row_5 = tid & 31u;
    let row_3 = first_row_2 + group_6;
    let row_4 = row_3 + 8u;
    let safe_row_3 = min(row_3, end_row_2 - 1u);
    let start_3 = layer * 7168u + safe_row_3 * 4u + 3072u;
    let safe_row_4 = min(row_4, end_row_2 - 1u);
    let start_4 = layer * 7168u + safe_row_4 * 4u + 3072u;
    let i_6 = min(lane_of_row_5 + 0u, 3u);
    let w4_3 = w[start_3 + i_6];
    let w4_4 = w[start_4 + i_6];
    var kept_w_1: vec4<u32> = w4_3;
    var kept_w_2: vec4<u32> = w4_4;
    let w_scale_3 = vectors[vectors_at + 1027u];
    let first_row_5 = wg.x * 256u / n_wg.x;
    let end_row_5 = (wg.x + 1u) * 256u / n_wg.x;
    let splits_2 = max(1u, min(n_wg.x / (n_rows * 4u), 2u));
    let lane_of_value = tid / 2u % 2u;
    let group_of_value = tid / 4u;
    let safe_my_row = min(my_row, n_rows - 1u) * 3344u;
    var squares_1: f32 = 0f;
    var largest_1: f32 = 0f;
    for (var from_value = first_row_5; from_value < end_row_5; from_value += 64u) {
      let out = min(from_value + group_of_value, end_row_5 - 1u);
      let head_2 = out / 64u;
      let safe_lane = min(lane_of_value, splits_2 - 1u);
      let part_at_1 = (head_2 * 2u + safe_lane) * 66u + safe_my_row + 1344u;
      let place_28 = part_at_1 + out % 64u;
      let place_29 = part_at_1 + 64u;
      let place_30 = part_at_1 + 65u;
      var found_30: u32 = 0u;
      var found_31: u32 = 0u;
      var found_32: u32 = 0u;
      var waits_3: u32 = 1u;
      let end_6 = patience;
      for (var early_3 = 0u; early_3 < end_6; early_3 += 1u) {
        let now_41 = (atomicLoad(&words[place_30]));
        found_30 = now_41;
        var n_failed_6: u32 = 0u;
        if ((early_3 & 255u) == 255u) {
          let now_42 = (atomicLoad(&words[32u]));
          n_failed_6 = now_42;
        }
        let given_up_6 = n_failed_6 != 0u;
        if ((((found_30 ^ tag) & 3u) == 0u) || given_up_6) {
          break;
        }
      }
      let end_7 = patience;
      for (var tries_3 = 0u; tries_3 < end_7; tries_3 += 1u) {
        let now_43 = (atomicLoad(&words[place_28]));
        found_30 = now_43;
        let now_44 = (atomicLoad(&words[place_29]));
        found_31 = now_44;
        let now_45 = (atomicLoad(&words[place_30]));
        found_32 = now_45;
        var odd_3: u32 = 0u;
        odd_3 = odd_3 | (found_30 ^ tag);
        odd_3 = odd_3 | (found_31 ^ tag);
        odd_3 = odd_3 | (found_32 ^ tag);
        if ((odd_3 & 3u) == 0u) {
          waits_3 = 0u;
          break;
        }
        var n_failed_7: u32 = 0u;
        if ((tries_3 & 255u) == 255u) {
          let now_46 = (atomicLoad(&words[32u]));
          n_failed_7 = now_46;
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
      let value_31 = bitcast<f32>(found_30 & 4294967292u);
      let value_32 = bitcast<f32>(found_31 & 4294967292u);
      let value_33 = bitcast<f32>(found_32 & 4294967292u);
      let sg_59 = subgroupShuffleXor(value_32, 2u);
      let both_24 = max(value_32, sg_59);
      let shrink_3 = select(0f, exp(value_32 - both_24), lane_of_value < splits_2);
      let my_value = value_31 * shrink_3;
      let my_weight = value_33 * shrink_3;
      let sg_60 = subgroupShuffleXor(my_value, 2u);
      let both_25 = my_value + sg_60;
      let sg_61 = subgroupShuffleXor(my_weight, 2u);
      let both_26 = my_weight + sg_61;
      if (((lane_of_value == 0u) && ((from_value + group_of_value) < end_row_5)) && is_row) {
        let result = both_25 / both_26;
        let gain_1 = vectors[vectors_at + out + 256u];
        let vg_1 = result * gain_1;
        squares_1 += result * result;
        largest_1 = max(largest_1, abs(vg_1));
        let row_of_block_1 = (out & 15u) * 32u + ((out >> 4u) & 31u);
        let place_31 = (out & 4294966784u) + row_of_block_1 + 1872u;
        let place_in_row_1 = place_31 + my_words;
        let value_bits_7 = bitcast<u32>(vg_1);
        let half_7 = select(2u, 0u, (value_bits_7 & 2139095040u) == 2139095040u);
        let rounded_7 = value_bits_7 + half_7;
        atomicStore(&words[place_in_row_1], (rounded_7 & 4294967292u) | tag);
      }
    }
    let my_squares_2 = squares_1;
    let my_largest_2 = largest_1;
    let sg_62 = subgroupShuffleXor(my_squares_2, 2u);
    let both_27 = my_squares_2 + sg_62;
    let sg_63 = subgroupShuffleXor(both_27, 4u);
    let both_28 = both_27 + sg_63;
    let sg_64 = subgroupShuffleXor(both_28, 8u);
    let both_29 = both_28 + sg_64;
    let sg_65 = subgroupShuffleXor(both_29, 16u);
    let both_30 = both_29 + sg_65;
    let sg_66 = subgroupShuffleXor(my_largest_2, 2u);
    let both_31 = max(my_largest_2, sg_66);
    let sg_67 = subgroupShuffleXor(both_31, 4u);
    let both_32 = max(both_31, sg_67);
    let sg_68 = subgroupShuffleXor(both_32, 8u);
    let both_33 = max(both_32, sg_68);
    let sg_69 = subgroupShuffleXor(both_33, 16u);
    let both_34 = max(both_33, sg_69);
    if ((tid % 32u) < 2u) {
      made_stats[my_row * 8u + tid / 32u] = vec2<f32>(both_30, both_34);
    }
    workgroupBarrier();
    let made_of_subgroup_1 = made_stats[tid & 15u];
    let squares_part_1 = made_of_subgroup_1.x;
    let sg_70 = subgroupShuffleXor(squares_part_1, 1u);
    let both_35 = squares_part_1 + sg_70;
    let sg_71 = subgroupShuffleXor(both_35, 2u);
    let both_36 = both_35 + sg_71;
    let sg_72 = subgroupShuffleXor(both_36, 4u);
    let both_37 = both_36 + sg_72;
    let largest_part_1 = made_of_subgroup_1.y;
    let sg_73 = subgroupShuffleXor(largest_part_1, 1u);
    let both_38 = max(largest_part_1, sg_73);
    let sg_74 = subgroupShuffleXor(both_38, 2u);
    let both_39 = max(both_38, sg_74);
    let sg_75 = subgroupShuffleXor(both_39, 4u);
    let both_40 = max(both_39, sg_75);
    let made_row_1 = tid / 8u;
    if ((made_row_1 < n_rows) && ((tid % 8u) == 0u)) {
      let group_7 = wg.x;
      let stats_at_14 = made_row_1 * 2048u + group_7 + 10848u;
      let stats_at_15 = stats_at_14 + 1024u;
      let value_bits_8 = bitcast<u32>(both_37);
      let half_8 = select(2u, 0u, (value_bits_8 & 2139095040u) == 2139095040u);
      let rounded_8 = value_bits_8 + half_8;
      atomicStore(&words[stats_at_14], (rounded_8 & 4294967292u) | tag);
      let value_bits_9 = bitcast<u32>(both_40);
      let half_9 = select(2u, 0u, (value_bits_9 & 2139095040u) == 2139095040u);
      let rounded_9 = value_bits_9 + half_9;
      atomicStore(&words[stats_at_15], (rounded_9 & 4294967292u) | tag);
    }
    let group_8 = tid / 8u;
    let lane_of_row_6 = tid & 7u;
    let group_9 = tid / 8u;
    let lane_of_row_7 = tid & 7u;
    let row_5 = first_row_3 + group_9;
    let safe_row_5 = min(row_5, end_row_3 - 1u);
    let start_5 = layer * 7168u + safe_row_5 * 4u + 4096u;
    let start_6 = layer * 7168u + safe_row_5 * 4u + 5120u;
    let i_7 = min(lane_of_row_7 + 0u, 3u);
    let w4_5 = w[start_5 + i_7];
    let w4_6 = w[start_6 + i_7];
    var kept_w_3: vec4<u32> = w4_5;
    var kept_w_4: vec4<u32> = w4_6;
    let w_scale_4 = vectors[vectors_at + 1028u];
    let w_scale_5 = vectors[vectors_at + 1029u];
    var squares_2: f32 = 0f;
    var largest_2: f32 = 0f;
    var row_squares_1: f32 = 0f;
    var row_largest_1: f32 = 0f;
    let unit_1 = lane_of_team + 0u;
    let safe_unit_1 = min(unit_1, 15u) + 0u;
    let place_32 = words_of_team + safe_unit_1 / 32u * 512u + safe_unit_1 % 32u + 1872u;
    let place_33 = place_32 + 32u;
    let place_34 = place_32 + 64u;
    let place_35 = place_32 + 96u;
    let place_36 = place_32 + 128u;
    let place_37 = place_32 + 160u;
    let place_38 = place_32 + 192u;
    let place_39 = place_32 + 224u;
    let place_40 = place_32 + 256u;
    let place_41 = place_32 + 288u;
    let place_42 = place_32 + 320u;
    let place_43 = place_32 + 352u;
    let place_44 = place_32 + 384u;
    let place_45 = place_32 + 416u;
    let place_46 = place_32 + 448u;
    let place_47 = place_32 + 480u;
    let first_part_1 = 0u;
    let part_6 = first_part_1 + lane_of_team + 0u;
    let safe_part_6 = min(part_6, n_wg.x - 1u);
    let stats_at_16 = row_of_team * 2048u + safe_part_6 + 10848u;
    let stats_at_17 = stats_at_16 + 1024u;
    let part_7 = first_part_1 + lane_of_team + 128u;
    let safe_part_7 = min(part_7, n_wg.x - 1u);
    let stats_at_18 = row_of_team * 2048u + safe_part_7 + 10848u;
    let stats_at_19 = stats_at_18 + 1024u;
    let part_8 = first_part_1 + lane_of_team + 256u;
    let safe_part_8 = min(part_8, n_wg.x - 1u);
    let stats_at_20 = row_of_team * 2048u + safe_part_8 + 10848u;
    let stats_at_21 = stats_at_20 + 1024u;
    var found_33: u32 = 0u;
    var found_34: u32 = 0u;
    var found_35: u32 = 0u;
    var found_36: u32 = 0u;
    var found_37: u32 = 0u;
    var found_38: u32 = 0u;
    var found_39: u32 = 0u;
    var found_40: u32 = 0u;
    var found_41: u32 = 0u;
    var found_42: u32 = 0u;
    var found_43: u32 = 0u;
    var found_44: u32 = 0u;
    var found_45: u32 = 0u;
    var found_46: u32 = 0u;
    var found_47: u32 = 0u;
    var found_48: u32 = 0u;
    var found_49: u32 = 0u;
    var found_50: u32 = 0u;
    var found_51: u32 = 0u;
    var found_52: u32 = 0u;
    var found_53: u32 = 0u;
    var found_54: u32 = 0u;
    var waits_4: u32 = 1u;
    let end_8 = patience;
    for (var early_4 = 0u; early_4 < end_8; early_4 += 1u) {
      let now_47 = (atomicLoad(&words[stats_at_21]));
      found_33 = now_47;
      var n_failed_8: u32 = 0u;
      if ((early_4 & 255u) == 255u) {
        let now_48 = (atomicLoad(&words[32u]));
        n_failed_8 = now_48;
      }
      let given_up_8 = n_failed_8 != 0u;
      if ((((found_33 ^ tag) & 3u) == 0u) || given_up_8) {
        break;
      }
    }
    let end_9 = patience;
    for (var tries_4 = 0u; tries_4 < end_9; tries_4 += 1u) {
      let now_49 = (atomicLoad(&words[place_32]));
      found_33 = now_49;
      let now_50 = (atomicLoad(&words[place_33]));
      found_34 = now_50;
      let now_51 = (atomicLoad(&words[place_34]));
      found_35 = now_51;
      let now_52 = (atomicLoad(&words[place_35]));
      found_36 = now_52;
      let now_53 = (atomicLoad(&words[place_36]));
      found_37 = now_53;
      let now_54 = (atomicLoad(&words[place_37]));
      found_38 = now_54;
      let now_55 = (atomicLoad(&words[place_38]));
      found_39 = now_55;
      let now_56 = (atomicLoad(&words[place_39]));
      found_40 = now_56;
      let now_57 = (atomicLoad(&words[place_40]));
      found_41 = now_57;
      let now_58 = (atomicLoad(&words[place_41]));
      found_42 = now_58;
      let now_59 = (atomicLoad(&words[place_42]));
      found_43 = now_59;
      let now_60 = (atomicLoad(&words[place_43]));
      found_44 = now_60;
      let now_61 = (atomicLoad(&words[place_44]));
      found_45 = now_61;
      let now_62 = (atomicLoad(&words[place_45]));
      found_46 = now_62;
      let now_63 = (atomicLoad(&words[place_46]));
      found_47 = now_63;
      let now_64 = (atomicLoad(&words[place_47]));
      found_48 = now_64;
      let now_65 = (atomicLoad(&words[stats_at_16]));
      found_49 = now_65;
      let now_66 = (atomicLoad(&words[stats_at_17]));
      found_50 = now_66;
      let now_67 = (atomicLoad(&words[stats_at_18]));
      found_51 = now_67;
      let now_68 = (atomicLoad(&words[stats_at_19]));
      found_52 = now_68;
      let now_69 = (atomicLoad(&words[stats_at_20]));
      found_53 = now_69;
      let now_70 = (atomicLoad(&words[stats_at_21]));
      found_54 = now_70;
      var odd_4: u32 = 0u;
      odd_4 = odd_4 | (found_33 ^ tag);
      odd_4 = odd_4 | (found_34 ^ tag);
      odd_4 = odd_4 | (found_35 ^ tag);
      odd_4 = odd_4 | (found_36 ^ tag);
      odd_4 = odd_4 | (found_37 ^ tag);
      odd_4 = odd_4 | (found_38 ^ tag);
      odd_4 = odd_4 | (found_39 ^ tag);
      odd_4 = odd_4 | (found_40 ^ tag);
      odd_4 = odd_4 | (found_41 ^ tag);
      odd_4 = odd_4 | (found_42 ^ tag);
      odd_4 = odd_4 | (found_43 ^ tag);
      odd_4 = odd_4 | (found_44 ^ tag);
      odd_4 = odd_4 | (found_45 ^ tag);
      odd_4 = odd_4 | (found_46 ^ tag);
      odd_4 = odd_4 | (found_47 ^ tag);
      odd_4 = odd_4 | (found_48 ^ tag);
      odd_4 = odd_4 | (found_49 ^ tag);
      odd_4 = odd_4 | (found_50 ^ tag);
      odd_4 = odd_4 | (found_51 ^ tag);
      odd_4 = odd_4 | (found_52 ^ tag);
      odd_4 = odd_4 | (found_53 ^ tag);
      odd_4 = odd_4 | (found_54 ^ tag);
      if ((odd_4 & 3u) == 0u) {
        waits_4 = 0u;
        break;
      }
      var n_failed_9: u32 = 0u;
      if ((tries_4 & 255u) == 255u) {
        let now_71 = (atomicLoad(&words[32u]));
        n_failed_9 = now_71;
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
    let value_34 = bitcast<f32>(found_33 & 4294967292u);
    let value_35 = bitcast<f32>(found_34 & 4294967292u);
    let value_36 = bitcast<f32>(found_35 & 4294967292u);
    let value_37 = bitcast<f32>(found_36 & 4294967292u);
    let value_38 = bitcast<f32>(found_37 & 4294967292u);
    let value_39 = bitcast<f32>(found_38 & 4294967292u);
    let value_40 = bitcast<f32>(found_39 & 4294967292u);
    let value_41 = bitcast<f32>(found_40 & 4294967292u);
    let value_42 = bitcast<f32>(found_41 & 4294967292u);
    let value_43 = bitcast<f32>(found_42 & 4294967292u);
    let value_44 = bitcast<f32>(found_43 & 4294967292u);
    let value_45 = bitcast<f32>(found_44 & 4294967292u);
    let value_46 = bitcast<f32>(found_45 & 4294967292u);
    let value_47 = bitcast<f32>(found_46 & 4294967292u);
    let value_48 = bitcast<f32>(found_47 & 4294967292u);
    let value_49 = bitcast<f32>(found_48 & 4294967292u);
    let value_50 = bitcast<f32>(found_49 & 4294967292u);
    let value_51 = bitcast<f32>(found_50 & 4294967292u);
    let value_52 = bitcast<f32>(found_51 & 4294967292u);
    let value_53 = bitcast<f32>(found_52 & 4294967292u);
    let value_54 = bitcast<f32>(found_53 & 4294967292u);
    let value_55 = bitcast<f32>(found_54 & 4294967292u);
    if (part_6 < n_wg.x) {
      row_squares_1 += value_50;
    }
    row_largest_1 = max(row_largest_1, value_51);
    if (part_7 < n_wg.x) {
      row_squares_1 += value_52;
    }
    row_largest_1 = max(row_largest_1, value_53);
    if (part_8 < n_wg.x) {
      row_squares_1 += value_54;
    }
    row_largest_1 = max(row_largest_1, value_55);
    for (var from_part_1 = 384u; from_part_1 < n_wg.x; from_part_1 += 384u) {
      let part_9 = from_part_1 + lane_of_team + 0u;
      let safe_part_9 = min(part_9, n_wg.x - 1u);
      let stats_at_22 = row_of_team * 2048u + safe_part_9 + 10848u;
      let stats_at_23 = stats_at_22 + 1024u;
      let part_10 = from_part_1 + lane_of_team + 128u;
      let safe_part_10 = min(part_10, n_wg.x - 1u);
      let stats_at_24 = row_of_team * 2048u + safe_part_10 + 10848u;
      let stats_at_25 = stats_at_24 + 1024u;
      let part_11 = from_part_1 + lane_of_team + 256u;
      let safe_part_11 = min(part_11, n_wg.x - 1u);
      let stats_at_26 = row_of_team * 2048u + safe_part_11 + 10848u;
      let stats_at_27 = stats_at_26 + 1024u;
      var found_55: u32 = 0u;
      var found_56: u32 = 0u;
      var found_57: u32 = 0u;
      var found_58: u32 = 0u;
      var found_59: u32 = 0u;
      var found_60: u32 = 0u;
      var waits_5: u32 = 1u;
      let end_10 = patience;
      for (var early_5 = 0u; early_5 < end_10; early_5 += 1u) {
        let now_72 = (atomicLoad(&words[stats_at_27]));
        found_55 = now_72;
        var n_failed_10: u32 = 0u;
        if ((early_5 & 255u) == 255u) {
          let now_73 = (atomicLoad(&words[32u]));
          n_failed_10 = now_73;
        }
        let given_up_10 = n_failed_10 != 0u;
        if ((((found_55 ^ tag) & 3u) == 0u) || given_up_10) {
          break;
        }
      }
      let end_11 = patience;
      for (var tries_5 = 0u; tries_5 < end_11; tries_5 += 1u) {
        let now_74 = (atomicLoad(&words[stats_at_22]));
        found_55 = now_74;
        let now_75 = (atomicLoad(&words[stats_at_23]));
        found_56 = now_75;
        let now_76 = (atomicLoad(&words[stats_at_24]));
        found_57 = now_76;
        let now_77 = (atomicLoad(&words[stats_at_25]));
        found_58 = now_77;
        let now_78 = (atomicLoad(&words[stats_at_26]));
        found_59 = now_78;
        let now_79 = (atomicLoad(&words[stats_at_27]));
        found_60 = now_79;
        var odd_5: u32 = 0u;
        odd_5 = odd_5 | (found_55 ^ tag);
        odd_5 = odd_5 | (found_56 ^ tag);
        odd_5 = odd_5 | (found_57 ^ tag);
        odd_5 = odd_5 | (found_58 ^ tag);
        odd_5 = odd_5 | (found_59 ^ tag);
        odd_5 = odd_5 | (found_60 ^ tag);
        if ((odd_5 & 3u) == 0u) {
          waits_5 = 0u;
          break;
        }
        var n_failed_11: u32 = 0u;
        if ((tries_5 & 255u) == 255u) {
          let now_80 = (atomicLoad(&words[32u]));
          n_failed_11 = now_80;
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
      let value_56 = bitcast<f32>(found_55 & 4294967292u);
      let value_57 = bitcast<f32>(found_56 & 4294967292u);
      let value_58 = bitcast<f32>(found_57 & 4294967292u);
      let value_59 = bitcast<f32>(found_58 & 4294967292u);
      let value_60 = bitcast<f32>(found_59 & 4294967292u);
      let value_61 = bitcast<f32>(found_60 & 4294967292u);
      if (part_9 < n_wg.x) {
        row_squares_1 += value_56;
      }
      row_largest_1 = max(row_largest_1, value_57);
      if (part_10 < n_wg.x) {
        row_squares_1 += value_58;
      }
      row_largest_1 = max(row_largest_1, value_59);
      if (part_11 < n_wg.x) {
        row_squares_1 += value_60;
      }
      row_largest_1 = max(row_largest_1, value_61);
    }
    let my_squares_3 = row_squares_1;
    let my_largest_3 = row_largest_1;
    let sg_76 = subgroupShuffleXor(my_squares_3, 1u);
    let both_41 = my_squares_3 + sg_76;
    let sg_77 = subgroupShuffleXor(both_41, 2u);
    let both_42 = both_41 + sg_77;
    let sg_78 = subgroupShuffleXor(both_42, 4u);
    let both_43 = both_42 + sg_78;
    let sg_79 = subgroupShuffleXor(both_43, 8u);
    let both_44 = both_43 + sg_79;
    let sg_80 = subgroupShuffleXor(both_44, 16u);
    let both_45 = both_44 + sg_80;
    let sg_81 = subgroupShuffleXor(my_largest_3, 1u);
    let both_46 = max(my_largest_3, sg_81);
    let sg_82 = subgroupShuffleXor(both_46, 2u);
    let both_47 = max(both_46, sg_82);
    let sg_83 = subgroupShuffleXor(both_47, 4u);
    let both_48 = max(both_47, sg_83);
    let sg_84 = subgroupShuffleXor(both_48, 8u);
    let both_49 = max(both_48, sg_84);
    let sg_85 = subgroupShuffleXor(both_49, 16u);
    let both_50 = max(both_49, sg_85);
    if ((tid % 32u) == 0u) {
      row_stats[tid / 32u] = vec2<f32>(both_45, both_50);
    }
    workgroupBarrier();
    var all_squares_1: f32 = 0f;
    var all_largest_1: f32 = 0f;
    let stats_part_4 = row_stats[team * 4u + 0u];
    all_squares_1 += stats_part_4.x;
    all_largest_1 = max(all_largest_1, stats_part_4.y);
    let stats_part_5 = row_stats[team * 4u + 1u];
    all_squares_1 += stats_part_5.x;
    all_largest_1 = max(all_largest_1, stats_part_5.y);
    let stats_part_6 = row_stats[team * 4u + 2u];
    all_squares_1 += stats_part_6.x;
    all_largest_1 = max(all_largest_1, stats_part_6.y);
    let stats_part_7 = row_stats[team * 4u + 3u];
    all_squares_1 += stats_part_7.x;
    all_largest_1 = max(all_largest_1, stats_part_7.y);
    let squares_of_row_1 = all_squares_1;
    let largest_of_row_1 = all_largest_1;
    let factor_1 = 1f / sqrt(squares_of_row_1 / 256f + 1e-05f);
    let finite_scale_1 = 127f / max(largest_of_row_1 * factor_1, 1e-05f);
    let factor_and_scale_1 = factor_1 * finite_scale_1;
    let factor_bits_1 = bitcast<u32>(factor_1);
    let x_scale_2 = select(finite_scale_1, factor_1, (factor_bits_1 - 1u) >= 2139095039u);
    if (lane_of_team == 0u) {
      row_scales[team] = x_scale_2;
    }
    var q_sum_1: i32 = 0i;
    if (unit_1 < 16u) {
      let ones_1 = 16843009u;
      let vg4_4 = vec4<f32>(value_34, value_35, value_36, value_37);
      let moved_4 = vg4_4 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_4 = bitcast<vec4<i32>>(moved_4);
      let packed_4 = pack4xI8(q_4);
      q_sum_1 += dot4I8Packed(packed_4, ones_1);
      let vg4_5 = vec4<f32>(value_38, value_39, value_40, value_41);
      let moved_5 = vg4_5 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_5 = bitcast<vec4<i32>>(moved_5);
      let packed_5 = pack4xI8(q_5);
      q_sum_1 += dot4I8Packed(packed_5, ones_1);
      let vg4_6 = vec4<f32>(value_42, value_43, value_44, value_45);
      let moved_6 = vg4_6 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_6 = bitcast<vec4<i32>>(moved_6);
      let packed_6 = pack4xI8(q_6);
      q_sum_1 += dot4I8Packed(packed_6, ones_1);
      let vg4_7 = vec4<f32>(value_46, value_47, value_48, value_49);
      let moved_7 = vg4_7 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_7 = bitcast<vec4<i32>>(moved_7);
      let packed_7 = pack4xI8(q_7);
      q_sum_1 += dot4I8Packed(packed_7, ones_1);
      let staged_at_1 = team * 16u + ((unit_1 >> 1u) & 3u) * 4u + ((unit_1 >> 3u) * 2u + (unit_1 & 1u));
      staged[staged_at_1] = vec4<u32>(packed_4, packed_5, packed_6, packed_7);
    }
    let my_sum_1 = q_sum_1;
    let sg_86 = subgroupShuffleXor(my_sum_1, 16u);
    let sum_33 = my_sum_1 + sg_86;
    let sg_87 = subgroupShuffleXor(sum_33, 8u);
    let sum_34 = sum_33 + sg_87;
    let sg_88 = subgroupShuffleXor(sum_34, 4u);
    let sum_35 = sum_34 + sg_88;
    let sg_89 = subgroupShuffleXor(sum_35, 2u);
    let sum_36 = sum_35 + sg_89;
    let sg_90 = subgroupShuffleXor(sum_36, 1u);
    let sum_37 = sum_36 + sg_90;
    if ((tid % 32u) == 0u) {
      row_sums[tid / 32u] = sum_37;
    }
    workgroupBarrier();
    let x_scale_3 = row_scales[my_row];
    var x_sum_1: i32 = 0i;
    x_sum_1 += row_sums[my_row * 4u + 0u];
    x_sum_1 += row_sums[my_row * 4u + 1u];
    x_sum_1 += row_sums[my_row * 4u + 2u];
    x_sum_1 += row_sums[my_row * 4u + 3u];
    let x_sum_of_row_1 = x_sum_1;
    for (var from_row_1 = first_row_2; from_row_1 < end_row_2; from_row_1 += 16u) {
      let group_10 = tid / 32u;
      let lane_of_row_8 = tid & 31u;
      let row_6 = from_row_1 + group_10;
      let row_7 = row_6 + 8u;
      let safe_row_6 = min(row_6, end_row_2 - 1u);
      let start_7 = layer * 7168u + safe_row_6 * 4u + 3072u;
      let safe_row_7 = min(row_7, end_row_2 - 1u);
      let start_8 = layer * 7168u + safe_row_7 * 4u + 3072u;
      let i_8 = min(lane_of_row_8 + 0u, 3u);
      let w4_7 = kept_w_1;
      let w4_8 = kept_w_2;
      var acc_4: i32 = 0i;
      var acc_5: i32 = 0i;
      var acc_6: i32 = 0i;
      var acc_7: i32 = 0i;
      let i_9 = lane_of_row_8 + 0u;
      if (i_9 < 4u) {
        for (var plane_1 = 0u; plane_1 < 4u; plane_1 += 1u) {
          let shift_1 = 6u - plane_1 * 2u;
          let codes_4 = (w4_7.x >> shift_1) & 0x03030303u;
          let codes_5 = (w4_7.y >> shift_1) & 0x03030303u;
          let codes_6 = (w4_7.z >> shift_1) & 0x03030303u;
          let codes_7 = (w4_7.w >> shift_1) & 0x03030303u;
          let codes_8 = (w4_8.x >> shift_1) & 0x03030303u;
          let codes_9 = (w4_8.y >> shift_1) & 0x03030303u;
          let codes_10 = (w4_8.z >> shift_1) & 0x03030303u;
          let codes_11 = (w4_8.w >> shift_1) & 0x03030303u;
          let q4_2 = staged[i_9 + plane_1 * 4u + 0u];
          acc_4 += dot4I8Packed(codes_4, q4_2.x);
          acc_6 += dot4I8Packed(codes_8, q4_2.x);
          acc_4 += dot4I8Packed(codes_5, q4_2.y);
          acc_6 += dot4I8Packed(codes_9, q4_2.y);
          acc_4 += dot4I8Packed(codes_6, q4_2.z);
          acc_6 += dot4I8Packed(codes_10, q4_2.z);
          acc_4 += dot4I8Packed(codes_7, q4_2.w);
          acc_6 += dot4I8Packed(codes_11, q4_2.w);
          let q4_3 = staged[i_9 + plane_1 * 4u + 16u];
          acc_5 += dot4I8Packed(codes_4, q4_3.x);
          acc_7 += dot4I8Packed(codes_8, q4_3.x);
          acc_5 += dot4I8Packed(codes_5, q4_3.y);
          acc_7 += dot4I8Packed(codes_9, q4_3.y);
          acc_5 += dot4I8Packed(codes_6, q4_3.z);
          acc_7 += dot4I8Packed(codes_10, q4_3.z);
          acc_5 += dot4I8Packed(codes_7, q4_3.w);
          acc_7 += dot4I8Packed(codes_11, q4_3.w);
        }
      }
      let mine_12 = acc_4;
      let mine_13 = acc_5;
      let is_upper_1 = (lane_of_row_8 & 1u) != 0u;
      let given_1 = select(mine_13, mine_12, is_upper_1);
      let stays_1 = select(mine_12, mine_13, is_upper_1);
      let sg_91 = subgroupShuffleXor(given_1, 1u);
      let sum_38 = stays_1 + sg_91;
      let sg_92 = subgroupShuffleXor(sum_38, 2u);
      let sum_39 = sum_38 + sg_92;
      let sg_93 = subgroupShuffleXor(sum_39, 4u);
      let sum_40 = sum_39 + sg_93;
      let sg_94 = subgroupShuffleXor(sum_40, 8u);
      let sum_41 = sum_40 + sg_94;
      let sg_95 = subgroupShuffleXor(sum_41, 16u);
      let sum_42 = sum_41 + sg_95;
      let mine_14 = acc_6;
      let mine_15 = acc_7;
      let is_upper_2 = (lane_of_row_8 & 1u) != 0u;
      let given_2 = select(mine_15, mine_14, is_upper_2);
      let stays_2 = select(mine_14, mine_15, is_upper_2);
      let sg_96 = subgroupShuffleXor(given_2, 1u);
      let sum_43 = stays_2 + sg_96;
      let sg_97 = subgroupShuffleXor(sum_43, 2u);
      let sum_44 = sum_43 + sg_97;
      let sg_98 = subgroupShuffleXor(sum_44, 4u);
      let sum_45 = sum_44 + sg_98;
      let sg_99 = subgroupShuffleXor(sum_45, 8u);
      let sum_46 = sum_45 + sg_99;
      let sg_100 = subgroupShuffleXor(sum_46, 16u);
      let sum_47 = sum_46 + sg_100;
      if (((lane_of_row_8 < 2u) && is_row) && (row_6 < end_row_2)) {
        let value_62 = f32(sum_42 - x_sum_of_row_1) / x_scale_3 * w_scale_3;
        let mine_at_1 = my_row * 128u + (row_6 - first_row);
        let x_new = residual[mine_at_1] + value_62;
        residual[mine_at_1] = x_new;
        let gain_2 = vectors[vectors_at + row_6 + 512u];
        let vg_2 = x_new * gain_2;
        squares_2 += x_new * x_new;
        largest_2 = max(largest_2, abs(vg_2));
        let row_of_block_2 = (row_6 & 15u) * 32u + ((row_6 >> 4u) & 31u);
        let place_48 = (row_6 & 4294966784u) + row_of_block_2 + 2384u;
        let place_in_row_2 = place_48 + my_words;
        let value_bits_10 = bitcast<u32>(vg_2);
        let half_10 = select(2u, 0u, (value_bits_10 & 2139095040u) == 2139095040u);
        let rounded_10 = value_bits_10 + half_10;
        atomicStore(&words[place_in_row_2], (rounded_10 & 4294967292u) | tag);
      }
      if (((lane_of_row_8 < 2u) && is_row) && (row_7 < end_row_2)) {
        let value_63 = f32(sum_47 - x_sum_of_row_1) / x_scale_3 * w_scale_3;
        let mine_at_2 = my_row * 128u + (row_7 - first_row);
        let x_new_1 = residual[mine_at_2] + value_63;
        residual[mine_at_2] = x_new_1;
        let gain_3 = vectors[vectors_at + row_7 + 512u];
        let vg_3 = x_new_1 * gain_3;
        squares_2 += x_new_1 * x_new_1;
        largest_2 = max(largest_2, abs(vg_3));
        let row_of_block_3 = (row_7 & 15u) * 32u + ((row_7 >> 4u) & 31u);
        let place_49 = (row_7 & 4294966784u) + row_of_block_3 + 2384u;
        let place_in_row_3 = place_49 + my_words;
        let value_bits_11 = bitcast<u32>(vg_3);
        let half_11 = select(2u, 0u, (value_bits_11 & 2139095040u) == 2139095040u);
        let rounded_11 = value_bits_11 + half_11;
        atomicStore(&words[place_in_row_3], (rounded_11 & 4294967292u) | tag);
      }
      let next_rows_1 = from_row_1 + 16u;
      if (next_rows_1 < end_row_2) {
        let group_11 = tid / 32u;
        let lane_of_row_9 = tid & 31u;
        let row_8 = next_rows_1 + group_11;
        let row_9 = row_8 + 8u;
        let safe_row_8 = min(row_8, end_row_2 - 1u);
        let start_9 = layer * 7168u + safe_row_8 * 4u + 3072u;
        let safe_row_9 = min(row_9, end_row_2 - 1u);
        let start_10 = layer * 7168u + safe_row_9 * 4u + 3072u;
        let i_10 = min(lane_of_row_9 + 0u, 3u);
        let w4_9 = w[start_9 + i_10];
        let w4_10 = w[start_10 + i_10];
        kept_w_1 = w4_9;
        kept_w_2 = w4_10;
      }
    }
    let my_squares_4 = squares_2;
    let my_largest_4 = largest_2;
    let sg_101 = subgroupShuffleXor(my_squares_4, 2u);
    let both_51 = my_squares_4 + sg_101;
    let sg_102 = subgroupShuffleXor(both_51, 4u);
    let both_52 = both_51 + sg_102;
    let sg_103 = subgroupShuffleXor(both_52, 8u);
    let both_53 = both_52 + sg_103;
    let sg_104 = subgroupShuffleXor(both_53, 16u);
    let both_54 = both_53 + sg_104;
    let sg_105 = subgroupShuffleXor(my_largest_4, 2u);
    let both_55 = max(my_largest_4, sg_105);
    let sg_106 = subgroupShuffleXor(both_55, 4u);
    let both_56 = max(both_55, sg_106);
    let sg_107 = subgroupShuffleXor(both_56, 8u);
    let both_57 = max(both_56, sg_107);
    let sg_108 = subgroupShuffleXor(both_57, 16u);
    let both_58 = max(both_57, sg_108);
    if ((tid % 32u) < 2u) {
      made_stats[my_row * 8u + tid / 32u] = vec2<f32>(both_54, both_58);
    }
    workgroupBarrier();
    let made_of_subgroup_2 = made_stats[tid & 15u];
    let squares_part_2 = made_of_subgroup_2.x;
    let sg_109 = subgroupShuffleXor(squares_part_2, 1u);
    let both_59 = squares_part_2 + sg_109;
    let sg_110 = subgroupShuffleXor(both_59, 2u);
    let both_60 = both_59 + sg_110;
    let sg_111 = subgroupShuffleXor(both_60, 4u);
    let both_61 = both_60 + sg_111;
    let largest_part_2 = made_of_subgroup_2.y;
    let sg_112 = subgroupShuffleXor(largest_part_2, 1u);
    let both_62 = max(largest_part_2, sg_112);
    let sg_113 = subgroupShuffleXor(both_62, 2u);
    let both_63 = max(both_62, sg_113);
    let sg_114 = subgroupShuffleXor(both_63, 4u);
    let both_64 = max(both_63, sg_114);
    let made_row_2 = tid / 8u;
    if ((made_row_2 < n_rows) && ((tid % 8u) == 0u)) {
      let group_12 = wg.x;
      let stats_at_28 = made_row_2 * 2048u + group_12 + 14944u;
      let stats_at_29 = stats_at_28 + 1024u;
      let value_bits_12 = bitcast<u32>(both_61);
      let half_12 = select(2u, 0u, (value_bits_12 & 2139095040u) == 2139095040u);
      let rounded_12 = value_bits_12 + half_12;
      atomicStore(&words[stats_at_28], (rounded_12 & 4294967292u) | tag);
      let value_bits_13 = bitcast<u32>(both_64);
      let half_13 = select(2u, 0u, (value_bits_13 & 2139095040u) == 2139095040u);
      let rounded_13 = value_bits_13 + half_13;
      atomicStore(&words[stats_at_29], (rounded_13 & 4294967292u) | tag);
    }
    let group_13 = tid / 32u;
    let lane_of_row_10 = tid & 31u;
    let group_14 = tid / 32u;
    let lane_of_row_11 = tid & 31u;
    let row_10 = first_row_4 + group_14;
    let row_11 = row_10 + 8u;
    let safe_row_10 = min(row_10, end_row_4 - 1u);
    let start_11 = layer * 7168u + safe_row_10 * 4u + 6144u;
    let safe_row_11 = min(row_11, end_row_4 - 1u);
    let start_12 = layer * 7168u + safe_row_11 * 4u + 6144u;
    let i_11 = min(lane_of_row_11 + 0u, 3u);
    let w4_11 = w[start_11 + i_11];
    let w4_12 = w[start_12 + i_11];
    var kept_w_5: vec4<u32> = w4_11;
    var kept_w_6: vec4<u32> = w4_12;
    let w_scale_6 = vectors[vectors_at + 1030u];
    var squares_3: f32 = 0f;
    var largest_3: f32 = 0f;
    var row_squares_2: f32 = 0f;
    var row_largest_2: f32 = 0f;
    let unit_2 = lane_of_team + 0u;
    let safe_unit_2 = min(unit_2, 15u) + 0u;
    let place_50 = words_of_team + safe_unit_2 / 32u * 512u + safe_unit_2 % 32u + 2384u;
    let place_51 = place_50 + 32u;
    let place_52 = place_50 + 64u;
    let place_53 = place_50 + 96u;
    let place_54 = place_50 + 128u;
    let place_55 = place_50 + 160u;
    let place_56 = place_50 + 192u;
    let place_57 = place_50 + 224u;
    let place_58 = place_50 + 256u;
    let place_59 = place_50 + 288u;
    let place_60 = place_50 + 320u;
    let place_61 = place_50 + 352u;
    let place_62 = place_50 + 384u;
    let place_63 = place_50 + 416u;
    let place_64 = place_50 + 448u;
    let place_65 = place_50 + 480u;
    let first_part_2 = 0u;
    let part_12 = first_part_2 + lane_of_team + 0u;
    let safe_part_12 = min(part_12, n_wg.x - 1u);
    let stats_at_30 = row_of_team * 2048u + safe_part_12 + 14944u;
    let stats_at_31 = stats_at_30 + 1024u;
    let part_13 = first_part_2 + lane_of_team + 128u;
    let safe_part_13 = min(part_13, n_wg.x - 1u);
    let stats_at_32 = row_of_team * 2048u + safe_part_13 + 14944u;
    let stats_at_33 = stats_at_32 + 1024u;
    let part_14 = first_part_2 + lane_of_team + 256u;
    let safe_part_14 = min(part_14, n_wg.x - 1u);
    let stats_at_34 = row_of_team * 2048u + safe_part_14 + 14944u;
    let stats_at_35 = stats_at_34 + 1024u;
    var found_61: u32 = 0u;
    var found_62: u32 = 0u;
    var found_63: u32 = 0u;
    var found_64: u32 = 0u;
    var found_65: u32 = 0u;
    var found_66: u32 = 0u;
    var found_67: u32 = 0u;
    var found_68: u32 = 0u;
    var found_69: u32 = 0u;
    var found_70: u32 = 0u;
    var found_71: u32 = 0u;
    var found_72: u32 = 0u;
    var found_73: u32 = 0u;
    var found_74: u32 = 0u;
    var found_75: u32 = 0u;
    var found_76: u32 = 0u;
    var found_77: u32 = 0u;
    var found_78: u32 = 0u;
    var found_79: u32 = 0u;
    var found_80: u32 = 0u;
    var found_81: u32 = 0u;
    var found_82: u32 = 0u;
    var waits_6: u32 = 1u;
    let end_12 = patience;
    for (var early_6 = 0u; early_6 < end_12; early_6 += 1u) {
      let now_81 = (atomicLoad(&words[stats_at_35]));
      found_61 = now_81;
      var n_failed_12: u32 = 0u;
      if ((early_6 & 255u) == 255u) {
        let now_82 = (atomicLoad(&words[32u]));
        n_failed_12 = now_82;
      }
      let given_up_12 = n_failed_12 != 0u;
      if ((((found_61 ^ tag) & 3u) == 0u) || given_up_12) {
        break;
      }
    }
    let end_13 = patience;
    for (var tries_6 = 0u; tries_6 < end_13; tries_6 += 1u) {
      let now_83 = (atomicLoad(&words[place_50]));
      found_61 = now_83;
      let now_84 = (atomicLoad(&words[place_51]));
      found_62 = now_84;
      let now_85 = (atomicLoad(&words[place_52]));
      found_63 = now_85;
      let now_86 = (atomicLoad(&words[place_53]));
      found_64 = now_86;
      let now_87 = (atomicLoad(&words[place_54]));
      found_65 = now_87;
      let now_88 = (atomicLoad(&words[place_55]));
      found_66 = now_88;
      let now_89 = (atomicLoad(&words[place_56]));
      found_67 = now_89;
      let now_90 = (atomicLoad(&words[place_57]));
      found_68 = now_90;
      let now_91 = (atomicLoad(&words[place_58]));
      found_69 = now_91;
      let now_92 = (atomicLoad(&words[place_59]));
      found_70 = now_92;
      let now_93 = (atomicLoad(&words[place_60]));
      found_71 = now_93;
      let now_94 = (atomicLoad(&words[place_61]));
      found_72 = now_94;
      let now_95 = (atomicLoad(&words[place_62]));
      found_73 = now_95;
      let now_96 = (atomicLoad(&words[place_63]));
      found_74 = now_96;
      let now_97 = (atomicLoad(&words[place_64]));
      found_75 = now_97;
      let now_98 = (atomicLoad(&words[place_65]));
      found_76 = now_98;
      let now_99 = (atomicLoad(&words[stats_at_30]));
      found_77 = now_99;
      let now_100 = (atomicLoad(&words[stats_at_31]));
      found_78 = now_100;
      let now_101 = (atomicLoad(&words[stats_at_32]));
      found_79 = now_101;
      let now_102 = (atomicLoad(&words[stats_at_33]));
      found_80 = now_102;
      let now_103 = (atomicLoad(&words[stats_at_34]));
      found_81 = now_103;
      let now_104 = (atomicLoad(&words[stats_at_35]));
      found_82 = now_104;
      var odd_6: u32 = 0u;
      odd_6 = odd_6 | (found_61 ^ tag);
      odd_6 = odd_6 | (found_62 ^ tag);
      odd_6 = odd_6 | (found_63 ^ tag);
      odd_6 = odd_6 | (found_64 ^ tag);
      odd_6 = odd_6 | (found_65 ^ tag);
      odd_6 = odd_6 | (found_66 ^ tag);
      odd_6 = odd_6 | (found_67 ^ tag);
      odd_6 = odd_6 | (found_68 ^ tag);
      odd_6 = odd_6 | (found_69 ^ tag);
      odd_6 = odd_6 | (found_70 ^ tag);
      odd_6 = odd_6 | (found_71 ^ tag);
      odd_6 = odd_6 | (found_72 ^ tag);
      odd_6 = odd_6 | (found_73 ^ tag);
      odd_6 = odd_6 | (found_74 ^ tag);
      odd_6 = odd_6 | (found_75 ^ tag);
      odd_6 = odd_6 | (found_76 ^ tag);
      odd_6 = odd_6 | (found_77 ^ tag);
      odd_6 = odd_6 | (found_78 ^ tag);
      odd_6 = odd_6 | (found_79 ^ tag);
      odd_6 = odd_6 | (found_80 ^ tag);
      odd_6 = odd_6 | (found_81 ^ tag);
      odd_6 = odd_6 | (found_82 ^ tag);
      if ((odd_6 & 3u) == 0u) {
        waits_6 = 0u;
        break;
      }
      var n_failed_13: u32 = 0u;
      if ((tries_6 & 255u) == 255u) {
        let now_105 = (atomicLoad(&words[32u]));
        n_failed_13 = now_105;
      }
      let given_up_13 = n_failed_13 != 0u;
      if (given_up_13) {
        break;
      }
    }
    if (waits_6 != 0u) {
      if (patience != 1u) {
        let old_6 = (atomicAdd(&words[32u], 1u));
      }
      patience = 1u;
    }
    let value_64 = bitcast<f32>(found_61 & 4294967292u);
    let value_65 = bitcast<f32>(found_62 & 4294967292u);
    let value_66 = bitcast<f32>(found_63 & 4294967292u);
    let value_67 = bitcast<f32>(found_64 & 4294967292u);
    let value_68 = bitcast<f32>(found_65 & 4294967292u);
    let value_69 = bitcast<f32>(found_66 & 4294967292u);
    let value_70 = bitcast<f32>(found_67 & 4294967292u);
    let value_71 = bitcast<f32>(found_68 & 4294967292u);
    let value_72 = bitcast<f32>(found_69 & 4294967292u);
    let value_73 = bitcast<f32>(found_70 & 4294967292u);
    let value_74 = bitcast<f32>(found_71 & 4294967292u);
    let value_75 = bitcast<f32>(found_72 & 4294967292u);
    let value_76 = bitcast<f32>(found_73 & 4294967292u);
    let value_77 = bitcast<f32>(found_74 & 4294967292u);
    let value_78 = bitcast<f32>(found_75 & 4294967292u);
    let value_79 = bitcast<f32>(found_76 & 4294967292u);
    let value_80 = bitcast<f32>(found_77 & 4294967292u);
    let value_81 = bitcast<f32>(found_78 & 4294967292u);
    let value_82 = bitcast<f32>(found_79 & 4294967292u);
    let value_83 = bitcast<f32>(found_80 & 4294967292u);
    let value_84 = bitcast<f32>(found_81 & 4294967292u);
    let value_85 = bitcast<f32>(found_82 & 4294967292u);
    if (part_12 < n_wg.x) {
      row_squares_2 += value_80;
    }
    row_largest_2 = max(row_largest_2, value_81);
    if (part_13 < n_wg.x) {
      row_squares_2 += value_82;
    }
    row_largest_2 = max(row_largest_2, value_83);
    if (part_14 < n_wg.x) {
      row_squares_2 += value_84;
    }
    row_largest_2 = max(row_largest_2, value_85);
    for (var from_part_2 = 384u; from_part_2 < n_wg.x; from_part_2 += 384u) {
      let part_15 = from_part_2 + lane_of_team + 0u;
      let safe_part_15 = min(part_15, n_wg.x - 1u);
      let stats_at_36 = row_of_team * 2048u + safe_part_15 + 14944u;
      let stats_at_37 = stats_at_36 + 1024u;
      let part_16 = from_part_2 + lane_of_team + 128u;
      let safe_part_16 = min(part_16, n_wg.x - 1u);
      let stats_at_38 = row_of_team * 2048u + safe_part_16 + 14944u;
      let stats_at_39 = stats_at_38 + 1024u;
      let part_17 = from_part_2 + lane_of_team + 256u;
      let safe_part_17 = min(part_17, n_wg.x - 1u);
      let stats_at_40 = row_of_team * 2048u + safe_part_17 + 14944u;
      let stats_at_41 = stats_at_40 + 1024u;
      var found_83: u32 = 0u;
      var found_84: u32 = 0u;
      var found_85: u32 = 0u;
      var found_86: u32 = 0u;
      var found_87: u32 = 0u;
      var found_88: u32 = 0u;
      var waits_7: u32 = 1u;
      let end_14 = patience;
      for (var early_7 = 0u; early_7 < end_14; early_7 += 1u) {
        let now_106 = (atomicLoad(&words[stats_at_41]));
        found_83 = now_106;
        var n_failed_14: u32 = 0u;
        if ((early_7 & 255u) == 255u) {
          let now_107 = (atomicLoad(&words[32u]));
          n_failed_14 = now_107;
        }
        let given_up_14 = n_failed_14 != 0u;
        if ((((found_83 ^ tag) & 3u) == 0u) || given_up_14) {
          break;
        }
      }
      let end_15 = patience;
      for (var tries_7 = 0u; tries_7 < end_15; tries_7 += 1u) {
        let now_108 = (atomicLoad(&words[stats_at_36]));
        found_83 = now_108;
        let now_109 = (atomicLoad(&words[stats_at_37]));
        found_84 = now_109;
        let now_110 = (atomicLoad(&words[stats_at_38]));
        found_85 = now_110;
        let now_111 = (atomicLoad(&words[stats_at_39]));
        found_86 = now_111;
        let now_112 = (atomicLoad(&words[stats_at_40]));
        found_87 = now_112;
        let now_113 = (atomicLoad(&words[stats_at_41]));
        found_88 = now_113;
        var odd_7: u32 = 0u;
        odd_7 = odd_7 | (found_83 ^ tag);
        odd_7 = odd_7 | (found_84 ^ tag);
        odd_7 = odd_7 | (found_85 ^ tag);
        odd_7 = odd_7 | (found_86 ^ tag);
        odd_7 = odd_7 | (found_87 ^ tag);
        odd_7 = odd_7 | (found_88 ^ tag);
        if ((odd_7 & 3u) == 0u) {
          waits_7 = 0u;
          break;
        }
        var n_failed_15: u32 = 0u;
        if ((tries_7 & 255u) == 255u) {
          let now_114 = (atomicLoad(&words[32u]));
          n_failed_15 = now_114;
        }
        let given_up_15 = n_failed_15 != 0u;
        if (given_up_15) {
          break;
        }
      }
      if (waits_7 != 0u) {
        if (patience != 1u) {
          let old_7 = (atomicAdd(&words[32u], 1u));
        }
        patience = 1u;
      }
      let value_86 = bitcast<f32>(found_83 & 4294967292u);
      let value_87 = bitcast<f32>(found_84 & 4294967292u);
      let value_88 = bitcast<f32>(found_85 & 4294967292u);
      let value_89 = bitcast<f32>(found_86 & 4294967292u);
      let value_90 = bitcast<f32>(found_87 & 4294967292u);
      let value_91 = bitcast<f32>(found_88 & 4294967292u);
      if (part_15 < n_wg.x) {
        row_squares_2 += value_86;
      }
      row_largest_2 = max(row_largest_2, value_87);
      if (part_16 < n_wg.x) {
        row_squares_2 += value_88;
      }
      row_largest_2 = max(row_largest_2, value_89);
      if (part_17 < n_wg.x) {
        row_squares_2 += value_90;
      }
      row_largest_2 = max(row_largest_2, value_91);
    }
    let my_squares_5 = row_squares_2;
    let my_largest_5 = row_largest_2;
    let sg_115 = subgroupShuffleXor(my_squares_5, 1u);
    let both_65 = my_squares_5 + sg_115;
    let sg_116 = subgroupShuffleXor(both_65, 2u);
    let both_66 = both_65 + sg_116;
    let sg_117 = subgroupShuffleXor(both_66, 4u);
    let both_67 = both_66 + sg_117;
    let sg_118 = subgroupShuffleXor(both_67, 8u);
    let both_68 = both_67 + sg_118;
    let sg_119 = subgroupShuffleXor(both_68, 16u);
    let both_69 = both_68 + sg_119;
    let sg_120 = subgroupShuffleXor(my_largest_5, 1u);
    let both_70 = max(my_largest_5, sg_120);
    let sg_121 = subgroupShuffleXor(both_70, 2u);
    let both_71 = max(both_70, sg_121);
    let sg_122 = subgroupShuffleXor(both_71, 4u);
    let both_72 = max(both_71, sg_122);
    let sg_123 = subgroupShuffleXor(both_72, 8u);
    let both_73 = max(both_72, sg_123);
    let sg_124 = subgroupShuffleXor(both_73, 16u);
    let both_74 = max(both_73, sg_124);
    if ((tid % 32u) == 0u) {
      row_stats[tid / 32u] = vec2<f32>(both_69, both_74);
    }
    workgroupBarrier();
    var all_squares_2: f32 = 0f;
    var all_largest_2: f32 = 0f;
    let stats_part_8 = row_stats[team * 4u + 0u];
    all_squares_2 += stats_part_8.x;
    all_largest_2 = max(all_largest_2, stats_part_8.y);
    let stats_part_9 = row_stats[team * 4u + 1u];
    all_squares_2 += stats_part_9.x;
    all_largest_2 = max(all_largest_2, stats_part_9.y);
    let stats_part_10 = row_stats[team * 4u + 2u];
    all_squares_2 += stats_part_10.x;
    all_largest_2 = max(all_largest_2, stats_part_10.y);
    let stats_part_11 = row_stats[team * 4u + 3u];
    all_squares_2 += stats_part_11.x;
    all_largest_2 = max(all_largest_2, stats_part_11.y);
    let squares_of_row_2 = all_squares_2;
    let largest_of_row_2 = all_largest_2;
    let factor_2 = 1f / sqrt(squares_of_row_2 / 256f + 1e-05f);
    let finite_scale_2 = 127f / max(largest_of_row_2 * factor_2, 1e-05f);
    let factor_and_scale_2 = factor_2 * finite_scale_2;
    let factor_bits_2 = bitcast<u32>(factor_2);
    let x_scale_4 = select(finite_scale_2, factor_2, (factor_bits_2 - 1u) >= 2139095039u);
    if (lane_of_team == 0u) {
      row_scales[team] = x_scale_4;
    }
    var q_sum_2: i32 = 0i;
    if (unit_2 < 16u) {
      let ones_2 = 16843009u;
      let vg4_8 = vec4<f32>(value_64, value_65, value_66, value_67);
      let moved_8 = vg4_8 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_8 = bitcast<vec4<i32>>(moved_8);
      let packed_8 = pack4xI8(q_8);
      q_sum_2 += dot4I8Packed(packed_8, ones_2);
      let vg4_9 = vec4<f32>(value_68, value_69, value_70, value_71);
      let moved_9 = vg4_9 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_9 = bitcast<vec4<i32>>(moved_9);
      let packed_9 = pack4xI8(q_9);
      q_sum_2 += dot4I8Packed(packed_9, ones_2);
      let vg4_10 = vec4<f32>(value_72, value_73, value_74, value_75);
      let moved_10 = vg4_10 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_10 = bitcast<vec4<i32>>(moved_10);
      let packed_10 = pack4xI8(q_10);
      q_sum_2 += dot4I8Packed(packed_10, ones_2);
      let vg4_11 = vec4<f32>(value_76, value_77, value_78, value_79);
      let moved_11 = vg4_11 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_11 = bitcast<vec4<i32>>(moved_11);
      let packed_11 = pack4xI8(q_11);
      q_sum_2 += dot4I8Packed(packed_11, ones_2);
      let staged_at_2 = team * 16u + ((unit_2 >> 1u) & 3u) * 4u + ((unit_2 >> 3u) * 2u + (unit_2 & 1u));
      staged[staged_at_2] = vec4<u32>(packed_8, packed_9, packed_10, packed_11);
    }
    let my_sum_2 = q_sum_2;
    let sg_125 = subgroupShuffleXor(my_sum_2, 16u);
    let sum_48 = my_sum_2 + sg_125;
    let sg_126 = subgroupShuffleXor(sum_48, 8u);
    let sum_49 = sum_48 + sg_126;
    let sg_127 = subgroupShuffleXor(sum_49, 4u);
    let sum_50 = sum_49 + sg_127;
    let sg_128 = subgroupShuffleXor(sum_50, 2u);
    let sum_51 = sum_50 + sg_128;
    let sg_129 = subgroupShuffleXor(sum_51, 1u);
    let sum_52 = sum_51 + sg_129;
    if ((tid % 32u) == 0u) {
      row_sums[tid / 32u] = sum_52;
    }
    workgroupBarrier();
    let x_scale_5 = row_scales[my_row];
    var x_sum_2: i32 = 0i;
    x_sum_2 += row_sums[my_row * 4u + 0u];
    x_sum_2 += row_sums[my_row * 4u + 1u];
    x_sum_2 += row_sums[my_row * 4u + 2u];
    x_sum_2 += row_sums[my_row * 4u + 3u];
    let x_sum_of_row_2 = x_sum_2;
    for (var from_row_2 = first_row_3; from_row_2 < end_row_3; from_row_2 += 32u) {
      let group_15 = tid / 8u;
      let lane_of_row_12 = tid & 7u;
      let row_12 = from_row_2 + group_15;
      let safe_row_12 = min(row_12, end_row_3 - 1u);
      let start_13 = layer * 7168u + safe_row_12 * 4u + 4096u;
      let start_14 = layer * 7168u + safe_row_12 * 4u + 5120u;
      let i_12 = min(lane_of_row_12 + 0u, 3u);
      let w4_13 = kept_w_3;
      let w4_14 = kept_w_4;
      var acc_8: i32 = 0i;
      var acc_9: i32 = 0i;
      var acc_10: i32 = 0i;
      var acc_11: i32 = 0i;
      let i_13 = lane_of_row_12 + 0u;
      if (i_13 < 4u) {
        for (var plane_2 = 0u; plane_2 < 4u; plane_2 += 1u) {
          let shift_2 = 6u - plane_2 * 2u;
          let codes_12 = (w4_13.x >> shift_2) & 0x03030303u;
          let codes_13 = (w4_13.y >> shift_2) & 0x03030303u;
          let codes_14 = (w4_13.z >> shift_2) & 0x03030303u;
          let codes_15 = (w4_13.w >> shift_2) & 0x03030303u;
          let codes_16 = (w4_14.x >> shift_2) & 0x03030303u;
          let codes_17 = (w4_14.y >> shift_2) & 0x03030303u;
          let codes_18 = (w4_14.z >> shift_2) & 0x03030303u;
          let codes_19 = (w4_14.w >> shift_2) & 0x03030303u;
          let q4_4 = staged[i_13 + plane_2 * 4u + 0u];
          acc_8 += dot4I8Packed(codes_12, q4_4.x);
          acc_10 += dot4I8Packed(codes_16, q4_4.x);
          acc_8 += dot4I8Packed(codes_13, q4_4.y);
          acc_10 += dot4I8Packed(codes_17, q4_4.y);
          acc_8 += dot4I8Packed(codes_14, q4_4.z);
          acc_10 += dot4I8Packed(codes_18, q4_4.z);
          acc_8 += dot4I8Packed(codes_15, q4_4.w);
          acc_10 += dot4I8Packed(codes_19, q4_4.w);
          let q4_5 = staged[i_13 + plane_2 * 4u + 16u];
          acc_9 += dot4I8Packed(codes_12, q4_5.x);
          acc_11 += dot4I8Packed(codes_16, q4_5.x);
          acc_9 += dot4I8Packed(codes_13, q4_5.y);
          acc_11 += dot4I8Packed(codes_17, q4_5.y);
          acc_9 += dot4I8Packed(codes_14, q4_5.z);
          acc_11 += dot4I8Packed(codes_18, q4_5.z);
          acc_9 += dot4I8Packed(codes_15, q4_5.w);
          acc_11 += dot4I8Packed(codes_19, q4_5.w);
        }
      }
      let mine_16 = acc_8;
      let mine_17 = acc_9;
      let is_upper_3 = (lane_of_row_12 & 1u) != 0u;
      let given_3 = select(mine_17, mine_16, is_upper_3);
      let stays_3 = select(mine_16, mine_17, is_upper_3);
      let sg_130 = subgroupShuffleXor(given_3, 1u);
      let sum_53 = stays_3 + sg_130;
      let sg_131 = subgroupShuffleXor(sum_53, 2u);
      let sum_54 = sum_53 + sg_131;
      let sg_132 = subgroupShuffleXor(sum_54, 4u);
      let sum_55 = sum_54 + sg_132;
      let mine_18 = acc_10;
      let mine_19 = acc_11;
      let is_upper_4 = (lane_of_row_12 & 1u) != 0u;
      let given_4 = select(mine_19, mine_18, is_upper_4);
      let stays_4 = select(mine_18, mine_19, is_upper_4);
      let sg_133 = subgroupShuffleXor(given_4, 1u);
      let sum_56 = stays_4 + sg_133;
      let sg_134 = subgroupShuffleXor(sum_56, 2u);
      let sum_57 = sum_56 + sg_134;
      let sg_135 = subgroupShuffleXor(sum_57, 4u);
      let sum_58 = sum_57 + sg_135;
      if (((lane_of_row_12 < 2u) && is_row) && (row_12 < end_row_3)) {
        let gate = f32(sum_55 - x_sum_of_row_2) / x_scale_5 * w_scale_4;
        let up = f32(sum_58 - x_sum_of_row_2) / x_scale_5 * w_scale_5;
        let positive = max(gate, 0f);
        let value_92 = positive * positive * up;
        let gain_4 = vectors[vectors_at + row_12 + 768u];
        let vg_4 = value_92 * gain_4;
        squares_3 += value_92 * value_92;
        largest_3 = max(largest_3, abs(vg_4));
        let row_of_block_4 = (row_12 & 15u) * 32u + ((row_12 >> 4u) & 31u);
        let place_66 = (row_12 & 4294966784u) + row_of_block_4 + 2896u;
        let place_in_row_4 = place_66 + my_words;
        let value_bits_14 = bitcast<u32>(vg_4);
        let half_14 = select(2u, 0u, (value_bits_14 & 2139095040u) == 2139095040u);
        let rounded_14 = value_bits_14 + half_14;
        atomicStore(&words[place_in_row_4], (rounded_14 & 4294967292u) | tag);
      }
      let next_rows_2 = from_row_2 + 32u;
      if (next_rows_2 < end_row_3) {
        let group_16 = tid / 8u;
        let lane_of_row_13 = tid & 7u;
        let row_13 = next_rows_2 + group_16;
        let safe_row_13 = min(row_13, end_row_3 - 1u);
        let start_15 = layer * 7168u + safe_row_13 * 4u + 4096u;
        let start_16 = layer * 7168u + safe_row_13 * 4u + 5120u;
        let i_14 = min(lane_of_row_13 + 0u, 3u);
        let w4_15 = w[start_15 + i_14];
        let w4_16 = w[start_16 + i_14];
        kept_w_3 = w4_15;
        kept_w_4 = w4_16;
      }
    }
    let my_squares_6 = squares_3;
    let my_largest_6 = largest_3;
    let sg_136 = subgroupShuffleXor(my_squares_6, 2u);
    let both_75 = my_squares_6 + sg_136;
    let sg_137 = subgroupShuffleXor(both_75, 4u);
    let both_76 = both_75 + sg_137;
    let sg_138 = subgroupShuffleXor(both_76, 8u);
    let both_77 = both_76 + sg_138;
    let sg_139 = subgroupShuffleXor(both_77, 16u);
    let both_78 = both_77 + sg_139;
    let sg_140 = subgroupShuffleXor(my_largest_6, 2u);
    let both_79 = max(my_largest_6, sg_140);
    let sg_141 = subgroupShuffleXor(both_79, 4u);
    let both_80 = max(both_79, sg_141);
    let sg_142 = subgroupShuffleXor(both_80, 8u);
    let both_81 = max(both_80, sg_142);
    let sg_143 = subgroupShuffleXor(both_81, 16u);
    let both_82 = max(both_81, sg_143);
    if ((tid % 32u) < 2u) {
      made_stats[my_row * 8u + tid / 32u] = vec2<f32>(both_78, both_82);
    }
    workgroupBarrier();
    let made_of_subgroup_3 = made_stats[tid & 15u];
    let squares_part_3 = made_of_subgroup_3.x;
    let sg_144 = subgroupShuffleXor(squares_part_3, 1u);
    let both_83 = squares_part_3 + sg_144;
    let sg_145 = subgroupShuffleXor(both_83, 2u);
    let both_84 = both_83 + sg_145;
    let sg_146 = subgroupShuffleXor(both_84, 4u);
    let both_85 = both_84 + sg_146;
    let largest_part_3 = made_of_subgroup_3.y;
    let sg_147 = subgroupShuffleXor(largest_part_3, 1u);
    let both_86 = max(largest_part_3, sg_147);
    let sg_148 = subgroupShuffleXor(both_86, 2u);
    let both_87 = max(both_86, sg_148);
    let sg_149 = subgroupShuffleXor(both_87, 4u);
    let both_88 = max(both_87, sg_149);
    let made_row_3 = tid / 8u;
    if ((made_row_3 < n_rows) && ((tid % 8u) == 0u)) {
      let group_17 = wg.x;
      let stats_at_42 = made_row_3 * 2048u + group_17 + 19040u;
      let stats_at_43 = stats_at_42 + 1024u;
      let value_bits_15 = bitcast<u32>(both_85);
      let half_15 = select(2u, 0u, (value_bits_15 & 2139095040u) == 2139095040u);
      let rounded_15 = value_bits_15 + half_15;
      atomicStore(&words[stats_at_42], (rounded_15 & 4294967292u) | tag);
      let value_bits_16 = bitcast<u32>(both_88);
      let half_16 = select(2u, 0u, (value_bits_16 & 2139095040u) == 2139095040u);
      let rounded_16 = value_bits_16 + half_16;
      atomicStore(&words[stats_at_43], (rounded_16 & 4294967292u) | tag);
    }
    var squares_4: f32 = 0f;
    var largest_4: f32 = 0f;
    var row_squares_3: f32 = 0f;
    var row_largest_3: f32 = 0f;
    let unit_3 = lane_of_team + 0u;
    let safe_unit_3 = min(unit_3, 15u) + 0u;
    let place_67 = words_of_team + safe_unit_3 / 32u * 512u + safe_unit_3 % 32u + 2896u;
    let place_68 = place_67 + 32u;
    let place_69 = place_67 + 64u;
    let place_70 = place_67 + 96u;
    let place_71 = place_67 + 128u;
    let place_72 = place_67 + 160u;
    let place_73 = place_67 + 192u;
    let place_74 = place_67 + 224u;
    let place_75 = place_67 + 256u;
    let place_76 = place_67 + 288u;
    let place_77 = place_67 + 320u;
    let place_78 = place_67 + 352u;
    let place_79 = place_67 + 384u;
    let place_80 = place_67 + 416u;
    let place_81 = place_67 + 448u;
    let place_82 = place_67 + 480u;
    let first_part_3 = 0u;
    let part_18 = first_part_3 + lane_of_team + 0u;
    let safe_part_18 = min(part_18, n_wg.x - 1u);
    let stats_at_44 = row_of_team * 2048u + safe_part_18 + 19040u;
    let stats_at_45 = stats_at_44 + 1024u;
    let part_19 = first_part_3 + lane_of_team + 128u;
    let safe_part_19 = min(part_19, n_wg.x - 1u);
    let stats_at_46 = row_of_team * 2048u + safe_part_19 + 19040u;
    let stats_at_47 = stats_at_46 + 1024u;
    let part_20 = first_part_3 + lane_of_team + 256u;
    let safe_part_20 = min(part_20, n_wg.x - 1u);
    let stats_at_48 = row_of_team * 2048u + safe_part_20 + 19040u;
    let stats_at_49 = stats_at_48 + 1024u;
    var found_89: u32 = 0u;
    var found_90: u32 = 0u;
    var found_91: u32 = 0u;
    var found_92: u32 = 0u;
    var found_93: u32 = 0u;
    var found_94: u32 = 0u;
    var found_95: u32 = 0u;
    var found_96: u32 = 0u;
    var found_97: u32 = 0u;
    var found_98: u32 = 0u;
    var found_99: u32 = 0u;
    var found_100: u32 = 0u;
    var found_101: u32 = 0u;
    var found_102: u32 = 0u;
    var found_103: u32 = 0u;
    var found_104: u32 = 0u;
    var found_105: u32 = 0u;
    var found_106: u32 = 0u;
    var found_107: u32 = 0u;
    var found_108: u32 = 0u;
    var found_109: u32 = 0u;
    var found_110: u32 = 0u;
    var waits_8: u32 = 1u;
    let end_16 = patience;
    for (var early_8 = 0u; early_8 < end_16; early_8 += 1u) {
      let now_115 = (atomicLoad(&words[stats_at_49]));
      found_89 = now_115;
      var n_failed_16: u32 = 0u;
      if ((early_8 & 255u) == 255u) {
        let now_116 = (atomicLoad(&words[32u]));
        n_failed_16 = now_116;
      }
      let given_up_16 = n_failed_16 != 0u;
      if ((((found_89 ^ tag) & 3u) == 0u) || given_up_16) {
        break;
      }
    }
    let end_17 = patience;
    for (var tries_8 = 0u; tries_8 < end_17; tries_8 += 1u) {
      let now_117 = (atomicLoad(&words[place_67]));
      found_89 = now_117;
      let now_118 = (atomicLoad(&words[place_68]));
      found_90 = now_118;
      let now_119 = (atomicLoad(&words[place_69]));
      found_91 = now_119;
      let now_120 = (atomicLoad(&words[place_70]));
      found_92 = now_120;
      let now_121 = (atomicLoad(&words[place_71]));
      found_93 = now_121;
      let now_122 = (atomicLoad(&words[place_72]));
      found_94 = now_122;
      let now_123 = (atomicLoad(&words[place_73]));
      found_95 = now_123;
      let now_124 = (atomicLoad(&words[place_74]));
      found_96 = now_124;
      let now_125 = (atomicLoad(&words[place_75]));
      found_97 = now_125;
      let now_126 = (atomicLoad(&words[place_76]));
      found_98 = now_126;
      let now_127 = (atomicLoad(&words[place_77]));
      found_99 = now_127;
      let now_128 = (atomicLoad(&words[place_78]));
      found_100 = now_128;
      let now_129 = (atomicLoad(&words[place_79]));
      found_101 = now_129;
      let now_130 = (atomicLoad(&words[place_80]));
      found_102 = now_130;
      let now_131 = (atomicLoad(&words[place_81]));
      found_103 = now_131;
      let now_132 = (atomicLoad(&words[place_82]));
      found_104 = now_132;
      let now_133 = (atomicLoad(&words[stats_at_44]));
      found_105 = now_133;
      let now_134 = (atomicLoad(&words[stats_at_45]));
      found_106 = now_134;
      let now_135 = (atomicLoad(&words[stats_at_46]));
      found_107 = now_135;
      let now_136 = (atomicLoad(&words[stats_at_47]));
      found_108 = now_136;
      let now_137 = (atomicLoad(&words[stats_at_48]));
      found_109 = now_137;
      let now_138 = (atomicLoad(&words[stats_at_49]));
      found_110 = now_138;
      var odd_8: u32 = 0u;
      odd_8 = odd_8 | (found_89 ^ tag);
      odd_8 = odd_8 | (found_90 ^ tag);
      odd_8 = odd_8 | (found_91 ^ tag);
      odd_8 = odd_8 | (found_92 ^ tag);
      odd_8 = odd_8 | (found_93 ^ tag);
      odd_8 = odd_8 | (found_94 ^ tag);
      odd_8 = odd_8 | (found_95 ^ tag);
      odd_8 = odd_8 | (found_96 ^ tag);
      odd_8 = odd_8 | (found_97 ^ tag);
      odd_8 = odd_8 | (found_98 ^ tag);
      odd_8 = odd_8 | (found_99 ^ tag);
      odd_8 = odd_8 | (found_100 ^ tag);
      odd_8 = odd_8 | (found_101 ^ tag);
      odd_8 = odd_8 | (found_102 ^ tag);
      odd_8 = odd_8 | (found_103 ^ tag);
      odd_8 = odd_8 | (found_104 ^ tag);
      odd_8 = odd_8 | (found_105 ^ tag);
      odd_8 = odd_8 | (found_106 ^ tag);
      odd_8 = odd_8 | (found_107 ^ tag);
      odd_8 = odd_8 | (found_108 ^ tag);
      odd_8 = odd_8 | (found_109 ^ tag);
      odd_8 = odd_8 | (found_110 ^ tag);
      if ((odd_8 & 3u) == 0u) {
        waits_8 = 0u;
        break;
      }
      var n_failed_17: u32 = 0u;
      if ((tries_8 & 255u) == 255u) {
        let now_139 = (atomicLoad(&words[32u]));
        n_failed_17 = now_139;
      }
      let given_up_17 = n_failed_17 != 0u;
      if (given_up_17) {
        break;
      }
    }
    if (waits_8 != 0u) {
      if (patience != 1u) {
        let old_8 = (atomicAdd(&words[32u], 1u));
      }
      patience = 1u;
    }
    let value_93 = bitcast<f32>(found_89 & 4294967292u);
    let value_94 = bitcast<f32>(found_90 & 4294967292u);
    let value_95 = bitcast<f32>(found_91 & 4294967292u);
    let value_96 = bitcast<f32>(found_92 & 4294967292u);
    let value_97 = bitcast<f32>(found_93 & 4294967292u);
    let value_98 = bitcast<f32>(found_94 & 4294967292u);
    let value_99 = bitcast<f32>(found_95 & 4294967292u);
    let value_100 = bitcast<f32>(found_96 & 4294967292u);
    let value_101 = bitcast<f32>(found_97 & 4294967292u);
    let value_102 = bitcast<f32>(found_98 & 4294967292u);
    let value_103 = bitcast<f32>(found_99 & 4294967292u);
    let value_104 = bitcast<f32>(found_100 & 4294967292u);
    let value_105 = bitcast<f32>(found_101 & 4294967292u);
    let value_106 = bitcast<f32>(found_102 & 4294967292u);
    let value_107 = bitcast<f32>(found_103 & 4294967292u);
    let value_108 = bitcast<f32>(found_104 & 4294967292u);
    let value_109 = bitcast<f32>(found_105 & 4294967292u);
    let value_110 = bitcast<f32>(found_106 & 4294967292u);
    let value_111 = bitcast<f32>(found_107 & 4294967292u);
    let value_112 = bitcast<f32>(found_108 & 4294967292u);
    let value_113 = bitcast<f32>(found_109 & 4294967292u);
    let value_114 = bitcast<f32>(found_110 & 4294967292u);
    if (part_18 < n_wg.x) {
      row_squares_3 += value_109;
    }
    row_largest_3 = max(row_largest_3, value_110);
    if (part_19 < n_wg.x) {
      row_squares_3 += value_111;
    }
    row_largest_3 = max(row_largest_3, value_112);
    if (part_20 < n_wg.x) {
      row_squares_3 += value_113;
    }
    row_largest_3 = max(row_largest_3, value_114);
    for (var from_part_3 = 384u; from_part_3 < n_wg.x; from_part_3 += 384u) {
      let part_21 = from_part_3 + lane_of_team + 0u;
      let safe_part_21 = min(part_21, n_wg.x - 1u);
      let stats_at_50 = row_of_team * 2048u + safe_part_21 + 19040u;
      let stats_at_51 = stats_at_50 + 1024u;
      let part_22 = from_part_3 + lane_of_team + 128u;
      let safe_part_22 = min(part_22, n_wg.x - 1u);
      let stats_at_52 = row_of_team * 2048u + safe_part_22 + 19040u;
      let stats_at_53 = stats_at_52 + 1024u;
      let part_23 = from_part_3 + lane_of_team + 256u;
      let safe_part_23 = min(part_23, n_wg.x - 1u);
      let stats_at_54 = row_of_team * 2048u + safe_part_23 + 19040u;
      let stats_at_55 = stats_at_54 + 1024u;
      var found_111: u32 = 0u;
      var found_112: u32 = 0u;
      var found_113: u32 = 0u;
      var found_114: u32 = 0u;
      var found_115: u32 = 0u;
      var found_116: u32 = 0u;
      var waits_9: u32 = 1u;
      let end_18 = patience;
      for (var early_9 = 0u; early_9 < end_18; early_9 += 1u) {
        let now_140 = (atomicLoad(&words[stats_at_55]));
        found_111 = now_140;
        var n_failed_18: u32 = 0u;
        if ((early_9 & 255u) == 255u) {
          let now_141 = (atomicLoad(&words[32u]));
          n_failed_18 = now_141;
        }
        let given_up_18 = n_failed_18 != 0u;
        if ((((found_111 ^ tag) & 3u) == 0u) || given_up_18) {
          break;
        }
      }
      let end_19 = patience;
      for (var tries_9 = 0u; tries_9 < end_19; tries_9 += 1u) {
        let now_142 = (atomicLoad(&words[stats_at_50]));
        found_111 = now_142;
        let now_143 = (atomicLoad(&words[stats_at_51]));
        found_112 = now_143;
        let now_144 = (atomicLoad(&words[stats_at_52]));
        found_113 = now_144;
        let now_145 = (atomicLoad(&words[stats_at_53]));
        found_114 = now_145;
        let now_146 = (atomicLoad(&words[stats_at_54]));
        found_115 = now_146;
        let now_147 = (atomicLoad(&words[stats_at_55]));
        found_116 = now_147;
        var odd_9: u32 = 0u;
        odd_9 = odd_9 | (found_111 ^ tag);
        odd_9 = odd_9 | (found_112 ^ tag);
        odd_9 = odd_9 | (found_113 ^ tag);
        odd_9 = odd_9 | (found_114 ^ tag);
        odd_9 = odd_9 | (found_115 ^ tag);
        odd_9 = odd_9 | (found_116 ^ tag);
        if ((odd_9 & 3u) == 0u) {
          waits_9 = 0u;
          break;
        }
        var n_failed_19: u32 = 0u;
        if ((tries_9 & 255u) == 255u) {
          let now_148 = (atomicLoad(&words[32u]));
          n_failed_19 = now_148;
        }
        let given_up_19 = n_failed_19 != 0u;
        if (given_up_19) {
          break;
        }
      }
      if (waits_9 != 0u) {
        if (patience != 1u) {
          let old_9 = (atomicAdd(&words[32u], 1u));
        }
        patience = 1u;
      }
      let value_115 = bitcast<f32>(found_111 & 4294967292u);
      let value_116 = bitcast<f32>(found_112 & 4294967292u);
      let value_117 = bitcast<f32>(found_113 & 4294967292u);
      let value_118 = bitcast<f32>(found_114 & 4294967292u);
      let value_119 = bitcast<f32>(found_115 & 4294967292u);
      let value_120 = bitcast<f32>(found_116 & 4294967292u);
      if (part_21 < n_wg.x) {
        row_squares_3 += value_115;
      }
      row_largest_3 = max(row_largest_3, value_116);
      if (part_22 < n_wg.x) {
        row_squares_3 += value_117;
      }
      row_largest_3 = max(row_largest_3, value_118);
      if (part_23 < n_wg.x) {
        row_squares_3 += value_119;
      }
      row_largest_3 = max(row_largest_3, value_120);
    }
    let my_squares_7 = row_squares_3;
    let my_largest_7 = row_largest_3;
    let sg_150 = subgroupShuffleXor(my_squares_7, 1u);
    let both_89 = my_squares_7 + sg_150;
    let sg_151 = subgroupShuffleXor(both_89, 2u);
    let both_90 = both_89 + sg_151;
    let sg_152 = subgroupShuffleXor(both_90, 4u);
    let both_91 = both_90 + sg_152;
    let sg_153 = subgroupShuffleXor(both_91, 8u);
    let both_92 = both_91 + sg_153;
    let sg_154 = subgroupShuffleXor(both_92, 16u);
    let both_93 = both_92 + sg_154;
    let sg_155 = subgroupShuffleXor(my_largest_7, 1u);
    let both_94 = max(my_largest_7, sg_155);
    let sg_156 = subgroupShuffleXor(both_94, 2u);
    let both_95 = max(both_94, sg_156);
    let sg_157 = subgroupShuffleXor(both_95, 4u);
    let both_96 = max(both_95, sg_157);
    let sg_158 = subgroupShuffleXor(both_96, 8u);
    let both_97 = max(both_96, sg_158);
    let sg_159 = subgroupShuffleXor(both_97, 16u);
    let both_98 = max(both_97, sg_159);
    if ((tid % 32u) == 0u) {
      row_stats[tid / 32u] = vec2<f32>(both_93, both_98);
    }
    workgroupBarrier();
    var all_squares_3: f32 = 0f;
    var all_largest_3: f32 = 0f;
    let stats_part_12 = row_stats[team * 4u + 0u];
    all_squares_3 += stats_part_12.x;
    all_largest_3 = max(all_largest_3, stats_part_12.y);
    let stats_part_13 = row_stats[team * 4u + 1u];
    all_squares_3 += stats_part_13.x;
    all_largest_3 = max(all_largest_3, stats_part_13.y);
    let stats_part_14 = row_stats[team * 4u + 2u];
    all_squares_3 += stats_part_14.x;
    all_largest_3 = max(all_largest_3, stats_part_14.y);
    let stats_part_15 = row_stats[team * 4u + 3u];
    all_squares_3 += stats_part_15.x;
    all_largest_3 = max(all_largest_3, stats_part_15.y);
    let squares_of_row_3 = all_squares_3;
    let largest_of_row_3 = all_largest_3;
    let factor_3 = 1f / sqrt(squares_of_row_3 / 256f + 1e-05f);
    let finite_scale_3 = 127f / max(largest_of_row_3 * factor_3, 1e-05f);
    let factor_and_scale_3 = factor_3 * finite_scale_3;
    let factor_bits_3 = bitcast<u32>(factor_3);
    let x_scale_6 = select(finite_scale_3, factor_3, (factor_bits_3 - 1u) >= 2139095039u);
    if (lane_of_team == 0u) {
      row_scales[team] = x_scale_6;
    }
    var q_sum_3: i32 = 0i;
    if (unit_3 < 16u) {
      let ones_3 = 16843009u;
      let vg4_12 = vec4<f32>(value_93, value_94, value_95, value_96);
      let moved_12 = vg4_12 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_12 = bitcast<vec4<i32>>(moved_12);
      let packed_12 = pack4xI8(q_12);
      q_sum_3 += dot4I8Packed(packed_12, ones_3);
      let vg4_13 = vec4<f32>(value_97, value_98, value_99, value_100);
      let moved_13 = vg4_13 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_13 = bitcast<vec4<i32>>(moved_13);
      let packed_13 = pack4xI8(q_13);
      q_sum_3 += dot4I8Packed(packed_13, ones_3);
      let vg4_14 = vec4<f32>(value_101, value_102, value_103, value_104);
      let moved_14 = vg4_14 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_14 = bitcast<vec4<i32>>(moved_14);
      let packed_14 = pack4xI8(q_14);
      q_sum_3 += dot4I8Packed(packed_14, ones_3);
      let vg4_15 = vec4<f32>(value_105, value_106, value_107, value_108);
      let moved_15 = vg4_15 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_15 = bitcast<vec4<i32>>(moved_15);
      let packed_15 = pack4xI8(q_15);
      q_sum_3 += dot4I8Packed(packed_15, ones_3);
      let staged_at_3 = team * 16u + ((unit_3 >> 1u) & 3u) * 4u + ((unit_3 >> 3u) * 2u + (unit_3 & 1u));
      staged[staged_at_3] = vec4<u32>(packed_12, packed_13, packed_14, packed_15);
    }
    let my_sum_3 = q_sum_3;
    let sg_160 = subgroupShuffleXor(my_sum_3, 16u);
    let sum_59 = my_sum_3 + sg_160;
    let sg_161 = subgroupShuffleXor(sum_59, 8u);
    let sum_60 = sum_59 + sg_161;
    let sg_162 = subgroupShuffleXor(sum_60, 4u);
    let sum_61 = sum_60 + sg_162;
    let sg_163 = subgroupShuffleXor(sum_61, 2u);
    let sum_62 = sum_61 + sg_163;
    let sg_164 = subgroupShuffleXor(sum_62, 1u);
    let sum_63 = sum_62 + sg_164;
    if ((tid % 32u) == 0u) {
      row_sums[tid / 32u] = sum_63;
    }
    workgroupBarrier();
    let x_scale_7 = row_scales[my_row];
    var x_sum_3: i32 = 0i;
    x_sum_3 += row_sums[my_row * 4u + 0u];
    x_sum_3 += row_sums[my_row * 4u + 1u];
    x_sum_3 += row_sums[my_row * 4u + 2u];
    x_sum_3 += row_sums[my_row * 4u + 3u];
    let x_sum_of_row_3 = x_sum_3;
    for (var from_row_3 = first_row_4; from_row_3 < end_row_4; from_row_3 += 16u) {
      let group_18 = tid / 32u;
      let lane_of_row_14 = tid & 31u;
      let row_14 = from_row_3 + group_18;
      let row_15 = row_14 + 8u;
      let safe_row_14 = min(row_14, end_row_4 - 1u);
      let start_17 = layer * 7168u + safe_row_14 * 4u + 6144u;
      let safe_row_15 = min(row_15, end_row_4 - 1u);
      let start_18 = layer * 7168u + safe_row_15 * 4u + 6144u;
      let i_15 = min(lane_of_row_14 + 0u, 3u);
      let w4_17 = kept_w_5;
      let w4_18 = kept_w_6;
      var acc_12: i32 = 0i;
      var acc_13: i32 = 0i;
      var acc_14: i32 = 0i;
      var acc_15: i32 = 0i;
      let i_16 = lane_of_row_14 + 0u;
      if (i_16 < 4u) {
        for (var plane_3 = 0u; plane_3 < 4u; plane_3 += 1u) {
          let shift_3 = 6u - plane_3 * 2u;
          let codes_20 = (w4_17.x >> shift_3) & 0x03030303u;
          let codes_21 = (w4_17.y >> shift_3) & 0x03030303u;
          let codes_22 = (w4_17.z >> shift_3) & 0x03030303u;
          let codes_23 = (w4_17.w >> shift_3) & 0x03030303u;
          let codes_24 = (w4_18.x >> shift_3) & 0x03030303u;
          let codes_25 = (w4_18.y >> shift_3) & 0x03030303u;
          let codes_26 = (w4_18.z >> shift_3) & 0x03030303u;
          let codes_27 = (w4_18.w >> shift_3) & 0x03030303u;
          let q4_6 = staged[i_16 + plane_3 * 4u + 0u];
          acc_12 += dot4I8Packed(codes_20, q4_6.x);
          acc_14 += dot4I8Packed(codes_24, q4_6.x);
          acc_12 += dot4I8Packed(codes_21, q4_6.y);
          acc_14 += dot4I8Packed(codes_25, q4_6.y);
          acc_12 += dot4I8Packed(codes_22, q4_6.z);
          acc_14 += dot4I8Packed(codes_26, q4_6.z);
          acc_12 += dot4I8Packed(codes_23, q4_6.w);
          acc_14 += dot4I8Packed(codes_27, q4_6.w);
          let q4_7 = staged[i_16 + plane_3 * 4u + 16u];
          acc_13 += dot4I8Packed(codes_20, q4_7.x);
          acc_15 += dot4I8Packed(codes_24, q4_7.x);
          acc_13 += dot4I8Packed(codes_21, q4_7.y);
          acc_15 += dot4I8Packed(codes_25, q4_7.y);
          acc_13 += dot4I8Packed(codes_22, q4_7.z);
          acc_15 += dot4I8Packed(codes_26, q4_7.z);
          acc_13 += dot4I8Packed(codes_23, q4_7.w);
          acc_15 += dot4I8Packed(codes_27, q4_7.w);
        }
      }
      let mine_20 = acc_12;
      let mine_21 = acc_13;
      let is_upper_5 = (lane_of_row_14 & 1u) != 0u;
      let given_5 = select(mine_21, mine_20, is_upper_5);
      let stays_5 = select(mine_20, mine_21, is_upper_5);
      let sg_165 = subgroupShuffleXor(given_5, 1u);
      let sum_64 = stays_5 + sg_165;
      let sg_166 = subgroupShuffleXor(sum_64, 2u);
      let sum_65 = sum_64 + sg_166;
      let sg_167 = subgroupShuffleXor(sum_65, 4u);
      let sum_66 = sum_65 + sg_167;
      let sg_168 = subgroupShuffleXor(sum_66, 8u);
      let sum_67 = sum_66 + sg_168;
      let sg_169 = subgroupShuffleXor(sum_67, 16u);
      let sum_68 = sum_67 + sg_169;
      let mine_22 = acc_14;
      let mine_23 = acc_15;
      let is_upper_6 = (lane_of_row_14 & 1u) != 0u;
      let given_6 = select(mine_23, mine_22, is_upper_6);
      let stays_6 = select(mine_22, mine_23, is_upper_6);
      let sg_170 = subgroupShuffleXor(given_6, 1u);
      let sum_69 = stays_6 + sg_170;
      let sg_171 = subgroupShuffleXor(sum_69, 2u);
      let sum_70 = sum_69 + sg_171;
      let sg_172 = subgroupShuffleXor(sum_70, 4u);
      let sum_71 = sum_70 + sg_172;
      let sg_173 = subgroupShuffleXor(sum_71, 8u);
      let sum_72 = sum_71 + sg_173;
      let sg_174 = subgroupShuffleXor(sum_72, 16u);
      let sum_73 = sum_72 + sg_174;
      if (((lane_of_row_14 < 2u) && is_row) && (row_14 < end_row_4)) {
        let value_121 = f32(sum_68 - x_sum_of_row_3) / x_scale_7 * w_scale_6;
        let mine_at_3 = my_row * 128u + (row_14 - first_row);
        let x_new_2 = residual[mine_at_3] + value_121;
        residual[mine_at_3] = x_new_2;
        let gain_5 = vectors[next_vectors + row_14 + 0u];
        let vg_5 = x_new_2 * gain_5;
        squares_4 += x_new_2 * x_new_2;
        largest_4 = max(largest_4, abs(vg_5));
        let row_of_block_5 = (row_14 & 15u) * 32u + ((row_14 >> 4u) & 31u);
        let place_83 = (row_14 & 4294966784u) + row_of_block_5 + 64u;
        let place_in_row_5 = place_83 + my_words;
        let value_bits_17 = bitcast<u32>(vg_5);
        let half_17 = select(2u, 0u, (value_bits_17 & 2139095040u) == 2139095040u);
        let rounded_17 = value_bits_17 + half_17;
        atomicStore(&words[place_in_row_5], (rounded_17 & 4294967292u) | next_tag);
      }
      if (((lane_of_row_14 < 2u) && is_row) && (row_15 < end_row_4)) {
        let value_122 = f32(sum_73 - x_sum_of_row_3) / x_scale_7 * w_scale_6;
        let mine_at_4 = my_row * 128u + (row_15 - first_row);
        let x_new_3 = residual[mine_at_4] + value_122;
        residual[mine_at_4] = x_new_3;
        let gain_6 = vectors[next_vectors + row_15 + 0u];
        let vg_6 = x_new_3 * gain_6;
        squares_4 += x_new_3 * x_new_3;
        largest_4 = max(largest_4, abs(vg_6));
        let row_of_block_6 = (row_15 & 15u) * 32u + ((row_15 >> 4u) & 31u);
        let place_84 = (row_15 & 4294966784u) + row_of_block_6 + 64u;
        let place_in_row_6 = place_84 + my_words;
        let value_bits_18 = bitcast<u32>(vg_6);
        let half_18 = select(2u, 0u, (value_bits_18 & 2139095040u) == 2139095040u);
        let rounded_18 = value_bits_18 + half_18;
        atomicStore(&words[place_in_row_6], (rounded_18 & 4294967292u) | next_tag);
      }
      let next_rows_3 = from_row_3 + 16u;
      if (next_rows_3 < end_row_4) {
        let group_19 = tid / 32u;
        let lane_of_row_15 = tid & 31u;
        let row_16 = next_rows_3 + group_19;
        let row_17 = row_16 + 8u;
        let safe_row_16 = min(row_16, end_row_4 - 1u);
        let start_19 = layer * 7168u + safe_row_16 * 4u + 6144u;
        let safe_row_17 = min(row_17, end_row_4 - 1u);
        let start_20 = layer * 7168u + safe_row_17 * 4u + 6144u;
        let i_17 = min(lane_of_row_15 + 0u, 3u);
        let w4_19 = w[start_19 + i_17];
        let w4_20 = w[start_20 + i_17];
        kept_w_5 = w4_19;
        kept_w_6 = w4_20;
      }
    }
    let my_squares_8 = squares_4;
    let my_largest_8 = largest_4;
    let sg_175 = subgroupShuffleXor(my_squares_8, 2u);
    let both_99 = my_squares_8 + sg_175;
    let sg_176 = subgroupShuffleXor(both_99, 4u);
    let both_100 = both_99 + sg_176;
    let sg_177 = subgroupShuffleXor(both_100, 8u);
    let both_101 = both_100 + sg_177;
    let sg_178 = subgroupShuffleXor(both_101, 16u);
    let both_102 = both_101 + sg_178;
    let sg_179 = subgroupShuffleXor(my_largest_8, 2u);
    let both_103 = max(my_largest_8, sg_179);
    let sg_180 = subgroupShuffleXor(both_103, 4u);
    let both_104 = max(both_103, sg_180);
    let sg_181 = subgroupShuffleXor(both_104, 8u);
    let both_105 = max(both_104, sg_181);
    let sg_182 = subgroupShuffleXor(both_105, 16u);
    let both_106 = max(both_105, sg_182);
    if ((tid % 32u) < 2u) {
      made_stats[my_row * 8u + tid / 32u] = vec2<f32>(both_102, both_106);
    }
    workgroupBarrier();
    let made_of_subgroup_4 = made_stats[tid & 15u];
    let squares_part_4 = made_of_subgroup_4.x;
    let sg_183 = subgroupShuffleXor(squares_part_4, 1u);
    let both_107 = squares_part_4 + sg_183;
    let sg_184 = subgroupShuffleXor(both_107, 2u);
    let both_108 = both_107 + sg_184;
    let sg_185 = subgroupShuffleXor(both_108, 4u);
    let both_109 = both_108 + sg_185;
    let largest_part_4 = made_of_subgroup_4.y;
    let sg_186 = subgroupShuffleXor(largest_part_4, 1u);
    let both_110 = max(largest_part_4, sg_186);
    let sg_187 = subgroupShuffleXor(both_110, 2u);
    let both_111 = max(both_110, sg_187);
    let sg_188 = subgroupShuffleXor(both_111, 4u);
    let both_112 = max(both_111, sg_188);
    let made_row_4 = tid / 8u;
    if ((made_row_4 < n_rows) && ((tid % 8u) == 0u)) {
      let group_20 = wg.x;
      let stats_at_56 = made_row_4 * 2048u + group_20 + 6752u;
      let stats_at_57 = stats_at_56 + 1024u;
      let value_bits_19 = bitcast<u32>(both_109);
      let half_19 = select(2u, 0u, (value_bits_19 & 2139095040u) == 2139095040u);
      let rounded_19 = value_bits_19 + half_19;
      atomicStore(&words[stats_at_56], (rounded_19 & 4294967292u) | next_tag);
      let value_bits_20 = bitcast<u32>(both_112);
      let half_20 = select(2u, 0u, (value_bits_20 & 2139095040u) == 2139095040u);
      let rounded_20 = value_bits_20 + half_20;
      atomicStore(&words[stats_at_57], (rounded_20 & 4294967292u) | next_tag);
    }
  }
  workgroupBarrier();
  for (var col_1 = first_row + tid / 2u; col_1 < end_row; col_1 += 128u) {
    if (is_row) {
      let mine_at_5 = my_row * 128u + (col_1 - first_row);
      let x_value_1 = residual[mine_at_5];
      x[my_row * 256u + col_1] = x_value_1;
    }
  }
  if ((wg.x == 0u) && (tid == 0u)) {
    atomicStore(&words[0u], (last_tag + 1u + 2u) & 3u);
  }
}
