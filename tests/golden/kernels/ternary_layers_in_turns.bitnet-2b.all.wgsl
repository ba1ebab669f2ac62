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
var<workgroup> staged: array<vec4<u32>, 432>;
var<workgroup> residual: array<f32, 128>;
var<workgroup> turned: array<f32, 768>;
var<workgroup> sums: array<f32, 4224>;
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
  let first_row = wg.x * 2560u / n_wg.x;
  let end_row = (wg.x + 1u) * 2560u / n_wg.x;
  let now_1 = (atomicLoad(&words[0u]));
  let last_tag = now_1;
  let splits = max(1u, min(n_wg.x / 3u, 16u));
  let kv_head = wg.x / splits;
  let split = wg.x % splits;
  let is_used = kv_head < 5u;
  let pos = params[0u * 3u + 3u];
  let table = params[0u * 3u + 4u];
  let n_pos = pos + 1u;
  let first_pos = split * n_pos / splits;
  let end_pos = select(first_pos, (split + 1u) * n_pos / splits, is_used);
  let lane_of_pos = tid % 16u;
  let group_of_pos = tid / 16u;
  let newest = first_pos + group_of_pos;
  let kv_layer = (arrayLength(&kv)) / 30u;
  let angles_at = (params[0u * 3u + 5u] + pos) * 64u;
  let pair = min(tid + 0u, 383u) % 64u;
  let angle = angles[angles_at + pair];
  let pair_1 = min(tid + 256u, 383u) % 64u;
  let angle_1 = angles[angles_at + pair_1];
  let safe_pos = min(newest, pos);
  let safe_head = min(kv_head, 4u);
  let block = params[table + safe_pos / 64u];
  let key_at = ((block * 10u + safe_head) * 64u + safe_pos % 64u) * 16u + lane_of_pos;
  let splits_1 = max(1u, min(n_wg.x / 3u, 16u));
  let kv_head_1 = wg.x / splits_1 + n_wg.x / splits_1 * 1u;
  let split_1 = wg.x % splits_1;
  let is_used_1 = kv_head_1 < 5u;
  let pos_1 = params[0u * 3u + 3u];
  let table_1 = params[0u * 3u + 4u];
  let n_pos_1 = pos_1 + 1u;
  let first_pos_1 = split_1 * n_pos_1 / splits_1;
  let end_pos_1 = select(first_pos_1, (split_1 + 1u) * n_pos_1 / splits_1, is_used_1);
  let lane_of_pos_1 = tid % 16u;
  let group_of_pos_1 = tid / 16u;
  let newest_1 = first_pos_1 + group_of_pos_1;
  let kv_layer_1 = (arrayLength(&kv)) / 30u;
  let angles_at_1 = (params[0u * 3u + 5u] + pos_1) * 64u;
  let pair_2 = min(tid + 0u, 383u) % 64u;
  let angle_2 = angles[angles_at_1 + pair_2];
  let pair_3 = min(tid + 256u, 383u) % 64u;
  let angle_3 = angles[angles_at_1 + pair_3];
  let safe_pos_1 = min(newest_1, pos_1);
  let safe_head_1 = min(kv_head_1, 4u);
  let block_1 = params[table_1 + safe_pos_1 / 64u];
  let key_at_1 = ((block_1 * 10u + safe_head_1) * 64u + safe_pos_1 % 64u) * 16u + lane_of_pos_1;
  let first_row_1 = wg.x * 3840u / n_wg.x;
  let end_row_1 = (wg.x + 1u) * 3840u / n_wg.x;
  let first_row_2 = wg.x * 2560u / n_wg.x;
  let end_row_2 = (wg.x + 1u) * 2560u / n_wg.x;
  let first_row_3 = wg.x * 6912u / n_wg.x;
  let end_row_3 = (wg.x + 1u) * 6912u / n_wg.x;
  let first_row_4 = wg.x * 2560u / n_wg.x;
  let end_row_4 = (wg.x + 1u) * 2560u / n_wg.x;
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
  let start = first_layer * 1085440u + 0u + safe_row * 40u;
  let i = lane_of_row + 0u;
  let w4 = w[start + i];
  let i_1 = lane_of_row + 16u;
  let w4_1 = w[start + i_1];
  let i_2 = min(lane_of_row + 32u, 39u);
  let w4_2 = w[start + i_2];
  let vectors_at = first_layer * 14600u;
  let column = tid + 0u;
  let gain = vectors[vectors_at + 0u + column];
  let column_1 = tid + 256u;
  let gain_1 = vectors[vectors_at + 0u + column_1];
  let column_2 = tid + 512u;
  let gain_2 = vectors[vectors_at + 0u + column_2];
  let column_3 = tid + 768u;
  let gain_3 = vectors[vectors_at + 0u + column_3];
  let column_4 = tid + 1024u;
  let gain_4 = vectors[vectors_at + 0u + column_4];
  let column_5 = tid + 1280u;
  let gain_5 = vectors[vectors_at + 0u + column_5];
  let column_6 = tid + 1536u;
  let gain_6 = vectors[vectors_at + 0u + column_6];
  let column_7 = tid + 1792u;
  let gain_7 = vectors[vectors_at + 0u + column_7];
  let column_8 = tid + 2048u;
  let gain_8 = vectors[vectors_at + 0u + column_8];
  let column_9 = tid + 2304u;
  let gain_9 = vectors[vectors_at + 0u + column_9];
  let w_scale = vectors[vectors_at + 14592u];
  let w_scale_1 = vectors[vectors_at + 14593u];
  let w_scale_2 = vectors[vectors_at + 14594u];
  var next_w: vec4<u32> = w4;
  var next_w_1: vec4<u32> = w4_1;
  var next_w_2: vec4<u32> = w4_2;
  var next_gain: f32 = gain;
  var next_gain_1: f32 = gain_1;
  var next_gain_2: f32 = gain_2;
  var next_gain_3: f32 = gain_3;
  var next_gain_4: f32 = gain_4;
  var next_gain_5: f32 = gain_5;
  var next_gain_6: f32 = gain_6;
  var next_gain_7: f32 = gain_7;
  var next_gain_8: f32 = gain_8;
  var next_gain_9: f32 = gain_9;
  var next_scale: f32 = w_scale;
  var next_scale_1: f32 = w_scale_1;
  var next_scale_2: f32 = w_scale_2;
  var asked_layer: u32 = first_layer;
  for (var layer = 0u; layer < 30u; layer += 1u) {
    let tag = (last_tag + 1u + layer) & 3u;
    let next_tag = (tag + 1u) & 3u;
    let this_layer = asked_layer;
    let group_1 = tid / 16u;
    let lane_of_row_1 = tid & 15u;
    let row_2 = first_row_1 + group_1;
    let safe_row_1 = min(row_2, end_row_1 - 1u);
    let start_1 = this_layer * 1085440u + 0u + safe_row_1 * 40u;
    let i_3 = lane_of_row_1 + 0u;
    let w4_3 = next_w;
    let i_4 = lane_of_row_1 + 16u;
    let w4_4 = next_w_1;
    let i_5 = min(lane_of_row_1 + 32u, 39u);
    let w4_5 = next_w_2;
    let gain_10 = next_gain;
    let gain_11 = next_gain_1;
    let gain_12 = next_gain_2;
    let gain_13 = next_gain_3;
    let gain_14 = next_gain_4;
    let gain_15 = next_gain_5;
    let gain_16 = next_gain_6;
    let gain_17 = next_gain_7;
    let gain_18 = next_gain_8;
    let gain_19 = next_gain_9;
    let w_scale_3 = next_scale;
    let w_scale_4 = next_scale_1;
    let w_scale_5 = next_scale_2;
    let column_10 = tid + 0u;
    let place_1 = column_10 + 64u;
    let column_11 = tid + 256u;
    let place_2 = column_11 + 64u;
    let column_12 = tid + 512u;
    let place_3 = column_12 + 64u;
    let column_13 = tid + 768u;
    let place_4 = column_13 + 64u;
    let column_14 = tid + 1024u;
    let place_5 = column_14 + 64u;
    let column_15 = tid + 1280u;
    let place_6 = column_15 + 64u;
    let column_16 = tid + 1536u;
    let place_7 = column_16 + 64u;
    let column_17 = tid + 1792u;
    let place_8 = column_17 + 64u;
    let column_18 = tid + 2048u;
    let place_9 = column_18 + 64u;
    let column_19 = tid + 2304u;
    let place_10 = column_19 + 64u;
    workgroupBarrier();
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
    var waits: u32 = 1u;
    let end = patience;
    for (var early = 0u; early < end; early += 1u) {
      let now_2 = (atomicLoad(&words[place_10]));
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
      if ((odd & 3u) == 0u) {
        waits = 0u;
        break;
      }
      var n_failed_1: u32 = 0u;
      if ((tries & 255u) == 255u) {
        let now_14 = (atomicLoad(&words[32u]));
        n_failed_1 = now_14;
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
    var squares: f32 = 0f;
    var largest: f32 = 0f;
    let vg = value * gain_10;
    largest = max(largest, abs(vg));
    squares += value * value;
    let vg_1 = value_1 * gain_11;
    largest = max(largest, abs(vg_1));
    squares += value_1 * value_1;
    let vg_2 = value_2 * gain_12;
    largest = max(largest, abs(vg_2));
    squares += value_2 * value_2;
    let vg_3 = value_3 * gain_13;
    largest = max(largest, abs(vg_3));
    squares += value_3 * value_3;
    let vg_4 = value_4 * gain_14;
    largest = max(largest, abs(vg_4));
    squares += value_4 * value_4;
    let vg_5 = value_5 * gain_15;
    largest = max(largest, abs(vg_5));
    squares += value_5 * value_5;
    let vg_6 = value_6 * gain_16;
    largest = max(largest, abs(vg_6));
    squares += value_6 * value_6;
    let vg_7 = value_7 * gain_17;
    largest = max(largest, abs(vg_7));
    squares += value_7 * value_7;
    let vg_8 = value_8 * gain_18;
    largest = max(largest, abs(vg_8));
    squares += value_8 * value_8;
    let vg_9 = value_9 * gain_19;
    largest = max(largest, abs(vg_9));
    squares += value_9 * value_9;
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
    let sg_5 = subgroupMax(bitcast<u32>(my_largest));
    let most = bitcast<f32>(sg_5);
    if ((tid & 31u) == 0u) {
      group_stats[tid / 32u] = vec2<f32>(sum_4, most);
    }
    workgroupBarrier();
    let of_group = group_stats[tid & 7u];
    let sg_6 = subgroupShuffleXor(of_group.x, 4u);
    let sum_5 = of_group.x + sg_6;
    let sg_7 = subgroupShuffleXor(sum_5, 2u);
    let sum_6 = sum_5 + sg_7;
    let sg_8 = subgroupShuffleXor(sum_6, 1u);
    let sum_7 = sum_6 + sg_8;
    let sg_9 = subgroupMax(bitcast<u32>(of_group.y));
    let most_1 = bitcast<f32>(sg_9);
    let factor = 1f / sqrt(sum_7 / 2560f + 1e-05f);
    let finite_scale = 127f / max(most_1 * factor, 1e-05f);
    let factor_and_scale = factor * finite_scale;
    let factor_bits = bitcast<u32>(factor);
    let x_scale = select(finite_scale, factor, (factor_bits - 1u) >= 2139095039u);
    var q_sum: i32 = 0i;
    let q = i32(clamp(round(vg * factor_and_scale), -128f, 127f));
    let byte = bitcast<u32>(q) & 255u;
    let sg_10 = subgroupShuffleXor(byte, 1u);
    let two = byte | (sg_10 << 8u);
    let sg_11 = subgroupShuffleXor(two, 2u);
    let word = two | (sg_11 << 16u);
    q_sum += q;
    if ((tid & 3u) == 0u) {
      let unit = (tid + 0u) / 16u;
      let vec = ((unit >> 1u) & 3u) * 40u + (unit >> 3u) * 2u + (unit & 1u);
      let part_of_unit = tid / 4u % 4u;
      staged[vec][part_of_unit] = word;
    }
    let q_1 = i32(clamp(round(vg_1 * factor_and_scale), -128f, 127f));
    let byte_1 = bitcast<u32>(q_1) & 255u;
    let sg_12 = subgroupShuffleXor(byte_1, 1u);
    let two_1 = byte_1 | (sg_12 << 8u);
    let sg_13 = subgroupShuffleXor(two_1, 2u);
    let word_1 = two_1 | (sg_13 << 16u);
    q_sum += q_1;
    if ((tid & 3u) == 0u) {
      let unit_1 = (tid + 256u) / 16u;
      let vec_1 = ((unit_1 >> 1u) & 3u) * 40u + (unit_1 >> 3u) * 2u + (unit_1 & 1u);
      let part_of_unit_1 = tid / 4u % 4u;
      staged[vec_1][part_of_unit_1] = word_1;
    }
    let q_2 = i32(clamp(round(vg_2 * factor_and_scale), -128f, 127f));
    let byte_2 = bitcast<u32>(q_2) & 255u;
    let sg_14 = subgroupShuffleXor(byte_2, 1u);
    let two_2 = byte_2 | (sg_14 << 8u);
    let sg_15 = subgroupShuffleXor(two_2, 2u);
    let word_2 = two_2 | (sg_15 << 16u);
    q_sum += q_2;
    if ((tid & 3u) == 0u) {
      let unit_2 = (tid + 512u) / 16u;
      let vec_2 = ((unit_2 >> 1u) & 3u) * 40u + (unit_2 >> 3u) * 2u + (unit_2 & 1u);
      let part_of_unit_2 = tid / 4u % 4u;
      staged[vec_2][part_of_unit_2] = word_2;
    }
    let q_3 = i32(clamp(round(vg_3 * factor_and_scale), -128f, 127f));
    let byte_3 = bitcast<u32>(q_3) & 255u;
    let sg_16 = subgroupShuffleXor(byte_3, 1u);
    let two_3 = byte_3 | (sg_16 << 8u);
    let sg_17 = subgroupShuffleXor(two_3, 2u);
    let word_3 = two_3 | (sg_17 << 16u);
    q_sum += q_3;
    if ((tid & 3u) == 0u) {
      let unit_3 = (tid + 768u) / 16u;
      let vec_3 = ((unit_3 >> 1u) & 3u) * 40u + (unit_3 >> 3u) * 2u + (unit_3 & 1u);
      let part_of_unit_3 = tid / 4u % 4u;
      staged[vec_3][part_of_unit_3] = word_3;
    }
    let q_4 = i32(clamp(round(vg_4 * factor_and_scale), -128f, 127f));
    let byte_4 = bitcast<u32>(q_4) & 255u;
    let sg_18 = subgroupShuffleXor(byte_4, 1u);
    let two_4 = byte_4 | (sg_18 << 8u);
    let sg_19 = subgroupShuffleXor(two_4, 2u);
    let word_4 = two_4 | (sg_19 << 16u);
    q_sum += q_4;
    if ((tid & 3u) == 0u) {
      let unit_4 = (tid + 1024u) / 16u;
      let vec_4 = ((unit_4 >> 1u) & 3u) * 40u + (unit_4 >> 3u) * 2u + (unit_4 & 1u);
      let part_of_unit_4 = tid / 4u % 4u;
      staged[vec_4][part_of_unit_4] = word_4;
    }
    let q_5 = i32(clamp(round(vg_5 * factor_and_scale), -128f, 127f));
    let byte_5 = bitcast<u32>(q_5) & 255u;
    let sg_20 = subgroupShuffleXor(byte_5, 1u);
    let two_5 = byte_5 | (sg_20 << 8u);
    let sg_21 = subgroupShuffleXor(two_5, 2u);
    let word_5 = two_5 | (sg_21 << 16u);
    q_sum += q_5;
    if ((tid & 3u) == 0u) {
      let unit_5 = (tid + 1280u) / 16u;
      let vec_5 = ((unit_5 >> 1u) & 3u) * 40u + (unit_5 >> 3u) * 2u + (unit_5 & 1u);
      let part_of_unit_5 = tid / 4u % 4u;
      staged[vec_5][part_of_unit_5] = word_5;
    }
    let q_6 = i32(clamp(round(vg_6 * factor_and_scale), -128f, 127f));
    let byte_6 = bitcast<u32>(q_6) & 255u;
    let sg_22 = subgroupShuffleXor(byte_6, 1u);
    let two_6 = byte_6 | (sg_22 << 8u);
    let sg_23 = subgroupShuffleXor(two_6, 2u);
    let word_6 = two_6 | (sg_23 << 16u);
    q_sum += q_6;
    if ((tid & 3u) == 0u) {
      let unit_6 = (tid + 1536u) / 16u;
      let vec_6 = ((unit_6 >> 1u) & 3u) * 40u + (unit_6 >> 3u) * 2u + (unit_6 & 1u);
      let part_of_unit_6 = tid / 4u % 4u;
      staged[vec_6][part_of_unit_6] = word_6;
    }
    let q_7 = i32(clamp(round(vg_7 * factor_and_scale), -128f, 127f));
    let byte_7 = bitcast<u32>(q_7) & 255u;
    let sg_24 = subgroupShuffleXor(byte_7, 1u);
    let two_7 = byte_7 | (sg_24 << 8u);
    let sg_25 = subgroupShuffleXor(two_7, 2u);
    let word_7 = two_7 | (sg_25 << 16u);
    q_sum += q_7;
    if ((tid & 3u) == 0u) {
      let unit_7 = (tid + 1792u) / 16u;
      let vec_7 = ((unit_7 >> 1u) & 3u) * 40u + (unit_7 >> 3u) * 2u + (unit_7 & 1u);
      let part_of_unit_7 = tid / 4u % 4u;
      staged[vec_7][part_of_unit_7] = word_7;
    }
    let q_8 = i32(clamp(round(vg_8 * factor_and_scale), -128f, 127f));
    let byte_8 = bitcast<u32>(q_8) & 255u;
    let sg_26 = subgroupShuffleXor(byte_8, 1u);
    let two_8 = byte_8 | (sg_26 << 8u);
    let sg_27 = subgroupShuffleXor(two_8, 2u);
    let word_8 = two_8 | (sg_27 << 16u);
    q_sum += q_8;
    if ((tid & 3u) == 0u) {
      let unit_8 = (tid + 2048u) / 16u;
      let vec_8 = ((unit_8 >> 1u) & 3u) * 40u + (unit_8 >> 3u) * 2u + (unit_8 & 1u);
      let part_of_unit_8 = tid / 4u % 4u;
      staged[vec_8][part_of_unit_8] = word_8;
    }
    let q_9 = i32(clamp(round(vg_9 * factor_and_scale), -128f, 127f));
    let byte_9 = bitcast<u32>(q_9) & 255u;
    let sg_28 = subgroupShuffleXor(byte_9, 1u);
    let two_9 = byte_9 | (sg_28 << 8u);
    let sg_29 = subgroupShuffleXor(two_9, 2u);
    let word_9 = two_9 | (sg_29 << 16u);
    q_sum += q_9;
    if ((tid & 3u) == 0u) {
      let unit_9 = (tid + 2304u) / 16u;
      let vec_9 = ((unit_9 >> 1u) & 3u) * 40u + (unit_9 >> 3u) * 2u + (unit_9 & 1u);
      let part_of_unit_9 = tid / 4u % 4u;
      staged[vec_9][part_of_unit_9] = word_9;
    }
    let my_sum = q_sum;
    let sg_30 = subgroupAdd(my_sum);
    if ((tid & 31u) == 0u) {
      group_sums[tid / 32u] = sg_30;
    }
    workgroupBarrier();
    let sum_of_group = select(0i, group_sums[tid & 7u], (tid & 31u) < 8u);
    let sg_31 = subgroupAdd(sum_of_group);
    let key_of_layer = layer * kv_layer + key_at;
    let k8 = kv[key_of_layer + 0u];
    let v8 = kv[key_of_layer + 5120u];
    let key_of_layer_1 = layer * kv_layer + key_at_1;
    let k8_1 = kv[key_of_layer_1 + 0u];
    let v8_1 = kv[key_of_layer_1 + 5120u];
    var acc: i32 = 0i;
    let i_6 = lane_of_row_1 + 0u;
    let q4 = staged[0u + i_6];
    acc += dot4I8Packed((w4_3.x >> 6u) & 0x03030303u, q4.x);
    acc += dot4I8Packed((w4_3.y >> 6u) & 0x03030303u, q4.y);
    acc += dot4I8Packed((w4_3.z >> 6u) & 0x03030303u, q4.z);
    acc += dot4I8Packed((w4_3.w >> 6u) & 0x03030303u, q4.w);
    let q4_1 = staged[40u + i_6];
    acc += dot4I8Packed((w4_3.x >> 4u) & 0x03030303u, q4_1.x);
    acc += dot4I8Packed((w4_3.y >> 4u) & 0x03030303u, q4_1.y);
    acc += dot4I8Packed((w4_3.z >> 4u) & 0x03030303u, q4_1.z);
    acc += dot4I8Packed((w4_3.w >> 4u) & 0x03030303u, q4_1.w);
    let q4_2 = staged[80u + i_6];
    acc += dot4I8Packed((w4_3.x >> 2u) & 0x03030303u, q4_2.x);
    acc += dot4I8Packed((w4_3.y >> 2u) & 0x03030303u, q4_2.y);
    acc += dot4I8Packed((w4_3.z >> 2u) & 0x03030303u, q4_2.z);
    acc += dot4I8Packed((w4_3.w >> 2u) & 0x03030303u, q4_2.w);
    let q4_3 = staged[120u + i_6];
    acc += dot4I8Packed(w4_3.x & 0x03030303u, q4_3.x);
    acc += dot4I8Packed(w4_3.y & 0x03030303u, q4_3.y);
    acc += dot4I8Packed(w4_3.z & 0x03030303u, q4_3.z);
    acc += dot4I8Packed(w4_3.w & 0x03030303u, q4_3.w);
    let i_7 = lane_of_row_1 + 16u;
    let q4_4 = staged[0u + i_7];
    acc += dot4I8Packed((w4_4.x >> 6u) & 0x03030303u, q4_4.x);
    acc += dot4I8Packed((w4_4.y >> 6u) & 0x03030303u, q4_4.y);
    acc += dot4I8Packed((w4_4.z >> 6u) & 0x03030303u, q4_4.z);
    acc += dot4I8Packed((w4_4.w >> 6u) & 0x03030303u, q4_4.w);
    let q4_5 = staged[40u + i_7];
    acc += dot4I8Packed((w4_4.x >> 4u) & 0x03030303u, q4_5.x);
    acc += dot4I8Packed((w4_4.y >> 4u) & 0x03030303u, q4_5.y);
    acc += dot4I8Packed((w4_4.z >> 4u) & 0x03030303u, q4_5.z);
    acc += dot4I8Packed((w4_4.w >> 4u) & 0x03030303u, q4_5.w);
    let q4_6 = staged[80u + i_7];
    acc += dot4I8Packed((w4_4.x >> 2u) & 0x03030303u, q4_6.x);
    acc += dot4I8Packed((w4_4.y >> 2u) & 0x03030303u, q4_6.y);
    acc += dot4I8Packed((w4_4.z >> 2u) & 0x03030303u, q4_6.z);
    acc += dot4I8Packed((w4_4.w >> 2u) & 0x03030303u, q4_6.w);
    let q4_7 = staged[120u + i_7];
    acc += dot4I8Packed(w4_4.x & 0x03030303u, q4_7.x);
    acc += dot4I8Packed(w4_4.y & 0x03030303u, q4_7.y);
    acc += dot4I8Packed(w4_4.z & 0x03030303u, q4_7.z);
    acc += dot4I8Packed(w4_4.w & 0x03030303u, q4_7.w);
    let i_8 = lane_of_row_1 + 32u;
    if (i_8 < 40u) {
      let q4_8 = staged[0u + i_8];
      acc += dot4I8Packed((w4_5.x >> 6u) & 0x03030303u, q4_8.x);
      acc += dot4I8Packed((w4_5.y >> 6u) & 0x03030303u, q4_8.y);
      acc += dot4I8Packed((w4_5.z >> 6u) & 0x03030303u, q4_8.z);
      acc += dot4I8Packed((w4_5.w >> 6u) & 0x03030303u, q4_8.w);
      let q4_9 = staged[40u + i_8];
      acc += dot4I8Packed((w4_5.x >> 4u) & 0x03030303u, q4_9.x);
      acc += dot4I8Packed((w4_5.y >> 4u) & 0x03030303u, q4_9.y);
      acc += dot4I8Packed((w4_5.z >> 4u) & 0x03030303u, q4_9.z);
      acc += dot4I8Packed((w4_5.w >> 4u) & 0x03030303u, q4_9.w);
      let q4_10 = staged[80u + i_8];
      acc += dot4I8Packed((w4_5.x >> 2u) & 0x03030303u, q4_10.x);
      acc += dot4I8Packed((w4_5.y >> 2u) & 0x03030303u, q4_10.y);
      acc += dot4I8Packed((w4_5.z >> 2u) & 0x03030303u, q4_10.z);
      acc += dot4I8Packed((w4_5.w >> 2u) & 0x03030303u, q4_10.w);
      let q4_11 = staged[120u + i_8];
      acc += dot4I8Packed(w4_5.x & 0x03030303u, q4_11.x);
      acc += dot4I8Packed(w4_5.y & 0x03030303u, q4_11.y);
      acc += dot4I8Packed(w4_5.z & 0x03030303u, q4_11.z);
      acc += dot4I8Packed(w4_5.w & 0x03030303u, q4_11.w);
    }
    let mine = acc;
    let sg_32 = subgroupShuffleXor(mine, 8u);
    let sum_8 = mine + sg_32;
    let sg_33 = subgroupShuffleXor(sum_8, 4u);
    let sum_9 = sum_8 + sg_33;
    let sg_34 = subgroupShuffleXor(sum_9, 2u);
    let sum_10 = sum_9 + sg_34;
    let sg_35 = subgroupShuffleXor(sum_10, 1u);
    let sum_11 = sum_10 + sg_35;
    if ((lane_of_row_1 == 0u) && (row_2 < end_row_1)) {
      let of_k_or_v = select(w_scale_5, w_scale_4, row_2 < 3200u);
      let w_scale_6 = select(of_k_or_v, w_scale_3, row_2 < 2560u);
      let value_10 = f32(sum_11 - sg_31) / x_scale * w_scale_6;
      let place_11 = row_2 + 2624u;
      let value_bits_1 = bitcast<u32>(value_10);
      let half_1 = select(2u, 0u, (value_bits_1 & 2139095040u) == 2139095040u);
      let rounded_1 = value_bits_1 + half_1;
      atomicStore(&words[place_11], (rounded_1 & 4294967292u) | tag);
    }
    for (var more = first_row_1 + 16u; more < end_row_1; more += 16u) {
      let group_2 = tid / 16u;
      let lane_of_row_2 = tid & 15u;
      let row_3 = more + group_2;
      let safe_row_2 = min(row_3, end_row_1 - 1u);
      let start_2 = layer * 1085440u + 0u + safe_row_2 * 40u;
      let i_9 = lane_of_row_2 + 0u;
      let w4_6 = w[start_2 + i_9];
      let i_10 = lane_of_row_2 + 16u;
      let w4_7 = w[start_2 + i_10];
      let i_11 = min(lane_of_row_2 + 32u, 39u);
      let w4_8 = w[start_2 + i_11];
      var acc_1: i32 = 0i;
      let i_12 = lane_of_row_2 + 0u;
      let q4_12 = staged[0u + i_12];
      acc_1 += dot4I8Packed((w4_6.x >> 6u) & 0x03030303u, q4_12.x);
      acc_1 += dot4I8Packed((w4_6.y >> 6u) & 0x03030303u, q4_12.y);
      acc_1 += dot4I8Packed((w4_6.z >> 6u) & 0x03030303u, q4_12.z);
      acc_1 += dot4I8Packed((w4_6.w >> 6u) & 0x03030303u, q4_12.w);
      let q4_13 = staged[40u + i_12];
      acc_1 += dot4I8Packed((w4_6.x >> 4u) & 0x03030303u, q4_13.x);
      acc_1 += dot4I8Packed((w4_6.y >> 4u) & 0x03030303u, q4_13.y);
      acc_1 += dot4I8Packed((w4_6.z >> 4u) & 0x03030303u, q4_13.z);
      acc_1 += dot4I8Packed((w4_6.w >> 4u) & 0x03030303u, q4_13.w);
      let q4_14 = staged[80u + i_12];
      acc_1 += dot4I8Packed((w4_6.x >> 2u) & 0x03030303u, q4_14.x);
      acc_1 += dot4I8Packed((w4_6.y >> 2u) & 0x03030303u, q4_14.y);
      acc_1 += dot4I8Packed((w4_6.z >> 2u) & 0x03030303u, q4_14.z);
      acc_1 += dot4I8Packed((w4_6.w >> 2u) & 0x03030303u, q4_14.w);
      let q4_15 = staged[120u + i_12];
      acc_1 += dot4I8Packed(w4_6.x & 0x03030303u, q4_15.x);
      acc_1 += dot4I8Packed(w4_6.y & 0x03030303u, q4_15.y);
      acc_1 += dot4I8Packed(w4_6.z & 0x03030303u, q4_15.z);
      acc_1 += dot4I8Packed(w4_6.w & 0x03030303u, q4_15.w);
      let i_13 = lane_of_row_2 + 16u;
      let q4_16 = staged[0u + i_13];
      acc_1 += dot4I8Packed((w4_7.x >> 6u) & 0x03030303u, q4_16.x);
      acc_1 += dot4I8Packed((w4_7.y >> 6u) & 0x03030303u, q4_16.y);
      acc_1 += dot4I8Packed((w4_7.z >> 6u) & 0x03030303u, q4_16.z);
      acc_1 += dot4I8Packed((w4_7.w >> 6u) & 0x03030303u, q4_16.w);
      let q4_17 = staged[40u + i_13];
      acc_1 += dot4I8Packed((w4_7.x >> 4u) & 0x03030303u, q4_17.x);
      acc_1 += dot4I8Packed((w4_7.y >> 4u) & 0x03030303u, q4_17.y);
      acc_1 += dot4I8Packed((w4_7.z >> 4u) & 0x03030303u, q4_17.z);
      acc_1 += dot4I8Packed((w4_7.w >> 4u) & 0x03030303u, q4_17.w);
      let q4_18 = staged[80u + i_13];
      acc_1 += dot4I8Packed((w4_7.x >> 2u) & 0x03030303u, q4_18.x);
      acc_1 += dot4I8Packed((w4_7.y >> 2u) & 0x03030303u, q4_18.y);
      acc_1 += dot4I8Packed((w4_7.z >> 2u) & 0x03030303u, q4_18.z);
      acc_1 += dot4I8Packed((w4_7.w >> 2u) & 0x03030303u, q4_18.w);
      let q4_19 = staged[120u + i_13];
      acc_1 += dot4I8Packed(w4_7.x & 0x03030303u, q4_19.x);
      acc_1 += dot4I8Packed(w4_7.y & 0x03030303u, q4_19.y);
      acc_1 += dot4I8Packed(w4_7.z & 0x03030303u, q4_19.z);
      acc_1 += dot4I8Packed(w4_7.w & 0x03030303u, q4_19.w);
      let i_14 = lane_of_row_2 + 32u;
      if (i_14 < 40u) {
        let q4_20 = staged[0u + i_14];
        acc_1 += dot4I8Packed((w4_8.x >> 6u) & 0x03030303u, q4_20.x);
        acc_1 += dot4I8Packed((w4_8.y >> 6u) & 0x03030303u, q4_20.y);
        acc_1 += dot4I8Packed((w4_8.z >> 6u) & 0x03030303u, q4_20.z);
        acc_1 += dot4I8Packed((w4_8.w >> 6u) & 0x03030303u, q4_20.w);
        let q4_21 = staged[40u + i_14];
        acc_1 += dot4I8Packed((w4_8.x >> 4u) & 0x03030303u, q4_21.x);
        acc_1 += dot4I8Packed((w4_8.y >> 4u) & 0x03030303u, q4_21.y);
        acc_1 += dot4I8Packed((w4_8.z >> 4u) & 0x03030303u, q4_21.z);
        acc_1 += dot4I8Packed((w4_8.w >> 4u) & 0x03030303u, q4_21.w);
        let q4_22 = staged[80u + i_14];
        acc_1 += dot4I8Packed((w4_8.x >> 2u) & 0x03030303u, q4_22.x);
        acc_1 += dot4I8Packed((w4_8.y >> 2u) & 0x03030303u, q4_22.y);
        acc_1 += dot4I8Packed((w4_8.z >> 2u) & 0x03030303u, q4_22.z);
        acc_1 += dot4I8Packed((w4_8.w >> 2u) & 0x03030303u, q4_22.w);
        let q4_23 = staged[120u + i_14];
        acc_1 += dot4I8Packed(w4_8.x & 0x03030303u, q4_23.x);
        acc_1 += dot4I8Packed(w4_8.y & 0x03030303u, q4_23.y);
        acc_1 += dot4I8Packed(w4_8.z & 0x03030303u, q4_23.z);
        acc_1 += dot4I8Packed(w4_8.w & 0x03030303u, q4_23.w);
      }
      let mine_1 = acc_1;
      let sg_36 = subgroupShuffleXor(mine_1, 8u);
      let sum_12 = mine_1 + sg_36;
      let sg_37 = subgroupShuffleXor(sum_12, 4u);
      let sum_13 = sum_12 + sg_37;
      let sg_38 = subgroupShuffleXor(sum_13, 2u);
      let sum_14 = sum_13 + sg_38;
      let sg_39 = subgroupShuffleXor(sum_14, 1u);
      let sum_15 = sum_14 + sg_39;
      if ((lane_of_row_2 == 0u) && (row_3 < end_row_1)) {
        let of_k_or_v_1 = select(w_scale_5, w_scale_4, row_3 < 3200u);
        let w_scale_7 = select(of_k_or_v_1, w_scale_3, row_3 < 2560u);
        let value_11 = f32(sum_15 - sg_31) / x_scale * w_scale_7;
        let place_12 = row_3 + 2624u;
        let value_bits_2 = bitcast<u32>(value_11);
        let half_2 = select(2u, 0u, (value_bits_2 & 2139095040u) == 2139095040u);
        let rounded_2 = value_bits_2 + half_2;
        atomicStore(&words[place_12], (rounded_2 & 4294967292u) | tag);
      }
    }
    let pair_4 = min(tid + 0u, 383u);
    let slot = pair_4 / 64u;
    let pair_of_head = pair_4 % 64u;
    let is_query = slot < 4u;
    let is_value = slot == 5u;
    let of_kv = kv_head + 20u + select(0u, 5u, is_value);
    let head = select(of_kv, kv_head * 4u + slot, is_query);
    let safe_slot = select(0u, head, is_used);
    let a_at = pair_of_head * 2u;
    let b_at = pair_of_head * 2u + 1u;
    let place_13 = safe_slot * 128u + a_at + 2624u;
    let place_14 = safe_slot * 128u + b_at + 2624u;
    workgroupBarrier();
    var found_10: u32 = 0u;
    var found_11: u32 = 0u;
    var waits_1: u32 = 1u;
    let end_2 = patience;
    for (var early_1 = 0u; early_1 < end_2; early_1 += 1u) {
      let now_15 = (atomicLoad(&words[place_14]));
      found_10 = now_15;
      var n_failed_2: u32 = 0u;
      if ((early_1 & 255u) == 255u) {
        let now_16 = (atomicLoad(&words[32u]));
        n_failed_2 = now_16;
      }
      let given_up_2 = n_failed_2 != 0u;
      if ((((found_10 ^ tag) & 3u) == 0u) || given_up_2) {
        break;
      }
    }
    let end_3 = patience;
    for (var tries_1 = 0u; tries_1 < end_3; tries_1 += 1u) {
      let now_17 = (atomicLoad(&words[place_13]));
      found_10 = now_17;
      let now_18 = (atomicLoad(&words[place_14]));
      found_11 = now_18;
      var odd_1: u32 = 0u;
      odd_1 = odd_1 | (found_10 ^ tag);
      odd_1 = odd_1 | (found_11 ^ tag);
      if ((odd_1 & 3u) == 0u) {
        waits_1 = 0u;
        break;
      }
      var n_failed_3: u32 = 0u;
      if ((tries_1 & 255u) == 255u) {
        let now_19 = (atomicLoad(&words[32u]));
        n_failed_3 = now_19;
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
    let value_12 = bitcast<f32>(found_10 & 4294967292u);
    let value_13 = bitcast<f32>(found_11 & 4294967292u);
    let turn = select(angle, vec2<f32>(1f, 0f), is_value);
    let q_factor = select(1f, 0.088388346f, is_query);
    let turned_a = (value_12 * turn.x - value_13 * turn.y) * q_factor;
    let turned_b = (value_13 * turn.x + value_12 * turn.y) * q_factor;
    let cached = pack2x16float(vec2<f32>(turned_a, turned_b));
    let as_cached = unpack2x16float(cached);
    if ((tid + 0u) < 384u) {
      turned[slot * 128u + a_at] = select(as_cached.x, turned_a, is_query);
      turned[slot * 128u + b_at] = select(as_cached.y, turned_b, is_query);
    }
    let pair_5 = min(tid + 256u, 383u);
    let slot_1 = pair_5 / 64u;
    let pair_of_head_1 = pair_5 % 64u;
    let is_query_1 = slot_1 < 4u;
    let is_value_1 = slot_1 == 5u;
    let of_kv_1 = kv_head + 20u + select(0u, 5u, is_value_1);
    let head_1 = select(of_kv_1, kv_head * 4u + slot_1, is_query_1);
    let safe_slot_1 = select(0u, head_1, is_used);
    let a_at_1 = pair_of_head_1 * 2u;
    let b_at_1 = pair_of_head_1 * 2u + 1u;
    let place_15 = safe_slot_1 * 128u + a_at_1 + 2624u;
    let place_16 = safe_slot_1 * 128u + b_at_1 + 2624u;
    workgroupBarrier();
    var found_12: u32 = 0u;
    var found_13: u32 = 0u;
    var waits_2: u32 = 1u;
    let end_4 = patience;
    for (var early_2 = 0u; early_2 < end_4; early_2 += 1u) {
      let now_20 = (atomicLoad(&words[place_16]));
      found_12 = now_20;
      var n_failed_4: u32 = 0u;
      if ((early_2 & 255u) == 255u) {
        let now_21 = (atomicLoad(&words[32u]));
        n_failed_4 = now_21;
      }
      let given_up_4 = n_failed_4 != 0u;
      if ((((found_12 ^ tag) & 3u) == 0u) || given_up_4) {
        break;
      }
    }
    let end_5 = patience;
    for (var tries_2 = 0u; tries_2 < end_5; tries_2 += 1u) {
      let now_22 = (atomicLoad(&words[place_15]));
      found_12 = now_22;
      let now_23 = (atomicLoad(&words[place_16]));
      found_13 = now_23;
      var odd_2: u32 = 0u;
      odd_2 = odd_2 | (found_12 ^ tag);
      odd_2 = odd_2 | (found_13 ^ tag);
      if ((odd_2 & 3u) == 0u) {
        waits_2 = 0u;
        break;
      }
      var n_failed_5: u32 = 0u;
      if ((tries_2 & 255u) == 255u) {
        let now_24 = (atomicLoad(&words[32u]));
        n_failed_5 = now_24;
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
    let value_14 = bitcast<f32>(found_12 & 4294967292u);
    let value_15 = bitcast<f32>(found_13 & 4294967292u);
    let turn_1 = select(angle_1, vec2<f32>(1f, 0f), is_value_1);
    let q_factor_1 = select(1f, 0.088388346f, is_query_1);
    let turned_a_1 = (value_14 * turn_1.x - value_15 * turn_1.y) * q_factor_1;
    let turned_b_1 = (value_15 * turn_1.x + value_14 * turn_1.y) * q_factor_1;
    let cached_1 = pack2x16float(vec2<f32>(turned_a_1, turned_b_1));
    let as_cached_1 = unpack2x16float(cached_1);
    if ((tid + 256u) < 384u) {
      turned[slot_1 * 128u + a_at_1] = select(as_cached_1.x, turned_a_1, is_query_1);
      turned[slot_1 * 128u + b_at_1] = select(as_cached_1.y, turned_b_1, is_query_1);
    }
    workgroupBarrier();
    let n_used = min((end_pos - first_pos + 1u) / 2u, 8u);
    if ((tid / 32u) < n_used) {
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
      var greatest: f32 = -3e+38f;
      var total: f32 = 0f;
      var acc_2: vec4<f32> = vec4<f32>();
      var acc_3: vec4<f32> = vec4<f32>();
      var greatest_1: f32 = -3e+38f;
      var total_1: f32 = 0f;
      var acc_4: vec4<f32> = vec4<f32>();
      var acc_5: vec4<f32> = vec4<f32>();
      var greatest_2: f32 = -3e+38f;
      var total_2: f32 = 0f;
      var acc_6: vec4<f32> = vec4<f32>();
      var acc_7: vec4<f32> = vec4<f32>();
      var greatest_3: f32 = -3e+38f;
      var total_3: f32 = 0f;
      var acc_8: vec4<f32> = vec4<f32>();
      var acc_9: vec4<f32> = vec4<f32>();
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
      let sg_40 = subgroupShuffleXor(my_part, 8u);
      let sum_16 = my_part + sg_40;
      let sg_41 = subgroupShuffleXor(sum_16, 4u);
      let sum_17 = sum_16 + sg_41;
      let sg_42 = subgroupShuffleXor(sum_17, 2u);
      let sum_18 = sum_17 + sg_42;
      let sg_43 = subgroupShuffleXor(sum_18, 1u);
      let sum_19 = sum_18 + sg_43;
      let seen = select(-3e+38f, sum_19, is_seen);
      let most_2 = max(greatest, seen);
      let shrink = exp(greatest - most_2);
      let weight = select(0f, exp(seen - most_2), is_seen);
      total = total * shrink + weight;
      let v4_2 = select(vec4<f32>(0f), v4, is_seen);
      acc_2 = acc_2 * shrink + v4_2 * weight;
      let v4_3 = select(vec4<f32>(0f), v4_1, is_seen);
      acc_3 = acc_3 * shrink + v4_3 * weight;
      greatest = most_2;
      var score_1: f32 = 0f;
      let k4_4 = k4;
      score_1 += dot(d4_2, k4_4);
      let k4_5 = k4_1;
      score_1 += dot(d4_3, k4_5);
      let my_part_1 = score_1;
      let sg_44 = subgroupShuffleXor(my_part_1, 8u);
      let sum_20 = my_part_1 + sg_44;
      let sg_45 = subgroupShuffleXor(sum_20, 4u);
      let sum_21 = sum_20 + sg_45;
      let sg_46 = subgroupShuffleXor(sum_21, 2u);
      let sum_22 = sum_21 + sg_46;
      let sg_47 = subgroupShuffleXor(sum_22, 1u);
      let sum_23 = sum_22 + sg_47;
      let seen_1 = select(-3e+38f, sum_23, is_seen);
      let most_3 = max(greatest_1, seen_1);
      let shrink_1 = exp(greatest_1 - most_3);
      let weight_1 = select(0f, exp(seen_1 - most_3), is_seen);
      total_1 = total_1 * shrink_1 + weight_1;
      let v4_4 = select(vec4<f32>(0f), v4, is_seen);
      acc_4 = acc_4 * shrink_1 + v4_4 * weight_1;
      let v4_5 = select(vec4<f32>(0f), v4_1, is_seen);
      acc_5 = acc_5 * shrink_1 + v4_5 * weight_1;
      greatest_1 = most_3;
      var score_2: f32 = 0f;
      let k4_6 = k4;
      score_2 += dot(d4_4, k4_6);
      let k4_7 = k4_1;
      score_2 += dot(d4_5, k4_7);
      let my_part_2 = score_2;
      let sg_48 = subgroupShuffleXor(my_part_2, 8u);
      let sum_24 = my_part_2 + sg_48;
      let sg_49 = subgroupShuffleXor(sum_24, 4u);
      let sum_25 = sum_24 + sg_49;
      let sg_50 = subgroupShuffleXor(sum_25, 2u);
      let sum_26 = sum_25 + sg_50;
      let sg_51 = subgroupShuffleXor(sum_26, 1u);
      let sum_27 = sum_26 + sg_51;
      let seen_2 = select(-3e+38f, sum_27, is_seen);
      let most_4 = max(greatest_2, seen_2);
      let shrink_2 = exp(greatest_2 - most_4);
      let weight_2 = select(0f, exp(seen_2 - most_4), is_seen);
      total_2 = total_2 * shrink_2 + weight_2;
      let v4_6 = select(vec4<f32>(0f), v4, is_seen);
      acc_6 = acc_6 * shrink_2 + v4_6 * weight_2;
      let v4_7 = select(vec4<f32>(0f), v4_1, is_seen);
      acc_7 = acc_7 * shrink_2 + v4_7 * weight_2;
      greatest_2 = most_4;
      var score_3: f32 = 0f;
      let k4_8 = k4;
      score_3 += dot(d4_6, k4_8);
      let k4_9 = k4_1;
      score_3 += dot(d4_7, k4_9);
      let my_part_3 = score_3;
      let sg_52 = subgroupShuffleXor(my_part_3, 8u);
      let sum_28 = my_part_3 + sg_52;
      let sg_53 = subgroupShuffleXor(sum_28, 4u);
      let sum_29 = sum_28 + sg_53;
      let sg_54 = subgroupShuffleXor(sum_29, 2u);
      let sum_30 = sum_29 + sg_54;
      let sg_55 = subgroupShuffleXor(sum_30, 1u);
      let sum_31 = sum_30 + sg_55;
      let seen_3 = select(-3e+38f, sum_31, is_seen);
      let most_5 = max(greatest_3, seen_3);
      let shrink_3 = exp(greatest_3 - most_5);
      let weight_3 = select(0f, exp(seen_3 - most_5), is_seen);
      total_3 = total_3 * shrink_3 + weight_3;
      let v4_8 = select(vec4<f32>(0f), v4, is_seen);
      acc_8 = acc_8 * shrink_3 + v4_8 * weight_3;
      let v4_9 = select(vec4<f32>(0f), v4_1, is_seen);
      acc_9 = acc_9 * shrink_3 + v4_9 * weight_3;
      greatest_3 = most_5;
      for (var from_pos = first_pos + 16u; from_pos < end_pos; from_pos += 16u) {
        let p = from_pos + group_of_pos;
        let safe_pos_2 = min(p, pos);
        let safe_head_2 = min(kv_head, 4u);
        let block_2 = params[table + safe_pos_2 / 64u];
        let key_at_2 = ((block_2 * 10u + safe_head_2) * 64u + safe_pos_2 % 64u) * 16u + lane_of_pos;
        let key_of_layer_2 = layer * kv_layer + key_at_2;
        let k8_2 = kv[key_of_layer_2 + 0u];
        let v8_2 = kv[key_of_layer_2 + 5120u];
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
          kv[key_of_layer_2 + 0u] = vec4<u32>(half2_8, half2_9, half2_10, half2_11);
          let half2_12 = pack2x16float(vec2<f32>(d4_14.x, d4_14.y));
          let half2_13 = pack2x16float(vec2<f32>(d4_14.z, d4_14.w));
          let half2_14 = pack2x16float(vec2<f32>(d4_15.x, d4_15.y));
          let half2_15 = pack2x16float(vec2<f32>(d4_15.z, d4_15.w));
          kv[key_of_layer_2 + 5120u] = vec4<u32>(half2_12, half2_13, half2_14, half2_15);
        }
        var score_4: f32 = 0f;
        let k4_12 = k4_10;
        score_4 += dot(d4, k4_12);
        let k4_13 = k4_11;
        score_4 += dot(d4_1, k4_13);
        let my_part_4 = score_4;
        let sg_56 = subgroupShuffleXor(my_part_4, 8u);
        let sum_32 = my_part_4 + sg_56;
        let sg_57 = subgroupShuffleXor(sum_32, 4u);
        let sum_33 = sum_32 + sg_57;
        let sg_58 = subgroupShuffleXor(sum_33, 2u);
        let sum_34 = sum_33 + sg_58;
        let sg_59 = subgroupShuffleXor(sum_34, 1u);
        let sum_35 = sum_34 + sg_59;
        let seen_4 = select(-3e+38f, sum_35, is_seen_1);
        let most_6 = max(greatest, seen_4);
        let shrink_4 = exp(greatest - most_6);
        let weight_4 = select(0f, exp(seen_4 - most_6), is_seen_1);
        total = total * shrink_4 + weight_4;
        let v4_12 = select(vec4<f32>(0f), v4_10, is_seen_1);
        acc_2 = acc_2 * shrink_4 + v4_12 * weight_4;
        let v4_13 = select(vec4<f32>(0f), v4_11, is_seen_1);
        acc_3 = acc_3 * shrink_4 + v4_13 * weight_4;
        greatest = most_6;
        var score_5: f32 = 0f;
        let k4_14 = k4_10;
        score_5 += dot(d4_2, k4_14);
        let k4_15 = k4_11;
        score_5 += dot(d4_3, k4_15);
        let my_part_5 = score_5;
        let sg_60 = subgroupShuffleXor(my_part_5, 8u);
        let sum_36 = my_part_5 + sg_60;
        let sg_61 = subgroupShuffleXor(sum_36, 4u);
        let sum_37 = sum_36 + sg_61;
        let sg_62 = subgroupShuffleXor(sum_37, 2u);
        let sum_38 = sum_37 + sg_62;
        let sg_63 = subgroupShuffleXor(sum_38, 1u);
        let sum_39 = sum_38 + sg_63;
        let seen_5 = select(-3e+38f, sum_39, is_seen_1);
        let most_7 = max(greatest_1, seen_5);
        let shrink_5 = exp(greatest_1 - most_7);
        let weight_5 = select(0f, exp(seen_5 - most_7), is_seen_1);
        total_1 = total_1 * shrink_5 + weight_5;
        let v4_14 = select(vec4<f32>(0f), v4_10, is_seen_1);
        acc_4 = acc_4 * shrink_5 + v4_14 * weight_5;
        let v4_15 = select(vec4<f32>(0f), v4_11, is_seen_1);
        acc_5 = acc_5 * shrink_5 + v4_15 * weight_5;
        greatest_1 = most_7;
        var score_6: f32 = 0f;
        let k4_16 = k4_10;
        score_6 += dot(d4_4, k4_16);
        let k4_17 = k4_11;
        score_6 += dot(d4_5, k4_17);
        let my_part_6 = score_6;
        let sg_64 = subgroupShuffleXor(my_part_6, 8u);
        let sum_40 = my_part_6 + sg_64;
        let sg_65 = subgroupShuffleXor(sum_40, 4u);
        let sum_41 = sum_40 + sg_65;
        let sg_66 = subgroupShuffleXor(sum_41, 2u);
        let sum_42 = sum_41 + sg_66;
        let sg_67 = subgroupShuffleXor(sum_42, 1u);
        let sum_43 = sum_42 + sg_67;
        let seen_6 = select(-3e+38f, sum_43, is_seen_1);
        let most_8 = max(greatest_2, seen_6);
        let shrink_6 = exp(greatest_2 - most_8);
        let weight_6 = select(0f, exp(seen_6 - most_8), is_seen_1);
        total_2 = total_2 * shrink_6 + weight_6;
        let v4_16 = select(vec4<f32>(0f), v4_10, is_seen_1);
        acc_6 = acc_6 * shrink_6 + v4_16 * weight_6;
        let v4_17 = select(vec4<f32>(0f), v4_11, is_seen_1);
        acc_7 = acc_7 * shrink_6 + v4_17 * weight_6;
        greatest_2 = most_8;
        var score_7: f32 = 0f;
        let k4_18 = k4_10;
        score_7 += dot(d4_6, k4_18);
        let k4_19 = k4_11;
        score_7 += dot(d4_7, k4_19);
        let my_part_7 = score_7;
        let sg_68 = subgroupShuffleXor(my_part_7, 8u);
        let sum_44 = my_part_7 + sg_68;
        let sg_69 = subgroupShuffleXor(sum_44, 4u);
        let sum_45 = sum_44 + sg_69;
        let sg_70 = subgroupShuffleXor(sum_45, 2u);
        let sum_46 = sum_45 + sg_70;
        let sg_71 = subgroupShuffleXor(sum_46, 1u);
        let sum_47 = sum_46 + sg_71;
        let seen_7 = select(-3e+38f, sum_47, is_seen_1);
        let most_9 = max(greatest_3, seen_7);
        let shrink_7 = exp(greatest_3 - most_9);
        let weight_7 = select(0f, exp(seen_7 - most_9), is_seen_1);
        total_3 = total_3 * shrink_7 + weight_7;
        let v4_18 = select(vec4<f32>(0f), v4_10, is_seen_1);
        acc_8 = acc_8 * shrink_7 + v4_18 * weight_7;
        let v4_19 = select(vec4<f32>(0f), v4_11, is_seen_1);
        acc_9 = acc_9 * shrink_7 + v4_19 * weight_7;
        greatest_3 = most_9;
      }
      var most_10: f32 = greatest;
      let mine_2 = most_10;
      let sg_72 = subgroupShuffleXor(mine_2, 16u);
      most_10 = max(mine_2, sg_72);
      let of_subgroup = most_10;
      let shrink_8 = exp(greatest - of_subgroup);
      let my_total = total * shrink_8;
      let sg_73 = subgroupShuffleXor(my_total, 16u);
      let sum_48 = my_total + sg_73;
      let sums_row = (tid / 32u * 4u + 0u) * 132u;
      let mine_3 = acc_2.x * shrink_8;
      let sg_74 = subgroupShuffleXor(mine_3, 16u);
      let sum_49 = mine_3 + sg_74;
      if ((tid % 32u) < 16u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 0u)] = sum_49;
      }
      let mine_4 = acc_2.y * shrink_8;
      let sg_75 = subgroupShuffleXor(mine_4, 16u);
      let sum_50 = mine_4 + sg_75;
      if ((tid % 32u) < 16u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 1u)] = sum_50;
      }
      let mine_5 = acc_2.z * shrink_8;
      let sg_76 = subgroupShuffleXor(mine_5, 16u);
      let sum_51 = mine_5 + sg_76;
      if ((tid % 32u) < 16u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 2u)] = sum_51;
      }
      let mine_6 = acc_2.w * shrink_8;
      let sg_77 = subgroupShuffleXor(mine_6, 16u);
      let sum_52 = mine_6 + sg_77;
      if ((tid % 32u) < 16u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 3u)] = sum_52;
      }
      let mine_7 = acc_3.x * shrink_8;
      let sg_78 = subgroupShuffleXor(mine_7, 16u);
      let sum_53 = mine_7 + sg_78;
      if ((tid % 32u) < 16u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 4u)] = sum_53;
      }
      let mine_8 = acc_3.y * shrink_8;
      let sg_79 = subgroupShuffleXor(mine_8, 16u);
      let sum_54 = mine_8 + sg_79;
      if ((tid % 32u) < 16u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 5u)] = sum_54;
      }
      let mine_9 = acc_3.z * shrink_8;
      let sg_80 = subgroupShuffleXor(mine_9, 16u);
      let sum_55 = mine_9 + sg_80;
      if ((tid % 32u) < 16u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 6u)] = sum_55;
      }
      let mine_10 = acc_3.w * shrink_8;
      let sg_81 = subgroupShuffleXor(mine_10, 16u);
      let sum_56 = mine_10 + sg_81;
      if ((tid % 32u) < 16u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 7u)] = sum_56;
      }
      if ((tid % 32u) == 0u) {
        sums[sums_row + 128u] = of_subgroup;
        sums[sums_row + 129u] = sum_48;
      }
      var most_11: f32 = greatest_1;
      let mine_11 = most_11;
      let sg_82 = subgroupShuffleXor(mine_11, 16u);
      most_11 = max(mine_11, sg_82);
      let of_subgroup_1 = most_11;
      let shrink_9 = exp(greatest_1 - of_subgroup_1);
      let my_total_1 = total_1 * shrink_9;
      let sg_83 = subgroupShuffleXor(my_total_1, 16u);
      let sum_57 = my_total_1 + sg_83;
      let sums_row_1 = (tid / 32u * 4u + 1u) * 132u;
      let mine_12 = acc_4.x * shrink_9;
      let sg_84 = subgroupShuffleXor(mine_12, 16u);
      let sum_58 = mine_12 + sg_84;
      if ((tid % 32u) < 16u) {
        sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 0u)] = sum_58;
      }
      let mine_13 = acc_4.y * shrink_9;
      let sg_85 = subgroupShuffleXor(mine_13, 16u);
      let sum_59 = mine_13 + sg_85;
      if ((tid % 32u) < 16u) {
        sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 1u)] = sum_59;
      }
      let mine_14 = acc_4.z * shrink_9;
      let sg_86 = subgroupShuffleXor(mine_14, 16u);
      let sum_60 = mine_14 + sg_86;
      if ((tid % 32u) < 16u) {
        sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 2u)] = sum_60;
      }
      let mine_15 = acc_4.w * shrink_9;
      let sg_87 = subgroupShuffleXor(mine_15, 16u);
      let sum_61 = mine_15 + sg_87;
      if ((tid % 32u) < 16u) {
        sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 3u)] = sum_61;
      }
      let mine_16 = acc_5.x * shrink_9;
      let sg_88 = subgroupShuffleXor(mine_16, 16u);
      let sum_62 = mine_16 + sg_88;
      if ((tid % 32u) < 16u) {
        sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 4u)] = sum_62;
      }
      let mine_17 = acc_5.y * shrink_9;
      let sg_89 = subgroupShuffleXor(mine_17, 16u);
      let sum_63 = mine_17 + sg_89;
      if ((tid % 32u) < 16u) {
        sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 5u)] = sum_63;
      }
      let mine_18 = acc_5.z * shrink_9;
      let sg_90 = subgroupShuffleXor(mine_18, 16u);
      let sum_64 = mine_18 + sg_90;
      if ((tid % 32u) < 16u) {
        sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 6u)] = sum_64;
      }
      let mine_19 = acc_5.w * shrink_9;
      let sg_91 = subgroupShuffleXor(mine_19, 16u);
      let sum_65 = mine_19 + sg_91;
      if ((tid % 32u) < 16u) {
        sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 7u)] = sum_65;
      }
      if ((tid % 32u) == 0u) {
        sums[sums_row_1 + 128u] = of_subgroup_1;
        sums[sums_row_1 + 129u] = sum_57;
      }
      var most_12: f32 = greatest_2;
      let mine_20 = most_12;
      let sg_92 = subgroupShuffleXor(mine_20, 16u);
      most_12 = max(mine_20, sg_92);
      let of_subgroup_2 = most_12;
      let shrink_10 = exp(greatest_2 - of_subgroup_2);
      let my_total_2 = total_2 * shrink_10;
      let sg_93 = subgroupShuffleXor(my_total_2, 16u);
      let sum_66 = my_total_2 + sg_93;
      let sums_row_2 = (tid / 32u * 4u + 2u) * 132u;
      let mine_21 = acc_6.x * shrink_10;
      let sg_94 = subgroupShuffleXor(mine_21, 16u);
      let sum_67 = mine_21 + sg_94;
      if ((tid % 32u) < 16u) {
        sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 0u)] = sum_67;
      }
      let mine_22 = acc_6.y * shrink_10;
      let sg_95 = subgroupShuffleXor(mine_22, 16u);
      let sum_68 = mine_22 + sg_95;
      if ((tid % 32u) < 16u) {
        sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 1u)] = sum_68;
      }
      let mine_23 = acc_6.z * shrink_10;
      let sg_96 = subgroupShuffleXor(mine_23, 16u);
      let sum_69 = mine_23 + sg_96;
      if ((tid % 32u) < 16u) {
        sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 2u)] = sum_69;
      }
      let mine_24 = acc_6.w * shrink_10;
      let sg_97 = subgroupShuffleXor(mine_24, 16u);
      let sum_70 = mine_24 + sg_97;
      if ((tid % 32u) < 16u) {
        sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 3u)] = sum_70;
      }
      let mine_25 = acc_7.x * shrink_10;
      let sg_98 = subgroupShuffleXor(mine_25, 16u);
      let sum_71 = mine_25 + sg_98;
      if ((tid % 32u) < 16u) {
        sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 4u)] = sum_71;
      }
      let mine_26 = acc_7.y * shrink_10;
      let sg_99 = subgroupShuffleXor(mine_26, 16u);
      let sum_72 = mine_26 + sg_99;
      if ((tid % 32u) < 16u) {
        sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 5u)] = sum_72;
      }
      let mine_27 = acc_7.z * shrink_10;
      let sg_100 = subgroupShuffleXor(mine_27, 16u);
      let sum_73 = mine_27 + sg_100;
      if ((tid % 32u) < 16u) {
        sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 6u)] = sum_73;
      }
      let mine_28 = acc_7.w * shrink_10;
      let sg_101 = subgroupShuffleXor(mine_28, 16u);
      let sum_74 = mine_28 + sg_101;
      if ((tid % 32u) < 16u) {
        sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 7u)] = sum_74;
      }
      if ((tid % 32u) == 0u) {
        sums[sums_row_2 + 128u] = of_subgroup_2;
        sums[sums_row_2 + 129u] = sum_66;
      }
      var most_13: f32 = greatest_3;
      let mine_29 = most_13;
      let sg_102 = subgroupShuffleXor(mine_29, 16u);
      most_13 = max(mine_29, sg_102);
      let of_subgroup_3 = most_13;
      let shrink_11 = exp(greatest_3 - of_subgroup_3);
      let my_total_3 = total_3 * shrink_11;
      let sg_103 = subgroupShuffleXor(my_total_3, 16u);
      let sum_75 = my_total_3 + sg_103;
      let sums_row_3 = (tid / 32u * 4u + 3u) * 132u;
      let mine_30 = acc_8.x * shrink_11;
      let sg_104 = subgroupShuffleXor(mine_30, 16u);
      let sum_76 = mine_30 + sg_104;
      if ((tid % 32u) < 16u) {
        sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 0u)] = sum_76;
      }
      let mine_31 = acc_8.y * shrink_11;
      let sg_105 = subgroupShuffleXor(mine_31, 16u);
      let sum_77 = mine_31 + sg_105;
      if ((tid % 32u) < 16u) {
        sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 1u)] = sum_77;
      }
      let mine_32 = acc_8.z * shrink_11;
      let sg_106 = subgroupShuffleXor(mine_32, 16u);
      let sum_78 = mine_32 + sg_106;
      if ((tid % 32u) < 16u) {
        sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 2u)] = sum_78;
      }
      let mine_33 = acc_8.w * shrink_11;
      let sg_107 = subgroupShuffleXor(mine_33, 16u);
      let sum_79 = mine_33 + sg_107;
      if ((tid % 32u) < 16u) {
        sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 3u)] = sum_79;
      }
      let mine_34 = acc_9.x * shrink_11;
      let sg_108 = subgroupShuffleXor(mine_34, 16u);
      let sum_80 = mine_34 + sg_108;
      if ((tid % 32u) < 16u) {
        sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 4u)] = sum_80;
      }
      let mine_35 = acc_9.y * shrink_11;
      let sg_109 = subgroupShuffleXor(mine_35, 16u);
      let sum_81 = mine_35 + sg_109;
      if ((tid % 32u) < 16u) {
        sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 5u)] = sum_81;
      }
      let mine_36 = acc_9.z * shrink_11;
      let sg_110 = subgroupShuffleXor(mine_36, 16u);
      let sum_82 = mine_36 + sg_110;
      if ((tid % 32u) < 16u) {
        sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 6u)] = sum_82;
      }
      let mine_37 = acc_9.w * shrink_11;
      let sg_111 = subgroupShuffleXor(mine_37, 16u);
      let sum_83 = mine_37 + sg_111;
      if ((tid % 32u) < 16u) {
        sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 7u)] = sum_83;
      }
      if ((tid % 32u) == 0u) {
        sums[sums_row_3 + 128u] = of_subgroup_3;
        sums[sums_row_3 + 129u] = sum_75;
      }
    }
    workgroupBarrier();
    for (var out_value = tid; out_value < 512u; out_value += 256u) {
      let head_2 = out_value / 128u;
      let dim = out_value % 128u;
      var most_14: f32 = -3e+38f;
      for (var i_15 = 0u; i_15 < n_used; i_15 += 1u) {
        let sums_row_4 = (head_2 + i_15 * 4u) * 132u;
        let top = sums[sums_row_4 + 128u];
        most_14 = max(most_14, top);
      }
      var out_sum: f32 = 0f;
      var weights: f32 = 0f;
      for (var i_16 = 0u; i_16 < n_used; i_16 += 1u) {
        let sums_row_5 = (head_2 + i_16 * 4u) * 132u;
        let top_1 = sums[sums_row_5 + 128u];
        let shrink_12 = exp(top_1 - most_14);
        out_sum += sums[sums_row_5 + dim] * shrink_12;
        weights += sums[sums_row_5 + 129u] * shrink_12;
      }
      let part_at = ((kv_head * 4u + head_2) * 16u + split) * 130u;
      if (is_used) {
        let place_17 = part_at + dim + 6464u;
        let whole = out_sum;
        let value_bits_3 = bitcast<u32>(whole);
        let half_3 = select(2u, 0u, (value_bits_3 & 2139095040u) == 2139095040u);
        let rounded_3 = value_bits_3 + half_3;
        atomicStore(&words[place_17], (rounded_3 & 4294967292u) | tag);
        if (dim == 0u) {
          let place_18 = part_at + 6592u;
          let top_of_all = most_14;
          let value_bits_4 = bitcast<u32>(top_of_all);
          let half_4 = select(2u, 0u, (value_bits_4 & 2139095040u) == 2139095040u);
          let rounded_4 = value_bits_4 + half_4;
          atomicStore(&words[place_18], (rounded_4 & 4294967292u) | tag);
          let place_19 = part_at + 6593u;
          let whole_weight = weights;
          let value_bits_5 = bitcast<u32>(whole_weight);
          let half_5 = select(2u, 0u, (value_bits_5 & 2139095040u) == 2139095040u);
          let rounded_5 = value_bits_5 + half_5;
          atomicStore(&words[place_19], (rounded_5 & 4294967292u) | tag);
        }
      }
    }
    workgroupBarrier();
    let pair_6 = min(tid + 0u, 383u);
    let slot_2 = pair_6 / 64u;
    let pair_of_head_2 = pair_6 % 64u;
    let is_query_2 = slot_2 < 4u;
    let is_value_2 = slot_2 == 5u;
    let of_kv_2 = kv_head_1 + 20u + select(0u, 5u, is_value_2);
    let head_3 = select(of_kv_2, kv_head_1 * 4u + slot_2, is_query_2);
    let safe_slot_2 = select(0u, head_3, is_used_1);
    let a_at_2 = pair_of_head_2 * 2u;
    let b_at_2 = pair_of_head_2 * 2u + 1u;
    let place_20 = safe_slot_2 * 128u + a_at_2 + 2624u;
    let place_21 = safe_slot_2 * 128u + b_at_2 + 2624u;
    workgroupBarrier();
    var found_14: u32 = 0u;
    var found_15: u32 = 0u;
    var waits_3: u32 = 1u;
    let end_6 = patience;
    for (var early_3 = 0u; early_3 < end_6; early_3 += 1u) {
      let now_25 = (atomicLoad(&words[place_21]));
      found_14 = now_25;
      var n_failed_6: u32 = 0u;
      if ((early_3 & 255u) == 255u) {
        let now_26 = (atomicLoad(&words[32u]));
        n_failed_6 = now_26;
      }
      let given_up_6 = n_failed_6 != 0u;
      if ((((found_14 ^ tag) & 3u) == 0u) || given_up_6) {
        break;
      }
    }
    let end_7 = patience;
    for (var tries_3 = 0u; tries_3 < end_7; tries_3 += 1u) {
      let now_27 = (atomicLoad(&words[place_20]));
      found_14 = now_27;
      let now_28 = (atomicLoad(&words[place_21]));
      found_15 = now_28;
      var odd_3: u32 = 0u;
      odd_3 = odd_3 | (found_14 ^ tag);
      odd_3 = odd_3 | (found_15 ^ tag);
      if ((odd_3 & 3u) == 0u) {
        waits_3 = 0u;
        break;
      }
      var n_failed_7: u32 = 0u;
      if ((tries_3 & 255u) == 255u) {
        let now_29 = (atomicLoad(&words[32u]));
        n_failed_7 = now_29;
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
    let value_16 = bitcast<f32>(found_14 & 4294967292u);
    let value_17 = bitcast<f32>(found_15 & 4294967292u);
    let turn_2 = select(angle_2, vec2<f32>(1f, 0f), is_value_2);
    let q_factor_2 = select(1f, 0.088388346f, is_query_2);
    let turned_a_2 = (value_16 * turn_2.x - value_17 * turn_2.y) * q_factor_2;
    let turned_b_2 = (value_17 * turn_2.x + value_16 * turn_2.y) * q_factor_2;
    let cached_2 = pack2x16float(vec2<f32>(turned_a_2, turned_b_2));
    let as_cached_2 = unpack2x16float(cached_2);
    if ((tid + 0u) < 384u) {
      turned[slot_2 * 128u + a_at_2] = select(as_cached_2.x, turned_a_2, is_query_2);
      turned[slot_2 * 128u + b_at_2] = select(as_cached_2.y, turned_b_2, is_query_2);
    }
    let pair_7 = min(tid + 256u, 383u);
    let slot_3 = pair_7 / 64u;
    let pair_of_head_3 = pair_7 % 64u;
    let is_query_3 = slot_3 < 4u;
    let is_value_3 = slot_3 == 5u;
    let of_kv_3 = kv_head_1 + 20u + select(0u, 5u, is_value_3);
    let head_4 = select(of_kv_3, kv_head_1 * 4u + slot_3, is_query_3);
    let safe_slot_3 = select(0u, head_4, is_used_1);
    let a_at_3 = pair_of_head_3 * 2u;
    let b_at_3 = pair_of_head_3 * 2u + 1u;
    let place_22 = safe_slot_3 * 128u + a_at_3 + 2624u;
    let place_23 = safe_slot_3 * 128u + b_at_3 + 2624u;
    workgroupBarrier();
    var found_16: u32 = 0u;
    var found_17: u32 = 0u;
    var waits_4: u32 = 1u;
    let end_8 = patience;
    for (var early_4 = 0u; early_4 < end_8; early_4 += 1u) {
      let now_30 = (atomicLoad(&words[place_23]));
      found_16 = now_30;
      var n_failed_8: u32 = 0u;
      if ((early_4 & 255u) == 255u) {
        let now_31 = (atomicLoad(&words[32u]));
        n_failed_8 = now_31;
      }
      let given_up_8 = n_failed_8 != 0u;
      if ((((found_16 ^ tag) & 3u) == 0u) || given_up_8) {
        break;
      }
    }
    let end_9 = patience;
    for (var tries_4 = 0u; tries_4 < end_9; tries_4 += 1u) {
      let now_32 = (atomicLoad(&words[place_22]));
      found_16 = now_32;
      let now_33 = (atomicLoad(&words[place_23]));
      found_17 = now_33;
      var odd_4: u32 = 0u;
      odd_4 = odd_4 | (found_16 ^ tag);
      odd_4 = odd_4 | (found_17 ^ tag);
      if ((odd_4 & 3u) == 0u) {
        waits_4 = 0u;
        break;
      }
      var n_failed_9: u32 = 0u;
      if ((tries_4 & 255u) == 255u) {
        let now_34 = (atomicLoad(&words[32u]));
        n_failed_9 = now_34;
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
    let value_18 = bitcast<f32>(found_16 & 4294967292u);
    let value_19 = bitcast<f32>(found_17 & 4294967292u);
    let turn_3 = select(angle_3, vec2<f32>(1f, 0f), is_value_3);
    let q_factor_3 = select(1f, 0.088388346f, is_query_3);
    let turned_a_3 = (value_18 * turn_3.x - value_19 * turn_3.y) * q_factor_3;
    let turned_b_3 = (value_19 * turn_3.x + value_18 * turn_3.y) * q_factor_3;
    let cached_3 = pack2x16float(vec2<f32>(turned_a_3, turned_b_3));
    let as_cached_3 = unpack2x16float(cached_3);
    if ((tid + 256u) < 384u) {
      turned[slot_3 * 128u + a_at_3] = select(as_cached_3.x, turned_a_3, is_query_3);
      turned[slot_3 * 128u + b_at_3] = select(as_cached_3.y, turned_b_3, is_query_3);
    }
    workgroupBarrier();
    let n_used_1 = min((end_pos_1 - first_pos_1 + 1u) / 2u, 8u);
    if ((tid / 32u) < n_used_1) {
      let from_dim_16 = (lane_of_pos_1 + 0u) * 8u + 0u;
      let d0_16 = turned[from_dim_16];
      let d1_16 = turned[from_dim_16 + 1u];
      let d2_16 = turned[from_dim_16 + 2u];
      let d3_16 = turned[from_dim_16 + 3u];
      let d4_16 = vec4<f32>(d0_16, d1_16, d2_16, d3_16);
      let from_dim_17 = (lane_of_pos_1 + 0u) * 8u + 4u;
      let d0_17 = turned[from_dim_17];
      let d1_17 = turned[from_dim_17 + 1u];
      let d2_17 = turned[from_dim_17 + 2u];
      let d3_17 = turned[from_dim_17 + 3u];
      let d4_17 = vec4<f32>(d0_17, d1_17, d2_17, d3_17);
      let from_dim_18 = (lane_of_pos_1 + 0u) * 8u + 128u;
      let d0_18 = turned[from_dim_18];
      let d1_18 = turned[from_dim_18 + 1u];
      let d2_18 = turned[from_dim_18 + 2u];
      let d3_18 = turned[from_dim_18 + 3u];
      let d4_18 = vec4<f32>(d0_18, d1_18, d2_18, d3_18);
      let from_dim_19 = (lane_of_pos_1 + 0u) * 8u + 132u;
      let d0_19 = turned[from_dim_19];
      let d1_19 = turned[from_dim_19 + 1u];
      let d2_19 = turned[from_dim_19 + 2u];
      let d3_19 = turned[from_dim_19 + 3u];
      let d4_19 = vec4<f32>(d0_19, d1_19, d2_19, d3_19);
      let from_dim_20 = (lane_of_pos_1 + 0u) * 8u + 256u;
      let d0_20 = turned[from_dim_20];
      let d1_20 = turned[from_dim_20 + 1u];
      let d2_20 = turned[from_dim_20 + 2u];
      let d3_20 = turned[from_dim_20 + 3u];
      let d4_20 = vec4<f32>(d0_20, d1_20, d2_20, d3_20);
      let from_dim_21 = (lane_of_pos_1 + 0u) * 8u + 260u;
      let d0_21 = turned[from_dim_21];
      let d1_21 = turned[from_dim_21 + 1u];
      let d2_21 = turned[from_dim_21 + 2u];
      let d3_21 = turned[from_dim_21 + 3u];
      let d4_21 = vec4<f32>(d0_21, d1_21, d2_21, d3_21);
      let from_dim_22 = (lane_of_pos_1 + 0u) * 8u + 384u;
      let d0_22 = turned[from_dim_22];
      let d1_22 = turned[from_dim_22 + 1u];
      let d2_22 = turned[from_dim_22 + 2u];
      let d3_22 = turned[from_dim_22 + 3u];
      let d4_22 = vec4<f32>(d0_22, d1_22, d2_22, d3_22);
      let from_dim_23 = (lane_of_pos_1 + 0u) * 8u + 388u;
      let d0_23 = turned[from_dim_23];
      let d1_23 = turned[from_dim_23 + 1u];
      let d2_23 = turned[from_dim_23 + 2u];
      let d3_23 = turned[from_dim_23 + 3u];
      let d4_23 = vec4<f32>(d0_23, d1_23, d2_23, d3_23);
      var greatest_4: f32 = -3e+38f;
      var total_4: f32 = 0f;
      var acc_10: vec4<f32> = vec4<f32>();
      var acc_11: vec4<f32> = vec4<f32>();
      var greatest_5: f32 = -3e+38f;
      var total_5: f32 = 0f;
      var acc_12: vec4<f32> = vec4<f32>();
      var acc_13: vec4<f32> = vec4<f32>();
      var greatest_6: f32 = -3e+38f;
      var total_6: f32 = 0f;
      var acc_14: vec4<f32> = vec4<f32>();
      var acc_15: vec4<f32> = vec4<f32>();
      var greatest_7: f32 = -3e+38f;
      var total_7: f32 = 0f;
      var acc_16: vec4<f32> = vec4<f32>();
      var acc_17: vec4<f32> = vec4<f32>();
      let is_seen_2 = newest_1 < end_pos_1;
      let k_low_4 = unpack2x16float(k8_1.x);
      let k_high_4 = unpack2x16float(k8_1.y);
      var k4_20: vec4<f32> = vec4<f32>(k_low_4, k_high_4);
      let v_low_4 = unpack2x16float(v8_1.x);
      let v_high_4 = unpack2x16float(v8_1.y);
      var v4_20: vec4<f32> = vec4<f32>(v_low_4, v_high_4);
      let k_low_5 = unpack2x16float(k8_1.z);
      let k_high_5 = unpack2x16float(k8_1.w);
      var k4_21: vec4<f32> = vec4<f32>(k_low_5, k_high_5);
      let v_low_5 = unpack2x16float(v8_1.z);
      let v_high_5 = unpack2x16float(v8_1.w);
      var v4_21: vec4<f32> = vec4<f32>(v_low_5, v_high_5);
      if ((newest_1 == pos_1) && is_seen_2) {
        let from_dim_24 = (lane_of_pos_1 + 0u) * 8u + 512u;
        let d0_24 = turned[from_dim_24];
        let d1_24 = turned[from_dim_24 + 1u];
        let d2_24 = turned[from_dim_24 + 2u];
        let d3_24 = turned[from_dim_24 + 3u];
        let d4_24 = vec4<f32>(d0_24, d1_24, d2_24, d3_24);
        let from_dim_25 = (lane_of_pos_1 + 0u) * 8u + 516u;
        let d0_25 = turned[from_dim_25];
        let d1_25 = turned[from_dim_25 + 1u];
        let d2_25 = turned[from_dim_25 + 2u];
        let d3_25 = turned[from_dim_25 + 3u];
        let d4_25 = vec4<f32>(d0_25, d1_25, d2_25, d3_25);
        let from_dim_26 = (lane_of_pos_1 + 0u) * 8u + 640u;
        let d0_26 = turned[from_dim_26];
        let d1_26 = turned[from_dim_26 + 1u];
        let d2_26 = turned[from_dim_26 + 2u];
        let d3_26 = turned[from_dim_26 + 3u];
        let d4_26 = vec4<f32>(d0_26, d1_26, d2_26, d3_26);
        let from_dim_27 = (lane_of_pos_1 + 0u) * 8u + 644u;
        let d0_27 = turned[from_dim_27];
        let d1_27 = turned[from_dim_27 + 1u];
        let d2_27 = turned[from_dim_27 + 2u];
        let d3_27 = turned[from_dim_27 + 3u];
        let d4_27 = vec4<f32>(d0_27, d1_27, d2_27, d3_27);
        k4_20 = d4_24;
        v4_20 = d4_26;
        k4_21 = d4_25;
        v4_21 = d4_27;
        let half2_16 = pack2x16float(vec2<f32>(d4_24.x, d4_24.y));
        let half2_17 = pack2x16float(vec2<f32>(d4_24.z, d4_24.w));
        let half2_18 = pack2x16float(vec2<f32>(d4_25.x, d4_25.y));
        let half2_19 = pack2x16float(vec2<f32>(d4_25.z, d4_25.w));
        kv[key_of_layer_1 + 0u] = vec4<u32>(half2_16, half2_17, half2_18, half2_19);
        let half2_20 = pack2x16float(vec2<f32>(d4_26.x, d4_26.y));
        let half2_21 = pack2x16float(vec2<f32>(d4_26.z, d4_26.w));
        let half2_22 = pack2x16float(vec2<f32>(d4_27.x, d4_27.y));
        let half2_23 = pack2x16float(vec2<f32>(d4_27.z, d4_27.w));
        kv[key_of_layer_1 + 5120u] = vec4<u32>(half2_20, half2_21, half2_22, half2_23);
      }
      var score_8: f32 = 0f;
      let k4_22 = k4_20;
      score_8 += dot(d4_16, k4_22);
      let k4_23 = k4_21;
      score_8 += dot(d4_17, k4_23);
      let my_part_8 = score_8;
      let sg_112 = subgroupShuffleXor(my_part_8, 8u);
      let sum_84 = my_part_8 + sg_112;
      let sg_113 = subgroupShuffleXor(sum_84, 4u);
      let sum_85 = sum_84 + sg_113;
      let sg_114 = subgroupShuffleXor(sum_85, 2u);
      let sum_86 = sum_85 + sg_114;
      let sg_115 = subgroupShuffleXor(sum_86, 1u);
      let sum_87 = sum_86 + sg_115;
      let seen_8 = select(-3e+38f, sum_87, is_seen_2);
      let most_15 = max(greatest_4, seen_8);
      let shrink_13 = exp(greatest_4 - most_15);
      let weight_8 = select(0f, exp(seen_8 - most_15), is_seen_2);
      total_4 = total_4 * shrink_13 + weight_8;
      let v4_22 = select(vec4<f32>(0f), v4_20, is_seen_2);
      acc_10 = acc_10 * shrink_13 + v4_22 * weight_8;
      let v4_23 = select(vec4<f32>(0f), v4_21, is_seen_2);
      acc_11 = acc_11 * shrink_13 + v4_23 * weight_8;
      greatest_4 = most_15;
      var score_9: f32 = 0f;
      let k4_24 = k4_20;
      score_9 += dot(d4_18, k4_24);
      let k4_25 = k4_21;
      score_9 += dot(d4_19, k4_25);
      let my_part_9 = score_9;
      let sg_116 = subgroupShuffleXor(my_part_9, 8u);
      let sum_88 = my_part_9 + sg_116;
      let sg_117 = subgroupShuffleXor(sum_88, 4u);
      let sum_89 = sum_88 + sg_117;
      let sg_118 = subgroupShuffleXor(sum_89, 2u);
      let sum_90 = sum_89 + sg_118;
      let sg_119 = subgroupShuffleXor(sum_90, 1u);
      let sum_91 = sum_90 + sg_119;
      let seen_9 = select(-3e+38f, sum_91, is_seen_2);
      let most_16 = max(greatest_5, seen_9);
      let shrink_14 = exp(greatest_5 - most_16);
      let weight_9 = select(0f, exp(seen_9 - most_16), is_seen_2);
      total_5 = total_5 * shrink_14 + weight_9;
      let v4_24 = select(vec4<f32>(0f), v4_20, is_seen_2);
      acc_12 = acc_12 * shrink_14 + v4_24 * weight_9;
      let v4_25 = select(vec4<f32>(0f), v4_21, is_seen_2);
      acc_13 = acc_13 * shrink_14 + v4_25 * weight_9;
      greatest_5 = most_16;
      var score_10: f32 = 0f;
      let k4_26 = k4_20;
      score_10 += dot(d4_20, k4_26);
      let k4_27 = k4_21;
      score_10 += dot(d4_21, k4_27);
      let my_part_10 = score_10;
      let sg_120 = subgroupShuffleXor(my_part_10, 8u);
      let sum_92 = my_part_10 + sg_120;
      let sg_121 = subgroupShuffleXor(sum_92, 4u);
      let sum_93 = sum_92 + sg_121;
      let sg_122 = subgroupShuffleXor(sum_93, 2u);
      let sum_94 = sum_93 + sg_122;
      let sg_123 = subgroupShuffleXor(sum_94, 1u);
      let sum_95 = sum_94 + sg_123;
      let seen_10 = select(-3e+38f, sum_95, is_seen_2);
      let most_17 = max(greatest_6, seen_10);
      let shrink_15 = exp(greatest_6 - most_17);
      let weight_10 = select(0f, exp(seen_10 - most_17), is_seen_2);
      total_6 = total_6 * shrink_15 + weight_10;
      let v4_26 = select(vec4<f32>(0f), v4_20, is_seen_2);
      acc_14 = acc_14 * shrink_15 + v4_26 * weight_10;
      let v4_27 = select(vec4<f32>(0f), v4_21, is_seen_2);
      acc_15 = acc_15 * shrink_15 + v4_27 * weight_10;
      greatest_6 = most_17;
      var score_11: f32 = 0f;
      let k4_28 = k4_20;
      score_11 += dot(d4_22, k4_28);
      let k4_29 = k4_21;
      score_11 += dot(d4_23, k4_29);
      let my_part_11 = score_11;
      let sg_124 = subgroupShuffleXor(my_part_11, 8u);
      let sum_96 = my_part_11 + sg_124;
      let sg_125 = subgroupShuffleXor(sum_96, 4u);
      let sum_97 = sum_96 + sg_125;
      let sg_126 = subgroupShuffleXor(sum_97, 2u);
      let sum_98 = sum_97 + sg_126;
      let sg_127 = subgroupShuffleXor(sum_98, 1u);
      let sum_99 = sum_98 + sg_127;
      let seen_11 = select(-3e+38f, sum_99, is_seen_2);
      let most_18 = max(greatest_7, seen_11);
      let shrink_16 = exp(greatest_7 - most_18);
      let weight_11 = select(0f, exp(seen_11 - most_18), is_seen_2);
      total_7 = total_7 * shrink_16 + weight_11;
      let v4_28 = select(vec4<f32>(0f), v4_20, is_seen_2);
      acc_16 = acc_16 * shrink_16 + v4_28 * weight_11;
      let v4_29 = select(vec4<f32>(0f), v4_21, is_seen_2);
      acc_17 = acc_17 * shrink_16 + v4_29 * weight_11;
      greatest_7 = most_18;
      for (var from_pos_1 = first_pos_1 + 16u; from_pos_1 < end_pos_1; from_pos_1 += 16u) {
        let p_1 = from_pos_1 + group_of_pos_1;
        let safe_pos_3 = min(p_1, pos_1);
        let safe_head_3 = min(kv_head_1, 4u);
        let block_3 = params[table_1 + safe_pos_3 / 64u];
        let key_at_3 = ((block_3 * 10u + safe_head_3) * 64u + safe_pos_3 % 64u) * 16u + lane_of_pos_1;
        let key_of_layer_3 = layer * kv_layer + key_at_3;
        let k8_3 = kv[key_of_layer_3 + 0u];
        let v8_3 = kv[key_of_layer_3 + 5120u];
        let is_seen_3 = p_1 < end_pos_1;
        let k_low_6 = unpack2x16float(k8_3.x);
        let k_high_6 = unpack2x16float(k8_3.y);
        var k4_30: vec4<f32> = vec4<f32>(k_low_6, k_high_6);
        let v_low_6 = unpack2x16float(v8_3.x);
        let v_high_6 = unpack2x16float(v8_3.y);
        var v4_30: vec4<f32> = vec4<f32>(v_low_6, v_high_6);
        let k_low_7 = unpack2x16float(k8_3.z);
        let k_high_7 = unpack2x16float(k8_3.w);
        var k4_31: vec4<f32> = vec4<f32>(k_low_7, k_high_7);
        let v_low_7 = unpack2x16float(v8_3.z);
        let v_high_7 = unpack2x16float(v8_3.w);
        var v4_31: vec4<f32> = vec4<f32>(v_low_7, v_high_7);
        if ((p_1 == pos_1) && is_seen_3) {
          let from_dim_28 = (lane_of_pos_1 + 0u) * 8u + 512u;
          let d0_28 = turned[from_dim_28];
          let d1_28 = turned[from_dim_28 + 1u];
          let d2_28 = turned[from_dim_28 + 2u];
          let d3_28 = turned[from_dim_28 + 3u];
          let d4_28 = vec4<f32>(d0_28, d1_28, d2_28, d3_28);
          let from_dim_29 = (lane_of_pos_1 + 0u) * 8u + 516u;
          let d0_29 = turned[from_dim_29];
          let d1_29 = turned[from_dim_29 + 1u];
          let d2_29 = turned[from_dim_29 + 2u];
          let d3_29 = turned[from_dim_29 + 3u];
          let d4_29 = vec4<f32>(d0_29, d1_29, d2_29, d3_29);
          let from_dim_30 = (lane_of_pos_1 + 0u) * 8u + 640u;
          let d0_30 = turned[from_dim_30];
          let d1_30 = turned[from_dim_30 + 1u];
          let d2_30 = turned[from_dim_30 + 2u];
          let d3_30 = turned[from_dim_30 + 3u];
          let d4_30 = vec4<f32>(d0_30, d1_30, d2_30, d3_30);
          let from_dim_31 = (lane_of_pos_1 + 0u) * 8u + 644u;
          let d0_31 = turned[from_dim_31];
          let d1_31 = turned[from_dim_31 + 1u];
          let d2_31 = turned[from_dim_31 + 2u];
          let d3_31 = turned[from_dim_31 + 3u];
          let d4_31 = vec4<f32>(d0_31, d1_31, d2_31, d3_31);
          k4_30 = d4_28;
          v4_30 = d4_30;
          k4_31 = d4_29;
          v4_31 = d4_31;
          let half2_24 = pack2x16float(vec2<f32>(d4_28.x, d4_28.y));
          let half2_25 = pack2x16float(vec2<f32>(d4_28.z, d4_28.w));
          let half2_26 = pack2x16float(vec2<f32>(d4_29.x, d4_29.y));
          let half2_27 = pack2x16float(vec2<f32>(d4_29.z, d4_29.w));
          kv[key_of_layer_3 + 0u] = vec4<u32>(half2_24, half2_25, half2_26, half2_27);
          let half2_28 = pack2x16float(vec2<f32>(d4_30.x, d4_30.y));
          let half2_29 = pack2x16float(vec2<f32>(d4_30.z, d4_30.w));
          let half2_30 = pack2x16float(vec2<f32>(d4_31.x, d4_31.y));
          let half2_31 = pack2x16float(vec2<f32>(d4_31.z, d4_31.w));
          kv[key_of_layer_3 + 5120u] = vec4<u32>(half2_28, half2_29, half2_30, half2_31);
        }
        var score_12: f32 = 0f;
        let k4_32 = k4_30;
        score_12 += dot(d4_16, k4_32);
        let k4_33 = k4_31;
        score_12 += dot(d4_17, k4_33);
        let my_part_12 = score_12;
        let sg_128 = subgroupShuffleXor(my_part_12, 8u);
        let sum_100 = my_part_12 + sg_128;
        let sg_129 = subgroupShuffleXor(sum_100, 4u);
        let sum_101 = sum_100 + sg_129;
        let sg_130 = subgroupShuffleXor(sum_101, 2u);
        let sum_102 = sum_101 + sg_130;
        let sg_131 = subgroupShuffleXor(sum_102, 1u);
        let sum_103 = sum_102 + sg_131;
        let seen_12 = select(-3e+38f, sum_103, is_seen_3);
        let most_19 = max(greatest_4, seen_12);
        let shrink_17 = exp(greatest_4 - most_19);
        let weight_12 = select(0f, exp(seen_12 - most_19), is_seen_3);
        total_4 = total_4 * shrink_17 + weight_12;
        let v4_32 = select(vec4<f32>(0f), v4_30, is_seen_3);
        acc_10 = acc_10 * shrink_17 + v4_32 * weight_12;
        let v4_33 = select(vec4<f32>(0f), v4_31, is_seen_3);
        acc_11 = acc_11 * shrink_17 + v4_33 * weight_12;
        greatest_4 = most_19;
        var score_13: f32 = 0f;
        let k4_34 = k4_30;
        score_13 += dot(d4_18, k4_34);
        let k4_35 = k4_31;
        score_13 += dot(d4_19, k4_35);
        let my_part_13 = score_13;
        let sg_132 = subgroupShuffleXor(my_part_13, 8u);
        let sum_104 = my_part_13 + sg_132;
        let sg_133 = subgroupShuffleXor(sum_104, 4u);
        let sum_105 = sum_104 + sg_133;
        let sg_134 = subgroupShuffleXor(sum_105, 2u);
        let sum_106 = sum_105 + sg_134;
        let sg_135 = subgroupShuffleXor(sum_106, 1u);
        let sum_107 = sum_106 + sg_135;
        let seen_13 = select(-3e+38f, sum_107, is_seen_3);
        let most_20 = max(greatest_5, seen_13);
        let shrink_18 = exp(greatest_5 - most_20);
        let weight_13 = select(0f, exp(seen_13 - most_20), is_seen_3);
        total_5 = total_5 * shrink_18 + weight_13;
        let v4_34 = select(vec4<f32>(0f), v4_30, is_seen_3);
        acc_12 = acc_12 * shrink_18 + v4_34 * weight_13;
        let v4_35 = select(vec4<f32>(0f), v4_31, is_seen_3);
        acc_13 = acc_13 * shrink_18 + v4_35 * weight_13;
        greatest_5 = most_20;
        var score_14: f32 = 0f;
        let k4_36 = k4_30;
        score_14 += dot(d4_20, k4_36);
        let k4_37 = k4_31;
        score_14 += dot(d4_21, k4_37);
        let my_part_14 = score_14;
        let sg_136 = subgroupShuffleXor(my_part_14, 8u);
        let sum_108 = my_part_14 + sg_136;
        let sg_137 = subgroupShuffleXor(sum_108, 4u);
        let sum_109 = sum_108 + sg_137;
        let sg_138 = subgroupShuffleXor(sum_109, 2u);
        let sum_110 = sum_109 + sg_138;
        let sg_139 = subgroupShuffleXor(sum_110, 1u);
        let sum_111 = sum_110 + sg_139;
        let seen_14 = select(-3e+38f, sum_111, is_seen_3);
        let most_21 = max(greatest_6, seen_14);
        let shrink_19 = exp(greatest_6 - most_21);
        let weight_14 = select(0f, exp(seen_14 - most_21), is_seen_3);
        total_6 = total_6 * shrink_19 + weight_14;
        let v4_36 = select(vec4<f32>(0f), v4_30, is_seen_3);
        acc_14 = acc_14 * shrink_19 + v4_36 * weight_14;
        let v4_37 = select(vec4<f32>(0f), v4_31, is_seen_3);
        acc_15 = acc_15 * shrink_19 + v4_37 * weight_14;
        greatest_6 = most_21;
        var score_15: f32 = 0f;
        let k4_38 = k4_30;
        score_15 += dot(d4_22, k4_38);
        let k4_39 = k4_31;
        score_15 += dot(d4_23, k4_39);
        let my_part_15 = score_15;
        let sg_140 = subgroupShuffleXor(my_part_15, 8u);
        let sum_112 = my_part_15 + sg_140;
        let sg_141 = subgroupShuffleXor(sum_112, 4u);
        let sum_113 = sum_112 + sg_141;
        let sg_142 = subgroupShuffleXor(sum_113, 2u);
        let sum_114 = sum_113 + sg_142;
        let sg_143 = subgroupShuffleXor(sum_114, 1u);
        let sum_115 = sum_114 + sg_143;
        let seen_15 = select(-3e+38f, sum_115, is_seen_3);
        let most_22 = max(greatest_7, seen_15);
        let shrink_20 = exp(greatest_7 - most_22);
        let weight_15 = select(0f, exp(seen_15 - most_22), is_seen_3);
        total_7 = total_7 * shrink_20 + weight_15;
        let v4_38 = select(vec4<f32>(0f), v4_30, is_seen_3);
        acc_16 = acc_16 * shrink_20 + v4_38 * weight_15;
        let v4_39 = select(vec4<f32>(0f), v4_31, is_seen_3);
        acc_17 = acc_17 * shrink_20 + v4_39 * weight_15;
        greatest_7 = most_22;
      }
      var most_23: f32 = greatest_4;
      let mine_38 = most_23;
      let sg_144 = subgroupShuffleXor(mine_38, 16u);
      most_23 = max(mine_38, sg_144);
      let of_subgroup_4 = most_23;
      let shrink_21 = exp(greatest_4 - of_subgroup_4);
      let my_total_4 = total_4 * shrink_21;
      let sg_145 = subgroupShuffleXor(my_total_4, 16u);
      let sum_116 = my_total_4 + sg_145;
      let sums_row_6 = (tid / 32u * 4u + 0u) * 132u;
      let mine_39 = acc_10.x * shrink_21;
      let sg_146 = subgroupShuffleXor(mine_39, 16u);
      let sum_117 = mine_39 + sg_146;
      if ((tid % 32u) < 16u) {
        sums[sums_row_6 + ((lane_of_pos_1 + 0u) * 8u + 0u)] = sum_117;
      }
      let mine_40 = acc_10.y * shrink_21;
      let sg_147 = subgroupShuffleXor(mine_40, 16u);
      let sum_118 = mine_40 + sg_147;
      if ((tid % 32u) < 16u) {
        sums[sums_row_6 + ((lane_of_pos_1 + 0u) * 8u + 1u)] = sum_118;
      }
      let mine_41 = acc_10.z * shrink_21;
      let sg_148 = subgroupShuffleXor(mine_41, 16u);
      let sum_119 = mine_41 + sg_148;
      if ((tid % 32u) < 16u) {
        sums[sums_row_6 + ((lane_of_pos_1 + 0u) * 8u + 2u)] = sum_119;
      }
      let mine_42 = acc_10.w * shrink_21;
      let sg_149 = subgroupShuffleXor(mine_42, 16u);
      let sum_120 = mine_42 + sg_149;
      if ((tid % 32u) < 16u) {
        sums[sums_row_6 + ((lane_of_pos_1 + 0u) * 8u + 3u)] = sum_120;
      }
      let mine_43 = acc_11.x * shrink_21;
      let sg_150 = subgroupShuffleXor(mine_43, 16u);
      let sum_121 = mine_43 + sg_150;
      if ((tid % 32u) < 16u) {
        sums[sums_row_6 + ((lane_of_pos_1 + 0u) * 8u + 4u)] = sum_121;
      }
      let mine_44 = acc_11.y * shrink_21;
      let sg_151 = subgroupShuffleXor(mine_44, 16u);
      let sum_122 = mine_44 + sg_151;
      if ((tid % 32u) < 16u) {
        sums[sums_row_6 + ((lane_of_pos_1 + 0u) * 8u + 5u)] = sum_122;
      }
      let mine_45 = acc_11.z * shrink_21;
      let sg_152 = subgroupShuffleXor(mine_45, 16u);
      let sum_123 = mine_45 + sg_152;
      if ((tid % 32u) < 16u) {
        sums[sums_row_6 + ((lane_of_pos_1 + 0u) * 8u + 6u)] = sum_123;
      }
      let mine_46 = acc_11.w * shrink_21;
      let sg_153 = subgroupShuffleXor(mine_46, 16u);
      let sum_124 = mine_46 + sg_153;
      if ((tid % 32u) < 16u) {
        sums[sums_row_6 + ((lane_of_pos_1 + 0u) * 8u + 7u)] = sum_124;
      }
      if ((tid % 32u) == 0u) {
        sums[sums_row_6 + 128u] = of_subgroup_4;
        sums[sums_row_6 + 129u] = sum_116;
      }
      var most_24: f32 = greatest_5;
      let mine_47 = most_24;
      let sg_154 = subgroupShuffleXor(mine_47, 16u);
      most_24 = max(mine_47, sg_154);
      let of_subgroup_5 = most_24;
      let shrink_22 = exp(greatest_5 - of_subgroup_5);
      let my_total_5 = total_5 * shrink_22;
      let sg_155 = subgroupShuffleXor(my_total_5, 16u);
      let sum_125 = my_total_5 + sg_155;
      let sums_row_7 = (tid / 32u * 4u + 1u) * 132u;
      let mine_48 = acc_12.x * shrink_22;
      let sg_156 = subgroupShuffleXor(mine_48, 16u);
      let sum_126 = mine_48 + sg_156;
      if ((tid % 32u) < 16u) {
        sums[sums_row_7 + ((lane_of_pos_1 + 0u) * 8u + 0u)] = sum_126;
      }
      let mine_49 = acc_12.y * shrink_22;
      let sg_157 = subgroupShuffleXor(mine_49, 16u);
      let sum_127 = mine_49 + sg_157;
      if ((tid % 32u) < 16u) {
        sums[sums_row_7 + ((lane_of_pos_1 + 0u) * 8u + 1u)] = sum_127;
      }
      let mine_50 = acc_12.z * shrink_22;
      let sg_158 = subgroupShuffleXor(mine_50, 16u);
      let sum_128 = mine_50 + sg_158;
      if ((tid % 32u) < 16u) {
        sums[sums_row_7 + ((lane_of_pos_1 + 0u) * 8u + 2u)] = sum_128;
      }
      let mine_51 = acc_12.w * shrink_22;
      let sg_159 = subgroupShuffleXor(mine_51, 16u);
      let sum_129 = mine_51 + sg_159;
      if ((tid % 32u) < 16u) {
        sums[sums_row_7 + ((lane_of_pos_1 + 0u) * 8u + 3u)] = sum_129;
      }
      let mine_52 = acc_13.x * shrink_22;
      let sg_160 = subgroupShuffleXor(mine_52, 16u);
      let sum_130 = mine_52 + sg_160;
      if ((tid % 32u) < 16u) {
        sums[sums_row_7 + ((lane_of_pos_1 + 0u) * 8u + 4u)] = sum_130;
      }
      let mine_53 = acc_13.y * shrink_22;
      let sg_161 = subgroupShuffleXor(mine_53, 16u);
      let sum_131 = mine_53 + sg_161;
      if ((tid % 32u) < 16u) {
        sums[sums_row_7 + ((lane_of_pos_1 + 0u) * 8u + 5u)] = sum_131;
      }
      let mine_54 = acc_13.z * shrink_22;
      let sg_162 = subgroupShuffleXor(mine_54, 16u);
      let sum_132 = mine_54 + sg_162;
      if ((tid % 32u) < 16u) {
        sums[sums_row_7 + ((lane_of_pos_1 + 0u) * 8u + 6u)] = sum_132;
      }
      let mine_55 = acc_13.w * shrink_22;
      let sg_163 = subgroupShuffleXor(mine_55, 16u);
      let sum_133 = mine_55 + sg_163;
      if ((tid % 32u) < 16u) {
        sums[sums_row_7 + ((lane_of_pos_1 + 0u) * 8u + 7u)] = sum_133;
      }
      if ((tid % 32u) == 0u) {
        sums[sums_row_7 + 128u] = of_subgroup_5;
        sums[sums_row_7 + 129u] = sum_125;
      }
      var most_25: f32 = greatest_6;
      let mine_56 = most_25;
      let sg_164 = subgroupShuffleXor(mine_56, 16u);
      most_25 = max(mine_56, sg_164);
      let of_subgroup_6 = most_25;
      let shrink_23 = exp(greatest_6 - of_subgroup_6);
      let my_total_6 = total_6 * shrink_23;
      let sg_165 = subgroupShuffleXor(my_total_6, 16u);
      let sum_134 = my_total_6 + sg_165;
      let sums_row_8 = (tid / 32u * 4u + 2u) * 132u;
      let mine_57 = acc_14.x * shrink_23;
      let sg_166 = subgroupShuffleXor(mine_57, 16u);
      let sum_135 = mine_57 + sg_166;
      if ((tid % 32u) < 16u) {
        sums[sums_row_8 + ((lane_of_pos_1 + 0u) * 8u + 0u)] = sum_135;
      }
      let mine_58 = acc_14.y * shrink_23;
      let sg_167 = subgroupShuffleXor(mine_58, 16u);
      let sum_136 = mine_58 + sg_167;
      if ((tid % 32u) < 16u) {
        sums[sums_row_8 + ((lane_of_pos_1 + 0u) * 8u + 1u)] = sum_136;
      }
      let mine_59 = acc_14.z * shrink_23;
      let sg_168 = subgroupShuffleXor(mine_59, 16u);
      let sum_137 = mine_59 + sg_168;
      if ((tid % 32u) < 16u) {
        sums[sums_row_8 + ((lane_of_pos_1 + 0u) * 8u + 2u)] = sum_137;
      }
      let mine_60 = acc_14.w * shrink_23;
      let sg_169 = subgroupShuffleXor(mine_60, 16u);
      let sum_138 = mine_60 + sg_169;
      if ((tid % 32u) < 16u) {
        sums[sums_row_8 + ((lane_of_pos_1 + 0u) * 8u + 3u)] = sum_138;
      }
      let mine_61 = acc_15.x * shrink_23;
      let sg_170 = subgroupShuffleXor(mine_61, 16u);
      let sum_139 = mine_61 + sg_170;
      if ((tid % 32u) < 16u) {
        sums[sums_row_8 + ((lane_of_pos_1 + 0u) * 8u + 4u)] = sum_139;
      }
      let mine_62 = acc_15.y * shrink_23;
      let sg_171 = subgroupShuffleXor(mine_62, 16u);
      let sum_140 = mine_62 + sg_171;
      if ((tid % 32u) < 16u) {
        sums[sums_row_8 + ((lane_of_pos_1 + 0u) * 8u + 5u)] = sum_140;
      }
      let mine_63 = acc_15.z * shrink_23;
      let sg_172 = subgroupShuffleXor(mine_63, 16u);
      let sum_141 = mine_63 + sg_172;
      if ((tid % 32u) < 16u) {
        sums[sums_row_8 + ((lane_of_pos_1 + 0u) * 8u + 6u)] = sum_141;
      }
      let mine_64 = acc_15.w * shrink_23;
      let sg_173 = subgroupShuffleXor(mine_64, 16u);
      let sum_142 = mine_64 + sg_173;
      if ((tid % 32u) < 16u) {
        sums[sums_row_8 + ((lane_of_pos_1 + 0u) * 8u + 7u)] = sum_142;
      }
      if ((tid % 32u) == 0u) {
        sums[sums_row_8 + 128u] = of_subgroup_6;
        sums[sums_row_8 + 129u] = sum_134;
      }
      var most_26: f32 = greatest_7;
      let mine_65 = most_26;
      let sg_174 = subgroupShuffleXor(mine_65, 16u);
      most_26 = max(mine_65, sg_174);
      let of_subgroup_7 = most_26;
      let shrink_24 = exp(greatest_7 - of_subgroup_7);
      let my_total_7 = total_7 * shrink_24;
      let sg_175 = subgroupShuffleXor(my_total_7, 16u);
      let sum_143 = my_total_7 + sg_175;
      let sums_row_9 = (tid / 32u * 4u + 3u) * 132u;
      let mine_66 = acc_16.x * shrink_24;
      let sg_176 = subgroupShuffleXor(mine_66, 16u);
      let sum_144 = mine_66 + sg_176;
      if ((tid % 32u) < 16u) {
        sums[sums_row_9 + ((lane_of_pos_1 + 0u) * 8u + 0u)] = sum_144;
      }
      let mine_67 = acc_16.y * shrink_24;
      let sg_177 = subgroupShuffleXor(mine_67, 16u);
      let sum_145 = mine_67 + sg_177;
      if ((tid % 32u) < 16u) {
        sums[sums_row_9 + ((lane_of_pos_1 + 0u) * 8u + 1u)] = sum_145;
      }
      let mine_68 = acc_16.z * shrink_24;
      let sg_178 = subgroupShuffleXor(mine_68, 16u);
      let sum_146 = mine_68 + sg_178;
      if ((tid % 32u) < 16u) {
        sums[sums_row_9 + ((lane_of_pos_1 + 0u) * 8u + 2u)] = sum_146;
      }
      let mine_69 = acc_16.w * shrink_24;
      let sg_179 = subgroupShuffleXor(mine_69, 16u);
      let sum_147 = mine_69 + sg_179;
      if ((tid % 32u) < 16u) {
        sums[sums_row_9 + ((lane_of_pos_1 + 0u) * 8u + 3u)] = sum_147;
      }
      let mine_70 = acc_17.x * shrink_24;
      let sg_180 = subgroupShuffleXor(mine_70, 16u);
      let sum_148 = mine_70 + sg_180;
      if ((tid % 32u) < 16u) {
        sums[sums_row_9 + ((lane_of_pos_1 + 0u) * 8u + 4u)] = sum_148;
      }
      let mine_71 = acc_17.y * shrink_24;
      let sg_181 = subgroupShuffleXor(mine_71, 16u);
      let sum_149 = mine_71 + sg_181;
      if ((tid % 32u) < 16u) {
        sums[sums_row_9 + ((lane_of_pos_1 + 0u) * 8u + 5u)] = sum_149;
      }
      let mine_72 = acc_17.z * shrink_24;
      let sg_182 = subgroupShuffleXor(mine_72, 16u);
      let sum_150 = mine_72 + sg_182;
      if ((tid % 32u) < 16u) {
        sums[sums_row_9 + ((lane_of_pos_1 + 0u) * 8u + 6u)] = sum_150;
      }
      let mine_73 = acc_17.w * shrink_24;
      let sg_183 = subgroupShuffleXor(mine_73, 16u);
      let sum_151 = mine_73 + sg_183;
      if ((tid % 32u) < 16u) {
        sums[sums_row_9 + ((lane_of_pos_1 + 0u) * 8u + 7u)] = sum_151;
      }
      if ((tid % 32u) == 0u) {
        sums[sums_row_9 + 128u] = of_subgroup_7;
        sums[sums_row_9 + 129u] = sum_143;
      }
    }
    workgroupBarrier();
    for (var out_value_1 = tid; out_value_1 < 512u; out_value_1 += 256u) {
      let head_5 = out_value_1 / 128u;
      let dim_1 = out_value_1 % 128u;
      var most_27: f32 = -3e+38f;
      for (var i_17 = 0u; i_17 < n_used_1; i_17 += 1u) {
        let sums_row_10 = (head_5 + i_17 * 4u) * 132u;
        let top_2 = sums[sums_row_10 + 128u];
        most_27 = max(most_27, top_2);
      }
      var out_sum_1: f32 = 0f;
      var weights_1: f32 = 0f;
      for (var i_18 = 0u; i_18 < n_used_1; i_18 += 1u) {
        let sums_row_11 = (head_5 + i_18 * 4u) * 132u;
        let top_3 = sums[sums_row_11 + 128u];
        let shrink_25 = exp(top_3 - most_27);
        out_sum_1 += sums[sums_row_11 + dim_1] * shrink_25;
        weights_1 += sums[sums_row_11 + 129u] * shrink_25;
      }
      let part_at_1 = ((kv_head_1 * 4u + head_5) * 16u + split_1) * 130u;
      if (is_used_1) {
        let place_24 = part_at_1 + dim_1 + 6464u;
        let whole_1 = out_sum_1;
        let value_bits_6 = bitcast<u32>(whole_1);
        let half_6 = select(2u, 0u, (value_bits_6 & 2139095040u) == 2139095040u);
        let rounded_6 = value_bits_6 + half_6;
        atomicStore(&words[place_24], (rounded_6 & 4294967292u) | tag);
        if (dim_1 == 0u) {
          let place_25 = part_at_1 + 6592u;
          let top_of_all_1 = most_27;
          let value_bits_7 = bitcast<u32>(top_of_all_1);
          let half_7 = select(2u, 0u, (value_bits_7 & 2139095040u) == 2139095040u);
          let rounded_7 = value_bits_7 + half_7;
          atomicStore(&words[place_25], (rounded_7 & 4294967292u) | tag);
          let place_26 = part_at_1 + 6593u;
          let whole_weight_1 = weights_1;
          let value_bits_8 = bitcast<u32>(whole_weight_1);
          let half_8 = select(2u, 0u, (value_bits_8 & 2139095040u) == 2139095040u);
          let rounded_8 = value_bits_8 + half_8;
          atomicStore(&words[place_26], (rounded_8 & 4294967292u) | tag);
        }
      }
    }
    let group_3 = tid / 16u;
    let lane_of_row_3 = tid & 15u;
    let row_4 = first_row_2 + group_3;
    let safe_row_3 = min(row_4, end_row_2 - 1u);
    let start_3 = layer * 1085440u + 153600u + safe_row_3 * 40u;
    let i_19 = lane_of_row_3 + 0u;
    let w4_9 = w[start_3 + i_19];
    let i_20 = lane_of_row_3 + 16u;
    let w4_10 = w[start_3 + i_20];
    let i_21 = min(lane_of_row_3 + 32u, 39u);
    let w4_11 = w[start_3 + i_21];
    let vectors_at_1 = layer * 14600u;
    let column_20 = tid + 0u;
    let gain_20 = vectors[vectors_at_1 + 2560u + column_20];
    let column_21 = tid + 256u;
    let gain_21 = vectors[vectors_at_1 + 2560u + column_21];
    let column_22 = tid + 512u;
    let gain_22 = vectors[vectors_at_1 + 2560u + column_22];
    let column_23 = tid + 768u;
    let gain_23 = vectors[vectors_at_1 + 2560u + column_23];
    let column_24 = tid + 1024u;
    let gain_24 = vectors[vectors_at_1 + 2560u + column_24];
    let column_25 = tid + 1280u;
    let gain_25 = vectors[vectors_at_1 + 2560u + column_25];
    let column_26 = tid + 1536u;
    let gain_26 = vectors[vectors_at_1 + 2560u + column_26];
    let column_27 = tid + 1792u;
    let gain_27 = vectors[vectors_at_1 + 2560u + column_27];
    let column_28 = tid + 2048u;
    let gain_28 = vectors[vectors_at_1 + 2560u + column_28];
    let column_29 = tid + 2304u;
    let gain_29 = vectors[vectors_at_1 + 2560u + column_29];
    let w_scale_8 = vectors[vectors_at_1 + 14595u];
    let first_row_5 = wg.x * 2560u / n_wg.x;
    let end_row_5 = (wg.x + 1u) * 2560u / n_wg.x;
    let splits_2 = max(1u, min(n_wg.x / 3u, 16u));
    let lane_of_value = tid % 16u;
    let group_of_value = tid / 16u;
    for (var from_value = first_row_5; from_value < end_row_5; from_value += 16u) {
      let out = min(from_value + group_of_value, end_row_5 - 1u);
      let head_6 = out / 128u;
      let safe_lane = min(lane_of_value, splits_2 - 1u);
      let part_at_2 = (head_6 * 16u + safe_lane) * 130u + 6464u;
      let place_27 = part_at_2 + out % 128u;
      let place_28 = part_at_2 + 128u;
      let place_29 = part_at_2 + 129u;
      workgroupBarrier();
      var found_18: u32 = 0u;
      var found_19: u32 = 0u;
      var found_20: u32 = 0u;
      var waits_5: u32 = 1u;
      let end_10 = patience;
      for (var early_5 = 0u; early_5 < end_10; early_5 += 1u) {
        let now_35 = (atomicLoad(&words[place_29]));
        found_18 = now_35;
        var n_failed_10: u32 = 0u;
        if ((early_5 & 255u) == 255u) {
          let now_36 = (atomicLoad(&words[32u]));
          n_failed_10 = now_36;
        }
        let given_up_10 = n_failed_10 != 0u;
        if ((((found_18 ^ tag) & 3u) == 0u) || given_up_10) {
          break;
        }
      }
      let end_11 = patience;
      for (var tries_5 = 0u; tries_5 < end_11; tries_5 += 1u) {
        let now_37 = (atomicLoad(&words[place_27]));
        found_18 = now_37;
        let now_38 = (atomicLoad(&words[place_28]));
        found_19 = now_38;
        let now_39 = (atomicLoad(&words[place_29]));
        found_20 = now_39;
        var odd_5: u32 = 0u;
        odd_5 = odd_5 | (found_18 ^ tag);
        odd_5 = odd_5 | (found_19 ^ tag);
        odd_5 = odd_5 | (found_20 ^ tag);
        if ((odd_5 & 3u) == 0u) {
          waits_5 = 0u;
          break;
        }
        var n_failed_11: u32 = 0u;
        if ((tries_5 & 255u) == 255u) {
          let now_40 = (atomicLoad(&words[32u]));
          n_failed_11 = now_40;
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
      let value_20 = bitcast<f32>(found_18 & 4294967292u);
      let value_21 = bitcast<f32>(found_19 & 4294967292u);
      let value_22 = bitcast<f32>(found_20 & 4294967292u);
      let sg_184 = subgroupShuffleXor(value_21, 8u);
      let sum_152 = max(value_21, sg_184);
      let sg_185 = subgroupShuffleXor(sum_152, 4u);
      let sum_153 = max(sum_152, sg_185);
      let sg_186 = subgroupShuffleXor(sum_153, 2u);
      let sum_154 = max(sum_153, sg_186);
      let sg_187 = subgroupShuffleXor(sum_154, 1u);
      let sum_155 = max(sum_154, sg_187);
      let shrink_26 = select(0f, exp(value_21 - sum_155), lane_of_value < splits_2);
      let my_value = value_20 * shrink_26;
      let my_weight = value_22 * shrink_26;
      let sg_188 = subgroupShuffleXor(my_value, 8u);
      let sum_156 = my_value + sg_188;
      let sg_189 = subgroupShuffleXor(sum_156, 4u);
      let sum_157 = sum_156 + sg_189;
      let sg_190 = subgroupShuffleXor(sum_157, 2u);
      let sum_158 = sum_157 + sg_190;
      let sg_191 = subgroupShuffleXor(sum_158, 1u);
      let sum_159 = sum_158 + sg_191;
      let sg_192 = subgroupShuffleXor(my_weight, 8u);
      let sum_160 = my_weight + sg_192;
      let sg_193 = subgroupShuffleXor(sum_160, 4u);
      let sum_161 = sum_160 + sg_193;
      let sg_194 = subgroupShuffleXor(sum_161, 2u);
      let sum_162 = sum_161 + sg_194;
      let sg_195 = subgroupShuffleXor(sum_162, 1u);
      let sum_163 = sum_162 + sg_195;
      if ((lane_of_value == 0u) && ((from_value + group_of_value) < end_row_5)) {
        let result = sum_159 / sum_163;
        let place_30 = out + 48064u;
        let value_bits_9 = bitcast<u32>(result);
        let half_9 = select(2u, 0u, (value_bits_9 & 2139095040u) == 2139095040u);
        let rounded_9 = value_bits_9 + half_9;
        atomicStore(&words[place_30], (rounded_9 & 4294967292u) | tag);
      }
    }
    let column_30 = tid + 0u;
    let place_31 = column_30 + 48064u;
    let column_31 = tid + 256u;
    let place_32 = column_31 + 48064u;
    let column_32 = tid + 512u;
    let place_33 = column_32 + 48064u;
    let column_33 = tid + 768u;
    let place_34 = column_33 + 48064u;
    let column_34 = tid + 1024u;
    let place_35 = column_34 + 48064u;
    let column_35 = tid + 1280u;
    let place_36 = column_35 + 48064u;
    let column_36 = tid + 1536u;
    let place_37 = column_36 + 48064u;
    let column_37 = tid + 1792u;
    let place_38 = column_37 + 48064u;
    let column_38 = tid + 2048u;
    let place_39 = column_38 + 48064u;
    let column_39 = tid + 2304u;
    let place_40 = column_39 + 48064u;
    workgroupBarrier();
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
    var waits_6: u32 = 1u;
    let end_12 = patience;
    for (var early_6 = 0u; early_6 < end_12; early_6 += 1u) {
      let now_41 = (atomicLoad(&words[place_40]));
      found_21 = now_41;
      var n_failed_12: u32 = 0u;
      if ((early_6 & 255u) == 255u) {
        let now_42 = (atomicLoad(&words[32u]));
        n_failed_12 = now_42;
      }
      let given_up_12 = n_failed_12 != 0u;
      if ((((found_21 ^ tag) & 3u) == 0u) || given_up_12) {
        break;
      }
    }
    let end_13 = patience;
    for (var tries_6 = 0u; tries_6 < end_13; tries_6 += 1u) {
      let now_43 = (atomicLoad(&words[place_31]));
      found_21 = now_43;
      let now_44 = (atomicLoad(&words[place_32]));
      found_22 = now_44;
      let now_45 = (atomicLoad(&words[place_33]));
      found_23 = now_45;
      let now_46 = (atomicLoad(&words[place_34]));
      found_24 = now_46;
      let now_47 = (atomicLoad(&words[place_35]));
      found_25 = now_47;
      let now_48 = (atomicLoad(&words[place_36]));
      found_26 = now_48;
      let now_49 = (atomicLoad(&words[place_37]));
      found_27 = now_49;
      let now_50 = (atomicLoad(&words[place_38]));
      found_28 = now_50;
      let now_51 = (atomicLoad(&words[place_39]));
      found_29 = now_51;
      let now_52 = (atomicLoad(&words[place_40]));
      found_30 = now_52;
      var odd_6: u32 = 0u;
      odd_6 = odd_6 | (found_21 ^ tag);
      odd_6 = odd_6 | (found_22 ^ tag);
      odd_6 = odd_6 | (found_23 ^ tag);
      odd_6 = odd_6 | (found_24 ^ tag);
      odd_6 = odd_6 | (found_25 ^ tag);
      odd_6 = odd_6 | (found_26 ^ tag);
      odd_6 = odd_6 | (found_27 ^ tag);
      odd_6 = odd_6 | (found_28 ^ tag);
      odd_6 = odd_6 | (found_29 ^ tag);
      odd_6 = odd_6 | (found_30 ^ tag);
      if ((odd_6 & 3u) == 0u) {
        waits_6 = 0u;
        break;
      }
      var n_failed_13: u32 = 0u;
      if ((tries_6 & 255u) == 255u) {
        let now_53 = (atomicLoad(&words[32u]));
        n_failed_13 = now_53;
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
    let value_23 = bitcast<f32>(found_21 & 4294967292u);
    let value_24 = bitcast<f32>(found_22 & 4294967292u);
    let value_25 = bitcast<f32>(found_23 & 4294967292u);
    let value_26 = bitcast<f32>(found_24 & 4294967292u);
    let value_27 = bitcast<f32>(found_25 & 4294967292u);
    let value_28 = bitcast<f32>(found_26 & 4294967292u);
    let value_29 = bitcast<f32>(found_27 & 4294967292u);
    let value_30 = bitcast<f32>(found_28 & 4294967292u);
    let value_31 = bitcast<f32>(found_29 & 4294967292u);
    let value_32 = bitcast<f32>(found_30 & 4294967292u);
    var squares_1: f32 = 0f;
    var largest_1: f32 = 0f;
    let vg_10 = value_23 * gain_20;
    largest_1 = max(largest_1, abs(vg_10));
    squares_1 += value_23 * value_23;
    let vg_11 = value_24 * gain_21;
    largest_1 = max(largest_1, abs(vg_11));
    squares_1 += value_24 * value_24;
    let vg_12 = value_25 * gain_22;
    largest_1 = max(largest_1, abs(vg_12));
    squares_1 += value_25 * value_25;
    let vg_13 = value_26 * gain_23;
    largest_1 = max(largest_1, abs(vg_13));
    squares_1 += value_26 * value_26;
    let vg_14 = value_27 * gain_24;
    largest_1 = max(largest_1, abs(vg_14));
    squares_1 += value_27 * value_27;
    let vg_15 = value_28 * gain_25;
    largest_1 = max(largest_1, abs(vg_15));
    squares_1 += value_28 * value_28;
    let vg_16 = value_29 * gain_26;
    largest_1 = max(largest_1, abs(vg_16));
    squares_1 += value_29 * value_29;
    let vg_17 = value_30 * gain_27;
    largest_1 = max(largest_1, abs(vg_17));
    squares_1 += value_30 * value_30;
    let vg_18 = value_31 * gain_28;
    largest_1 = max(largest_1, abs(vg_18));
    squares_1 += value_31 * value_31;
    let vg_19 = value_32 * gain_29;
    largest_1 = max(largest_1, abs(vg_19));
    squares_1 += value_32 * value_32;
    let my_squares_1 = squares_1;
    let my_largest_1 = largest_1;
    let sg_196 = subgroupShuffleXor(my_squares_1, 16u);
    let sum_164 = my_squares_1 + sg_196;
    let sg_197 = subgroupShuffleXor(sum_164, 8u);
    let sum_165 = sum_164 + sg_197;
    let sg_198 = subgroupShuffleXor(sum_165, 4u);
    let sum_166 = sum_165 + sg_198;
    let sg_199 = subgroupShuffleXor(sum_166, 2u);
    let sum_167 = sum_166 + sg_199;
    let sg_200 = subgroupShuffleXor(sum_167, 1u);
    let sum_168 = sum_167 + sg_200;
    let sg_201 = subgroupMax(bitcast<u32>(my_largest_1));
    let most_28 = bitcast<f32>(sg_201);
    if ((tid & 31u) == 0u) {
      group_stats_1[tid / 32u] = vec2<f32>(sum_168, most_28);
    }
    workgroupBarrier();
    let of_group_1 = group_stats_1[tid & 7u];
    let sg_202 = subgroupShuffleXor(of_group_1.x, 4u);
    let sum_169 = of_group_1.x + sg_202;
    let sg_203 = subgroupShuffleXor(sum_169, 2u);
    let sum_170 = sum_169 + sg_203;
    let sg_204 = subgroupShuffleXor(sum_170, 1u);
    let sum_171 = sum_170 + sg_204;
    let sg_205 = subgroupMax(bitcast<u32>(of_group_1.y));
    let most_29 = bitcast<f32>(sg_205);
    let factor_1 = 1f / sqrt(sum_171 / 2560f + 1e-05f);
    let finite_scale_1 = 127f / max(most_29 * factor_1, 1e-05f);
    let factor_and_scale_1 = factor_1 * finite_scale_1;
    let factor_bits_1 = bitcast<u32>(factor_1);
    let x_scale_1 = select(finite_scale_1, factor_1, (factor_bits_1 - 1u) >= 2139095039u);
    var q_sum_1: i32 = 0i;
    let q_10 = i32(clamp(round(vg_10 * factor_and_scale_1), -128f, 127f));
    let byte_10 = bitcast<u32>(q_10) & 255u;
    let sg_206 = subgroupShuffleXor(byte_10, 1u);
    let two_10 = byte_10 | (sg_206 << 8u);
    let sg_207 = subgroupShuffleXor(two_10, 2u);
    let word_10 = two_10 | (sg_207 << 16u);
    q_sum_1 += q_10;
    if ((tid & 3u) == 0u) {
      let unit_10 = (tid + 0u) / 16u;
      let vec_10 = ((unit_10 >> 1u) & 3u) * 40u + (unit_10 >> 3u) * 2u + (unit_10 & 1u);
      let part_of_unit_10 = tid / 4u % 4u;
      staged[vec_10][part_of_unit_10] = word_10;
    }
    let q_11 = i32(clamp(round(vg_11 * factor_and_scale_1), -128f, 127f));
    let byte_11 = bitcast<u32>(q_11) & 255u;
    let sg_208 = subgroupShuffleXor(byte_11, 1u);
    let two_11 = byte_11 | (sg_208 << 8u);
    let sg_209 = subgroupShuffleXor(two_11, 2u);
    let word_11 = two_11 | (sg_209 << 16u);
    q_sum_1 += q_11;
    if ((tid & 3u) == 0u) {
      let unit_11 = (tid + 256u) / 16u;
      let vec_11 = ((unit_11 >> 1u) & 3u) * 40u + (unit_11 >> 3u) * 2u + (unit_11 & 1u);
      let part_of_unit_11 = tid / 4u % 4u;
      staged[vec_11][part_of_unit_11] = word_11;
    }
    let q_12 = i32(clamp(round(vg_12 * factor_and_scale_1), -128f, 127f));
    let byte_12 = bitcast<u32>(q_12) & 255u;
    let sg_210 = subgroupShuffleXor(byte_12, 1u);
    let two_12 = byte_12 | (sg_210 << 8u);
    let sg_211 = subgroupShuffleXor(two_12, 2u);
    let word_12 = two_12 | (sg_211 << 16u);
    q_sum_1 += q_12;
    if ((tid & 3u) == 0u) {
      let unit_12 = (tid + 512u) / 16u;
      let vec_12 = ((unit_12 >> 1u) & 3u) * 40u + (unit_12 >> 3u) * 2u + (unit_12 & 1u);
      let part_of_unit_12 = tid / 4u % 4u;
      staged[vec_12][part_of_unit_12] = word_12;
    }
    let q_13 = i32(clamp(round(vg_13 * factor_and_scale_1), -128f, 127f));
    let byte_13 = bitcast<u32>(q_13) & 255u;
    let sg_212 = subgroupShuffleXor(byte_13, 1u);
    let two_13 = byte_13 | (sg_212 << 8u);
    let sg_213 = subgroupShuffleXor(two_13, 2u);
    let word_13 = two_13 | (sg_213 << 16u);
    q_sum_1 += q_13;
    if ((tid & 3u) == 0u) {
      let unit_13 = (tid + 768u) / 16u;
      let vec_13 = ((unit_13 >> 1u) & 3u) * 40u + (unit_13 >> 3u) * 2u + (unit_13 & 1u);
      let part_of_unit_13 = tid / 4u % 4u;
      staged[vec_13][part_of_unit_13] = word_13;
    }
    let q_14 = i32(clamp(round(vg_14 * factor_and_scale_1), -128f, 127f));
    let byte_14 = bitcast<u32>(q_14) & 255u;
    let sg_214 = subgroupShuffleXor(byte_14, 1u);
    let two_14 = byte_14 | (sg_214 << 8u);
    let sg_215 = subgroupShuffleXor(two_14, 2u);
    let word_14 = two_14 | (sg_215 << 16u);
    q_sum_1 += q_14;
    if ((tid & 3u) == 0u) {
      let unit_14 = (tid + 1024u) / 16u;
      let vec_14 = ((unit_14 >> 1u) & 3u) * 40u + (unit_14 >> 3u) * 2u + (unit_14 & 1u);
      let part_of_unit_14 = tid / 4u % 4u;
      staged[vec_14][part_of_unit_14] = word_14;
    }
    let q_15 = i32(clamp(round(vg_15 * factor_and_scale_1), -128f, 127f));
    let byte_15 = bitcast<u32>(q_15) & 255u;
    let sg_216 = subgroupShuffleXor(byte_15, 1u);
    let two_15 = byte_15 | (sg_216 << 8u);
    let sg_217 = subgroupShuffleXor(two_15, 2u);
    let word_15 = two_15 | (sg_217 << 16u);
    q_sum_1 += q_15;
    if ((tid & 3u) == 0u) {
      let unit_15 = (tid + 1280u) / 16u;
      let vec_15 = ((unit_15 >> 1u) & 3u) * 40u + (unit_15 >> 3u) * 2u + (unit_15 & 1u);
      let part_of_unit_15 = tid / 4u % 4u;
      staged[vec_15][part_of_unit_15] = word_15;
    }
    let q_16 = i32(clamp(round(vg_16 * factor_and_scale_1), -128f, 127f));
    let byte_16 = bitcast<u32>(q_16) & 255u;
    let sg_218 = subgroupShuffleXor(byte_16, 1u);
    let two_16 = byte_16 | (sg_218 << 8u);
    let sg_219 = subgroupShuffleXor(two_16, 2u);
    let word_16 = two_16 | (sg_219 << 16u);
    q_sum_1 += q_16;
    if ((tid & 3u) == 0u) {
      let unit_16 = (tid + 1536u) / 16u;
      let vec_16 = ((unit_16 >> 1u) & 3u) * 40u + (unit_16 >> 3u) * 2u + (unit_16 & 1u);
      let part_of_unit_16 = tid / 4u % 4u;
      staged[vec_16][part_of_unit_16] = word_16;
    }
    let q_17 = i32(clamp(round(vg_17 * factor_and_scale_1), -128f, 127f));
    let byte_17 = bitcast<u32>(q_17) & 255u;
    let sg_220 = subgroupShuffleXor(byte_17, 1u);
    let two_17 = byte_17 | (sg_220 << 8u);
    let sg_221 = subgroupShuffleXor(two_17, 2u);
    let word_17 = two_17 | (sg_221 << 16u);
    q_sum_1 += q_17;
    if ((tid & 3u) == 0u) {
      let unit_17 = (tid + 1792u) / 16u;
      let vec_17 = ((unit_17 >> 1u) & 3u) * 40u + (unit_17 >> 3u) * 2u + (unit_17 & 1u);
      let part_of_unit_17 = tid / 4u % 4u;
      staged[vec_17][part_of_unit_17] = word_17;
    }
    let q_18 = i32(clamp(round(vg_18 * factor_and_scale_1), -128f, 127f));
    let byte_18 = bitcast<u32>(q_18) & 255u;
    let sg_222 = subgroupShuffleXor(byte_18, 1u);
    let two_18 = byte_18 | (sg_222 << 8u);
    let sg_223 = subgroupShuffleXor(two_18, 2u);
    let word_18 = two_18 | (sg_223 << 16u);
    q_sum_1 += q_18;
    if ((tid & 3u) == 0u) {
      let unit_18 = (tid + 2048u) / 16u;
      let vec_18 = ((unit_18 >> 1u) & 3u) * 40u + (unit_18 >> 3u) * 2u + (unit_18 & 1u);
      let part_of_unit_18 = tid / 4u % 4u;
      staged[vec_18][part_of_unit_18] = word_18;
    }
    let q_19 = i32(clamp(round(vg_19 * factor_and_scale_1), -128f, 127f));
    let byte_19 = bitcast<u32>(q_19) & 255u;
    let sg_224 = subgroupShuffleXor(byte_19, 1u);
    let two_19 = byte_19 | (sg_224 << 8u);
    let sg_225 = subgroupShuffleXor(two_19, 2u);
    let word_19 = two_19 | (sg_225 << 16u);
    q_sum_1 += q_19;
    if ((tid & 3u) == 0u) {
      let unit_19 = (tid + 2304u) / 16u;
      let vec_19 = ((unit_19 >> 1u) & 3u) * 40u + (unit_19 >> 3u) * 2u + (unit_19 & 1u);
      let part_of_unit_19 = tid / 4u % 4u;
      staged[vec_19][part_of_unit_19] = word_19;
    }
    let my_sum_1 = q_sum_1;
    let sg_226 = subgroupAdd(my_sum_1);
    if ((tid & 31u) == 0u) {
      group_sums_1[tid / 32u] = sg_226;
    }
    workgroupBarrier();
    let sum_of_group_1 = select(0i, group_sums_1[tid & 7u], (tid & 31u) < 8u);
    let sg_227 = subgroupAdd(sum_of_group_1);
    let group_4 = tid / 8u;
    let lane_of_row_4 = tid & 7u;
    let row_5 = first_row_3 + group_4;
    let safe_row_4 = min(row_5, end_row_3 - 1u);
    let start_4 = layer * 1085440u + 256000u + safe_row_4 * 40u;
    let start_5 = layer * 1085440u + 532480u + safe_row_4 * 40u;
    let i_22 = lane_of_row_4 + 0u;
    let w4_12 = w[start_4 + i_22];
    let w4_13 = w[start_5 + i_22];
    let i_23 = lane_of_row_4 + 8u;
    let w4_14 = w[start_4 + i_23];
    let w4_15 = w[start_5 + i_23];
    let i_24 = lane_of_row_4 + 16u;
    let w4_16 = w[start_4 + i_24];
    let w4_17 = w[start_5 + i_24];
    let i_25 = lane_of_row_4 + 24u;
    let w4_18 = w[start_4 + i_25];
    let w4_19 = w[start_5 + i_25];
    let i_26 = lane_of_row_4 + 32u;
    let w4_20 = w[start_4 + i_26];
    let w4_21 = w[start_5 + i_26];
    let vectors_at_2 = layer * 14600u;
    let column_40 = tid + 0u;
    let gain_30 = vectors[vectors_at_2 + 5120u + column_40];
    let column_41 = tid + 256u;
    let gain_31 = vectors[vectors_at_2 + 5120u + column_41];
    let column_42 = tid + 512u;
    let gain_32 = vectors[vectors_at_2 + 5120u + column_42];
    let column_43 = tid + 768u;
    let gain_33 = vectors[vectors_at_2 + 5120u + column_43];
    let column_44 = tid + 1024u;
    let gain_34 = vectors[vectors_at_2 + 5120u + column_44];
    let column_45 = tid + 1280u;
    let gain_35 = vectors[vectors_at_2 + 5120u + column_45];
    let column_46 = tid + 1536u;
    let gain_36 = vectors[vectors_at_2 + 5120u + column_46];
    let column_47 = tid + 1792u;
    let gain_37 = vectors[vectors_at_2 + 5120u + column_47];
    let column_48 = tid + 2048u;
    let gain_38 = vectors[vectors_at_2 + 5120u + column_48];
    let column_49 = tid + 2304u;
    let gain_39 = vectors[vectors_at_2 + 5120u + column_49];
    let w_scale_9 = vectors[vectors_at_2 + 14596u];
    let w_scale_10 = vectors[vectors_at_2 + 14597u];
    var acc_18: i32 = 0i;
    let i_27 = lane_of_row_3 + 0u;
    let q4_24 = staged[0u + i_27];
    acc_18 += dot4I8Packed((w4_9.x >> 6u) & 0x03030303u, q4_24.x);
    acc_18 += dot4I8Packed((w4_9.y >> 6u) & 0x03030303u, q4_24.y);
    acc_18 += dot4I8Packed((w4_9.z >> 6u) & 0x03030303u, q4_24.z);
    acc_18 += dot4I8Packed((w4_9.w >> 6u) & 0x03030303u, q4_24.w);
    let q4_25 = staged[40u + i_27];
    acc_18 += dot4I8Packed((w4_9.x >> 4u) & 0x03030303u, q4_25.x);
    acc_18 += dot4I8Packed((w4_9.y >> 4u) & 0x03030303u, q4_25.y);
    acc_18 += dot4I8Packed((w4_9.z >> 4u) & 0x03030303u, q4_25.z);
    acc_18 += dot4I8Packed((w4_9.w >> 4u) & 0x03030303u, q4_25.w);
    let q4_26 = staged[80u + i_27];
    acc_18 += dot4I8Packed((w4_9.x >> 2u) & 0x03030303u, q4_26.x);
    acc_18 += dot4I8Packed((w4_9.y >> 2u) & 0x03030303u, q4_26.y);
    acc_18 += dot4I8Packed((w4_9.z >> 2u) & 0x03030303u, q4_26.z);
    acc_18 += dot4I8Packed((w4_9.w >> 2u) & 0x03030303u, q4_26.w);
    let q4_27 = staged[120u + i_27];
    acc_18 += dot4I8Packed(w4_9.x & 0x03030303u, q4_27.x);
    acc_18 += dot4I8Packed(w4_9.y & 0x03030303u, q4_27.y);
    acc_18 += dot4I8Packed(w4_9.z & 0x03030303u, q4_27.z);
    acc_18 += dot4I8Packed(w4_9.w & 0x03030303u, q4_27.w);
    let i_28 = lane_of_row_3 + 16u;
    let q4_28 = staged[0u + i_28];
    acc_18 += dot4I8Packed((w4_10.x >> 6u) & 0x03030303u, q4_28.x);
    acc_18 += dot4I8Packed((w4_10.y >> 6u) & 0x03030303u, q4_28.y);
    acc_18 += dot4I8Packed((w4_10.z >> 6u) & 0x03030303u, q4_28.z);
    acc_18 += dot4I8Packed((w4_10.w >> 6u) & 0x03030303u, q4_28.w);
    let q4_29 = staged[40u + i_28];
    acc_18 += dot4I8Packed((w4_10.x >> 4u) & 0x03030303u, q4_29.x);
    acc_18 += dot4I8Packed((w4_10.y >> 4u) & 0x03030303u, q4_29.y);
    acc_18 += dot4I8Packed((w4_10.z >> 4u) & 0x03030303u, q4_29.z);
    acc_18 += dot4I8Packed((w4_10.w >> 4u) & 0x03030303u, q4_29.w);
    let q4_30 = staged[80u + i_28];
    acc_18 += dot4I8Packed((w4_10.x >> 2u) & 0x03030303u, q4_30.x);
    acc_18 += dot4I8Packed((w4_10.y >> 2u) & 0x03030303u, q4_30.y);
    acc_18 += dot4I8Packed((w4_10.z >> 2u) & 0x03030303u, q4_30.z);
    acc_18 += dot4I8Packed((w4_10.w >> 2u) & 0x03030303u, q4_30.w);
    let q4_31 = staged[120u + i_28];
    acc_18 += dot4I8Packed(w4_10.x & 0x03030303u, q4_31.x);
    acc_18 += dot4I8Packed(w4_10.y & 0x03030303u, q4_31.y);
    acc_18 += dot4I8Packed(w4_10.z & 0x03030303u, q4_31.z);
    acc_18 += dot4I8Packed(w4_10.w & 0x03030303u, q4_31.w);
    let i_29 = lane_of_row_3 + 32u;
    if (i_29 < 40u) {
      let q4_32 = staged[0u + i_29];
      acc_18 += dot4I8Packed((w4_11.x >> 6u) & 0x03030303u, q4_32.x);
      acc_18 += dot4I8Packed((w4_11.y >> 6u) & 0x03030303u, q4_32.y);
      acc_18 += dot4I8Packed((w4_11.z >> 6u) & 0x03030303u, q4_32.z);
      acc_18 += dot4I8Packed((w4_11.w >> 6u) & 0x03030303u, q4_32.w);
      let q4_33 = staged[40u + i_29];
      acc_18 += dot4I8Packed((w4_11.x >> 4u) & 0x03030303u, q4_33.x);
      acc_18 += dot4I8Packed((w4_11.y >> 4u) & 0x03030303u, q4_33.y);
      acc_18 += dot4I8Packed((w4_11.z >> 4u) & 0x03030303u, q4_33.z);
      acc_18 += dot4I8Packed((w4_11.w >> 4u) & 0x03030303u, q4_33.w);
      let q4_34 = staged[80u + i_29];
      acc_18 += dot4I8Packed((w4_11.x >> 2u) & 0x03030303u, q4_34.x);
      acc_18 += dot4I8Packed((w4_11.y >> 2u) & 0x03030303u, q4_34.y);
      acc_18 += dot4I8Packed((w4_11.z >> 2u) & 0x03030303u, q4_34.z);
      acc_18 += dot4I8Packed((w4_11.w >> 2u) & 0x03030303u, q4_34.w);
      let q4_35 = staged[120u + i_29];
      acc_18 += dot4I8Packed(w4_11.x & 0x03030303u, q4_35.x);
      acc_18 += dot4I8Packed(w4_11.y & 0x03030303u, q4_35.y);
      acc_18 += dot4I8Packed(w4_11.z & 0x03030303u, q4_35.z);
      acc_18 += dot4I8Packed(w4_11.w & 0x03030303u, q4_35.w);
    }
    let mine_74 = acc_18;
    let sg_228 = subgroupShuffleXor(mine_74, 8u);
    let sum_172 = mine_74 + sg_228;
    let sg_229 = subgroupShuffleXor(sum_172, 4u);
    let sum_173 = sum_172 + sg_229;
    let sg_230 = subgroupShuffleXor(sum_173, 2u);
    let sum_174 = sum_173 + sg_230;
    let sg_231 = subgroupShuffleXor(sum_174, 1u);
    let sum_175 = sum_174 + sg_231;
    if ((lane_of_row_3 == 0u) && (row_4 < end_row_2)) {
      let value_33 = f32(sum_175 - sg_227) / x_scale_1 * w_scale_8;
      let mine_at = row_4 - first_row;
      let x_new = residual[mine_at] + value_33;
      residual[mine_at] = x_new;
      let place_41 = row_4 + 50624u;
      let value_bits_10 = bitcast<u32>(x_new);
      let half_10 = select(2u, 0u, (value_bits_10 & 2139095040u) == 2139095040u);
      let rounded_10 = value_bits_10 + half_10;
      atomicStore(&words[place_41], (rounded_10 & 4294967292u) | tag);
    }
    for (var more_1 = first_row_2 + 16u; more_1 < end_row_2; more_1 += 16u) {
      let group_5 = tid / 16u;
      let lane_of_row_5 = tid & 15u;
      let row_6 = more_1 + group_5;
      let safe_row_5 = min(row_6, end_row_2 - 1u);
      let start_6 = layer * 1085440u + 153600u + safe_row_5 * 40u;
      let i_30 = lane_of_row_5 + 0u;
      let w4_22 = w[start_6 + i_30];
      let i_31 = lane_of_row_5 + 16u;
      let w4_23 = w[start_6 + i_31];
      let i_32 = min(lane_of_row_5 + 32u, 39u);
      let w4_24 = w[start_6 + i_32];
      var acc_19: i32 = 0i;
      let i_33 = lane_of_row_5 + 0u;
      let q4_36 = staged[0u + i_33];
      acc_19 += dot4I8Packed((w4_22.x >> 6u) & 0x03030303u, q4_36.x);
      acc_19 += dot4I8Packed((w4_22.y >> 6u) & 0x03030303u, q4_36.y);
      acc_19 += dot4I8Packed((w4_22.z >> 6u) & 0x03030303u, q4_36.z);
      acc_19 += dot4I8Packed((w4_22.w >> 6u) & 0x03030303u, q4_36.w);
      let q4_37 = staged[40u + i_33];
      acc_19 += dot4I8Packed((w4_22.x >> 4u) & 0x03030303u, q4_37.x);
      acc_19 += dot4I8Packed((w4_22.y >> 4u) & 0x03030303u, q4_37.y);
      acc_19 += dot4I8Packed((w4_22.z >> 4u) & 0x03030303u, q4_37.z);
      acc_19 += dot4I8Packed((w4_22.w >> 4u) & 0x03030303u, q4_37.w);
      let q4_38 = staged[80u + i_33];
      acc_19 += dot4I8Packed((w4_22.x >> 2u) & 0x03030303u, q4_38.x);
      acc_19 += dot4I8Packed((w4_22.y >> 2u) & 0x03030303u, q4_38.y);
      acc_19 += dot4I8Packed((w4_22.z >> 2u) & 0x03030303u, q4_38.z);
      acc_19 += dot4I8Packed((w4_22.w >> 2u) & 0x03030303u, q4_38.w);
      let q4_39 = staged[120u + i_33];
      acc_19 += dot4I8Packed(w4_22.x & 0x03030303u, q4_39.x);
      acc_19 += dot4I8Packed(w4_22.y & 0x03030303u, q4_39.y);
      acc_19 += dot4I8Packed(w4_22.z & 0x03030303u, q4_39.z);
      acc_19 += dot4I8Packed(w4_22.w & 0x03030303u, q4_39.w);
      let i_34 = lane_of_row_5 + 16u;
      let q4_40 = staged[0u + i_34];
      acc_19 += dot4I8Packed((w4_23.x >> 6u) & 0x03030303u, q4_40.x);
      acc_19 += dot4I8Packed((w4_23.y >> 6u) & 0x03030303u, q4_40.y);
      acc_19 += dot4I8Packed((w4_23.z >> 6u) & 0x03030303u, q4_40.z);
      acc_19 += dot4I8Packed((w4_23.w >> 6u) & 0x03030303u, q4_40.w);
      let q4_41 = staged[40u + i_34];
      acc_19 += dot4I8Packed((w4_23.x >> 4u) & 0x03030303u, q4_41.x);
      acc_19 += dot4I8Packed((w4_23.y >> 4u) & 0x03030303u, q4_41.y);
      acc_19 += dot4I8Packed((w4_23.z >> 4u) & 0x03030303u, q4_41.z);
      acc_19 += dot4I8Packed((w4_23.w >> 4u) & 0x03030303u, q4_41.w);
      let q4_42 = staged[80u + i_34];
      acc_19 += dot4I8Packed((w4_23.x >> 2u) & 0x03030303u, q4_42.x);
      acc_19 += dot4I8Packed((w4_23.y >> 2u) & 0x03030303u, q4_42.y);
      acc_19 += dot4I8Packed((w4_23.z >> 2u) & 0x03030303u, q4_42.z);
      acc_19 += dot4I8Packed((w4_23.w >> 2u) & 0x03030303u, q4_42.w);
      let q4_43 = staged[120u + i_34];
      acc_19 += dot4I8Packed(w4_23.x & 0x03030303u, q4_43.x);
      acc_19 += dot4I8Packed(w4_23.y & 0x03030303u, q4_43.y);
      acc_19 += dot4I8Packed(w4_23.z & 0x03030303u, q4_43.z);
      acc_19 += dot4I8Packed(w4_23.w & 0x03030303u, q4_43.w);
      let i_35 = lane_of_row_5 + 32u;
      if (i_35 < 40u) {
        let q4_44 = staged[0u + i_35];
        acc_19 += dot4I8Packed((w4_24.x >> 6u) & 0x03030303u, q4_44.x);
        acc_19 += dot4I8Packed((w4_24.y >> 6u) & 0x03030303u, q4_44.y);
        acc_19 += dot4I8Packed((w4_24.z >> 6u) & 0x03030303u, q4_44.z);
        acc_19 += dot4I8Packed((w4_24.w >> 6u) & 0x03030303u, q4_44.w);
        let q4_45 = staged[40u + i_35];
        acc_19 += dot4I8Packed((w4_24.x >> 4u) & 0x03030303u, q4_45.x);
        acc_19 += dot4I8Packed((w4_24.y >> 4u) & 0x03030303u, q4_45.y);
        acc_19 += dot4I8Packed((w4_24.z >> 4u) & 0x03030303u, q4_45.z);
        acc_19 += dot4I8Packed((w4_24.w >> 4u) & 0x03030303u, q4_45.w);
        let q4_46 = staged[80u + i_35];
        acc_19 += dot4I8Packed((w4_24.x >> 2u) & 0x03030303u, q4_46.x);
        acc_19 += dot4I8Packed((w4_24.y >> 2u) & 0x03030303u, q4_46.y);
        acc_19 += dot4I8Packed((w4_24.z >> 2u) & 0x03030303u, q4_46.z);
        acc_19 += dot4I8Packed((w4_24.w >> 2u) & 0x03030303u, q4_46.w);
        let q4_47 = staged[120u + i_35];
        acc_19 += dot4I8Packed(w4_24.x & 0x03030303u, q4_47.x);
        acc_19 += dot4I8Packed(w4_24.y & 0x03030303u, q4_47.y);
        acc_19 += dot4I8Packed(w4_24.z & 0x03030303u, q4_47.z);
        acc_19 += dot4I8Packed(w4_24.w & 0x03030303u, q4_47.w);
      }
      let mine_75 = acc_19;
      let sg_232 = subgroupShuffleXor(mine_75, 8u);
      let sum_176 = mine_75 + sg_232;
      let sg_233 = subgroupShuffleXor(sum_176, 4u);
      let sum_177 = sum_176 + sg_233;
      let sg_234 = subgroupShuffleXor(sum_177, 2u);
      let sum_178 = sum_177 + sg_234;
      let sg_235 = subgroupShuffleXor(sum_178, 1u);
      let sum_179 = sum_178 + sg_235;
      if ((lane_of_row_5 == 0u) && (row_6 < end_row_2)) {
        let value_34 = f32(sum_179 - sg_227) / x_scale_1 * w_scale_8;
        let mine_at_1 = row_6 - first_row;
        let x_new_1 = residual[mine_at_1] + value_34;
        residual[mine_at_1] = x_new_1;
        let place_42 = row_6 + 50624u;
        let value_bits_11 = bitcast<u32>(x_new_1);
        let half_11 = select(2u, 0u, (value_bits_11 & 2139095040u) == 2139095040u);
        let rounded_11 = value_bits_11 + half_11;
        atomicStore(&words[place_42], (rounded_11 & 4294967292u) | tag);
      }
    }
    let column_50 = tid + 0u;
    let place_43 = column_50 + 50624u;
    let column_51 = tid + 256u;
    let place_44 = column_51 + 50624u;
    let column_52 = tid + 512u;
    let place_45 = column_52 + 50624u;
    let column_53 = tid + 768u;
    let place_46 = column_53 + 50624u;
    let column_54 = tid + 1024u;
    let place_47 = column_54 + 50624u;
    let column_55 = tid + 1280u;
    let place_48 = column_55 + 50624u;
    let column_56 = tid + 1536u;
    let place_49 = column_56 + 50624u;
    let column_57 = tid + 1792u;
    let place_50 = column_57 + 50624u;
    let column_58 = tid + 2048u;
    let place_51 = column_58 + 50624u;
    let column_59 = tid + 2304u;
    let place_52 = column_59 + 50624u;
    workgroupBarrier();
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
    var waits_7: u32 = 1u;
    let end_14 = patience;
    for (var early_7 = 0u; early_7 < end_14; early_7 += 1u) {
      let now_54 = (atomicLoad(&words[place_52]));
      found_31 = now_54;
      var n_failed_14: u32 = 0u;
      if ((early_7 & 255u) == 255u) {
        let now_55 = (atomicLoad(&words[32u]));
        n_failed_14 = now_55;
      }
      let given_up_14 = n_failed_14 != 0u;
      if ((((found_31 ^ tag) & 3u) == 0u) || given_up_14) {
        break;
      }
    }
    let end_15 = patience;
    for (var tries_7 = 0u; tries_7 < end_15; tries_7 += 1u) {
      let now_56 = (atomicLoad(&words[place_43]));
      found_31 = now_56;
      let now_57 = (atomicLoad(&words[place_44]));
      found_32 = now_57;
      let now_58 = (atomicLoad(&words[place_45]));
      found_33 = now_58;
      let now_59 = (atomicLoad(&words[place_46]));
      found_34 = now_59;
      let now_60 = (atomicLoad(&words[place_47]));
      found_35 = now_60;
      let now_61 = (atomicLoad(&words[place_48]));
      found_36 = now_61;
      let now_62 = (atomicLoad(&words[place_49]));
      found_37 = now_62;
      let now_63 = (atomicLoad(&words[place_50]));
      found_38 = now_63;
      let now_64 = (atomicLoad(&words[place_51]));
      found_39 = now_64;
      let now_65 = (atomicLoad(&words[place_52]));
      found_40 = now_65;
      var odd_7: u32 = 0u;
      odd_7 = odd_7 | (found_31 ^ tag);
      odd_7 = odd_7 | (found_32 ^ tag);
      odd_7 = odd_7 | (found_33 ^ tag);
      odd_7 = odd_7 | (found_34 ^ tag);
      odd_7 = odd_7 | (found_35 ^ tag);
      odd_7 = odd_7 | (found_36 ^ tag);
      odd_7 = odd_7 | (found_37 ^ tag);
      odd_7 = odd_7 | (found_38 ^ tag);
      odd_7 = odd_7 | (found_39 ^ tag);
      odd_7 = odd_7 | (found_40 ^ tag);
      if ((odd_7 & 3u) == 0u) {
        waits_7 = 0u;
        break;
      }
      var n_failed_15: u32 = 0u;
      if ((tries_7 & 255u) == 255u) {
        let now_66 = (atomicLoad(&words[32u]));
        n_failed_15 = now_66;
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
    let value_35 = bitcast<f32>(found_31 & 4294967292u);
    let value_36 = bitcast<f32>(found_32 & 4294967292u);
    let value_37 = bitcast<f32>(found_33 & 4294967292u);
    let value_38 = bitcast<f32>(found_34 & 4294967292u);
    let value_39 = bitcast<f32>(found_35 & 4294967292u);
    let value_40 = bitcast<f32>(found_36 & 4294967292u);
    let value_41 = bitcast<f32>(found_37 & 4294967292u);
    let value_42 = bitcast<f32>(found_38 & 4294967292u);
    let value_43 = bitcast<f32>(found_39 & 4294967292u);
    let value_44 = bitcast<f32>(found_40 & 4294967292u);
    var squares_2: f32 = 0f;
    var largest_2: f32 = 0f;
    let vg_20 = value_35 * gain_30;
    largest_2 = max(largest_2, abs(vg_20));
    squares_2 += value_35 * value_35;
    let vg_21 = value_36 * gain_31;
    largest_2 = max(largest_2, abs(vg_21));
    squares_2 += value_36 * value_36;
    let vg_22 = value_37 * gain_32;
    largest_2 = max(largest_2, abs(vg_22));
    squares_2 += value_37 * value_37;
    let vg_23 = value_38 * gain_33;
    largest_2 = max(largest_2, abs(vg_23));
    squares_2 += value_38 * value_38;
    let vg_24 = value_39 * gain_34;
    largest_2 = max(largest_2, abs(vg_24));
    squares_2 += value_39 * value_39;
    let vg_25 = value_40 * gain_35;
    largest_2 = max(largest_2, abs(vg_25));
    squares_2 += value_40 * value_40;
    let vg_26 = value_41 * gain_36;
    largest_2 = max(largest_2, abs(vg_26));
    squares_2 += value_41 * value_41;
    let vg_27 = value_42 * gain_37;
    largest_2 = max(largest_2, abs(vg_27));
    squares_2 += value_42 * value_42;
    let vg_28 = value_43 * gain_38;
    largest_2 = max(largest_2, abs(vg_28));
    squares_2 += value_43 * value_43;
    let vg_29 = value_44 * gain_39;
    largest_2 = max(largest_2, abs(vg_29));
    squares_2 += value_44 * value_44;
    let my_squares_2 = squares_2;
    let my_largest_2 = largest_2;
    let sg_236 = subgroupShuffleXor(my_squares_2, 16u);
    let sum_180 = my_squares_2 + sg_236;
    let sg_237 = subgroupShuffleXor(sum_180, 8u);
    let sum_181 = sum_180 + sg_237;
    let sg_238 = subgroupShuffleXor(sum_181, 4u);
    let sum_182 = sum_181 + sg_238;
    let sg_239 = subgroupShuffleXor(sum_182, 2u);
    let sum_183 = sum_182 + sg_239;
    let sg_240 = subgroupShuffleXor(sum_183, 1u);
    let sum_184 = sum_183 + sg_240;
    let sg_241 = subgroupMax(bitcast<u32>(my_largest_2));
    let most_30 = bitcast<f32>(sg_241);
    if ((tid & 31u) == 0u) {
      group_stats_2[tid / 32u] = vec2<f32>(sum_184, most_30);
    }
    workgroupBarrier();
    let of_group_2 = group_stats_2[tid & 7u];
    let sg_242 = subgroupShuffleXor(of_group_2.x, 4u);
    let sum_185 = of_group_2.x + sg_242;
    let sg_243 = subgroupShuffleXor(sum_185, 2u);
    let sum_186 = sum_185 + sg_243;
    let sg_244 = subgroupShuffleXor(sum_186, 1u);
    let sum_187 = sum_186 + sg_244;
    let sg_245 = subgroupMax(bitcast<u32>(of_group_2.y));
    let most_31 = bitcast<f32>(sg_245);
    let factor_2 = 1f / sqrt(sum_187 / 2560f + 1e-05f);
    let finite_scale_2 = 127f / max(most_31 * factor_2, 1e-05f);
    let factor_and_scale_2 = factor_2 * finite_scale_2;
    let factor_bits_2 = bitcast<u32>(factor_2);
    let x_scale_2 = select(finite_scale_2, factor_2, (factor_bits_2 - 1u) >= 2139095039u);
    var q_sum_2: i32 = 0i;
    let q_20 = i32(clamp(round(vg_20 * factor_and_scale_2), -128f, 127f));
    let byte_20 = bitcast<u32>(q_20) & 255u;
    let sg_246 = subgroupShuffleXor(byte_20, 1u);
    let two_20 = byte_20 | (sg_246 << 8u);
    let sg_247 = subgroupShuffleXor(two_20, 2u);
    let word_20 = two_20 | (sg_247 << 16u);
    q_sum_2 += q_20;
    if ((tid & 3u) == 0u) {
      let unit_20 = (tid + 0u) / 16u;
      let vec_20 = ((unit_20 >> 1u) & 3u) * 40u + (unit_20 >> 3u) * 2u + (unit_20 & 1u);
      let part_of_unit_20 = tid / 4u % 4u;
      staged[vec_20][part_of_unit_20] = word_20;
    }
    let q_21 = i32(clamp(round(vg_21 * factor_and_scale_2), -128f, 127f));
    let byte_21 = bitcast<u32>(q_21) & 255u;
    let sg_248 = subgroupShuffleXor(byte_21, 1u);
    let two_21 = byte_21 | (sg_248 << 8u);
    let sg_249 = subgroupShuffleXor(two_21, 2u);
    let word_21 = two_21 | (sg_249 << 16u);
    q_sum_2 += q_21;
    if ((tid & 3u) == 0u) {
      let unit_21 = (tid + 256u) / 16u;
      let vec_21 = ((unit_21 >> 1u) & 3u) * 40u + (unit_21 >> 3u) * 2u + (unit_21 & 1u);
      let part_of_unit_21 = tid / 4u % 4u;
      staged[vec_21][part_of_unit_21] = word_21;
    }
    let q_22 = i32(clamp(round(vg_22 * factor_and_scale_2), -128f, 127f));
    let byte_22 = bitcast<u32>(q_22) & 255u;
    let sg_250 = subgroupShuffleXor(byte_22, 1u);
    let two_22 = byte_22 | (sg_250 << 8u);
    let sg_251 = subgroupShuffleXor(two_22, 2u);
    let word_22 = two_22 | (sg_251 << 16u);
    q_sum_2 += q_22;
    if ((tid & 3u) == 0u) {
      let unit_22 = (tid + 512u) / 16u;
      let vec_22 = ((unit_22 >> 1u) & 3u) * 40u + (unit_22 >> 3u) * 2u + (unit_22 & 1u);
      let part_of_unit_22 = tid / 4u % 4u;
      staged[vec_22][part_of_unit_22] = word_22;
    }
    let q_23 = i32(clamp(round(vg_23 * factor_and_scale_2), -128f, 127f));
    let byte_23 = bitcast<u32>(q_23) & 255u;
    let sg_252 = subgroupShuffleXor(byte_23, 1u);
    let two_23 = byte_23 | (sg_252 << 8u);
    let sg_253 = subgroupShuffleXor(two_23, 2u);
    let word_23 = two_23 | (sg_253 << 16u);
    q_sum_2 += q_23;
    if ((tid & 3u) == 0u) {
      let unit_23 = (tid + 768u) / 16u;
      let vec_23 = ((unit_23 >> 1u) & 3u) * 40u + (unit_23 >> 3u) * 2u + (unit_23 & 1u);
      let part_of_unit_23 = tid / 4u % 4u;
      staged[vec_23][part_of_unit_23] = word_23;
    }
    let q_24 = i32(clamp(round(vg_24 * factor_and_scale_2), -128f, 127f));
    let byte_24 = bitcast<u32>(q_24) & 255u;
    let sg_254 = subgroupShuffleXor(byte_24, 1u);
    let two_24 = byte_24 | (sg_254 << 8u);
    let sg_255 = subgroupShuffleXor(two_24, 2u);
    let word_24 = two_24 | (sg_255 << 16u);
    q_sum_2 += q_24;
    if ((tid & 3u) == 0u) {
      let unit_24 = (tid + 1024u) / 16u;
      let vec_24 = ((unit_24 >> 1u) & 3u) * 40u + (unit_24 >> 3u) * 2u + (unit_24 & 1u);
      let part_of_unit_24 = tid / 4u % 4u;
      staged[vec_24][part_of_unit_24] = word_24;
    }
    let q_25 = i32(clamp(round(vg_25 * factor_and_scale_2), -128f, 127f));
    let byte_25 = bitcast<u32>(q_25) & 255u;
    let sg_256 = subgroupShuffleXor(byte_25, 1u);
    let two_25 = byte_25 | (sg_256 << 8u);
    let sg_257 = subgroupShuffleXor(two_25, 2u);
    let word_25 = two_25 | (sg_257 << 16u);
    q_sum_2 += q_25;
    if ((tid & 3u) == 0u) {
      let unit_25 = (tid + 1280u) / 16u;
      let vec_25 = ((unit_25 >> 1u) & 3u) * 40u + (unit_25 >> 3u) * 2u + (unit_25 & 1u);
      let part_of_unit_25 = tid / 4u % 4u;
      staged[vec_25][part_of_unit_25] = word_25;
    }
    let q_26 = i32(clamp(round(vg_26 * factor_and_scale_2), -128f, 127f));
    let byte_26 = bitcast<u32>(q_26) & 255u;
    let sg_258 = subgroupShuffleXor(byte_26, 1u);
    let two_26 = byte_26 | (sg_258 << 8u);
    let sg_259 = subgroupShuffleXor(two_26, 2u);
    let word_26 = two_26 | (sg_259 << 16u);
    q_sum_2 += q_26;
    if ((tid & 3u) == 0u) {
      let unit_26 = (tid + 1536u) / 16u;
      let vec_26 = ((unit_26 >> 1u) & 3u) * 40u + (unit_26 >> 3u) * 2u + (unit_26 & 1u);
      let part_of_unit_26 = tid / 4u % 4u;
      staged[vec_26][part_of_unit_26] = word_26;
    }
    let q_27 = i32(clamp(round(vg_27 * factor_and_scale_2), -128f, 127f));
    let byte_27 = bitcast<u32>(q_27) & 255u;
    let sg_260 = subgroupShuffleXor(byte_27, 1u);
    let two_27 = byte_27 | (sg_260 << 8u);
    let sg_261 = subgroupShuffleXor(two_27, 2u);
    let word_27 = two_27 | (sg_261 << 16u);
    q_sum_2 += q_27;
    if ((tid & 3u) == 0u) {
      let unit_27 = (tid + 1792u) / 16u;
      let vec_27 = ((unit_27 >> 1u) & 3u) * 40u + (unit_27 >> 3u) * 2u + (unit_27 & 1u);
      let part_of_unit_27 = tid / 4u % 4u;
      staged[vec_27][part_of_unit_27] = word_27;
    }
    let q_28 = i32(clamp(round(vg_28 * factor_and_scale_2), -128f, 127f));
    let byte_28 = bitcast<u32>(q_28) & 255u;
    let sg_262 = subgroupShuffleXor(byte_28, 1u);
    let two_28 = byte_28 | (sg_262 << 8u);
    let sg_263 = subgroupShuffleXor(two_28, 2u);
    let word_28 = two_28 | (sg_263 << 16u);
    q_sum_2 += q_28;
    if ((tid & 3u) == 0u) {
      let unit_28 = (tid + 2048u) / 16u;
      let vec_28 = ((unit_28 >> 1u) & 3u) * 40u + (unit_28 >> 3u) * 2u + (unit_28 & 1u);
      let part_of_unit_28 = tid / 4u % 4u;
      staged[vec_28][part_of_unit_28] = word_28;
    }
    let q_29 = i32(clamp(round(vg_29 * factor_and_scale_2), -128f, 127f));
    let byte_29 = bitcast<u32>(q_29) & 255u;
    let sg_264 = subgroupShuffleXor(byte_29, 1u);
    let two_29 = byte_29 | (sg_264 << 8u);
    let sg_265 = subgroupShuffleXor(two_29, 2u);
    let word_29 = two_29 | (sg_265 << 16u);
    q_sum_2 += q_29;
    if ((tid & 3u) == 0u) {
      let unit_29 = (tid + 2304u) / 16u;
      let vec_29 = ((unit_29 >> 1u) & 3u) * 40u + (unit_29 >> 3u) * 2u + (unit_29 & 1u);
      let part_of_unit_29 = tid / 4u % 4u;
      staged[vec_29][part_of_unit_29] = word_29;
    }
    let my_sum_2 = q_sum_2;
    let sg_266 = subgroupAdd(my_sum_2);
    if ((tid & 31u) == 0u) {
      group_sums_2[tid / 32u] = sg_266;
    }
    workgroupBarrier();
    let sum_of_group_2 = select(0i, group_sums_2[tid & 7u], (tid & 31u) < 8u);
    let sg_267 = subgroupAdd(sum_of_group_2);
    let group_6 = tid / 16u;
    let lane_of_row_6 = tid & 15u;
    let row_7 = first_row_4 + group_6;
    let safe_row_6 = min(row_7, end_row_4 - 1u);
    let start_7 = layer * 1085440u + 808960u + safe_row_6 * 108u;
    let i_36 = lane_of_row_6 + 0u;
    let w4_25 = w[start_7 + i_36];
    let i_37 = lane_of_row_6 + 16u;
    let w4_26 = w[start_7 + i_37];
    let i_38 = lane_of_row_6 + 32u;
    let w4_27 = w[start_7 + i_38];
    let i_39 = lane_of_row_6 + 48u;
    let w4_28 = w[start_7 + i_39];
    let i_40 = lane_of_row_6 + 64u;
    let w4_29 = w[start_7 + i_40];
    let i_41 = lane_of_row_6 + 80u;
    let w4_30 = w[start_7 + i_41];
    let i_42 = min(lane_of_row_6 + 96u, 107u);
    let w4_31 = w[start_7 + i_42];
    let vectors_at_3 = layer * 14600u;
    let column_60 = tid + 0u;
    let gain_40 = vectors[vectors_at_3 + 7680u + column_60];
    let column_61 = tid + 256u;
    let gain_41 = vectors[vectors_at_3 + 7680u + column_61];
    let column_62 = tid + 512u;
    let gain_42 = vectors[vectors_at_3 + 7680u + column_62];
    let column_63 = tid + 768u;
    let gain_43 = vectors[vectors_at_3 + 7680u + column_63];
    let column_64 = tid + 1024u;
    let gain_44 = vectors[vectors_at_3 + 7680u + column_64];
    let column_65 = tid + 1280u;
    let gain_45 = vectors[vectors_at_3 + 7680u + column_65];
    let column_66 = tid + 1536u;
    let gain_46 = vectors[vectors_at_3 + 7680u + column_66];
    let column_67 = tid + 1792u;
    let gain_47 = vectors[vectors_at_3 + 7680u + column_67];
    let column_68 = tid + 2048u;
    let gain_48 = vectors[vectors_at_3 + 7680u + column_68];
    let column_69 = tid + 2304u;
    let gain_49 = vectors[vectors_at_3 + 7680u + column_69];
    let column_70 = tid + 2560u;
    let gain_50 = vectors[vectors_at_3 + 7680u + column_70];
    let column_71 = tid + 2816u;
    let gain_51 = vectors[vectors_at_3 + 7680u + column_71];
    let column_72 = tid + 3072u;
    let gain_52 = vectors[vectors_at_3 + 7680u + column_72];
    let column_73 = tid + 3328u;
    let gain_53 = vectors[vectors_at_3 + 7680u + column_73];
    let column_74 = tid + 3584u;
    let gain_54 = vectors[vectors_at_3 + 7680u + column_74];
    let column_75 = tid + 3840u;
    let gain_55 = vectors[vectors_at_3 + 7680u + column_75];
    let column_76 = tid + 4096u;
    let gain_56 = vectors[vectors_at_3 + 7680u + column_76];
    let column_77 = tid + 4352u;
    let gain_57 = vectors[vectors_at_3 + 7680u + column_77];
    let column_78 = tid + 4608u;
    let gain_58 = vectors[vectors_at_3 + 7680u + column_78];
    let column_79 = tid + 4864u;
    let gain_59 = vectors[vectors_at_3 + 7680u + column_79];
    let column_80 = tid + 5120u;
    let gain_60 = vectors[vectors_at_3 + 7680u + column_80];
    let column_81 = tid + 5376u;
    let gain_61 = vectors[vectors_at_3 + 7680u + column_81];
    let column_82 = tid + 5632u;
    let gain_62 = vectors[vectors_at_3 + 7680u + column_82];
    let column_83 = tid + 5888u;
    let gain_63 = vectors[vectors_at_3 + 7680u + column_83];
    let column_84 = tid + 6144u;
    let gain_64 = vectors[vectors_at_3 + 7680u + column_84];
    let column_85 = tid + 6400u;
    let gain_65 = vectors[vectors_at_3 + 7680u + column_85];
    let column_86 = tid + 6656u;
    let gain_66 = vectors[vectors_at_3 + 7680u + column_86];
    let w_scale_11 = vectors[vectors_at_3 + 14598u];
    var acc_20: i32 = 0i;
    var acc_21: i32 = 0i;
    let i_43 = lane_of_row_4 + 0u;
    let q4_48 = staged[0u + i_43];
    acc_20 += dot4I8Packed((w4_12.x >> 6u) & 0x03030303u, q4_48.x);
    acc_21 += dot4I8Packed((w4_13.x >> 6u) & 0x03030303u, q4_48.x);
    acc_20 += dot4I8Packed((w4_12.y >> 6u) & 0x03030303u, q4_48.y);
    acc_21 += dot4I8Packed((w4_13.y >> 6u) & 0x03030303u, q4_48.y);
    acc_20 += dot4I8Packed((w4_12.z >> 6u) & 0x03030303u, q4_48.z);
    acc_21 += dot4I8Packed((w4_13.z >> 6u) & 0x03030303u, q4_48.z);
    acc_20 += dot4I8Packed((w4_12.w >> 6u) & 0x03030303u, q4_48.w);
    acc_21 += dot4I8Packed((w4_13.w >> 6u) & 0x03030303u, q4_48.w);
    let q4_49 = staged[40u + i_43];
    acc_20 += dot4I8Packed((w4_12.x >> 4u) & 0x03030303u, q4_49.x);
    acc_21 += dot4I8Packed((w4_13.x >> 4u) & 0x03030303u, q4_49.x);
    acc_20 += dot4I8Packed((w4_12.y >> 4u) & 0x03030303u, q4_49.y);
    acc_21 += dot4I8Packed((w4_13.y >> 4u) & 0x03030303u, q4_49.y);
    acc_20 += dot4I8Packed((w4_12.z >> 4u) & 0x03030303u, q4_49.z);
    acc_21 += dot4I8Packed((w4_13.z >> 4u) & 0x03030303u, q4_49.z);
    acc_20 += dot4I8Packed((w4_12.w >> 4u) & 0x03030303u, q4_49.w);
    acc_21 += dot4I8Packed((w4_13.w >> 4u) & 0x03030303u, q4_49.w);
    let q4_50 = staged[80u + i_43];
    acc_20 += dot4I8Packed((w4_12.x >> 2u) & 0x03030303u, q4_50.x);
    acc_21 += dot4I8Packed((w4_13.x >> 2u) & 0x03030303u, q4_50.x);
    acc_20 += dot4I8Packed((w4_12.y >> 2u) & 0x03030303u, q4_50.y);
    acc_21 += dot4I8Packed((w4_13.y >> 2u) & 0x03030303u, q4_50.y);
    acc_20 += dot4I8Packed((w4_12.z >> 2u) & 0x03030303u, q4_50.z);
    acc_21 += dot4I8Packed((w4_13.z >> 2u) & 0x03030303u, q4_50.z);
    acc_20 += dot4I8Packed((w4_12.w >> 2u) & 0x03030303u, q4_50.w);
    acc_21 += dot4I8Packed((w4_13.w >> 2u) & 0x03030303u, q4_50.w);
    let q4_51 = staged[120u + i_43];
    acc_20 += dot4I8Packed(w4_12.x & 0x03030303u, q4_51.x);
    acc_21 += dot4I8Packed(w4_13.x & 0x03030303u, q4_51.x);
    acc_20 += dot4I8Packed(w4_12.y & 0x03030303u, q4_51.y);
    acc_21 += dot4I8Packed(w4_13.y & 0x03030303u, q4_51.y);
    acc_20 += dot4I8Packed(w4_12.z & 0x03030303u, q4_51.z);
    acc_21 += dot4I8Packed(w4_13.z & 0x03030303u, q4_51.z);
    acc_20 += dot4I8Packed(w4_12.w & 0x03030303u, q4_51.w);
    acc_21 += dot4I8Packed(w4_13.w & 0x03030303u, q4_51.w);
    let i_44 = lane_of_row_4 + 8u;
    let q4_52 = staged[0u + i_44];
    acc_20 += dot4I8Packed((w4_14.x >> 6u) & 0x03030303u, q4_52.x);
    acc_21 += dot4I8Packed((w4_15.x >> 6u) & 0x03030303u, q4_52.x);
    acc_20 += dot4I8Packed((w4_14.y >> 6u) & 0x03030303u, q4_52.y);
    acc_21 += dot4I8Packed((w4_15.y >> 6u) & 0x03030303u, q4_52.y);
    acc_20 += dot4I8Packed((w4_14.z >> 6u) & 0x03030303u, q4_52.z);
    acc_21 += dot4I8Packed((w4_15.z >> 6u) & 0x03030303u, q4_52.z);
    acc_20 += dot4I8Packed((w4_14.w >> 6u) & 0x03030303u, q4_52.w);
    acc_21 += dot4I8Packed((w4_15.w >> 6u) & 0x03030303u, q4_52.w);
    let q4_53 = staged[40u + i_44];
    acc_20 += dot4I8Packed((w4_14.x >> 4u) & 0x03030303u, q4_53.x);
    acc_21 += dot4I8Packed((w4_15.x >> 4u) & 0x03030303u, q4_53.x);
    acc_20 += dot4I8Packed((w4_14.y >> 4u) & 0x03030303u, q4_53.y);
    acc_21 += dot4I8Packed((w4_15.y >> 4u) & 0x03030303u, q4_53.y);
    acc_20 += dot4I8Packed((w4_14.z >> 4u) & 0x03030303u, q4_53.z);
    acc_21 += dot4I8Packed((w4_15.z >> 4u) & 0x03030303u, q4_53.z);
    acc_20 += dot4I8Packed((w4_14.w >> 4u) & 0x03030303u, q4_53.w);
    acc_21 += dot4I8Packed((w4_15.w >> 4u) & 0x03030303u, q4_53.w);
    let q4_54 = staged[80u + i_44];
    acc_20 += dot4I8Packed((w4_14.x >> 2u) & 0x03030303u, q4_54.x);
    acc_21 += dot4I8Packed((w4_15.x >> 2u) & 0x03030303u, q4_54.x);
    acc_20 += dot4I8Packed((w4_14.y >> 2u) & 0x03030303u, q4_54.y);
    acc_21 += dot4I8Packed((w4_15.y >> 2u) & 0x03030303u, q4_54.y);
    acc_20 += dot4I8Packed((w4_14.z >> 2u) & 0x03030303u, q4_54.z);
    acc_21 += dot4I8Packed((w4_15.z >> 2u) & 0x03030303u, q4_54.z);
    acc_20 += dot4I8Packed((w4_14.w >> 2u) & 0x03030303u, q4_54.w);
    acc_21 += dot4I8Packed((w4_15.w >> 2u) & 0x03030303u, q4_54.w);
    let q4_55 = staged[120u + i_44];
    acc_20 += dot4I8Packed(w4_14.x & 0x03030303u, q4_55.x);
    acc_21 += dot4I8Packed(w4_15.x & 0x03030303u, q4_55.x);
    acc_20 += dot4I8Packed(w4_14.y & 0x03030303u, q4_55.y);
    acc_21 += dot4I8Packed(w4_15.y & 0x03030303u, q4_55.y);
    acc_20 += dot4I8Packed(w4_14.z & 0x03030303u, q4_55.z);
    acc_21 += dot4I8Packed(w4_15.z & 0x03030303u, q4_55.z);
    acc_20 += dot4I8Packed(w4_14.w & 0x03030303u, q4_55.w);
    acc_21 += dot4I8Packed(w4_15.w & 0x03030303u, q4_55.w);
    let i_45 = lane_of_row_4 + 16u;
    let q4_56 = staged[0u + i_45];
    acc_20 += dot4I8Packed((w4_16.x >> 6u) & 0x03030303u, q4_56.x);
    acc_21 += dot4I8Packed((w4_17.x >> 6u) & 0x03030303u, q4_56.x);
    acc_20 += dot4I8Packed((w4_16.y >> 6u) & 0x03030303u, q4_56.y);
    acc_21 += dot4I8Packed((w4_17.y >> 6u) & 0x03030303u, q4_56.y);
    acc_20 += dot4I8Packed((w4_16.z >> 6u) & 0x03030303u, q4_56.z);
    acc_21 += dot4I8Packed((w4_17.z >> 6u) & 0x03030303u, q4_56.z);
    acc_20 += dot4I8Packed((w4_16.w >> 6u) & 0x03030303u, q4_56.w);
    acc_21 += dot4I8Packed((w4_17.w >> 6u) & 0x03030303u, q4_56.w);
    let q4_57 = staged[40u + i_45];
    acc_20 += dot4I8Packed((w4_16.x >> 4u) & 0x03030303u, q4_57.x);
    acc_21 += dot4I8Packed((w4_17.x >> 4u) & 0x03030303u, q4_57.x);
    acc_20 += dot4I8Packed((w4_16.y >> 4u) & 0x03030303u, q4_57.y);
    acc_21 += dot4I8Packed((w4_17.y >> 4u) & 0x03030303u, q4_57.y);
    acc_20 += dot4I8Packed((w4_16.z >> 4u) & 0x03030303u, q4_57.z);
    acc_21 += dot4I8Packed((w4_17.z >> 4u) & 0x03030303u, q4_57.z);
    acc_20 += dot4I8Packed((w4_16.w >> 4u) & 0x03030303u, q4_57.w);
    acc_21 += dot4I8Packed((w4_17.w >> 4u) & 0x03030303u, q4_57.w);
    let q4_58 = staged[80u + i_45];
    acc_20 += dot4I8Packed((w4_16.x >> 2u) & 0x03030303u, q4_58.x);
    acc_21 += dot4I8Packed((w4_17.x >> 2u) & 0x03030303u, q4_58.x);
    acc_20 += dot4I8Packed((w4_16.y >> 2u) & 0x03030303u, q4_58.y);
    acc_21 += dot4I8Packed((w4_17.y >> 2u) & 0x03030303u, q4_58.y);
    acc_20 += dot4I8Packed((w4_16.z >> 2u) & 0x03030303u, q4_58.z);
    acc_21 += dot4I8Packed((w4_17.z >> 2u) & 0x03030303u, q4_58.z);
    acc_20 += dot4I8Packed((w4_16.w >> 2u) & 0x03030303u, q4_58.w);
    acc_21 += dot4I8Packed((w4_17.w >> 2u) & 0x03030303u, q4_58.w);
    let q4_59 = staged[120u + i_45];
    acc_20 += dot4I8Packed(w4_16.x & 0x03030303u, q4_59.x);
    acc_21 += dot4I8Packed(w4_17.x & 0x03030303u, q4_59.x);
    acc_20 += dot4I8Packed(w4_16.y & 0x03030303u, q4_59.y);
    acc_21 += dot4I8Packed(w4_17.y & 0x03030303u, q4_59.y);
    acc_20 += dot4I8Packed(w4_16.z & 0x03030303u, q4_59.z);
    acc_21 += dot4I8Packed(w4_17.z & 0x03030303u, q4_59.z);
    acc_20 += dot4I8Packed(w4_16.w & 0x03030303u, q4_59.w);
    acc_21 += dot4I8Packed(w4_17.w & 0x03030303u, q4_59.w);
    let i_46 = lane_of_row_4 + 24u;
    let q4_60 = staged[0u + i_46];
    acc_20 += dot4I8Packed((w4_18.x >> 6u) & 0x03030303u, q4_60.x);
    acc_21 += dot4I8Packed((w4_19.x >> 6u) & 0x03030303u, q4_60.x);
    acc_20 += dot4I8Packed((w4_18.y >> 6u) & 0x03030303u, q4_60.y);
    acc_21 += dot4I8Packed((w4_19.y >> 6u) & 0x03030303u, q4_60.y);
    acc_20 += dot4I8Packed((w4_18.z >> 6u) & 0x03030303u, q4_60.z);
    acc_21 += dot4I8Packed((w4_19.z >> 6u) & 0x03030303u, q4_60.z);
    acc_20 += dot4I8Packed((w4_18.w >> 6u) & 0x03030303u, q4_60.w);
    acc_21 += dot4I8Packed((w4_19.w >> 6u) & 0x03030303u, q4_60.w);
    let q4_61 = staged[40u + i_46];
    acc_20 += dot4I8Packed((w4_18.x >> 4u) & 0x03030303u, q4_61.x);
    acc_21 += dot4I8Packed((w4_19.x >> 4u) & 0x03030303u, q4_61.x);
    acc_20 += dot4I8Packed((w4_18.y >> 4u) & 0x03030303u, q4_61.y);
    acc_21 += dot4I8Packed((w4_19.y >> 4u) & 0x03030303u, q4_61.y);
    acc_20 += dot4I8Packed((w4_18.z >> 4u) & 0x03030303u, q4_61.z);
    acc_21 += dot4I8Packed((w4_19.z >> 4u) & 0x03030303u, q4_61.z);
    acc_20 += dot4I8Packed((w4_18.w >> 4u) & 0x03030303u, q4_61.w);
    acc_21 += dot4I8Packed((w4_19.w >> 4u) & 0x03030303u, q4_61.w);
    let q4_62 = staged[80u + i_46];
    acc_20 += dot4I8Packed((w4_18.x >> 2u) & 0x03030303u, q4_62.x);
    acc_21 += dot4I8Packed((w4_19.x >> 2u) & 0x03030303u, q4_62.x);
    acc_20 += dot4I8Packed((w4_18.y >> 2u) & 0x03030303u, q4_62.y);
    acc_21 += dot4I8Packed((w4_19.y >> 2u) & 0x03030303u, q4_62.y);
    acc_20 += dot4I8Packed((w4_18.z >> 2u) & 0x03030303u, q4_62.z);
    acc_21 += dot4I8Packed((w4_19.z >> 2u) & 0x03030303u, q4_62.z);
    acc_20 += dot4I8Packed((w4_18.w >> 2u) & 0x03030303u, q4_62.w);
    acc_21 += dot4I8Packed((w4_19.w >> 2u) & 0x03030303u, q4_62.w);
    let q4_63 = staged[120u + i_46];
    acc_20 += dot4I8Packed(w4_18.x & 0x03030303u, q4_63.x);
    acc_21 += dot4I8Packed(w4_19.x & 0x03030303u, q4_63.x);
    acc_20 += dot4I8Packed(w4_18.y & 0x03030303u, q4_63.y);
    acc_21 += dot4I8Packed(w4_19.y & 0x03030303u, q4_63.y);
    acc_20 += dot4I8Packed(w4_18.z & 0x03030303u, q4_63.z);
    acc_21 += dot4I8Packed(w4_19.z & 0x03030303u, q4_63.z);
    acc_20 += dot4I8Packed(w4_18.w & 0x03030303u, q4_63.w);
    acc_21 += dot4I8Packed(w4_19.w & 0x03030303u, q4_63.w);
    let i_47 = lane_of_row_4 + 32u;
    let q4_64 = staged[0u + i_47];
    acc_20 += dot4I8Packed((w4_20.x >> 6u) & 0x03030303u, q4_64.x);
    acc_21 += dot4I8Packed((w4_21.x >> 6u) & 0x03030303u, q4_64.x);
    acc_20 += dot4I8Packed((w4_20.y >> 6u) & 0x03030303u, q4_64.y);
    acc_21 += dot4I8Packed((w4_21.y >> 6u) & 0x03030303u, q4_64.y);
    acc_20 += dot4I8Packed((w4_20.z >> 6u) & 0x03030303u, q4_64.z);
    acc_21 += dot4I8Packed((w4_21.z >> 6u) & 0x03030303u, q4_64.z);
    acc_20 += dot4I8Packed((w4_20.w >> 6u) & 0x03030303u, q4_64.w);
    acc_21 += dot4I8Packed((w4_21.w >> 6u) & 0x03030303u, q4_64.w);
    let q4_65 = staged[40u + i_47];
    acc_20 += dot4I8Packed((w4_20.x >> 4u) & 0x03030303u, q4_65.x);
    acc_21 += dot4I8Packed((w4_21.x >> 4u) & 0x03030303u, q4_65.x);
    acc_20 += dot4I8Packed((w4_20.y >> 4u) & 0x03030303u, q4_65.y);
    acc_21 += dot4I8Packed((w4_21.y >> 4u) & 0x03030303u, q4_65.y);
    acc_20 += dot4I8Packed((w4_20.z >> 4u) & 0x03030303u, q4_65.z);
    acc_21 += dot4I8Packed((w4_21.z >> 4u) & 0x03030303u, q4_65.z);
    acc_20 += dot4I8Packed((w4_20.w >> 4u) & 0x03030303u, q4_65.w);
    acc_21 += dot4I8Packed((w4_21.w >> 4u) & 0x03030303u, q4_65.w);
    let q4_66 = staged[80u + i_47];
    acc_20 += dot4I8Packed((w4_20.x >> 2u) & 0x03030303u, q4_66.x);
    acc_21 += dot4I8Packed((w4_21.x >> 2u) & 0x03030303u, q4_66.x);
    acc_20 += dot4I8Packed((w4_20.y >> 2u) & 0x03030303u, q4_66.y);
    acc_21 += dot4I8Packed((w4_21.y >> 2u) & 0x03030303u, q4_66.y);
    acc_20 += dot4I8Packed((w4_20.z >> 2u) & 0x03030303u, q4_66.z);
    acc_21 += dot4I8Packed((w4_21.z >> 2u) & 0x03030303u, q4_66.z);
    acc_20 += dot4I8Packed((w4_20.w >> 2u) & 0x03030303u, q4_66.w);
    acc_21 += dot4I8Packed((w4_21.w >> 2u) & 0x03030303u, q4_66.w);
    let q4_67 = staged[120u + i_47];
    acc_20 += dot4I8Packed(w4_20.x & 0x03030303u, q4_67.x);
    acc_21 += dot4I8Packed(w4_21.x & 0x03030303u, q4_67.x);
    acc_20 += dot4I8Packed(w4_20.y & 0x03030303u, q4_67.y);
    acc_21 += dot4I8Packed(w4_21.y & 0x03030303u, q4_67.y);
    acc_20 += dot4I8Packed(w4_20.z & 0x03030303u, q4_67.z);
    acc_21 += dot4I8Packed(w4_21.z & 0x03030303u, q4_67.z);
    acc_20 += dot4I8Packed(w4_20.w & 0x03030303u, q4_67.w);
    acc_21 += dot4I8Packed(w4_21.w & 0x03030303u, q4_67.w);
    let mine_76 = acc_20;
    let sg_268 = subgroupShuffleXor(mine_76, 4u);
    let sum_188 = mine_76 + sg_268;
    let sg_269 = subgroupShuffleXor(sum_188, 2u);
    let sum_189 = sum_188 + sg_269;
    let sg_270 = subgroupShuffleXor(sum_189, 1u);
    let sum_190 = sum_189 + sg_270;
    let mine_77 = acc_21;
    let sg_271 = subgroupShuffleXor(mine_77, 4u);
    let sum_191 = mine_77 + sg_271;
    let sg_272 = subgroupShuffleXor(sum_191, 2u);
    let sum_192 = sum_191 + sg_272;
    let sg_273 = subgroupShuffleXor(sum_192, 1u);
    let sum_193 = sum_192 + sg_273;
    if ((lane_of_row_4 == 0u) && (row_5 < end_row_3)) {
      let gate = f32(sum_190 - sg_267) / x_scale_2 * w_scale_9;
      let up = f32(sum_193 - sg_267) / x_scale_2 * w_scale_10;
      let positive = max(gate, 0f);
      let value_45 = positive * positive * up;
      let place_53 = row_5 + 53184u;
      let value_bits_12 = bitcast<u32>(value_45);
      let half_12 = select(2u, 0u, (value_bits_12 & 2139095040u) == 2139095040u);
      let rounded_12 = value_bits_12 + half_12;
      atomicStore(&words[place_53], (rounded_12 & 4294967292u) | tag);
    }
    for (var more_2 = first_row_3 + 32u; more_2 < end_row_3; more_2 += 32u) {
      let group_7 = tid / 8u;
      let lane_of_row_7 = tid & 7u;
      let row_8 = more_2 + group_7;
      let safe_row_7 = min(row_8, end_row_3 - 1u);
      let start_8 = layer * 1085440u + 256000u + safe_row_7 * 40u;
      let start_9 = layer * 1085440u + 532480u + safe_row_7 * 40u;
      let i_48 = lane_of_row_7 + 0u;
      let w4_32 = w[start_8 + i_48];
      let w4_33 = w[start_9 + i_48];
      let i_49 = lane_of_row_7 + 8u;
      let w4_34 = w[start_8 + i_49];
      let w4_35 = w[start_9 + i_49];
      let i_50 = lane_of_row_7 + 16u;
      let w4_36 = w[start_8 + i_50];
      let w4_37 = w[start_9 + i_50];
      let i_51 = lane_of_row_7 + 24u;
      let w4_38 = w[start_8 + i_51];
      let w4_39 = w[start_9 + i_51];
      let i_52 = lane_of_row_7 + 32u;
      let w4_40 = w[start_8 + i_52];
      let w4_41 = w[start_9 + i_52];
      var acc_22: i32 = 0i;
      var acc_23: i32 = 0i;
      let i_53 = lane_of_row_7 + 0u;
      let q4_68 = staged[0u + i_53];
      acc_22 += dot4I8Packed((w4_32.x >> 6u) & 0x03030303u, q4_68.x);
      acc_23 += dot4I8Packed((w4_33.x >> 6u) & 0x03030303u, q4_68.x);
      acc_22 += dot4I8Packed((w4_32.y >> 6u) & 0x03030303u, q4_68.y);
      acc_23 += dot4I8Packed((w4_33.y >> 6u) & 0x03030303u, q4_68.y);
      acc_22 += dot4I8Packed((w4_32.z >> 6u) & 0x03030303u, q4_68.z);
      acc_23 += dot4I8Packed((w4_33.z >> 6u) & 0x03030303u, q4_68.z);
      acc_22 += dot4I8Packed((w4_32.w >> 6u) & 0x03030303u, q4_68.w);
      acc_23 += dot4I8Packed((w4_33.w >> 6u) & 0x03030303u, q4_68.w);
      let q4_69 = staged[40u + i_53];
      acc_22 += dot4I8Packed((w4_32.x >> 4u) & 0x03030303u, q4_69.x);
      acc_23 += dot4I8Packed((w4_33.x >> 4u) & 0x03030303u, q4_69.x);
      acc_22 += dot4I8Packed((w4_32.y >> 4u) & 0x03030303u, q4_69.y);
      acc_23 += dot4I8Packed((w4_33.y >> 4u) & 0x03030303u, q4_69.y);
      acc_22 += dot4I8Packed((w4_32.z >> 4u) & 0x03030303u, q4_69.z);
      acc_23 += dot4I8Packed((w4_33.z >> 4u) & 0x03030303u, q4_69.z);
      acc_22 += dot4I8Packed((w4_32.w >> 4u) & 0x03030303u, q4_69.w);
      acc_23 += dot4I8Packed((w4_33.w >> 4u) & 0x03030303u, q4_69.w);
      let q4_70 = staged[80u + i_53];
      acc_22 += dot4I8Packed((w4_32.x >> 2u) & 0x03030303u, q4_70.x);
      acc_23 += dot4I8Packed((w4_33.x >> 2u) & 0x03030303u, q4_70.x);
      acc_22 += dot4I8Packed((w4_32.y >> 2u) & 0x03030303u, q4_70.y);
      acc_23 += dot4I8Packed((w4_33.y >> 2u) & 0x03030303u, q4_70.y);
      acc_22 += dot4I8Packed((w4_32.z >> 2u) & 0x03030303u, q4_70.z);
      acc_23 += dot4I8Packed((w4_33.z >> 2u) & 0x03030303u, q4_70.z);
      acc_22 += dot4I8Packed((w4_32.w >> 2u) & 0x03030303u, q4_70.w);
      acc_23 += dot4I8Packed((w4_33.w >> 2u) & 0x03030303u, q4_70.w);
      let q4_71 = staged[120u + i_53];
      acc_22 += dot4I8Packed(w4_32.x & 0x03030303u, q4_71.x);
      acc_23 += dot4I8Packed(w4_33.x & 0x03030303u, q4_71.x);
      acc_22 += dot4I8Packed(w4_32.y & 0x03030303u, q4_71.y);
      acc_23 += dot4I8Packed(w4_33.y & 0x03030303u, q4_71.y);
      acc_22 += dot4I8Packed(w4_32.z & 0x03030303u, q4_71.z);
      acc_23 += dot4I8Packed(w4_33.z & 0x03030303u, q4_71.z);
      acc_22 += dot4I8Packed(w4_32.w & 0x03030303u, q4_71.w);
      acc_23 += dot4I8Packed(w4_33.w & 0x03030303u, q4_71.w);
      let i_54 = lane_of_row_7 + 8u;
      let q4_72 = staged[0u + i_54];
      acc_22 += dot4I8Packed((w4_34.x >> 6u) & 0x03030303u, q4_72.x);
      acc_23 += dot4I8Packed((w4_35.x >> 6u) & 0x03030303u, q4_72.x);
      acc_22 += dot4I8Packed((w4_34.y >> 6u) & 0x03030303u, q4_72.y);
      acc_23 += dot4I8Packed((w4_35.y >> 6u) & 0x03030303u, q4_72.y);
      acc_22 += dot4I8Packed((w4_34.z >> 6u) & 0x03030303u, q4_72.z);
      acc_23 += dot4I8Packed((w4_35.z >> 6u) & 0x03030303u, q4_72.z);
      acc_22 += dot4I8Packed((w4_34.w >> 6u) & 0x03030303u, q4_72.w);
      acc_23 += dot4I8Packed((w4_35.w >> 6u) & 0x03030303u, q4_72.w);
      let q4_73 = staged[40u + i_54];
      acc_22 += dot4I8Packed((w4_34.x >> 4u) & 0x03030303u, q4_73.x);
      acc_23 += dot4I8Packed((w4_35.x >> 4u) & 0x03030303u, q4_73.x);
      acc_22 += dot4I8Packed((w4_34.y >> 4u) & 0x03030303u, q4_73.y);
      acc_23 += dot4I8Packed((w4_35.y >> 4u) & 0x03030303u, q4_73.y);
      acc_22 += dot4I8Packed((w4_34.z >> 4u) & 0x03030303u, q4_73.z);
      acc_23 += dot4I8Packed((w4_35.z >> 4u) & 0x03030303u, q4_73.z);
      acc_22 += dot4I8Packed((w4_34.w >> 4u) & 0x03030303u, q4_73.w);
      acc_23 += dot4I8Packed((w4_35.w >> 4u) & 0x03030303u, q4_73.w);
      let q4_74 = staged[80u + i_54];
      acc_22 += dot4I8Packed((w4_34.x >> 2u) & 0x03030303u, q4_74.x);
      acc_23 += dot4I8Packed((w4_35.x >> 2u) & 0x03030303u, q4_74.x);
      acc_22 += dot4I8Packed((w4_34.y >> 2u) & 0x03030303u, q4_74.y);
      acc_23 += dot4I8Packed((w4_35.y >> 2u) & 0x03030303u, q4_74.y);
      acc_22 += dot4I8Packed((w4_34.z >> 2u) & 0x03030303u, q4_74.z);
      acc_23 += dot4I8Packed((w4_35.z >> 2u) & 0x03030303u, q4_74.z);
      acc_22 += dot4I8Packed((w4_34.w >> 2u) & 0x03030303u, q4_74.w);
      acc_23 += dot4I8Packed((w4_35.w >> 2u) & 0x03030303u, q4_74.w);
      let q4_75 = staged[120u + i_54];
      acc_22 += dot4I8Packed(w4_34.x & 0x03030303u, q4_75.x);
      acc_23 += dot4I8Packed(w4_35.x & 0x03030303u, q4_75.x);
      acc_22 += dot4I8Packed(w4_34.y & 0x03030303u, q4_75.y);
      acc_23 += dot4I8Packed(w4_35.y & 0x03030303u, q4_75.y);
      acc_22 += dot4I8Packed(w4_34.z & 0x03030303u, q4_75.z);
      acc_23 += dot4I8Packed(w4_35.z & 0x03030303u, q4_75.z);
      acc_22 += dot4I8Packed(w4_34.w & 0x03030303u, q4_75.w);
      acc_23 += dot4I8Packed(w4_35.w & 0x03030303u, q4_75.w);
      let i_55 = lane_of_row_7 + 16u;
      let q4_76 = staged[0u + i_55];
      acc_22 += dot4I8Packed((w4_36.x >> 6u) & 0x03030303u, q4_76.x);
      acc_23 += dot4I8Packed((w4_37.x >> 6u) & 0x03030303u, q4_76.x);
      acc_22 += dot4I8Packed((w4_36.y >> 6u) & 0x03030303u, q4_76.y);
      acc_23 += dot4I8Packed((w4_37.y >> 6u) & 0x03030303u, q4_76.y);
      acc_22 += dot4I8Packed((w4_36.z >> 6u) & 0x03030303u, q4_76.z);
      acc_23 += dot4I8Packed((w4_37.z >> 6u) & 0x03030303u, q4_76.z);
      acc_22 += dot4I8Packed((w4_36.w >> 6u) & 0x03030303u, q4_76.w);
      acc_23 += dot4I8Packed((w4_37.w >> 6u) & 0x03030303u, q4_76.w);
      let q4_77 = staged[40u + i_55];
      acc_22 += dot4I8Packed((w4_36.x >> 4u) & 0x03030303u, q4_77.x);
      acc_23 += dot4I8Packed((w4_37.x >> 4u) & 0x03030303u, q4_77.x);
      acc_22 += dot4I8Packed((w4_36.y >> 4u) & 0x03030303u, q4_77.y);
      acc_23 += dot4I8Packed((w4_37.y >> 4u) & 0x03030303u, q4_77.y);
      acc_22 += dot4I8Packed((w4_36.z >> 4u) & 0x03030303u, q4_77.z);
      acc_23 += dot4I8Packed((w4_37.z >> 4u) & 0x03030303u, q4_77.z);
      acc_22 += dot4I8Packed((w4_36.w >> 4u) & 0x03030303u, q4_77.w);
      acc_23 += dot4I8Packed((w4_37.w >> 4u) & 0x03030303u, q4_77.w);
      let q4_78 = staged[80u + i_55];
      acc_22 += dot4I8Packed((w4_36.x >> 2u) & 0x03030303u, q4_78.x);
      acc_23 += dot4I8Packed((w4_37.x >> 2u) & 0x03030303u, q4_78.x);
      acc_22 += dot4I8Packed((w4_36.y >> 2u) & 0x03030303u, q4_78.y);
      acc_23 += dot4I8Packed((w4_37.y >> 2u) & 0x03030303u, q4_78.y);
      acc_22 += dot4I8Packed((w4_36.z >> 2u) & 0x03030303u, q4_78.z);
      acc_23 += dot4I8Packed((w4_37.z >> 2u) & 0x03030303u, q4_78.z);
      acc_22 += dot4I8Packed((w4_36.w >> 2u) & 0x03030303u, q4_78.w);
      acc_23 += dot4I8Packed((w4_37.w >> 2u) & 0x03030303u, q4_78.w);
      let q4_79 = staged[120u + i_55];
      acc_22 += dot4I8Packed(w4_36.x & 0x03030303u, q4_79.x);
      acc_23 += dot4I8Packed(w4_37.x & 0x03030303u, q4_79.x);
      acc_22 += dot4I8Packed(w4_36.y & 0x03030303u, q4_79.y);
      acc_23 += dot4I8Packed(w4_37.y & 0x03030303u, q4_79.y);
      acc_22 += dot4I8Packed(w4_36.z & 0x03030303u, q4_79.z);
      acc_23 += dot4I8Packed(w4_37.z & 0x03030303u, q4_79.z);
      acc_22 += dot4I8Packed(w4_36.w & 0x03030303u, q4_79.w);
      acc_23 += dot4I8Packed(w4_37.w & 0x03030303u, q4_79.w);
      let i_56 = lane_of_row_7 + 24u;
      let q4_80 = staged[0u + i_56];
      acc_22 += dot4I8Packed((w4_38.x >> 6u) & 0x03030303u, q4_80.x);
      acc_23 += dot4I8Packed((w4_39.x >> 6u) & 0x03030303u, q4_80.x);
      acc_22 += dot4I8Packed((w4_38.y >> 6u) & 0x03030303u, q4_80.y);
      acc_23 += dot4I8Packed((w4_39.y >> 6u) & 0x03030303u, q4_80.y);
      acc_22 += dot4I8Packed((w4_38.z >> 6u) & 0x03030303u, q4_80.z);
      acc_23 += dot4I8Packed((w4_39.z >> 6u) & 0x03030303u, q4_80.z);
      acc_22 += dot4I8Packed((w4_38.w >> 6u) & 0x03030303u, q4_80.w);
      acc_23 += dot4I8Packed((w4_39.w >> 6u) & 0x03030303u, q4_80.w);
      let q4_81 = staged[40u + i_56];
      acc_22 += dot4I8Packed((w4_38.x >> 4u) & 0x03030303u, q4_81.x);
      acc_23 += dot4I8Packed((w4_39.x >> 4u) & 0x03030303u, q4_81.x);
      acc_22 += dot4I8Packed((w4_38.y >> 4u) & 0x03030303u, q4_81.y);
      acc_23 += dot4I8Packed((w4_39.y >> 4u) & 0x03030303u, q4_81.y);
      acc_22 += dot4I8Packed((w4_38.z >> 4u) & 0x03030303u, q4_81.z);
      acc_23 += dot4I8Packed((w4_39.z >> 4u) & 0x03030303u, q4_81.z);
      acc_22 += dot4I8Packed((w4_38.w >> 4u) & 0x03030303u, q4_81.w);
      acc_23 += dot4I8Packed((w4_39.w >> 4u) & 0x03030303u, q4_81.w);
      let q4_82 = staged[80u + i_56];
      acc_22 += dot4I8Packed((w4_38.x >> 2u) & 0x03030303u, q4_82.x);
      acc_23 += dot4I8Packed((w4_39.x >> 2u) & 0x03030303u, q4_82.x);
      acc_22 += dot4I8Packed((w4_38.y >> 2u) & 0x03030303u, q4_82.y);
      acc_23 += dot4I8Packed((w4_39.y >> 2u) & 0x03030303u, q4_82.y);
      acc_22 += dot4I8Packed((w4_38.z >> 2u) & 0x03030303u, q4_82.z);
      acc_23 += dot4I8Packed((w4_39.z >> 2u) & 0x03030303u, q4_82.z);
      acc_22 += dot4I8Packed((w4_38.w >> 2u) & 0x03030303u, q4_82.w);
      acc_23 += dot4I8Packed((w4_39.w >> 2u) & 0x03030303u, q4_82.w);
      let q4_83 = staged[120u + i_56];
      acc_22 += dot4I8Packed(w4_38.x & 0x03030303u, q4_83.x);
      acc_23 += dot4I8Packed(w4_39.x & 0x03030303u, q4_83.x);
      acc_22 += dot4I8Packed(w4_38.y & 0x03030303u, q4_83.y);
      acc_23 += dot4I8Packed(w4_39.y & 0x03030303u, q4_83.y);
      acc_22 += dot4I8Packed(w4_38.z & 0x03030303u, q4_83.z);
      acc_23 += dot4I8Packed(w4_39.z & 0x03030303u, q4_83.z);
      acc_22 += dot4I8Packed(w4_38.w & 0x03030303u, q4_83.w);
      acc_23 += dot4I8Packed(w4_39.w & 0x03030303u, q4_83.w);
      let i_57 = lane_of_row_7 + 32u;
      let q4_84 = staged[0u + i_57];
      acc_22 += dot4I8Packed((w4_40.x >> 6u) & 0x03030303u, q4_84.x);
      acc_23 += dot4I8Packed((w4_41.x >> 6u) & 0x03030303u, q4_84.x);
      acc_22 += dot4I8Packed((w4_40.y >> 6u) & 0x03030303u, q4_84.y);
      acc_23 += dot4I8Packed((w4_41.y >> 6u) & 0x03030303u, q4_84.y);
      acc_22 += dot4I8Packed((w4_40.z >> 6u) & 0x03030303u, q4_84.z);
      acc_23 += dot4I8Packed((w4_41.z >> 6u) & 0x03030303u, q4_84.z);
      acc_22 += dot4I8Packed((w4_40.w >> 6u) & 0x03030303u, q4_84.w);
      acc_23 += dot4I8Packed((w4_41.w >> 6u) & 0x03030303u, q4_84.w);
      let q4_85 = staged[40u + i_57];
      acc_22 += dot4I8Packed((w4_40.x >> 4u) & 0x03030303u, q4_85.x);
      acc_23 += dot4I8Packed((w4_41.x >> 4u) & 0x03030303u, q4_85.x);
      acc_22 += dot4I8Packed((w4_40.y >> 4u) & 0x03030303u, q4_85.y);
      acc_23 += dot4I8Packed((w4_41.y >> 4u) & 0x03030303u, q4_85.y);
      acc_22 += dot4I8Packed((w4_40.z >> 4u) & 0x03030303u, q4_85.z);
      acc_23 += dot4I8Packed((w4_41.z >> 4u) & 0x03030303u, q4_85.z);
      acc_22 += dot4I8Packed((w4_40.w >> 4u) & 0x03030303u, q4_85.w);
      acc_23 += dot4I8Packed((w4_41.w >> 4u) & 0x03030303u, q4_85.w);
      let q4_86 = staged[80u + i_57];
      acc_22 += dot4I8Packed((w4_40.x >> 2u) & 0x03030303u, q4_86.x);
      acc_23 += dot4I8Packed((w4_41.x >> 2u) & 0x03030303u, q4_86.x);
      acc_22 += dot4I8Packed((w4_40.y >> 2u) & 0x03030303u, q4_86.y);
      acc_23 += dot4I8Packed((w4_41.y >> 2u) & 0x03030303u, q4_86.y);
      acc_22 += dot4I8Packed((w4_40.z >> 2u) & 0x03030303u, q4_86.z);
      acc_23 += dot4I8Packed((w4_41.z >> 2u) & 0x03030303u, q4_86.z);
      acc_22 += dot4I8Packed((w4_40.w >> 2u) & 0x03030303u, q4_86.w);
      acc_23 += dot4I8Packed((w4_41.w >> 2u) & 0x03030303u, q4_86.w);
      let q4_87 = staged[120u + i_57];
      acc_22 += dot4I8Packed(w4_40.x & 0x03030303u, q4_87.x);
      acc_23 += dot4I8Packed(w4_41.x & 0x03030303u, q4_87.x);
      acc_22 += dot4I8Packed(w4_40.y & 0x03030303u, q4_87.y);
      acc_23 += dot4I8Packed(w4_41.y & 0x03030303u, q4_87.y);
      acc_22 += dot4I8Packed(w4_40.z & 0x03030303u, q4_87.z);
      acc_23 += dot4I8Packed(w4_41.z & 0x03030303u, q4_87.z);
      acc_22 += dot4I8Packed(w4_40.w & 0x03030303u, q4_87.w);
      acc_23 += dot4I8Packed(w4_41.w & 0x03030303u, q4_87.w);
      let mine_78 = acc_22;
      let sg_274 = subgroupShuffleXor(mine_78, 4u);
      let sum_194 = mine_78 + sg_274;
      let sg_275 = subgroupShuffleXor(sum_194, 2u);
      let sum_195 = sum_194 + sg_275;
      let sg_276 = subgroupShuffleXor(sum_195, 1u);
      let sum_196 = sum_195 + sg_276;
      let mine_79 = acc_23;
      let sg_277 = subgroupShuffleXor(mine_79, 4u);
      let sum_197 = mine_79 + sg_277;
      let sg_278 = subgroupShuffleXor(sum_197, 2u);
      let sum_198 = sum_197 + sg_278;
      let sg_279 = subgroupShuffleXor(sum_198, 1u);
      let sum_199 = sum_198 + sg_279;
      if ((lane_of_row_7 == 0u) && (row_8 < end_row_3)) {
        let gate_1 = f32(sum_196 - sg_267) / x_scale_2 * w_scale_9;
        let up_1 = f32(sum_199 - sg_267) / x_scale_2 * w_scale_10;
        let positive_1 = max(gate_1, 0f);
        let value_46 = positive_1 * positive_1 * up_1;
        let place_54 = row_8 + 53184u;
        let value_bits_13 = bitcast<u32>(value_46);
        let half_13 = select(2u, 0u, (value_bits_13 & 2139095040u) == 2139095040u);
        let rounded_13 = value_bits_13 + half_13;
        atomicStore(&words[place_54], (rounded_13 & 4294967292u) | tag);
      }
    }
    let column_87 = tid + 0u;
    let place_55 = column_87 + 53184u;
    let column_88 = tid + 256u;
    let place_56 = column_88 + 53184u;
    let column_89 = tid + 512u;
    let place_57 = column_89 + 53184u;
    let column_90 = tid + 768u;
    let place_58 = column_90 + 53184u;
    let column_91 = tid + 1024u;
    let place_59 = column_91 + 53184u;
    let column_92 = tid + 1280u;
    let place_60 = column_92 + 53184u;
    let column_93 = tid + 1536u;
    let place_61 = column_93 + 53184u;
    let column_94 = tid + 1792u;
    let place_62 = column_94 + 53184u;
    let column_95 = tid + 2048u;
    let place_63 = column_95 + 53184u;
    let column_96 = tid + 2304u;
    let place_64 = column_96 + 53184u;
    let column_97 = tid + 2560u;
    let place_65 = column_97 + 53184u;
    let column_98 = tid + 2816u;
    let place_66 = column_98 + 53184u;
    let column_99 = tid + 3072u;
    let place_67 = column_99 + 53184u;
    let column_100 = tid + 3328u;
    let place_68 = column_100 + 53184u;
    let column_101 = tid + 3584u;
    let place_69 = column_101 + 53184u;
    let column_102 = tid + 3840u;
    let place_70 = column_102 + 53184u;
    let column_103 = tid + 4096u;
    let place_71 = column_103 + 53184u;
    let column_104 = tid + 4352u;
    let place_72 = column_104 + 53184u;
    let column_105 = tid + 4608u;
    let place_73 = column_105 + 53184u;
    let column_106 = tid + 4864u;
    let place_74 = column_106 + 53184u;
    let column_107 = tid + 5120u;
    let place_75 = column_107 + 53184u;
    let column_108 = tid + 5376u;
    let place_76 = column_108 + 53184u;
    let column_109 = tid + 5632u;
    let place_77 = column_109 + 53184u;
    let column_110 = tid + 5888u;
    let place_78 = column_110 + 53184u;
    let column_111 = tid + 6144u;
    let place_79 = column_111 + 53184u;
    let column_112 = tid + 6400u;
    let place_80 = column_112 + 53184u;
    let column_113 = tid + 6656u;
    let place_81 = column_113 + 53184u;
    workgroupBarrier();
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
    var found_55: u32 = 0u;
    var found_56: u32 = 0u;
    var found_57: u32 = 0u;
    var found_58: u32 = 0u;
    var found_59: u32 = 0u;
    var found_60: u32 = 0u;
    var found_61: u32 = 0u;
    var found_62: u32 = 0u;
    var found_63: u32 = 0u;
    var found_64: u32 = 0u;
    var found_65: u32 = 0u;
    var found_66: u32 = 0u;
    var found_67: u32 = 0u;
    var waits_8: u32 = 1u;
    let end_16 = patience;
    for (var early_8 = 0u; early_8 < end_16; early_8 += 1u) {
      let now_67 = (atomicLoad(&words[place_81]));
      found_41 = now_67;
      var n_failed_16: u32 = 0u;
      if ((early_8 & 255u) == 255u) {
        let now_68 = (atomicLoad(&words[32u]));
        n_failed_16 = now_68;
      }
      let given_up_16 = n_failed_16 != 0u;
      if ((((found_41 ^ tag) & 3u) == 0u) || given_up_16) {
        break;
      }
    }
    let end_17 = patience;
    for (var tries_8 = 0u; tries_8 < end_17; tries_8 += 1u) {
      let now_69 = (atomicLoad(&words[place_55]));
      found_41 = now_69;
      let now_70 = (atomicLoad(&words[place_56]));
      found_42 = now_70;
      let now_71 = (atomicLoad(&words[place_57]));
      found_43 = now_71;
      let now_72 = (atomicLoad(&words[place_58]));
      found_44 = now_72;
      let now_73 = (atomicLoad(&words[place_59]));
      found_45 = now_73;
      let now_74 = (atomicLoad(&words[place_60]));
      found_46 = now_74;
      let now_75 = (atomicLoad(&words[place_61]));
      found_47 = now_75;
      let now_76 = (atomicLoad(&words[place_62]));
      found_48 = now_76;
      let now_77 = (atomicLoad(&words[place_63]));
      found_49 = now_77;
      let now_78 = (atomicLoad(&words[place_64]));
      found_50 = now_78;
      let now_79 = (atomicLoad(&words[place_65]));
      found_51 = now_79;
      let now_80 = (atomicLoad(&words[place_66]));
      found_52 = now_80;
      let now_81 = (atomicLoad(&words[place_67]));
      found_53 = now_81;
      let now_82 = (atomicLoad(&words[place_68]));
      found_54 = now_82;
      let now_83 = (atomicLoad(&words[place_69]));
      found_55 = now_83;
      let now_84 = (atomicLoad(&words[place_70]));
      found_56 = now_84;
      let now_85 = (atomicLoad(&words[place_71]));
      found_57 = now_85;
      let now_86 = (atomicLoad(&words[place_72]));
      found_58 = now_86;
      let now_87 = (atomicLoad(&words[place_73]));
      found_59 = now_87;
      let now_88 = (atomicLoad(&words[place_74]));
      found_60 = now_88;
      let now_89 = (atomicLoad(&words[place_75]));
      found_61 = now_89;
      let now_90 = (atomicLoad(&words[place_76]));
      found_62 = now_90;
      let now_91 = (atomicLoad(&words[place_77]));
      found_63 = now_91;
      let now_92 = (atomicLoad(&words[place_78]));
      found_64 = now_92;
      let now_93 = (atomicLoad(&words[place_79]));
      found_65 = now_93;
      let now_94 = (atomicLoad(&words[place_80]));
      found_66 = now_94;
      let now_95 = (atomicLoad(&words[place_81]));
      found_67 = now_95;
      var odd_8: u32 = 0u;
      odd_8 = odd_8 | (found_41 ^ tag);
      odd_8 = odd_8 | (found_42 ^ tag);
      odd_8 = odd_8 | (found_43 ^ tag);
      odd_8 = odd_8 | (found_44 ^ tag);
      odd_8 = odd_8 | (found_45 ^ tag);
      odd_8 = odd_8 | (found_46 ^ tag);
      odd_8 = odd_8 | (found_47 ^ tag);
      odd_8 = odd_8 | (found_48 ^ tag);
      odd_8 = odd_8 | (found_49 ^ tag);
      odd_8 = odd_8 | (found_50 ^ tag);
      odd_8 = odd_8 | (found_51 ^ tag);
      odd_8 = odd_8 | (found_52 ^ tag);
      odd_8 = odd_8 | (found_53 ^ tag);
      odd_8 = odd_8 | (found_54 ^ tag);
      odd_8 = odd_8 | (found_55 ^ tag);
      odd_8 = odd_8 | (found_56 ^ tag);
      odd_8 = odd_8 | (found_57 ^ tag);
      odd_8 = odd_8 | (found_58 ^ tag);
      odd_8 = odd_8 | (found_59 ^ tag);
      odd_8 = odd_8 | (found_60 ^ tag);
      odd_8 = odd_8 | (found_61 ^ tag);
      odd_8 = odd_8 | (found_62 ^ tag);
      odd_8 = odd_8 | (found_63 ^ tag);
      odd_8 = odd_8 | (found_64 ^ tag);
      odd_8 = odd_8 | (found_65 ^ tag);
      odd_8 = odd_8 | (found_66 ^ tag);
      odd_8 = odd_8 | (found_67 ^ tag);
      if ((odd_8 & 3u) == 0u) {
        waits_8 = 0u;
        break;
      }
      var n_failed_17: u32 = 0u;
      if ((tries_8 & 255u) == 255u) {
        let now_96 = (atomicLoad(&words[32u]));
        n_failed_17 = now_96;
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
    let value_47 = bitcast<f32>(found_41 & 4294967292u);
    let value_48 = bitcast<f32>(found_42 & 4294967292u);
    let value_49 = bitcast<f32>(found_43 & 4294967292u);
    let value_50 = bitcast<f32>(found_44 & 4294967292u);
    let value_51 = bitcast<f32>(found_45 & 4294967292u);
    let value_52 = bitcast<f32>(found_46 & 4294967292u);
    let value_53 = bitcast<f32>(found_47 & 4294967292u);
    let value_54 = bitcast<f32>(found_48 & 4294967292u);
    let value_55 = bitcast<f32>(found_49 & 4294967292u);
    let value_56 = bitcast<f32>(found_50 & 4294967292u);
    let value_57 = bitcast<f32>(found_51 & 4294967292u);
    let value_58 = bitcast<f32>(found_52 & 4294967292u);
    let value_59 = bitcast<f32>(found_53 & 4294967292u);
    let value_60 = bitcast<f32>(found_54 & 4294967292u);
    let value_61 = bitcast<f32>(found_55 & 4294967292u);
    let value_62 = bitcast<f32>(found_56 & 4294967292u);
    let value_63 = bitcast<f32>(found_57 & 4294967292u);
    let value_64 = bitcast<f32>(found_58 & 4294967292u);
    let value_65 = bitcast<f32>(found_59 & 4294967292u);
    let value_66 = bitcast<f32>(found_60 & 4294967292u);
    let value_67 = bitcast<f32>(found_61 & 4294967292u);
    let value_68 = bitcast<f32>(found_62 & 4294967292u);
    let value_69 = bitcast<f32>(found_63 & 4294967292u);
    let value_70 = bitcast<f32>(found_64 & 4294967292u);
    let value_71 = bitcast<f32>(found_65 & 4294967292u);
    let value_72 = bitcast<f32>(found_66 & 4294967292u);
    let value_73 = bitcast<f32>(found_67 & 4294967292u);
    var squares_3: f32 = 0f;
    var largest_3: f32 = 0f;
    let vg_30 = value_47 * gain_40;
    largest_3 = max(largest_3, abs(vg_30));
    squares_3 += value_47 * value_47;
    let vg_31 = value_48 * gain_41;
    largest_3 = max(largest_3, abs(vg_31));
    squares_3 += value_48 * value_48;
    let vg_32 = value_49 * gain_42;
    largest_3 = max(largest_3, abs(vg_32));
    squares_3 += value_49 * value_49;
    let vg_33 = value_50 * gain_43;
    largest_3 = max(largest_3, abs(vg_33));
    squares_3 += value_50 * value_50;
    let vg_34 = value_51 * gain_44;
    largest_3 = max(largest_3, abs(vg_34));
    squares_3 += value_51 * value_51;
    let vg_35 = value_52 * gain_45;
    largest_3 = max(largest_3, abs(vg_35));
    squares_3 += value_52 * value_52;
    let vg_36 = value_53 * gain_46;
    largest_3 = max(largest_3, abs(vg_36));
    squares_3 += value_53 * value_53;
    let vg_37 = value_54 * gain_47;
    largest_3 = max(largest_3, abs(vg_37));
    squares_3 += value_54 * value_54;
    let vg_38 = value_55 * gain_48;
    largest_3 = max(largest_3, abs(vg_38));
    squares_3 += value_55 * value_55;
    let vg_39 = value_56 * gain_49;
    largest_3 = max(largest_3, abs(vg_39));
    squares_3 += value_56 * value_56;
    let vg_40 = value_57 * gain_50;
    largest_3 = max(largest_3, abs(vg_40));
    squares_3 += value_57 * value_57;
    let vg_41 = value_58 * gain_51;
    largest_3 = max(largest_3, abs(vg_41));
    squares_3 += value_58 * value_58;
    let vg_42 = value_59 * gain_52;
    largest_3 = max(largest_3, abs(vg_42));
    squares_3 += value_59 * value_59;
    let vg_43 = value_60 * gain_53;
    largest_3 = max(largest_3, abs(vg_43));
    squares_3 += value_60 * value_60;
    let vg_44 = value_61 * gain_54;
    largest_3 = max(largest_3, abs(vg_44));
    squares_3 += value_61 * value_61;
    let vg_45 = value_62 * gain_55;
    largest_3 = max(largest_3, abs(vg_45));
    squares_3 += value_62 * value_62;
    let vg_46 = value_63 * gain_56;
    largest_3 = max(largest_3, abs(vg_46));
    squares_3 += value_63 * value_63;
    let vg_47 = value_64 * gain_57;
    largest_3 = max(largest_3, abs(vg_47));
    squares_3 += value_64 * value_64;
    let vg_48 = value_65 * gain_58;
    largest_3 = max(largest_3, abs(vg_48));
    squares_3 += value_65 * value_65;
    let vg_49 = value_66 * gain_59;
    largest_3 = max(largest_3, abs(vg_49));
    squares_3 += value_66 * value_66;
    let vg_50 = value_67 * gain_60;
    largest_3 = max(largest_3, abs(vg_50));
    squares_3 += value_67 * value_67;
    let vg_51 = value_68 * gain_61;
    largest_3 = max(largest_3, abs(vg_51));
    squares_3 += value_68 * value_68;
    let vg_52 = value_69 * gain_62;
    largest_3 = max(largest_3, abs(vg_52));
    squares_3 += value_69 * value_69;
    let vg_53 = value_70 * gain_63;
    largest_3 = max(largest_3, abs(vg_53));
    squares_3 += value_70 * value_70;
    let vg_54 = value_71 * gain_64;
    largest_3 = max(largest_3, abs(vg_54));
    squares_3 += value_71 * value_71;
    let vg_55 = value_72 * gain_65;
    largest_3 = max(largest_3, abs(vg_55));
    squares_3 += value_72 * value_72;
    let vg_56 = value_73 * gain_66;
    largest_3 = max(largest_3, abs(vg_56));
    squares_3 += value_73 * value_73;
    let my_squares_3 = squares_3;
    let my_largest_3 = largest_3;
    let sg_280 = subgroupShuffleXor(my_squares_3, 16u);
    let sum_200 = my_squares_3 + sg_280;
    let sg_281 = subgroupShuffleXor(sum_200, 8u);
    let sum_201 = sum_200 + sg_281;
    let sg_282 = subgroupShuffleXor(sum_201, 4u);
    let sum_202 = sum_201 + sg_282;
    let sg_283 = subgroupShuffleXor(sum_202, 2u);
    let sum_203 = sum_202 + sg_283;
    let sg_284 = subgroupShuffleXor(sum_203, 1u);
    let sum_204 = sum_203 + sg_284;
    let sg_285 = subgroupMax(bitcast<u32>(my_largest_3));
    let most_32 = bitcast<f32>(sg_285);
    if ((tid & 31u) == 0u) {
      group_stats_3[tid / 32u] = vec2<f32>(sum_204, most_32);
    }
    workgroupBarrier();
    let of_group_3 = group_stats_3[tid & 7u];
    let sg_286 = subgroupShuffleXor(of_group_3.x, 4u);
    let sum_205 = of_group_3.x + sg_286;
    let sg_287 = subgroupShuffleXor(sum_205, 2u);
    let sum_206 = sum_205 + sg_287;
    let sg_288 = subgroupShuffleXor(sum_206, 1u);
    let sum_207 = sum_206 + sg_288;
    let sg_289 = subgroupMax(bitcast<u32>(of_group_3.y));
    let most_33 = bitcast<f32>(sg_289);
    let factor_3 = 1f / sqrt(sum_207 / 6912f + 1e-05f);
    let finite_scale_3 = 127f / max(most_33 * factor_3, 1e-05f);
    let factor_and_scale_3 = factor_3 * finite_scale_3;
    let factor_bits_3 = bitcast<u32>(factor_3);
    let x_scale_3 = select(finite_scale_3, factor_3, (factor_bits_3 - 1u) >= 2139095039u);
    var q_sum_3: i32 = 0i;
    let q_30 = i32(clamp(round(vg_30 * factor_and_scale_3), -128f, 127f));
    let byte_30 = bitcast<u32>(q_30) & 255u;
    let sg_290 = subgroupShuffleXor(byte_30, 1u);
    let two_30 = byte_30 | (sg_290 << 8u);
    let sg_291 = subgroupShuffleXor(two_30, 2u);
    let word_30 = two_30 | (sg_291 << 16u);
    q_sum_3 += q_30;
    if ((tid & 3u) == 0u) {
      let unit_30 = (tid + 0u) / 16u;
      let vec_30 = ((unit_30 >> 1u) & 3u) * 108u + (unit_30 >> 3u) * 2u + (unit_30 & 1u);
      let part_of_unit_30 = tid / 4u % 4u;
      staged[vec_30][part_of_unit_30] = word_30;
    }
    let q_31 = i32(clamp(round(vg_31 * factor_and_scale_3), -128f, 127f));
    let byte_31 = bitcast<u32>(q_31) & 255u;
    let sg_292 = subgroupShuffleXor(byte_31, 1u);
    let two_31 = byte_31 | (sg_292 << 8u);
    let sg_293 = subgroupShuffleXor(two_31, 2u);
    let word_31 = two_31 | (sg_293 << 16u);
    q_sum_3 += q_31;
    if ((tid & 3u) == 0u) {
      let unit_31 = (tid + 256u) / 16u;
      let vec_31 = ((unit_31 >> 1u) & 3u) * 108u + (unit_31 >> 3u) * 2u + (unit_31 & 1u);
      let part_of_unit_31 = tid / 4u % 4u;
      staged[vec_31][part_of_unit_31] = word_31;
    }
    let q_32 = i32(clamp(round(vg_32 * factor_and_scale_3), -128f, 127f));
    let byte_32 = bitcast<u32>(q_32) & 255u;
    let sg_294 = subgroupShuffleXor(byte_32, 1u);
    let two_32 = byte_32 | (sg_294 << 8u);
    let sg_295 = subgroupShuffleXor(two_32, 2u);
    let word_32 = two_32 | (sg_295 << 16u);
    q_sum_3 += q_32;
    if ((tid & 3u) == 0u) {
      let unit_32 = (tid + 512u) / 16u;
      let vec_32 = ((unit_32 >> 1u) & 3u) * 108u + (unit_32 >> 3u) * 2u + (unit_32 & 1u);
      let part_of_unit_32 = tid / 4u % 4u;
      staged[vec_32][part_of_unit_32] = word_32;
    }
    let q_33 = i32(clamp(round(vg_33 * factor_and_scale_3), -128f, 127f));
    let byte_33 = bitcast<u32>(q_33) & 255u;
    let sg_296 = subgroupShuffleXor(byte_33, 1u);
    let two_33 = byte_33 | (sg_296 << 8u);
    let sg_297 = subgroupShuffleXor(two_33, 2u);
    let word_33 = two_33 | (sg_297 << 16u);
    q_sum_3 += q_33;
    if ((tid & 3u) == 0u) {
      let unit_33 = (tid + 768u) / 16u;
      let vec_33 = ((unit_33 >> 1u) & 3u) * 108u + (unit_33 >> 3u) * 2u + (unit_33 & 1u);
      let part_of_unit_33 = tid / 4u % 4u;
      staged[vec_33][part_of_unit_33] = word_33;
    }
    let q_34 = i32(clamp(round(vg_34 * factor_and_scale_3), -128f, 127f));
    let byte_34 = bitcast<u32>(q_34) & 255u;
    let sg_298 = subgroupShuffleXor(byte_34, 1u);
    let two_34 = byte_34 | (sg_298 << 8u);
    let sg_299 = subgroupShuffleXor(two_34, 2u);
    let word_34 = two_34 | (sg_299 << 16u);
    q_sum_3 += q_34;
    if ((tid & 3u) == 0u) {
      let unit_34 = (tid + 1024u) / 16u;
      let vec_34 = ((unit_34 >> 1u) & 3u) * 108u + (unit_34 >> 3u) * 2u + (unit_34 & 1u);
      let part_of_unit_34 = tid / 4u % 4u;
      staged[vec_34][part_of_unit_34] = word_34;
    }
    let q_35 = i32(clamp(round(vg_35 * factor_and_scale_3), -128f, 127f));
    let byte_35 = bitcast<u32>(q_35) & 255u;
    let sg_300 = subgroupShuffleXor(byte_35, 1u);
    let two_35 = byte_35 | (sg_300 << 8u);
    let sg_301 = subgroupShuffleXor(two_35, 2u);
    let word_35 = two_35 | (sg_301 << 16u);
    q_sum_3 += q_35;
    if ((tid & 3u) == 0u) {
      let unit_35 = (tid + 1280u) / 16u;
      let vec_35 = ((unit_35 >> 1u) & 3u) * 108u + (unit_35 >> 3u) * 2u + (unit_35 & 1u);
      let part_of_unit_35 = tid / 4u % 4u;
      staged[vec_35][part_of_unit_35] = word_35;
    }
    let q_36 = i32(clamp(round(vg_36 * factor_and_scale_3), -128f, 127f));
    let byte_36 = bitcast<u32>(q_36) & 255u;
    let sg_302 = subgroupShuffleXor(byte_36, 1u);
    let two_36 = byte_36 | (sg_302 << 8u);
    let sg_303 = subgroupShuffleXor(two_36, 2u);
    let word_36 = two_36 | (sg_303 << 16u);
    q_sum_3 += q_36;
    if ((tid & 3u) == 0u) {
      let unit_36 = (tid + 1536u) / 16u;
      let vec_36 = ((unit_36 >> 1u) & 3u) * 108u + (unit_36 >> 3u) * 2u + (unit_36 & 1u);
      let part_of_unit_36 = tid / 4u % 4u;
      staged[vec_36][part_of_unit_36] = word_36;
    }
    let q_37 = i32(clamp(round(vg_37 * factor_and_scale_3), -128f, 127f));
    let byte_37 = bitcast<u32>(q_37) & 255u;
    let sg_304 = subgroupShuffleXor(byte_37, 1u);
    let two_37 = byte_37 | (sg_304 << 8u);
    let sg_305 = subgroupShuffleXor(two_37, 2u);
    let word_37 = two_37 | (sg_305 << 16u);
    q_sum_3 += q_37;
    if ((tid & 3u) == 0u) {
      let unit_37 = (tid + 1792u) / 16u;
      let vec_37 = ((unit_37 >> 1u) & 3u) * 108u + (unit_37 >> 3u) * 2u + (unit_37 & 1u);
      let part_of_unit_37 = tid / 4u % 4u;
      staged[vec_37][part_of_unit_37] = word_37;
    }
    let q_38 = i32(clamp(round(vg_38 * factor_and_scale_3), -128f, 127f));
    let byte_38 = bitcast<u32>(q_38) & 255u;
    let sg_306 = subgroupShuffleXor(byte_38, 1u);
    let two_38 = byte_38 | (sg_306 << 8u);
    let sg_307 = subgroupShuffleXor(two_38, 2u);
    let word_38 = two_38 | (sg_307 << 16u);
    q_sum_3 += q_38;
    if ((tid & 3u) == 0u) {
      let unit_38 = (tid + 2048u) / 16u;
      let vec_38 = ((unit_38 >> 1u) & 3u) * 108u + (unit_38 >> 3u) * 2u + (unit_38 & 1u);
      let part_of_unit_38 = tid / 4u % 4u;
      staged[vec_38][part_of_unit_38] = word_38;
    }
    let q_39 = i32(clamp(round(vg_39 * factor_and_scale_3), -128f, 127f));
    let byte_39 = bitcast<u32>(q_39) & 255u;
    let sg_308 = subgroupShuffleXor(byte_39, 1u);
    let two_39 = byte_39 | (sg_308 << 8u);
    let sg_309 = subgroupShuffleXor(two_39, 2u);
    let word_39 = two_39 | (sg_309 << 16u);
    q_sum_3 += q_39;
    if ((tid & 3u) == 0u) {
      let unit_39 = (tid + 2304u) / 16u;
      let vec_39 = ((unit_39 >> 1u) & 3u) * 108u + (unit_39 >> 3u) * 2u + (unit_39 & 1u);
      let part_of_unit_39 = tid / 4u % 4u;
      staged[vec_39][part_of_unit_39] = word_39;
    }
    let q_40 = i32(clamp(round(vg_40 * factor_and_scale_3), -128f, 127f));
    let byte_40 = bitcast<u32>(q_40) & 255u;
    let sg_310 = subgroupShuffleXor(byte_40, 1u);
    let two_40 = byte_40 | (sg_310 << 8u);
    let sg_311 = subgroupShuffleXor(two_40, 2u);
    let word_40 = two_40 | (sg_311 << 16u);
    q_sum_3 += q_40;
    if ((tid & 3u) == 0u) {
      let unit_40 = (tid + 2560u) / 16u;
      let vec_40 = ((unit_40 >> 1u) & 3u) * 108u + (unit_40 >> 3u) * 2u + (unit_40 & 1u);
      let part_of_unit_40 = tid / 4u % 4u;
      staged[vec_40][part_of_unit_40] = word_40;
    }
    let q_41 = i32(clamp(round(vg_41 * factor_and_scale_3), -128f, 127f));
    let byte_41 = bitcast<u32>(q_41) & 255u;
    let sg_312 = subgroupShuffleXor(byte_41, 1u);
    let two_41 = byte_41 | (sg_312 << 8u);
    let sg_313 = subgroupShuffleXor(two_41, 2u);
    let word_41 = two_41 | (sg_313 << 16u);
    q_sum_3 += q_41;
    if ((tid & 3u) == 0u) {
      let unit_41 = (tid + 2816u) / 16u;
      let vec_41 = ((unit_41 >> 1u) & 3u) * 108u + (unit_41 >> 3u) * 2u + (unit_41 & 1u);
      let part_of_unit_41 = tid / 4u % 4u;
      staged[vec_41][part_of_unit_41] = word_41;
    }
    let q_42 = i32(clamp(round(vg_42 * factor_and_scale_3), -128f, 127f));
    let byte_42 = bitcast<u32>(q_42) & 255u;
    let sg_314 = subgroupShuffleXor(byte_42, 1u);
    let two_42 = byte_42 | (sg_314 << 8u);
    let sg_315 = subgroupShuffleXor(two_42, 2u);
    let word_42 = two_42 | (sg_315 << 16u);
    q_sum_3 += q_42;
    if ((tid & 3u) == 0u) {
      let unit_42 = (tid + 3072u) / 16u;
      let vec_42 = ((unit_42 >> 1u) & 3u) * 108u + (unit_42 >> 3u) * 2u + (unit_42 & 1u);
      let part_of_unit_42 = tid / 4u % 4u;
      staged[vec_42][part_of_unit_42] = word_42;
    }
    let q_43 = i32(clamp(round(vg_43 * factor_and_scale_3), -128f, 127f));
    let byte_43 = bitcast<u32>(q_43) & 255u;
    let sg_316 = subgroupShuffleXor(byte_43, 1u);
    let two_43 = byte_43 | (sg_316 << 8u);
    let sg_317 = subgroupShuffleXor(two_43, 2u);
    let word_43 = two_43 | (sg_317 << 16u);
    q_sum_3 += q_43;
    if ((tid & 3u) == 0u) {
      let unit_43 = (tid + 3328u) / 16u;
      let vec_43 = ((unit_43 >> 1u) & 3u) * 108u + (unit_43 >> 3u) * 2u + (unit_43 & 1u);
      let part_of_unit_43 = tid / 4u % 4u;
      staged[vec_43][part_of_unit_43] = word_43;
    }
    let q_44 = i32(clamp(round(vg_44 * factor_and_scale_3), -128f, 127f));
    let byte_44 = bitcast<u32>(q_44) & 255u;
    let sg_318 = subgroupShuffleXor(byte_44, 1u);
    let two_44 = byte_44 | (sg_318 << 8u);
    let sg_319 = subgroupShuffleXor(two_44, 2u);
    let word_44 = two_44 | (sg_319 << 16u);
    q_sum_3 += q_44;
    if ((tid & 3u) == 0u) {
      let unit_44 = (tid + 3584u) / 16u;
      let vec_44 = ((unit_44 >> 1u) & 3u) * 108u + (unit_44 >> 3u) * 2u + (unit_44 & 1u);
      let part_of_unit_44 = tid / 4u % 4u;
      staged[vec_44][part_of_unit_44] = word_44;
    }
    let q_45 = i32(clamp(round(vg_45 * factor_and_scale_3), -128f, 127f));
    let byte_45 = bitcast<u32>(q_45) & 255u;
    let sg_320 = subgroupShuffleXor(byte_45, 1u);
    let two_45 = byte_45 | (sg_320 << 8u);
    let sg_321 = subgroupShuffleXor(two_45, 2u);
    let word_45 = two_45 | (sg_321 << 16u);
    q_sum_3 += q_45;
    if ((tid & 3u) == 0u) {
      let unit_45 = (tid + 3840u) / 16u;
      let vec_45 = ((unit_45 >> 1u) & 3u) * 108u + (unit_45 >> 3u) * 2u + (unit_45 & 1u);
      let part_of_unit_45 = tid / 4u % 4u;
      staged[vec_45][part_of_unit_45] = word_45;
    }
    let q_46 = i32(clamp(round(vg_46 * factor_and_scale_3), -128f, 127f));
    let byte_46 = bitcast<u32>(q_46) & 255u;
    let sg_322 = subgroupShuffleXor(byte_46, 1u);
    let two_46 = byte_46 | (sg_322 << 8u);
    let sg_323 = subgroupShuffleXor(two_46, 2u);
    let word_46 = two_46 | (sg_323 << 16u);
    q_sum_3 += q_46;
    if ((tid & 3u) == 0u) {
      let unit_46 = (tid + 4096u) / 16u;
      let vec_46 = ((unit_46 >> 1u) & 3u) * 108u + (unit_46 >> 3u) * 2u + (unit_46 & 1u);
      let part_of_unit_46 = tid / 4u % 4u;
      staged[vec_46][part_of_unit_46] = word_46;
    }
    let q_47 = i32(clamp(round(vg_47 * factor_and_scale_3), -128f, 127f));
    let byte_47 = bitcast<u32>(q_47) & 255u;
    let sg_324 = subgroupShuffleXor(byte_47, 1u);
    let two_47 = byte_47 | (sg_324 << 8u);
    let sg_325 = subgroupShuffleXor(two_47, 2u);
    let word_47 = two_47 | (sg_325 << 16u);
    q_sum_3 += q_47;
    if ((tid & 3u) == 0u) {
      let unit_47 = (tid + 4352u) / 16u;
      let vec_47 = ((unit_47 >> 1u) & 3u) * 108u + (unit_47 >> 3u) * 2u + (unit_47 & 1u);
      let part_of_unit_47 = tid / 4u % 4u;
      staged[vec_47][part_of_unit_47] = word_47;
    }
    let q_48 = i32(clamp(round(vg_48 * factor_and_scale_3), -128f, 127f));
    let byte_48 = bitcast<u32>(q_48) & 255u;
    let sg_326 = subgroupShuffleXor(byte_48, 1u);
    let two_48 = byte_48 | (sg_326 << 8u);
    let sg_327 = subgroupShuffleXor(two_48, 2u);
    let word_48 = two_48 | (sg_327 << 16u);
    q_sum_3 += q_48;
    if ((tid & 3u) == 0u) {
      let unit_48 = (tid + 4608u) / 16u;
      let vec_48 = ((unit_48 >> 1u) & 3u) * 108u + (unit_48 >> 3u) * 2u + (unit_48 & 1u);
      let part_of_unit_48 = tid / 4u % 4u;
      staged[vec_48][part_of_unit_48] = word_48;
    }
    let q_49 = i32(clamp(round(vg_49 * factor_and_scale_3), -128f, 127f));
    let byte_49 = bitcast<u32>(q_49) & 255u;
    let sg_328 = subgroupShuffleXor(byte_49, 1u);
    let two_49 = byte_49 | (sg_328 << 8u);
    let sg_329 = subgroupShuffleXor(two_49, 2u);
    let word_49 = two_49 | (sg_329 << 16u);
    q_sum_3 += q_49;
    if ((tid & 3u) == 0u) {
      let unit_49 = (tid + 4864u) / 16u;
      let vec_49 = ((unit_49 >> 1u) & 3u) * 108u + (unit_49 >> 3u) * 2u + (unit_49 & 1u);
      let part_of_unit_49 = tid / 4u % 4u;
      staged[vec_49][part_of_unit_49] = word_49;
    }
    let q_50 = i32(clamp(round(vg_50 * factor_and_scale_3), -128f, 127f));
    let byte_50 = bitcast<u32>(q_50) & 255u;
    let sg_330 = subgroupShuffleXor(byte_50, 1u);
    let two_50 = byte_50 | (sg_330 << 8u);
    let sg_331 = subgroupShuffleXor(two_50, 2u);
    let word_50 = two_50 | (sg_331 << 16u);
    q_sum_3 += q_50;
    if ((tid & 3u) == 0u) {
      let unit_50 = (tid + 5120u) / 16u;
      let vec_50 = ((unit_50 >> 1u) & 3u) * 108u + (unit_50 >> 3u) * 2u + (unit_50 & 1u);
      let part_of_unit_50 = tid / 4u % 4u;
      staged[vec_50][part_of_unit_50] = word_50;
    }
    let q_51 = i32(clamp(round(vg_51 * factor_and_scale_3), -128f, 127f));
    let byte_51 = bitcast<u32>(q_51) & 255u;
    let sg_332 = subgroupShuffleXor(byte_51, 1u);
    let two_51 = byte_51 | (sg_332 << 8u);
    let sg_333 = subgroupShuffleXor(two_51, 2u);
    let word_51 = two_51 | (sg_333 << 16u);
    q_sum_3 += q_51;
    if ((tid & 3u) == 0u) {
      let unit_51 = (tid + 5376u) / 16u;
      let vec_51 = ((unit_51 >> 1u) & 3u) * 108u + (unit_51 >> 3u) * 2u + (unit_51 & 1u);
      let part_of_unit_51 = tid / 4u % 4u;
      staged[vec_51][part_of_unit_51] = word_51;
    }
    let q_52 = i32(clamp(round(vg_52 * factor_and_scale_3), -128f, 127f));
    let byte_52 = bitcast<u32>(q_52) & 255u;
    let sg_334 = subgroupShuffleXor(byte_52, 1u);
    let two_52 = byte_52 | (sg_334 << 8u);
    let sg_335 = subgroupShuffleXor(two_52, 2u);
    let word_52 = two_52 | (sg_335 << 16u);
    q_sum_3 += q_52;
    if ((tid & 3u) == 0u) {
      let unit_52 = (tid + 5632u) / 16u;
      let vec_52 = ((unit_52 >> 1u) & 3u) * 108u + (unit_52 >> 3u) * 2u + (unit_52 & 1u);
      let part_of_unit_52 = tid / 4u % 4u;
      staged[vec_52][part_of_unit_52] = word_52;
    }
    let q_53 = i32(clamp(round(vg_53 * factor_and_scale_3), -128f, 127f));
    let byte_53 = bitcast<u32>(q_53) & 255u;
    let sg_336 = subgroupShuffleXor(byte_53, 1u);
    let two_53 = byte_53 | (sg_336 << 8u);
    let sg_337 = subgroupShuffleXor(two_53, 2u);
    let word_53 = two_53 | (sg_337 << 16u);
    q_sum_3 += q_53;
    if ((tid & 3u) == 0u) {
      let unit_53 = (tid + 5888u) / 16u;
      let vec_53 = ((unit_53 >> 1u) & 3u) * 108u + (unit_53 >> 3u) * 2u + (unit_53 & 1u);
      let part_of_unit_53 = tid / 4u % 4u;
      staged[vec_53][part_of_unit_53] = word_53;
    }
    let q_54 = i32(clamp(round(vg_54 * factor_and_scale_3), -128f, 127f));
    let byte_54 = bitcast<u32>(q_54) & 255u;
    let sg_338 = subgroupShuffleXor(byte_54, 1u);
    let two_54 = byte_54 | (sg_338 << 8u);
    let sg_339 = subgroupShuffleXor(two_54, 2u);
    let word_54 = two_54 | (sg_339 << 16u);
    q_sum_3 += q_54;
    if ((tid & 3u) == 0u) {
      let unit_54 = (tid + 6144u) / 16u;
      let vec_54 = ((unit_54 >> 1u) & 3u) * 108u + (unit_54 >> 3u) * 2u + (unit_54 & 1u);
      let part_of_unit_54 = tid / 4u % 4u;
      staged[vec_54][part_of_unit_54] = word_54;
    }
    let q_55 = i32(clamp(round(vg_55 * factor_and_scale_3), -128f, 127f));
    let byte_55 = bitcast<u32>(q_55) & 255u;
    let sg_340 = subgroupShuffleXor(byte_55, 1u);
    let two_55 = byte_55 | (sg_340 << 8u);
    let sg_341 = subgroupShuffleXor(two_55, 2u);
    let word_55 = two_55 | (sg_341 << 16u);
    q_sum_3 += q_55;
    if ((tid & 3u) == 0u) {
      let unit_55 = (tid + 6400u) / 16u;
      let vec_55 = ((unit_55 >> 1u) & 3u) * 108u + (unit_55 >> 3u) * 2u + (unit_55 & 1u);
      let part_of_unit_55 = tid / 4u % 4u;
      staged[vec_55][part_of_unit_55] = word_55;
    }
    let q_56 = i32(clamp(round(vg_56 * factor_and_scale_3), -128f, 127f));
    let byte_56 = bitcast<u32>(q_56) & 255u;
    let sg_342 = subgroupShuffleXor(byte_56, 1u);
    let two_56 = byte_56 | (sg_342 << 8u);
    let sg_343 = subgroupShuffleXor(two_56, 2u);
    let word_56 = two_56 | (sg_343 << 16u);
    q_sum_3 += q_56;
    if ((tid & 3u) == 0u) {
      let unit_56 = (tid + 6656u) / 16u;
      let vec_56 = ((unit_56 >> 1u) & 3u) * 108u + (unit_56 >> 3u) * 2u + (unit_56 & 1u);
      let part_of_unit_56 = tid / 4u % 4u;
      staged[vec_56][part_of_unit_56] = word_56;
    }
    let my_sum_3 = q_sum_3;
    let sg_344 = subgroupAdd(my_sum_3);
    if ((tid & 31u) == 0u) {
      group_sums_3[tid / 32u] = sg_344;
    }
    workgroupBarrier();
    let sum_of_group_3 = select(0i, group_sums_3[tid & 7u], (tid & 31u) < 8u);
    let sg_345 = subgroupAdd(sum_of_group_3);
    let next_layer = min(layer + 1u, 29u);
    let group_8 = tid / 16u;
    let lane_of_row_8 = tid & 15u;
    let row_9 = first_row_1 + group_8;
    let safe_row_8 = min(row_9, end_row_1 - 1u);
    let start_10 = next_layer * 1085440u + 0u + safe_row_8 * 40u;
    let i_58 = lane_of_row_8 + 0u;
    let w4_42 = w[start_10 + i_58];
    let i_59 = lane_of_row_8 + 16u;
    let w4_43 = w[start_10 + i_59];
    let i_60 = min(lane_of_row_8 + 32u, 39u);
    let w4_44 = w[start_10 + i_60];
    let vectors_at_4 = next_layer * 14600u;
    let column_114 = tid + 0u;
    let gain_67 = vectors[vectors_at_4 + 0u + column_114];
    let column_115 = tid + 256u;
    let gain_68 = vectors[vectors_at_4 + 0u + column_115];
    let column_116 = tid + 512u;
    let gain_69 = vectors[vectors_at_4 + 0u + column_116];
    let column_117 = tid + 768u;
    let gain_70 = vectors[vectors_at_4 + 0u + column_117];
    let column_118 = tid + 1024u;
    let gain_71 = vectors[vectors_at_4 + 0u + column_118];
    let column_119 = tid + 1280u;
    let gain_72 = vectors[vectors_at_4 + 0u + column_119];
    let column_120 = tid + 1536u;
    let gain_73 = vectors[vectors_at_4 + 0u + column_120];
    let column_121 = tid + 1792u;
    let gain_74 = vectors[vectors_at_4 + 0u + column_121];
    let column_122 = tid + 2048u;
    let gain_75 = vectors[vectors_at_4 + 0u + column_122];
    let column_123 = tid + 2304u;
    let gain_76 = vectors[vectors_at_4 + 0u + column_123];
    let w_scale_12 = vectors[vectors_at_4 + 14592u];
    let w_scale_13 = vectors[vectors_at_4 + 14593u];
    let w_scale_14 = vectors[vectors_at_4 + 14594u];
    next_w = w4_42;
    next_w_1 = w4_43;
    next_w_2 = w4_44;
    next_gain = gain_67;
    next_gain_1 = gain_68;
    next_gain_2 = gain_69;
    next_gain_3 = gain_70;
    next_gain_4 = gain_71;
    next_gain_5 = gain_72;
    next_gain_6 = gain_73;
    next_gain_7 = gain_74;
    next_gain_8 = gain_75;
    next_gain_9 = gain_76;
    next_scale = w_scale_12;
    next_scale_1 = w_scale_13;
    next_scale_2 = w_scale_14;
    asked_layer = next_layer;
    var acc_24: i32 = 0i;
    let i_61 = lane_of_row_6 + 0u;
    let q4_88 = staged[0u + i_61];
    acc_24 += dot4I8Packed((w4_25.x >> 6u) & 0x03030303u, q4_88.x);
    acc_24 += dot4I8Packed((w4_25.y >> 6u) & 0x03030303u, q4_88.y);
    acc_24 += dot4I8Packed((w4_25.z >> 6u) & 0x03030303u, q4_88.z);
    acc_24 += dot4I8Packed((w4_25.w >> 6u) & 0x03030303u, q4_88.w);
    let q4_89 = staged[108u + i_61];
    acc_24 += dot4I8Packed((w4_25.x >> 4u) & 0x03030303u, q4_89.x);
    acc_24 += dot4I8Packed((w4_25.y >> 4u) & 0x03030303u, q4_89.y);
    acc_24 += dot4I8Packed((w4_25.z >> 4u) & 0x03030303u, q4_89.z);
    acc_24 += dot4I8Packed((w4_25.w >> 4u) & 0x03030303u, q4_89.w);
    let q4_90 = staged[216u + i_61];
    acc_24 += dot4I8Packed((w4_25.x >> 2u) & 0x03030303u, q4_90.x);
    acc_24 += dot4I8Packed((w4_25.y >> 2u) & 0x03030303u, q4_90.y);
    acc_24 += dot4I8Packed((w4_25.z >> 2u) & 0x03030303u, q4_90.z);
    acc_24 += dot4I8Packed((w4_25.w >> 2u) & 0x03030303u, q4_90.w);
    let q4_91 = staged[324u + i_61];
    acc_24 += dot4I8Packed(w4_25.x & 0x03030303u, q4_91.x);
    acc_24 += dot4I8Packed(w4_25.y & 0x03030303u, q4_91.y);
    acc_24 += dot4I8Packed(w4_25.z & 0x03030303u, q4_91.z);
    acc_24 += dot4I8Packed(w4_25.w & 0x03030303u, q4_91.w);
    let i_62 = lane_of_row_6 + 16u;
    let q4_92 = staged[0u + i_62];
    acc_24 += dot4I8Packed((w4_26.x >> 6u) & 0x03030303u, q4_92.x);
    acc_24 += dot4I8Packed((w4_26.y >> 6u) & 0x03030303u, q4_92.y);
    acc_24 += dot4I8Packed((w4_26.z >> 6u) & 0x03030303u, q4_92.z);
    acc_24 += dot4I8Packed((w4_26.w >> 6u) & 0x03030303u, q4_92.w);
    let q4_93 = staged[108u + i_62];
    acc_24 += dot4I8Packed((w4_26.x >> 4u) & 0x03030303u, q4_93.x);
    acc_24 += dot4I8Packed((w4_26.y >> 4u) & 0x03030303u, q4_93.y);
    acc_24 += dot4I8Packed((w4_26.z >> 4u) & 0x03030303u, q4_93.z);
    acc_24 += dot4I8Packed((w4_26.w >> 4u) & 0x03030303u, q4_93.w);
    let q4_94 = staged[216u + i_62];
    acc_24 += dot4I8Packed((w4_26.x >> 2u) & 0x03030303u, q4_94.x);
    acc_24 += dot4I8Packed((w4_26.y >> 2u) & 0x03030303u, q4_94.y);
    acc_24 += dot4I8Packed((w4_26.z >> 2u) & 0x03030303u, q4_94.z);
    acc_24 += dot4I8Packed((w4_26.w >> 2u) & 0x03030303u, q4_94.w);
    let q4_95 = staged[324u + i_62];
    acc_24 += dot4I8Packed(w4_26.x & 0x03030303u, q4_95.x);
    acc_24 += dot4I8Packed(w4_26.y & 0x03030303u, q4_95.y);
    acc_24 += dot4I8Packed(w4_26.z & 0x03030303u, q4_95.z);
    acc_24 += dot4I8Packed(w4_26.w & 0x03030303u, q4_95.w);
    let i_63 = lane_of_row_6 + 32u;
    let q4_96 = staged[0u + i_63];
    acc_24 += dot4I8Packed((w4_27.x >> 6u) & 0x03030303u, q4_96.x);
    acc_24 += dot4I8Packed((w4_27.y >> 6u) & 0x03030303u, q4_96.y);
    acc_24 += dot4I8Packed((w4_27.z >> 6u) & 0x03030303u, q4_96.z);
    acc_24 += dot4I8Packed((w4_27.w >> 6u) & 0x03030303u, q4_96.w);
    let q4_97 = staged[108u + i_63];
    acc_24 += dot4I8Packed((w4_27.x >> 4u) & 0x03030303u, q4_97.x);
    acc_24 += dot4I8Packed((w4_27.y >> 4u) & 0x03030303u, q4_97.y);
    acc_24 += dot4I8Packed((w4_27.z >> 4u) & 0x03030303u, q4_97.z);
    acc_24 += dot4I8Packed((w4_27.w >> 4u) & 0x03030303u, q4_97.w);
    let q4_98 = staged[216u + i_63];
    acc_24 += dot4I8Packed((w4_27.x >> 2u) & 0x03030303u, q4_98.x);
    acc_24 += dot4I8Packed((w4_27.y >> 2u) & 0x03030303u, q4_98.y);
    acc_24 += dot4I8Packed((w4_27.z >> 2u) & 0x03030303u, q4_98.z);
    acc_24 += dot4I8Packed((w4_27.w >> 2u) & 0x03030303u, q4_98.w);
    let q4_99 = staged[324u + i_63];
    acc_24 += dot4I8Packed(w4_27.x & 0x03030303u, q4_99.x);
    acc_24 += dot4I8Packed(w4_27.y & 0x03030303u, q4_99.y);
    acc_24 += dot4I8Packed(w4_27.z & 0x03030303u, q4_99.z);
    acc_24 += dot4I8Packed(w4_27.w & 0x03030303u, q4_99.w);
    let i_64 = lane_of_row_6 + 48u;
    let q4_100 = staged[0u + i_64];
    acc_24 += dot4I8Packed((w4_28.x >> 6u) & 0x03030303u, q4_100.x);
    acc_24 += dot4I8Packed((w4_28.y >> 6u) & 0x03030303u, q4_100.y);
    acc_24 += dot4I8Packed((w4_28.z >> 6u) & 0x03030303u, q4_100.z);
    acc_24 += dot4I8Packed((w4_28.w >> 6u) & 0x03030303u, q4_100.w);
    let q4_101 = staged[108u + i_64];
    acc_24 += dot4I8Packed((w4_28.x >> 4u) & 0x03030303u, q4_101.x);
    acc_24 += dot4I8Packed((w4_28.y >> 4u) & 0x03030303u, q4_101.y);
    acc_24 += dot4I8Packed((w4_28.z >> 4u) & 0x03030303u, q4_101.z);
    acc_24 += dot4I8Packed((w4_28.w >> 4u) & 0x03030303u, q4_101.w);
    let q4_102 = staged[216u + i_64];
    acc_24 += dot4I8Packed((w4_28.x >> 2u) & 0x03030303u, q4_102.x);
    acc_24 += dot4I8Packed((w4_28.y >> 2u) & 0x03030303u, q4_102.y);
    acc_24 += dot4I8Packed((w4_28.z >> 2u) & 0x03030303u, q4_102.z);
    acc_24 += dot4I8Packed((w4_28.w >> 2u) & 0x03030303u, q4_102.w);
    let q4_103 = staged[324u + i_64];
    acc_24 += dot4I8Packed(w4_28.x & 0x03030303u, q4_103.x);
    acc_24 += dot4I8Packed(w4_28.y & 0x03030303u, q4_103.y);
    acc_24 += dot4I8Packed(w4_28.z & 0x03030303u, q4_103.z);
    acc_24 += dot4I8Packed(w4_28.w & 0x03030303u, q4_103.w);
    let i_65 = lane_of_row_6 + 64u;
    let q4_104 = staged[0u + i_65];
    acc_24 += dot4I8Packed((w4_29.x >> 6u) & 0x03030303u, q4_104.x);
    acc_24 += dot4I8Packed((w4_29.y >> 6u) & 0x03030303u, q4_104.y);
    acc_24 += dot4I8Packed((w4_29.z >> 6u) & 0x03030303u, q4_104.z);
    acc_24 += dot4I8Packed((w4_29.w >> 6u) & 0x03030303u, q4_104.w);
    let q4_105 = staged[108u + i_65];
    acc_24 += dot4I8Packed((w4_29.x >> 4u) & 0x03030303u, q4_105.x);
    acc_24 += dot4I8Packed((w4_29.y >> 4u) & 0x03030303u, q4_105.y);
    acc_24 += dot4I8Packed((w4_29.z >> 4u) & 0x03030303u, q4_105.z);
    acc_24 += dot4I8Packed((w4_29.w >> 4u) & 0x03030303u, q4_105.w);
    let q4_106 = staged[216u + i_65];
    acc_24 += dot4I8Packed((w4_29.x >> 2u) & 0x03030303u, q4_106.x);
    acc_24 += dot4I8Packed((w4_29.y >> 2u) & 0x03030303u, q4_106.y);
    acc_24 += dot4I8Packed((w4_29.z >> 2u) & 0x03030303u, q4_106.z);
    acc_24 += dot4I8Packed((w4_29.w >> 2u) & 0x03030303u, q4_106.w);
    let q4_107 = staged[324u + i_65];
    acc_24 += dot4I8Packed(w4_29.x & 0x03030303u, q4_107.x);
    acc_24 += dot4I8Packed(w4_29.y & 0x03030303u, q4_107.y);
    acc_24 += dot4I8Packed(w4_29.z & 0x03030303u, q4_107.z);
    acc_24 += dot4I8Packed(w4_29.w & 0x03030303u, q4_107.w);
    let i_66 = lane_of_row_6 + 80u;
    let q4_108 = staged[0u + i_66];
    acc_24 += dot4I8Packed((w4_30.x >> 6u) & 0x03030303u, q4_108.x);
    acc_24 += dot4I8Packed((w4_30.y >> 6u) & 0x03030303u, q4_108.y);
    acc_24 += dot4I8Packed((w4_30.z >> 6u) & 0x03030303u, q4_108.z);
    acc_24 += dot4I8Packed((w4_30.w >> 6u) & 0x03030303u, q4_108.w);
    let q4_109 = staged[108u + i_66];
    acc_24 += dot4I8Packed((w4_30.x >> 4u) & 0x03030303u, q4_109.x);
    acc_24 += dot4I8Packed((w4_30.y >> 4u) & 0x03030303u, q4_109.y);
    acc_24 += dot4I8Packed((w4_30.z >> 4u) & 0x03030303u, q4_109.z);
    acc_24 += dot4I8Packed((w4_30.w >> 4u) & 0x03030303u, q4_109.w);
    let q4_110 = staged[216u + i_66];
    acc_24 += dot4I8Packed((w4_30.x >> 2u) & 0x03030303u, q4_110.x);
    acc_24 += dot4I8Packed((w4_30.y >> 2u) & 0x03030303u, q4_110.y);
    acc_24 += dot4I8Packed((w4_30.z >> 2u) & 0x03030303u, q4_110.z);
    acc_24 += dot4I8Packed((w4_30.w >> 2u) & 0x03030303u, q4_110.w);
    let q4_111 = staged[324u + i_66];
    acc_24 += dot4I8Packed(w4_30.x & 0x03030303u, q4_111.x);
    acc_24 += dot4I8Packed(w4_30.y & 0x03030303u, q4_111.y);
    acc_24 += dot4I8Packed(w4_30.z & 0x03030303u, q4_111.z);
    acc_24 += dot4I8Packed(w4_30.w & 0x03030303u, q4_111.w);
    let i_67 = lane_of_row_6 + 96u;
    if (i_67 < 108u) {
      let q4_112 = staged[0u + i_67];
      acc_24 += dot4I8Packed((w4_31.x >> 6u) & 0x03030303u, q4_112.x);
      acc_24 += dot4I8Packed((w4_31.y >> 6u) & 0x03030303u, q4_112.y);
      acc_24 += dot4I8Packed((w4_31.z >> 6u) & 0x03030303u, q4_112.z);
      acc_24 += dot4I8Packed((w4_31.w >> 6u) & 0x03030303u, q4_112.w);
      let q4_113 = staged[108u + i_67];
      acc_24 += dot4I8Packed((w4_31.x >> 4u) & 0x03030303u, q4_113.x);
      acc_24 += dot4I8Packed((w4_31.y >> 4u) & 0x03030303u, q4_113.y);
      acc_24 += dot4I8Packed((w4_31.z >> 4u) & 0x03030303u, q4_113.z);
      acc_24 += dot4I8Packed((w4_31.w >> 4u) & 0x03030303u, q4_113.w);
      let q4_114 = staged[216u + i_67];
      acc_24 += dot4I8Packed((w4_31.x >> 2u) & 0x03030303u, q4_114.x);
      acc_24 += dot4I8Packed((w4_31.y >> 2u) & 0x03030303u, q4_114.y);
      acc_24 += dot4I8Packed((w4_31.z >> 2u) & 0x03030303u, q4_114.z);
      acc_24 += dot4I8Packed((w4_31.w >> 2u) & 0x03030303u, q4_114.w);
      let q4_115 = staged[324u + i_67];
      acc_24 += dot4I8Packed(w4_31.x & 0x03030303u, q4_115.x);
      acc_24 += dot4I8Packed(w4_31.y & 0x03030303u, q4_115.y);
      acc_24 += dot4I8Packed(w4_31.z & 0x03030303u, q4_115.z);
      acc_24 += dot4I8Packed(w4_31.w & 0x03030303u, q4_115.w);
    }
    let mine_80 = acc_24;
    let sg_346 = subgroupShuffleXor(mine_80, 8u);
    let sum_208 = mine_80 + sg_346;
    let sg_347 = subgroupShuffleXor(sum_208, 4u);
    let sum_209 = sum_208 + sg_347;
    let sg_348 = subgroupShuffleXor(sum_209, 2u);
    let sum_210 = sum_209 + sg_348;
    let sg_349 = subgroupShuffleXor(sum_210, 1u);
    let sum_211 = sum_210 + sg_349;
    if ((lane_of_row_6 == 0u) && (row_7 < end_row_4)) {
      let value_74 = f32(sum_211 - sg_345) / x_scale_3 * w_scale_11;
      let mine_at_2 = row_7 - first_row;
      let x_new_2 = residual[mine_at_2] + value_74;
      residual[mine_at_2] = x_new_2;
      let place_82 = row_7 + 64u;
      let value_bits_14 = bitcast<u32>(x_new_2);
      let half_14 = select(2u, 0u, (value_bits_14 & 2139095040u) == 2139095040u);
      let rounded_14 = value_bits_14 + half_14;
      atomicStore(&words[place_82], (rounded_14 & 4294967292u) | next_tag);
    }
    for (var more_3 = first_row_4 + 16u; more_3 < end_row_4; more_3 += 16u) {
      let group_9 = tid / 16u;
      let lane_of_row_9 = tid & 15u;
      let row_10 = more_3 + group_9;
      let safe_row_9 = min(row_10, end_row_4 - 1u);
      let start_11 = layer * 1085440u + 808960u + safe_row_9 * 108u;
      let i_68 = lane_of_row_9 + 0u;
      let w4_45 = w[start_11 + i_68];
      let i_69 = lane_of_row_9 + 16u;
      let w4_46 = w[start_11 + i_69];
      let i_70 = lane_of_row_9 + 32u;
      let w4_47 = w[start_11 + i_70];
      let i_71 = lane_of_row_9 + 48u;
      let w4_48 = w[start_11 + i_71];
      let i_72 = lane_of_row_9 + 64u;
      let w4_49 = w[start_11 + i_72];
      let i_73 = lane_of_row_9 + 80u;
      let w4_50 = w[start_11 + i_73];
      let i_74 = min(lane_of_row_9 + 96u, 107u);
      let w4_51 = w[start_11 + i_74];
      var acc_25: i32 = 0i;
      let i_75 = lane_of_row_9 + 0u;
      let q4_116 = staged[0u + i_75];
      acc_25 += dot4I8Packed((w4_45.x >> 6u) & 0x03030303u, q4_116.x);
      acc_25 += dot4I8Packed((w4_45.y >> 6u) & 0x03030303u, q4_116.y);
      acc_25 += dot4I8Packed((w4_45.z >> 6u) & 0x03030303u, q4_116.z);
      acc_25 += dot4I8Packed((w4_45.w >> 6u) & 0x03030303u, q4_116.w);
      let q4_117 = staged[108u + i_75];
      acc_25 += dot4I8Packed((w4_45.x >> 4u) & 0x03030303u, q4_117.x);
      acc_25 += dot4I8Packed((w4_45.y >> 4u) & 0x03030303u, q4_117.y);
      acc_25 += dot4I8Packed((w4_45.z >> 4u) & 0x03030303u, q4_117.z);
      acc_25 += dot4I8Packed((w4_45.w >> 4u) & 0x03030303u, q4_117.w);
      let q4_118 = staged[216u + i_75];
      acc_25 += dot4I8Packed((w4_45.x >> 2u) & 0x03030303u, q4_118.x);
      acc_25 += dot4I8Packed((w4_45.y >> 2u) & 0x03030303u, q4_118.y);
      acc_25 += dot4I8Packed((w4_45.z >> 2u) & 0x03030303u, q4_118.z);
      acc_25 += dot4I8Packed((w4_45.w >> 2u) & 0x03030303u, q4_118.w);
      let q4_119 = staged[324u + i_75];
      acc_25 += dot4I8Packed(w4_45.x & 0x03030303u, q4_119.x);
      acc_25 += dot4I8Packed(w4_45.y & 0x03030303u, q4_119.y);
      acc_25 += dot4I8Packed(w4_45.z & 0x03030303u, q4_119.z);
      acc_25 += dot4I8Packed(w4_45.w & 0x03030303u, q4_119.w);
      let i_76 = lane_of_row_9 + 16u;
      let q4_120 = staged[0u + i_76];
      acc_25 += dot4I8Packed((w4_46.x >> 6u) & 0x03030303u, q4_120.x);
      acc_25 += dot4I8Packed((w4_46.y >> 6u) & 0x03030303u, q4_120.y);
      acc_25 += dot4I8Packed((w4_46.z >> 6u) & 0x03030303u, q4_120.z);
      acc_25 += dot4I8Packed((w4_46.w >> 6u) & 0x03030303u, q4_120.w);
      let q4_121 = staged[108u + i_76];
      acc_25 += dot4I8Packed((w4_46.x >> 4u) & 0x03030303u, q4_121.x);
      acc_25 += dot4I8Packed((w4_46.y >> 4u) & 0x03030303u, q4_121.y);
      acc_25 += dot4I8Packed((w4_46.z >> 4u) & 0x03030303u, q4_121.z);
      acc_25 += dot4I8Packed((w4_46.w >> 4u) & 0x03030303u, q4_121.w);
      let q4_122 = staged[216u + i_76];
      acc_25 += dot4I8Packed((w4_46.x >> 2u) & 0x03030303u, q4_122.x);
      acc_25 += dot4I8Packed((w4_46.y >> 2u) & 0x03030303u, q4_122.y);
      acc_25 += dot4I8Packed((w4_46.z >> 2u) & 0x03030303u, q4_122.z);
      acc_25 += dot4I8Packed((w4_46.w >> 2u) & 0x03030303u, q4_122.w);
      let q4_123 = staged[324u + i_76];
      acc_25 += dot4I8Packed(w4_46.x & 0x03030303u, q4_123.x);
      acc_25 += dot4I8Packed(w4_46.y & 0x03030303u, q4_123.y);
      acc_25 += dot4I8Packed(w4_46.z & 0x03030303u, q4_123.z);
      acc_25 += dot4I8Packed(w4_46.w & 0x03030303u, q4_123.w);
      let i_77 = lane_of_row_9 + 32u;
      let q4_124 = staged[0u + i_77];
      acc_25 += dot4I8Packed((w4_47.x >> 6u) & 0x03030303u, q4_124.x);
      acc_25 += dot4I8Packed((w4_47.y >> 6u) & 0x03030303u, q4_124.y);
      acc_25 += dot4I8Packed((w4_47.z >> 6u) & 0x03030303u, q4_124.z);
      acc_25 += dot4I8Packed((w4_47.w >> 6u) & 0x03030303u, q4_124.w);
      let q4_125 = staged[108u + i_77];
      acc_25 += dot4I8Packed((w4_47.x >> 4u) & 0x03030303u, q4_125.x);
      acc_25 += dot4I8Packed((w4_47.y >> 4u) & 0x03030303u, q4_125.y);
      acc_25 += dot4I8Packed((w4_47.z >> 4u) & 0x03030303u, q4_125.z);
      acc_25 += dot4I8Packed((w4_47.w >> 4u) & 0x03030303u, q4_125.w);
      let q4_126 = staged[216u + i_77];
      acc_25 += dot4I8Packed((w4_47.x >> 2u) & 0x03030303u, q4_126.x);
      acc_25 += dot4I8Packed((w4_47.y >> 2u) & 0x03030303u, q4_126.y);
      acc_25 += dot4I8Packed((w4_47.z >> 2u) & 0x03030303u, q4_126.z);
      acc_25 += dot4I8Packed((w4_47.w >> 2u) & 0x03030303u, q4_126.w);
      let q4_127 = staged[324u + i_77];
      acc_25 += dot4I8Packed(w4_47.x & 0x03030303u, q4_127.x);
      acc_25 += dot4I8Packed(w4_47.y & 0x03030303u, q4_127.y);
      acc_25 += dot4I8Packed(w4_47.z & 0x03030303u, q4_127.z);
      acc_25 += dot4I8Packed(w4_47.w & 0x03030303u, q4_127.w);
      let i_78 = lane_of_row_9 + 48u;
      let q4_128 = staged[0u + i_78];
      acc_25 += dot4I8Packed((w4_48.x >> 6u) & 0x03030303u, q4_128.x);
      acc_25 += dot4I8Packed((w4_48.y >> 6u) & 0x03030303u, q4_128.y);
      acc_25 += dot4I8Packed((w4_48.z >> 6u) & 0x03030303u, q4_128.z);
      acc_25 += dot4I8Packed((w4_48.w >> 6u) & 0x03030303u, q4_128.w);
      let q4_129 = staged[108u + i_78];
      acc_25 += dot4I8Packed((w4_48.x >> 4u) & 0x03030303u, q4_129.x);
      acc_25 += dot4I8Packed((w4_48.y >> 4u) & 0x03030303u, q4_129.y);
      acc_25 += dot4I8Packed((w4_48.z >> 4u) & 0x03030303u, q4_129.z);
      acc_25 += dot4I8Packed((w4_48.w >> 4u) & 0x03030303u, q4_129.w);
      let q4_130 = staged[216u + i_78];
      acc_25 += dot4I8Packed((w4_48.x >> 2u) & 0x03030303u, q4_130.x);
      acc_25 += dot4I8Packed((w4_48.y >> 2u) & 0x03030303u, q4_130.y);
      acc_25 += dot4I8Packed((w4_48.z >> 2u) & 0x03030303u, q4_130.z);
      acc_25 += dot4I8Packed((w4_48.w >> 2u) & 0x03030303u, q4_130.w);
      let q4_131 = staged[324u + i_78];
      acc_25 += dot4I8Packed(w4_48.x & 0x03030303u, q4_131.x);
      acc_25 += dot4I8Packed(w4_48.y & 0x03030303u, q4_131.y);
      acc_25 += dot4I8Packed(w4_48.z & 0x03030303u, q4_131.z);
      acc_25 += dot4I8Packed(w4_48.w & 0x03030303u, q4_131.w);
      let i_79 = lane_of_row_9 + 64u;
      let q4_132 = staged[0u + i_79];
      acc_25 += dot4I8Packed((w4_49.x >> 6u) & 0x03030303u, q4_132.x);
      acc_25 += dot4I8Packed((w4_49.y >> 6u) & 0x03030303u, q4_132.y);
      acc_25 += dot4I8Packed((w4_49.z >> 6u) & 0x03030303u, q4_132.z);
      acc_25 += dot4I8Packed((w4_49.w >> 6u) & 0x03030303u, q4_132.w);
      let q4_133 = staged[108u + i_79];
      acc_25 += dot4I8Packed((w4_49.x >> 4u) & 0x03030303u, q4_133.x);
      acc_25 += dot4I8Packed((w4_49.y >> 4u) & 0x03030303u, q4_133.y);
      acc_25 += dot4I8Packed((w4_49.z >> 4u) & 0x03030303u, q4_133.z);
      acc_25 += dot4I8Packed((w4_49.w >> 4u) & 0x03030303u, q4_133.w);
      let q4_134 = staged[216u + i_79];
      acc_25 += dot4I8Packed((w4_49.x >> 2u) & 0x03030303u, q4_134.x);
      acc_25 += dot4I8Packed((w4_49.y >> 2u) & 0x03030303u, q4_134.y);
      acc_25 += dot4I8Packed((w4_49.z >> 2u) & 0x03030303u, q4_134.z);
      acc_25 += dot4I8Packed((w4_49.w >> 2u) & 0x03030303u, q4_134.w);
      let q4_135 = staged[324u + i_79];
      acc_25 += dot4I8Packed(w4_49.x & 0x03030303u, q4_135.x);
      acc_25 += dot4I8Packed(w4_49.y & 0x03030303u, q4_135.y);
      acc_25 += dot4I8Packed(w4_49.z & 0x03030303u, q4_135.z);
      acc_25 += dot4I8Packed(w4_49.w & 0x03030303u, q4_135.w);
      let i_80 = lane_of_row_9 + 80u;
      let q4_136 = staged[0u + i_80];
      acc_25 += dot4I8Packed((w4_50.x >> 6u) & 0x03030303u, q4_136.x);
      acc_25 += dot4I8Packed((w4_50.y >> 6u) & 0x03030303u, q4_136.y);
      acc_25 += dot4I8Packed((w4_50.z >> 6u) & 0x03030303u, q4_136.z);
      acc_25 += dot4I8Packed((w4_50.w >> 6u) & 0x03030303u, q4_136.w);
      let q4_137 = staged[108u + i_80];
      acc_25 += dot4I8Packed((w4_50.x >> 4u) & 0x03030303u, q4_137.x);
      acc_25 += dot4I8Packed((w4_50.y >> 4u) & 0x03030303u, q4_137.y);
      acc_25 += dot4I8Packed((w4_50.z >> 4u) & 0x03030303u, q4_137.z);
      acc_25 += dot4I8Packed((w4_50.w >> 4u) & 0x03030303u, q4_137.w);
      let q4_138 = staged[216u + i_80];
      acc_25 += dot4I8Packed((w4_50.x >> 2u) & 0x03030303u, q4_138.x);
      acc_25 += dot4I8Packed((w4_50.y >> 2u) & 0x03030303u, q4_138.y);
      acc_25 += dot4I8Packed((w4_50.z >> 2u) & 0x03030303u, q4_138.z);
      acc_25 += dot4I8Packed((w4_50.w >> 2u) & 0x03030303u, q4_138.w);
      let q4_139 = staged[324u + i_80];
      acc_25 += dot4I8Packed(w4_50.x & 0x03030303u, q4_139.x);
      acc_25 += dot4I8Packed(w4_50.y & 0x03030303u, q4_139.y);
      acc_25 += dot4I8Packed(w4_50.z & 0x03030303u, q4_139.z);
      acc_25 += dot4I8Packed(w4_50.w & 0x03030303u, q4_139.w);
      let i_81 = lane_of_row_9 + 96u;
      if (i_81 < 108u) {
        let q4_140 = staged[0u + i_81];
        acc_25 += dot4I8Packed((w4_51.x >> 6u) & 0x03030303u, q4_140.x);
        acc_25 += dot4I8Packed((w4_51.y >> 6u) & 0x03030303u, q4_140.y);
        acc_25 += dot4I8Packed((w4_51.z >> 6u) & 0x03030303u, q4_140.z);
        acc_25 += dot4I8Packed((w4_51.w >> 6u) & 0x03030303u, q4_140.w);
        let q4_141 = staged[108u + i_81];
        acc_25 += dot4I8Packed((w4_51.x >> 4u) & 0x03030303u, q4_141.x);
        acc_25 += dot4I8Packed((w4_51.y >> 4u) & 0x03030303u, q4_141.y);
        acc_25 += dot4I8Packed((w4_51.z >> 4u) & 0x03030303u, q4_141.z);
        acc_25 += dot4I8Packed((w4_51.w >> 4u) & 0x03030303u, q4_141.w);
        let q4_142 = staged[216u + i_81];
        acc_25 += dot4I8Packed((w4_51.x >> 2u) & 0x03030303u, q4_142.x);
        acc_25 += dot4I8Packed((w4_51.y >> 2u) & 0x03030303u, q4_142.y);
        acc_25 += dot4I8Packed((w4_51.z >> 2u) & 0x03030303u, q4_142.z);
        acc_25 += dot4I8Packed((w4_51.w >> 2u) & 0x03030303u, q4_142.w);
        let q4_143 = staged[324u + i_81];
        acc_25 += dot4I8Packed(w4_51.x & 0x03030303u, q4_143.x);
        acc_25 += dot4I8Packed(w4_51.y & 0x03030303u, q4_143.y);
        acc_25 += dot4I8Packed(w4_51.z & 0x03030303u, q4_143.z);
        acc_25 += dot4I8Packed(w4_51.w & 0x03030303u, q4_143.w);
      }
      let mine_81 = acc_25;
      let sg_350 = subgroupShuffleXor(mine_81, 8u);
      let sum_212 = mine_81 + sg_350;
      let sg_351 = subgroupShuffleXor(sum_212, 4u);
      let sum_213 = sum_212 + sg_351;
      let sg_352 = subgroupShuffleXor(sum_213, 2u);
      let sum_214 = sum_213 + sg_352;
      let sg_353 = subgroupShuffleXor(sum_214, 1u);
      let sum_215 = sum_214 + sg_353;
      if ((lane_of_row_9 == 0u) && (row_10 < end_row_4)) {
        let value_75 = f32(sum_215 - sg_345) / x_scale_3 * w_scale_11;
        let mine_at_3 = row_10 - first_row;
        let x_new_3 = residual[mine_at_3] + value_75;
        residual[mine_at_3] = x_new_3;
        let place_83 = row_10 + 64u;
        let value_bits_15 = bitcast<u32>(x_new_3);
        let half_15 = select(2u, 0u, (value_bits_15 & 2139095040u) == 2139095040u);
        let rounded_15 = value_bits_15 + half_15;
        atomicStore(&words[place_83], (rounded_15 & 4294967292u) | next_tag);
      }
    }
  }
  workgroupBarrier();
  for (var row_11 = first_row + tid; row_11 < end_row; row_11 += 256u) {
    let x_value_1 = residual[row_11 - first_row];
    x[row_11] = x_value_1;
  }
  if ((wg.x == 0u) && (tid == 0u)) {
    atomicStore(&words[0u], (last_tag + 1u + 30u) & 3u);
  }
}
