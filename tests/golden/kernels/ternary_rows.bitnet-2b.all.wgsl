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
var<workgroup> residual: array<f32, 512>;
var<workgroup> turned: array<f32, 768>;
var<workgroup> sums: array<f32, 2112>;
var<workgroup> staged: array<vec4<u32>, 2048>;
var<workgroup> row_stats: array<vec2<f32>, 16>;
var<workgroup> made_stats: array<vec2<f32>, 128>;
var<workgroup> row_scales: array<f32, 8>;
var<workgroup> row_sums: array<i32, 16>;

@compute @workgroup_size(512)
fn ternary_rows(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let now = (atomicLoad(&words[1u]));
  var patience: u32 = now;
  let now_1 = (atomicLoad(&words[0u]));
  let last_tag = now_1;
  let n_rows = min(params[0u], 8u);
  let my_row = tid & 7u;
  let is_row = my_row < n_rows;
  let my_words = my_row * 29088u;
  let team = tid / 64u;
  let lane_of_team = tid % 64u;
  let row_of_team = min(team, n_rows - 1u);
  let words_of_team = row_of_team * 29088u;
  let first_row = wg.x * 2560u / n_wg.x;
  let end_row = (wg.x + 1u) * 2560u / n_wg.x;
  let first_row_1 = wg.x * 3840u / n_wg.x;
  let end_row_1 = (wg.x + 1u) * 3840u / n_wg.x;
  let first_row_2 = wg.x * 2560u / n_wg.x;
  let end_row_2 = (wg.x + 1u) * 2560u / n_wg.x;
  let first_row_3 = wg.x * 6912u / n_wg.x;
  let end_row_3 = (wg.x + 1u) * 6912u / n_wg.x;
  let first_row_4 = wg.x * 2560u / n_wg.x;
  let end_row_4 = (wg.x + 1u) * 2560u / n_wg.x;
  let first_tag = (last_tag + 1u) & 3u;
  let first_vectors = 0u;
  var squares: f32 = 0f;
  var largest: f32 = 0f;
  for (var col = first_row + tid / 8u; col < end_row; col += 64u) {
    if (is_row) {
      let x_value = x[my_row * 2560u + col];
      let mine_at = my_row * 64u + (col - first_row);
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
  let sg = subgroupShuffleXor(my_squares, 8u);
  let both = my_squares + sg;
  let sg_1 = subgroupShuffleXor(both, 16u);
  let both_1 = both + sg_1;
  let sg_2 = subgroupShuffleXor(my_largest, 8u);
  let both_2 = max(my_largest, sg_2);
  let sg_3 = subgroupShuffleXor(both_2, 16u);
  let both_3 = max(both_2, sg_3);
  if ((tid % 32u) < 8u) {
    made_stats[my_row * 16u + tid / 32u] = vec2<f32>(both_1, both_3);
  }
  workgroupBarrier();
  let made_of_subgroup = made_stats[tid & 127u];
  let squares_part = made_of_subgroup.x;
  let sg_4 = subgroupShuffleXor(squares_part, 1u);
  let both_4 = squares_part + sg_4;
  let sg_5 = subgroupShuffleXor(both_4, 2u);
  let both_5 = both_4 + sg_5;
  let sg_6 = subgroupShuffleXor(both_5, 4u);
  let both_6 = both_5 + sg_6;
  let sg_7 = subgroupShuffleXor(both_6, 8u);
  let both_7 = both_6 + sg_7;
  let largest_part = made_of_subgroup.y;
  let sg_8 = subgroupShuffleXor(largest_part, 1u);
  let both_8 = max(largest_part, sg_8);
  let sg_9 = subgroupShuffleXor(both_8, 2u);
  let both_9 = max(both_8, sg_9);
  let sg_10 = subgroupShuffleXor(both_9, 4u);
  let both_10 = max(both_9, sg_10);
  let sg_11 = subgroupShuffleXor(both_10, 8u);
  let both_11 = max(both_10, sg_11);
  let made_row = tid / 16u;
  if ((made_row < n_rows) && ((tid % 16u) == 0u)) {
    let group = wg.x;
    let stats_at = made_row * 2048u + group + 232768u;
    let stats_at_1 = stats_at + 1024u;
    let value_bits_1 = bitcast<u32>(both_7);
    let half_1 = select(2u, 0u, (value_bits_1 & 2139095040u) == 2139095040u);
    let rounded_1 = value_bits_1 + half_1;
    atomicStore(&words[stats_at], (rounded_1 & 4294967292u) | first_tag);
    let value_bits_2 = bitcast<u32>(both_11);
    let half_2 = select(2u, 0u, (value_bits_2 & 2139095040u) == 2139095040u);
    let rounded_2 = value_bits_2 + half_2;
    atomicStore(&words[stats_at_1], (rounded_2 & 4294967292u) | first_tag);
  }
  for (var layer = 0u; layer < 30u; layer += 1u) {
    let tag = (last_tag + 1u + layer) & 3u;
    let next_tag = (tag + 1u) & 3u;
    let vectors_at = layer * 14600u;
    let next_vectors = min(layer + 1u, 29u) * 14600u;
    let group_1 = tid / 16u;
    let lane_of_row = tid & 15u;
    let w_scale = vectors[vectors_at + 14592u];
    let w_scale_1 = vectors[vectors_at + 14593u];
    let w_scale_2 = vectors[vectors_at + 14594u];
    var row_squares: f32 = 0f;
    var row_largest: f32 = 0f;
    let unit = lane_of_team + 0u;
    let safe_unit = min(unit, 159u) + 0u;
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
    let unit_1 = lane_of_team + 64u;
    let safe_unit_1 = min(unit_1, 159u) + 0u;
    let place_17 = words_of_team + safe_unit_1 / 32u * 512u + safe_unit_1 % 32u + 64u;
    let place_18 = place_17 + 32u;
    let place_19 = place_17 + 64u;
    let place_20 = place_17 + 96u;
    let place_21 = place_17 + 128u;
    let place_22 = place_17 + 160u;
    let place_23 = place_17 + 192u;
    let place_24 = place_17 + 224u;
    let place_25 = place_17 + 256u;
    let place_26 = place_17 + 288u;
    let place_27 = place_17 + 320u;
    let place_28 = place_17 + 352u;
    let place_29 = place_17 + 384u;
    let place_30 = place_17 + 416u;
    let place_31 = place_17 + 448u;
    let place_32 = place_17 + 480u;
    let unit_2 = lane_of_team + 128u;
    let safe_unit_2 = min(unit_2, 159u) + 0u;
    let place_33 = words_of_team + safe_unit_2 / 32u * 512u + safe_unit_2 % 32u + 64u;
    let place_34 = place_33 + 32u;
    let place_35 = place_33 + 64u;
    let place_36 = place_33 + 96u;
    let place_37 = place_33 + 128u;
    let place_38 = place_33 + 160u;
    let place_39 = place_33 + 192u;
    let place_40 = place_33 + 224u;
    let place_41 = place_33 + 256u;
    let place_42 = place_33 + 288u;
    let place_43 = place_33 + 320u;
    let place_44 = place_33 + 352u;
    let place_45 = place_33 + 384u;
    let place_46 = place_33 + 416u;
    let place_47 = place_33 + 448u;
    let place_48 = place_33 + 480u;
    let first_part = 0u;
    let part = first_part + lane_of_team + 0u;
    let safe_part = min(part, n_wg.x - 1u);
    let stats_at_2 = row_of_team * 2048u + safe_part + 232768u;
    let stats_at_3 = stats_at_2 + 1024u;
    let part_1 = first_part + lane_of_team + 64u;
    let safe_part_1 = min(part_1, n_wg.x - 1u);
    let stats_at_4 = row_of_team * 2048u + safe_part_1 + 232768u;
    let stats_at_5 = stats_at_4 + 1024u;
    let part_2 = first_part + lane_of_team + 128u;
    let safe_part_2 = min(part_2, n_wg.x - 1u);
    let stats_at_6 = row_of_team * 2048u + safe_part_2 + 232768u;
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
    var found_22: u32 = 0u;
    var found_23: u32 = 0u;
    var found_24: u32 = 0u;
    var found_25: u32 = 0u;
    var found_26: u32 = 0u;
    var found_27: u32 = 0u;
    var found_28: u32 = 0u;
    var found_29: u32 = 0u;
    var found_30: u32 = 0u;
    var found_31: u32 = 0u;
    var found_32: u32 = 0u;
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
      let now_20 = (atomicLoad(&words[place_17]));
      found_16 = now_20;
      let now_21 = (atomicLoad(&words[place_18]));
      found_17 = now_21;
      let now_22 = (atomicLoad(&words[place_19]));
      found_18 = now_22;
      let now_23 = (atomicLoad(&words[place_20]));
      found_19 = now_23;
      let now_24 = (atomicLoad(&words[place_21]));
      found_20 = now_24;
      let now_25 = (atomicLoad(&words[place_22]));
      found_21 = now_25;
      let now_26 = (atomicLoad(&words[place_23]));
      found_22 = now_26;
      let now_27 = (atomicLoad(&words[place_24]));
      found_23 = now_27;
      let now_28 = (atomicLoad(&words[place_25]));
      found_24 = now_28;
      let now_29 = (atomicLoad(&words[place_26]));
      found_25 = now_29;
      let now_30 = (atomicLoad(&words[place_27]));
      found_26 = now_30;
      let now_31 = (atomicLoad(&words[place_28]));
      found_27 = now_31;
      let now_32 = (atomicLoad(&words[place_29]));
      found_28 = now_32;
      let now_33 = (atomicLoad(&words[place_30]));
      found_29 = now_33;
      let now_34 = (atomicLoad(&words[place_31]));
      found_30 = now_34;
      let now_35 = (atomicLoad(&words[place_32]));
      found_31 = now_35;
      let now_36 = (atomicLoad(&words[place_33]));
      found_32 = now_36;
      let now_37 = (atomicLoad(&words[place_34]));
      found_33 = now_37;
      let now_38 = (atomicLoad(&words[place_35]));
      found_34 = now_38;
      let now_39 = (atomicLoad(&words[place_36]));
      found_35 = now_39;
      let now_40 = (atomicLoad(&words[place_37]));
      found_36 = now_40;
      let now_41 = (atomicLoad(&words[place_38]));
      found_37 = now_41;
      let now_42 = (atomicLoad(&words[place_39]));
      found_38 = now_42;
      let now_43 = (atomicLoad(&words[place_40]));
      found_39 = now_43;
      let now_44 = (atomicLoad(&words[place_41]));
      found_40 = now_44;
      let now_45 = (atomicLoad(&words[place_42]));
      found_41 = now_45;
      let now_46 = (atomicLoad(&words[place_43]));
      found_42 = now_46;
      let now_47 = (atomicLoad(&words[place_44]));
      found_43 = now_47;
      let now_48 = (atomicLoad(&words[place_45]));
      found_44 = now_48;
      let now_49 = (atomicLoad(&words[place_46]));
      found_45 = now_49;
      let now_50 = (atomicLoad(&words[place_47]));
      found_46 = now_50;
      let now_51 = (atomicLoad(&words[place_48]));
      found_47 = now_51;
      let now_52 = (atomicLoad(&words[stats_at_2]));
      found_48 = now_52;
      let now_53 = (atomicLoad(&words[stats_at_3]));
      found_49 = now_53;
      let now_54 = (atomicLoad(&words[stats_at_4]));
      found_50 = now_54;
      let now_55 = (atomicLoad(&words[stats_at_5]));
      found_51 = now_55;
      let now_56 = (atomicLoad(&words[stats_at_6]));
      found_52 = now_56;
      let now_57 = (atomicLoad(&words[stats_at_7]));
      found_53 = now_57;
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
      odd = odd | (found_22 ^ tag);
      odd = odd | (found_23 ^ tag);
      odd = odd | (found_24 ^ tag);
      odd = odd | (found_25 ^ tag);
      odd = odd | (found_26 ^ tag);
      odd = odd | (found_27 ^ tag);
      odd = odd | (found_28 ^ tag);
      odd = odd | (found_29 ^ tag);
      odd = odd | (found_30 ^ tag);
      odd = odd | (found_31 ^ tag);
      odd = odd | (found_32 ^ tag);
      odd = odd | (found_33 ^ tag);
      odd = odd | (found_34 ^ tag);
      odd = odd | (found_35 ^ tag);
      odd = odd | (found_36 ^ tag);
      odd = odd | (found_37 ^ tag);
      odd = odd | (found_38 ^ tag);
      odd = odd | (found_39 ^ tag);
      odd = odd | (found_40 ^ tag);
      odd = odd | (found_41 ^ tag);
      odd = odd | (found_42 ^ tag);
      odd = odd | (found_43 ^ tag);
      odd = odd | (found_44 ^ tag);
      odd = odd | (found_45 ^ tag);
      odd = odd | (found_46 ^ tag);
      odd = odd | (found_47 ^ tag);
      odd = odd | (found_48 ^ tag);
      odd = odd | (found_49 ^ tag);
      odd = odd | (found_50 ^ tag);
      odd = odd | (found_51 ^ tag);
      odd = odd | (found_52 ^ tag);
      odd = odd | (found_53 ^ tag);
      if ((odd & 3u) == 0u) {
        waits = 0u;
        break;
      }
      var n_failed_1: u32 = 0u;
      if ((tries & 255u) == 255u) {
        let now_58 = (atomicLoad(&words[32u]));
        n_failed_1 = now_58;
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
    let value_22 = bitcast<f32>(found_22 & 4294967292u);
    let value_23 = bitcast<f32>(found_23 & 4294967292u);
    let value_24 = bitcast<f32>(found_24 & 4294967292u);
    let value_25 = bitcast<f32>(found_25 & 4294967292u);
    let value_26 = bitcast<f32>(found_26 & 4294967292u);
    let value_27 = bitcast<f32>(found_27 & 4294967292u);
    let value_28 = bitcast<f32>(found_28 & 4294967292u);
    let value_29 = bitcast<f32>(found_29 & 4294967292u);
    let value_30 = bitcast<f32>(found_30 & 4294967292u);
    let value_31 = bitcast<f32>(found_31 & 4294967292u);
    let value_32 = bitcast<f32>(found_32 & 4294967292u);
    let value_33 = bitcast<f32>(found_33 & 4294967292u);
    let value_34 = bitcast<f32>(found_34 & 4294967292u);
    let value_35 = bitcast<f32>(found_35 & 4294967292u);
    let value_36 = bitcast<f32>(found_36 & 4294967292u);
    let value_37 = bitcast<f32>(found_37 & 4294967292u);
    let value_38 = bitcast<f32>(found_38 & 4294967292u);
    let value_39 = bitcast<f32>(found_39 & 4294967292u);
    let value_40 = bitcast<f32>(found_40 & 4294967292u);
    let value_41 = bitcast<f32>(found_41 & 4294967292u);
    let value_42 = bitcast<f32>(found_42 & 4294967292u);
    let value_43 = bitcast<f32>(found_43 & 4294967292u);
    let value_44 = bitcast<f32>(found_44 & 4294967292u);
    let value_45 = bitcast<f32>(found_45 & 4294967292u);
    let value_46 = bitcast<f32>(found_46 & 4294967292u);
    let value_47 = bitcast<f32>(found_47 & 4294967292u);
    let value_48 = bitcast<f32>(found_48 & 4294967292u);
    let value_49 = bitcast<f32>(found_49 & 4294967292u);
    let value_50 = bitcast<f32>(found_50 & 4294967292u);
    let value_51 = bitcast<f32>(found_51 & 4294967292u);
    let value_52 = bitcast<f32>(found_52 & 4294967292u);
    let value_53 = bitcast<f32>(found_53 & 4294967292u);
    if (part < n_wg.x) {
      row_squares += value_48;
    }
    row_largest = max(row_largest, value_49);
    if (part_1 < n_wg.x) {
      row_squares += value_50;
    }
    row_largest = max(row_largest, value_51);
    if (part_2 < n_wg.x) {
      row_squares += value_52;
    }
    row_largest = max(row_largest, value_53);
    for (var from_part = 192u; from_part < n_wg.x; from_part += 192u) {
      let part_3 = from_part + lane_of_team + 0u;
      let safe_part_3 = min(part_3, n_wg.x - 1u);
      let stats_at_8 = row_of_team * 2048u + safe_part_3 + 232768u;
      let stats_at_9 = stats_at_8 + 1024u;
      let part_4 = from_part + lane_of_team + 64u;
      let safe_part_4 = min(part_4, n_wg.x - 1u);
      let stats_at_10 = row_of_team * 2048u + safe_part_4 + 232768u;
      let stats_at_11 = stats_at_10 + 1024u;
      let part_5 = from_part + lane_of_team + 128u;
      let safe_part_5 = min(part_5, n_wg.x - 1u);
      let stats_at_12 = row_of_team * 2048u + safe_part_5 + 232768u;
      let stats_at_13 = stats_at_12 + 1024u;
      var found_54: u32 = 0u;
      var found_55: u32 = 0u;
      var found_56: u32 = 0u;
      var found_57: u32 = 0u;
      var found_58: u32 = 0u;
      var found_59: u32 = 0u;
      var waits_1: u32 = 1u;
      let end_2 = patience;
      for (var early_1 = 0u; early_1 < end_2; early_1 += 1u) {
        let now_59 = (atomicLoad(&words[stats_at_13]));
        found_54 = now_59;
        var n_failed_2: u32 = 0u;
        if ((early_1 & 255u) == 255u) {
          let now_60 = (atomicLoad(&words[32u]));
          n_failed_2 = now_60;
        }
        let given_up_2 = n_failed_2 != 0u;
        if ((((found_54 ^ tag) & 3u) == 0u) || given_up_2) {
          break;
        }
      }
      let end_3 = patience;
      for (var tries_1 = 0u; tries_1 < end_3; tries_1 += 1u) {
        let now_61 = (atomicLoad(&words[stats_at_8]));
        found_54 = now_61;
        let now_62 = (atomicLoad(&words[stats_at_9]));
        found_55 = now_62;
        let now_63 = (atomicLoad(&words[stats_at_10]));
        found_56 = now_63;
        let now_64 = (atomicLoad(&words[stats_at_11]));
        found_57 = now_64;
        let now_65 = (atomicLoad(&words[stats_at_12]));
        found_58 = now_65;
        let now_66 = (atomicLoad(&words[stats_at_13]));
        found_59 = now_66;
        var odd_1: u32 = 0u;
        odd_1 = odd_1 | (found_54 ^ tag);
        odd_1 = odd_1 | (found_55 ^ tag);
        odd_1 = odd_1 | (found_56 ^ tag);
        odd_1 = odd_1 | (found_57 ^ tag);
        odd_1 = odd_1 | (found_58 ^ tag);
        odd_1 = odd_1 | (found_59 ^ tag);
        if ((odd_1 & 3u) == 0u) {
          waits_1 = 0u;
          break;
        }
        var n_failed_3: u32 = 0u;
        if ((tries_1 & 255u) == 255u) {
          let now_67 = (atomicLoad(&words[32u]));
          n_failed_3 = now_67;
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
      let value_54 = bitcast<f32>(found_54 & 4294967292u);
      let value_55 = bitcast<f32>(found_55 & 4294967292u);
      let value_56 = bitcast<f32>(found_56 & 4294967292u);
      let value_57 = bitcast<f32>(found_57 & 4294967292u);
      let value_58 = bitcast<f32>(found_58 & 4294967292u);
      let value_59 = bitcast<f32>(found_59 & 4294967292u);
      if (part_3 < n_wg.x) {
        row_squares += value_54;
      }
      row_largest = max(row_largest, value_55);
      if (part_4 < n_wg.x) {
        row_squares += value_56;
      }
      row_largest = max(row_largest, value_57);
      if (part_5 < n_wg.x) {
        row_squares += value_58;
      }
      row_largest = max(row_largest, value_59);
    }
    let my_squares_1 = row_squares;
    let my_largest_1 = row_largest;
    let sg_12 = subgroupShuffleXor(my_squares_1, 1u);
    let both_12 = my_squares_1 + sg_12;
    let sg_13 = subgroupShuffleXor(both_12, 2u);
    let both_13 = both_12 + sg_13;
    let sg_14 = subgroupShuffleXor(both_13, 4u);
    let both_14 = both_13 + sg_14;
    let sg_15 = subgroupShuffleXor(both_14, 8u);
    let both_15 = both_14 + sg_15;
    let sg_16 = subgroupShuffleXor(both_15, 16u);
    let both_16 = both_15 + sg_16;
    let sg_17 = subgroupShuffleXor(my_largest_1, 1u);
    let both_17 = max(my_largest_1, sg_17);
    let sg_18 = subgroupShuffleXor(both_17, 2u);
    let both_18 = max(both_17, sg_18);
    let sg_19 = subgroupShuffleXor(both_18, 4u);
    let both_19 = max(both_18, sg_19);
    let sg_20 = subgroupShuffleXor(both_19, 8u);
    let both_20 = max(both_19, sg_20);
    let sg_21 = subgroupShuffleXor(both_20, 16u);
    let both_21 = max(both_20, sg_21);
    if ((tid % 32u) == 0u) {
      row_stats[tid / 32u] = vec2<f32>(both_16, both_21);
    }
    workgroupBarrier();
    var all_squares: f32 = 0f;
    var all_largest: f32 = 0f;
    let stats_part = row_stats[team * 2u + 0u];
    all_squares += stats_part.x;
    all_largest = max(all_largest, stats_part.y);
    let stats_part_1 = row_stats[team * 2u + 1u];
    all_squares += stats_part_1.x;
    all_largest = max(all_largest, stats_part_1.y);
    let squares_of_row = all_squares;
    let largest_of_row = all_largest;
    let factor = 1f / sqrt(squares_of_row / 2560f + 1e-05f);
    let finite_scale = 127f / max(largest_of_row * factor, 1e-05f);
    let factor_and_scale = factor * finite_scale;
    let factor_bits = bitcast<u32>(factor);
    let x_scale = select(finite_scale, factor, (factor_bits - 1u) >= 2139095039u);
    if (lane_of_team == 0u) {
      row_scales[team] = x_scale;
    }
    var q_sum: i32 = 0i;
    if (unit < 160u) {
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
      let staged_at = team * 160u + ((unit >> 1u) & 3u) * 40u + ((unit >> 3u) * 2u + (unit & 1u));
      staged[staged_at] = vec4<u32>(packed, packed_1, packed_2, packed_3);
    }
    if (unit_1 < 160u) {
      let ones_1 = 16843009u;
      let vg4_4 = vec4<f32>(value_16, value_17, value_18, value_19);
      let moved_4 = vg4_4 * factor_and_scale + vec4<f32>(12582912f);
      let q_4 = bitcast<vec4<i32>>(moved_4);
      let packed_4 = pack4xI8(q_4);
      q_sum += dot4I8Packed(packed_4, ones_1);
      let vg4_5 = vec4<f32>(value_20, value_21, value_22, value_23);
      let moved_5 = vg4_5 * factor_and_scale + vec4<f32>(12582912f);
      let q_5 = bitcast<vec4<i32>>(moved_5);
      let packed_5 = pack4xI8(q_5);
      q_sum += dot4I8Packed(packed_5, ones_1);
      let vg4_6 = vec4<f32>(value_24, value_25, value_26, value_27);
      let moved_6 = vg4_6 * factor_and_scale + vec4<f32>(12582912f);
      let q_6 = bitcast<vec4<i32>>(moved_6);
      let packed_6 = pack4xI8(q_6);
      q_sum += dot4I8Packed(packed_6, ones_1);
      let vg4_7 = vec4<f32>(value_28, value_29, value_30, value_31);
      let moved_7 = vg4_7 * factor_and_scale + vec4<f32>(12582912f);
      let q_7 = bitcast<vec4<i32>>(moved_7);
      let packed_7 = pack4xI8(q_7);
      q_sum += dot4I8Packed(packed_7, ones_1);
      let staged_at_1 = team * 160u + ((unit_1 >> 1u) & 3u) * 40u + ((unit_1 >> 3u) * 2u + (unit_1 & 1u));
      staged[staged_at_1] = vec4<u32>(packed_4, packed_5, packed_6, packed_7);
    }
    if (unit_2 < 160u) {
      let ones_2 = 16843009u;
      let vg4_8 = vec4<f32>(value_32, value_33, value_34, value_35);
      let moved_8 = vg4_8 * factor_and_scale + vec4<f32>(12582912f);
      let q_8 = bitcast<vec4<i32>>(moved_8);
      let packed_8 = pack4xI8(q_8);
      q_sum += dot4I8Packed(packed_8, ones_2);
      let vg4_9 = vec4<f32>(value_36, value_37, value_38, value_39);
      let moved_9 = vg4_9 * factor_and_scale + vec4<f32>(12582912f);
      let q_9 = bitcast<vec4<i32>>(moved_9);
      let packed_9 = pack4xI8(q_9);
      q_sum += dot4I8Packed(packed_9, ones_2);
      let vg4_10 = vec4<f32>(value_40, value_41, value_42, value_43);
      let moved_10 = vg4_10 * factor_and_scale + vec4<f32>(12582912f);
      let q_10 = bitcast<vec4<i32>>(moved_10);
      let packed_10 = pack4xI8(q_10);
      q_sum += dot4I8Packed(packed_10, ones_2);
      let vg4_11 = vec4<f32>(value_44, value_45, value_46, value_47);
      let moved_11 = vg4_11 * factor_and_scale + vec4<f32>(12582912f);
      let q_11 = bitcast<vec4<i32>>(moved_11);
      let packed_11 = pack4xI8(q_11);
      q_sum += dot4I8Packed(packed_11, ones_2);
      let staged_at_2 = team * 160u + ((unit_2 >> 1u) & 3u) * 40u + ((unit_2 >> 3u) * 2u + (unit_2 & 1u));
      staged[staged_at_2] = vec4<u32>(packed_8, packed_9, packed_10, packed_11);
    }
    let my_sum = q_sum;
    let sg_22 = subgroupShuffleXor(my_sum, 16u);
    let sum = my_sum + sg_22;
    let sg_23 = subgroupShuffleXor(sum, 8u);
    let sum_1 = sum + sg_23;
    let sg_24 = subgroupShuffleXor(sum_1, 4u);
    let sum_2 = sum_1 + sg_24;
    let sg_25 = subgroupShuffleXor(sum_2, 2u);
    let sum_3 = sum_2 + sg_25;
    let sg_26 = subgroupShuffleXor(sum_3, 1u);
    let sum_4 = sum_3 + sg_26;
    if ((tid % 32u) == 0u) {
      row_sums[tid / 32u] = sum_4;
    }
    workgroupBarrier();
    let x_scale_1 = row_scales[my_row];
    var x_sum: i32 = 0i;
    x_sum += row_sums[my_row * 2u + 0u];
    x_sum += row_sums[my_row * 2u + 1u];
    let x_sum_of_row = x_sum;
    for (var from_row = first_row_1; from_row < end_row_1; from_row += 32u) {
      let group_2 = tid / 16u;
      let lane_of_row_1 = tid & 15u;
      let row = from_row + group_2;
      let safe_row = min(row, end_row_1 - 1u);
      let start = layer * 1085440u + safe_row * 40u + 0u;
      var acc: i32 = 0i;
      var acc_1: i32 = 0i;
      var acc_2: i32 = 0i;
      var acc_3: i32 = 0i;
      var acc_4: i32 = 0i;
      var acc_5: i32 = 0i;
      var acc_6: i32 = 0i;
      var acc_7: i32 = 0i;
      for (var i = lane_of_row_1; i < 40u; i += 16u) {
        let w4 = w[start + i];
        for (var plane = 0u; plane < 4u; plane += 1u) {
          let shift = 6u - plane * 2u;
          let codes = (w4.x >> shift) & 0x03030303u;
          let codes_1 = (w4.y >> shift) & 0x03030303u;
          let codes_2 = (w4.z >> shift) & 0x03030303u;
          let codes_3 = (w4.w >> shift) & 0x03030303u;
          let q4 = staged[i + plane * 40u + 0u];
          acc += dot4I8Packed(codes, q4.x);
          acc += dot4I8Packed(codes_1, q4.y);
          acc += dot4I8Packed(codes_2, q4.z);
          acc += dot4I8Packed(codes_3, q4.w);
          let q4_1 = staged[i + plane * 40u + 160u];
          acc_1 += dot4I8Packed(codes, q4_1.x);
          acc_1 += dot4I8Packed(codes_1, q4_1.y);
          acc_1 += dot4I8Packed(codes_2, q4_1.z);
          acc_1 += dot4I8Packed(codes_3, q4_1.w);
          let q4_2 = staged[i + plane * 40u + 320u];
          acc_2 += dot4I8Packed(codes, q4_2.x);
          acc_2 += dot4I8Packed(codes_1, q4_2.y);
          acc_2 += dot4I8Packed(codes_2, q4_2.z);
          acc_2 += dot4I8Packed(codes_3, q4_2.w);
          let q4_3 = staged[i + plane * 40u + 480u];
          acc_3 += dot4I8Packed(codes, q4_3.x);
          acc_3 += dot4I8Packed(codes_1, q4_3.y);
          acc_3 += dot4I8Packed(codes_2, q4_3.z);
          acc_3 += dot4I8Packed(codes_3, q4_3.w);
          let q4_4 = staged[i + plane * 40u + 640u];
          acc_4 += dot4I8Packed(codes, q4_4.x);
          acc_4 += dot4I8Packed(codes_1, q4_4.y);
          acc_4 += dot4I8Packed(codes_2, q4_4.z);
          acc_4 += dot4I8Packed(codes_3, q4_4.w);
          let q4_5 = staged[i + plane * 40u + 800u];
          acc_5 += dot4I8Packed(codes, q4_5.x);
          acc_5 += dot4I8Packed(codes_1, q4_5.y);
          acc_5 += dot4I8Packed(codes_2, q4_5.z);
          acc_5 += dot4I8Packed(codes_3, q4_5.w);
          let q4_6 = staged[i + plane * 40u + 960u];
          acc_6 += dot4I8Packed(codes, q4_6.x);
          acc_6 += dot4I8Packed(codes_1, q4_6.y);
          acc_6 += dot4I8Packed(codes_2, q4_6.z);
          acc_6 += dot4I8Packed(codes_3, q4_6.w);
          let q4_7 = staged[i + plane * 40u + 1120u];
          acc_7 += dot4I8Packed(codes, q4_7.x);
          acc_7 += dot4I8Packed(codes_1, q4_7.y);
          acc_7 += dot4I8Packed(codes_2, q4_7.z);
          acc_7 += dot4I8Packed(codes_3, q4_7.w);
        }
      }
      let mine = acc;
      let mine_1 = acc_1;
      let mine_2 = acc_2;
      let mine_3 = acc_3;
      let mine_4 = acc_4;
      let mine_5 = acc_5;
      let mine_6 = acc_6;
      let mine_7 = acc_7;
      let is_upper = (lane_of_row_1 & 4u) != 0u;
      let given = select(mine_4, mine, is_upper);
      let stays = select(mine, mine_4, is_upper);
      let sg_27 = subgroupShuffleXor(given, 4u);
      let sum_5 = stays + sg_27;
      let given_1 = select(mine_5, mine_1, is_upper);
      let stays_1 = select(mine_1, mine_5, is_upper);
      let sg_28 = subgroupShuffleXor(given_1, 4u);
      let sum_6 = stays_1 + sg_28;
      let given_2 = select(mine_6, mine_2, is_upper);
      let stays_2 = select(mine_2, mine_6, is_upper);
      let sg_29 = subgroupShuffleXor(given_2, 4u);
      let sum_7 = stays_2 + sg_29;
      let given_3 = select(mine_7, mine_3, is_upper);
      let stays_3 = select(mine_3, mine_7, is_upper);
      let sg_30 = subgroupShuffleXor(given_3, 4u);
      let sum_8 = stays_3 + sg_30;
      let is_upper_1 = (lane_of_row_1 & 2u) != 0u;
      let given_4 = select(sum_7, sum_5, is_upper_1);
      let stays_4 = select(sum_5, sum_7, is_upper_1);
      let sg_31 = subgroupShuffleXor(given_4, 2u);
      let sum_9 = stays_4 + sg_31;
      let given_5 = select(sum_8, sum_6, is_upper_1);
      let stays_5 = select(sum_6, sum_8, is_upper_1);
      let sg_32 = subgroupShuffleXor(given_5, 2u);
      let sum_10 = stays_5 + sg_32;
      let is_upper_2 = (lane_of_row_1 & 1u) != 0u;
      let given_6 = select(sum_10, sum_9, is_upper_2);
      let stays_6 = select(sum_9, sum_10, is_upper_2);
      let sg_33 = subgroupShuffleXor(given_6, 1u);
      let sum_11 = stays_6 + sg_33;
      let sg_34 = subgroupShuffleXor(sum_11, 8u);
      let sum_12 = sum_11 + sg_34;
      if (((lane_of_row_1 < 8u) && is_row) && (row < end_row_1)) {
        let of_k_or_v = select(w_scale_2, w_scale_1, row < 3200u);
        let w_scale_of_row = select(of_k_or_v, w_scale, row < 2560u);
        let place_49 = row + my_words + 2624u;
        let value_60 = f32(sum_12 - x_sum_of_row) / x_scale_1 * w_scale_of_row;
        let value_bits_3 = bitcast<u32>(value_60);
        let half_3 = select(2u, 0u, (value_bits_3 & 2139095040u) == 2139095040u);
        let rounded_3 = value_bits_3 + half_3;
        atomicStore(&words[place_49], (rounded_3 & 4294967292u) | tag);
      }
    }
    let splits = max(1u, min(n_wg.x / (n_rows * 5u), 4u));
    let pairs_at_once = n_wg.x / splits;
    let n_rounds = (n_rows * 5u + pairs_at_once - 1u) / pairs_at_once;
    for (var nth = 0u; nth < n_rounds; nth += 1u) {
      workgroupBarrier();
      let splits_1 = max(1u, min(n_wg.x / (n_rows * 5u), 4u));
      let pairs_at_once_1 = n_wg.x / splits_1;
      let group_of_splits = wg.x / splits_1;
      let pair_of_head = group_of_splits + pairs_at_once_1 * nth;
      let is_used = (group_of_splits < pairs_at_once_1) && (pair_of_head < (n_rows * 5u));
      let safe_pair = select(0u, pair_of_head, is_used);
      let kv_head = safe_pair % 5u;
      let n_heads = 4u;
      let first_head = kv_head * 4u;
      let split = wg.x % splits_1;
      let row_of_head = safe_pair / 5u;
      let row_words = row_of_head * 29088u;
      let pos = params[row_of_head * 3u + 3u];
      let table = params[row_of_head * 3u + 4u];
      let n_pos = pos + 1u;
      let first_pos = split * n_pos / splits_1;
      let next_split = split + 1u;
      let end_pos = select(first_pos, next_split * n_pos / splits_1, is_used);
      let lane_of_pos = tid % 16u;
      let group_of_pos = tid / 16u;
      let kv_layer = (arrayLength(&kv)) / 30u;
      let newest = first_pos + group_of_pos;
      let angles_at = (params[row_of_head * 3u + 5u] + pos) * 64u;
      let pair = min(tid + 0u, 383u) % 64u;
      let angle = angles[angles_at + pair];
      let safe_pos = min(newest, pos);
      let safe_head = min(kv_head, 4u);
      let block = params[table + safe_pos / 64u];
      let key_at = ((block * 10u + safe_head) * 64u + safe_pos % 64u) * 16u + lane_of_pos;
      let key_of_layer = layer * kv_layer + key_at;
      let k8 = kv[key_of_layer + 0u];
      let v8 = kv[key_of_layer + 5120u];
      let n_pairs = (n_heads + 2u) * 64u;
      let pair_1 = min(tid + 0u, n_pairs - 1u);
      let slot = pair_1 / 64u;
      let pair_of_head_1 = pair_1 % 64u;
      let is_query = slot < n_heads;
      let is_value = slot == (n_heads + 1u);
      let of_kv = kv_head + 20u + select(0u, 5u, is_value);
      let head = select(of_kv, first_head + slot, is_query);
      let safe_slot = select(0u, head, is_used);
      let a_at = pair_of_head_1;
      let b_at = pair_of_head_1 + 64u;
      let place_50 = safe_slot * 128u + a_at + 2624u;
      let place_51 = place_50 + row_words;
      let place_52 = safe_slot * 128u + b_at + 2624u;
      let place_53 = place_52 + row_words;
      var found_60: u32 = 0u;
      var found_61: u32 = 0u;
      var waits_2: u32 = 1u;
      let end_4 = patience;
      for (var early_2 = 0u; early_2 < end_4; early_2 += 1u) {
        let now_68 = (atomicLoad(&words[place_53]));
        found_60 = now_68;
        var n_failed_4: u32 = 0u;
        if ((early_2 & 255u) == 255u) {
          let now_69 = (atomicLoad(&words[32u]));
          n_failed_4 = now_69;
        }
        let given_up_4 = n_failed_4 != 0u;
        if ((((found_60 ^ tag) & 3u) == 0u) || given_up_4) {
          break;
        }
      }
      let end_5 = patience;
      for (var tries_2 = 0u; tries_2 < end_5; tries_2 += 1u) {
        let now_70 = (atomicLoad(&words[place_51]));
        found_60 = now_70;
        let now_71 = (atomicLoad(&words[place_53]));
        found_61 = now_71;
        var odd_2: u32 = 0u;
        odd_2 = odd_2 | (found_60 ^ tag);
        odd_2 = odd_2 | (found_61 ^ tag);
        if ((odd_2 & 3u) == 0u) {
          waits_2 = 0u;
          break;
        }
        var n_failed_5: u32 = 0u;
        if ((tries_2 & 255u) == 255u) {
          let now_72 = (atomicLoad(&words[32u]));
          n_failed_5 = now_72;
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
      let value_61 = bitcast<f32>(found_60 & 4294967292u);
      let value_62 = bitcast<f32>(found_61 & 4294967292u);
      let turn = select(angle, vec2<f32>(1f, 0f), is_value);
      let q_factor = select(1f, 0.088388346f, is_query);
      let turned_a = (value_61 * turn.x - value_62 * turn.y) * q_factor;
      let turned_b = (value_62 * turn.x + value_61 * turn.y) * q_factor;
      let cached = pack2x16float(vec2<f32>(turned_a, turned_b));
      let as_cached = unpack2x16float(cached);
      if ((tid + 0u) < n_pairs) {
        turned[slot * 128u + a_at] = select(as_cached.x, turned_a, is_query);
        turned[slot * 128u + b_at] = select(as_cached.y, turned_b, is_query);
      }
      workgroupBarrier();
      let n_used = min((end_pos - first_pos + 1u) / 2u, 16u);
      var greatest: f32 = -3e+38f;
      var total: f32 = 0f;
      var acc_8: vec4<f32> = vec4<f32>();
      var acc_9: vec4<f32> = vec4<f32>();
      var greatest_1: f32 = -3e+38f;
      var total_1: f32 = 0f;
      var acc_10: vec4<f32> = vec4<f32>();
      var acc_11: vec4<f32> = vec4<f32>();
      var greatest_2: f32 = -3e+38f;
      var total_2: f32 = 0f;
      var acc_12: vec4<f32> = vec4<f32>();
      var acc_13: vec4<f32> = vec4<f32>();
      var greatest_3: f32 = -3e+38f;
      var total_3: f32 = 0f;
      var acc_14: vec4<f32> = vec4<f32>();
      var acc_15: vec4<f32> = vec4<f32>();
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
        let from_dim_2 = (lane_of_pos + 0u) * 8u + 128u;
        let d0_2 = turned[from_dim_2];
        let d1_2 = turned[from_dim_2 + 1u];
        let d2_2 = turned[from_dim_2 + 2u];
        let d3_2 = turned[from_dim_2 + 3u];
        let d4_2 = vec4<f32>(d0_2, d1_2, d2_2, d3_2);
        let from_dim_3 = (lane_of_pos + 0u) * 8u + 132u;
        let d0_3 = turned[from_dim_3];
        let d1_3 = turned[from_dim_3 + 1u];
        let d2_3 = turned[from_dim_3 + 2u];
        let d3_3 = turned[from_dim_3 + 3u];
        let d4_3 = vec4<f32>(d0_3, d1_3, d2_3, d3_3);
        let from_dim_4 = (lane_of_pos + 0u) * 8u + 256u;
        let d0_4 = turned[from_dim_4];
        let d1_4 = turned[from_dim_4 + 1u];
        let d2_4 = turned[from_dim_4 + 2u];
        let d3_4 = turned[from_dim_4 + 3u];
        let d4_4 = vec4<f32>(d0_4, d1_4, d2_4, d3_4);
        let from_dim_5 = (lane_of_pos + 0u) * 8u + 260u;
        let d0_5 = turned[from_dim_5];
        let d1_5 = turned[from_dim_5 + 1u];
        let d2_5 = turned[from_dim_5 + 2u];
        let d3_5 = turned[from_dim_5 + 3u];
        let d4_5 = vec4<f32>(d0_5, d1_5, d2_5, d3_5);
        let from_dim_6 = (lane_of_pos + 0u) * 8u + 384u;
        let d0_6 = turned[from_dim_6];
        let d1_6 = turned[from_dim_6 + 1u];
        let d2_6 = turned[from_dim_6 + 2u];
        let d3_6 = turned[from_dim_6 + 3u];
        let d4_6 = vec4<f32>(d0_6, d1_6, d2_6, d3_6);
        let from_dim_7 = (lane_of_pos + 0u) * 8u + 388u;
        let d0_7 = turned[from_dim_7];
        let d1_7 = turned[from_dim_7 + 1u];
        let d2_7 = turned[from_dim_7 + 2u];
        let d3_7 = turned[from_dim_7 + 3u];
        let d4_7 = vec4<f32>(d0_7, d1_7, d2_7, d3_7);
        var next_at: u32 = key_of_layer;
        var next_k: vec4<u32> = k8;
        var next_v: vec4<u32> = v8;
        if ((first_pos + 32u) < end_pos) {
          let later = newest + 32u;
          let safe_pos_1 = min(later, pos);
          let safe_head_1 = min(kv_head, 4u);
          let block_1 = params[table + safe_pos_1 / 64u];
          let key_at_1 = ((block_1 * 10u + safe_head_1) * 64u + safe_pos_1 % 64u) * 16u + lane_of_pos;
          let key_of_layer_1 = layer * kv_layer + key_at_1;
          let k8_1 = kv[key_of_layer_1 + 0u];
          let v8_1 = kv[key_of_layer_1 + 5120u];
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
          let from_dim_8 = (lane_of_pos + 0u) * 8u + 512u;
          let d0_8 = turned[from_dim_8];
          let d1_8 = turned[from_dim_8 + 1u];
          let d2_8 = turned[from_dim_8 + 2u];
          let d3_8 = turned[from_dim_8 + 3u];
          let d4_8 = vec4<f32>(d0_8, d1_8, d2_8, d3_8);
          let from_dim_9 = (lane_of_pos + 0u) * 8u + 516u;
          let d0_9 = turned[from_dim_9];
          let d1_9 = turned[from_dim_9 + 1u];
          let d2_9 = turned[from_dim_9 + 2u];
          let d3_9 = turned[from_dim_9 + 3u];
          let d4_9 = vec4<f32>(d0_9, d1_9, d2_9, d3_9);
          let from_dim_10 = (lane_of_pos + 0u) * 8u + 640u;
          let d0_10 = turned[from_dim_10];
          let d1_10 = turned[from_dim_10 + 1u];
          let d2_10 = turned[from_dim_10 + 2u];
          let d3_10 = turned[from_dim_10 + 3u];
          let d4_10 = vec4<f32>(d0_10, d1_10, d2_10, d3_10);
          let from_dim_11 = (lane_of_pos + 0u) * 8u + 644u;
          let d0_11 = turned[from_dim_11];
          let d1_11 = turned[from_dim_11 + 1u];
          let d2_11 = turned[from_dim_11 + 2u];
          let d3_11 = turned[from_dim_11 + 3u];
          let d4_11 = vec4<f32>(d0_11, d1_11, d2_11, d3_11);
          k4 = d4_8;
          v4 = d4_10;
          k4_1 = d4_9;
          v4_1 = d4_11;
          let half2 = pack2x16float(vec2<f32>(d4_8.x, d4_8.y));
          let half2_1 = pack2x16float(vec2<f32>(d4_8.z, d4_8.w));
          let half2_2 = pack2x16float(vec2<f32>(d4_9.x, d4_9.y));
          let half2_3 = pack2x16float(vec2<f32>(d4_9.z, d4_9.w));
          kv[key_of_layer + 0u] = vec4<u32>(half2, half2_1, half2_2, half2_3);
          let half2_4 = pack2x16float(vec2<f32>(d4_10.x, d4_10.y));
          let half2_5 = pack2x16float(vec2<f32>(d4_10.z, d4_10.w));
          let half2_6 = pack2x16float(vec2<f32>(d4_11.x, d4_11.y));
          let half2_7 = pack2x16float(vec2<f32>(d4_11.z, d4_11.w));
          kv[key_of_layer + 5120u] = vec4<u32>(half2_4, half2_5, half2_6, half2_7);
        }
        var score: f32 = 0f;
        let k4_2 = k4;
        score += dot(d4, k4_2);
        let k4_3 = k4_1;
        score += dot(d4_1, k4_3);
        let my_part = score;
        let sg_35 = subgroupShuffleXor(my_part, 8u);
        let sum_13 = my_part + sg_35;
        let sg_36 = subgroupShuffleXor(sum_13, 4u);
        let sum_14 = sum_13 + sg_36;
        let sg_37 = subgroupShuffleXor(sum_14, 2u);
        let sum_15 = sum_14 + sg_37;
        let sg_38 = subgroupShuffleXor(sum_15, 1u);
        let sum_16 = sum_15 + sg_38;
        let seen = select(-3e+38f, sum_16, is_seen);
        let most = max(greatest, seen);
        let shrink = exp(greatest - most);
        let weight = select(0f, exp(seen - most), is_seen);
        total = total * shrink + weight;
        let v4_2 = select(vec4<f32>(0f), v4, is_seen);
        acc_8 = acc_8 * shrink + v4_2 * weight;
        let v4_3 = select(vec4<f32>(0f), v4_1, is_seen);
        acc_9 = acc_9 * shrink + v4_3 * weight;
        greatest = most;
        var score_1: f32 = 0f;
        let k4_4 = k4;
        score_1 += dot(d4_2, k4_4);
        let k4_5 = k4_1;
        score_1 += dot(d4_3, k4_5);
        let my_part_1 = score_1;
        let sg_39 = subgroupShuffleXor(my_part_1, 8u);
        let sum_17 = my_part_1 + sg_39;
        let sg_40 = subgroupShuffleXor(sum_17, 4u);
        let sum_18 = sum_17 + sg_40;
        let sg_41 = subgroupShuffleXor(sum_18, 2u);
        let sum_19 = sum_18 + sg_41;
        let sg_42 = subgroupShuffleXor(sum_19, 1u);
        let sum_20 = sum_19 + sg_42;
        let seen_1 = select(-3e+38f, sum_20, is_seen);
        let most_1 = max(greatest_1, seen_1);
        let shrink_1 = exp(greatest_1 - most_1);
        let weight_1 = select(0f, exp(seen_1 - most_1), is_seen);
        total_1 = total_1 * shrink_1 + weight_1;
        let v4_4 = select(vec4<f32>(0f), v4, is_seen);
        acc_10 = acc_10 * shrink_1 + v4_4 * weight_1;
        let v4_5 = select(vec4<f32>(0f), v4_1, is_seen);
        acc_11 = acc_11 * shrink_1 + v4_5 * weight_1;
        greatest_1 = most_1;
        var score_2: f32 = 0f;
        let k4_6 = k4;
        score_2 += dot(d4_4, k4_6);
        let k4_7 = k4_1;
        score_2 += dot(d4_5, k4_7);
        let my_part_2 = score_2;
        let sg_43 = subgroupShuffleXor(my_part_2, 8u);
        let sum_21 = my_part_2 + sg_43;
        let sg_44 = subgroupShuffleXor(sum_21, 4u);
        let sum_22 = sum_21 + sg_44;
        let sg_45 = subgroupShuffleXor(sum_22, 2u);
        let sum_23 = sum_22 + sg_45;
        let sg_46 = subgroupShuffleXor(sum_23, 1u);
        let sum_24 = sum_23 + sg_46;
        let seen_2 = select(-3e+38f, sum_24, is_seen);
        let most_2 = max(greatest_2, seen_2);
        let shrink_2 = exp(greatest_2 - most_2);
        let weight_2 = select(0f, exp(seen_2 - most_2), is_seen);
        total_2 = total_2 * shrink_2 + weight_2;
        let v4_6 = select(vec4<f32>(0f), v4, is_seen);
        acc_12 = acc_12 * shrink_2 + v4_6 * weight_2;
        let v4_7 = select(vec4<f32>(0f), v4_1, is_seen);
        acc_13 = acc_13 * shrink_2 + v4_7 * weight_2;
        greatest_2 = most_2;
        var score_3: f32 = 0f;
        let k4_8 = k4;
        score_3 += dot(d4_6, k4_8);
        let k4_9 = k4_1;
        score_3 += dot(d4_7, k4_9);
        let my_part_3 = score_3;
        let sg_47 = subgroupShuffleXor(my_part_3, 8u);
        let sum_25 = my_part_3 + sg_47;
        let sg_48 = subgroupShuffleXor(sum_25, 4u);
        let sum_26 = sum_25 + sg_48;
        let sg_49 = subgroupShuffleXor(sum_26, 2u);
        let sum_27 = sum_26 + sg_49;
        let sg_50 = subgroupShuffleXor(sum_27, 1u);
        let sum_28 = sum_27 + sg_50;
        let seen_3 = select(-3e+38f, sum_28, is_seen);
        let most_3 = max(greatest_3, seen_3);
        let shrink_3 = exp(greatest_3 - most_3);
        let weight_3 = select(0f, exp(seen_3 - most_3), is_seen);
        total_3 = total_3 * shrink_3 + weight_3;
        let v4_8 = select(vec4<f32>(0f), v4, is_seen);
        acc_14 = acc_14 * shrink_3 + v4_8 * weight_3;
        let v4_9 = select(vec4<f32>(0f), v4_1, is_seen);
        acc_15 = acc_15 * shrink_3 + v4_9 * weight_3;
        greatest_3 = most_3;
        for (var from_pos = first_pos + 32u; from_pos < end_pos; from_pos += 32u) {
          let p = from_pos + group_of_pos;
          let key_at_2 = next_at;
          let k8_2 = next_k;
          let v8_2 = next_v;
          if ((from_pos + 32u) < end_pos) {
            let later_1 = p + 32u;
            let safe_pos_2 = min(later_1, pos);
            let safe_head_2 = min(kv_head, 4u);
            let block_2 = params[table + safe_pos_2 / 64u];
            let key_at_3 = ((block_2 * 10u + safe_head_2) * 64u + safe_pos_2 % 64u) * 16u + lane_of_pos;
            let key_of_layer_2 = layer * kv_layer + key_at_3;
            let k8_3 = kv[key_of_layer_2 + 0u];
            let v8_3 = kv[key_of_layer_2 + 5120u];
            next_at = key_of_layer_2;
            next_k = k8_3;
            next_v = v8_3;
          }
          let is_seen_1 = p < end_pos;
          let k_low_2 = unpack2x16float(k8_2.x);
          let k_high_2 = unpack2x16float(k8_2.y);
          var k4_10: vec4<f32> = vec4<f32>(k_low_2, k_high_2);
          let v_low_2 = unpack2x16float(v8_2.x);
          let v_high_2 = unpack2x16float(v8_2.y);
          var v4_10: vec4<f32> = vec4<f32>(v_low_2, v_high_2);
          let k_low_3 = unpack2x16float(k8_2.z);
          let k_high_3 = unpack2x16float(k8_2.w);
          var k4_11: vec4<f32> = vec4<f32>(k_low_3, k_high_3);
          let v_low_3 = unpack2x16float(v8_2.z);
          let v_high_3 = unpack2x16float(v8_2.w);
          var v4_11: vec4<f32> = vec4<f32>(v_low_3, v_high_3);
          if ((p == pos) && is_seen_1) {
            let from_dim_12 = (lane_of_pos + 0u) * 8u + 512u;
            let d0_12 = turned[from_dim_12];
            let d1_12 = turned[from_dim_12 + 1u];
            let d2_12 = turned[from_dim_12 + 2u];
            let d3_12 = turned[from_dim_12 + 3u];
            let d4_12 = vec4<f32>(d0_12, d1_12, d2_12, d3_12);
            let from_dim_13 = (lane_of_pos + 0u) * 8u + 516u;
            let d0_13 = turned[from_dim_13];
            let d1_13 = turned[from_dim_13 + 1u];
            let d2_13 = turned[from_dim_13 + 2u];
            let d3_13 = turned[from_dim_13 + 3u];
            let d4_13 = vec4<f32>(d0_13, d1_13, d2_13, d3_13);
            let from_dim_14 = (lane_of_pos + 0u) * 8u + 640u;
            let d0_14 = turned[from_dim_14];
            let d1_14 = turned[from_dim_14 + 1u];
            let d2_14 = turned[from_dim_14 + 2u];
            let d3_14 = turned[from_dim_14 + 3u];
            let d4_14 = vec4<f32>(d0_14, d1_14, d2_14, d3_14);
            let from_dim_15 = (lane_of_pos + 0u) * 8u + 644u;
            let d0_15 = turned[from_dim_15];
            let d1_15 = turned[from_dim_15 + 1u];
            let d2_15 = turned[from_dim_15 + 2u];
            let d3_15 = turned[from_dim_15 + 3u];
            let d4_15 = vec4<f32>(d0_15, d1_15, d2_15, d3_15);
            k4_10 = d4_12;
            v4_10 = d4_14;
            k4_11 = d4_13;
            v4_11 = d4_15;
            let half2_8 = pack2x16float(vec2<f32>(d4_12.x, d4_12.y));
            let half2_9 = pack2x16float(vec2<f32>(d4_12.z, d4_12.w));
            let half2_10 = pack2x16float(vec2<f32>(d4_13.x, d4_13.y));
            let half2_11 = pack2x16float(vec2<f32>(d4_13.z, d4_13.w));
            kv[key_at_2 + 0u] = vec4<u32>(half2_8, half2_9, half2_10, half2_11);
            let half2_12 = pack2x16float(vec2<f32>(d4_14.x, d4_14.y));
            let half2_13 = pack2x16float(vec2<f32>(d4_14.z, d4_14.w));
            let half2_14 = pack2x16float(vec2<f32>(d4_15.x, d4_15.y));
            let half2_15 = pack2x16float(vec2<f32>(d4_15.z, d4_15.w));
            kv[key_at_2 + 5120u] = vec4<u32>(half2_12, half2_13, half2_14, half2_15);
          }
          var score_4: f32 = 0f;
          let k4_12 = k4_10;
          score_4 += dot(d4, k4_12);
          let k4_13 = k4_11;
          score_4 += dot(d4_1, k4_13);
          let my_part_4 = score_4;
          let sg_51 = subgroupShuffleXor(my_part_4, 8u);
          let sum_29 = my_part_4 + sg_51;
          let sg_52 = subgroupShuffleXor(sum_29, 4u);
          let sum_30 = sum_29 + sg_52;
          let sg_53 = subgroupShuffleXor(sum_30, 2u);
          let sum_31 = sum_30 + sg_53;
          let sg_54 = subgroupShuffleXor(sum_31, 1u);
          let sum_32 = sum_31 + sg_54;
          let seen_4 = select(-3e+38f, sum_32, is_seen_1);
          let most_4 = max(greatest, seen_4);
          let shrink_4 = exp(greatest - most_4);
          let weight_4 = select(0f, exp(seen_4 - most_4), is_seen_1);
          total = total * shrink_4 + weight_4;
          let v4_12 = select(vec4<f32>(0f), v4_10, is_seen_1);
          acc_8 = acc_8 * shrink_4 + v4_12 * weight_4;
          let v4_13 = select(vec4<f32>(0f), v4_11, is_seen_1);
          acc_9 = acc_9 * shrink_4 + v4_13 * weight_4;
          greatest = most_4;
          var score_5: f32 = 0f;
          let k4_14 = k4_10;
          score_5 += dot(d4_2, k4_14);
          let k4_15 = k4_11;
          score_5 += dot(d4_3, k4_15);
          let my_part_5 = score_5;
          let sg_55 = subgroupShuffleXor(my_part_5, 8u);
          let sum_33 = my_part_5 + sg_55;
          let sg_56 = subgroupShuffleXor(sum_33, 4u);
          let sum_34 = sum_33 + sg_56;
          let sg_57 = subgroupShuffleXor(sum_34, 2u);
          let sum_35 = sum_34 + sg_57;
          let sg_58 = subgroupShuffleXor(sum_35, 1u);
          let sum_36 = sum_35 + sg_58;
          let seen_5 = select(-3e+38f, sum_36, is_seen_1);
          let most_5 = max(greatest_1, seen_5);
          let shrink_5 = exp(greatest_1 - most_5);
          let weight_5 = select(0f, exp(seen_5 - most_5), is_seen_1);
          total_1 = total_1 * shrink_5 + weight_5;
          let v4_14 = select(vec4<f32>(0f), v4_10, is_seen_1);
          acc_10 = acc_10 * shrink_5 + v4_14 * weight_5;
          let v4_15 = select(vec4<f32>(0f), v4_11, is_seen_1);
          acc_11 = acc_11 * shrink_5 + v4_15 * weight_5;
          greatest_1 = most_5;
          var score_6: f32 = 0f;
          let k4_16 = k4_10;
          score_6 += dot(d4_4, k4_16);
          let k4_17 = k4_11;
          score_6 += dot(d4_5, k4_17);
          let my_part_6 = score_6;
          let sg_59 = subgroupShuffleXor(my_part_6, 8u);
          let sum_37 = my_part_6 + sg_59;
          let sg_60 = subgroupShuffleXor(sum_37, 4u);
          let sum_38 = sum_37 + sg_60;
          let sg_61 = subgroupShuffleXor(sum_38, 2u);
          let sum_39 = sum_38 + sg_61;
          let sg_62 = subgroupShuffleXor(sum_39, 1u);
          let sum_40 = sum_39 + sg_62;
          let seen_6 = select(-3e+38f, sum_40, is_seen_1);
          let most_6 = max(greatest_2, seen_6);
          let shrink_6 = exp(greatest_2 - most_6);
          let weight_6 = select(0f, exp(seen_6 - most_6), is_seen_1);
          total_2 = total_2 * shrink_6 + weight_6;
          let v4_16 = select(vec4<f32>(0f), v4_10, is_seen_1);
          acc_12 = acc_12 * shrink_6 + v4_16 * weight_6;
          let v4_17 = select(vec4<f32>(0f), v4_11, is_seen_1);
          acc_13 = acc_13 * shrink_6 + v4_17 * weight_6;
          greatest_2 = most_6;
          var score_7: f32 = 0f;
          let k4_18 = k4_10;
          score_7 += dot(d4_6, k4_18);
          let k4_19 = k4_11;
          score_7 += dot(d4_7, k4_19);
          let my_part_7 = score_7;
          let sg_63 = subgroupShuffleXor(my_part_7, 8u);
          let sum_41 = my_part_7 + sg_63;
          let sg_64 = subgroupShuffleXor(sum_41, 4u);
          let sum_42 = sum_41 + sg_64;
          let sg_65 = subgroupShuffleXor(sum_42, 2u);
          let sum_43 = sum_42 + sg_65;
          let sg_66 = subgroupShuffleXor(sum_43, 1u);
          let sum_44 = sum_43 + sg_66;
          let seen_7 = select(-3e+38f, sum_44, is_seen_1);
          let most_7 = max(greatest_3, seen_7);
          let shrink_7 = exp(greatest_3 - most_7);
          let weight_7 = select(0f, exp(seen_7 - most_7), is_seen_1);
          total_3 = total_3 * shrink_7 + weight_7;
          let v4_18 = select(vec4<f32>(0f), v4_10, is_seen_1);
          acc_14 = acc_14 * shrink_7 + v4_18 * weight_7;
          let v4_19 = select(vec4<f32>(0f), v4_11, is_seen_1);
          acc_15 = acc_15 * shrink_7 + v4_19 * weight_7;
          greatest_3 = most_7;
        }
      }
      if (has_positions) {
        var most_8: f32 = greatest;
        let mine_8 = most_8;
        let sg_67 = subgroupShuffleXor(mine_8, 16u);
        most_8 = max(mine_8, sg_67);
        let of_subgroup = most_8;
        let shrink_8 = exp(greatest - of_subgroup);
        let my_total = total * shrink_8;
        let sg_68 = subgroupShuffleXor(my_total, 16u);
        let sum_45 = my_total + sg_68;
        let sums_row = (tid / 32u * 1u + 0u) * 132u;
        let mine_9 = acc_8.x * shrink_8;
        let sg_69 = subgroupShuffleXor(mine_9, 16u);
        let sum_46 = mine_9 + sg_69;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 0u)] = sum_46;
        }
        let mine_10 = acc_8.y * shrink_8;
        let sg_70 = subgroupShuffleXor(mine_10, 16u);
        let sum_47 = mine_10 + sg_70;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 1u)] = sum_47;
        }
        let mine_11 = acc_8.z * shrink_8;
        let sg_71 = subgroupShuffleXor(mine_11, 16u);
        let sum_48 = mine_11 + sg_71;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 2u)] = sum_48;
        }
        let mine_12 = acc_8.w * shrink_8;
        let sg_72 = subgroupShuffleXor(mine_12, 16u);
        let sum_49 = mine_12 + sg_72;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 3u)] = sum_49;
        }
        let mine_13 = acc_9.x * shrink_8;
        let sg_73 = subgroupShuffleXor(mine_13, 16u);
        let sum_50 = mine_13 + sg_73;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 4u)] = sum_50;
        }
        let mine_14 = acc_9.y * shrink_8;
        let sg_74 = subgroupShuffleXor(mine_14, 16u);
        let sum_51 = mine_14 + sg_74;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 5u)] = sum_51;
        }
        let mine_15 = acc_9.z * shrink_8;
        let sg_75 = subgroupShuffleXor(mine_15, 16u);
        let sum_52 = mine_15 + sg_75;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 6u)] = sum_52;
        }
        let mine_16 = acc_9.w * shrink_8;
        let sg_76 = subgroupShuffleXor(mine_16, 16u);
        let sum_53 = mine_16 + sg_76;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 7u)] = sum_53;
        }
        if ((tid % 32u) == 0u) {
          sums[sums_row + 128u] = of_subgroup;
          sums[sums_row + 129u] = sum_45;
        }
      }
      workgroupBarrier();
      let n_told = 1u;
      for (var out_value = tid; out_value < n_told * 128u; out_value += 512u) {
        let head_1 = out_value / 128u;
        let dim = out_value % 128u;
        var most_9: f32 = -3e+38f;
        for (var i_1 = 0u; i_1 < n_used; i_1 += 1u) {
          let sums_row_1 = (head_1 + i_1 * 1u) * 132u;
          let top = sums[sums_row_1 + 128u];
          most_9 = max(most_9, top);
        }
        var out_sum: f32 = 0f;
        var weights: f32 = 0f;
        for (var i_2 = 0u; i_2 < n_used; i_2 += 1u) {
          let sums_row_2 = (head_1 + i_2 * 1u) * 132u;
          let top_1 = sums[sums_row_2 + 128u];
          let shrink_9 = exp(top_1 - most_9);
          out_sum += sums[sums_row_2 + dim] * shrink_9;
          weights += sums[sums_row_2 + 129u] * shrink_9;
        }
        let part_at = ((first_head + head_1 + 0u) * 4u + split) * 130u;
        if (is_used) {
          let place_54 = part_at + dim + 6464u;
          let place_55 = place_54 + row_words;
          let whole = out_sum;
          let value_bits_4 = bitcast<u32>(whole);
          let half_4 = select(2u, 0u, (value_bits_4 & 2139095040u) == 2139095040u);
          let rounded_4 = value_bits_4 + half_4;
          atomicStore(&words[place_55], (rounded_4 & 4294967292u) | tag);
          if (dim == 0u) {
            let place_56 = part_at + 6592u;
            let place_57 = place_56 + row_words;
            let top_of_all = most_9;
            let value_bits_5 = bitcast<u32>(top_of_all);
            let half_5 = select(2u, 0u, (value_bits_5 & 2139095040u) == 2139095040u);
            let rounded_5 = value_bits_5 + half_5;
            atomicStore(&words[place_57], (rounded_5 & 4294967292u) | tag);
            let place_58 = part_at + 6593u;
            let place_59 = place_58 + row_words;
            let whole_weight = weights;
            let value_bits_6 = bitcast<u32>(whole_weight);
            let half_6 = select(2u, 0u, (value_bits_6 & 2139095040u) == 2139095040u);
            let rounded_6 = value_bits_6 + half_6;
            atomicStore(&words[place_59], (rounded_6 & 4294967292u) | tag);
          }
        }
      }
      workgroupBarrier();
      if (has_positions) {
        var most_10: f32 = greatest_1;
        let mine_17 = most_10;
        let sg_77 = subgroupShuffleXor(mine_17, 16u);
        most_10 = max(mine_17, sg_77);
        let of_subgroup_1 = most_10;
        let shrink_10 = exp(greatest_1 - of_subgroup_1);
        let my_total_1 = total_1 * shrink_10;
        let sg_78 = subgroupShuffleXor(my_total_1, 16u);
        let sum_54 = my_total_1 + sg_78;
        let sums_row_3 = (tid / 32u * 1u + 0u) * 132u;
        let mine_18 = acc_10.x * shrink_10;
        let sg_79 = subgroupShuffleXor(mine_18, 16u);
        let sum_55 = mine_18 + sg_79;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 0u)] = sum_55;
        }
        let mine_19 = acc_10.y * shrink_10;
        let sg_80 = subgroupShuffleXor(mine_19, 16u);
        let sum_56 = mine_19 + sg_80;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 1u)] = sum_56;
        }
        let mine_20 = acc_10.z * shrink_10;
        let sg_81 = subgroupShuffleXor(mine_20, 16u);
        let sum_57 = mine_20 + sg_81;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 2u)] = sum_57;
        }
        let mine_21 = acc_10.w * shrink_10;
        let sg_82 = subgroupShuffleXor(mine_21, 16u);
        let sum_58 = mine_21 + sg_82;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 3u)] = sum_58;
        }
        let mine_22 = acc_11.x * shrink_10;
        let sg_83 = subgroupShuffleXor(mine_22, 16u);
        let sum_59 = mine_22 + sg_83;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 4u)] = sum_59;
        }
        let mine_23 = acc_11.y * shrink_10;
        let sg_84 = subgroupShuffleXor(mine_23, 16u);
        let sum_60 = mine_23 + sg_84;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 5u)] = sum_60;
        }
        let mine_24 = acc_11.z * shrink_10;
        let sg_85 = subgroupShuffleXor(mine_24, 16u);
        let sum_61 = mine_24 + sg_85;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 6u)] = sum_61;
        }
        let mine_25 = acc_11.w * shrink_10;
        let sg_86 = subgroupShuffleXor(mine_25, 16u);
        let sum_62 = mine_25 + sg_86;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 7u)] = sum_62;
        }
        if ((tid % 32u) == 0u) {
          sums[sums_row_3 + 128u] = of_subgroup_1;
          sums[sums_row_3 + 129u] = sum_54;
        }
      }
      workgroupBarrier();
      let n_told_1 = 1u;
      for (var out_value_1 = tid; out_value_1 < n_told_1 * 128u; out_value_1 += 512u) {
        let head_2 = out_value_1 / 128u;
        let dim_1 = out_value_1 % 128u;
        var most_11: f32 = -3e+38f;
        for (var i_3 = 0u; i_3 < n_used; i_3 += 1u) {
          let sums_row_4 = (head_2 + i_3 * 1u) * 132u;
          let top_2 = sums[sums_row_4 + 128u];
          most_11 = max(most_11, top_2);
        }
        var out_sum_1: f32 = 0f;
        var weights_1: f32 = 0f;
        for (var i_4 = 0u; i_4 < n_used; i_4 += 1u) {
          let sums_row_5 = (head_2 + i_4 * 1u) * 132u;
          let top_3 = sums[sums_row_5 + 128u];
          let shrink_11 = exp(top_3 - most_11);
          out_sum_1 += sums[sums_row_5 + dim_1] * shrink_11;
          weights_1 += sums[sums_row_5 + 129u] * shrink_11;
        }
        let part_at_1 = ((first_head + head_2 + 1u) * 4u + split) * 130u;
        if (is_used) {
          let place_60 = part_at_1 + dim_1 + 6464u;
          let place_61 = place_60 + row_words;
          let whole_1 = out_sum_1;
          let value_bits_7 = bitcast<u32>(whole_1);
          let half_7 = select(2u, 0u, (value_bits_7 & 2139095040u) == 2139095040u);
          let rounded_7 = value_bits_7 + half_7;
          atomicStore(&words[place_61], (rounded_7 & 4294967292u) | tag);
          if (dim_1 == 0u) {
            let place_62 = part_at_1 + 6592u;
            let place_63 = place_62 + row_words;
            let top_of_all_1 = most_11;
            let value_bits_8 = bitcast<u32>(top_of_all_1);
            let half_8 = select(2u, 0u, (value_bits_8 & 2139095040u) == 2139095040u);
            let rounded_8 = value_bits_8 + half_8;
            atomicStore(&words[place_63], (rounded_8 & 4294967292u) | tag);
            let place_64 = part_at_1 + 6593u;
            let place_65 = place_64 + row_words;
            let whole_weight_1 = weights_1;
            let value_bits_9 = bitcast<u32>(whole_weight_1);
            let half_9 = select(2u, 0u, (value_bits_9 & 2139095040u) == 2139095040u);
            let rounded_9 = value_bits_9 + half_9;
            atomicStore(&words[place_65], (rounded_9 & 4294967292u) | tag);
          }
        }
      }
      workgroupBarrier();
      if (has_positions) {
        var most_12: f32 = greatest_2;
        let mine_26 = most_12;
        let sg_87 = subgroupShuffleXor(mine_26, 16u);
        most_12 = max(mine_26, sg_87);
        let of_subgroup_2 = most_12;
        let shrink_12 = exp(greatest_2 - of_subgroup_2);
        let my_total_2 = total_2 * shrink_12;
        let sg_88 = subgroupShuffleXor(my_total_2, 16u);
        let sum_63 = my_total_2 + sg_88;
        let sums_row_6 = (tid / 32u * 1u + 0u) * 132u;
        let mine_27 = acc_12.x * shrink_12;
        let sg_89 = subgroupShuffleXor(mine_27, 16u);
        let sum_64 = mine_27 + sg_89;
        if ((tid % 32u) < 16u) {
          sums[sums_row_6 + ((lane_of_pos + 0u) * 8u + 0u)] = sum_64;
        }
        let mine_28 = acc_12.y * shrink_12;
        let sg_90 = subgroupShuffleXor(mine_28, 16u);
        let sum_65 = mine_28 + sg_90;
        if ((tid % 32u) < 16u) {
          sums[sums_row_6 + ((lane_of_pos + 0u) * 8u + 1u)] = sum_65;
        }
        let mine_29 = acc_12.z * shrink_12;
        let sg_91 = subgroupShuffleXor(mine_29, 16u);
        let sum_66 = mine_29 + sg_91;
        if ((tid % 32u) < 16u) {
          sums[sums_row_6 + ((lane_of_pos + 0u) * 8u + 2u)] = sum_66;
        }
        let mine_30 = acc_12.w * shrink_12;
        let sg_92 = subgroupShuffleXor(mine_30, 16u);
        let sum_67 = mine_30 + sg_92;
        if ((tid % 32u) < 16u) {
          sums[sums_row_6 + ((lane_of_pos + 0u) * 8u + 3u)] = sum_67;
        }
        let mine_31 = acc_13.x * shrink_12;
        let sg_93 = subgroupShuffleXor(mine_31, 16u);
        let sum_68 = mine_31 + sg_93;
        if ((tid % 32u) < 16u) {
          sums[sums_row_6 + ((lane_of_pos + 0u) * 8u + 4u)] = sum_68;
        }
        let mine_32 = acc_13.y * shrink_12;
        let sg_94 = subgroupShuffleXor(mine_32, 16u);
        let sum_69 = mine_32 + sg_94;
        if ((tid % 32u) < 16u) {
          sums[sums_row_6 + ((lane_of_pos + 0u) * 8u + 5u)] = sum_69;
        }
        let mine_33 = acc_13.z * shrink_12;
        let sg_95 = subgroupShuffleXor(mine_33, 16u);
        let sum_70 = mine_33 + sg_95;
        if ((tid % 32u) < 16u) {
          sums[sums_row_6 + ((lane_of_pos + 0u) * 8u + 6u)] = sum_70;
        }
        let mine_34 = acc_13.w * shrink_12;
        let sg_96 = subgroupShuffleXor(mine_34, 16u);
        let sum_71 = mine_34 + sg_96;
        if ((tid % 32u) < 16u) {
          sums[sums_row_6 + ((lane_of_pos + 0u) * 8u + 7u)] = sum_71;
        }
        if ((tid % 32u) == 0u) {
          sums[sums_row_6 + 128u] = of_subgroup_2;
          sums[sums_row_6 + 129u] = sum_63;
        }
      }
      workgroupBarrier();
      let n_told_2 = 1u;
      for (var out_value_2 = tid; out_value_2 < n_told_2 * 128u; out_value_2 += 512u) {
        let head_3 = out_value_2 / 128u;
        let dim_2 = out_value_2 % 128u;
        var most_13: f32 = -3e+38f;
        for (var i_5 = 0u; i_5 < n_used; i_5 += 1u) {
          let sums_row_7 = (head_3 + i_5 * 1u) * 132u;
          let top_4 = sums[sums_row_7 + 128u];
          most_13 = max(most_13, top_4);
        }
        var out_sum_2: f32 = 0f;
        var weights_2: f32 = 0f;
        for (var i_6 = 0u; i_6 < n_used; i_6 += 1u) {
          let sums_row_8 = (head_3 + i_6 * 1u) * 132u;
          let top_5 = sums[sums_row_8 + 128u];
          let shrink_13 = exp(top_5 - most_13);
          out_sum_2 += sums[sums_row_8 + dim_2] * shrink_13;
          weights_2 += sums[sums_row_8 + 129u] * shrink_13;
        }
        let part_at_2 = ((first_head + head_3 + 2u) * 4u + split) * 130u;
        if (is_used) {
          let place_66 = part_at_2 + dim_2 + 6464u;
          let place_67 = place_66 + row_words;
          let whole_2 = out_sum_2;
          let value_bits_10 = bitcast<u32>(whole_2);
          let half_10 = select(2u, 0u, (value_bits_10 & 2139095040u) == 2139095040u);
          let rounded_10 = value_bits_10 + half_10;
          atomicStore(&words[place_67], (rounded_10 & 4294967292u) | tag);
          if (dim_2 == 0u) {
            let place_68 = part_at_2 + 6592u;
            let place_69 = place_68 + row_words;
            let top_of_all_2 = most_13;
            let value_bits_11 = bitcast<u32>(top_of_all_2);
            let half_11 = select(2u, 0u, (value_bits_11 & 2139095040u) == 2139095040u);
            let rounded_11 = value_bits_11 + half_11;
            atomicStore(&words[place_69], (rounded_11 & 4294967292u) | tag);
            let place_70 = part_at_2 + 6593u;
            let place_71 = place_70 + row_words;
            let whole_weight_2 = weights_2;
            let value_bits_12 = bitcast<u32>(whole_weight_2);
            let half_12 = select(2u, 0u, (value_bits_12 & 2139095040u) == 2139095040u);
            let rounded_12 = value_bits_12 + half_12;
            atomicStore(&words[place_71], (rounded_12 & 4294967292u) | tag);
          }
        }
      }
      workgroupBarrier();
      if (has_positions) {
        var most_14: f32 = greatest_3;
        let mine_35 = most_14;
        let sg_97 = subgroupShuffleXor(mine_35, 16u);
        most_14 = max(mine_35, sg_97);
        let of_subgroup_3 = most_14;
        let shrink_14 = exp(greatest_3 - of_subgroup_3);
        let my_total_3 = total_3 * shrink_14;
        let sg_98 = subgroupShuffleXor(my_total_3, 16u);
        let sum_72 = my_total_3 + sg_98;
        let sums_row_9 = (tid / 32u * 1u + 0u) * 132u;
        let mine_36 = acc_14.x * shrink_14;
        let sg_99 = subgroupShuffleXor(mine_36, 16u);
        let sum_73 = mine_36 + sg_99;
        if ((tid % 32u) < 16u) {
          sums[sums_row_9 + ((lane_of_pos + 0u) * 8u + 0u)] = sum_73;
        }
        let mine_37 = acc_14.y * shrink_14;
        let sg_100 = subgroupShuffleXor(mine_37, 16u);
        let sum_74 = mine_37 + sg_100;
        if ((tid % 32u) < 16u) {
          sums[sums_row_9 + ((lane_of_pos + 0u) * 8u + 1u)] = sum_74;
        }
        let mine_38 = acc_14.z * shrink_14;
        let sg_101 = subgroupShuffleXor(mine_38, 16u);
        let sum_75 = mine_38 + sg_101;
        if ((tid % 32u) < 16u) {
          sums[sums_row_9 + ((lane_of_pos + 0u) * 8u + 2u)] = sum_75;
        }
        let mine_39 = acc_14.w * shrink_14;
        let sg_102 = subgroupShuffleXor(mine_39, 16u);
        let sum_76 = mine_39 + sg_102;
        if ((tid % 32u) < 16u) {
          sums[sums_row_9 + ((lane_of_pos + 0u) * 8u + 3u)] = sum_76;
        }
        let mine_40 = acc_15.x * shrink_14;
        let sg_103 = subgroupShuffleXor(mine_40, 16u);
        let sum_77 = mine_40 + sg_103;
        if ((tid % 32u) < 16u) {
          sums[sums_row_9 + ((lane_of_pos + 0u) * 8u + 4u)] = sum_77;
        }
        let mine_41 = acc_15.y * shrink_14;
        let sg_104 = subgroupShuffleXor(mine_41, 16u);
        let sum_78 = mine_41 + sg_104;
        if ((tid % 32u) < 16u) {
          sums[sums_row_9 + ((lane_of_pos + 0u) * 8u + 5u)] = sum_78;
        }
        let mine_42 = acc_15.z * shrink_14;
        let sg_105 = subgroupShuffleXor(mine_42, 16u);
        let sum_79 = mine_42 + sg_105;
        if ((tid % 32u) < 16u) {
          sums[sums_row_9 + ((lane_of_pos + 0u) * 8u + 6u)] = sum_79;
        }
        let mine_43 = acc_15.w * shrink_14;
        let sg_106 = subgroupShuffleXor(mine_43, 16u);
        let sum_80 = mine_43 + sg_106;
        if ((tid % 32u) < 16u) {
          sums[sums_row_9 + ((lane_of_pos + 0u) * 8u + 7u)] = sum_80;
        }
        if ((tid % 32u) == 0u) {
          sums[sums_row_9 + 128u] = of_subgroup_3;
          sums[sums_row_9 + 129u] = sum_72;
        }
      }
      workgroupBarrier();
      let n_told_3 = 1u;
      for (var out_value_3 = tid; out_value_3 < n_told_3 * 128u; out_value_3 += 512u) {
        let head_4 = out_value_3 / 128u;
        let dim_3 = out_value_3 % 128u;
        var most_15: f32 = -3e+38f;
        for (var i_7 = 0u; i_7 < n_used; i_7 += 1u) {
          let sums_row_10 = (head_4 + i_7 * 1u) * 132u;
          let top_6 = sums[sums_row_10 + 128u];
          most_15 = max(most_15, top_6);
        }
        var out_sum_3: f32 = 0f;
        var weights_3: f32 = 0f;
        for (var i_8 = 0u; i_8 < n_used; i_8 += 1u) {
          let sums_row_11 = (head_4 + i_8 * 1u) * 132u;
          let top_7 = sums[sums_row_11 + 128u];
          let shrink_15 = exp(top_7 - most_15);
          out_sum_3 += sums[sums_row_11 + dim_3] * shrink_15;
          weights_3 += sums[sums_row_11 + 129u] * shrink_15;
        }
        let part_at_3 = ((first_head + head_4 + 3u) * 4u + split) * 130u;
        if (is_used) {
          let place_72 = part_at_3 + dim_3 + 6464u;
          let place_73 = place_72 + row_words;
          let whole_3 = out_sum_3;
          let value_bits_13 = bitcast<u32>(whole_3);
          let half_13 = select(2u, 0u, (value_bits_13 & 2139095040u) == 2139095040u);
          let rounded_13 = value_bits_13 + half_13;
          atomicStore(&words[place_73], (rounded_13 & 4294967292u) | tag);
          if (dim_3 == 0u) {
            let place_74 = part_at_3 + 6592u;
            let place_75 = place_74 + row_words;
            let top_of_all_3 = most_15;
            let value_bits_14 = bitcast<u32>(top_of_all_3);
            let half_14 = select(2u, 0u, (value_bits_14 & 2139095040u) == 2139095040u);
            let rounded_14 = value_bits_14 + half_14;
            atomicStore(&words[place_75], (rounded_14 & 4294967292u) | tag);
            let place_76 = part_at_3 + 6593u;
            let place_77 = place_76 + row_words;
            let whole_weight_3 = weights_3;
            let value_bits_15 = bitcast<u32>(whole_weight_3);
            let half_15 = select(2u, 0u, (value_bits_15 & 2139095040u) == 2139095040u);
            let rounded_15 = value_bits_15 + half_15;
            atomicStore(&words[place_77], (rounded_15 & 4294967292u) | tag);
          }
        }
      }
    }
    let group_3 = tid / 32u;
    let lane_of_row_2 = tid & 31u;
    let w_scale_3 = vectors[vectors_at + 14595u];
    let first_row_5 = wg.x * 2560u / n_wg.x;
    let end_row_5 = (wg.x + 1u) * 2560u / n_wg.x;
    let splits_2 = max(1u, min(n_wg.x / (n_rows * 5u), 4u));
    let lane_of_value = tid / 8u % 4u;
    let group_of_value = tid / 32u;
    let safe_my_row = min(my_row, n_rows - 1u) * 29088u;
    var squares_1: f32 = 0f;
    var largest_1: f32 = 0f;
    for (var from_value = first_row_5; from_value < end_row_5; from_value += 16u) {
      let out = min(from_value + group_of_value, end_row_5 - 1u);
      let head_5 = out / 128u;
      let safe_lane = min(lane_of_value, splits_2 - 1u);
      let part_at_4 = (head_5 * 4u + safe_lane) * 130u + safe_my_row + 6464u;
      let place_78 = part_at_4 + out % 128u;
      let place_79 = part_at_4 + 128u;
      let place_80 = part_at_4 + 129u;
      var found_62: u32 = 0u;
      var found_63: u32 = 0u;
      var found_64: u32 = 0u;
      var waits_3: u32 = 1u;
      let end_6 = patience;
      for (var early_3 = 0u; early_3 < end_6; early_3 += 1u) {
        let now_73 = (atomicLoad(&words[place_80]));
        found_62 = now_73;
        var n_failed_6: u32 = 0u;
        if ((early_3 & 255u) == 255u) {
          let now_74 = (atomicLoad(&words[32u]));
          n_failed_6 = now_74;
        }
        let given_up_6 = n_failed_6 != 0u;
        if ((((found_62 ^ tag) & 3u) == 0u) || given_up_6) {
          break;
        }
      }
      let end_7 = patience;
      for (var tries_3 = 0u; tries_3 < end_7; tries_3 += 1u) {
        let now_75 = (atomicLoad(&words[place_78]));
        found_62 = now_75;
        let now_76 = (atomicLoad(&words[place_79]));
        found_63 = now_76;
        let now_77 = (atomicLoad(&words[place_80]));
        found_64 = now_77;
        var odd_3: u32 = 0u;
        odd_3 = odd_3 | (found_62 ^ tag);
        odd_3 = odd_3 | (found_63 ^ tag);
        odd_3 = odd_3 | (found_64 ^ tag);
        if ((odd_3 & 3u) == 0u) {
          waits_3 = 0u;
          break;
        }
        var n_failed_7: u32 = 0u;
        if ((tries_3 & 255u) == 255u) {
          let now_78 = (atomicLoad(&words[32u]));
          n_failed_7 = now_78;
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
      let value_63 = bitcast<f32>(found_62 & 4294967292u);
      let value_64 = bitcast<f32>(found_63 & 4294967292u);
      let value_65 = bitcast<f32>(found_64 & 4294967292u);
      let sg_107 = subgroupShuffleXor(value_64, 8u);
      let both_22 = max(value_64, sg_107);
      let sg_108 = subgroupShuffleXor(both_22, 16u);
      let both_23 = max(both_22, sg_108);
      let shrink_16 = select(0f, exp(value_64 - both_23), lane_of_value < splits_2);
      let my_value = value_63 * shrink_16;
      let my_weight = value_65 * shrink_16;
      let sg_109 = subgroupShuffleXor(my_value, 8u);
      let both_24 = my_value + sg_109;
      let sg_110 = subgroupShuffleXor(both_24, 16u);
      let both_25 = both_24 + sg_110;
      let sg_111 = subgroupShuffleXor(my_weight, 8u);
      let both_26 = my_weight + sg_111;
      let sg_112 = subgroupShuffleXor(both_26, 16u);
      let both_27 = both_26 + sg_112;
      if (((lane_of_value == 0u) && ((from_value + group_of_value) < end_row_5)) && is_row) {
        let result = both_25 / both_27;
        let gain_1 = vectors[vectors_at + out + 2560u];
        let vg_1 = result * gain_1;
        squares_1 += result * result;
        largest_1 = max(largest_1, abs(vg_1));
        let row_of_block_1 = (out & 15u) * 32u + ((out >> 4u) & 31u);
        let place_81 = (out & 4294966784u) + row_of_block_1 + 16864u;
        let place_in_row_1 = place_81 + my_words;
        let value_bits_16 = bitcast<u32>(vg_1);
        let half_16 = select(2u, 0u, (value_bits_16 & 2139095040u) == 2139095040u);
        let rounded_16 = value_bits_16 + half_16;
        atomicStore(&words[place_in_row_1], (rounded_16 & 4294967292u) | tag);
      }
    }
    let my_squares_2 = squares_1;
    let my_largest_2 = largest_1;
    let sg_113 = subgroupShuffleXor(my_squares_2, 8u);
    let both_28 = my_squares_2 + sg_113;
    let sg_114 = subgroupShuffleXor(both_28, 16u);
    let both_29 = both_28 + sg_114;
    let sg_115 = subgroupShuffleXor(my_largest_2, 8u);
    let both_30 = max(my_largest_2, sg_115);
    let sg_116 = subgroupShuffleXor(both_30, 16u);
    let both_31 = max(both_30, sg_116);
    if ((tid % 32u) < 8u) {
      made_stats[my_row * 16u + tid / 32u] = vec2<f32>(both_29, both_31);
    }
    workgroupBarrier();
    let made_of_subgroup_1 = made_stats[tid & 127u];
    let squares_part_1 = made_of_subgroup_1.x;
    let sg_117 = subgroupShuffleXor(squares_part_1, 1u);
    let both_32 = squares_part_1 + sg_117;
    let sg_118 = subgroupShuffleXor(both_32, 2u);
    let both_33 = both_32 + sg_118;
    let sg_119 = subgroupShuffleXor(both_33, 4u);
    let both_34 = both_33 + sg_119;
    let sg_120 = subgroupShuffleXor(both_34, 8u);
    let both_35 = both_34 + sg_120;
    let largest_part_1 = made_of_subgroup_1.y;
    let sg_121 = subgroupShuffleXor(largest_part_1, 1u);
    let both_36 = max(largest_part_1, sg_121);
    let sg_122 = subgroupShuffleXor(both_36, 2u);
    let both_37 = max(both_36, sg_122);
    let sg_123 = subgroupShuffleXor(both_37, 4u);
    let both_38 = max(both_37, sg_123);
    let sg_124 = subgroupShuffleXor(both_38, 8u);
    let both_39 = max(both_38, sg_124);
    let made_row_1 = tid / 16u;
    if ((made_row_1 < n_rows) && ((tid % 16u) == 0u)) {
      let group_4 = wg.x;
      let stats_at_14 = made_row_1 * 2048u + group_4 + 249152u;
      let stats_at_15 = stats_at_14 + 1024u;
      let value_bits_17 = bitcast<u32>(both_35);
      let half_17 = select(2u, 0u, (value_bits_17 & 2139095040u) == 2139095040u);
      let rounded_17 = value_bits_17 + half_17;
      atomicStore(&words[stats_at_14], (rounded_17 & 4294967292u) | tag);
      let value_bits_18 = bitcast<u32>(both_39);
      let half_18 = select(2u, 0u, (value_bits_18 & 2139095040u) == 2139095040u);
      let rounded_18 = value_bits_18 + half_18;
      atomicStore(&words[stats_at_15], (rounded_18 & 4294967292u) | tag);
    }
    let group_5 = tid / 8u;
    let lane_of_row_3 = tid & 7u;
    let w_scale_4 = vectors[vectors_at + 14596u];
    let w_scale_5 = vectors[vectors_at + 14597u];
    var squares_2: f32 = 0f;
    var largest_2: f32 = 0f;
    var row_squares_1: f32 = 0f;
    var row_largest_1: f32 = 0f;
    let unit_3 = lane_of_team + 0u;
    let safe_unit_3 = min(unit_3, 159u) + 0u;
    let place_82 = words_of_team + safe_unit_3 / 32u * 512u + safe_unit_3 % 32u + 16864u;
    let place_83 = place_82 + 32u;
    let place_84 = place_82 + 64u;
    let place_85 = place_82 + 96u;
    let place_86 = place_82 + 128u;
    let place_87 = place_82 + 160u;
    let place_88 = place_82 + 192u;
    let place_89 = place_82 + 224u;
    let place_90 = place_82 + 256u;
    let place_91 = place_82 + 288u;
    let place_92 = place_82 + 320u;
    let place_93 = place_82 + 352u;
    let place_94 = place_82 + 384u;
    let place_95 = place_82 + 416u;
    let place_96 = place_82 + 448u;
    let place_97 = place_82 + 480u;
    let unit_4 = lane_of_team + 64u;
    let safe_unit_4 = min(unit_4, 159u) + 0u;
    let place_98 = words_of_team + safe_unit_4 / 32u * 512u + safe_unit_4 % 32u + 16864u;
    let place_99 = place_98 + 32u;
    let place_100 = place_98 + 64u;
    let place_101 = place_98 + 96u;
    let place_102 = place_98 + 128u;
    let place_103 = place_98 + 160u;
    let place_104 = place_98 + 192u;
    let place_105 = place_98 + 224u;
    let place_106 = place_98 + 256u;
    let place_107 = place_98 + 288u;
    let place_108 = place_98 + 320u;
    let place_109 = place_98 + 352u;
    let place_110 = place_98 + 384u;
    let place_111 = place_98 + 416u;
    let place_112 = place_98 + 448u;
    let place_113 = place_98 + 480u;
    let unit_5 = lane_of_team + 128u;
    let safe_unit_5 = min(unit_5, 159u) + 0u;
    let place_114 = words_of_team + safe_unit_5 / 32u * 512u + safe_unit_5 % 32u + 16864u;
    let place_115 = place_114 + 32u;
    let place_116 = place_114 + 64u;
    let place_117 = place_114 + 96u;
    let place_118 = place_114 + 128u;
    let place_119 = place_114 + 160u;
    let place_120 = place_114 + 192u;
    let place_121 = place_114 + 224u;
    let place_122 = place_114 + 256u;
    let place_123 = place_114 + 288u;
    let place_124 = place_114 + 320u;
    let place_125 = place_114 + 352u;
    let place_126 = place_114 + 384u;
    let place_127 = place_114 + 416u;
    let place_128 = place_114 + 448u;
    let place_129 = place_114 + 480u;
    let first_part_1 = 0u;
    let part_6 = first_part_1 + lane_of_team + 0u;
    let safe_part_6 = min(part_6, n_wg.x - 1u);
    let stats_at_16 = row_of_team * 2048u + safe_part_6 + 249152u;
    let stats_at_17 = stats_at_16 + 1024u;
    let part_7 = first_part_1 + lane_of_team + 64u;
    let safe_part_7 = min(part_7, n_wg.x - 1u);
    let stats_at_18 = row_of_team * 2048u + safe_part_7 + 249152u;
    let stats_at_19 = stats_at_18 + 1024u;
    let part_8 = first_part_1 + lane_of_team + 128u;
    let safe_part_8 = min(part_8, n_wg.x - 1u);
    let stats_at_20 = row_of_team * 2048u + safe_part_8 + 249152u;
    let stats_at_21 = stats_at_20 + 1024u;
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
    var found_83: u32 = 0u;
    var found_84: u32 = 0u;
    var found_85: u32 = 0u;
    var found_86: u32 = 0u;
    var found_87: u32 = 0u;
    var found_88: u32 = 0u;
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
    var found_111: u32 = 0u;
    var found_112: u32 = 0u;
    var found_113: u32 = 0u;
    var found_114: u32 = 0u;
    var found_115: u32 = 0u;
    var found_116: u32 = 0u;
    var found_117: u32 = 0u;
    var found_118: u32 = 0u;
    var waits_4: u32 = 1u;
    let end_8 = patience;
    for (var early_4 = 0u; early_4 < end_8; early_4 += 1u) {
      let now_79 = (atomicLoad(&words[stats_at_21]));
      found_65 = now_79;
      var n_failed_8: u32 = 0u;
      if ((early_4 & 255u) == 255u) {
        let now_80 = (atomicLoad(&words[32u]));
        n_failed_8 = now_80;
      }
      let given_up_8 = n_failed_8 != 0u;
      if ((((found_65 ^ tag) & 3u) == 0u) || given_up_8) {
        break;
      }
    }
    let end_9 = patience;
    for (var tries_4 = 0u; tries_4 < end_9; tries_4 += 1u) {
      let now_81 = (atomicLoad(&words[place_82]));
      found_65 = now_81;
      let now_82 = (atomicLoad(&words[place_83]));
      found_66 = now_82;
      let now_83 = (atomicLoad(&words[place_84]));
      found_67 = now_83;
      let now_84 = (atomicLoad(&words[place_85]));
      found_68 = now_84;
      let now_85 = (atomicLoad(&words[place_86]));
      found_69 = now_85;
      let now_86 = (atomicLoad(&words[place_87]));
      found_70 = now_86;
      let now_87 = (atomicLoad(&words[place_88]));
      found_71 = now_87;
      let now_88 = (atomicLoad(&words[place_89]));
      found_72 = now_88;
      let now_89 = (atomicLoad(&words[place_90]));
      found_73 = now_89;
      let now_90 = (atomicLoad(&words[place_91]));
      found_74 = now_90;
      let now_91 = (atomicLoad(&words[place_92]));
      found_75 = now_91;
      let now_92 = (atomicLoad(&words[place_93]));
      found_76 = now_92;
      let now_93 = (atomicLoad(&words[place_94]));
      found_77 = now_93;
      let now_94 = (atomicLoad(&words[place_95]));
      found_78 = now_94;
      let now_95 = (atomicLoad(&words[place_96]));
      found_79 = now_95;
      let now_96 = (atomicLoad(&words[place_97]));
      found_80 = now_96;
      let now_97 = (atomicLoad(&words[place_98]));
      found_81 = now_97;
      let now_98 = (atomicLoad(&words[place_99]));
      found_82 = now_98;
      let now_99 = (atomicLoad(&words[place_100]));
      found_83 = now_99;
      let now_100 = (atomicLoad(&words[place_101]));
      found_84 = now_100;
      let now_101 = (atomicLoad(&words[place_102]));
      found_85 = now_101;
      let now_102 = (atomicLoad(&words[place_103]));
      found_86 = now_102;
      let now_103 = (atomicLoad(&words[place_104]));
      found_87 = now_103;
      let now_104 = (atomicLoad(&words[place_105]));
      found_88 = now_104;
      let now_105 = (atomicLoad(&words[place_106]));
      found_89 = now_105;
      let now_106 = (atomicLoad(&words[place_107]));
      found_90 = now_106;
      let now_107 = (atomicLoad(&words[place_108]));
      found_91 = now_107;
      let now_108 = (atomicLoad(&words[place_109]));
      found_92 = now_108;
      let now_109 = (atomicLoad(&words[place_110]));
      found_93 = now_109;
      let now_110 = (atomicLoad(&words[place_111]));
      found_94 = now_110;
      let now_111 = (atomicLoad(&words[place_112]));
      found_95 = now_111;
      let now_112 = (atomicLoad(&words[place_113]));
      found_96 = now_112;
      let now_113 = (atomicLoad(&words[place_114]));
      found_97 = now_113;
      let now_114 = (atomicLoad(&words[place_115]));
      found_98 = now_114;
      let now_115 = (atomicLoad(&words[place_116]));
      found_99 = now_115;
      let now_116 = (atomicLoad(&words[place_117]));
      found_100 = now_116;
      let now_117 = (atomicLoad(&words[place_118]));
      found_101 = now_117;
      let now_118 = (atomicLoad(&words[place_119]));
      found_102 = now_118;
      let now_119 = (atomicLoad(&words[place_120]));
      found_103 = now_119;
      let now_120 = (atomicLoad(&words[place_121]));
      found_104 = now_120;
      let now_121 = (atomicLoad(&words[place_122]));
      found_105 = now_121;
      let now_122 = (atomicLoad(&words[place_123]));
      found_106 = now_122;
      let now_123 = (atomicLoad(&words[place_124]));
      found_107 = now_123;
      let now_124 = (atomicLoad(&words[place_125]));
      found_108 = now_124;
      let now_125 = (atomicLoad(&words[place_126]));
      found_109 = now_125;
      let now_126 = (atomicLoad(&words[place_127]));
      found_110 = now_126;
      let now_127 = (atomicLoad(&words[place_128]));
      found_111 = now_127;
      let now_128 = (atomicLoad(&words[place_129]));
      found_112 = now_128;
      let now_129 = (atomicLoad(&words[stats_at_16]));
      found_113 = now_129;
      let now_130 = (atomicLoad(&words[stats_at_17]));
      found_114 = now_130;
      let now_131 = (atomicLoad(&words[stats_at_18]));
      found_115 = now_131;
      let now_132 = (atomicLoad(&words[stats_at_19]));
      found_116 = now_132;
      let now_133 = (atomicLoad(&words[stats_at_20]));
      found_117 = now_133;
      let now_134 = (atomicLoad(&words[stats_at_21]));
      found_118 = now_134;
      var odd_4: u32 = 0u;
      odd_4 = odd_4 | (found_65 ^ tag);
      odd_4 = odd_4 | (found_66 ^ tag);
      odd_4 = odd_4 | (found_67 ^ tag);
      odd_4 = odd_4 | (found_68 ^ tag);
      odd_4 = odd_4 | (found_69 ^ tag);
      odd_4 = odd_4 | (found_70 ^ tag);
      odd_4 = odd_4 | (found_71 ^ tag);
      odd_4 = odd_4 | (found_72 ^ tag);
      odd_4 = odd_4 | (found_73 ^ tag);
      odd_4 = odd_4 | (found_74 ^ tag);
      odd_4 = odd_4 | (found_75 ^ tag);
      odd_4 = odd_4 | (found_76 ^ tag);
      odd_4 = odd_4 | (found_77 ^ tag);
      odd_4 = odd_4 | (found_78 ^ tag);
      odd_4 = odd_4 | (found_79 ^ tag);
      odd_4 = odd_4 | (found_80 ^ tag);
      odd_4 = odd_4 | (found_81 ^ tag);
      odd_4 = odd_4 | (found_82 ^ tag);
      odd_4 = odd_4 | (found_83 ^ tag);
      odd_4 = odd_4 | (found_84 ^ tag);
      odd_4 = odd_4 | (found_85 ^ tag);
      odd_4 = odd_4 | (found_86 ^ tag);
      odd_4 = odd_4 | (found_87 ^ tag);
      odd_4 = odd_4 | (found_88 ^ tag);
      odd_4 = odd_4 | (found_89 ^ tag);
      odd_4 = odd_4 | (found_90 ^ tag);
      odd_4 = odd_4 | (found_91 ^ tag);
      odd_4 = odd_4 | (found_92 ^ tag);
      odd_4 = odd_4 | (found_93 ^ tag);
      odd_4 = odd_4 | (found_94 ^ tag);
      odd_4 = odd_4 | (found_95 ^ tag);
      odd_4 = odd_4 | (found_96 ^ tag);
      odd_4 = odd_4 | (found_97 ^ tag);
      odd_4 = odd_4 | (found_98 ^ tag);
      odd_4 = odd_4 | (found_99 ^ tag);
      odd_4 = odd_4 | (found_100 ^ tag);
      odd_4 = odd_4 | (found_101 ^ tag);
      odd_4 = odd_4 | (found_102 ^ tag);
      odd_4 = odd_4 | (found_103 ^ tag);
      odd_4 = odd_4 | (found_104 ^ tag);
      odd_4 = odd_4 | (found_105 ^ tag);
      odd_4 = odd_4 | (found_106 ^ tag);
      odd_4 = odd_4 | (found_107 ^ tag);
      odd_4 = odd_4 | (found_108 ^ tag);
      odd_4 = odd_4 | (found_109 ^ tag);
      odd_4 = odd_4 | (found_110 ^ tag);
      odd_4 = odd_4 | (found_111 ^ tag);
      odd_4 = odd_4 | (found_112 ^ tag);
      odd_4 = odd_4 | (found_113 ^ tag);
      odd_4 = odd_4 | (found_114 ^ tag);
      odd_4 = odd_4 | (found_115 ^ tag);
      odd_4 = odd_4 | (found_116 ^ tag);
      odd_4 = odd_4 | (found_117 ^ tag);
      odd_4 = odd_4 | (found_118 ^ tag);
      if ((odd_4 & 3u) == 0u) {
        waits_4 = 0u;
        break;
      }
      var n_failed_9: u32 = 0u;
      if ((tries_4 & 255u) == 255u) {
        let now_135 = (atomicLoad(&words[32u]));
        n_failed_9 = now_135;
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
    let value_66 = bitcast<f32>(found_65 & 4294967292u);
    let value_67 = bitcast<f32>(found_66 & 4294967292u);
    let value_68 = bitcast<f32>(found_67 & 4294967292u);
    let value_69 = bitcast<f32>(found_68 & 4294967292u);
    let value_70 = bitcast<f32>(found_69 & 4294967292u);
    let value_71 = bitcast<f32>(found_70 & 4294967292u);
    let value_72 = bitcast<f32>(found_71 & 4294967292u);
    let value_73 = bitcast<f32>(found_72 & 4294967292u);
    let value_74 = bitcast<f32>(found_73 & 4294967292u);
    let value_75 = bitcast<f32>(found_74 & 4294967292u);
    let value_76 = bitcast<f32>(found_75 & 4294967292u);
    let value_77 = bitcast<f32>(found_76 & 4294967292u);
    let value_78 = bitcast<f32>(found_77 & 4294967292u);
    let value_79 = bitcast<f32>(found_78 & 4294967292u);
    let value_80 = bitcast<f32>(found_79 & 4294967292u);
    let value_81 = bitcast<f32>(found_80 & 4294967292u);
    let value_82 = bitcast<f32>(found_81 & 4294967292u);
    let value_83 = bitcast<f32>(found_82 & 4294967292u);
    let value_84 = bitcast<f32>(found_83 & 4294967292u);
    let value_85 = bitcast<f32>(found_84 & 4294967292u);
    let value_86 = bitcast<f32>(found_85 & 4294967292u);
    let value_87 = bitcast<f32>(found_86 & 4294967292u);
    let value_88 = bitcast<f32>(found_87 & 4294967292u);
    let value_89 = bitcast<f32>(found_88 & 4294967292u);
    let value_90 = bitcast<f32>(found_89 & 4294967292u);
    let value_91 = bitcast<f32>(found_90 & 4294967292u);
    let value_92 = bitcast<f32>(found_91 & 4294967292u);
    let value_93 = bitcast<f32>(found_92 & 4294967292u);
    let value_94 = bitcast<f32>(found_93 & 4294967292u);
    let value_95 = bitcast<f32>(found_94 & 4294967292u);
    let value_96 = bitcast<f32>(found_95 & 4294967292u);
    let value_97 = bitcast<f32>(found_96 & 4294967292u);
    let value_98 = bitcast<f32>(found_97 & 4294967292u);
    let value_99 = bitcast<f32>(found_98 & 4294967292u);
    let value_100 = bitcast<f32>(found_99 & 4294967292u);
    let value_101 = bitcast<f32>(found_100 & 4294967292u);
    let value_102 = bitcast<f32>(found_101 & 4294967292u);
    let value_103 = bitcast<f32>(found_102 & 4294967292u);
    let value_104 = bitcast<f32>(found_103 & 4294967292u);
    let value_105 = bitcast<f32>(found_104 & 4294967292u);
    let value_106 = bitcast<f32>(found_105 & 4294967292u);
    let value_107 = bitcast<f32>(found_106 & 4294967292u);
    let value_108 = bitcast<f32>(found_107 & 4294967292u);
    let value_109 = bitcast<f32>(found_108 & 4294967292u);
    let value_110 = bitcast<f32>(found_109 & 4294967292u);
    let value_111 = bitcast<f32>(found_110 & 4294967292u);
    let value_112 = bitcast<f32>(found_111 & 4294967292u);
    let value_113 = bitcast<f32>(found_112 & 4294967292u);
    let value_114 = bitcast<f32>(found_113 & 4294967292u);
    let value_115 = bitcast<f32>(found_114 & 4294967292u);
    let value_116 = bitcast<f32>(found_115 & 4294967292u);
    let value_117 = bitcast<f32>(found_116 & 4294967292u);
    let value_118 = bitcast<f32>(found_117 & 4294967292u);
    let value_119 = bitcast<f32>(found_118 & 4294967292u);
    if (part_6 < n_wg.x) {
      row_squares_1 += value_114;
    }
    row_largest_1 = max(row_largest_1, value_115);
    if (part_7 < n_wg.x) {
      row_squares_1 += value_116;
    }
    row_largest_1 = max(row_largest_1, value_117);
    if (part_8 < n_wg.x) {
      row_squares_1 += value_118;
    }
    row_largest_1 = max(row_largest_1, value_119);
    for (var from_part_1 = 192u; from_part_1 < n_wg.x; from_part_1 += 192u) {
      let part_9 = from_part_1 + lane_of_team + 0u;
      let safe_part_9 = min(part_9, n_wg.x - 1u);
      let stats_at_22 = row_of_team * 2048u + safe_part_9 + 249152u;
      let stats_at_23 = stats_at_22 + 1024u;
      let part_10 = from_part_1 + lane_of_team + 64u;
      let safe_part_10 = min(part_10, n_wg.x - 1u);
      let stats_at_24 = row_of_team * 2048u + safe_part_10 + 249152u;
      let stats_at_25 = stats_at_24 + 1024u;
      let part_11 = from_part_1 + lane_of_team + 128u;
      let safe_part_11 = min(part_11, n_wg.x - 1u);
      let stats_at_26 = row_of_team * 2048u + safe_part_11 + 249152u;
      let stats_at_27 = stats_at_26 + 1024u;
      var found_119: u32 = 0u;
      var found_120: u32 = 0u;
      var found_121: u32 = 0u;
      var found_122: u32 = 0u;
      var found_123: u32 = 0u;
      var found_124: u32 = 0u;
      var waits_5: u32 = 1u;
      let end_10 = patience;
      for (var early_5 = 0u; early_5 < end_10; early_5 += 1u) {
        let now_136 = (atomicLoad(&words[stats_at_27]));
        found_119 = now_136;
        var n_failed_10: u32 = 0u;
        if ((early_5 & 255u) == 255u) {
          let now_137 = (atomicLoad(&words[32u]));
          n_failed_10 = now_137;
        }
        let given_up_10 = n_failed_10 != 0u;
        if ((((found_119 ^ tag) & 3u) == 0u) || given_up_10) {
          break;
        }
      }
      let end_11 = patience;
      for (var tries_5 = 0u; tries_5 < end_11; tries_5 += 1u) {
        let now_138 = (atomicLoad(&words[stats_at_22]));
        found_119 = now_138;
        let now_139 = (atomicLoad(&words[stats_at_23]));
        found_120 = now_139;
        let now_140 = (atomicLoad(&words[stats_at_24]));
        found_121 = now_140;
        let now_141 = (atomicLoad(&words[stats_at_25]));
        found_122 = now_141;
        let now_142 = (atomicLoad(&words[stats_at_26]));
        found_123 = now_142;
        let now_143 = (atomicLoad(&words[stats_at_27]));
        found_124 = now_143;
        var odd_5: u32 = 0u;
        odd_5 = odd_5 | (found_119 ^ tag);
        odd_5 = odd_5 | (found_120 ^ tag);
        odd_5 = odd_5 | (found_121 ^ tag);
        odd_5 = odd_5 | (found_122 ^ tag);
        odd_5 = odd_5 | (found_123 ^ tag);
        odd_5 = odd_5 | (found_124 ^ tag);
        if ((odd_5 & 3u) == 0u) {
          waits_5 = 0u;
          break;
        }
        var n_failed_11: u32 = 0u;
        if ((tries_5 & 255u) == 255u) {
          let now_144 = (atomicLoad(&words[32u]));
          n_failed_11 = now_144;
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
      let value_120 = bitcast<f32>(found_119 & 4294967292u);
      let value_121 = bitcast<f32>(found_120 & 4294967292u);
      let value_122 = bitcast<f32>(found_121 & 4294967292u);
      let value_123 = bitcast<f32>(found_122 & 4294967292u);
      let value_124 = bitcast<f32>(found_123 & 4294967292u);
      let value_125 = bitcast<f32>(found_124 & 4294967292u);
      if (part_9 < n_wg.x) {
        row_squares_1 += value_120;
      }
      row_largest_1 = max(row_largest_1, value_121);
      if (part_10 < n_wg.x) {
        row_squares_1 += value_122;
      }
      row_largest_1 = max(row_largest_1, value_123);
      if (part_11 < n_wg.x) {
        row_squares_1 += value_124;
      }
      row_largest_1 = max(row_largest_1, value_125);
    }
    let my_squares_3 = row_squares_1;
    let my_largest_3 = row_largest_1;
    let sg_125 = subgroupShuffleXor(my_squares_3, 1u);
    let both_40 = my_squares_3 + sg_125;
    let sg_126 = subgroupShuffleXor(both_40, 2u);
    let both_41 = both_40 + sg_126;
    let sg_127 = subgroupShuffleXor(both_41, 4u);
    let both_42 = both_41 + sg_127;
    let sg_128 = subgroupShuffleXor(both_42, 8u);
    let both_43 = both_42 + sg_128;
    let sg_129 = subgroupShuffleXor(both_43, 16u);
    let both_44 = both_43 + sg_129;
    let sg_130 = subgroupShuffleXor(my_largest_3, 1u);
    let both_45 = max(my_largest_3, sg_130);
    let sg_131 = subgroupShuffleXor(both_45, 2u);
    let both_46 = max(both_45, sg_131);
    let sg_132 = subgroupShuffleXor(both_46, 4u);
    let both_47 = max(both_46, sg_132);
    let sg_133 = subgroupShuffleXor(both_47, 8u);
    let both_48 = max(both_47, sg_133);
    let sg_134 = subgroupShuffleXor(both_48, 16u);
    let both_49 = max(both_48, sg_134);
    if ((tid % 32u) == 0u) {
      row_stats[tid / 32u] = vec2<f32>(both_44, both_49);
    }
    workgroupBarrier();
    var all_squares_1: f32 = 0f;
    var all_largest_1: f32 = 0f;
    let stats_part_2 = row_stats[team * 2u + 0u];
    all_squares_1 += stats_part_2.x;
    all_largest_1 = max(all_largest_1, stats_part_2.y);
    let stats_part_3 = row_stats[team * 2u + 1u];
    all_squares_1 += stats_part_3.x;
    all_largest_1 = max(all_largest_1, stats_part_3.y);
    let squares_of_row_1 = all_squares_1;
    let largest_of_row_1 = all_largest_1;
    let factor_1 = 1f / sqrt(squares_of_row_1 / 2560f + 1e-05f);
    let finite_scale_1 = 127f / max(largest_of_row_1 * factor_1, 1e-05f);
    let factor_and_scale_1 = factor_1 * finite_scale_1;
    let factor_bits_1 = bitcast<u32>(factor_1);
    let x_scale_2 = select(finite_scale_1, factor_1, (factor_bits_1 - 1u) >= 2139095039u);
    if (lane_of_team == 0u) {
      row_scales[team] = x_scale_2;
    }
    var q_sum_1: i32 = 0i;
    if (unit_3 < 160u) {
      let ones_3 = 16843009u;
      let vg4_12 = vec4<f32>(value_66, value_67, value_68, value_69);
      let moved_12 = vg4_12 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_12 = bitcast<vec4<i32>>(moved_12);
      let packed_12 = pack4xI8(q_12);
      q_sum_1 += dot4I8Packed(packed_12, ones_3);
      let vg4_13 = vec4<f32>(value_70, value_71, value_72, value_73);
      let moved_13 = vg4_13 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_13 = bitcast<vec4<i32>>(moved_13);
      let packed_13 = pack4xI8(q_13);
      q_sum_1 += dot4I8Packed(packed_13, ones_3);
      let vg4_14 = vec4<f32>(value_74, value_75, value_76, value_77);
      let moved_14 = vg4_14 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_14 = bitcast<vec4<i32>>(moved_14);
      let packed_14 = pack4xI8(q_14);
      q_sum_1 += dot4I8Packed(packed_14, ones_3);
      let vg4_15 = vec4<f32>(value_78, value_79, value_80, value_81);
      let moved_15 = vg4_15 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_15 = bitcast<vec4<i32>>(moved_15);
      let packed_15 = pack4xI8(q_15);
      q_sum_1 += dot4I8Packed(packed_15, ones_3);
      let staged_at_3 = team * 160u + ((unit_3 >> 1u) & 3u) * 40u + ((unit_3 >> 3u) * 2u + (unit_3 & 1u));
      staged[staged_at_3] = vec4<u32>(packed_12, packed_13, packed_14, packed_15);
    }
    if (unit_4 < 160u) {
      let ones_4 = 16843009u;
      let vg4_16 = vec4<f32>(value_82, value_83, value_84, value_85);
      let moved_16 = vg4_16 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_16 = bitcast<vec4<i32>>(moved_16);
      let packed_16 = pack4xI8(q_16);
      q_sum_1 += dot4I8Packed(packed_16, ones_4);
      let vg4_17 = vec4<f32>(value_86, value_87, value_88, value_89);
      let moved_17 = vg4_17 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_17 = bitcast<vec4<i32>>(moved_17);
      let packed_17 = pack4xI8(q_17);
      q_sum_1 += dot4I8Packed(packed_17, ones_4);
      let vg4_18 = vec4<f32>(value_90, value_91, value_92, value_93);
      let moved_18 = vg4_18 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_18 = bitcast<vec4<i32>>(moved_18);
      let packed_18 = pack4xI8(q_18);
      q_sum_1 += dot4I8Packed(packed_18, ones_4);
      let vg4_19 = vec4<f32>(value_94, value_95, value_96, value_97);
      let moved_19 = vg4_19 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_19 = bitcast<vec4<i32>>(moved_19);
      let packed_19 = pack4xI8(q_19);
      q_sum_1 += dot4I8Packed(packed_19, ones_4);
      let staged_at_4 = team * 160u + ((unit_4 >> 1u) & 3u) * 40u + ((unit_4 >> 3u) * 2u + (unit_4 & 1u));
      staged[staged_at_4] = vec4<u32>(packed_16, packed_17, packed_18, packed_19);
    }
    if (unit_5 < 160u) {
      let ones_5 = 16843009u;
      let vg4_20 = vec4<f32>(value_98, value_99, value_100, value_101);
      let moved_20 = vg4_20 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_20 = bitcast<vec4<i32>>(moved_20);
      let packed_20 = pack4xI8(q_20);
      q_sum_1 += dot4I8Packed(packed_20, ones_5);
      let vg4_21 = vec4<f32>(value_102, value_103, value_104, value_105);
      let moved_21 = vg4_21 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_21 = bitcast<vec4<i32>>(moved_21);
      let packed_21 = pack4xI8(q_21);
      q_sum_1 += dot4I8Packed(packed_21, ones_5);
      let vg4_22 = vec4<f32>(value_106, value_107, value_108, value_109);
      let moved_22 = vg4_22 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_22 = bitcast<vec4<i32>>(moved_22);
      let packed_22 = pack4xI8(q_22);
      q_sum_1 += dot4I8Packed(packed_22, ones_5);
      let vg4_23 = vec4<f32>(value_110, value_111, value_112, value_113);
      let moved_23 = vg4_23 * factor_and_scale_1 + vec4<f32>(12582912f);
      let q_23 = bitcast<vec4<i32>>(moved_23);
      let packed_23 = pack4xI8(q_23);
      q_sum_1 += dot4I8Packed(packed_23, ones_5);
      let staged_at_5 = team * 160u + ((unit_5 >> 1u) & 3u) * 40u + ((unit_5 >> 3u) * 2u + (unit_5 & 1u));
      staged[staged_at_5] = vec4<u32>(packed_20, packed_21, packed_22, packed_23);
    }
    let my_sum_1 = q_sum_1;
    let sg_135 = subgroupShuffleXor(my_sum_1, 16u);
    let sum_81 = my_sum_1 + sg_135;
    let sg_136 = subgroupShuffleXor(sum_81, 8u);
    let sum_82 = sum_81 + sg_136;
    let sg_137 = subgroupShuffleXor(sum_82, 4u);
    let sum_83 = sum_82 + sg_137;
    let sg_138 = subgroupShuffleXor(sum_83, 2u);
    let sum_84 = sum_83 + sg_138;
    let sg_139 = subgroupShuffleXor(sum_84, 1u);
    let sum_85 = sum_84 + sg_139;
    if ((tid % 32u) == 0u) {
      row_sums[tid / 32u] = sum_85;
    }
    workgroupBarrier();
    let x_scale_3 = row_scales[my_row];
    var x_sum_1: i32 = 0i;
    x_sum_1 += row_sums[my_row * 2u + 0u];
    x_sum_1 += row_sums[my_row * 2u + 1u];
    let x_sum_of_row_1 = x_sum_1;
    for (var from_row_1 = first_row_2; from_row_1 < end_row_2; from_row_1 += 32u) {
      let group_6 = tid / 32u;
      let lane_of_row_4 = tid & 31u;
      let row_1 = from_row_1 + group_6;
      let row_2 = row_1 + 16u;
      let safe_row_1 = min(row_1, end_row_2 - 1u);
      let start_1 = layer * 1085440u + safe_row_1 * 40u + 153600u;
      let safe_row_2 = min(row_2, end_row_2 - 1u);
      let start_2 = layer * 1085440u + safe_row_2 * 40u + 153600u;
      var acc_16: i32 = 0i;
      var acc_17: i32 = 0i;
      var acc_18: i32 = 0i;
      var acc_19: i32 = 0i;
      var acc_20: i32 = 0i;
      var acc_21: i32 = 0i;
      var acc_22: i32 = 0i;
      var acc_23: i32 = 0i;
      var acc_24: i32 = 0i;
      var acc_25: i32 = 0i;
      var acc_26: i32 = 0i;
      var acc_27: i32 = 0i;
      var acc_28: i32 = 0i;
      var acc_29: i32 = 0i;
      var acc_30: i32 = 0i;
      var acc_31: i32 = 0i;
      for (var i_9 = lane_of_row_4; i_9 < 40u; i_9 += 32u) {
        let w4_1 = w[start_1 + i_9];
        let w4_2 = w[start_2 + i_9];
        for (var plane_1 = 0u; plane_1 < 4u; plane_1 += 1u) {
          let shift_1 = 6u - plane_1 * 2u;
          let codes_4 = (w4_1.x >> shift_1) & 0x03030303u;
          let codes_5 = (w4_1.y >> shift_1) & 0x03030303u;
          let codes_6 = (w4_1.z >> shift_1) & 0x03030303u;
          let codes_7 = (w4_1.w >> shift_1) & 0x03030303u;
          let codes_8 = (w4_2.x >> shift_1) & 0x03030303u;
          let codes_9 = (w4_2.y >> shift_1) & 0x03030303u;
          let codes_10 = (w4_2.z >> shift_1) & 0x03030303u;
          let codes_11 = (w4_2.w >> shift_1) & 0x03030303u;
          let q4_8 = staged[i_9 + plane_1 * 40u + 0u];
          acc_16 += dot4I8Packed(codes_4, q4_8.x);
          acc_24 += dot4I8Packed(codes_8, q4_8.x);
          acc_16 += dot4I8Packed(codes_5, q4_8.y);
          acc_24 += dot4I8Packed(codes_9, q4_8.y);
          acc_16 += dot4I8Packed(codes_6, q4_8.z);
          acc_24 += dot4I8Packed(codes_10, q4_8.z);
          acc_16 += dot4I8Packed(codes_7, q4_8.w);
          acc_24 += dot4I8Packed(codes_11, q4_8.w);
          let q4_9 = staged[i_9 + plane_1 * 40u + 160u];
          acc_17 += dot4I8Packed(codes_4, q4_9.x);
          acc_25 += dot4I8Packed(codes_8, q4_9.x);
          acc_17 += dot4I8Packed(codes_5, q4_9.y);
          acc_25 += dot4I8Packed(codes_9, q4_9.y);
          acc_17 += dot4I8Packed(codes_6, q4_9.z);
          acc_25 += dot4I8Packed(codes_10, q4_9.z);
          acc_17 += dot4I8Packed(codes_7, q4_9.w);
          acc_25 += dot4I8Packed(codes_11, q4_9.w);
          let q4_10 = staged[i_9 + plane_1 * 40u + 320u];
          acc_18 += dot4I8Packed(codes_4, q4_10.x);
          acc_26 += dot4I8Packed(codes_8, q4_10.x);
          acc_18 += dot4I8Packed(codes_5, q4_10.y);
          acc_26 += dot4I8Packed(codes_9, q4_10.y);
          acc_18 += dot4I8Packed(codes_6, q4_10.z);
          acc_26 += dot4I8Packed(codes_10, q4_10.z);
          acc_18 += dot4I8Packed(codes_7, q4_10.w);
          acc_26 += dot4I8Packed(codes_11, q4_10.w);
          let q4_11 = staged[i_9 + plane_1 * 40u + 480u];
          acc_19 += dot4I8Packed(codes_4, q4_11.x);
          acc_27 += dot4I8Packed(codes_8, q4_11.x);
          acc_19 += dot4I8Packed(codes_5, q4_11.y);
          acc_27 += dot4I8Packed(codes_9, q4_11.y);
          acc_19 += dot4I8Packed(codes_6, q4_11.z);
          acc_27 += dot4I8Packed(codes_10, q4_11.z);
          acc_19 += dot4I8Packed(codes_7, q4_11.w);
          acc_27 += dot4I8Packed(codes_11, q4_11.w);
          let q4_12 = staged[i_9 + plane_1 * 40u + 640u];
          acc_20 += dot4I8Packed(codes_4, q4_12.x);
          acc_28 += dot4I8Packed(codes_8, q4_12.x);
          acc_20 += dot4I8Packed(codes_5, q4_12.y);
          acc_28 += dot4I8Packed(codes_9, q4_12.y);
          acc_20 += dot4I8Packed(codes_6, q4_12.z);
          acc_28 += dot4I8Packed(codes_10, q4_12.z);
          acc_20 += dot4I8Packed(codes_7, q4_12.w);
          acc_28 += dot4I8Packed(codes_11, q4_12.w);
          let q4_13 = staged[i_9 + plane_1 * 40u + 800u];
          acc_21 += dot4I8Packed(codes_4, q4_13.x);
          acc_29 += dot4I8Packed(codes_8, q4_13.x);
          acc_21 += dot4I8Packed(codes_5, q4_13.y);
          acc_29 += dot4I8Packed(codes_9, q4_13.y);
          acc_21 += dot4I8Packed(codes_6, q4_13.z);
          acc_29 += dot4I8Packed(codes_10, q4_13.z);
          acc_21 += dot4I8Packed(codes_7, q4_13.w);
          acc_29 += dot4I8Packed(codes_11, q4_13.w);
          let q4_14 = staged[i_9 + plane_1 * 40u + 960u];
          acc_22 += dot4I8Packed(codes_4, q4_14.x);
          acc_30 += dot4I8Packed(codes_8, q4_14.x);
          acc_22 += dot4I8Packed(codes_5, q4_14.y);
          acc_30 += dot4I8Packed(codes_9, q4_14.y);
          acc_22 += dot4I8Packed(codes_6, q4_14.z);
          acc_30 += dot4I8Packed(codes_10, q4_14.z);
          acc_22 += dot4I8Packed(codes_7, q4_14.w);
          acc_30 += dot4I8Packed(codes_11, q4_14.w);
          let q4_15 = staged[i_9 + plane_1 * 40u + 1120u];
          acc_23 += dot4I8Packed(codes_4, q4_15.x);
          acc_31 += dot4I8Packed(codes_8, q4_15.x);
          acc_23 += dot4I8Packed(codes_5, q4_15.y);
          acc_31 += dot4I8Packed(codes_9, q4_15.y);
          acc_23 += dot4I8Packed(codes_6, q4_15.z);
          acc_31 += dot4I8Packed(codes_10, q4_15.z);
          acc_23 += dot4I8Packed(codes_7, q4_15.w);
          acc_31 += dot4I8Packed(codes_11, q4_15.w);
        }
      }
      let mine_44 = acc_16;
      let mine_45 = acc_17;
      let mine_46 = acc_18;
      let mine_47 = acc_19;
      let mine_48 = acc_20;
      let mine_49 = acc_21;
      let mine_50 = acc_22;
      let mine_51 = acc_23;
      let is_upper_3 = (lane_of_row_4 & 4u) != 0u;
      let given_7 = select(mine_48, mine_44, is_upper_3);
      let stays_7 = select(mine_44, mine_48, is_upper_3);
      let sg_140 = subgroupShuffleXor(given_7, 4u);
      let sum_86 = stays_7 + sg_140;
      let given_8 = select(mine_49, mine_45, is_upper_3);
      let stays_8 = select(mine_45, mine_49, is_upper_3);
      let sg_141 = subgroupShuffleXor(given_8, 4u);
      let sum_87 = stays_8 + sg_141;
      let given_9 = select(mine_50, mine_46, is_upper_3);
      let stays_9 = select(mine_46, mine_50, is_upper_3);
      let sg_142 = subgroupShuffleXor(given_9, 4u);
      let sum_88 = stays_9 + sg_142;
      let given_10 = select(mine_51, mine_47, is_upper_3);
      let stays_10 = select(mine_47, mine_51, is_upper_3);
      let sg_143 = subgroupShuffleXor(given_10, 4u);
      let sum_89 = stays_10 + sg_143;
      let is_upper_4 = (lane_of_row_4 & 2u) != 0u;
      let given_11 = select(sum_88, sum_86, is_upper_4);
      let stays_11 = select(sum_86, sum_88, is_upper_4);
      let sg_144 = subgroupShuffleXor(given_11, 2u);
      let sum_90 = stays_11 + sg_144;
      let given_12 = select(sum_89, sum_87, is_upper_4);
      let stays_12 = select(sum_87, sum_89, is_upper_4);
      let sg_145 = subgroupShuffleXor(given_12, 2u);
      let sum_91 = stays_12 + sg_145;
      let is_upper_5 = (lane_of_row_4 & 1u) != 0u;
      let given_13 = select(sum_91, sum_90, is_upper_5);
      let stays_13 = select(sum_90, sum_91, is_upper_5);
      let sg_146 = subgroupShuffleXor(given_13, 1u);
      let sum_92 = stays_13 + sg_146;
      let sg_147 = subgroupShuffleXor(sum_92, 8u);
      let sum_93 = sum_92 + sg_147;
      let sg_148 = subgroupShuffleXor(sum_93, 16u);
      let sum_94 = sum_93 + sg_148;
      let mine_52 = acc_24;
      let mine_53 = acc_25;
      let mine_54 = acc_26;
      let mine_55 = acc_27;
      let mine_56 = acc_28;
      let mine_57 = acc_29;
      let mine_58 = acc_30;
      let mine_59 = acc_31;
      let is_upper_6 = (lane_of_row_4 & 4u) != 0u;
      let given_14 = select(mine_56, mine_52, is_upper_6);
      let stays_14 = select(mine_52, mine_56, is_upper_6);
      let sg_149 = subgroupShuffleXor(given_14, 4u);
      let sum_95 = stays_14 + sg_149;
      let given_15 = select(mine_57, mine_53, is_upper_6);
      let stays_15 = select(mine_53, mine_57, is_upper_6);
      let sg_150 = subgroupShuffleXor(given_15, 4u);
      let sum_96 = stays_15 + sg_150;
      let given_16 = select(mine_58, mine_54, is_upper_6);
      let stays_16 = select(mine_54, mine_58, is_upper_6);
      let sg_151 = subgroupShuffleXor(given_16, 4u);
      let sum_97 = stays_16 + sg_151;
      let given_17 = select(mine_59, mine_55, is_upper_6);
      let stays_17 = select(mine_55, mine_59, is_upper_6);
      let sg_152 = subgroupShuffleXor(given_17, 4u);
      let sum_98 = stays_17 + sg_152;
      let is_upper_7 = (lane_of_row_4 & 2u) != 0u;
      let given_18 = select(sum_97, sum_95, is_upper_7);
      let stays_18 = select(sum_95, sum_97, is_upper_7);
      let sg_153 = subgroupShuffleXor(given_18, 2u);
      let sum_99 = stays_18 + sg_153;
      let given_19 = select(sum_98, sum_96, is_upper_7);
      let stays_19 = select(sum_96, sum_98, is_upper_7);
      let sg_154 = subgroupShuffleXor(given_19, 2u);
      let sum_100 = stays_19 + sg_154;
      let is_upper_8 = (lane_of_row_4 & 1u) != 0u;
      let given_20 = select(sum_100, sum_99, is_upper_8);
      let stays_20 = select(sum_99, sum_100, is_upper_8);
      let sg_155 = subgroupShuffleXor(given_20, 1u);
      let sum_101 = stays_20 + sg_155;
      let sg_156 = subgroupShuffleXor(sum_101, 8u);
      let sum_102 = sum_101 + sg_156;
      let sg_157 = subgroupShuffleXor(sum_102, 16u);
      let sum_103 = sum_102 + sg_157;
      if (((lane_of_row_4 < 8u) && is_row) && (row_1 < end_row_2)) {
        let value_126 = f32(sum_94 - x_sum_of_row_1) / x_scale_3 * w_scale_3;
        let mine_at_1 = my_row * 64u + (row_1 - first_row);
        let x_new = residual[mine_at_1] + value_126;
        residual[mine_at_1] = x_new;
        let gain_2 = vectors[vectors_at + row_1 + 5120u];
        let vg_2 = x_new * gain_2;
        squares_2 += x_new * x_new;
        largest_2 = max(largest_2, abs(vg_2));
        let row_of_block_2 = (row_1 & 15u) * 32u + ((row_1 >> 4u) & 31u);
        let place_130 = (row_1 & 4294966784u) + row_of_block_2 + 19424u;
        let place_in_row_2 = place_130 + my_words;
        let value_bits_19 = bitcast<u32>(vg_2);
        let half_19 = select(2u, 0u, (value_bits_19 & 2139095040u) == 2139095040u);
        let rounded_19 = value_bits_19 + half_19;
        atomicStore(&words[place_in_row_2], (rounded_19 & 4294967292u) | tag);
      }
      if (((lane_of_row_4 < 8u) && is_row) && (row_2 < end_row_2)) {
        let value_127 = f32(sum_103 - x_sum_of_row_1) / x_scale_3 * w_scale_3;
        let mine_at_2 = my_row * 64u + (row_2 - first_row);
        let x_new_1 = residual[mine_at_2] + value_127;
        residual[mine_at_2] = x_new_1;
        let gain_3 = vectors[vectors_at + row_2 + 5120u];
        let vg_3 = x_new_1 * gain_3;
        squares_2 += x_new_1 * x_new_1;
        largest_2 = max(largest_2, abs(vg_3));
        let row_of_block_3 = (row_2 & 15u) * 32u + ((row_2 >> 4u) & 31u);
        let place_131 = (row_2 & 4294966784u) + row_of_block_3 + 19424u;
        let place_in_row_3 = place_131 + my_words;
        let value_bits_20 = bitcast<u32>(vg_3);
        let half_20 = select(2u, 0u, (value_bits_20 & 2139095040u) == 2139095040u);
        let rounded_20 = value_bits_20 + half_20;
        atomicStore(&words[place_in_row_3], (rounded_20 & 4294967292u) | tag);
      }
    }
    let my_squares_4 = squares_2;
    let my_largest_4 = largest_2;
    let sg_158 = subgroupShuffleXor(my_squares_4, 8u);
    let both_50 = my_squares_4 + sg_158;
    let sg_159 = subgroupShuffleXor(both_50, 16u);
    let both_51 = both_50 + sg_159;
    let sg_160 = subgroupShuffleXor(my_largest_4, 8u);
    let both_52 = max(my_largest_4, sg_160);
    let sg_161 = subgroupShuffleXor(both_52, 16u);
    let both_53 = max(both_52, sg_161);
    if ((tid % 32u) < 8u) {
      made_stats[my_row * 16u + tid / 32u] = vec2<f32>(both_51, both_53);
    }
    workgroupBarrier();
    let made_of_subgroup_2 = made_stats[tid & 127u];
    let squares_part_2 = made_of_subgroup_2.x;
    let sg_162 = subgroupShuffleXor(squares_part_2, 1u);
    let both_54 = squares_part_2 + sg_162;
    let sg_163 = subgroupShuffleXor(both_54, 2u);
    let both_55 = both_54 + sg_163;
    let sg_164 = subgroupShuffleXor(both_55, 4u);
    let both_56 = both_55 + sg_164;
    let sg_165 = subgroupShuffleXor(both_56, 8u);
    let both_57 = both_56 + sg_165;
    let largest_part_2 = made_of_subgroup_2.y;
    let sg_166 = subgroupShuffleXor(largest_part_2, 1u);
    let both_58 = max(largest_part_2, sg_166);
    let sg_167 = subgroupShuffleXor(both_58, 2u);
    let both_59 = max(both_58, sg_167);
    let sg_168 = subgroupShuffleXor(both_59, 4u);
    let both_60 = max(both_59, sg_168);
    let sg_169 = subgroupShuffleXor(both_60, 8u);
    let both_61 = max(both_60, sg_169);
    let made_row_2 = tid / 16u;
    if ((made_row_2 < n_rows) && ((tid % 16u) == 0u)) {
      let group_7 = wg.x;
      let stats_at_28 = made_row_2 * 2048u + group_7 + 265536u;
      let stats_at_29 = stats_at_28 + 1024u;
      let value_bits_21 = bitcast<u32>(both_57);
      let half_21 = select(2u, 0u, (value_bits_21 & 2139095040u) == 2139095040u);
      let rounded_21 = value_bits_21 + half_21;
      atomicStore(&words[stats_at_28], (rounded_21 & 4294967292u) | tag);
      let value_bits_22 = bitcast<u32>(both_61);
      let half_22 = select(2u, 0u, (value_bits_22 & 2139095040u) == 2139095040u);
      let rounded_22 = value_bits_22 + half_22;
      atomicStore(&words[stats_at_29], (rounded_22 & 4294967292u) | tag);
    }
    let group_8 = tid / 32u;
    let lane_of_row_5 = tid & 31u;
    let group_9 = tid / 32u;
    let lane_of_row_6 = tid & 31u;
    let w_scale_6 = vectors[vectors_at + 14598u];
    var squares_3: f32 = 0f;
    var largest_3: f32 = 0f;
    var row_squares_2: f32 = 0f;
    var row_largest_2: f32 = 0f;
    let unit_6 = lane_of_team + 0u;
    let safe_unit_6 = min(unit_6, 159u) + 0u;
    let place_132 = words_of_team + safe_unit_6 / 32u * 512u + safe_unit_6 % 32u + 19424u;
    let place_133 = place_132 + 32u;
    let place_134 = place_132 + 64u;
    let place_135 = place_132 + 96u;
    let place_136 = place_132 + 128u;
    let place_137 = place_132 + 160u;
    let place_138 = place_132 + 192u;
    let place_139 = place_132 + 224u;
    let place_140 = place_132 + 256u;
    let place_141 = place_132 + 288u;
    let place_142 = place_132 + 320u;
    let place_143 = place_132 + 352u;
    let place_144 = place_132 + 384u;
    let place_145 = place_132 + 416u;
    let place_146 = place_132 + 448u;
    let place_147 = place_132 + 480u;
    let unit_7 = lane_of_team + 64u;
    let safe_unit_7 = min(unit_7, 159u) + 0u;
    let place_148 = words_of_team + safe_unit_7 / 32u * 512u + safe_unit_7 % 32u + 19424u;
    let place_149 = place_148 + 32u;
    let place_150 = place_148 + 64u;
    let place_151 = place_148 + 96u;
    let place_152 = place_148 + 128u;
    let place_153 = place_148 + 160u;
    let place_154 = place_148 + 192u;
    let place_155 = place_148 + 224u;
    let place_156 = place_148 + 256u;
    let place_157 = place_148 + 288u;
    let place_158 = place_148 + 320u;
    let place_159 = place_148 + 352u;
    let place_160 = place_148 + 384u;
    let place_161 = place_148 + 416u;
    let place_162 = place_148 + 448u;
    let place_163 = place_148 + 480u;
    let unit_8 = lane_of_team + 128u;
    let safe_unit_8 = min(unit_8, 159u) + 0u;
    let place_164 = words_of_team + safe_unit_8 / 32u * 512u + safe_unit_8 % 32u + 19424u;
    let place_165 = place_164 + 32u;
    let place_166 = place_164 + 64u;
    let place_167 = place_164 + 96u;
    let place_168 = place_164 + 128u;
    let place_169 = place_164 + 160u;
    let place_170 = place_164 + 192u;
    let place_171 = place_164 + 224u;
    let place_172 = place_164 + 256u;
    let place_173 = place_164 + 288u;
    let place_174 = place_164 + 320u;
    let place_175 = place_164 + 352u;
    let place_176 = place_164 + 384u;
    let place_177 = place_164 + 416u;
    let place_178 = place_164 + 448u;
    let place_179 = place_164 + 480u;
    let first_part_2 = 0u;
    let part_12 = first_part_2 + lane_of_team + 0u;
    let safe_part_12 = min(part_12, n_wg.x - 1u);
    let stats_at_30 = row_of_team * 2048u + safe_part_12 + 265536u;
    let stats_at_31 = stats_at_30 + 1024u;
    let part_13 = first_part_2 + lane_of_team + 64u;
    let safe_part_13 = min(part_13, n_wg.x - 1u);
    let stats_at_32 = row_of_team * 2048u + safe_part_13 + 265536u;
    let stats_at_33 = stats_at_32 + 1024u;
    let part_14 = first_part_2 + lane_of_team + 128u;
    let safe_part_14 = min(part_14, n_wg.x - 1u);
    let stats_at_34 = row_of_team * 2048u + safe_part_14 + 265536u;
    let stats_at_35 = stats_at_34 + 1024u;
    var found_125: u32 = 0u;
    var found_126: u32 = 0u;
    var found_127: u32 = 0u;
    var found_128: u32 = 0u;
    var found_129: u32 = 0u;
    var found_130: u32 = 0u;
    var found_131: u32 = 0u;
    var found_132: u32 = 0u;
    var found_133: u32 = 0u;
    var found_134: u32 = 0u;
    var found_135: u32 = 0u;
    var found_136: u32 = 0u;
    var found_137: u32 = 0u;
    var found_138: u32 = 0u;
    var found_139: u32 = 0u;
    var found_140: u32 = 0u;
    var found_141: u32 = 0u;
    var found_142: u32 = 0u;
    var found_143: u32 = 0u;
    var found_144: u32 = 0u;
    var found_145: u32 = 0u;
    var found_146: u32 = 0u;
    var found_147: u32 = 0u;
    var found_148: u32 = 0u;
    var found_149: u32 = 0u;
    var found_150: u32 = 0u;
    var found_151: u32 = 0u;
    var found_152: u32 = 0u;
    var found_153: u32 = 0u;
    var found_154: u32 = 0u;
    var found_155: u32 = 0u;
    var found_156: u32 = 0u;
    var found_157: u32 = 0u;
    var found_158: u32 = 0u;
    var found_159: u32 = 0u;
    var found_160: u32 = 0u;
    var found_161: u32 = 0u;
    var found_162: u32 = 0u;
    var found_163: u32 = 0u;
    var found_164: u32 = 0u;
    var found_165: u32 = 0u;
    var found_166: u32 = 0u;
    var found_167: u32 = 0u;
    var found_168: u32 = 0u;
    var found_169: u32 = 0u;
    var found_170: u32 = 0u;
    var found_171: u32 = 0u;
    var found_172: u32 = 0u;
    var found_173: u32 = 0u;
    var found_174: u32 = 0u;
    var found_175: u32 = 0u;
    var found_176: u32 = 0u;
    var found_177: u32 = 0u;
    var found_178: u32 = 0u;
    var waits_6: u32 = 1u;
    let end_12 = patience;
    for (var early_6 = 0u; early_6 < end_12; early_6 += 1u) {
      let now_145 = (atomicLoad(&words[stats_at_35]));
      found_125 = now_145;
      var n_failed_12: u32 = 0u;
      if ((early_6 & 255u) == 255u) {
        let now_146 = (atomicLoad(&words[32u]));
        n_failed_12 = now_146;
      }
      let given_up_12 = n_failed_12 != 0u;
      if ((((found_125 ^ tag) & 3u) == 0u) || given_up_12) {
        break;
      }
    }
    let end_13 = patience;
    for (var tries_6 = 0u; tries_6 < end_13; tries_6 += 1u) {
      let now_147 = (atomicLoad(&words[place_132]));
      found_125 = now_147;
      let now_148 = (atomicLoad(&words[place_133]));
      found_126 = now_148;
      let now_149 = (atomicLoad(&words[place_134]));
      found_127 = now_149;
      let now_150 = (atomicLoad(&words[place_135]));
      found_128 = now_150;
      let now_151 = (atomicLoad(&words[place_136]));
      found_129 = now_151;
      let now_152 = (atomicLoad(&words[place_137]));
      found_130 = now_152;
      let now_153 = (atomicLoad(&words[place_138]));
      found_131 = now_153;
      let now_154 = (atomicLoad(&words[place_139]));
      found_132 = now_154;
      let now_155 = (atomicLoad(&words[place_140]));
      found_133 = now_155;
      let now_156 = (atomicLoad(&words[place_141]));
      found_134 = now_156;
      let now_157 = (atomicLoad(&words[place_142]));
      found_135 = now_157;
      let now_158 = (atomicLoad(&words[place_143]));
      found_136 = now_158;
      let now_159 = (atomicLoad(&words[place_144]));
      found_137 = now_159;
      let now_160 = (atomicLoad(&words[place_145]));
      found_138 = now_160;
      let now_161 = (atomicLoad(&words[place_146]));
      found_139 = now_161;
      let now_162 = (atomicLoad(&words[place_147]));
      found_140 = now_162;
      let now_163 = (atomicLoad(&words[place_148]));
      found_141 = now_163;
      let now_164 = (atomicLoad(&words[place_149]));
      found_142 = now_164;
      let now_165 = (atomicLoad(&words[place_150]));
      found_143 = now_165;
      let now_166 = (atomicLoad(&words[place_151]));
      found_144 = now_166;
      let now_167 = (atomicLoad(&words[place_152]));
      found_145 = now_167;
      let now_168 = (atomicLoad(&words[place_153]));
      found_146 = now_168;
      let now_169 = (atomicLoad(&words[place_154]));
      found_147 = now_169;
      let now_170 = (atomicLoad(&words[place_155]));
      found_148 = now_170;
      let now_171 = (atomicLoad(&words[place_156]));
      found_149 = now_171;
      let now_172 = (atomicLoad(&words[place_157]));
      found_150 = now_172;
      let now_173 = (atomicLoad(&words[place_158]));
      found_151 = now_173;
      let now_174 = (atomicLoad(&words[place_159]));
      found_152 = now_174;
      let now_175 = (atomicLoad(&words[place_160]));
      found_153 = now_175;
      let now_176 = (atomicLoad(&words[place_161]));
      found_154 = now_176;
      let now_177 = (atomicLoad(&words[place_162]));
      found_155 = now_177;
      let now_178 = (atomicLoad(&words[place_163]));
      found_156 = now_178;
      let now_179 = (atomicLoad(&words[place_164]));
      found_157 = now_179;
      let now_180 = (atomicLoad(&words[place_165]));
      found_158 = now_180;
      let now_181 = (atomicLoad(&words[place_166]));
      found_159 = now_181;
      let now_182 = (atomicLoad(&words[place_167]));
      found_160 = now_182;
      let now_183 = (atomicLoad(&words[place_168]));
      found_161 = now_183;
      let now_184 = (atomicLoad(&words[place_169]));
      found_162 = now_184;
      let now_185 = (atomicLoad(&words[place_170]));
      found_163 = now_185;
      let now_186 = (atomicLoad(&words[place_171]));
      found_164 = now_186;
      let now_187 = (atomicLoad(&words[place_172]));
      found_165 = now_187;
      let now_188 = (atomicLoad(&words[place_173]));
      found_166 = now_188;
      let now_189 = (atomicLoad(&words[place_174]));
      found_167 = now_189;
      let now_190 = (atomicLoad(&words[place_175]));
      found_168 = now_190;
      let now_191 = (atomicLoad(&words[place_176]));
      found_169 = now_191;
      let now_192 = (atomicLoad(&words[place_177]));
      found_170 = now_192;
      let now_193 = (atomicLoad(&words[place_178]));
      found_171 = now_193;
      let now_194 = (atomicLoad(&words[place_179]));
      found_172 = now_194;
      let now_195 = (atomicLoad(&words[stats_at_30]));
      found_173 = now_195;
      let now_196 = (atomicLoad(&words[stats_at_31]));
      found_174 = now_196;
      let now_197 = (atomicLoad(&words[stats_at_32]));
      found_175 = now_197;
      let now_198 = (atomicLoad(&words[stats_at_33]));
      found_176 = now_198;
      let now_199 = (atomicLoad(&words[stats_at_34]));
      found_177 = now_199;
      let now_200 = (atomicLoad(&words[stats_at_35]));
      found_178 = now_200;
      var odd_6: u32 = 0u;
      odd_6 = odd_6 | (found_125 ^ tag);
      odd_6 = odd_6 | (found_126 ^ tag);
      odd_6 = odd_6 | (found_127 ^ tag);
      odd_6 = odd_6 | (found_128 ^ tag);
      odd_6 = odd_6 | (found_129 ^ tag);
      odd_6 = odd_6 | (found_130 ^ tag);
      odd_6 = odd_6 | (found_131 ^ tag);
      odd_6 = odd_6 | (found_132 ^ tag);
      odd_6 = odd_6 | (found_133 ^ tag);
      odd_6 = odd_6 | (found_134 ^ tag);
      odd_6 = odd_6 | (found_135 ^ tag);
      odd_6 = odd_6 | (found_136 ^ tag);
      odd_6 = odd_6 | (found_137 ^ tag);
      odd_6 = odd_6 | (found_138 ^ tag);
      odd_6 = odd_6 | (found_139 ^ tag);
      odd_6 = odd_6 | (found_140 ^ tag);
      odd_6 = odd_6 | (found_141 ^ tag);
      odd_6 = odd_6 | (found_142 ^ tag);
      odd_6 = odd_6 | (found_143 ^ tag);
      odd_6 = odd_6 | (found_144 ^ tag);
      odd_6 = odd_6 | (found_145 ^ tag);
      odd_6 = odd_6 | (found_146 ^ tag);
      odd_6 = odd_6 | (found_147 ^ tag);
      odd_6 = odd_6 | (found_148 ^ tag);
      odd_6 = odd_6 | (found_149 ^ tag);
      odd_6 = odd_6 | (found_150 ^ tag);
      odd_6 = odd_6 | (found_151 ^ tag);
      odd_6 = odd_6 | (found_152 ^ tag);
      odd_6 = odd_6 | (found_153 ^ tag);
      odd_6 = odd_6 | (found_154 ^ tag);
      odd_6 = odd_6 | (found_155 ^ tag);
      odd_6 = odd_6 | (found_156 ^ tag);
      odd_6 = odd_6 | (found_157 ^ tag);
      odd_6 = odd_6 | (found_158 ^ tag);
      odd_6 = odd_6 | (found_159 ^ tag);
      odd_6 = odd_6 | (found_160 ^ tag);
      odd_6 = odd_6 | (found_161 ^ tag);
      odd_6 = odd_6 | (found_162 ^ tag);
      odd_6 = odd_6 | (found_163 ^ tag);
      odd_6 = odd_6 | (found_164 ^ tag);
      odd_6 = odd_6 | (found_165 ^ tag);
      odd_6 = odd_6 | (found_166 ^ tag);
      odd_6 = odd_6 | (found_167 ^ tag);
      odd_6 = odd_6 | (found_168 ^ tag);
      odd_6 = odd_6 | (found_169 ^ tag);
      odd_6 = odd_6 | (found_170 ^ tag);
      odd_6 = odd_6 | (found_171 ^ tag);
      odd_6 = odd_6 | (found_172 ^ tag);
      odd_6 = odd_6 | (found_173 ^ tag);
      odd_6 = odd_6 | (found_174 ^ tag);
      odd_6 = odd_6 | (found_175 ^ tag);
      odd_6 = odd_6 | (found_176 ^ tag);
      odd_6 = odd_6 | (found_177 ^ tag);
      odd_6 = odd_6 | (found_178 ^ tag);
      if ((odd_6 & 3u) == 0u) {
        waits_6 = 0u;
        break;
      }
      var n_failed_13: u32 = 0u;
      if ((tries_6 & 255u) == 255u) {
        let now_201 = (atomicLoad(&words[32u]));
        n_failed_13 = now_201;
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
    let value_128 = bitcast<f32>(found_125 & 4294967292u);
    let value_129 = bitcast<f32>(found_126 & 4294967292u);
    let value_130 = bitcast<f32>(found_127 & 4294967292u);
    let value_131 = bitcast<f32>(found_128 & 4294967292u);
    let value_132 = bitcast<f32>(found_129 & 4294967292u);
    let value_133 = bitcast<f32>(found_130 & 4294967292u);
    let value_134 = bitcast<f32>(found_131 & 4294967292u);
    let value_135 = bitcast<f32>(found_132 & 4294967292u);
    let value_136 = bitcast<f32>(found_133 & 4294967292u);
    let value_137 = bitcast<f32>(found_134 & 4294967292u);
    let value_138 = bitcast<f32>(found_135 & 4294967292u);
    let value_139 = bitcast<f32>(found_136 & 4294967292u);
    let value_140 = bitcast<f32>(found_137 & 4294967292u);
    let value_141 = bitcast<f32>(found_138 & 4294967292u);
    let value_142 = bitcast<f32>(found_139 & 4294967292u);
    let value_143 = bitcast<f32>(found_140 & 4294967292u);
    let value_144 = bitcast<f32>(found_141 & 4294967292u);
    let value_145 = bitcast<f32>(found_142 & 4294967292u);
    let value_146 = bitcast<f32>(found_143 & 4294967292u);
    let value_147 = bitcast<f32>(found_144 & 4294967292u);
    let value_148 = bitcast<f32>(found_145 & 4294967292u);
    let value_149 = bitcast<f32>(found_146 & 4294967292u);
    let value_150 = bitcast<f32>(found_147 & 4294967292u);
    let value_151 = bitcast<f32>(found_148 & 4294967292u);
    let value_152 = bitcast<f32>(found_149 & 4294967292u);
    let value_153 = bitcast<f32>(found_150 & 4294967292u);
    let value_154 = bitcast<f32>(found_151 & 4294967292u);
    let value_155 = bitcast<f32>(found_152 & 4294967292u);
    let value_156 = bitcast<f32>(found_153 & 4294967292u);
    let value_157 = bitcast<f32>(found_154 & 4294967292u);
    let value_158 = bitcast<f32>(found_155 & 4294967292u);
    let value_159 = bitcast<f32>(found_156 & 4294967292u);
    let value_160 = bitcast<f32>(found_157 & 4294967292u);
    let value_161 = bitcast<f32>(found_158 & 4294967292u);
    let value_162 = bitcast<f32>(found_159 & 4294967292u);
    let value_163 = bitcast<f32>(found_160 & 4294967292u);
    let value_164 = bitcast<f32>(found_161 & 4294967292u);
    let value_165 = bitcast<f32>(found_162 & 4294967292u);
    let value_166 = bitcast<f32>(found_163 & 4294967292u);
    let value_167 = bitcast<f32>(found_164 & 4294967292u);
    let value_168 = bitcast<f32>(found_165 & 4294967292u);
    let value_169 = bitcast<f32>(found_166 & 4294967292u);
    let value_170 = bitcast<f32>(found_167 & 4294967292u);
    let value_171 = bitcast<f32>(found_168 & 4294967292u);
    let value_172 = bitcast<f32>(found_169 & 4294967292u);
    let value_173 = bitcast<f32>(found_170 & 4294967292u);
    let value_174 = bitcast<f32>(found_171 & 4294967292u);
    let value_175 = bitcast<f32>(found_172 & 4294967292u);
    let value_176 = bitcast<f32>(found_173 & 4294967292u);
    let value_177 = bitcast<f32>(found_174 & 4294967292u);
    let value_178 = bitcast<f32>(found_175 & 4294967292u);
    let value_179 = bitcast<f32>(found_176 & 4294967292u);
    let value_180 = bitcast<f32>(found_177 & 4294967292u);
    let value_181 = bitcast<f32>(found_178 & 4294967292u);
    if (part_12 < n_wg.x) {
      row_squares_2 += value_176;
    }
    row_largest_2 = max(row_largest_2, value_177);
    if (part_13 < n_wg.x) {
      row_squares_2 += value_178;
    }
    row_largest_2 = max(row_largest_2, value_179);
    if (part_14 < n_wg.x) {
      row_squares_2 += value_180;
    }
    row_largest_2 = max(row_largest_2, value_181);
    for (var from_part_2 = 192u; from_part_2 < n_wg.x; from_part_2 += 192u) {
      let part_15 = from_part_2 + lane_of_team + 0u;
      let safe_part_15 = min(part_15, n_wg.x - 1u);
      let stats_at_36 = row_of_team * 2048u + safe_part_15 + 265536u;
      let stats_at_37 = stats_at_36 + 1024u;
      let part_16 = from_part_2 + lane_of_team + 64u;
      let safe_part_16 = min(part_16, n_wg.x - 1u);
      let stats_at_38 = row_of_team * 2048u + safe_part_16 + 265536u;
      let stats_at_39 = stats_at_38 + 1024u;
      let part_17 = from_part_2 + lane_of_team + 128u;
      let safe_part_17 = min(part_17, n_wg.x - 1u);
      let stats_at_40 = row_of_team * 2048u + safe_part_17 + 265536u;
      let stats_at_41 = stats_at_40 + 1024u;
      var found_179: u32 = 0u;
      var found_180: u32 = 0u;
      var found_181: u32 = 0u;
      var found_182: u32 = 0u;
      var found_183: u32 = 0u;
      var found_184: u32 = 0u;
      var waits_7: u32 = 1u;
      let end_14 = patience;
      for (var early_7 = 0u; early_7 < end_14; early_7 += 1u) {
        let now_202 = (atomicLoad(&words[stats_at_41]));
        found_179 = now_202;
        var n_failed_14: u32 = 0u;
        if ((early_7 & 255u) == 255u) {
          let now_203 = (atomicLoad(&words[32u]));
          n_failed_14 = now_203;
        }
        let given_up_14 = n_failed_14 != 0u;
        if ((((found_179 ^ tag) & 3u) == 0u) || given_up_14) {
          break;
        }
      }
      let end_15 = patience;
      for (var tries_7 = 0u; tries_7 < end_15; tries_7 += 1u) {
        let now_204 = (atomicLoad(&words[stats_at_36]));
        found_179 = now_204;
        let now_205 = (atomicLoad(&words[stats_at_37]));
        found_180 = now_205;
        let now_206 = (atomicLoad(&words[stats_at_38]));
        found_181 = now_206;
        let now_207 = (atomicLoad(&words[stats_at_39]));
        found_182 = now_207;
        let now_208 = (atomicLoad(&words[stats_at_40]));
        found_183 = now_208;
        let now_209 = (atomicLoad(&words[stats_at_41]));
        found_184 = now_209;
        var odd_7: u32 = 0u;
        odd_7 = odd_7 | (found_179 ^ tag);
        odd_7 = odd_7 | (found_180 ^ tag);
        odd_7 = odd_7 | (found_181 ^ tag);
        odd_7 = odd_7 | (found_182 ^ tag);
        odd_7 = odd_7 | (found_183 ^ tag);
        odd_7 = odd_7 | (found_184 ^ tag);
        if ((odd_7 & 3u) == 0u) {
          waits_7 = 0u;
          break;
        }
        var n_failed_15: u32 = 0u;
        if ((tries_7 & 255u) == 255u) {
          let now_210 = (atomicLoad(&words[32u]));
          n_failed_15 = now_210;
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
      let value_182 = bitcast<f32>(found_179 & 4294967292u);
      let value_183 = bitcast<f32>(found_180 & 4294967292u);
      let value_184 = bitcast<f32>(found_181 & 4294967292u);
      let value_185 = bitcast<f32>(found_182 & 4294967292u);
      let value_186 = bitcast<f32>(found_183 & 4294967292u);
      let value_187 = bitcast<f32>(found_184 & 4294967292u);
      if (part_15 < n_wg.x) {
        row_squares_2 += value_182;
      }
      row_largest_2 = max(row_largest_2, value_183);
      if (part_16 < n_wg.x) {
        row_squares_2 += value_184;
      }
      row_largest_2 = max(row_largest_2, value_185);
      if (part_17 < n_wg.x) {
        row_squares_2 += value_186;
      }
      row_largest_2 = max(row_largest_2, value_187);
    }
    let my_squares_5 = row_squares_2;
    let my_largest_5 = row_largest_2;
    let sg_170 = subgroupShuffleXor(my_squares_5, 1u);
    let both_62 = my_squares_5 + sg_170;
    let sg_171 = subgroupShuffleXor(both_62, 2u);
    let both_63 = both_62 + sg_171;
    let sg_172 = subgroupShuffleXor(both_63, 4u);
    let both_64 = both_63 + sg_172;
    let sg_173 = subgroupShuffleXor(both_64, 8u);
    let both_65 = both_64 + sg_173;
    let sg_174 = subgroupShuffleXor(both_65, 16u);
    let both_66 = both_65 + sg_174;
    let sg_175 = subgroupShuffleXor(my_largest_5, 1u);
    let both_67 = max(my_largest_5, sg_175);
    let sg_176 = subgroupShuffleXor(both_67, 2u);
    let both_68 = max(both_67, sg_176);
    let sg_177 = subgroupShuffleXor(both_68, 4u);
    let both_69 = max(both_68, sg_177);
    let sg_178 = subgroupShuffleXor(both_69, 8u);
    let both_70 = max(both_69, sg_178);
    let sg_179 = subgroupShuffleXor(both_70, 16u);
    let both_71 = max(both_70, sg_179);
    if ((tid % 32u) == 0u) {
      row_stats[tid / 32u] = vec2<f32>(both_66, both_71);
    }
    workgroupBarrier();
    var all_squares_2: f32 = 0f;
    var all_largest_2: f32 = 0f;
    let stats_part_4 = row_stats[team * 2u + 0u];
    all_squares_2 += stats_part_4.x;
    all_largest_2 = max(all_largest_2, stats_part_4.y);
    let stats_part_5 = row_stats[team * 2u + 1u];
    all_squares_2 += stats_part_5.x;
    all_largest_2 = max(all_largest_2, stats_part_5.y);
    let squares_of_row_2 = all_squares_2;
    let largest_of_row_2 = all_largest_2;
    let factor_2 = 1f / sqrt(squares_of_row_2 / 2560f + 1e-05f);
    let finite_scale_2 = 127f / max(largest_of_row_2 * factor_2, 1e-05f);
    let factor_and_scale_2 = factor_2 * finite_scale_2;
    let factor_bits_2 = bitcast<u32>(factor_2);
    let x_scale_4 = select(finite_scale_2, factor_2, (factor_bits_2 - 1u) >= 2139095039u);
    if (lane_of_team == 0u) {
      row_scales[team] = x_scale_4;
    }
    var q_sum_2: i32 = 0i;
    if (unit_6 < 160u) {
      let ones_6 = 16843009u;
      let vg4_24 = vec4<f32>(value_128, value_129, value_130, value_131);
      let moved_24 = vg4_24 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_24 = bitcast<vec4<i32>>(moved_24);
      let packed_24 = pack4xI8(q_24);
      q_sum_2 += dot4I8Packed(packed_24, ones_6);
      let vg4_25 = vec4<f32>(value_132, value_133, value_134, value_135);
      let moved_25 = vg4_25 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_25 = bitcast<vec4<i32>>(moved_25);
      let packed_25 = pack4xI8(q_25);
      q_sum_2 += dot4I8Packed(packed_25, ones_6);
      let vg4_26 = vec4<f32>(value_136, value_137, value_138, value_139);
      let moved_26 = vg4_26 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_26 = bitcast<vec4<i32>>(moved_26);
      let packed_26 = pack4xI8(q_26);
      q_sum_2 += dot4I8Packed(packed_26, ones_6);
      let vg4_27 = vec4<f32>(value_140, value_141, value_142, value_143);
      let moved_27 = vg4_27 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_27 = bitcast<vec4<i32>>(moved_27);
      let packed_27 = pack4xI8(q_27);
      q_sum_2 += dot4I8Packed(packed_27, ones_6);
      let staged_at_6 = team * 160u + ((unit_6 >> 1u) & 3u) * 40u + ((unit_6 >> 3u) * 2u + (unit_6 & 1u));
      staged[staged_at_6] = vec4<u32>(packed_24, packed_25, packed_26, packed_27);
    }
    if (unit_7 < 160u) {
      let ones_7 = 16843009u;
      let vg4_28 = vec4<f32>(value_144, value_145, value_146, value_147);
      let moved_28 = vg4_28 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_28 = bitcast<vec4<i32>>(moved_28);
      let packed_28 = pack4xI8(q_28);
      q_sum_2 += dot4I8Packed(packed_28, ones_7);
      let vg4_29 = vec4<f32>(value_148, value_149, value_150, value_151);
      let moved_29 = vg4_29 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_29 = bitcast<vec4<i32>>(moved_29);
      let packed_29 = pack4xI8(q_29);
      q_sum_2 += dot4I8Packed(packed_29, ones_7);
      let vg4_30 = vec4<f32>(value_152, value_153, value_154, value_155);
      let moved_30 = vg4_30 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_30 = bitcast<vec4<i32>>(moved_30);
      let packed_30 = pack4xI8(q_30);
      q_sum_2 += dot4I8Packed(packed_30, ones_7);
      let vg4_31 = vec4<f32>(value_156, value_157, value_158, value_159);
      let moved_31 = vg4_31 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_31 = bitcast<vec4<i32>>(moved_31);
      let packed_31 = pack4xI8(q_31);
      q_sum_2 += dot4I8Packed(packed_31, ones_7);
      let staged_at_7 = team * 160u + ((unit_7 >> 1u) & 3u) * 40u + ((unit_7 >> 3u) * 2u + (unit_7 & 1u));
      staged[staged_at_7] = vec4<u32>(packed_28, packed_29, packed_30, packed_31);
    }
    if (unit_8 < 160u) {
      let ones_8 = 16843009u;
      let vg4_32 = vec4<f32>(value_160, value_161, value_162, value_163);
      let moved_32 = vg4_32 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_32 = bitcast<vec4<i32>>(moved_32);
      let packed_32 = pack4xI8(q_32);
      q_sum_2 += dot4I8Packed(packed_32, ones_8);
      let vg4_33 = vec4<f32>(value_164, value_165, value_166, value_167);
      let moved_33 = vg4_33 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_33 = bitcast<vec4<i32>>(moved_33);
      let packed_33 = pack4xI8(q_33);
      q_sum_2 += dot4I8Packed(packed_33, ones_8);
      let vg4_34 = vec4<f32>(value_168, value_169, value_170, value_171);
      let moved_34 = vg4_34 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_34 = bitcast<vec4<i32>>(moved_34);
      let packed_34 = pack4xI8(q_34);
      q_sum_2 += dot4I8Packed(packed_34, ones_8);
      let vg4_35 = vec4<f32>(value_172, value_173, value_174, value_175);
      let moved_35 = vg4_35 * factor_and_scale_2 + vec4<f32>(12582912f);
      let q_35 = bitcast<vec4<i32>>(moved_35);
      let packed_35 = pack4xI8(q_35);
      q_sum_2 += dot4I8Packed(packed_35, ones_8);
      let staged_at_8 = team * 160u + ((unit_8 >> 1u) & 3u) * 40u + ((unit_8 >> 3u) * 2u + (unit_8 & 1u));
      staged[staged_at_8] = vec4<u32>(packed_32, packed_33, packed_34, packed_35);
    }
    let my_sum_2 = q_sum_2;
    let sg_180 = subgroupShuffleXor(my_sum_2, 16u);
    let sum_104 = my_sum_2 + sg_180;
    let sg_181 = subgroupShuffleXor(sum_104, 8u);
    let sum_105 = sum_104 + sg_181;
    let sg_182 = subgroupShuffleXor(sum_105, 4u);
    let sum_106 = sum_105 + sg_182;
    let sg_183 = subgroupShuffleXor(sum_106, 2u);
    let sum_107 = sum_106 + sg_183;
    let sg_184 = subgroupShuffleXor(sum_107, 1u);
    let sum_108 = sum_107 + sg_184;
    if ((tid % 32u) == 0u) {
      row_sums[tid / 32u] = sum_108;
    }
    workgroupBarrier();
    let x_scale_5 = row_scales[my_row];
    var x_sum_2: i32 = 0i;
    x_sum_2 += row_sums[my_row * 2u + 0u];
    x_sum_2 += row_sums[my_row * 2u + 1u];
    let x_sum_of_row_2 = x_sum_2;
    for (var from_row_2 = first_row_3; from_row_2 < end_row_3; from_row_2 += 64u) {
      let group_10 = tid / 8u;
      let lane_of_row_7 = tid & 7u;
      let row_3 = from_row_2 + group_10;
      let safe_row_3 = min(row_3, end_row_3 - 1u);
      let start_3 = layer * 1085440u + safe_row_3 * 40u + 256000u;
      let start_4 = layer * 1085440u + safe_row_3 * 40u + 532480u;
      var acc_32: i32 = 0i;
      var acc_33: i32 = 0i;
      var acc_34: i32 = 0i;
      var acc_35: i32 = 0i;
      var acc_36: i32 = 0i;
      var acc_37: i32 = 0i;
      var acc_38: i32 = 0i;
      var acc_39: i32 = 0i;
      var acc_40: i32 = 0i;
      var acc_41: i32 = 0i;
      var acc_42: i32 = 0i;
      var acc_43: i32 = 0i;
      var acc_44: i32 = 0i;
      var acc_45: i32 = 0i;
      var acc_46: i32 = 0i;
      var acc_47: i32 = 0i;
      for (var i_10 = lane_of_row_7; i_10 < 40u; i_10 += 8u) {
        let w4_3 = w[start_3 + i_10];
        let w4_4 = w[start_4 + i_10];
        for (var plane_2 = 0u; plane_2 < 4u; plane_2 += 1u) {
          let shift_2 = 6u - plane_2 * 2u;
          let codes_12 = (w4_3.x >> shift_2) & 0x03030303u;
          let codes_13 = (w4_3.y >> shift_2) & 0x03030303u;
          let codes_14 = (w4_3.z >> shift_2) & 0x03030303u;
          let codes_15 = (w4_3.w >> shift_2) & 0x03030303u;
          let codes_16 = (w4_4.x >> shift_2) & 0x03030303u;
          let codes_17 = (w4_4.y >> shift_2) & 0x03030303u;
          let codes_18 = (w4_4.z >> shift_2) & 0x03030303u;
          let codes_19 = (w4_4.w >> shift_2) & 0x03030303u;
          let q4_16 = staged[i_10 + plane_2 * 40u + 0u];
          acc_32 += dot4I8Packed(codes_12, q4_16.x);
          acc_40 += dot4I8Packed(codes_16, q4_16.x);
          acc_32 += dot4I8Packed(codes_13, q4_16.y);
          acc_40 += dot4I8Packed(codes_17, q4_16.y);
          acc_32 += dot4I8Packed(codes_14, q4_16.z);
          acc_40 += dot4I8Packed(codes_18, q4_16.z);
          acc_32 += dot4I8Packed(codes_15, q4_16.w);
          acc_40 += dot4I8Packed(codes_19, q4_16.w);
          let q4_17 = staged[i_10 + plane_2 * 40u + 160u];
          acc_33 += dot4I8Packed(codes_12, q4_17.x);
          acc_41 += dot4I8Packed(codes_16, q4_17.x);
          acc_33 += dot4I8Packed(codes_13, q4_17.y);
          acc_41 += dot4I8Packed(codes_17, q4_17.y);
          acc_33 += dot4I8Packed(codes_14, q4_17.z);
          acc_41 += dot4I8Packed(codes_18, q4_17.z);
          acc_33 += dot4I8Packed(codes_15, q4_17.w);
          acc_41 += dot4I8Packed(codes_19, q4_17.w);
          let q4_18 = staged[i_10 + plane_2 * 40u + 320u];
          acc_34 += dot4I8Packed(codes_12, q4_18.x);
          acc_42 += dot4I8Packed(codes_16, q4_18.x);
          acc_34 += dot4I8Packed(codes_13, q4_18.y);
          acc_42 += dot4I8Packed(codes_17, q4_18.y);
          acc_34 += dot4I8Packed(codes_14, q4_18.z);
          acc_42 += dot4I8Packed(codes_18, q4_18.z);
          acc_34 += dot4I8Packed(codes_15, q4_18.w);
          acc_42 += dot4I8Packed(codes_19, q4_18.w);
          let q4_19 = staged[i_10 + plane_2 * 40u + 480u];
          acc_35 += dot4I8Packed(codes_12, q4_19.x);
          acc_43 += dot4I8Packed(codes_16, q4_19.x);
          acc_35 += dot4I8Packed(codes_13, q4_19.y);
          acc_43 += dot4I8Packed(codes_17, q4_19.y);
          acc_35 += dot4I8Packed(codes_14, q4_19.z);
          acc_43 += dot4I8Packed(codes_18, q4_19.z);
          acc_35 += dot4I8Packed(codes_15, q4_19.w);
          acc_43 += dot4I8Packed(codes_19, q4_19.w);
          let q4_20 = staged[i_10 + plane_2 * 40u + 640u];
          acc_36 += dot4I8Packed(codes_12, q4_20.x);
          acc_44 += dot4I8Packed(codes_16, q4_20.x);
          acc_36 += dot4I8Packed(codes_13, q4_20.y);
          acc_44 += dot4I8Packed(codes_17, q4_20.y);
          acc_36 += dot4I8Packed(codes_14, q4_20.z);
          acc_44 += dot4I8Packed(codes_18, q4_20.z);
          acc_36 += dot4I8Packed(codes_15, q4_20.w);
          acc_44 += dot4I8Packed(codes_19, q4_20.w);
          let q4_21 = staged[i_10 + plane_2 * 40u + 800u];
          acc_37 += dot4I8Packed(codes_12, q4_21.x);
          acc_45 += dot4I8Packed(codes_16, q4_21.x);
          acc_37 += dot4I8Packed(codes_13, q4_21.y);
          acc_45 += dot4I8Packed(codes_17, q4_21.y);
          acc_37 += dot4I8Packed(codes_14, q4_21.z);
          acc_45 += dot4I8Packed(codes_18, q4_21.z);
          acc_37 += dot4I8Packed(codes_15, q4_21.w);
          acc_45 += dot4I8Packed(codes_19, q4_21.w);
          let q4_22 = staged[i_10 + plane_2 * 40u + 960u];
          acc_38 += dot4I8Packed(codes_12, q4_22.x);
          acc_46 += dot4I8Packed(codes_16, q4_22.x);
          acc_38 += dot4I8Packed(codes_13, q4_22.y);
          acc_46 += dot4I8Packed(codes_17, q4_22.y);
          acc_38 += dot4I8Packed(codes_14, q4_22.z);
          acc_46 += dot4I8Packed(codes_18, q4_22.z);
          acc_38 += dot4I8Packed(codes_15, q4_22.w);
          acc_46 += dot4I8Packed(codes_19, q4_22.w);
          let q4_23 = staged[i_10 + plane_2 * 40u + 1120u];
          acc_39 += dot4I8Packed(codes_12, q4_23.x);
          acc_47 += dot4I8Packed(codes_16, q4_23.x);
          acc_39 += dot4I8Packed(codes_13, q4_23.y);
          acc_47 += dot4I8Packed(codes_17, q4_23.y);
          acc_39 += dot4I8Packed(codes_14, q4_23.z);
          acc_47 += dot4I8Packed(codes_18, q4_23.z);
          acc_39 += dot4I8Packed(codes_15, q4_23.w);
          acc_47 += dot4I8Packed(codes_19, q4_23.w);
        }
      }
      let mine_60 = acc_32;
      let mine_61 = acc_33;
      let mine_62 = acc_34;
      let mine_63 = acc_35;
      let mine_64 = acc_36;
      let mine_65 = acc_37;
      let mine_66 = acc_38;
      let mine_67 = acc_39;
      let is_upper_9 = (lane_of_row_7 & 4u) != 0u;
      let given_21 = select(mine_64, mine_60, is_upper_9);
      let stays_21 = select(mine_60, mine_64, is_upper_9);
      let sg_185 = subgroupShuffleXor(given_21, 4u);
      let sum_109 = stays_21 + sg_185;
      let given_22 = select(mine_65, mine_61, is_upper_9);
      let stays_22 = select(mine_61, mine_65, is_upper_9);
      let sg_186 = subgroupShuffleXor(given_22, 4u);
      let sum_110 = stays_22 + sg_186;
      let given_23 = select(mine_66, mine_62, is_upper_9);
      let stays_23 = select(mine_62, mine_66, is_upper_9);
      let sg_187 = subgroupShuffleXor(given_23, 4u);
      let sum_111 = stays_23 + sg_187;
      let given_24 = select(mine_67, mine_63, is_upper_9);
      let stays_24 = select(mine_63, mine_67, is_upper_9);
      let sg_188 = subgroupShuffleXor(given_24, 4u);
      let sum_112 = stays_24 + sg_188;
      let is_upper_10 = (lane_of_row_7 & 2u) != 0u;
      let given_25 = select(sum_111, sum_109, is_upper_10);
      let stays_25 = select(sum_109, sum_111, is_upper_10);
      let sg_189 = subgroupShuffleXor(given_25, 2u);
      let sum_113 = stays_25 + sg_189;
      let given_26 = select(sum_112, sum_110, is_upper_10);
      let stays_26 = select(sum_110, sum_112, is_upper_10);
      let sg_190 = subgroupShuffleXor(given_26, 2u);
      let sum_114 = stays_26 + sg_190;
      let is_upper_11 = (lane_of_row_7 & 1u) != 0u;
      let given_27 = select(sum_114, sum_113, is_upper_11);
      let stays_27 = select(sum_113, sum_114, is_upper_11);
      let sg_191 = subgroupShuffleXor(given_27, 1u);
      let sum_115 = stays_27 + sg_191;
      let mine_68 = acc_40;
      let mine_69 = acc_41;
      let mine_70 = acc_42;
      let mine_71 = acc_43;
      let mine_72 = acc_44;
      let mine_73 = acc_45;
      let mine_74 = acc_46;
      let mine_75 = acc_47;
      let is_upper_12 = (lane_of_row_7 & 4u) != 0u;
      let given_28 = select(mine_72, mine_68, is_upper_12);
      let stays_28 = select(mine_68, mine_72, is_upper_12);
      let sg_192 = subgroupShuffleXor(given_28, 4u);
      let sum_116 = stays_28 + sg_192;
      let given_29 = select(mine_73, mine_69, is_upper_12);
      let stays_29 = select(mine_69, mine_73, is_upper_12);
      let sg_193 = subgroupShuffleXor(given_29, 4u);
      let sum_117 = stays_29 + sg_193;
      let given_30 = select(mine_74, mine_70, is_upper_12);
      let stays_30 = select(mine_70, mine_74, is_upper_12);
      let sg_194 = subgroupShuffleXor(given_30, 4u);
      let sum_118 = stays_30 + sg_194;
      let given_31 = select(mine_75, mine_71, is_upper_12);
      let stays_31 = select(mine_71, mine_75, is_upper_12);
      let sg_195 = subgroupShuffleXor(given_31, 4u);
      let sum_119 = stays_31 + sg_195;
      let is_upper_13 = (lane_of_row_7 & 2u) != 0u;
      let given_32 = select(sum_118, sum_116, is_upper_13);
      let stays_32 = select(sum_116, sum_118, is_upper_13);
      let sg_196 = subgroupShuffleXor(given_32, 2u);
      let sum_120 = stays_32 + sg_196;
      let given_33 = select(sum_119, sum_117, is_upper_13);
      let stays_33 = select(sum_117, sum_119, is_upper_13);
      let sg_197 = subgroupShuffleXor(given_33, 2u);
      let sum_121 = stays_33 + sg_197;
      let is_upper_14 = (lane_of_row_7 & 1u) != 0u;
      let given_34 = select(sum_121, sum_120, is_upper_14);
      let stays_34 = select(sum_120, sum_121, is_upper_14);
      let sg_198 = subgroupShuffleXor(given_34, 1u);
      let sum_122 = stays_34 + sg_198;
      if (((lane_of_row_7 < 8u) && is_row) && (row_3 < end_row_3)) {
        let gate = f32(sum_115 - x_sum_of_row_2) / x_scale_5 * w_scale_4;
        let up = f32(sum_122 - x_sum_of_row_2) / x_scale_5 * w_scale_5;
        let positive = max(gate, 0f);
        let value_188 = positive * positive * up;
        let gain_4 = vectors[vectors_at + row_3 + 7680u];
        let vg_4 = value_188 * gain_4;
        squares_3 += value_188 * value_188;
        largest_3 = max(largest_3, abs(vg_4));
        let row_of_block_4 = (row_3 & 15u) * 32u + ((row_3 >> 4u) & 31u);
        let place_180 = (row_3 & 4294966784u) + row_of_block_4 + 21984u;
        let place_in_row_4 = place_180 + my_words;
        let value_bits_23 = bitcast<u32>(vg_4);
        let half_23 = select(2u, 0u, (value_bits_23 & 2139095040u) == 2139095040u);
        let rounded_23 = value_bits_23 + half_23;
        atomicStore(&words[place_in_row_4], (rounded_23 & 4294967292u) | tag);
      }
    }
    let my_squares_6 = squares_3;
    let my_largest_6 = largest_3;
    let sg_199 = subgroupShuffleXor(my_squares_6, 8u);
    let both_72 = my_squares_6 + sg_199;
    let sg_200 = subgroupShuffleXor(both_72, 16u);
    let both_73 = both_72 + sg_200;
    let sg_201 = subgroupShuffleXor(my_largest_6, 8u);
    let both_74 = max(my_largest_6, sg_201);
    let sg_202 = subgroupShuffleXor(both_74, 16u);
    let both_75 = max(both_74, sg_202);
    if ((tid % 32u) < 8u) {
      made_stats[my_row * 16u + tid / 32u] = vec2<f32>(both_73, both_75);
    }
    workgroupBarrier();
    let made_of_subgroup_3 = made_stats[tid & 127u];
    let squares_part_3 = made_of_subgroup_3.x;
    let sg_203 = subgroupShuffleXor(squares_part_3, 1u);
    let both_76 = squares_part_3 + sg_203;
    let sg_204 = subgroupShuffleXor(both_76, 2u);
    let both_77 = both_76 + sg_204;
    let sg_205 = subgroupShuffleXor(both_77, 4u);
    let both_78 = both_77 + sg_205;
    let sg_206 = subgroupShuffleXor(both_78, 8u);
    let both_79 = both_78 + sg_206;
    let largest_part_3 = made_of_subgroup_3.y;
    let sg_207 = subgroupShuffleXor(largest_part_3, 1u);
    let both_80 = max(largest_part_3, sg_207);
    let sg_208 = subgroupShuffleXor(both_80, 2u);
    let both_81 = max(both_80, sg_208);
    let sg_209 = subgroupShuffleXor(both_81, 4u);
    let both_82 = max(both_81, sg_209);
    let sg_210 = subgroupShuffleXor(both_82, 8u);
    let both_83 = max(both_82, sg_210);
    let made_row_3 = tid / 16u;
    if ((made_row_3 < n_rows) && ((tid % 16u) == 0u)) {
      let group_11 = wg.x;
      let stats_at_42 = made_row_3 * 2048u + group_11 + 281920u;
      let stats_at_43 = stats_at_42 + 1024u;
      let value_bits_24 = bitcast<u32>(both_79);
      let half_24 = select(2u, 0u, (value_bits_24 & 2139095040u) == 2139095040u);
      let rounded_24 = value_bits_24 + half_24;
      atomicStore(&words[stats_at_42], (rounded_24 & 4294967292u) | tag);
      let value_bits_25 = bitcast<u32>(both_83);
      let half_25 = select(2u, 0u, (value_bits_25 & 2139095040u) == 2139095040u);
      let rounded_25 = value_bits_25 + half_25;
      atomicStore(&words[stats_at_43], (rounded_25 & 4294967292u) | tag);
    }
    var squares_4: f32 = 0f;
    var largest_4: f32 = 0f;
    var row_squares_3: f32 = 0f;
    var row_largest_3: f32 = 0f;
    let unit_9 = lane_of_team + 0u;
    let safe_unit_9 = min(unit_9, 255u) + 0u;
    let place_181 = words_of_team + safe_unit_9 / 32u * 512u + safe_unit_9 % 32u + 21984u;
    let place_182 = place_181 + 32u;
    let place_183 = place_181 + 64u;
    let place_184 = place_181 + 96u;
    let place_185 = place_181 + 128u;
    let place_186 = place_181 + 160u;
    let place_187 = place_181 + 192u;
    let place_188 = place_181 + 224u;
    let place_189 = place_181 + 256u;
    let place_190 = place_181 + 288u;
    let place_191 = place_181 + 320u;
    let place_192 = place_181 + 352u;
    let place_193 = place_181 + 384u;
    let place_194 = place_181 + 416u;
    let place_195 = place_181 + 448u;
    let place_196 = place_181 + 480u;
    let unit_10 = lane_of_team + 64u;
    let safe_unit_10 = min(unit_10, 255u) + 0u;
    let place_197 = words_of_team + safe_unit_10 / 32u * 512u + safe_unit_10 % 32u + 21984u;
    let place_198 = place_197 + 32u;
    let place_199 = place_197 + 64u;
    let place_200 = place_197 + 96u;
    let place_201 = place_197 + 128u;
    let place_202 = place_197 + 160u;
    let place_203 = place_197 + 192u;
    let place_204 = place_197 + 224u;
    let place_205 = place_197 + 256u;
    let place_206 = place_197 + 288u;
    let place_207 = place_197 + 320u;
    let place_208 = place_197 + 352u;
    let place_209 = place_197 + 384u;
    let place_210 = place_197 + 416u;
    let place_211 = place_197 + 448u;
    let place_212 = place_197 + 480u;
    let unit_11 = lane_of_team + 128u;
    let safe_unit_11 = min(unit_11, 255u) + 0u;
    let place_213 = words_of_team + safe_unit_11 / 32u * 512u + safe_unit_11 % 32u + 21984u;
    let place_214 = place_213 + 32u;
    let place_215 = place_213 + 64u;
    let place_216 = place_213 + 96u;
    let place_217 = place_213 + 128u;
    let place_218 = place_213 + 160u;
    let place_219 = place_213 + 192u;
    let place_220 = place_213 + 224u;
    let place_221 = place_213 + 256u;
    let place_222 = place_213 + 288u;
    let place_223 = place_213 + 320u;
    let place_224 = place_213 + 352u;
    let place_225 = place_213 + 384u;
    let place_226 = place_213 + 416u;
    let place_227 = place_213 + 448u;
    let place_228 = place_213 + 480u;
    let first_part_3 = 0u;
    let part_18 = first_part_3 + lane_of_team + 0u;
    let safe_part_18 = min(part_18, n_wg.x - 1u);
    let stats_at_44 = row_of_team * 2048u + safe_part_18 + 281920u;
    let stats_at_45 = stats_at_44 + 1024u;
    let part_19 = first_part_3 + lane_of_team + 64u;
    let safe_part_19 = min(part_19, n_wg.x - 1u);
    let stats_at_46 = row_of_team * 2048u + safe_part_19 + 281920u;
    let stats_at_47 = stats_at_46 + 1024u;
    let part_20 = first_part_3 + lane_of_team + 128u;
    let safe_part_20 = min(part_20, n_wg.x - 1u);
    let stats_at_48 = row_of_team * 2048u + safe_part_20 + 281920u;
    let stats_at_49 = stats_at_48 + 1024u;
    var found_185: u32 = 0u;
    var found_186: u32 = 0u;
    var found_187: u32 = 0u;
    var found_188: u32 = 0u;
    var found_189: u32 = 0u;
    var found_190: u32 = 0u;
    var found_191: u32 = 0u;
    var found_192: u32 = 0u;
    var found_193: u32 = 0u;
    var found_194: u32 = 0u;
    var found_195: u32 = 0u;
    var found_196: u32 = 0u;
    var found_197: u32 = 0u;
    var found_198: u32 = 0u;
    var found_199: u32 = 0u;
    var found_200: u32 = 0u;
    var found_201: u32 = 0u;
    var found_202: u32 = 0u;
    var found_203: u32 = 0u;
    var found_204: u32 = 0u;
    var found_205: u32 = 0u;
    var found_206: u32 = 0u;
    var found_207: u32 = 0u;
    var found_208: u32 = 0u;
    var found_209: u32 = 0u;
    var found_210: u32 = 0u;
    var found_211: u32 = 0u;
    var found_212: u32 = 0u;
    var found_213: u32 = 0u;
    var found_214: u32 = 0u;
    var found_215: u32 = 0u;
    var found_216: u32 = 0u;
    var found_217: u32 = 0u;
    var found_218: u32 = 0u;
    var found_219: u32 = 0u;
    var found_220: u32 = 0u;
    var found_221: u32 = 0u;
    var found_222: u32 = 0u;
    var found_223: u32 = 0u;
    var found_224: u32 = 0u;
    var found_225: u32 = 0u;
    var found_226: u32 = 0u;
    var found_227: u32 = 0u;
    var found_228: u32 = 0u;
    var found_229: u32 = 0u;
    var found_230: u32 = 0u;
    var found_231: u32 = 0u;
    var found_232: u32 = 0u;
    var found_233: u32 = 0u;
    var found_234: u32 = 0u;
    var found_235: u32 = 0u;
    var found_236: u32 = 0u;
    var found_237: u32 = 0u;
    var found_238: u32 = 0u;
    var waits_8: u32 = 1u;
    let end_16 = patience;
    for (var early_8 = 0u; early_8 < end_16; early_8 += 1u) {
      let now_211 = (atomicLoad(&words[stats_at_49]));
      found_185 = now_211;
      var n_failed_16: u32 = 0u;
      if ((early_8 & 255u) == 255u) {
        let now_212 = (atomicLoad(&words[32u]));
        n_failed_16 = now_212;
      }
      let given_up_16 = n_failed_16 != 0u;
      if ((((found_185 ^ tag) & 3u) == 0u) || given_up_16) {
        break;
      }
    }
    let end_17 = patience;
    for (var tries_8 = 0u; tries_8 < end_17; tries_8 += 1u) {
      let now_213 = (atomicLoad(&words[place_181]));
      found_185 = now_213;
      let now_214 = (atomicLoad(&words[place_182]));
      found_186 = now_214;
      let now_215 = (atomicLoad(&words[place_183]));
      found_187 = now_215;
      let now_216 = (atomicLoad(&words[place_184]));
      found_188 = now_216;
      let now_217 = (atomicLoad(&words[place_185]));
      found_189 = now_217;
      let now_218 = (atomicLoad(&words[place_186]));
      found_190 = now_218;
      let now_219 = (atomicLoad(&words[place_187]));
      found_191 = now_219;
      let now_220 = (atomicLoad(&words[place_188]));
      found_192 = now_220;
      let now_221 = (atomicLoad(&words[place_189]));
      found_193 = now_221;
      let now_222 = (atomicLoad(&words[place_190]));
      found_194 = now_222;
      let now_223 = (atomicLoad(&words[place_191]));
      found_195 = now_223;
      let now_224 = (atomicLoad(&words[place_192]));
      found_196 = now_224;
      let now_225 = (atomicLoad(&words[place_193]));
      found_197 = now_225;
      let now_226 = (atomicLoad(&words[place_194]));
      found_198 = now_226;
      let now_227 = (atomicLoad(&words[place_195]));
      found_199 = now_227;
      let now_228 = (atomicLoad(&words[place_196]));
      found_200 = now_228;
      let now_229 = (atomicLoad(&words[place_197]));
      found_201 = now_229;
      let now_230 = (atomicLoad(&words[place_198]));
      found_202 = now_230;
      let now_231 = (atomicLoad(&words[place_199]));
      found_203 = now_231;
      let now_232 = (atomicLoad(&words[place_200]));
      found_204 = now_232;
      let now_233 = (atomicLoad(&words[place_201]));
      found_205 = now_233;
      let now_234 = (atomicLoad(&words[place_202]));
      found_206 = now_234;
      let now_235 = (atomicLoad(&words[place_203]));
      found_207 = now_235;
      let now_236 = (atomicLoad(&words[place_204]));
      found_208 = now_236;
      let now_237 = (atomicLoad(&words[place_205]));
      found_209 = now_237;
      let now_238 = (atomicLoad(&words[place_206]));
      found_210 = now_238;
      let now_239 = (atomicLoad(&words[place_207]));
      found_211 = now_239;
      let now_240 = (atomicLoad(&words[place_208]));
      found_212 = now_240;
      let now_241 = (atomicLoad(&words[place_209]));
      found_213 = now_241;
      let now_242 = (atomicLoad(&words[place_210]));
      found_214 = now_242;
      let now_243 = (atomicLoad(&words[place_211]));
      found_215 = now_243;
      let now_244 = (atomicLoad(&words[place_212]));
      found_216 = now_244;
      let now_245 = (atomicLoad(&words[place_213]));
      found_217 = now_245;
      let now_246 = (atomicLoad(&words[place_214]));
      found_218 = now_246;
      let now_247 = (atomicLoad(&words[place_215]));
      found_219 = now_247;
      let now_248 = (atomicLoad(&words[place_216]));
      found_220 = now_248;
      let now_249 = (atomicLoad(&words[place_217]));
      found_221 = now_249;
      let now_250 = (atomicLoad(&words[place_218]));
      found_222 = now_250;
      let now_251 = (atomicLoad(&words[place_219]));
      found_223 = now_251;
      let now_252 = (atomicLoad(&words[place_220]));
      found_224 = now_252;
      let now_253 = (atomicLoad(&words[place_221]));
      found_225 = now_253;
      let now_254 = (atomicLoad(&words[place_222]));
      found_226 = now_254;
      let now_255 = (atomicLoad(&words[place_223]));
      found_227 = now_255;
      let now_256 = (atomicLoad(&words[place_224]));
      found_228 = now_256;
      let now_257 = (atomicLoad(&words[place_225]));
      found_229 = now_257;
      let now_258 = (atomicLoad(&words[place_226]));
      found_230 = now_258;
      let now_259 = (atomicLoad(&words[place_227]));
      found_231 = now_259;
      let now_260 = (atomicLoad(&words[place_228]));
      found_232 = now_260;
      let now_261 = (atomicLoad(&words[stats_at_44]));
      found_233 = now_261;
      let now_262 = (atomicLoad(&words[stats_at_45]));
      found_234 = now_262;
      let now_263 = (atomicLoad(&words[stats_at_46]));
      found_235 = now_263;
      let now_264 = (atomicLoad(&words[stats_at_47]));
      found_236 = now_264;
      let now_265 = (atomicLoad(&words[stats_at_48]));
      found_237 = now_265;
      let now_266 = (atomicLoad(&words[stats_at_49]));
      found_238 = now_266;
      var odd_8: u32 = 0u;
      odd_8 = odd_8 | (found_185 ^ tag);
      odd_8 = odd_8 | (found_186 ^ tag);
      odd_8 = odd_8 | (found_187 ^ tag);
      odd_8 = odd_8 | (found_188 ^ tag);
      odd_8 = odd_8 | (found_189 ^ tag);
      odd_8 = odd_8 | (found_190 ^ tag);
      odd_8 = odd_8 | (found_191 ^ tag);
      odd_8 = odd_8 | (found_192 ^ tag);
      odd_8 = odd_8 | (found_193 ^ tag);
      odd_8 = odd_8 | (found_194 ^ tag);
      odd_8 = odd_8 | (found_195 ^ tag);
      odd_8 = odd_8 | (found_196 ^ tag);
      odd_8 = odd_8 | (found_197 ^ tag);
      odd_8 = odd_8 | (found_198 ^ tag);
      odd_8 = odd_8 | (found_199 ^ tag);
      odd_8 = odd_8 | (found_200 ^ tag);
      odd_8 = odd_8 | (found_201 ^ tag);
      odd_8 = odd_8 | (found_202 ^ tag);
      odd_8 = odd_8 | (found_203 ^ tag);
      odd_8 = odd_8 | (found_204 ^ tag);
      odd_8 = odd_8 | (found_205 ^ tag);
      odd_8 = odd_8 | (found_206 ^ tag);
      odd_8 = odd_8 | (found_207 ^ tag);
      odd_8 = odd_8 | (found_208 ^ tag);
      odd_8 = odd_8 | (found_209 ^ tag);
      odd_8 = odd_8 | (found_210 ^ tag);
      odd_8 = odd_8 | (found_211 ^ tag);
      odd_8 = odd_8 | (found_212 ^ tag);
      odd_8 = odd_8 | (found_213 ^ tag);
      odd_8 = odd_8 | (found_214 ^ tag);
      odd_8 = odd_8 | (found_215 ^ tag);
      odd_8 = odd_8 | (found_216 ^ tag);
      odd_8 = odd_8 | (found_217 ^ tag);
      odd_8 = odd_8 | (found_218 ^ tag);
      odd_8 = odd_8 | (found_219 ^ tag);
      odd_8 = odd_8 | (found_220 ^ tag);
      odd_8 = odd_8 | (found_221 ^ tag);
      odd_8 = odd_8 | (found_222 ^ tag);
      odd_8 = odd_8 | (found_223 ^ tag);
      odd_8 = odd_8 | (found_224 ^ tag);
      odd_8 = odd_8 | (found_225 ^ tag);
      odd_8 = odd_8 | (found_226 ^ tag);
      odd_8 = odd_8 | (found_227 ^ tag);
      odd_8 = odd_8 | (found_228 ^ tag);
      odd_8 = odd_8 | (found_229 ^ tag);
      odd_8 = odd_8 | (found_230 ^ tag);
      odd_8 = odd_8 | (found_231 ^ tag);
      odd_8 = odd_8 | (found_232 ^ tag);
      odd_8 = odd_8 | (found_233 ^ tag);
      odd_8 = odd_8 | (found_234 ^ tag);
      odd_8 = odd_8 | (found_235 ^ tag);
      odd_8 = odd_8 | (found_236 ^ tag);
      odd_8 = odd_8 | (found_237 ^ tag);
      odd_8 = odd_8 | (found_238 ^ tag);
      if ((odd_8 & 3u) == 0u) {
        waits_8 = 0u;
        break;
      }
      var n_failed_17: u32 = 0u;
      if ((tries_8 & 255u) == 255u) {
        let now_267 = (atomicLoad(&words[32u]));
        n_failed_17 = now_267;
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
    let value_189 = bitcast<f32>(found_185 & 4294967292u);
    let value_190 = bitcast<f32>(found_186 & 4294967292u);
    let value_191 = bitcast<f32>(found_187 & 4294967292u);
    let value_192 = bitcast<f32>(found_188 & 4294967292u);
    let value_193 = bitcast<f32>(found_189 & 4294967292u);
    let value_194 = bitcast<f32>(found_190 & 4294967292u);
    let value_195 = bitcast<f32>(found_191 & 4294967292u);
    let value_196 = bitcast<f32>(found_192 & 4294967292u);
    let value_197 = bitcast<f32>(found_193 & 4294967292u);
    let value_198 = bitcast<f32>(found_194 & 4294967292u);
    let value_199 = bitcast<f32>(found_195 & 4294967292u);
    let value_200 = bitcast<f32>(found_196 & 4294967292u);
    let value_201 = bitcast<f32>(found_197 & 4294967292u);
    let value_202 = bitcast<f32>(found_198 & 4294967292u);
    let value_203 = bitcast<f32>(found_199 & 4294967292u);
    let value_204 = bitcast<f32>(found_200 & 4294967292u);
    let value_205 = bitcast<f32>(found_201 & 4294967292u);
    let value_206 = bitcast<f32>(found_202 & 4294967292u);
    let value_207 = bitcast<f32>(found_203 & 4294967292u);
    let value_208 = bitcast<f32>(found_204 & 4294967292u);
    let value_209 = bitcast<f32>(found_205 & 4294967292u);
    let value_210 = bitcast<f32>(found_206 & 4294967292u);
    let value_211 = bitcast<f32>(found_207 & 4294967292u);
    let value_212 = bitcast<f32>(found_208 & 4294967292u);
    let value_213 = bitcast<f32>(found_209 & 4294967292u);
    let value_214 = bitcast<f32>(found_210 & 4294967292u);
    let value_215 = bitcast<f32>(found_211 & 4294967292u);
    let value_216 = bitcast<f32>(found_212 & 4294967292u);
    let value_217 = bitcast<f32>(found_213 & 4294967292u);
    let value_218 = bitcast<f32>(found_214 & 4294967292u);
    let value_219 = bitcast<f32>(found_215 & 4294967292u);
    let value_220 = bitcast<f32>(found_216 & 4294967292u);
    let value_221 = bitcast<f32>(found_217 & 4294967292u);
    let value_222 = bitcast<f32>(found_218 & 4294967292u);
    let value_223 = bitcast<f32>(found_219 & 4294967292u);
    let value_224 = bitcast<f32>(found_220 & 4294967292u);
    let value_225 = bitcast<f32>(found_221 & 4294967292u);
    let value_226 = bitcast<f32>(found_222 & 4294967292u);
    let value_227 = bitcast<f32>(found_223 & 4294967292u);
    let value_228 = bitcast<f32>(found_224 & 4294967292u);
    let value_229 = bitcast<f32>(found_225 & 4294967292u);
    let value_230 = bitcast<f32>(found_226 & 4294967292u);
    let value_231 = bitcast<f32>(found_227 & 4294967292u);
    let value_232 = bitcast<f32>(found_228 & 4294967292u);
    let value_233 = bitcast<f32>(found_229 & 4294967292u);
    let value_234 = bitcast<f32>(found_230 & 4294967292u);
    let value_235 = bitcast<f32>(found_231 & 4294967292u);
    let value_236 = bitcast<f32>(found_232 & 4294967292u);
    let value_237 = bitcast<f32>(found_233 & 4294967292u);
    let value_238 = bitcast<f32>(found_234 & 4294967292u);
    let value_239 = bitcast<f32>(found_235 & 4294967292u);
    let value_240 = bitcast<f32>(found_236 & 4294967292u);
    let value_241 = bitcast<f32>(found_237 & 4294967292u);
    let value_242 = bitcast<f32>(found_238 & 4294967292u);
    if (part_18 < n_wg.x) {
      row_squares_3 += value_237;
    }
    row_largest_3 = max(row_largest_3, value_238);
    if (part_19 < n_wg.x) {
      row_squares_3 += value_239;
    }
    row_largest_3 = max(row_largest_3, value_240);
    if (part_20 < n_wg.x) {
      row_squares_3 += value_241;
    }
    row_largest_3 = max(row_largest_3, value_242);
    for (var from_part_3 = 192u; from_part_3 < n_wg.x; from_part_3 += 192u) {
      let part_21 = from_part_3 + lane_of_team + 0u;
      let safe_part_21 = min(part_21, n_wg.x - 1u);
      let stats_at_50 = row_of_team * 2048u + safe_part_21 + 281920u;
      let stats_at_51 = stats_at_50 + 1024u;
      let part_22 = from_part_3 + lane_of_team + 64u;
      let safe_part_22 = min(part_22, n_wg.x - 1u);
      let stats_at_52 = row_of_team * 2048u + safe_part_22 + 281920u;
      let stats_at_53 = stats_at_52 + 1024u;
      let part_23 = from_part_3 + lane_of_team + 128u;
      let safe_part_23 = min(part_23, n_wg.x - 1u);
      let stats_at_54 = row_of_team * 2048u + safe_part_23 + 281920u;
      let stats_at_55 = stats_at_54 + 1024u;
      var found_239: u32 = 0u;
      var found_240: u32 = 0u;
      var found_241: u32 = 0u;
      var found_242: u32 = 0u;
      var found_243: u32 = 0u;
      var found_244: u32 = 0u;
      var waits_9: u32 = 1u;
      let end_18 = patience;
      for (var early_9 = 0u; early_9 < end_18; early_9 += 1u) {
        let now_268 = (atomicLoad(&words[stats_at_55]));
        found_239 = now_268;
        var n_failed_18: u32 = 0u;
        if ((early_9 & 255u) == 255u) {
          let now_269 = (atomicLoad(&words[32u]));
          n_failed_18 = now_269;
        }
        let given_up_18 = n_failed_18 != 0u;
        if ((((found_239 ^ tag) & 3u) == 0u) || given_up_18) {
          break;
        }
      }
      let end_19 = patience;
      for (var tries_9 = 0u; tries_9 < end_19; tries_9 += 1u) {
        let now_270 = (atomicLoad(&words[stats_at_50]));
        found_239 = now_270;
        let now_271 = (atomicLoad(&words[stats_at_51]));
        found_240 = now_271;
        let now_272 = (atomicLoad(&words[stats_at_52]));
        found_241 = now_272;
        let now_273 = (atomicLoad(&words[stats_at_53]));
        found_242 = now_273;
        let now_274 = (atomicLoad(&words[stats_at_54]));
        found_243 = now_274;
        let now_275 = (atomicLoad(&words[stats_at_55]));
        found_244 = now_275;
        var odd_9: u32 = 0u;
        odd_9 = odd_9 | (found_239 ^ tag);
        odd_9 = odd_9 | (found_240 ^ tag);
        odd_9 = odd_9 | (found_241 ^ tag);
        odd_9 = odd_9 | (found_242 ^ tag);
        odd_9 = odd_9 | (found_243 ^ tag);
        odd_9 = odd_9 | (found_244 ^ tag);
        if ((odd_9 & 3u) == 0u) {
          waits_9 = 0u;
          break;
        }
        var n_failed_19: u32 = 0u;
        if ((tries_9 & 255u) == 255u) {
          let now_276 = (atomicLoad(&words[32u]));
          n_failed_19 = now_276;
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
      let value_243 = bitcast<f32>(found_239 & 4294967292u);
      let value_244 = bitcast<f32>(found_240 & 4294967292u);
      let value_245 = bitcast<f32>(found_241 & 4294967292u);
      let value_246 = bitcast<f32>(found_242 & 4294967292u);
      let value_247 = bitcast<f32>(found_243 & 4294967292u);
      let value_248 = bitcast<f32>(found_244 & 4294967292u);
      if (part_21 < n_wg.x) {
        row_squares_3 += value_243;
      }
      row_largest_3 = max(row_largest_3, value_244);
      if (part_22 < n_wg.x) {
        row_squares_3 += value_245;
      }
      row_largest_3 = max(row_largest_3, value_246);
      if (part_23 < n_wg.x) {
        row_squares_3 += value_247;
      }
      row_largest_3 = max(row_largest_3, value_248);
    }
    let my_squares_7 = row_squares_3;
    let my_largest_7 = row_largest_3;
    let sg_211 = subgroupShuffleXor(my_squares_7, 1u);
    let both_84 = my_squares_7 + sg_211;
    let sg_212 = subgroupShuffleXor(both_84, 2u);
    let both_85 = both_84 + sg_212;
    let sg_213 = subgroupShuffleXor(both_85, 4u);
    let both_86 = both_85 + sg_213;
    let sg_214 = subgroupShuffleXor(both_86, 8u);
    let both_87 = both_86 + sg_214;
    let sg_215 = subgroupShuffleXor(both_87, 16u);
    let both_88 = both_87 + sg_215;
    let sg_216 = subgroupShuffleXor(my_largest_7, 1u);
    let both_89 = max(my_largest_7, sg_216);
    let sg_217 = subgroupShuffleXor(both_89, 2u);
    let both_90 = max(both_89, sg_217);
    let sg_218 = subgroupShuffleXor(both_90, 4u);
    let both_91 = max(both_90, sg_218);
    let sg_219 = subgroupShuffleXor(both_91, 8u);
    let both_92 = max(both_91, sg_219);
    let sg_220 = subgroupShuffleXor(both_92, 16u);
    let both_93 = max(both_92, sg_220);
    if ((tid % 32u) == 0u) {
      row_stats[tid / 32u] = vec2<f32>(both_88, both_93);
    }
    workgroupBarrier();
    var all_squares_3: f32 = 0f;
    var all_largest_3: f32 = 0f;
    let stats_part_6 = row_stats[team * 2u + 0u];
    all_squares_3 += stats_part_6.x;
    all_largest_3 = max(all_largest_3, stats_part_6.y);
    let stats_part_7 = row_stats[team * 2u + 1u];
    all_squares_3 += stats_part_7.x;
    all_largest_3 = max(all_largest_3, stats_part_7.y);
    let squares_of_row_3 = all_squares_3;
    let largest_of_row_3 = all_largest_3;
    let factor_3 = 1f / sqrt(squares_of_row_3 / 6912f + 1e-05f);
    let finite_scale_3 = 127f / max(largest_of_row_3 * factor_3, 1e-05f);
    let factor_and_scale_3 = factor_3 * finite_scale_3;
    let factor_bits_3 = bitcast<u32>(factor_3);
    let x_scale_6 = select(finite_scale_3, factor_3, (factor_bits_3 - 1u) >= 2139095039u);
    if (lane_of_team == 0u) {
      row_scales[team] = x_scale_6;
    }
    var q_sum_3: i32 = 0i;
    if (unit_9 < 256u) {
      let ones_9 = 16843009u;
      let vg4_36 = vec4<f32>(value_189, value_190, value_191, value_192);
      let moved_36 = vg4_36 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_36 = bitcast<vec4<i32>>(moved_36);
      let packed_36 = pack4xI8(q_36);
      q_sum_3 += dot4I8Packed(packed_36, ones_9);
      let vg4_37 = vec4<f32>(value_193, value_194, value_195, value_196);
      let moved_37 = vg4_37 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_37 = bitcast<vec4<i32>>(moved_37);
      let packed_37 = pack4xI8(q_37);
      q_sum_3 += dot4I8Packed(packed_37, ones_9);
      let vg4_38 = vec4<f32>(value_197, value_198, value_199, value_200);
      let moved_38 = vg4_38 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_38 = bitcast<vec4<i32>>(moved_38);
      let packed_38 = pack4xI8(q_38);
      q_sum_3 += dot4I8Packed(packed_38, ones_9);
      let vg4_39 = vec4<f32>(value_201, value_202, value_203, value_204);
      let moved_39 = vg4_39 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_39 = bitcast<vec4<i32>>(moved_39);
      let packed_39 = pack4xI8(q_39);
      q_sum_3 += dot4I8Packed(packed_39, ones_9);
      let staged_at_9 = team * 256u + ((unit_9 >> 1u) & 3u) * 64u + ((unit_9 >> 3u) * 2u + (unit_9 & 1u));
      staged[staged_at_9] = vec4<u32>(packed_36, packed_37, packed_38, packed_39);
    }
    if (unit_10 < 256u) {
      let ones_10 = 16843009u;
      let vg4_40 = vec4<f32>(value_205, value_206, value_207, value_208);
      let moved_40 = vg4_40 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_40 = bitcast<vec4<i32>>(moved_40);
      let packed_40 = pack4xI8(q_40);
      q_sum_3 += dot4I8Packed(packed_40, ones_10);
      let vg4_41 = vec4<f32>(value_209, value_210, value_211, value_212);
      let moved_41 = vg4_41 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_41 = bitcast<vec4<i32>>(moved_41);
      let packed_41 = pack4xI8(q_41);
      q_sum_3 += dot4I8Packed(packed_41, ones_10);
      let vg4_42 = vec4<f32>(value_213, value_214, value_215, value_216);
      let moved_42 = vg4_42 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_42 = bitcast<vec4<i32>>(moved_42);
      let packed_42 = pack4xI8(q_42);
      q_sum_3 += dot4I8Packed(packed_42, ones_10);
      let vg4_43 = vec4<f32>(value_217, value_218, value_219, value_220);
      let moved_43 = vg4_43 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_43 = bitcast<vec4<i32>>(moved_43);
      let packed_43 = pack4xI8(q_43);
      q_sum_3 += dot4I8Packed(packed_43, ones_10);
      let staged_at_10 = team * 256u + ((unit_10 >> 1u) & 3u) * 64u + ((unit_10 >> 3u) * 2u + (unit_10 & 1u));
      staged[staged_at_10] = vec4<u32>(packed_40, packed_41, packed_42, packed_43);
    }
    if (unit_11 < 256u) {
      let ones_11 = 16843009u;
      let vg4_44 = vec4<f32>(value_221, value_222, value_223, value_224);
      let moved_44 = vg4_44 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_44 = bitcast<vec4<i32>>(moved_44);
      let packed_44 = pack4xI8(q_44);
      q_sum_3 += dot4I8Packed(packed_44, ones_11);
      let vg4_45 = vec4<f32>(value_225, value_226, value_227, value_228);
      let moved_45 = vg4_45 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_45 = bitcast<vec4<i32>>(moved_45);
      let packed_45 = pack4xI8(q_45);
      q_sum_3 += dot4I8Packed(packed_45, ones_11);
      let vg4_46 = vec4<f32>(value_229, value_230, value_231, value_232);
      let moved_46 = vg4_46 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_46 = bitcast<vec4<i32>>(moved_46);
      let packed_46 = pack4xI8(q_46);
      q_sum_3 += dot4I8Packed(packed_46, ones_11);
      let vg4_47 = vec4<f32>(value_233, value_234, value_235, value_236);
      let moved_47 = vg4_47 * factor_and_scale_3 + vec4<f32>(12582912f);
      let q_47 = bitcast<vec4<i32>>(moved_47);
      let packed_47 = pack4xI8(q_47);
      q_sum_3 += dot4I8Packed(packed_47, ones_11);
      let staged_at_11 = team * 256u + ((unit_11 >> 1u) & 3u) * 64u + ((unit_11 >> 3u) * 2u + (unit_11 & 1u));
      staged[staged_at_11] = vec4<u32>(packed_44, packed_45, packed_46, packed_47);
    }
    for (var from_unit = 192u; from_unit < 256u; from_unit += 64u) {
      let unit_12 = from_unit + lane_of_team;
      let safe_unit_12 = min(unit_12, 255u) + 0u;
      let place_229 = words_of_team + safe_unit_12 / 32u * 512u + safe_unit_12 % 32u + 21984u;
      let place_230 = place_229 + 32u;
      let place_231 = place_229 + 64u;
      let place_232 = place_229 + 96u;
      let place_233 = place_229 + 128u;
      let place_234 = place_229 + 160u;
      let place_235 = place_229 + 192u;
      let place_236 = place_229 + 224u;
      let place_237 = place_229 + 256u;
      let place_238 = place_229 + 288u;
      let place_239 = place_229 + 320u;
      let place_240 = place_229 + 352u;
      let place_241 = place_229 + 384u;
      let place_242 = place_229 + 416u;
      let place_243 = place_229 + 448u;
      let place_244 = place_229 + 480u;
      var found_245: u32 = 0u;
      var found_246: u32 = 0u;
      var found_247: u32 = 0u;
      var found_248: u32 = 0u;
      var found_249: u32 = 0u;
      var found_250: u32 = 0u;
      var found_251: u32 = 0u;
      var found_252: u32 = 0u;
      var found_253: u32 = 0u;
      var found_254: u32 = 0u;
      var found_255: u32 = 0u;
      var found_256: u32 = 0u;
      var found_257: u32 = 0u;
      var found_258: u32 = 0u;
      var found_259: u32 = 0u;
      var found_260: u32 = 0u;
      var waits_10: u32 = 1u;
      let end_20 = patience;
      for (var tries_10 = 0u; tries_10 < end_20; tries_10 += 1u) {
        let now_277 = (atomicLoad(&words[place_229]));
        found_245 = now_277;
        let now_278 = (atomicLoad(&words[place_230]));
        found_246 = now_278;
        let now_279 = (atomicLoad(&words[place_231]));
        found_247 = now_279;
        let now_280 = (atomicLoad(&words[place_232]));
        found_248 = now_280;
        let now_281 = (atomicLoad(&words[place_233]));
        found_249 = now_281;
        let now_282 = (atomicLoad(&words[place_234]));
        found_250 = now_282;
        let now_283 = (atomicLoad(&words[place_235]));
        found_251 = now_283;
        let now_284 = (atomicLoad(&words[place_236]));
        found_252 = now_284;
        let now_285 = (atomicLoad(&words[place_237]));
        found_253 = now_285;
        let now_286 = (atomicLoad(&words[place_238]));
        found_254 = now_286;
        let now_287 = (atomicLoad(&words[place_239]));
        found_255 = now_287;
        let now_288 = (atomicLoad(&words[place_240]));
        found_256 = now_288;
        let now_289 = (atomicLoad(&words[place_241]));
        found_257 = now_289;
        let now_290 = (atomicLoad(&words[place_242]));
        found_258 = now_290;
        let now_291 = (atomicLoad(&words[place_243]));
        found_259 = now_291;
        let now_292 = (atomicLoad(&words[place_244]));
        found_260 = now_292;
        var odd_10: u32 = 0u;
        odd_10 = odd_10 | (found_245 ^ tag);
        odd_10 = odd_10 | (found_246 ^ tag);
        odd_10 = odd_10 | (found_247 ^ tag);
        odd_10 = odd_10 | (found_248 ^ tag);
        odd_10 = odd_10 | (found_249 ^ tag);
        odd_10 = odd_10 | (found_250 ^ tag);
        odd_10 = odd_10 | (found_251 ^ tag);
        odd_10 = odd_10 | (found_252 ^ tag);
        odd_10 = odd_10 | (found_253 ^ tag);
        odd_10 = odd_10 | (found_254 ^ tag);
        odd_10 = odd_10 | (found_255 ^ tag);
        odd_10 = odd_10 | (found_256 ^ tag);
        odd_10 = odd_10 | (found_257 ^ tag);
        odd_10 = odd_10 | (found_258 ^ tag);
        odd_10 = odd_10 | (found_259 ^ tag);
        odd_10 = odd_10 | (found_260 ^ tag);
        if ((odd_10 & 3u) == 0u) {
          waits_10 = 0u;
          break;
        }
        var n_failed_20: u32 = 0u;
        if ((tries_10 & 255u) == 255u) {
          let now_293 = (atomicLoad(&words[32u]));
          n_failed_20 = now_293;
        }
        let given_up_20 = n_failed_20 != 0u;
        if (given_up_20) {
          break;
        }
      }
      if (waits_10 != 0u) {
        if (patience != 1u) {
          let old_10 = (atomicAdd(&words[32u], 1u));
        }
        patience = 1u;
      }
      let value_249 = bitcast<f32>(found_245 & 4294967292u);
      let value_250 = bitcast<f32>(found_246 & 4294967292u);
      let value_251 = bitcast<f32>(found_247 & 4294967292u);
      let value_252 = bitcast<f32>(found_248 & 4294967292u);
      let value_253 = bitcast<f32>(found_249 & 4294967292u);
      let value_254 = bitcast<f32>(found_250 & 4294967292u);
      let value_255 = bitcast<f32>(found_251 & 4294967292u);
      let value_256 = bitcast<f32>(found_252 & 4294967292u);
      let value_257 = bitcast<f32>(found_253 & 4294967292u);
      let value_258 = bitcast<f32>(found_254 & 4294967292u);
      let value_259 = bitcast<f32>(found_255 & 4294967292u);
      let value_260 = bitcast<f32>(found_256 & 4294967292u);
      let value_261 = bitcast<f32>(found_257 & 4294967292u);
      let value_262 = bitcast<f32>(found_258 & 4294967292u);
      let value_263 = bitcast<f32>(found_259 & 4294967292u);
      let value_264 = bitcast<f32>(found_260 & 4294967292u);
      if (unit_12 < 256u) {
        let ones_12 = 16843009u;
        let vg4_48 = vec4<f32>(value_249, value_250, value_251, value_252);
        let moved_48 = vg4_48 * factor_and_scale_3 + vec4<f32>(12582912f);
        let q_48 = bitcast<vec4<i32>>(moved_48);
        let packed_48 = pack4xI8(q_48);
        q_sum_3 += dot4I8Packed(packed_48, ones_12);
        let vg4_49 = vec4<f32>(value_253, value_254, value_255, value_256);
        let moved_49 = vg4_49 * factor_and_scale_3 + vec4<f32>(12582912f);
        let q_49 = bitcast<vec4<i32>>(moved_49);
        let packed_49 = pack4xI8(q_49);
        q_sum_3 += dot4I8Packed(packed_49, ones_12);
        let vg4_50 = vec4<f32>(value_257, value_258, value_259, value_260);
        let moved_50 = vg4_50 * factor_and_scale_3 + vec4<f32>(12582912f);
        let q_50 = bitcast<vec4<i32>>(moved_50);
        let packed_50 = pack4xI8(q_50);
        q_sum_3 += dot4I8Packed(packed_50, ones_12);
        let vg4_51 = vec4<f32>(value_261, value_262, value_263, value_264);
        let moved_51 = vg4_51 * factor_and_scale_3 + vec4<f32>(12582912f);
        let q_51 = bitcast<vec4<i32>>(moved_51);
        let packed_51 = pack4xI8(q_51);
        q_sum_3 += dot4I8Packed(packed_51, ones_12);
        let staged_at_12 = team * 256u + ((unit_12 >> 1u) & 3u) * 64u + ((unit_12 >> 3u) * 2u + (unit_12 & 1u));
        staged[staged_at_12] = vec4<u32>(packed_48, packed_49, packed_50, packed_51);
      }
    }
    workgroupBarrier();
    for (var from_row_3 = first_row_4; from_row_3 < end_row_4; from_row_3 += 32u) {
      let group_12 = tid / 32u;
      let lane_of_row_8 = tid & 31u;
      let row_4 = from_row_3 + group_12;
      let row_5 = row_4 + 16u;
      let safe_row_4 = min(row_4, end_row_4 - 1u);
      let start_5 = layer * 1085440u + safe_row_4 * 108u + 808960u;
      let safe_row_5 = min(row_5, end_row_4 - 1u);
      let start_6 = layer * 1085440u + safe_row_5 * 108u + 808960u;
      var acc_48: i32 = 0i;
      var acc_49: i32 = 0i;
      var acc_50: i32 = 0i;
      var acc_51: i32 = 0i;
      var acc_52: i32 = 0i;
      var acc_53: i32 = 0i;
      var acc_54: i32 = 0i;
      var acc_55: i32 = 0i;
      var acc_56: i32 = 0i;
      var acc_57: i32 = 0i;
      var acc_58: i32 = 0i;
      var acc_59: i32 = 0i;
      var acc_60: i32 = 0i;
      var acc_61: i32 = 0i;
      var acc_62: i32 = 0i;
      var acc_63: i32 = 0i;
      for (var i_11 = lane_of_row_8; i_11 < 64u; i_11 += 32u) {
        let w4_5 = w[start_5 + i_11];
        let w4_6 = w[start_6 + i_11];
        for (var plane_3 = 0u; plane_3 < 4u; plane_3 += 1u) {
          let shift_3 = 6u - plane_3 * 2u;
          let codes_20 = (w4_5.x >> shift_3) & 0x03030303u;
          let codes_21 = (w4_5.y >> shift_3) & 0x03030303u;
          let codes_22 = (w4_5.z >> shift_3) & 0x03030303u;
          let codes_23 = (w4_5.w >> shift_3) & 0x03030303u;
          let codes_24 = (w4_6.x >> shift_3) & 0x03030303u;
          let codes_25 = (w4_6.y >> shift_3) & 0x03030303u;
          let codes_26 = (w4_6.z >> shift_3) & 0x03030303u;
          let codes_27 = (w4_6.w >> shift_3) & 0x03030303u;
          let q4_24 = staged[i_11 + plane_3 * 64u + 0u];
          acc_48 += dot4I8Packed(codes_20, q4_24.x);
          acc_56 += dot4I8Packed(codes_24, q4_24.x);
          acc_48 += dot4I8Packed(codes_21, q4_24.y);
          acc_56 += dot4I8Packed(codes_25, q4_24.y);
          acc_48 += dot4I8Packed(codes_22, q4_24.z);
          acc_56 += dot4I8Packed(codes_26, q4_24.z);
          acc_48 += dot4I8Packed(codes_23, q4_24.w);
          acc_56 += dot4I8Packed(codes_27, q4_24.w);
          let q4_25 = staged[i_11 + plane_3 * 64u + 256u];
          acc_49 += dot4I8Packed(codes_20, q4_25.x);
          acc_57 += dot4I8Packed(codes_24, q4_25.x);
          acc_49 += dot4I8Packed(codes_21, q4_25.y);
          acc_57 += dot4I8Packed(codes_25, q4_25.y);
          acc_49 += dot4I8Packed(codes_22, q4_25.z);
          acc_57 += dot4I8Packed(codes_26, q4_25.z);
          acc_49 += dot4I8Packed(codes_23, q4_25.w);
          acc_57 += dot4I8Packed(codes_27, q4_25.w);
          let q4_26 = staged[i_11 + plane_3 * 64u + 512u];
          acc_50 += dot4I8Packed(codes_20, q4_26.x);
          acc_58 += dot4I8Packed(codes_24, q4_26.x);
          acc_50 += dot4I8Packed(codes_21, q4_26.y);
          acc_58 += dot4I8Packed(codes_25, q4_26.y);
          acc_50 += dot4I8Packed(codes_22, q4_26.z);
          acc_58 += dot4I8Packed(codes_26, q4_26.z);
          acc_50 += dot4I8Packed(codes_23, q4_26.w);
          acc_58 += dot4I8Packed(codes_27, q4_26.w);
          let q4_27 = staged[i_11 + plane_3 * 64u + 768u];
          acc_51 += dot4I8Packed(codes_20, q4_27.x);
          acc_59 += dot4I8Packed(codes_24, q4_27.x);
          acc_51 += dot4I8Packed(codes_21, q4_27.y);
          acc_59 += dot4I8Packed(codes_25, q4_27.y);
          acc_51 += dot4I8Packed(codes_22, q4_27.z);
          acc_59 += dot4I8Packed(codes_26, q4_27.z);
          acc_51 += dot4I8Packed(codes_23, q4_27.w);
          acc_59 += dot4I8Packed(codes_27, q4_27.w);
          let q4_28 = staged[i_11 + plane_3 * 64u + 1024u];
          acc_52 += dot4I8Packed(codes_20, q4_28.x);
          acc_60 += dot4I8Packed(codes_24, q4_28.x);
          acc_52 += dot4I8Packed(codes_21, q4_28.y);
          acc_60 += dot4I8Packed(codes_25, q4_28.y);
          acc_52 += dot4I8Packed(codes_22, q4_28.z);
          acc_60 += dot4I8Packed(codes_26, q4_28.z);
          acc_52 += dot4I8Packed(codes_23, q4_28.w);
          acc_60 += dot4I8Packed(codes_27, q4_28.w);
          let q4_29 = staged[i_11 + plane_3 * 64u + 1280u];
          acc_53 += dot4I8Packed(codes_20, q4_29.x);
          acc_61 += dot4I8Packed(codes_24, q4_29.x);
          acc_53 += dot4I8Packed(codes_21, q4_29.y);
          acc_61 += dot4I8Packed(codes_25, q4_29.y);
          acc_53 += dot4I8Packed(codes_22, q4_29.z);
          acc_61 += dot4I8Packed(codes_26, q4_29.z);
          acc_53 += dot4I8Packed(codes_23, q4_29.w);
          acc_61 += dot4I8Packed(codes_27, q4_29.w);
          let q4_30 = staged[i_11 + plane_3 * 64u + 1536u];
          acc_54 += dot4I8Packed(codes_20, q4_30.x);
          acc_62 += dot4I8Packed(codes_24, q4_30.x);
          acc_54 += dot4I8Packed(codes_21, q4_30.y);
          acc_62 += dot4I8Packed(codes_25, q4_30.y);
          acc_54 += dot4I8Packed(codes_22, q4_30.z);
          acc_62 += dot4I8Packed(codes_26, q4_30.z);
          acc_54 += dot4I8Packed(codes_23, q4_30.w);
          acc_62 += dot4I8Packed(codes_27, q4_30.w);
          let q4_31 = staged[i_11 + plane_3 * 64u + 1792u];
          acc_55 += dot4I8Packed(codes_20, q4_31.x);
          acc_63 += dot4I8Packed(codes_24, q4_31.x);
          acc_55 += dot4I8Packed(codes_21, q4_31.y);
          acc_63 += dot4I8Packed(codes_25, q4_31.y);
          acc_55 += dot4I8Packed(codes_22, q4_31.z);
          acc_63 += dot4I8Packed(codes_26, q4_31.z);
          acc_55 += dot4I8Packed(codes_23, q4_31.w);
          acc_63 += dot4I8Packed(codes_27, q4_31.w);
        }
      }
      let mine_76 = acc_48;
      let mine_77 = acc_49;
      let mine_78 = acc_50;
      let mine_79 = acc_51;
      let mine_80 = acc_52;
      let mine_81 = acc_53;
      let mine_82 = acc_54;
      let mine_83 = acc_55;
      let is_upper_15 = (lane_of_row_8 & 4u) != 0u;
      let given_35 = select(mine_80, mine_76, is_upper_15);
      let stays_35 = select(mine_76, mine_80, is_upper_15);
      let sg_221 = subgroupShuffleXor(given_35, 4u);
      let sum_123 = stays_35 + sg_221;
      let given_36 = select(mine_81, mine_77, is_upper_15);
      let stays_36 = select(mine_77, mine_81, is_upper_15);
      let sg_222 = subgroupShuffleXor(given_36, 4u);
      let sum_124 = stays_36 + sg_222;
      let given_37 = select(mine_82, mine_78, is_upper_15);
      let stays_37 = select(mine_78, mine_82, is_upper_15);
      let sg_223 = subgroupShuffleXor(given_37, 4u);
      let sum_125 = stays_37 + sg_223;
      let given_38 = select(mine_83, mine_79, is_upper_15);
      let stays_38 = select(mine_79, mine_83, is_upper_15);
      let sg_224 = subgroupShuffleXor(given_38, 4u);
      let sum_126 = stays_38 + sg_224;
      let is_upper_16 = (lane_of_row_8 & 2u) != 0u;
      let given_39 = select(sum_125, sum_123, is_upper_16);
      let stays_39 = select(sum_123, sum_125, is_upper_16);
      let sg_225 = subgroupShuffleXor(given_39, 2u);
      let sum_127 = stays_39 + sg_225;
      let given_40 = select(sum_126, sum_124, is_upper_16);
      let stays_40 = select(sum_124, sum_126, is_upper_16);
      let sg_226 = subgroupShuffleXor(given_40, 2u);
      let sum_128 = stays_40 + sg_226;
      let is_upper_17 = (lane_of_row_8 & 1u) != 0u;
      let given_41 = select(sum_128, sum_127, is_upper_17);
      let stays_41 = select(sum_127, sum_128, is_upper_17);
      let sg_227 = subgroupShuffleXor(given_41, 1u);
      let sum_129 = stays_41 + sg_227;
      let sg_228 = subgroupShuffleXor(sum_129, 8u);
      let sum_130 = sum_129 + sg_228;
      let sg_229 = subgroupShuffleXor(sum_130, 16u);
      let sum_131 = sum_130 + sg_229;
      let mine_84 = acc_56;
      let mine_85 = acc_57;
      let mine_86 = acc_58;
      let mine_87 = acc_59;
      let mine_88 = acc_60;
      let mine_89 = acc_61;
      let mine_90 = acc_62;
      let mine_91 = acc_63;
      let is_upper_18 = (lane_of_row_8 & 4u) != 0u;
      let given_42 = select(mine_88, mine_84, is_upper_18);
      let stays_42 = select(mine_84, mine_88, is_upper_18);
      let sg_230 = subgroupShuffleXor(given_42, 4u);
      let sum_132 = stays_42 + sg_230;
      let given_43 = select(mine_89, mine_85, is_upper_18);
      let stays_43 = select(mine_85, mine_89, is_upper_18);
      let sg_231 = subgroupShuffleXor(given_43, 4u);
      let sum_133 = stays_43 + sg_231;
      let given_44 = select(mine_90, mine_86, is_upper_18);
      let stays_44 = select(mine_86, mine_90, is_upper_18);
      let sg_232 = subgroupShuffleXor(given_44, 4u);
      let sum_134 = stays_44 + sg_232;
      let given_45 = select(mine_91, mine_87, is_upper_18);
      let stays_45 = select(mine_87, mine_91, is_upper_18);
      let sg_233 = subgroupShuffleXor(given_45, 4u);
      let sum_135 = stays_45 + sg_233;
      let is_upper_19 = (lane_of_row_8 & 2u) != 0u;
      let given_46 = select(sum_134, sum_132, is_upper_19);
      let stays_46 = select(sum_132, sum_134, is_upper_19);
      let sg_234 = subgroupShuffleXor(given_46, 2u);
      let sum_136 = stays_46 + sg_234;
      let given_47 = select(sum_135, sum_133, is_upper_19);
      let stays_47 = select(sum_133, sum_135, is_upper_19);
      let sg_235 = subgroupShuffleXor(given_47, 2u);
      let sum_137 = stays_47 + sg_235;
      let is_upper_20 = (lane_of_row_8 & 1u) != 0u;
      let given_48 = select(sum_137, sum_136, is_upper_20);
      let stays_48 = select(sum_136, sum_137, is_upper_20);
      let sg_236 = subgroupShuffleXor(given_48, 1u);
      let sum_138 = stays_48 + sg_236;
      let sg_237 = subgroupShuffleXor(sum_138, 8u);
      let sum_139 = sum_138 + sg_237;
      let sg_238 = subgroupShuffleXor(sum_139, 16u);
      let sum_140 = sum_139 + sg_238;
      if (((lane_of_row_8 < 8u) && is_row) && (row_4 < end_row_4)) {
        let unfinished_at = (row_4 - first_row_4) * 8u + my_row;
        sums[unfinished_at] = f32(sum_131);
      }
      if (((lane_of_row_8 < 8u) && is_row) && (row_5 < end_row_4)) {
        let unfinished_at_1 = (row_5 - first_row_4) * 8u + my_row;
        sums[unfinished_at_1] = f32(sum_140);
      }
    }
    workgroupBarrier();
    for (var from_unit_1 = 0u; from_unit_1 < 176u; from_unit_1 += 64u) {
      let unit_13 = from_unit_1 + lane_of_team;
      let safe_unit_13 = min(unit_13, 175u) + 256u;
      let place_245 = words_of_team + safe_unit_13 / 32u * 512u + safe_unit_13 % 32u + 21984u;
      let place_246 = place_245 + 32u;
      let place_247 = place_245 + 64u;
      let place_248 = place_245 + 96u;
      let place_249 = place_245 + 128u;
      let place_250 = place_245 + 160u;
      let place_251 = place_245 + 192u;
      let place_252 = place_245 + 224u;
      let place_253 = place_245 + 256u;
      let place_254 = place_245 + 288u;
      let place_255 = place_245 + 320u;
      let place_256 = place_245 + 352u;
      let place_257 = place_245 + 384u;
      let place_258 = place_245 + 416u;
      let place_259 = place_245 + 448u;
      let place_260 = place_245 + 480u;
      var found_261: u32 = 0u;
      var found_262: u32 = 0u;
      var found_263: u32 = 0u;
      var found_264: u32 = 0u;
      var found_265: u32 = 0u;
      var found_266: u32 = 0u;
      var found_267: u32 = 0u;
      var found_268: u32 = 0u;
      var found_269: u32 = 0u;
      var found_270: u32 = 0u;
      var found_271: u32 = 0u;
      var found_272: u32 = 0u;
      var found_273: u32 = 0u;
      var found_274: u32 = 0u;
      var found_275: u32 = 0u;
      var found_276: u32 = 0u;
      var waits_11: u32 = 1u;
      let end_21 = patience;
      for (var tries_11 = 0u; tries_11 < end_21; tries_11 += 1u) {
        let now_294 = (atomicLoad(&words[place_245]));
        found_261 = now_294;
        let now_295 = (atomicLoad(&words[place_246]));
        found_262 = now_295;
        let now_296 = (atomicLoad(&words[place_247]));
        found_263 = now_296;
        let now_297 = (atomicLoad(&words[place_248]));
        found_264 = now_297;
        let now_298 = (atomicLoad(&words[place_249]));
        found_265 = now_298;
        let now_299 = (atomicLoad(&words[place_250]));
        found_266 = now_299;
        let now_300 = (atomicLoad(&words[place_251]));
        found_267 = now_300;
        let now_301 = (atomicLoad(&words[place_252]));
        found_268 = now_301;
        let now_302 = (atomicLoad(&words[place_253]));
        found_269 = now_302;
        let now_303 = (atomicLoad(&words[place_254]));
        found_270 = now_303;
        let now_304 = (atomicLoad(&words[place_255]));
        found_271 = now_304;
        let now_305 = (atomicLoad(&words[place_256]));
        found_272 = now_305;
        let now_306 = (atomicLoad(&words[place_257]));
        found_273 = now_306;
        let now_307 = (atomicLoad(&words[place_258]));
        found_274 = now_307;
        let now_308 = (atomicLoad(&words[place_259]));
        found_275 = now_308;
        let now_309 = (atomicLoad(&words[place_260]));
        found_276 = now_309;
        var odd_11: u32 = 0u;
        odd_11 = odd_11 | (found_261 ^ tag);
        odd_11 = odd_11 | (found_262 ^ tag);
        odd_11 = odd_11 | (found_263 ^ tag);
        odd_11 = odd_11 | (found_264 ^ tag);
        odd_11 = odd_11 | (found_265 ^ tag);
        odd_11 = odd_11 | (found_266 ^ tag);
        odd_11 = odd_11 | (found_267 ^ tag);
        odd_11 = odd_11 | (found_268 ^ tag);
        odd_11 = odd_11 | (found_269 ^ tag);
        odd_11 = odd_11 | (found_270 ^ tag);
        odd_11 = odd_11 | (found_271 ^ tag);
        odd_11 = odd_11 | (found_272 ^ tag);
        odd_11 = odd_11 | (found_273 ^ tag);
        odd_11 = odd_11 | (found_274 ^ tag);
        odd_11 = odd_11 | (found_275 ^ tag);
        odd_11 = odd_11 | (found_276 ^ tag);
        if ((odd_11 & 3u) == 0u) {
          waits_11 = 0u;
          break;
        }
        var n_failed_21: u32 = 0u;
        if ((tries_11 & 255u) == 255u) {
          let now_310 = (atomicLoad(&words[32u]));
          n_failed_21 = now_310;
        }
        let given_up_21 = n_failed_21 != 0u;
        if (given_up_21) {
          break;
        }
      }
      if (waits_11 != 0u) {
        if (patience != 1u) {
          let old_11 = (atomicAdd(&words[32u], 1u));
        }
        patience = 1u;
      }
      let value_265 = bitcast<f32>(found_261 & 4294967292u);
      let value_266 = bitcast<f32>(found_262 & 4294967292u);
      let value_267 = bitcast<f32>(found_263 & 4294967292u);
      let value_268 = bitcast<f32>(found_264 & 4294967292u);
      let value_269 = bitcast<f32>(found_265 & 4294967292u);
      let value_270 = bitcast<f32>(found_266 & 4294967292u);
      let value_271 = bitcast<f32>(found_267 & 4294967292u);
      let value_272 = bitcast<f32>(found_268 & 4294967292u);
      let value_273 = bitcast<f32>(found_269 & 4294967292u);
      let value_274 = bitcast<f32>(found_270 & 4294967292u);
      let value_275 = bitcast<f32>(found_271 & 4294967292u);
      let value_276 = bitcast<f32>(found_272 & 4294967292u);
      let value_277 = bitcast<f32>(found_273 & 4294967292u);
      let value_278 = bitcast<f32>(found_274 & 4294967292u);
      let value_279 = bitcast<f32>(found_275 & 4294967292u);
      let value_280 = bitcast<f32>(found_276 & 4294967292u);
      if (unit_13 < 176u) {
        let ones_13 = 16843009u;
        let vg4_52 = vec4<f32>(value_265, value_266, value_267, value_268);
        let moved_52 = vg4_52 * factor_and_scale_3 + vec4<f32>(12582912f);
        let q_52 = bitcast<vec4<i32>>(moved_52);
        let packed_52 = pack4xI8(q_52);
        q_sum_3 += dot4I8Packed(packed_52, ones_13);
        let vg4_53 = vec4<f32>(value_269, value_270, value_271, value_272);
        let moved_53 = vg4_53 * factor_and_scale_3 + vec4<f32>(12582912f);
        let q_53 = bitcast<vec4<i32>>(moved_53);
        let packed_53 = pack4xI8(q_53);
        q_sum_3 += dot4I8Packed(packed_53, ones_13);
        let vg4_54 = vec4<f32>(value_273, value_274, value_275, value_276);
        let moved_54 = vg4_54 * factor_and_scale_3 + vec4<f32>(12582912f);
        let q_54 = bitcast<vec4<i32>>(moved_54);
        let packed_54 = pack4xI8(q_54);
        q_sum_3 += dot4I8Packed(packed_54, ones_13);
        let vg4_55 = vec4<f32>(value_277, value_278, value_279, value_280);
        let moved_55 = vg4_55 * factor_and_scale_3 + vec4<f32>(12582912f);
        let q_55 = bitcast<vec4<i32>>(moved_55);
        let packed_55 = pack4xI8(q_55);
        q_sum_3 += dot4I8Packed(packed_55, ones_13);
        let staged_at_13 = team * 176u + ((unit_13 >> 1u) & 3u) * 44u + ((unit_13 >> 3u) * 2u + (unit_13 & 1u));
        staged[staged_at_13] = vec4<u32>(packed_52, packed_53, packed_54, packed_55);
      }
    }
    let my_sum_3 = q_sum_3;
    let sg_239 = subgroupShuffleXor(my_sum_3, 16u);
    let sum_141 = my_sum_3 + sg_239;
    let sg_240 = subgroupShuffleXor(sum_141, 8u);
    let sum_142 = sum_141 + sg_240;
    let sg_241 = subgroupShuffleXor(sum_142, 4u);
    let sum_143 = sum_142 + sg_241;
    let sg_242 = subgroupShuffleXor(sum_143, 2u);
    let sum_144 = sum_143 + sg_242;
    let sg_243 = subgroupShuffleXor(sum_144, 1u);
    let sum_145 = sum_144 + sg_243;
    if ((tid % 32u) == 0u) {
      row_sums[tid / 32u] = sum_145;
    }
    workgroupBarrier();
    let x_scale_7 = row_scales[my_row];
    var x_sum_3: i32 = 0i;
    x_sum_3 += row_sums[my_row * 2u + 0u];
    x_sum_3 += row_sums[my_row * 2u + 1u];
    let x_sum_of_row_3 = x_sum_3;
    for (var from_row_4 = first_row_4; from_row_4 < end_row_4; from_row_4 += 32u) {
      let group_13 = tid / 32u;
      let lane_of_row_9 = tid & 31u;
      let row_6 = from_row_4 + group_13;
      let row_7 = row_6 + 16u;
      let safe_row_6 = min(row_6, end_row_4 - 1u);
      let start_7 = layer * 1085440u + safe_row_6 * 108u + 809024u;
      let safe_row_7 = min(row_7, end_row_4 - 1u);
      let start_8 = layer * 1085440u + safe_row_7 * 108u + 809024u;
      var acc_64: i32 = 0i;
      var acc_65: i32 = 0i;
      var acc_66: i32 = 0i;
      var acc_67: i32 = 0i;
      var acc_68: i32 = 0i;
      var acc_69: i32 = 0i;
      var acc_70: i32 = 0i;
      var acc_71: i32 = 0i;
      var acc_72: i32 = 0i;
      var acc_73: i32 = 0i;
      var acc_74: i32 = 0i;
      var acc_75: i32 = 0i;
      var acc_76: i32 = 0i;
      var acc_77: i32 = 0i;
      var acc_78: i32 = 0i;
      var acc_79: i32 = 0i;
      for (var i_12 = lane_of_row_9; i_12 < 44u; i_12 += 32u) {
        let w4_7 = w[start_7 + i_12];
        let w4_8 = w[start_8 + i_12];
        for (var plane_4 = 0u; plane_4 < 4u; plane_4 += 1u) {
          let shift_4 = 6u - plane_4 * 2u;
          let codes_28 = (w4_7.x >> shift_4) & 0x03030303u;
          let codes_29 = (w4_7.y >> shift_4) & 0x03030303u;
          let codes_30 = (w4_7.z >> shift_4) & 0x03030303u;
          let codes_31 = (w4_7.w >> shift_4) & 0x03030303u;
          let codes_32 = (w4_8.x >> shift_4) & 0x03030303u;
          let codes_33 = (w4_8.y >> shift_4) & 0x03030303u;
          let codes_34 = (w4_8.z >> shift_4) & 0x03030303u;
          let codes_35 = (w4_8.w >> shift_4) & 0x03030303u;
          let q4_32 = staged[i_12 + plane_4 * 44u + 0u];
          acc_64 += dot4I8Packed(codes_28, q4_32.x);
          acc_72 += dot4I8Packed(codes_32, q4_32.x);
          acc_64 += dot4I8Packed(codes_29, q4_32.y);
          acc_72 += dot4I8Packed(codes_33, q4_32.y);
          acc_64 += dot4I8Packed(codes_30, q4_32.z);
          acc_72 += dot4I8Packed(codes_34, q4_32.z);
          acc_64 += dot4I8Packed(codes_31, q4_32.w);
          acc_72 += dot4I8Packed(codes_35, q4_32.w);
          let q4_33 = staged[i_12 + plane_4 * 44u + 176u];
          acc_65 += dot4I8Packed(codes_28, q4_33.x);
          acc_73 += dot4I8Packed(codes_32, q4_33.x);
          acc_65 += dot4I8Packed(codes_29, q4_33.y);
          acc_73 += dot4I8Packed(codes_33, q4_33.y);
          acc_65 += dot4I8Packed(codes_30, q4_33.z);
          acc_73 += dot4I8Packed(codes_34, q4_33.z);
          acc_65 += dot4I8Packed(codes_31, q4_33.w);
          acc_73 += dot4I8Packed(codes_35, q4_33.w);
          let q4_34 = staged[i_12 + plane_4 * 44u + 352u];
          acc_66 += dot4I8Packed(codes_28, q4_34.x);
          acc_74 += dot4I8Packed(codes_32, q4_34.x);
          acc_66 += dot4I8Packed(codes_29, q4_34.y);
          acc_74 += dot4I8Packed(codes_33, q4_34.y);
          acc_66 += dot4I8Packed(codes_30, q4_34.z);
          acc_74 += dot4I8Packed(codes_34, q4_34.z);
          acc_66 += dot4I8Packed(codes_31, q4_34.w);
          acc_74 += dot4I8Packed(codes_35, q4_34.w);
          let q4_35 = staged[i_12 + plane_4 * 44u + 528u];
          acc_67 += dot4I8Packed(codes_28, q4_35.x);
          acc_75 += dot4I8Packed(codes_32, q4_35.x);
          acc_67 += dot4I8Packed(codes_29, q4_35.y);
          acc_75 += dot4I8Packed(codes_33, q4_35.y);
          acc_67 += dot4I8Packed(codes_30, q4_35.z);
          acc_75 += dot4I8Packed(codes_34, q4_35.z);
          acc_67 += dot4I8Packed(codes_31, q4_35.w);
          acc_75 += dot4I8Packed(codes_35, q4_35.w);
          let q4_36 = staged[i_12 + plane_4 * 44u + 704u];
          acc_68 += dot4I8Packed(codes_28, q4_36.x);
          acc_76 += dot4I8Packed(codes_32, q4_36.x);
          acc_68 += dot4I8Packed(codes_29, q4_36.y);
          acc_76 += dot4I8Packed(codes_33, q4_36.y);
          acc_68 += dot4I8Packed(codes_30, q4_36.z);
          acc_76 += dot4I8Packed(codes_34, q4_36.z);
          acc_68 += dot4I8Packed(codes_31, q4_36.w);
          acc_76 += dot4I8Packed(codes_35, q4_36.w);
          let q4_37 = staged[i_12 + plane_4 * 44u + 880u];
          acc_69 += dot4I8Packed(codes_28, q4_37.x);
          acc_77 += dot4I8Packed(codes_32, q4_37.x);
          acc_69 += dot4I8Packed(codes_29, q4_37.y);
          acc_77 += dot4I8Packed(codes_33, q4_37.y);
          acc_69 += dot4I8Packed(codes_30, q4_37.z);
          acc_77 += dot4I8Packed(codes_34, q4_37.z);
          acc_69 += dot4I8Packed(codes_31, q4_37.w);
          acc_77 += dot4I8Packed(codes_35, q4_37.w);
          let q4_38 = staged[i_12 + plane_4 * 44u + 1056u];
          acc_70 += dot4I8Packed(codes_28, q4_38.x);
          acc_78 += dot4I8Packed(codes_32, q4_38.x);
          acc_70 += dot4I8Packed(codes_29, q4_38.y);
          acc_78 += dot4I8Packed(codes_33, q4_38.y);
          acc_70 += dot4I8Packed(codes_30, q4_38.z);
          acc_78 += dot4I8Packed(codes_34, q4_38.z);
          acc_70 += dot4I8Packed(codes_31, q4_38.w);
          acc_78 += dot4I8Packed(codes_35, q4_38.w);
          let q4_39 = staged[i_12 + plane_4 * 44u + 1232u];
          acc_71 += dot4I8Packed(codes_28, q4_39.x);
          acc_79 += dot4I8Packed(codes_32, q4_39.x);
          acc_71 += dot4I8Packed(codes_29, q4_39.y);
          acc_79 += dot4I8Packed(codes_33, q4_39.y);
          acc_71 += dot4I8Packed(codes_30, q4_39.z);
          acc_79 += dot4I8Packed(codes_34, q4_39.z);
          acc_71 += dot4I8Packed(codes_31, q4_39.w);
          acc_79 += dot4I8Packed(codes_35, q4_39.w);
        }
      }
      let mine_92 = acc_64;
      let mine_93 = acc_65;
      let mine_94 = acc_66;
      let mine_95 = acc_67;
      let mine_96 = acc_68;
      let mine_97 = acc_69;
      let mine_98 = acc_70;
      let mine_99 = acc_71;
      let is_upper_21 = (lane_of_row_9 & 4u) != 0u;
      let given_49 = select(mine_96, mine_92, is_upper_21);
      let stays_49 = select(mine_92, mine_96, is_upper_21);
      let sg_244 = subgroupShuffleXor(given_49, 4u);
      let sum_146 = stays_49 + sg_244;
      let given_50 = select(mine_97, mine_93, is_upper_21);
      let stays_50 = select(mine_93, mine_97, is_upper_21);
      let sg_245 = subgroupShuffleXor(given_50, 4u);
      let sum_147 = stays_50 + sg_245;
      let given_51 = select(mine_98, mine_94, is_upper_21);
      let stays_51 = select(mine_94, mine_98, is_upper_21);
      let sg_246 = subgroupShuffleXor(given_51, 4u);
      let sum_148 = stays_51 + sg_246;
      let given_52 = select(mine_99, mine_95, is_upper_21);
      let stays_52 = select(mine_95, mine_99, is_upper_21);
      let sg_247 = subgroupShuffleXor(given_52, 4u);
      let sum_149 = stays_52 + sg_247;
      let is_upper_22 = (lane_of_row_9 & 2u) != 0u;
      let given_53 = select(sum_148, sum_146, is_upper_22);
      let stays_53 = select(sum_146, sum_148, is_upper_22);
      let sg_248 = subgroupShuffleXor(given_53, 2u);
      let sum_150 = stays_53 + sg_248;
      let given_54 = select(sum_149, sum_147, is_upper_22);
      let stays_54 = select(sum_147, sum_149, is_upper_22);
      let sg_249 = subgroupShuffleXor(given_54, 2u);
      let sum_151 = stays_54 + sg_249;
      let is_upper_23 = (lane_of_row_9 & 1u) != 0u;
      let given_55 = select(sum_151, sum_150, is_upper_23);
      let stays_55 = select(sum_150, sum_151, is_upper_23);
      let sg_250 = subgroupShuffleXor(given_55, 1u);
      let sum_152 = stays_55 + sg_250;
      let sg_251 = subgroupShuffleXor(sum_152, 8u);
      let sum_153 = sum_152 + sg_251;
      let sg_252 = subgroupShuffleXor(sum_153, 16u);
      let sum_154 = sum_153 + sg_252;
      let mine_100 = acc_72;
      let mine_101 = acc_73;
      let mine_102 = acc_74;
      let mine_103 = acc_75;
      let mine_104 = acc_76;
      let mine_105 = acc_77;
      let mine_106 = acc_78;
      let mine_107 = acc_79;
      let is_upper_24 = (lane_of_row_9 & 4u) != 0u;
      let given_56 = select(mine_104, mine_100, is_upper_24);
      let stays_56 = select(mine_100, mine_104, is_upper_24);
      let sg_253 = subgroupShuffleXor(given_56, 4u);
      let sum_155 = stays_56 + sg_253;
      let given_57 = select(mine_105, mine_101, is_upper_24);
      let stays_57 = select(mine_101, mine_105, is_upper_24);
      let sg_254 = subgroupShuffleXor(given_57, 4u);
      let sum_156 = stays_57 + sg_254;
      let given_58 = select(mine_106, mine_102, is_upper_24);
      let stays_58 = select(mine_102, mine_106, is_upper_24);
      let sg_255 = subgroupShuffleXor(given_58, 4u);
      let sum_157 = stays_58 + sg_255;
      let given_59 = select(mine_107, mine_103, is_upper_24);
      let stays_59 = select(mine_103, mine_107, is_upper_24);
      let sg_256 = subgroupShuffleXor(given_59, 4u);
      let sum_158 = stays_59 + sg_256;
      let is_upper_25 = (lane_of_row_9 & 2u) != 0u;
      let given_60 = select(sum_157, sum_155, is_upper_25);
      let stays_60 = select(sum_155, sum_157, is_upper_25);
      let sg_257 = subgroupShuffleXor(given_60, 2u);
      let sum_159 = stays_60 + sg_257;
      let given_61 = select(sum_158, sum_156, is_upper_25);
      let stays_61 = select(sum_156, sum_158, is_upper_25);
      let sg_258 = subgroupShuffleXor(given_61, 2u);
      let sum_160 = stays_61 + sg_258;
      let is_upper_26 = (lane_of_row_9 & 1u) != 0u;
      let given_62 = select(sum_160, sum_159, is_upper_26);
      let stays_62 = select(sum_159, sum_160, is_upper_26);
      let sg_259 = subgroupShuffleXor(given_62, 1u);
      let sum_161 = stays_62 + sg_259;
      let sg_260 = subgroupShuffleXor(sum_161, 8u);
      let sum_162 = sum_161 + sg_260;
      let sg_261 = subgroupShuffleXor(sum_162, 16u);
      let sum_163 = sum_162 + sg_261;
      if (((lane_of_row_9 < 8u) && is_row) && (row_6 < end_row_4)) {
        let unfinished_at_2 = (row_6 - first_row_4) * 8u + my_row;
        let total_so_far = sum_154 + i32(sums[unfinished_at_2]);
        let value_281 = f32(total_so_far - x_sum_of_row_3) / x_scale_7 * w_scale_6;
        let mine_at_3 = my_row * 64u + (row_6 - first_row);
        let x_new_2 = residual[mine_at_3] + value_281;
        residual[mine_at_3] = x_new_2;
        let gain_5 = vectors[next_vectors + row_6 + 0u];
        let vg_5 = x_new_2 * gain_5;
        squares_4 += x_new_2 * x_new_2;
        largest_4 = max(largest_4, abs(vg_5));
        let row_of_block_5 = (row_6 & 15u) * 32u + ((row_6 >> 4u) & 31u);
        let place_261 = (row_6 & 4294966784u) + row_of_block_5 + 64u;
        let place_in_row_5 = place_261 + my_words;
        let value_bits_26 = bitcast<u32>(vg_5);
        let half_26 = select(2u, 0u, (value_bits_26 & 2139095040u) == 2139095040u);
        let rounded_26 = value_bits_26 + half_26;
        atomicStore(&words[place_in_row_5], (rounded_26 & 4294967292u) | next_tag);
      }
      if (((lane_of_row_9 < 8u) && is_row) && (row_7 < end_row_4)) {
        let unfinished_at_3 = (row_7 - first_row_4) * 8u + my_row;
        let total_so_far_1 = sum_163 + i32(sums[unfinished_at_3]);
        let value_282 = f32(total_so_far_1 - x_sum_of_row_3) / x_scale_7 * w_scale_6;
        let mine_at_4 = my_row * 64u + (row_7 - first_row);
        let x_new_3 = residual[mine_at_4] + value_282;
        residual[mine_at_4] = x_new_3;
        let gain_6 = vectors[next_vectors + row_7 + 0u];
        let vg_6 = x_new_3 * gain_6;
        squares_4 += x_new_3 * x_new_3;
        largest_4 = max(largest_4, abs(vg_6));
        let row_of_block_6 = (row_7 & 15u) * 32u + ((row_7 >> 4u) & 31u);
        let place_262 = (row_7 & 4294966784u) + row_of_block_6 + 64u;
        let place_in_row_6 = place_262 + my_words;
        let value_bits_27 = bitcast<u32>(vg_6);
        let half_27 = select(2u, 0u, (value_bits_27 & 2139095040u) == 2139095040u);
        let rounded_27 = value_bits_27 + half_27;
        atomicStore(&words[place_in_row_6], (rounded_27 & 4294967292u) | next_tag);
      }
    }
    let my_squares_8 = squares_4;
    let my_largest_8 = largest_4;
    let sg_262 = subgroupShuffleXor(my_squares_8, 8u);
    let both_94 = my_squares_8 + sg_262;
    let sg_263 = subgroupShuffleXor(both_94, 16u);
    let both_95 = both_94 + sg_263;
    let sg_264 = subgroupShuffleXor(my_largest_8, 8u);
    let both_96 = max(my_largest_8, sg_264);
    let sg_265 = subgroupShuffleXor(both_96, 16u);
    let both_97 = max(both_96, sg_265);
    if ((tid % 32u) < 8u) {
      made_stats[my_row * 16u + tid / 32u] = vec2<f32>(both_95, both_97);
    }
    workgroupBarrier();
    let made_of_subgroup_4 = made_stats[tid & 127u];
    let squares_part_4 = made_of_subgroup_4.x;
    let sg_266 = subgroupShuffleXor(squares_part_4, 1u);
    let both_98 = squares_part_4 + sg_266;
    let sg_267 = subgroupShuffleXor(both_98, 2u);
    let both_99 = both_98 + sg_267;
    let sg_268 = subgroupShuffleXor(both_99, 4u);
    let both_100 = both_99 + sg_268;
    let sg_269 = subgroupShuffleXor(both_100, 8u);
    let both_101 = both_100 + sg_269;
    let largest_part_4 = made_of_subgroup_4.y;
    let sg_270 = subgroupShuffleXor(largest_part_4, 1u);
    let both_102 = max(largest_part_4, sg_270);
    let sg_271 = subgroupShuffleXor(both_102, 2u);
    let both_103 = max(both_102, sg_271);
    let sg_272 = subgroupShuffleXor(both_103, 4u);
    let both_104 = max(both_103, sg_272);
    let sg_273 = subgroupShuffleXor(both_104, 8u);
    let both_105 = max(both_104, sg_273);
    let made_row_4 = tid / 16u;
    if ((made_row_4 < n_rows) && ((tid % 16u) == 0u)) {
      let group_14 = wg.x;
      let stats_at_56 = made_row_4 * 2048u + group_14 + 232768u;
      let stats_at_57 = stats_at_56 + 1024u;
      let value_bits_28 = bitcast<u32>(both_101);
      let half_28 = select(2u, 0u, (value_bits_28 & 2139095040u) == 2139095040u);
      let rounded_28 = value_bits_28 + half_28;
      atomicStore(&words[stats_at_56], (rounded_28 & 4294967292u) | next_tag);
      let value_bits_29 = bitcast<u32>(both_105);
      let half_29 = select(2u, 0u, (value_bits_29 & 2139095040u) == 2139095040u);
      let rounded_29 = value_bits_29 + half_29;
      atomicStore(&words[stats_at_57], (rounded_29 & 4294967292u) | next_tag);
    }
  }
  workgroupBarrier();
  for (var col_1 = first_row + tid / 8u; col_1 < end_row; col_1 += 64u) {
    if (is_row) {
      let mine_at_5 = my_row * 64u + (col_1 - first_row);
      let x_value_1 = residual[mine_at_5];
      x[my_row * 2560u + col_1] = x_value_1;
    }
  }
  if ((wg.x == 0u) && (tid == 0u)) {
    atomicStore(&words[0u], (last_tag + 1u + 30u) & 3u);
  }
}
