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
var<workgroup> sums: array<f32, 8448>;
var<workgroup> group_stats: array<vec2<f32>, 16>;
var<workgroup> group_sums: array<i32, 16>;
var<workgroup> group_stats_1: array<vec2<f32>, 16>;
var<workgroup> group_sums_1: array<i32, 16>;
var<workgroup> group_stats_2: array<vec2<f32>, 16>;
var<workgroup> group_sums_2: array<i32, 16>;
var<workgroup> group_stats_3: array<vec2<f32>, 16>;
var<workgroup> group_sums_3: array<i32, 16>;

@compute @workgroup_size(512)
fn ternary_layers(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let now = (atomicLoad(&words[1u]));
  var patience: u32 = now;
  let first_row = wg.x * 2560u / n_wg.x;
  let end_row = (wg.x + 1u) * 2560u / n_wg.x;
  let now_1 = (atomicLoad(&words[0u]));
  let last_tag = now_1;
  let splits = max(1u, min(n_wg.x / 5u, 24u));
  let pos = params[0u * 3u + 3u];
  let short_splits = min(n_wg.x / 20u, 8u);
  let is_short = pos < (short_splits * 96u);
  let splits_1 = select(splits, short_splits, is_short);
  let n_heads = select(4u, 1u, is_short);
  let first_head = wg.x / splits_1 * n_heads;
  let kv_head = first_head / 4u;
  let split = wg.x % splits_1;
  let is_used = kv_head < 5u;
  let table = params[0u * 3u + 4u];
  let n_pos = pos + 1u;
  let first_pos = split * n_pos / splits_1;
  let next_split = split + 1u;
  let end_pos = select(first_pos, next_split * n_pos / splits_1, is_used);
  let lane_of_pos = tid % 16u;
  let group_of_pos = tid / 16u;
  let kv_layer = (arrayLength(&kv)) / 30u;
  let newest = first_pos + group_of_pos;
  let angles_at = (params[0u * 3u + 5u] + pos) * 64u;
  let pair = min(tid + 0u, 383u) % 64u;
  let angle = angles[angles_at + pair];
  let safe_pos = min(newest, pos);
  let safe_head = min(kv_head, 4u);
  let block = params[table + safe_pos / 64u];
  let key_at = ((block * 10u + safe_head) * 64u + safe_pos % 64u) * 16u + lane_of_pos;
  let first_row_1 = wg.x * 3840u / n_wg.x;
  let end_row_1 = (wg.x + 1u) * 3840u / n_wg.x;
  let first_row_2 = wg.x * 2560u / n_wg.x;
  let end_row_2 = (wg.x + 1u) * 2560u / n_wg.x;
  let first_row_3 = wg.x * 6912u / n_wg.x;
  let end_row_3 = (wg.x + 1u) * 6912u / n_wg.x;
  let first_row_4 = wg.x * 2560u / n_wg.x;
  let end_row_4 = (wg.x + 1u) * 2560u / n_wg.x;
  let first_tag = (last_tag + 1u) & 3u;
  for (var row = first_row + tid; row < end_row; row += 512u) {
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
  let column_1 = tid + 512u;
  let gain_1 = vectors[vectors_at + 0u + column_1];
  let column_2 = tid + 1024u;
  let gain_2 = vectors[vectors_at + 0u + column_2];
  let column_3 = tid + 1536u;
  let gain_3 = vectors[vectors_at + 0u + column_3];
  let column_4 = tid + 2048u;
  let gain_4 = vectors[vectors_at + 0u + column_4];
  let w_scale = vectors[vectors_at + 14592u];
  let w_scale_1 = vectors[vectors_at + 14593u];
  let w_scale_2 = vectors[vectors_at + 14594u];
  var kept_w: vec4<u32> = w4;
  var kept_w_1: vec4<u32> = w4_1;
  var kept_w_2: vec4<u32> = w4_2;
  var next_gain: f32 = gain;
  var next_gain_1: f32 = gain_1;
  var next_gain_2: f32 = gain_2;
  var next_gain_3: f32 = gain_3;
  var next_gain_4: f32 = gain_4;
  var next_scale: f32 = w_scale;
  var next_scale_1: f32 = w_scale_1;
  var next_scale_2: f32 = w_scale_2;
  for (var layer = 0u; layer < 30u; layer += 1u) {
    let tag = (last_tag + 1u + layer) & 3u;
    let next_tag = (tag + 1u) & 3u;
    let group_1 = tid / 16u;
    let lane_of_row_1 = tid & 15u;
    let row_2 = first_row_1 + group_1;
    let safe_row_1 = min(row_2, end_row_1 - 1u);
    let start_1 = layer * 1085440u + 0u + safe_row_1 * 40u;
    let i_3 = lane_of_row_1 + 0u;
    let w4_3 = kept_w;
    let i_4 = lane_of_row_1 + 16u;
    let w4_4 = kept_w_1;
    let i_5 = min(lane_of_row_1 + 32u, 39u);
    let w4_5 = kept_w_2;
    let gain_5 = next_gain;
    let gain_6 = next_gain_1;
    let gain_7 = next_gain_2;
    let gain_8 = next_gain_3;
    let gain_9 = next_gain_4;
    let w_scale_3 = next_scale;
    let w_scale_4 = next_scale_1;
    let w_scale_5 = next_scale_2;
    let column_5 = tid + 0u;
    let place_1 = column_5 + 64u;
    let column_6 = tid + 512u;
    let place_2 = column_6 + 64u;
    let column_7 = tid + 1024u;
    let place_3 = column_7 + 64u;
    let column_8 = tid + 1536u;
    let place_4 = column_8 + 64u;
    let column_9 = tid + 2048u;
    let place_5 = column_9 + 64u;
    let last_place = 2623u;
    var found: u32 = 0u;
    var found_1: u32 = 0u;
    var found_2: u32 = 0u;
    var found_3: u32 = 0u;
    var found_4: u32 = 0u;
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
      let now_5 = (atomicLoad(&words[place_2]));
      found_1 = now_5;
      let now_6 = (atomicLoad(&words[place_3]));
      found_2 = now_6;
      let now_7 = (atomicLoad(&words[place_4]));
      found_3 = now_7;
      let now_8 = (atomicLoad(&words[place_5]));
      found_4 = now_8;
      var odd: u32 = 0u;
      odd = odd | (found ^ tag);
      odd = odd | (found_1 ^ tag);
      odd = odd | (found_2 ^ tag);
      odd = odd | (found_3 ^ tag);
      odd = odd | (found_4 ^ tag);
      if ((odd & 3u) == 0u) {
        waits = 0u;
        break;
      }
      var n_failed_1: u32 = 0u;
      if ((tries & 255u) == 255u) {
        let now_9 = (atomicLoad(&words[32u]));
        n_failed_1 = now_9;
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
    var squares: f32 = 0f;
    var largest: f32 = 0f;
    let vg = value * gain_5;
    largest = max(largest, abs(vg));
    squares += value * value;
    let vg_1 = value_1 * gain_6;
    largest = max(largest, abs(vg_1));
    squares += value_1 * value_1;
    let vg_2 = value_2 * gain_7;
    largest = max(largest, abs(vg_2));
    squares += value_2 * value_2;
    let vg_3 = value_3 * gain_8;
    largest = max(largest, abs(vg_3));
    squares += value_3 * value_3;
    let vg_4 = value_4 * gain_9;
    largest = max(largest, abs(vg_4));
    squares += value_4 * value_4;
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
    let of_group = group_stats[tid & 15u];
    let sg_10 = subgroupShuffleXor(of_group.x, 8u);
    let sum_10 = of_group.x + sg_10;
    let sg_11 = subgroupShuffleXor(sum_10, 4u);
    let sum_11 = sum_10 + sg_11;
    let sg_12 = subgroupShuffleXor(sum_11, 2u);
    let sum_12 = sum_11 + sg_12;
    let sg_13 = subgroupShuffleXor(sum_12, 1u);
    let sum_13 = sum_12 + sg_13;
    let largest_of_group = of_group.y;
    let sg_14 = subgroupShuffleXor(largest_of_group, 8u);
    let sum_14 = max(largest_of_group, sg_14);
    let sg_15 = subgroupShuffleXor(sum_14, 4u);
    let sum_15 = max(sum_14, sg_15);
    let sg_16 = subgroupShuffleXor(sum_15, 2u);
    let sum_16 = max(sum_15, sg_16);
    let sg_17 = subgroupShuffleXor(sum_16, 1u);
    let sum_17 = max(sum_16, sg_17);
    let factor = 1f / sqrt(sum_13 / 2560f + 1e-05f);
    let finite_scale = 127f / max(sum_17 * factor, 1e-05f);
    let factor_and_scale = factor * finite_scale;
    let factor_bits = bitcast<u32>(factor);
    let x_scale = select(finite_scale, factor, (factor_bits - 1u) >= 2139095039u);
    var q_sum: i32 = 0i;
    let ones = 16843009u;
    let moved = vg * factor_and_scale + 12582912f;
    let q = bitcast<i32>(bitcast<u32>(moved) - 1262485504u);
    let byte = bitcast<u32>(q) & 255u;
    let sg_18 = subgroupShuffleXor(byte, 1u);
    let two = byte | (sg_18 << 8u);
    let sg_19 = subgroupShuffleXor(two, 2u);
    let word = two | (sg_19 << 16u);
    q_sum += dot4I8Packed(word, ones);
    if ((tid & 3u) == 0u) {
      let unit = (tid + 0u) / 16u;
      let vec = ((unit >> 1u) & 3u) * 40u + (unit >> 3u) * 2u + (unit & 1u);
      let part_of_unit = tid / 4u % 4u;
      staged[vec][part_of_unit] = word;
    }
    let moved_1 = vg_1 * factor_and_scale + 12582912f;
    let q_1 = bitcast<i32>(bitcast<u32>(moved_1) - 1262485504u);
    let byte_1 = bitcast<u32>(q_1) & 255u;
    let sg_20 = subgroupShuffleXor(byte_1, 1u);
    let two_1 = byte_1 | (sg_20 << 8u);
    let sg_21 = subgroupShuffleXor(two_1, 2u);
    let word_1 = two_1 | (sg_21 << 16u);
    q_sum += dot4I8Packed(word_1, ones);
    if ((tid & 3u) == 0u) {
      let unit_1 = (tid + 512u) / 16u;
      let vec_1 = ((unit_1 >> 1u) & 3u) * 40u + (unit_1 >> 3u) * 2u + (unit_1 & 1u);
      let part_of_unit_1 = tid / 4u % 4u;
      staged[vec_1][part_of_unit_1] = word_1;
    }
    let moved_2 = vg_2 * factor_and_scale + 12582912f;
    let q_2 = bitcast<i32>(bitcast<u32>(moved_2) - 1262485504u);
    let byte_2 = bitcast<u32>(q_2) & 255u;
    let sg_22 = subgroupShuffleXor(byte_2, 1u);
    let two_2 = byte_2 | (sg_22 << 8u);
    let sg_23 = subgroupShuffleXor(two_2, 2u);
    let word_2 = two_2 | (sg_23 << 16u);
    q_sum += dot4I8Packed(word_2, ones);
    if ((tid & 3u) == 0u) {
      let unit_2 = (tid + 1024u) / 16u;
      let vec_2 = ((unit_2 >> 1u) & 3u) * 40u + (unit_2 >> 3u) * 2u + (unit_2 & 1u);
      let part_of_unit_2 = tid / 4u % 4u;
      staged[vec_2][part_of_unit_2] = word_2;
    }
    let moved_3 = vg_3 * factor_and_scale + 12582912f;
    let q_3 = bitcast<i32>(bitcast<u32>(moved_3) - 1262485504u);
    let byte_3 = bitcast<u32>(q_3) & 255u;
    let sg_24 = subgroupShuffleXor(byte_3, 1u);
    let two_3 = byte_3 | (sg_24 << 8u);
    let sg_25 = subgroupShuffleXor(two_3, 2u);
    let word_3 = two_3 | (sg_25 << 16u);
    q_sum += dot4I8Packed(word_3, ones);
    if ((tid & 3u) == 0u) {
      let unit_3 = (tid + 1536u) / 16u;
      let vec_3 = ((unit_3 >> 1u) & 3u) * 40u + (unit_3 >> 3u) * 2u + (unit_3 & 1u);
      let part_of_unit_3 = tid / 4u % 4u;
      staged[vec_3][part_of_unit_3] = word_3;
    }
    let moved_4 = vg_4 * factor_and_scale + 12582912f;
    let q_4 = bitcast<i32>(bitcast<u32>(moved_4) - 1262485504u);
    let byte_4 = bitcast<u32>(q_4) & 255u;
    let sg_26 = subgroupShuffleXor(byte_4, 1u);
    let two_4 = byte_4 | (sg_26 << 8u);
    let sg_27 = subgroupShuffleXor(two_4, 2u);
    let word_4 = two_4 | (sg_27 << 16u);
    q_sum += dot4I8Packed(word_4, ones);
    if ((tid & 3u) == 0u) {
      let unit_4 = (tid + 2048u) / 16u;
      let vec_4 = ((unit_4 >> 1u) & 3u) * 40u + (unit_4 >> 3u) * 2u + (unit_4 & 1u);
      let part_of_unit_4 = tid / 4u % 4u;
      staged[vec_4][part_of_unit_4] = word_4;
    }
    let my_sum = q_sum;
    let sg_28 = subgroupShuffleXor(my_sum, 4u);
    let group_sum = my_sum + sg_28;
    let sg_29 = subgroupShuffleXor(group_sum, 8u);
    let group_sum_1 = group_sum + sg_29;
    let sg_30 = subgroupShuffleXor(group_sum_1, 16u);
    let group_sum_2 = group_sum_1 + sg_30;
    if ((tid & 31u) == 0u) {
      group_sums[tid / 32u] = group_sum_2;
    }
    workgroupBarrier();
    let sum_of_group = group_sums[tid & 15u];
    let sg_31 = subgroupShuffleXor(sum_of_group, 8u);
    let sum_18 = sum_of_group + sg_31;
    let sg_32 = subgroupShuffleXor(sum_18, 4u);
    let sum_19 = sum_18 + sg_32;
    let sg_33 = subgroupShuffleXor(sum_19, 2u);
    let sum_20 = sum_19 + sg_33;
    let sg_34 = subgroupShuffleXor(sum_20, 1u);
    let sum_21 = sum_20 + sg_34;
    let key_of_layer = layer * kv_layer + key_at;
    let k8 = kv[key_of_layer + 0u];
    let v8 = kv[key_of_layer + 5120u];
    var kept_w_3: vec4<u32> = w4_3;
    var kept_w_4: vec4<u32> = w4_4;
    var kept_w_5: vec4<u32> = w4_5;
    for (var first_of_groups = first_row_1; first_of_groups < end_row_1; first_of_groups += 32u) {
      let group_2 = tid / 16u;
      let lane_of_row_2 = tid & 15u;
      let row_3 = first_of_groups + group_2;
      let safe_row_2 = min(row_3, end_row_1 - 1u);
      let start_2 = layer * 1085440u + 0u + safe_row_2 * 40u;
      let i_6 = lane_of_row_2 + 0u;
      let w4_6 = kept_w_3;
      let i_7 = lane_of_row_2 + 16u;
      let w4_7 = kept_w_4;
      let i_8 = min(lane_of_row_2 + 32u, 39u);
      let w4_8 = kept_w_5;
      var acc: i32 = 0i;
      let i_9 = lane_of_row_2 + 0u;
      let q4 = staged[0u + i_9];
      acc += dot4I8Packed((w4_6.x >> 6u) & 0x03030303u, q4.x);
      acc += dot4I8Packed((w4_6.y >> 6u) & 0x03030303u, q4.y);
      acc += dot4I8Packed((w4_6.z >> 6u) & 0x03030303u, q4.z);
      acc += dot4I8Packed((w4_6.w >> 6u) & 0x03030303u, q4.w);
      let q4_1 = staged[40u + i_9];
      acc += dot4I8Packed((w4_6.x >> 4u) & 0x03030303u, q4_1.x);
      acc += dot4I8Packed((w4_6.y >> 4u) & 0x03030303u, q4_1.y);
      acc += dot4I8Packed((w4_6.z >> 4u) & 0x03030303u, q4_1.z);
      acc += dot4I8Packed((w4_6.w >> 4u) & 0x03030303u, q4_1.w);
      let q4_2 = staged[80u + i_9];
      acc += dot4I8Packed((w4_6.x >> 2u) & 0x03030303u, q4_2.x);
      acc += dot4I8Packed((w4_6.y >> 2u) & 0x03030303u, q4_2.y);
      acc += dot4I8Packed((w4_6.z >> 2u) & 0x03030303u, q4_2.z);
      acc += dot4I8Packed((w4_6.w >> 2u) & 0x03030303u, q4_2.w);
      let q4_3 = staged[120u + i_9];
      acc += dot4I8Packed(w4_6.x & 0x03030303u, q4_3.x);
      acc += dot4I8Packed(w4_6.y & 0x03030303u, q4_3.y);
      acc += dot4I8Packed(w4_6.z & 0x03030303u, q4_3.z);
      acc += dot4I8Packed(w4_6.w & 0x03030303u, q4_3.w);
      let i_10 = lane_of_row_2 + 16u;
      let q4_4 = staged[0u + i_10];
      acc += dot4I8Packed((w4_7.x >> 6u) & 0x03030303u, q4_4.x);
      acc += dot4I8Packed((w4_7.y >> 6u) & 0x03030303u, q4_4.y);
      acc += dot4I8Packed((w4_7.z >> 6u) & 0x03030303u, q4_4.z);
      acc += dot4I8Packed((w4_7.w >> 6u) & 0x03030303u, q4_4.w);
      let q4_5 = staged[40u + i_10];
      acc += dot4I8Packed((w4_7.x >> 4u) & 0x03030303u, q4_5.x);
      acc += dot4I8Packed((w4_7.y >> 4u) & 0x03030303u, q4_5.y);
      acc += dot4I8Packed((w4_7.z >> 4u) & 0x03030303u, q4_5.z);
      acc += dot4I8Packed((w4_7.w >> 4u) & 0x03030303u, q4_5.w);
      let q4_6 = staged[80u + i_10];
      acc += dot4I8Packed((w4_7.x >> 2u) & 0x03030303u, q4_6.x);
      acc += dot4I8Packed((w4_7.y >> 2u) & 0x03030303u, q4_6.y);
      acc += dot4I8Packed((w4_7.z >> 2u) & 0x03030303u, q4_6.z);
      acc += dot4I8Packed((w4_7.w >> 2u) & 0x03030303u, q4_6.w);
      let q4_7 = staged[120u + i_10];
      acc += dot4I8Packed(w4_7.x & 0x03030303u, q4_7.x);
      acc += dot4I8Packed(w4_7.y & 0x03030303u, q4_7.y);
      acc += dot4I8Packed(w4_7.z & 0x03030303u, q4_7.z);
      acc += dot4I8Packed(w4_7.w & 0x03030303u, q4_7.w);
      let i_11 = lane_of_row_2 + 32u;
      if (i_11 < 40u) {
        let q4_8 = staged[0u + i_11];
        acc += dot4I8Packed((w4_8.x >> 6u) & 0x03030303u, q4_8.x);
        acc += dot4I8Packed((w4_8.y >> 6u) & 0x03030303u, q4_8.y);
        acc += dot4I8Packed((w4_8.z >> 6u) & 0x03030303u, q4_8.z);
        acc += dot4I8Packed((w4_8.w >> 6u) & 0x03030303u, q4_8.w);
        let q4_9 = staged[40u + i_11];
        acc += dot4I8Packed((w4_8.x >> 4u) & 0x03030303u, q4_9.x);
        acc += dot4I8Packed((w4_8.y >> 4u) & 0x03030303u, q4_9.y);
        acc += dot4I8Packed((w4_8.z >> 4u) & 0x03030303u, q4_9.z);
        acc += dot4I8Packed((w4_8.w >> 4u) & 0x03030303u, q4_9.w);
        let q4_10 = staged[80u + i_11];
        acc += dot4I8Packed((w4_8.x >> 2u) & 0x03030303u, q4_10.x);
        acc += dot4I8Packed((w4_8.y >> 2u) & 0x03030303u, q4_10.y);
        acc += dot4I8Packed((w4_8.z >> 2u) & 0x03030303u, q4_10.z);
        acc += dot4I8Packed((w4_8.w >> 2u) & 0x03030303u, q4_10.w);
        let q4_11 = staged[120u + i_11];
        acc += dot4I8Packed(w4_8.x & 0x03030303u, q4_11.x);
        acc += dot4I8Packed(w4_8.y & 0x03030303u, q4_11.y);
        acc += dot4I8Packed(w4_8.z & 0x03030303u, q4_11.z);
        acc += dot4I8Packed(w4_8.w & 0x03030303u, q4_11.w);
      }
      let mine = acc;
      let sg_35 = subgroupShuffleXor(mine, 8u);
      let sum_22 = mine + sg_35;
      let sg_36 = subgroupShuffleXor(sum_22, 4u);
      let sum_23 = sum_22 + sg_36;
      let sg_37 = subgroupShuffleXor(sum_23, 2u);
      let sum_24 = sum_23 + sg_37;
      let sg_38 = subgroupShuffleXor(sum_24, 1u);
      let sum_25 = sum_24 + sg_38;
      if ((lane_of_row_2 == 0u) && (row_3 < end_row_1)) {
        let of_k_or_v = select(w_scale_5, w_scale_4, row_3 < 3200u);
        let w_scale_6 = select(of_k_or_v, w_scale_3, row_3 < 2560u);
        let value_5 = f32(sum_25 - sum_21) / x_scale * w_scale_6;
        let place_6 = row_3 + 2624u;
        let value_bits_1 = bitcast<u32>(value_5);
        let half_1 = select(2u, 0u, (value_bits_1 & 2139095040u) == 2139095040u);
        let rounded_1 = value_bits_1 + half_1;
        atomicStore(&words[place_6], (rounded_1 & 4294967292u) | tag);
      }
      if ((first_of_groups + 32u) < end_row_1) {
        let group_3 = tid / 16u;
        let lane_of_row_3 = tid & 15u;
        let later_row = row_3 + 32u;
        let safe_row_3 = min(later_row, end_row_1 - 1u);
        let start_3 = layer * 1085440u + 0u + safe_row_3 * 40u;
        let i_12 = lane_of_row_3 + 0u;
        let w4_9 = w[start_3 + i_12];
        let i_13 = lane_of_row_3 + 16u;
        let w4_10 = w[start_3 + i_13];
        let i_14 = min(lane_of_row_3 + 32u, 39u);
        let w4_11 = w[start_3 + i_14];
        kept_w_3 = w4_9;
        kept_w_4 = w4_10;
        kept_w_5 = w4_11;
      }
    }
    let n_pairs = (n_heads + 2u) * 64u;
    let pair_1 = min(tid + 0u, n_pairs - 1u);
    let slot = pair_1 / 64u;
    let pair_of_head = pair_1 % 64u;
    let is_query = slot < n_heads;
    let is_value = slot == (n_heads + 1u);
    let of_kv = kv_head + 20u + select(0u, 5u, is_value);
    let head = select(of_kv, first_head + slot, is_query);
    let safe_slot = select(0u, head, is_used);
    let a_at = pair_of_head;
    let b_at = pair_of_head + 64u;
    let place_7 = safe_slot * 128u + a_at + 2624u;
    let place_8 = safe_slot * 128u + b_at + 2624u;
    let is_needed = (tid + 0u) < n_pairs;
    var found_5: u32 = 0u;
    var found_6: u32 = 0u;
    var waits_1: u32 = 1u;
    if (tid < 32u) {
      let end_2 = patience;
      for (var early_1 = 0u; early_1 < end_2; early_1 += 1u) {
        let now_10 = (atomicLoad(&words[place_8]));
        found_5 = now_10;
        var n_failed_2: u32 = 0u;
        if ((early_1 & 255u) == 255u) {
          let now_11 = (atomicLoad(&words[32u]));
          n_failed_2 = now_11;
        }
        let given_up_2 = n_failed_2 != 0u;
        if ((((found_5 ^ tag) & 3u) == 0u) || given_up_2) {
          break;
        }
      }
    }
    workgroupBarrier();
    if (is_needed) {
      let end_3 = patience;
      for (var tries_1 = 0u; tries_1 < end_3; tries_1 += 1u) {
        let now_12 = (atomicLoad(&words[place_7]));
        found_5 = now_12;
        let now_13 = (atomicLoad(&words[place_8]));
        found_6 = now_13;
        var odd_1: u32 = 0u;
        odd_1 = odd_1 | (found_5 ^ tag);
        odd_1 = odd_1 | (found_6 ^ tag);
        if ((odd_1 & 3u) == 0u) {
          waits_1 = 0u;
          break;
        }
        var n_failed_3: u32 = 0u;
        if ((tries_1 & 255u) == 255u) {
          let now_14 = (atomicLoad(&words[32u]));
          n_failed_3 = now_14;
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
    let value_6 = bitcast<f32>(found_5 & 4294967292u);
    let value_7 = bitcast<f32>(found_6 & 4294967292u);
    let turn = select(angle, vec2<f32>(1f, 0f), is_value);
    let q_factor = select(1f, 0.088388346f, is_query);
    let turned_a = (value_6 * turn.x - value_7 * turn.y) * q_factor;
    let turned_b = (value_7 * turn.x + value_6 * turn.y) * q_factor;
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
    var acc_1: vec4<f32> = vec4<f32>();
    var acc_2: vec4<f32> = vec4<f32>();
    var greatest_1: f32 = -3e+38f;
    var total_1: f32 = 0f;
    var acc_3: vec4<f32> = vec4<f32>();
    var acc_4: vec4<f32> = vec4<f32>();
    var greatest_2: f32 = -3e+38f;
    var total_2: f32 = 0f;
    var acc_5: vec4<f32> = vec4<f32>();
    var acc_6: vec4<f32> = vec4<f32>();
    var greatest_3: f32 = -3e+38f;
    var total_3: f32 = 0f;
    var acc_7: vec4<f32> = vec4<f32>();
    var acc_8: vec4<f32> = vec4<f32>();
    let has_positions = (tid / 32u) < n_used;
    if (has_positions) {
      if (is_short) {
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
          k4 = d4_2;
          v4 = d4_4;
          k4_1 = d4_3;
          v4_1 = d4_5;
          if ((first_head % 4u) == 0u) {
            let half2 = pack2x16float(vec2<f32>(d4_2.x, d4_2.y));
            let half2_1 = pack2x16float(vec2<f32>(d4_2.z, d4_2.w));
            let half2_2 = pack2x16float(vec2<f32>(d4_3.x, d4_3.y));
            let half2_3 = pack2x16float(vec2<f32>(d4_3.z, d4_3.w));
            kv[key_of_layer + 0u] = vec4<u32>(half2, half2_1, half2_2, half2_3);
            let half2_4 = pack2x16float(vec2<f32>(d4_4.x, d4_4.y));
            let half2_5 = pack2x16float(vec2<f32>(d4_4.z, d4_4.w));
            let half2_6 = pack2x16float(vec2<f32>(d4_5.x, d4_5.y));
            let half2_7 = pack2x16float(vec2<f32>(d4_5.z, d4_5.w));
            kv[key_of_layer + 5120u] = vec4<u32>(half2_4, half2_5, half2_6, half2_7);
          }
        }
        var score: f32 = 0f;
        let k4_2 = k4;
        score += dot(d4, k4_2);
        let k4_3 = k4_1;
        score += dot(d4_1, k4_3);
        let my_part = score;
        let sg_39 = subgroupShuffleXor(my_part, 8u);
        let sum_26 = my_part + sg_39;
        let sg_40 = subgroupShuffleXor(sum_26, 4u);
        let sum_27 = sum_26 + sg_40;
        let sg_41 = subgroupShuffleXor(sum_27, 2u);
        let sum_28 = sum_27 + sg_41;
        let sg_42 = subgroupShuffleXor(sum_28, 1u);
        let sum_29 = sum_28 + sg_42;
        let seen = select(-3e+38f, sum_29, is_seen);
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
            let from_dim_6 = (lane_of_pos + 0u) * 8u + 128u;
            let d0_6 = turned[from_dim_6];
            let d1_6 = turned[from_dim_6 + 1u];
            let d2_6 = turned[from_dim_6 + 2u];
            let d3_6 = turned[from_dim_6 + 3u];
            let d4_6 = vec4<f32>(d0_6, d1_6, d2_6, d3_6);
            let from_dim_7 = (lane_of_pos + 0u) * 8u + 132u;
            let d0_7 = turned[from_dim_7];
            let d1_7 = turned[from_dim_7 + 1u];
            let d2_7 = turned[from_dim_7 + 2u];
            let d3_7 = turned[from_dim_7 + 3u];
            let d4_7 = vec4<f32>(d0_7, d1_7, d2_7, d3_7);
            let from_dim_8 = (lane_of_pos + 0u) * 8u + 256u;
            let d0_8 = turned[from_dim_8];
            let d1_8 = turned[from_dim_8 + 1u];
            let d2_8 = turned[from_dim_8 + 2u];
            let d3_8 = turned[from_dim_8 + 3u];
            let d4_8 = vec4<f32>(d0_8, d1_8, d2_8, d3_8);
            let from_dim_9 = (lane_of_pos + 0u) * 8u + 260u;
            let d0_9 = turned[from_dim_9];
            let d1_9 = turned[from_dim_9 + 1u];
            let d2_9 = turned[from_dim_9 + 2u];
            let d3_9 = turned[from_dim_9 + 3u];
            let d4_9 = vec4<f32>(d0_9, d1_9, d2_9, d3_9);
            k4_4 = d4_6;
            v4_4 = d4_8;
            k4_5 = d4_7;
            v4_5 = d4_9;
            if ((first_head % 4u) == 0u) {
              let half2_8 = pack2x16float(vec2<f32>(d4_6.x, d4_6.y));
              let half2_9 = pack2x16float(vec2<f32>(d4_6.z, d4_6.w));
              let half2_10 = pack2x16float(vec2<f32>(d4_7.x, d4_7.y));
              let half2_11 = pack2x16float(vec2<f32>(d4_7.z, d4_7.w));
              kv[key_at_2 + 0u] = vec4<u32>(half2_8, half2_9, half2_10, half2_11);
              let half2_12 = pack2x16float(vec2<f32>(d4_8.x, d4_8.y));
              let half2_13 = pack2x16float(vec2<f32>(d4_8.z, d4_8.w));
              let half2_14 = pack2x16float(vec2<f32>(d4_9.x, d4_9.y));
              let half2_15 = pack2x16float(vec2<f32>(d4_9.z, d4_9.w));
              kv[key_at_2 + 5120u] = vec4<u32>(half2_12, half2_13, half2_14, half2_15);
            }
          }
          var score_1: f32 = 0f;
          let k4_6 = k4_4;
          score_1 += dot(d4, k4_6);
          let k4_7 = k4_5;
          score_1 += dot(d4_1, k4_7);
          let my_part_1 = score_1;
          let sg_43 = subgroupShuffleXor(my_part_1, 8u);
          let sum_30 = my_part_1 + sg_43;
          let sg_44 = subgroupShuffleXor(sum_30, 4u);
          let sum_31 = sum_30 + sg_44;
          let sg_45 = subgroupShuffleXor(sum_31, 2u);
          let sum_32 = sum_31 + sg_45;
          let sg_46 = subgroupShuffleXor(sum_32, 1u);
          let sum_33 = sum_32 + sg_46;
          let seen_1 = select(-3e+38f, sum_33, is_seen_1);
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
        var most_1: f32 = greatest;
        let mine_1 = most_1;
        let sg_47 = subgroupShuffleXor(mine_1, 16u);
        most_1 = max(mine_1, sg_47);
        let of_subgroup = most_1;
        let shrink_1 = exp(greatest - of_subgroup);
        let my_total = total * shrink_1;
        let sg_48 = subgroupShuffleXor(my_total, 16u);
        let sum_34 = my_total + sg_48;
        let sums_row = (tid / 32u * 4u + 0u) * 132u;
        let mine_2 = acc_1.x * shrink_1;
        let sg_49 = subgroupShuffleXor(mine_2, 16u);
        let sum_35 = mine_2 + sg_49;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 0u)] = sum_35;
        }
        let mine_3 = acc_1.y * shrink_1;
        let sg_50 = subgroupShuffleXor(mine_3, 16u);
        let sum_36 = mine_3 + sg_50;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 1u)] = sum_36;
        }
        let mine_4 = acc_1.z * shrink_1;
        let sg_51 = subgroupShuffleXor(mine_4, 16u);
        let sum_37 = mine_4 + sg_51;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 2u)] = sum_37;
        }
        let mine_5 = acc_1.w * shrink_1;
        let sg_52 = subgroupShuffleXor(mine_5, 16u);
        let sum_38 = mine_5 + sg_52;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 3u)] = sum_38;
        }
        let mine_6 = acc_2.x * shrink_1;
        let sg_53 = subgroupShuffleXor(mine_6, 16u);
        let sum_39 = mine_6 + sg_53;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 4u)] = sum_39;
        }
        let mine_7 = acc_2.y * shrink_1;
        let sg_54 = subgroupShuffleXor(mine_7, 16u);
        let sum_40 = mine_7 + sg_54;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 5u)] = sum_40;
        }
        let mine_8 = acc_2.z * shrink_1;
        let sg_55 = subgroupShuffleXor(mine_8, 16u);
        let sum_41 = mine_8 + sg_55;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 6u)] = sum_41;
        }
        let mine_9 = acc_2.w * shrink_1;
        let sg_56 = subgroupShuffleXor(mine_9, 16u);
        let sum_42 = mine_9 + sg_56;
        if ((tid % 32u) < 16u) {
          sums[sums_row + ((lane_of_pos + 0u) * 8u + 7u)] = sum_42;
        }
        if ((tid % 32u) == 0u) {
          sums[sums_row + 128u] = of_subgroup;
          sums[sums_row + 129u] = sum_34;
        }
      } else {
        let from_dim_10 = (lane_of_pos + 0u) * 8u + 0u;
        let d0_10 = turned[from_dim_10];
        let d1_10 = turned[from_dim_10 + 1u];
        let d2_10 = turned[from_dim_10 + 2u];
        let d3_10 = turned[from_dim_10 + 3u];
        let d4_10 = vec4<f32>(d0_10, d1_10, d2_10, d3_10);
        let from_dim_11 = (lane_of_pos + 0u) * 8u + 4u;
        let d0_11 = turned[from_dim_11];
        let d1_11 = turned[from_dim_11 + 1u];
        let d2_11 = turned[from_dim_11 + 2u];
        let d3_11 = turned[from_dim_11 + 3u];
        let d4_11 = vec4<f32>(d0_11, d1_11, d2_11, d3_11);
        let from_dim_12 = (lane_of_pos + 0u) * 8u + 128u;
        let d0_12 = turned[from_dim_12];
        let d1_12 = turned[from_dim_12 + 1u];
        let d2_12 = turned[from_dim_12 + 2u];
        let d3_12 = turned[from_dim_12 + 3u];
        let d4_12 = vec4<f32>(d0_12, d1_12, d2_12, d3_12);
        let from_dim_13 = (lane_of_pos + 0u) * 8u + 132u;
        let d0_13 = turned[from_dim_13];
        let d1_13 = turned[from_dim_13 + 1u];
        let d2_13 = turned[from_dim_13 + 2u];
        let d3_13 = turned[from_dim_13 + 3u];
        let d4_13 = vec4<f32>(d0_13, d1_13, d2_13, d3_13);
        let from_dim_14 = (lane_of_pos + 0u) * 8u + 256u;
        let d0_14 = turned[from_dim_14];
        let d1_14 = turned[from_dim_14 + 1u];
        let d2_14 = turned[from_dim_14 + 2u];
        let d3_14 = turned[from_dim_14 + 3u];
        let d4_14 = vec4<f32>(d0_14, d1_14, d2_14, d3_14);
        let from_dim_15 = (lane_of_pos + 0u) * 8u + 260u;
        let d0_15 = turned[from_dim_15];
        let d1_15 = turned[from_dim_15 + 1u];
        let d2_15 = turned[from_dim_15 + 2u];
        let d3_15 = turned[from_dim_15 + 3u];
        let d4_15 = vec4<f32>(d0_15, d1_15, d2_15, d3_15);
        let from_dim_16 = (lane_of_pos + 0u) * 8u + 384u;
        let d0_16 = turned[from_dim_16];
        let d1_16 = turned[from_dim_16 + 1u];
        let d2_16 = turned[from_dim_16 + 2u];
        let d3_16 = turned[from_dim_16 + 3u];
        let d4_16 = vec4<f32>(d0_16, d1_16, d2_16, d3_16);
        let from_dim_17 = (lane_of_pos + 0u) * 8u + 388u;
        let d0_17 = turned[from_dim_17];
        let d1_17 = turned[from_dim_17 + 1u];
        let d2_17 = turned[from_dim_17 + 2u];
        let d3_17 = turned[from_dim_17 + 3u];
        let d4_17 = vec4<f32>(d0_17, d1_17, d2_17, d3_17);
        var next_at_1: u32 = key_of_layer;
        var next_k_1: vec4<u32> = k8;
        var next_v_1: vec4<u32> = v8;
        if ((first_pos + 32u) < end_pos) {
          let later_2 = newest + 32u;
          let safe_pos_3 = min(later_2, pos);
          let safe_head_3 = min(kv_head, 4u);
          let block_3 = params[table + safe_pos_3 / 64u];
          let key_at_4 = ((block_3 * 10u + safe_head_3) * 64u + safe_pos_3 % 64u) * 16u + lane_of_pos;
          let key_of_layer_3 = layer * kv_layer + key_at_4;
          let k8_4 = kv[key_of_layer_3 + 0u];
          let v8_4 = kv[key_of_layer_3 + 5120u];
          next_at_1 = key_of_layer_3;
          next_k_1 = k8_4;
          next_v_1 = v8_4;
        }
        let is_seen_2 = newest < end_pos;
        let k_low_4 = unpack2x16float(k8.x);
        let k_high_4 = unpack2x16float(k8.y);
        var k4_8: vec4<f32> = vec4<f32>(k_low_4, k_high_4);
        let v_low_4 = unpack2x16float(v8.x);
        let v_high_4 = unpack2x16float(v8.y);
        var v4_8: vec4<f32> = vec4<f32>(v_low_4, v_high_4);
        let k_low_5 = unpack2x16float(k8.z);
        let k_high_5 = unpack2x16float(k8.w);
        var k4_9: vec4<f32> = vec4<f32>(k_low_5, k_high_5);
        let v_low_5 = unpack2x16float(v8.z);
        let v_high_5 = unpack2x16float(v8.w);
        var v4_9: vec4<f32> = vec4<f32>(v_low_5, v_high_5);
        if ((newest == pos) && is_seen_2) {
          let from_dim_18 = (lane_of_pos + 0u) * 8u + 512u;
          let d0_18 = turned[from_dim_18];
          let d1_18 = turned[from_dim_18 + 1u];
          let d2_18 = turned[from_dim_18 + 2u];
          let d3_18 = turned[from_dim_18 + 3u];
          let d4_18 = vec4<f32>(d0_18, d1_18, d2_18, d3_18);
          let from_dim_19 = (lane_of_pos + 0u) * 8u + 516u;
          let d0_19 = turned[from_dim_19];
          let d1_19 = turned[from_dim_19 + 1u];
          let d2_19 = turned[from_dim_19 + 2u];
          let d3_19 = turned[from_dim_19 + 3u];
          let d4_19 = vec4<f32>(d0_19, d1_19, d2_19, d3_19);
          let from_dim_20 = (lane_of_pos + 0u) * 8u + 640u;
          let d0_20 = turned[from_dim_20];
          let d1_20 = turned[from_dim_20 + 1u];
          let d2_20 = turned[from_dim_20 + 2u];
          let d3_20 = turned[from_dim_20 + 3u];
          let d4_20 = vec4<f32>(d0_20, d1_20, d2_20, d3_20);
          let from_dim_21 = (lane_of_pos + 0u) * 8u + 644u;
          let d0_21 = turned[from_dim_21];
          let d1_21 = turned[from_dim_21 + 1u];
          let d2_21 = turned[from_dim_21 + 2u];
          let d3_21 = turned[from_dim_21 + 3u];
          let d4_21 = vec4<f32>(d0_21, d1_21, d2_21, d3_21);
          k4_8 = d4_18;
          v4_8 = d4_20;
          k4_9 = d4_19;
          v4_9 = d4_21;
          let half2_16 = pack2x16float(vec2<f32>(d4_18.x, d4_18.y));
          let half2_17 = pack2x16float(vec2<f32>(d4_18.z, d4_18.w));
          let half2_18 = pack2x16float(vec2<f32>(d4_19.x, d4_19.y));
          let half2_19 = pack2x16float(vec2<f32>(d4_19.z, d4_19.w));
          kv[key_of_layer + 0u] = vec4<u32>(half2_16, half2_17, half2_18, half2_19);
          let half2_20 = pack2x16float(vec2<f32>(d4_20.x, d4_20.y));
          let half2_21 = pack2x16float(vec2<f32>(d4_20.z, d4_20.w));
          let half2_22 = pack2x16float(vec2<f32>(d4_21.x, d4_21.y));
          let half2_23 = pack2x16float(vec2<f32>(d4_21.z, d4_21.w));
          kv[key_of_layer + 5120u] = vec4<u32>(half2_20, half2_21, half2_22, half2_23);
        }
        var score_2: f32 = 0f;
        let k4_10 = k4_8;
        score_2 += dot(d4_10, k4_10);
        let k4_11 = k4_9;
        score_2 += dot(d4_11, k4_11);
        let my_part_2 = score_2;
        let sg_57 = subgroupShuffleXor(my_part_2, 8u);
        let sum_43 = my_part_2 + sg_57;
        let sg_58 = subgroupShuffleXor(sum_43, 4u);
        let sum_44 = sum_43 + sg_58;
        let sg_59 = subgroupShuffleXor(sum_44, 2u);
        let sum_45 = sum_44 + sg_59;
        let sg_60 = subgroupShuffleXor(sum_45, 1u);
        let sum_46 = sum_45 + sg_60;
        let seen_2 = select(-3e+38f, sum_46, is_seen_2);
        let most_2 = max(greatest, seen_2);
        let shrink_2 = exp(greatest - most_2);
        let weight_1 = select(0f, exp(seen_2 - most_2), is_seen_2);
        total = total * shrink_2 + weight_1;
        let v4_10 = select(vec4<f32>(0f), v4_8, is_seen_2);
        acc_1 = acc_1 * shrink_2 + v4_10 * weight_1;
        let v4_11 = select(vec4<f32>(0f), v4_9, is_seen_2);
        acc_2 = acc_2 * shrink_2 + v4_11 * weight_1;
        greatest = most_2;
        var score_3: f32 = 0f;
        let k4_12 = k4_8;
        score_3 += dot(d4_12, k4_12);
        let k4_13 = k4_9;
        score_3 += dot(d4_13, k4_13);
        let my_part_3 = score_3;
        let sg_61 = subgroupShuffleXor(my_part_3, 8u);
        let sum_47 = my_part_3 + sg_61;
        let sg_62 = subgroupShuffleXor(sum_47, 4u);
        let sum_48 = sum_47 + sg_62;
        let sg_63 = subgroupShuffleXor(sum_48, 2u);
        let sum_49 = sum_48 + sg_63;
        let sg_64 = subgroupShuffleXor(sum_49, 1u);
        let sum_50 = sum_49 + sg_64;
        let seen_3 = select(-3e+38f, sum_50, is_seen_2);
        let most_3 = max(greatest_1, seen_3);
        let shrink_3 = exp(greatest_1 - most_3);
        let weight_2 = select(0f, exp(seen_3 - most_3), is_seen_2);
        total_1 = total_1 * shrink_3 + weight_2;
        let v4_12 = select(vec4<f32>(0f), v4_8, is_seen_2);
        acc_3 = acc_3 * shrink_3 + v4_12 * weight_2;
        let v4_13 = select(vec4<f32>(0f), v4_9, is_seen_2);
        acc_4 = acc_4 * shrink_3 + v4_13 * weight_2;
        greatest_1 = most_3;
        var score_4: f32 = 0f;
        let k4_14 = k4_8;
        score_4 += dot(d4_14, k4_14);
        let k4_15 = k4_9;
        score_4 += dot(d4_15, k4_15);
        let my_part_4 = score_4;
        let sg_65 = subgroupShuffleXor(my_part_4, 8u);
        let sum_51 = my_part_4 + sg_65;
        let sg_66 = subgroupShuffleXor(sum_51, 4u);
        let sum_52 = sum_51 + sg_66;
        let sg_67 = subgroupShuffleXor(sum_52, 2u);
        let sum_53 = sum_52 + sg_67;
        let sg_68 = subgroupShuffleXor(sum_53, 1u);
        let sum_54 = sum_53 + sg_68;
        let seen_4 = select(-3e+38f, sum_54, is_seen_2);
        let most_4 = max(greatest_2, seen_4);
        let shrink_4 = exp(greatest_2 - most_4);
        let weight_3 = select(0f, exp(seen_4 - most_4), is_seen_2);
        total_2 = total_2 * shrink_4 + weight_3;
        let v4_14 = select(vec4<f32>(0f), v4_8, is_seen_2);
        acc_5 = acc_5 * shrink_4 + v4_14 * weight_3;
        let v4_15 = select(vec4<f32>(0f), v4_9, is_seen_2);
        acc_6 = acc_6 * shrink_4 + v4_15 * weight_3;
        greatest_2 = most_4;
        var score_5: f32 = 0f;
        let k4_16 = k4_8;
        score_5 += dot(d4_16, k4_16);
        let k4_17 = k4_9;
        score_5 += dot(d4_17, k4_17);
        let my_part_5 = score_5;
        let sg_69 = subgroupShuffleXor(my_part_5, 8u);
        let sum_55 = my_part_5 + sg_69;
        let sg_70 = subgroupShuffleXor(sum_55, 4u);
        let sum_56 = sum_55 + sg_70;
        let sg_71 = subgroupShuffleXor(sum_56, 2u);
        let sum_57 = sum_56 + sg_71;
        let sg_72 = subgroupShuffleXor(sum_57, 1u);
        let sum_58 = sum_57 + sg_72;
        let seen_5 = select(-3e+38f, sum_58, is_seen_2);
        let most_5 = max(greatest_3, seen_5);
        let shrink_5 = exp(greatest_3 - most_5);
        let weight_4 = select(0f, exp(seen_5 - most_5), is_seen_2);
        total_3 = total_3 * shrink_5 + weight_4;
        let v4_16 = select(vec4<f32>(0f), v4_8, is_seen_2);
        acc_7 = acc_7 * shrink_5 + v4_16 * weight_4;
        let v4_17 = select(vec4<f32>(0f), v4_9, is_seen_2);
        acc_8 = acc_8 * shrink_5 + v4_17 * weight_4;
        greatest_3 = most_5;
        for (var from_pos_1 = first_pos + 32u; from_pos_1 < end_pos; from_pos_1 += 32u) {
          let p_1 = from_pos_1 + group_of_pos;
          let key_at_5 = next_at_1;
          let k8_5 = next_k_1;
          let v8_5 = next_v_1;
          if ((from_pos_1 + 32u) < end_pos) {
            let later_3 = p_1 + 32u;
            let safe_pos_4 = min(later_3, pos);
            let safe_head_4 = min(kv_head, 4u);
            let block_4 = params[table + safe_pos_4 / 64u];
            let key_at_6 = ((block_4 * 10u + safe_head_4) * 64u + safe_pos_4 % 64u) * 16u + lane_of_pos;
            let key_of_layer_4 = layer * kv_layer + key_at_6;
            let k8_6 = kv[key_of_layer_4 + 0u];
            let v8_6 = kv[key_of_layer_4 + 5120u];
            next_at_1 = key_of_layer_4;
            next_k_1 = k8_6;
            next_v_1 = v8_6;
          }
          let is_seen_3 = p_1 < end_pos;
          let k_low_6 = unpack2x16float(k8_5.x);
          let k_high_6 = unpack2x16float(k8_5.y);
          var k4_18: vec4<f32> = vec4<f32>(k_low_6, k_high_6);
          let v_low_6 = unpack2x16float(v8_5.x);
          let v_high_6 = unpack2x16float(v8_5.y);
          var v4_18: vec4<f32> = vec4<f32>(v_low_6, v_high_6);
          let k_low_7 = unpack2x16float(k8_5.z);
          let k_high_7 = unpack2x16float(k8_5.w);
          var k4_19: vec4<f32> = vec4<f32>(k_low_7, k_high_7);
          let v_low_7 = unpack2x16float(v8_5.z);
          let v_high_7 = unpack2x16float(v8_5.w);
          var v4_19: vec4<f32> = vec4<f32>(v_low_7, v_high_7);
          if ((p_1 == pos) && is_seen_3) {
            let from_dim_22 = (lane_of_pos + 0u) * 8u + 512u;
            let d0_22 = turned[from_dim_22];
            let d1_22 = turned[from_dim_22 + 1u];
            let d2_22 = turned[from_dim_22 + 2u];
            let d3_22 = turned[from_dim_22 + 3u];
            let d4_22 = vec4<f32>(d0_22, d1_22, d2_22, d3_22);
            let from_dim_23 = (lane_of_pos + 0u) * 8u + 516u;
            let d0_23 = turned[from_dim_23];
            let d1_23 = turned[from_dim_23 + 1u];
            let d2_23 = turned[from_dim_23 + 2u];
            let d3_23 = turned[from_dim_23 + 3u];
            let d4_23 = vec4<f32>(d0_23, d1_23, d2_23, d3_23);
            let from_dim_24 = (lane_of_pos + 0u) * 8u + 640u;
            let d0_24 = turned[from_dim_24];
            let d1_24 = turned[from_dim_24 + 1u];
            let d2_24 = turned[from_dim_24 + 2u];
            let d3_24 = turned[from_dim_24 + 3u];
            let d4_24 = vec4<f32>(d0_24, d1_24, d2_24, d3_24);
            let from_dim_25 = (lane_of_pos + 0u) * 8u + 644u;
            let d0_25 = turned[from_dim_25];
            let d1_25 = turned[from_dim_25 + 1u];
            let d2_25 = turned[from_dim_25 + 2u];
            let d3_25 = turned[from_dim_25 + 3u];
            let d4_25 = vec4<f32>(d0_25, d1_25, d2_25, d3_25);
            k4_18 = d4_22;
            v4_18 = d4_24;
            k4_19 = d4_23;
            v4_19 = d4_25;
            let half2_24 = pack2x16float(vec2<f32>(d4_22.x, d4_22.y));
            let half2_25 = pack2x16float(vec2<f32>(d4_22.z, d4_22.w));
            let half2_26 = pack2x16float(vec2<f32>(d4_23.x, d4_23.y));
            let half2_27 = pack2x16float(vec2<f32>(d4_23.z, d4_23.w));
            kv[key_at_5 + 0u] = vec4<u32>(half2_24, half2_25, half2_26, half2_27);
            let half2_28 = pack2x16float(vec2<f32>(d4_24.x, d4_24.y));
            let half2_29 = pack2x16float(vec2<f32>(d4_24.z, d4_24.w));
            let half2_30 = pack2x16float(vec2<f32>(d4_25.x, d4_25.y));
            let half2_31 = pack2x16float(vec2<f32>(d4_25.z, d4_25.w));
            kv[key_at_5 + 5120u] = vec4<u32>(half2_28, half2_29, half2_30, half2_31);
          }
          var score_6: f32 = 0f;
          let k4_20 = k4_18;
          score_6 += dot(d4_10, k4_20);
          let k4_21 = k4_19;
          score_6 += dot(d4_11, k4_21);
          let my_part_6 = score_6;
          let sg_73 = subgroupShuffleXor(my_part_6, 8u);
          let sum_59 = my_part_6 + sg_73;
          let sg_74 = subgroupShuffleXor(sum_59, 4u);
          let sum_60 = sum_59 + sg_74;
          let sg_75 = subgroupShuffleXor(sum_60, 2u);
          let sum_61 = sum_60 + sg_75;
          let sg_76 = subgroupShuffleXor(sum_61, 1u);
          let sum_62 = sum_61 + sg_76;
          let seen_6 = select(-3e+38f, sum_62, is_seen_3);
          let most_6 = max(greatest, seen_6);
          let shrink_6 = exp(greatest - most_6);
          let weight_5 = select(0f, exp(seen_6 - most_6), is_seen_3);
          total = total * shrink_6 + weight_5;
          let v4_20 = select(vec4<f32>(0f), v4_18, is_seen_3);
          acc_1 = acc_1 * shrink_6 + v4_20 * weight_5;
          let v4_21 = select(vec4<f32>(0f), v4_19, is_seen_3);
          acc_2 = acc_2 * shrink_6 + v4_21 * weight_5;
          greatest = most_6;
          var score_7: f32 = 0f;
          let k4_22 = k4_18;
          score_7 += dot(d4_12, k4_22);
          let k4_23 = k4_19;
          score_7 += dot(d4_13, k4_23);
          let my_part_7 = score_7;
          let sg_77 = subgroupShuffleXor(my_part_7, 8u);
          let sum_63 = my_part_7 + sg_77;
          let sg_78 = subgroupShuffleXor(sum_63, 4u);
          let sum_64 = sum_63 + sg_78;
          let sg_79 = subgroupShuffleXor(sum_64, 2u);
          let sum_65 = sum_64 + sg_79;
          let sg_80 = subgroupShuffleXor(sum_65, 1u);
          let sum_66 = sum_65 + sg_80;
          let seen_7 = select(-3e+38f, sum_66, is_seen_3);
          let most_7 = max(greatest_1, seen_7);
          let shrink_7 = exp(greatest_1 - most_7);
          let weight_6 = select(0f, exp(seen_7 - most_7), is_seen_3);
          total_1 = total_1 * shrink_7 + weight_6;
          let v4_22 = select(vec4<f32>(0f), v4_18, is_seen_3);
          acc_3 = acc_3 * shrink_7 + v4_22 * weight_6;
          let v4_23 = select(vec4<f32>(0f), v4_19, is_seen_3);
          acc_4 = acc_4 * shrink_7 + v4_23 * weight_6;
          greatest_1 = most_7;
          var score_8: f32 = 0f;
          let k4_24 = k4_18;
          score_8 += dot(d4_14, k4_24);
          let k4_25 = k4_19;
          score_8 += dot(d4_15, k4_25);
          let my_part_8 = score_8;
          let sg_81 = subgroupShuffleXor(my_part_8, 8u);
          let sum_67 = my_part_8 + sg_81;
          let sg_82 = subgroupShuffleXor(sum_67, 4u);
          let sum_68 = sum_67 + sg_82;
          let sg_83 = subgroupShuffleXor(sum_68, 2u);
          let sum_69 = sum_68 + sg_83;
          let sg_84 = subgroupShuffleXor(sum_69, 1u);
          let sum_70 = sum_69 + sg_84;
          let seen_8 = select(-3e+38f, sum_70, is_seen_3);
          let most_8 = max(greatest_2, seen_8);
          let shrink_8 = exp(greatest_2 - most_8);
          let weight_7 = select(0f, exp(seen_8 - most_8), is_seen_3);
          total_2 = total_2 * shrink_8 + weight_7;
          let v4_24 = select(vec4<f32>(0f), v4_18, is_seen_3);
          acc_5 = acc_5 * shrink_8 + v4_24 * weight_7;
          let v4_25 = select(vec4<f32>(0f), v4_19, is_seen_3);
          acc_6 = acc_6 * shrink_8 + v4_25 * weight_7;
          greatest_2 = most_8;
          var score_9: f32 = 0f;
          let k4_26 = k4_18;
          score_9 += dot(d4_16, k4_26);
          let k4_27 = k4_19;
          score_9 += dot(d4_17, k4_27);
          let my_part_9 = score_9;
          let sg_85 = subgroupShuffleXor(my_part_9, 8u);
          let sum_71 = my_part_9 + sg_85;
          let sg_86 = subgroupShuffleXor(sum_71, 4u);
          let sum_72 = sum_71 + sg_86;
          let sg_87 = subgroupShuffleXor(sum_72, 2u);
          let sum_73 = sum_72 + sg_87;
          let sg_88 = subgroupShuffleXor(sum_73, 1u);
          let sum_74 = sum_73 + sg_88;
          let seen_9 = select(-3e+38f, sum_74, is_seen_3);
          let most_9 = max(greatest_3, seen_9);
          let shrink_9 = exp(greatest_3 - most_9);
          let weight_8 = select(0f, exp(seen_9 - most_9), is_seen_3);
          total_3 = total_3 * shrink_9 + weight_8;
          let v4_26 = select(vec4<f32>(0f), v4_18, is_seen_3);
          acc_7 = acc_7 * shrink_9 + v4_26 * weight_8;
          let v4_27 = select(vec4<f32>(0f), v4_19, is_seen_3);
          acc_8 = acc_8 * shrink_9 + v4_27 * weight_8;
          greatest_3 = most_9;
        }
        var most_10: f32 = greatest;
        let mine_10 = most_10;
        let sg_89 = subgroupShuffleXor(mine_10, 16u);
        most_10 = max(mine_10, sg_89);
        let of_subgroup_1 = most_10;
        let shrink_10 = exp(greatest - of_subgroup_1);
        let my_total_1 = total * shrink_10;
        let sg_90 = subgroupShuffleXor(my_total_1, 16u);
        let sum_75 = my_total_1 + sg_90;
        let sums_row_1 = (tid / 32u * 4u + 0u) * 132u;
        let mine_11 = acc_1.x * shrink_10;
        let sg_91 = subgroupShuffleXor(mine_11, 16u);
        let sum_76 = mine_11 + sg_91;
        if ((tid % 32u) < 16u) {
          sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 0u)] = sum_76;
        }
        let mine_12 = acc_1.y * shrink_10;
        let sg_92 = subgroupShuffleXor(mine_12, 16u);
        let sum_77 = mine_12 + sg_92;
        if ((tid % 32u) < 16u) {
          sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 1u)] = sum_77;
        }
        let mine_13 = acc_1.z * shrink_10;
        let sg_93 = subgroupShuffleXor(mine_13, 16u);
        let sum_78 = mine_13 + sg_93;
        if ((tid % 32u) < 16u) {
          sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 2u)] = sum_78;
        }
        let mine_14 = acc_1.w * shrink_10;
        let sg_94 = subgroupShuffleXor(mine_14, 16u);
        let sum_79 = mine_14 + sg_94;
        if ((tid % 32u) < 16u) {
          sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 3u)] = sum_79;
        }
        let mine_15 = acc_2.x * shrink_10;
        let sg_95 = subgroupShuffleXor(mine_15, 16u);
        let sum_80 = mine_15 + sg_95;
        if ((tid % 32u) < 16u) {
          sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 4u)] = sum_80;
        }
        let mine_16 = acc_2.y * shrink_10;
        let sg_96 = subgroupShuffleXor(mine_16, 16u);
        let sum_81 = mine_16 + sg_96;
        if ((tid % 32u) < 16u) {
          sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 5u)] = sum_81;
        }
        let mine_17 = acc_2.z * shrink_10;
        let sg_97 = subgroupShuffleXor(mine_17, 16u);
        let sum_82 = mine_17 + sg_97;
        if ((tid % 32u) < 16u) {
          sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 6u)] = sum_82;
        }
        let mine_18 = acc_2.w * shrink_10;
        let sg_98 = subgroupShuffleXor(mine_18, 16u);
        let sum_83 = mine_18 + sg_98;
        if ((tid % 32u) < 16u) {
          sums[sums_row_1 + ((lane_of_pos + 0u) * 8u + 7u)] = sum_83;
        }
        if ((tid % 32u) == 0u) {
          sums[sums_row_1 + 128u] = of_subgroup_1;
          sums[sums_row_1 + 129u] = sum_75;
        }
        var most_11: f32 = greatest_1;
        let mine_19 = most_11;
        let sg_99 = subgroupShuffleXor(mine_19, 16u);
        most_11 = max(mine_19, sg_99);
        let of_subgroup_2 = most_11;
        let shrink_11 = exp(greatest_1 - of_subgroup_2);
        let my_total_2 = total_1 * shrink_11;
        let sg_100 = subgroupShuffleXor(my_total_2, 16u);
        let sum_84 = my_total_2 + sg_100;
        let sums_row_2 = (tid / 32u * 4u + 1u) * 132u;
        let mine_20 = acc_3.x * shrink_11;
        let sg_101 = subgroupShuffleXor(mine_20, 16u);
        let sum_85 = mine_20 + sg_101;
        if ((tid % 32u) < 16u) {
          sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 0u)] = sum_85;
        }
        let mine_21 = acc_3.y * shrink_11;
        let sg_102 = subgroupShuffleXor(mine_21, 16u);
        let sum_86 = mine_21 + sg_102;
        if ((tid % 32u) < 16u) {
          sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 1u)] = sum_86;
        }
        let mine_22 = acc_3.z * shrink_11;
        let sg_103 = subgroupShuffleXor(mine_22, 16u);
        let sum_87 = mine_22 + sg_103;
        if ((tid % 32u) < 16u) {
          sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 2u)] = sum_87;
        }
        let mine_23 = acc_3.w * shrink_11;
        let sg_104 = subgroupShuffleXor(mine_23, 16u);
        let sum_88 = mine_23 + sg_104;
        if ((tid % 32u) < 16u) {
          sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 3u)] = sum_88;
        }
        let mine_24 = acc_4.x * shrink_11;
        let sg_105 = subgroupShuffleXor(mine_24, 16u);
        let sum_89 = mine_24 + sg_105;
        if ((tid % 32u) < 16u) {
          sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 4u)] = sum_89;
        }
        let mine_25 = acc_4.y * shrink_11;
        let sg_106 = subgroupShuffleXor(mine_25, 16u);
        let sum_90 = mine_25 + sg_106;
        if ((tid % 32u) < 16u) {
          sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 5u)] = sum_90;
        }
        let mine_26 = acc_4.z * shrink_11;
        let sg_107 = subgroupShuffleXor(mine_26, 16u);
        let sum_91 = mine_26 + sg_107;
        if ((tid % 32u) < 16u) {
          sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 6u)] = sum_91;
        }
        let mine_27 = acc_4.w * shrink_11;
        let sg_108 = subgroupShuffleXor(mine_27, 16u);
        let sum_92 = mine_27 + sg_108;
        if ((tid % 32u) < 16u) {
          sums[sums_row_2 + ((lane_of_pos + 0u) * 8u + 7u)] = sum_92;
        }
        if ((tid % 32u) == 0u) {
          sums[sums_row_2 + 128u] = of_subgroup_2;
          sums[sums_row_2 + 129u] = sum_84;
        }
        var most_12: f32 = greatest_2;
        let mine_28 = most_12;
        let sg_109 = subgroupShuffleXor(mine_28, 16u);
        most_12 = max(mine_28, sg_109);
        let of_subgroup_3 = most_12;
        let shrink_12 = exp(greatest_2 - of_subgroup_3);
        let my_total_3 = total_2 * shrink_12;
        let sg_110 = subgroupShuffleXor(my_total_3, 16u);
        let sum_93 = my_total_3 + sg_110;
        let sums_row_3 = (tid / 32u * 4u + 2u) * 132u;
        let mine_29 = acc_5.x * shrink_12;
        let sg_111 = subgroupShuffleXor(mine_29, 16u);
        let sum_94 = mine_29 + sg_111;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 0u)] = sum_94;
        }
        let mine_30 = acc_5.y * shrink_12;
        let sg_112 = subgroupShuffleXor(mine_30, 16u);
        let sum_95 = mine_30 + sg_112;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 1u)] = sum_95;
        }
        let mine_31 = acc_5.z * shrink_12;
        let sg_113 = subgroupShuffleXor(mine_31, 16u);
        let sum_96 = mine_31 + sg_113;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 2u)] = sum_96;
        }
        let mine_32 = acc_5.w * shrink_12;
        let sg_114 = subgroupShuffleXor(mine_32, 16u);
        let sum_97 = mine_32 + sg_114;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 3u)] = sum_97;
        }
        let mine_33 = acc_6.x * shrink_12;
        let sg_115 = subgroupShuffleXor(mine_33, 16u);
        let sum_98 = mine_33 + sg_115;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 4u)] = sum_98;
        }
        let mine_34 = acc_6.y * shrink_12;
        let sg_116 = subgroupShuffleXor(mine_34, 16u);
        let sum_99 = mine_34 + sg_116;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 5u)] = sum_99;
        }
        let mine_35 = acc_6.z * shrink_12;
        let sg_117 = subgroupShuffleXor(mine_35, 16u);
        let sum_100 = mine_35 + sg_117;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 6u)] = sum_100;
        }
        let mine_36 = acc_6.w * shrink_12;
        let sg_118 = subgroupShuffleXor(mine_36, 16u);
        let sum_101 = mine_36 + sg_118;
        if ((tid % 32u) < 16u) {
          sums[sums_row_3 + ((lane_of_pos + 0u) * 8u + 7u)] = sum_101;
        }
        if ((tid % 32u) == 0u) {
          sums[sums_row_3 + 128u] = of_subgroup_3;
          sums[sums_row_3 + 129u] = sum_93;
        }
        var most_13: f32 = greatest_3;
        let mine_37 = most_13;
        let sg_119 = subgroupShuffleXor(mine_37, 16u);
        most_13 = max(mine_37, sg_119);
        let of_subgroup_4 = most_13;
        let shrink_13 = exp(greatest_3 - of_subgroup_4);
        let my_total_4 = total_3 * shrink_13;
        let sg_120 = subgroupShuffleXor(my_total_4, 16u);
        let sum_102 = my_total_4 + sg_120;
        let sums_row_4 = (tid / 32u * 4u + 3u) * 132u;
        let mine_38 = acc_7.x * shrink_13;
        let sg_121 = subgroupShuffleXor(mine_38, 16u);
        let sum_103 = mine_38 + sg_121;
        if ((tid % 32u) < 16u) {
          sums[sums_row_4 + ((lane_of_pos + 0u) * 8u + 0u)] = sum_103;
        }
        let mine_39 = acc_7.y * shrink_13;
        let sg_122 = subgroupShuffleXor(mine_39, 16u);
        let sum_104 = mine_39 + sg_122;
        if ((tid % 32u) < 16u) {
          sums[sums_row_4 + ((lane_of_pos + 0u) * 8u + 1u)] = sum_104;
        }
        let mine_40 = acc_7.z * shrink_13;
        let sg_123 = subgroupShuffleXor(mine_40, 16u);
        let sum_105 = mine_40 + sg_123;
        if ((tid % 32u) < 16u) {
          sums[sums_row_4 + ((lane_of_pos + 0u) * 8u + 2u)] = sum_105;
        }
        let mine_41 = acc_7.w * shrink_13;
        let sg_124 = subgroupShuffleXor(mine_41, 16u);
        let sum_106 = mine_41 + sg_124;
        if ((tid % 32u) < 16u) {
          sums[sums_row_4 + ((lane_of_pos + 0u) * 8u + 3u)] = sum_106;
        }
        let mine_42 = acc_8.x * shrink_13;
        let sg_125 = subgroupShuffleXor(mine_42, 16u);
        let sum_107 = mine_42 + sg_125;
        if ((tid % 32u) < 16u) {
          sums[sums_row_4 + ((lane_of_pos + 0u) * 8u + 4u)] = sum_107;
        }
        let mine_43 = acc_8.y * shrink_13;
        let sg_126 = subgroupShuffleXor(mine_43, 16u);
        let sum_108 = mine_43 + sg_126;
        if ((tid % 32u) < 16u) {
          sums[sums_row_4 + ((lane_of_pos + 0u) * 8u + 5u)] = sum_108;
        }
        let mine_44 = acc_8.z * shrink_13;
        let sg_127 = subgroupShuffleXor(mine_44, 16u);
        let sum_109 = mine_44 + sg_127;
        if ((tid % 32u) < 16u) {
          sums[sums_row_4 + ((lane_of_pos + 0u) * 8u + 6u)] = sum_109;
        }
        let mine_45 = acc_8.w * shrink_13;
        let sg_128 = subgroupShuffleXor(mine_45, 16u);
        let sum_110 = mine_45 + sg_128;
        if ((tid % 32u) < 16u) {
          sums[sums_row_4 + ((lane_of_pos + 0u) * 8u + 7u)] = sum_110;
        }
        if ((tid % 32u) == 0u) {
          sums[sums_row_4 + 128u] = of_subgroup_4;
          sums[sums_row_4 + 129u] = sum_102;
        }
      }
    }
    workgroupBarrier();
    for (var out_value = tid; out_value < n_heads * 128u; out_value += 512u) {
      let head_1 = out_value / 128u;
      let dim = out_value % 128u;
      var most_14: f32 = -3e+38f;
      for (var i_15 = 0u; i_15 < n_used; i_15 += 1u) {
        let sums_row_5 = (head_1 + i_15 * 4u) * 132u;
        let top = sums[sums_row_5 + 128u];
        most_14 = max(most_14, top);
      }
      var out_sum: f32 = 0f;
      var weights: f32 = 0f;
      for (var i_16 = 0u; i_16 < n_used; i_16 += 1u) {
        let sums_row_6 = (head_1 + i_16 * 4u) * 132u;
        let top_1 = sums[sums_row_6 + 128u];
        let shrink_14 = exp(top_1 - most_14);
        out_sum += sums[sums_row_6 + dim] * shrink_14;
        weights += sums[sums_row_6 + 129u] * shrink_14;
      }
      let part_at = ((first_head + head_1 + 0u) * 24u + split) * 130u;
      if (is_used) {
        let place_9 = part_at + dim + 6464u;
        let whole = out_sum;
        let value_bits_2 = bitcast<u32>(whole);
        let half_2 = select(2u, 0u, (value_bits_2 & 2139095040u) == 2139095040u);
        let rounded_2 = value_bits_2 + half_2;
        atomicStore(&words[place_9], (rounded_2 & 4294967292u) | tag);
        if (dim == 0u) {
          let place_10 = part_at + 6592u;
          let top_of_all = most_14;
          let value_bits_3 = bitcast<u32>(top_of_all);
          let half_3 = select(2u, 0u, (value_bits_3 & 2139095040u) == 2139095040u);
          let rounded_3 = value_bits_3 + half_3;
          atomicStore(&words[place_10], (rounded_3 & 4294967292u) | tag);
          let place_11 = part_at + 6593u;
          let whole_weight = weights;
          let value_bits_4 = bitcast<u32>(whole_weight);
          let half_4 = select(2u, 0u, (value_bits_4 & 2139095040u) == 2139095040u);
          let rounded_4 = value_bits_4 + half_4;
          atomicStore(&words[place_11], (rounded_4 & 4294967292u) | tag);
        }
      }
    }
    let group_4 = tid / 16u;
    let lane_of_row_4 = tid & 15u;
    let row_4 = first_row_2 + group_4;
    let safe_row_4 = min(row_4, end_row_2 - 1u);
    let start_4 = layer * 1085440u + 153600u + safe_row_4 * 40u;
    let i_17 = lane_of_row_4 + 0u;
    let w4_12 = w[start_4 + i_17];
    let i_18 = lane_of_row_4 + 16u;
    let w4_13 = w[start_4 + i_18];
    let i_19 = min(lane_of_row_4 + 32u, 39u);
    let w4_14 = w[start_4 + i_19];
    let vectors_at_1 = layer * 14600u;
    let column_10 = tid + 0u;
    let gain_10 = vectors[vectors_at_1 + 2560u + column_10];
    let column_11 = tid + 512u;
    let gain_11 = vectors[vectors_at_1 + 2560u + column_11];
    let column_12 = tid + 1024u;
    let gain_12 = vectors[vectors_at_1 + 2560u + column_12];
    let column_13 = tid + 1536u;
    let gain_13 = vectors[vectors_at_1 + 2560u + column_13];
    let column_14 = tid + 2048u;
    let gain_14 = vectors[vectors_at_1 + 2560u + column_14];
    let w_scale_7 = vectors[vectors_at_1 + 14595u];
    let first_row_5 = wg.x * 2560u / n_wg.x;
    let end_row_5 = (wg.x + 1u) * 2560u / n_wg.x;
    let has_more = splits_1 > 8u;
    let lane_of_value = tid % 8u;
    let group_of_value = tid / 8u;
    for (var from_value = first_row_5; from_value < end_row_5; from_value += 64u) {
      let is_needed_1 = (from_value + group_of_value) < end_row_5;
      let out = min(from_value + group_of_value, end_row_5 - 1u);
      let head_2 = out / 128u;
      let part = lane_of_value + 0u;
      let safe_part = min(part, splits_1 - 1u);
      let part_at_1 = (head_2 * 24u + safe_part) * 130u + 6464u;
      let place_12 = part_at_1 + out % 128u;
      let place_13 = part_at_1 + 128u;
      let place_14 = part_at_1 + 129u;
      let part_1 = lane_of_value + 8u;
      let safe_part_1 = min(part_1, splits_1 - 1u);
      let part_at_2 = (head_2 * 24u + safe_part_1) * 130u + 6464u;
      let place_15 = part_at_2 + out % 128u;
      let place_16 = part_at_2 + 128u;
      let place_17 = part_at_2 + 129u;
      let part_2 = lane_of_value + 16u;
      let safe_part_2 = min(part_2, splits_1 - 1u);
      let part_at_3 = (head_2 * 24u + safe_part_2) * 130u + 6464u;
      let place_18 = part_at_3 + out % 128u;
      let place_19 = part_at_3 + 128u;
      let place_20 = part_at_3 + 129u;
      var found_7: u32 = 0u;
      var found_8: u32 = 0u;
      var found_9: u32 = 0u;
      var found_10: u32 = tag;
      var found_11: u32 = tag;
      var found_12: u32 = tag;
      var found_13: u32 = tag;
      var found_14: u32 = tag;
      var found_15: u32 = tag;
      var waits_2: u32 = 1u;
      if (tid < 32u) {
        let end_4 = patience;
        for (var early_2 = 0u; early_2 < end_4; early_2 += 1u) {
          let now_15 = (atomicLoad(&words[place_20]));
          found_7 = now_15;
          var n_failed_4: u32 = 0u;
          if ((early_2 & 255u) == 255u) {
            let now_16 = (atomicLoad(&words[32u]));
            n_failed_4 = now_16;
          }
          let given_up_4 = n_failed_4 != 0u;
          if ((((found_7 ^ tag) & 3u) == 0u) || given_up_4) {
            break;
          }
        }
      }
      workgroupBarrier();
      if (is_needed_1) {
        let end_5 = patience;
        for (var tries_2 = 0u; tries_2 < end_5; tries_2 += 1u) {
          let now_17 = (atomicLoad(&words[place_12]));
          found_7 = now_17;
          let now_18 = (atomicLoad(&words[place_13]));
          found_8 = now_18;
          let now_19 = (atomicLoad(&words[place_14]));
          found_9 = now_19;
          if (has_more) {
            let now_20 = (atomicLoad(&words[place_15]));
            found_10 = now_20;
            let now_21 = (atomicLoad(&words[place_16]));
            found_11 = now_21;
            let now_22 = (atomicLoad(&words[place_17]));
            found_12 = now_22;
            let now_23 = (atomicLoad(&words[place_18]));
            found_13 = now_23;
            let now_24 = (atomicLoad(&words[place_19]));
            found_14 = now_24;
            let now_25 = (atomicLoad(&words[place_20]));
            found_15 = now_25;
          }
          var odd_2: u32 = 0u;
          odd_2 = odd_2 | (found_7 ^ tag);
          odd_2 = odd_2 | (found_8 ^ tag);
          odd_2 = odd_2 | (found_9 ^ tag);
          odd_2 = odd_2 | (found_10 ^ tag);
          odd_2 = odd_2 | (found_11 ^ tag);
          odd_2 = odd_2 | (found_12 ^ tag);
          odd_2 = odd_2 | (found_13 ^ tag);
          odd_2 = odd_2 | (found_14 ^ tag);
          odd_2 = odd_2 | (found_15 ^ tag);
          if ((odd_2 & 3u) == 0u) {
            waits_2 = 0u;
            break;
          }
          var n_failed_5: u32 = 0u;
          if ((tries_2 & 255u) == 255u) {
            let now_26 = (atomicLoad(&words[32u]));
            n_failed_5 = now_26;
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
      let value_8 = bitcast<f32>(found_7 & 4294967292u);
      let value_9 = bitcast<f32>(found_8 & 4294967292u);
      let value_10 = bitcast<f32>(found_9 & 4294967292u);
      let value_11 = bitcast<f32>(found_10 & 4294967292u);
      let value_12 = bitcast<f32>(found_11 & 4294967292u);
      let value_13 = bitcast<f32>(found_12 & 4294967292u);
      let value_14 = bitcast<f32>(found_13 & 4294967292u);
      let value_15 = bitcast<f32>(found_14 & 4294967292u);
      let value_16 = bitcast<f32>(found_15 & 4294967292u);
      var most_of_lane: f32 = value_9;
      if (has_more) {
        most_of_lane = max(most_of_lane, value_12);
        most_of_lane = max(most_of_lane, value_15);
      }
      let my_most = most_of_lane;
      let sg_129 = subgroupShuffleXor(my_most, 4u);
      let sum_111 = max(my_most, sg_129);
      let sg_130 = subgroupShuffleXor(sum_111, 2u);
      let sum_112 = max(sum_111, sg_130);
      let sg_131 = subgroupShuffleXor(sum_112, 1u);
      let sum_113 = max(sum_112, sg_131);
      let shrink_15 = select(0f, exp(value_9 - sum_113), part < splits_1);
      var values_of_lane: f32 = value_8 * shrink_15;
      var weights_of_lane: f32 = value_10 * shrink_15;
      if (has_more) {
        let shrink_16 = select(0f, exp(value_12 - sum_113), part_1 < splits_1);
        values_of_lane += value_11 * shrink_16;
        weights_of_lane += value_13 * shrink_16;
        let shrink_17 = select(0f, exp(value_15 - sum_113), part_2 < splits_1);
        values_of_lane += value_14 * shrink_17;
        weights_of_lane += value_16 * shrink_17;
      }
      let my_value = values_of_lane;
      let my_weight = weights_of_lane;
      let sg_132 = subgroupShuffleXor(my_value, 4u);
      let sum_114 = my_value + sg_132;
      let sg_133 = subgroupShuffleXor(sum_114, 2u);
      let sum_115 = sum_114 + sg_133;
      let sg_134 = subgroupShuffleXor(sum_115, 1u);
      let sum_116 = sum_115 + sg_134;
      let sg_135 = subgroupShuffleXor(my_weight, 4u);
      let sum_117 = my_weight + sg_135;
      let sg_136 = subgroupShuffleXor(sum_117, 2u);
      let sum_118 = sum_117 + sg_136;
      let sg_137 = subgroupShuffleXor(sum_118, 1u);
      let sum_119 = sum_118 + sg_137;
      if ((lane_of_value == 0u) && is_needed_1) {
        let result = sum_116 / sum_119;
        let place_21 = out + 68864u;
        let value_bits_5 = bitcast<u32>(result);
        let half_5 = select(2u, 0u, (value_bits_5 & 2139095040u) == 2139095040u);
        let rounded_5 = value_bits_5 + half_5;
        atomicStore(&words[place_21], (rounded_5 & 4294967292u) | tag);
      }
    }
    let column_15 = tid + 0u;
    let place_22 = column_15 + 68864u;
    let column_16 = tid + 512u;
    let place_23 = column_16 + 68864u;
    let column_17 = tid + 1024u;
    let place_24 = column_17 + 68864u;
    let column_18 = tid + 1536u;
    let place_25 = column_18 + 68864u;
    let column_19 = tid + 2048u;
    let place_26 = column_19 + 68864u;
    let last_place_1 = 71423u;
    var found_16: u32 = 0u;
    var found_17: u32 = 0u;
    var found_18: u32 = 0u;
    var found_19: u32 = 0u;
    var found_20: u32 = 0u;
    var waits_3: u32 = 1u;
    if (tid < 32u) {
      let end_6 = patience;
      for (var early_3 = 0u; early_3 < end_6; early_3 += 1u) {
        let now_27 = (atomicLoad(&words[last_place_1]));
        found_16 = now_27;
        var n_failed_6: u32 = 0u;
        if ((early_3 & 255u) == 255u) {
          let now_28 = (atomicLoad(&words[32u]));
          n_failed_6 = now_28;
        }
        let given_up_6 = n_failed_6 != 0u;
        if ((((found_16 ^ tag) & 3u) == 0u) || given_up_6) {
          break;
        }
      }
    }
    workgroupBarrier();
    let end_7 = patience;
    for (var tries_3 = 0u; tries_3 < end_7; tries_3 += 1u) {
      let now_29 = (atomicLoad(&words[place_22]));
      found_16 = now_29;
      let now_30 = (atomicLoad(&words[place_23]));
      found_17 = now_30;
      let now_31 = (atomicLoad(&words[place_24]));
      found_18 = now_31;
      let now_32 = (atomicLoad(&words[place_25]));
      found_19 = now_32;
      let now_33 = (atomicLoad(&words[place_26]));
      found_20 = now_33;
      var odd_3: u32 = 0u;
      odd_3 = odd_3 | (found_16 ^ tag);
      odd_3 = odd_3 | (found_17 ^ tag);
      odd_3 = odd_3 | (found_18 ^ tag);
      odd_3 = odd_3 | (found_19 ^ tag);
      odd_3 = odd_3 | (found_20 ^ tag);
      if ((odd_3 & 3u) == 0u) {
        waits_3 = 0u;
        break;
      }
      var n_failed_7: u32 = 0u;
      if ((tries_3 & 255u) == 255u) {
        let now_34 = (atomicLoad(&words[32u]));
        n_failed_7 = now_34;
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
    let value_17 = bitcast<f32>(found_16 & 4294967292u);
    let value_18 = bitcast<f32>(found_17 & 4294967292u);
    let value_19 = bitcast<f32>(found_18 & 4294967292u);
    let value_20 = bitcast<f32>(found_19 & 4294967292u);
    let value_21 = bitcast<f32>(found_20 & 4294967292u);
    var squares_1: f32 = 0f;
    var largest_1: f32 = 0f;
    let vg_5 = value_17 * gain_10;
    largest_1 = max(largest_1, abs(vg_5));
    squares_1 += value_17 * value_17;
    let vg_6 = value_18 * gain_11;
    largest_1 = max(largest_1, abs(vg_6));
    squares_1 += value_18 * value_18;
    let vg_7 = value_19 * gain_12;
    largest_1 = max(largest_1, abs(vg_7));
    squares_1 += value_19 * value_19;
    let vg_8 = value_20 * gain_13;
    largest_1 = max(largest_1, abs(vg_8));
    squares_1 += value_20 * value_20;
    let vg_9 = value_21 * gain_14;
    largest_1 = max(largest_1, abs(vg_9));
    squares_1 += value_21 * value_21;
    let my_squares_1 = squares_1;
    let my_largest_1 = largest_1;
    let sg_138 = subgroupShuffleXor(my_squares_1, 16u);
    let sum_120 = my_squares_1 + sg_138;
    let sg_139 = subgroupShuffleXor(sum_120, 8u);
    let sum_121 = sum_120 + sg_139;
    let sg_140 = subgroupShuffleXor(sum_121, 4u);
    let sum_122 = sum_121 + sg_140;
    let sg_141 = subgroupShuffleXor(sum_122, 2u);
    let sum_123 = sum_122 + sg_141;
    let sg_142 = subgroupShuffleXor(sum_123, 1u);
    let sum_124 = sum_123 + sg_142;
    let sg_143 = subgroupShuffleXor(my_largest_1, 16u);
    let sum_125 = max(my_largest_1, sg_143);
    let sg_144 = subgroupShuffleXor(sum_125, 8u);
    let sum_126 = max(sum_125, sg_144);
    let sg_145 = subgroupShuffleXor(sum_126, 4u);
    let sum_127 = max(sum_126, sg_145);
    let sg_146 = subgroupShuffleXor(sum_127, 2u);
    let sum_128 = max(sum_127, sg_146);
    let sg_147 = subgroupShuffleXor(sum_128, 1u);
    let sum_129 = max(sum_128, sg_147);
    if ((tid & 31u) == 0u) {
      group_stats_1[tid / 32u] = vec2<f32>(sum_124, sum_129);
    }
    workgroupBarrier();
    let of_group_1 = group_stats_1[tid & 15u];
    let sg_148 = subgroupShuffleXor(of_group_1.x, 8u);
    let sum_130 = of_group_1.x + sg_148;
    let sg_149 = subgroupShuffleXor(sum_130, 4u);
    let sum_131 = sum_130 + sg_149;
    let sg_150 = subgroupShuffleXor(sum_131, 2u);
    let sum_132 = sum_131 + sg_150;
    let sg_151 = subgroupShuffleXor(sum_132, 1u);
    let sum_133 = sum_132 + sg_151;
    let largest_of_group_1 = of_group_1.y;
    let sg_152 = subgroupShuffleXor(largest_of_group_1, 8u);
    let sum_134 = max(largest_of_group_1, sg_152);
    let sg_153 = subgroupShuffleXor(sum_134, 4u);
    let sum_135 = max(sum_134, sg_153);
    let sg_154 = subgroupShuffleXor(sum_135, 2u);
    let sum_136 = max(sum_135, sg_154);
    let sg_155 = subgroupShuffleXor(sum_136, 1u);
    let sum_137 = max(sum_136, sg_155);
    let factor_1 = 1f / sqrt(sum_133 / 2560f + 1e-05f);
    let finite_scale_1 = 127f / max(sum_137 * factor_1, 1e-05f);
    let factor_and_scale_1 = factor_1 * finite_scale_1;
    let factor_bits_1 = bitcast<u32>(factor_1);
    let x_scale_1 = select(finite_scale_1, factor_1, (factor_bits_1 - 1u) >= 2139095039u);
    var q_sum_1: i32 = 0i;
    let ones_1 = 16843009u;
    let moved_5 = vg_5 * factor_and_scale_1 + 12582912f;
    let q_5 = bitcast<i32>(bitcast<u32>(moved_5) - 1262485504u);
    let byte_5 = bitcast<u32>(q_5) & 255u;
    let sg_156 = subgroupShuffleXor(byte_5, 1u);
    let two_5 = byte_5 | (sg_156 << 8u);
    let sg_157 = subgroupShuffleXor(two_5, 2u);
    let word_5 = two_5 | (sg_157 << 16u);
    q_sum_1 += dot4I8Packed(word_5, ones_1);
    if ((tid & 3u) == 0u) {
      let unit_5 = (tid + 0u) / 16u;
      let vec_5 = ((unit_5 >> 1u) & 3u) * 40u + (unit_5 >> 3u) * 2u + (unit_5 & 1u);
      let part_of_unit_5 = tid / 4u % 4u;
      staged[vec_5][part_of_unit_5] = word_5;
    }
    let moved_6 = vg_6 * factor_and_scale_1 + 12582912f;
    let q_6 = bitcast<i32>(bitcast<u32>(moved_6) - 1262485504u);
    let byte_6 = bitcast<u32>(q_6) & 255u;
    let sg_158 = subgroupShuffleXor(byte_6, 1u);
    let two_6 = byte_6 | (sg_158 << 8u);
    let sg_159 = subgroupShuffleXor(two_6, 2u);
    let word_6 = two_6 | (sg_159 << 16u);
    q_sum_1 += dot4I8Packed(word_6, ones_1);
    if ((tid & 3u) == 0u) {
      let unit_6 = (tid + 512u) / 16u;
      let vec_6 = ((unit_6 >> 1u) & 3u) * 40u + (unit_6 >> 3u) * 2u + (unit_6 & 1u);
      let part_of_unit_6 = tid / 4u % 4u;
      staged[vec_6][part_of_unit_6] = word_6;
    }
    let moved_7 = vg_7 * factor_and_scale_1 + 12582912f;
    let q_7 = bitcast<i32>(bitcast<u32>(moved_7) - 1262485504u);
    let byte_7 = bitcast<u32>(q_7) & 255u;
    let sg_160 = subgroupShuffleXor(byte_7, 1u);
    let two_7 = byte_7 | (sg_160 << 8u);
    let sg_161 = subgroupShuffleXor(two_7, 2u);
    let word_7 = two_7 | (sg_161 << 16u);
    q_sum_1 += dot4I8Packed(word_7, ones_1);
    if ((tid & 3u) == 0u) {
      let unit_7 = (tid + 1024u) / 16u;
      let vec_7 = ((unit_7 >> 1u) & 3u) * 40u + (unit_7 >> 3u) * 2u + (unit_7 & 1u);
      let part_of_unit_7 = tid / 4u % 4u;
      staged[vec_7][part_of_unit_7] = word_7;
    }
    let moved_8 = vg_8 * factor_and_scale_1 + 12582912f;
    let q_8 = bitcast<i32>(bitcast<u32>(moved_8) - 1262485504u);
    let byte_8 = bitcast<u32>(q_8) & 255u;
    let sg_162 = subgroupShuffleXor(byte_8, 1u);
    let two_8 = byte_8 | (sg_162 << 8u);
    let sg_163 = subgroupShuffleXor(two_8, 2u);
    let word_8 = two_8 | (sg_163 << 16u);
    q_sum_1 += dot4I8Packed(word_8, ones_1);
    if ((tid & 3u) == 0u) {
      let unit_8 = (tid + 1536u) / 16u;
      let vec_8 = ((unit_8 >> 1u) & 3u) * 40u + (unit_8 >> 3u) * 2u + (unit_8 & 1u);
      let part_of_unit_8 = tid / 4u % 4u;
      staged[vec_8][part_of_unit_8] = word_8;
    }
    let moved_9 = vg_9 * factor_and_scale_1 + 12582912f;
    let q_9 = bitcast<i32>(bitcast<u32>(moved_9) - 1262485504u);
    let byte_9 = bitcast<u32>(q_9) & 255u;
    let sg_164 = subgroupShuffleXor(byte_9, 1u);
    let two_9 = byte_9 | (sg_164 << 8u);
    let sg_165 = subgroupShuffleXor(two_9, 2u);
    let word_9 = two_9 | (sg_165 << 16u);
    q_sum_1 += dot4I8Packed(word_9, ones_1);
    if ((tid & 3u) == 0u) {
      let unit_9 = (tid + 2048u) / 16u;
      let vec_9 = ((unit_9 >> 1u) & 3u) * 40u + (unit_9 >> 3u) * 2u + (unit_9 & 1u);
      let part_of_unit_9 = tid / 4u % 4u;
      staged[vec_9][part_of_unit_9] = word_9;
    }
    let my_sum_1 = q_sum_1;
    let sg_166 = subgroupShuffleXor(my_sum_1, 4u);
    let group_sum_3 = my_sum_1 + sg_166;
    let sg_167 = subgroupShuffleXor(group_sum_3, 8u);
    let group_sum_4 = group_sum_3 + sg_167;
    let sg_168 = subgroupShuffleXor(group_sum_4, 16u);
    let group_sum_5 = group_sum_4 + sg_168;
    if ((tid & 31u) == 0u) {
      group_sums_1[tid / 32u] = group_sum_5;
    }
    workgroupBarrier();
    let sum_of_group_1 = group_sums_1[tid & 15u];
    let sg_169 = subgroupShuffleXor(sum_of_group_1, 8u);
    let sum_138 = sum_of_group_1 + sg_169;
    let sg_170 = subgroupShuffleXor(sum_138, 4u);
    let sum_139 = sum_138 + sg_170;
    let sg_171 = subgroupShuffleXor(sum_139, 2u);
    let sum_140 = sum_139 + sg_171;
    let sg_172 = subgroupShuffleXor(sum_140, 1u);
    let sum_141 = sum_140 + sg_172;
    let group_5 = tid / 8u;
    let lane_of_row_5 = tid & 7u;
    let row_5 = first_row_3 + group_5;
    let safe_row_5 = min(row_5, end_row_3 - 1u);
    let start_5 = layer * 1085440u + 256000u + safe_row_5 * 40u;
    let start_6 = layer * 1085440u + 532480u + safe_row_5 * 40u;
    let i_20 = lane_of_row_5 + 0u;
    let w4_15 = w[start_5 + i_20];
    let w4_16 = w[start_6 + i_20];
    let i_21 = lane_of_row_5 + 8u;
    let w4_17 = w[start_5 + i_21];
    let w4_18 = w[start_6 + i_21];
    let i_22 = lane_of_row_5 + 16u;
    let w4_19 = w[start_5 + i_22];
    let w4_20 = w[start_6 + i_22];
    let i_23 = lane_of_row_5 + 24u;
    let w4_21 = w[start_5 + i_23];
    let w4_22 = w[start_6 + i_23];
    let i_24 = lane_of_row_5 + 32u;
    let w4_23 = w[start_5 + i_24];
    let w4_24 = w[start_6 + i_24];
    let vectors_at_2 = layer * 14600u;
    let column_20 = tid + 0u;
    let gain_15 = vectors[vectors_at_2 + 5120u + column_20];
    let column_21 = tid + 512u;
    let gain_16 = vectors[vectors_at_2 + 5120u + column_21];
    let column_22 = tid + 1024u;
    let gain_17 = vectors[vectors_at_2 + 5120u + column_22];
    let column_23 = tid + 1536u;
    let gain_18 = vectors[vectors_at_2 + 5120u + column_23];
    let column_24 = tid + 2048u;
    let gain_19 = vectors[vectors_at_2 + 5120u + column_24];
    let w_scale_8 = vectors[vectors_at_2 + 14596u];
    let w_scale_9 = vectors[vectors_at_2 + 14597u];
    var kept_w_6: vec4<u32> = w4_12;
    var kept_w_7: vec4<u32> = w4_13;
    var kept_w_8: vec4<u32> = w4_14;
    for (var first_of_groups_1 = first_row_2; first_of_groups_1 < end_row_2; first_of_groups_1 += 32u) {
      let group_6 = tid / 16u;
      let lane_of_row_6 = tid & 15u;
      let row_6 = first_of_groups_1 + group_6;
      let safe_row_6 = min(row_6, end_row_2 - 1u);
      let start_7 = layer * 1085440u + 153600u + safe_row_6 * 40u;
      let i_25 = lane_of_row_6 + 0u;
      let w4_25 = kept_w_6;
      let i_26 = lane_of_row_6 + 16u;
      let w4_26 = kept_w_7;
      let i_27 = min(lane_of_row_6 + 32u, 39u);
      let w4_27 = kept_w_8;
      var acc_9: i32 = 0i;
      let i_28 = lane_of_row_6 + 0u;
      let q4_12 = staged[0u + i_28];
      acc_9 += dot4I8Packed((w4_25.x >> 6u) & 0x03030303u, q4_12.x);
      acc_9 += dot4I8Packed((w4_25.y >> 6u) & 0x03030303u, q4_12.y);
      acc_9 += dot4I8Packed((w4_25.z >> 6u) & 0x03030303u, q4_12.z);
      acc_9 += dot4I8Packed((w4_25.w >> 6u) & 0x03030303u, q4_12.w);
      let q4_13 = staged[40u + i_28];
      acc_9 += dot4I8Packed((w4_25.x >> 4u) & 0x03030303u, q4_13.x);
      acc_9 += dot4I8Packed((w4_25.y >> 4u) & 0x03030303u, q4_13.y);
      acc_9 += dot4I8Packed((w4_25.z >> 4u) & 0x03030303u, q4_13.z);
      acc_9 += dot4I8Packed((w4_25.w >> 4u) & 0x03030303u, q4_13.w);
      let q4_14 = staged[80u + i_28];
      acc_9 += dot4I8Packed((w4_25.x >> 2u) & 0x03030303u, q4_14.x);
      acc_9 += dot4I8Packed((w4_25.y >> 2u) & 0x03030303u, q4_14.y);
      acc_9 += dot4I8Packed((w4_25.z >> 2u) & 0x03030303u, q4_14.z);
      acc_9 += dot4I8Packed((w4_25.w >> 2u) & 0x03030303u, q4_14.w);
      let q4_15 = staged[120u + i_28];
      acc_9 += dot4I8Packed(w4_25.x & 0x03030303u, q4_15.x);
      acc_9 += dot4I8Packed(w4_25.y & 0x03030303u, q4_15.y);
      acc_9 += dot4I8Packed(w4_25.z & 0x03030303u, q4_15.z);
      acc_9 += dot4I8Packed(w4_25.w & 0x03030303u, q4_15.w);
      let i_29 = lane_of_row_6 + 16u;
      let q4_16 = staged[0u + i_29];
      acc_9 += dot4I8Packed((w4_26.x >> 6u) & 0x03030303u, q4_16.x);
      acc_9 += dot4I8Packed((w4_26.y >> 6u) & 0x03030303u, q4_16.y);
      acc_9 += dot4I8Packed((w4_26.z >> 6u) & 0x03030303u, q4_16.z);
      acc_9 += dot4I8Packed((w4_26.w >> 6u) & 0x03030303u, q4_16.w);
      let q4_17 = staged[40u + i_29];
      acc_9 += dot4I8Packed((w4_26.x >> 4u) & 0x03030303u, q4_17.x);
      acc_9 += dot4I8Packed((w4_26.y >> 4u) & 0x03030303u, q4_17.y);
      acc_9 += dot4I8Packed((w4_26.z >> 4u) & 0x03030303u, q4_17.z);
      acc_9 += dot4I8Packed((w4_26.w >> 4u) & 0x03030303u, q4_17.w);
      let q4_18 = staged[80u + i_29];
      acc_9 += dot4I8Packed((w4_26.x >> 2u) & 0x03030303u, q4_18.x);
      acc_9 += dot4I8Packed((w4_26.y >> 2u) & 0x03030303u, q4_18.y);
      acc_9 += dot4I8Packed((w4_26.z >> 2u) & 0x03030303u, q4_18.z);
      acc_9 += dot4I8Packed((w4_26.w >> 2u) & 0x03030303u, q4_18.w);
      let q4_19 = staged[120u + i_29];
      acc_9 += dot4I8Packed(w4_26.x & 0x03030303u, q4_19.x);
      acc_9 += dot4I8Packed(w4_26.y & 0x03030303u, q4_19.y);
      acc_9 += dot4I8Packed(w4_26.z & 0x03030303u, q4_19.z);
      acc_9 += dot4I8Packed(w4_26.w & 0x03030303u, q4_19.w);
      let i_30 = lane_of_row_6 + 32u;
      if (i_30 < 40u) {
        let q4_20 = staged[0u + i_30];
        acc_9 += dot4I8Packed((w4_27.x >> 6u) & 0x03030303u, q4_20.x);
        acc_9 += dot4I8Packed((w4_27.y >> 6u) & 0x03030303u, q4_20.y);
        acc_9 += dot4I8Packed((w4_27.z >> 6u) & 0x03030303u, q4_20.z);
        acc_9 += dot4I8Packed((w4_27.w >> 6u) & 0x03030303u, q4_20.w);
        let q4_21 = staged[40u + i_30];
        acc_9 += dot4I8Packed((w4_27.x >> 4u) & 0x03030303u, q4_21.x);
        acc_9 += dot4I8Packed((w4_27.y >> 4u) & 0x03030303u, q4_21.y);
        acc_9 += dot4I8Packed((w4_27.z >> 4u) & 0x03030303u, q4_21.z);
        acc_9 += dot4I8Packed((w4_27.w >> 4u) & 0x03030303u, q4_21.w);
        let q4_22 = staged[80u + i_30];
        acc_9 += dot4I8Packed((w4_27.x >> 2u) & 0x03030303u, q4_22.x);
        acc_9 += dot4I8Packed((w4_27.y >> 2u) & 0x03030303u, q4_22.y);
        acc_9 += dot4I8Packed((w4_27.z >> 2u) & 0x03030303u, q4_22.z);
        acc_9 += dot4I8Packed((w4_27.w >> 2u) & 0x03030303u, q4_22.w);
        let q4_23 = staged[120u + i_30];
        acc_9 += dot4I8Packed(w4_27.x & 0x03030303u, q4_23.x);
        acc_9 += dot4I8Packed(w4_27.y & 0x03030303u, q4_23.y);
        acc_9 += dot4I8Packed(w4_27.z & 0x03030303u, q4_23.z);
        acc_9 += dot4I8Packed(w4_27.w & 0x03030303u, q4_23.w);
      }
      let mine_46 = acc_9;
      let sg_173 = subgroupShuffleXor(mine_46, 8u);
      let sum_142 = mine_46 + sg_173;
      let sg_174 = subgroupShuffleXor(sum_142, 4u);
      let sum_143 = sum_142 + sg_174;
      let sg_175 = subgroupShuffleXor(sum_143, 2u);
      let sum_144 = sum_143 + sg_175;
      let sg_176 = subgroupShuffleXor(sum_144, 1u);
      let sum_145 = sum_144 + sg_176;
      if ((lane_of_row_6 == 0u) && (row_6 < end_row_2)) {
        let value_22 = f32(sum_145 - sum_141) / x_scale_1 * w_scale_7;
        let mine_at = row_6 - first_row;
        let x_new = residual[mine_at] + value_22;
        residual[mine_at] = x_new;
        let place_27 = row_6 + 71424u;
        let value_bits_6 = bitcast<u32>(x_new);
        let half_6 = select(2u, 0u, (value_bits_6 & 2139095040u) == 2139095040u);
        let rounded_6 = value_bits_6 + half_6;
        atomicStore(&words[place_27], (rounded_6 & 4294967292u) | tag);
      }
      if ((first_of_groups_1 + 32u) < end_row_2) {
        let group_7 = tid / 16u;
        let lane_of_row_7 = tid & 15u;
        let later_row_1 = row_6 + 32u;
        let safe_row_7 = min(later_row_1, end_row_2 - 1u);
        let start_8 = layer * 1085440u + 153600u + safe_row_7 * 40u;
        let i_31 = lane_of_row_7 + 0u;
        let w4_28 = w[start_8 + i_31];
        let i_32 = lane_of_row_7 + 16u;
        let w4_29 = w[start_8 + i_32];
        let i_33 = min(lane_of_row_7 + 32u, 39u);
        let w4_30 = w[start_8 + i_33];
        kept_w_6 = w4_28;
        kept_w_7 = w4_29;
        kept_w_8 = w4_30;
      }
    }
    let column_25 = tid + 0u;
    let place_28 = column_25 + 71424u;
    let column_26 = tid + 512u;
    let place_29 = column_26 + 71424u;
    let column_27 = tid + 1024u;
    let place_30 = column_27 + 71424u;
    let column_28 = tid + 1536u;
    let place_31 = column_28 + 71424u;
    let column_29 = tid + 2048u;
    let place_32 = column_29 + 71424u;
    let last_place_2 = 73983u;
    var found_21: u32 = 0u;
    var found_22: u32 = 0u;
    var found_23: u32 = 0u;
    var found_24: u32 = 0u;
    var found_25: u32 = 0u;
    var waits_4: u32 = 1u;
    if (tid < 32u) {
      let end_8 = patience;
      for (var early_4 = 0u; early_4 < end_8; early_4 += 1u) {
        let now_35 = (atomicLoad(&words[last_place_2]));
        found_21 = now_35;
        var n_failed_8: u32 = 0u;
        if ((early_4 & 255u) == 255u) {
          let now_36 = (atomicLoad(&words[32u]));
          n_failed_8 = now_36;
        }
        let given_up_8 = n_failed_8 != 0u;
        if ((((found_21 ^ tag) & 3u) == 0u) || given_up_8) {
          break;
        }
      }
    }
    workgroupBarrier();
    let end_9 = patience;
    for (var tries_4 = 0u; tries_4 < end_9; tries_4 += 1u) {
      let now_37 = (atomicLoad(&words[place_28]));
      found_21 = now_37;
      let now_38 = (atomicLoad(&words[place_29]));
      found_22 = now_38;
      let now_39 = (atomicLoad(&words[place_30]));
      found_23 = now_39;
      let now_40 = (atomicLoad(&words[place_31]));
      found_24 = now_40;
      let now_41 = (atomicLoad(&words[place_32]));
      found_25 = now_41;
      var odd_4: u32 = 0u;
      odd_4 = odd_4 | (found_21 ^ tag);
      odd_4 = odd_4 | (found_22 ^ tag);
      odd_4 = odd_4 | (found_23 ^ tag);
      odd_4 = odd_4 | (found_24 ^ tag);
      odd_4 = odd_4 | (found_25 ^ tag);
      if ((odd_4 & 3u) == 0u) {
        waits_4 = 0u;
        break;
      }
      var n_failed_9: u32 = 0u;
      if ((tries_4 & 255u) == 255u) {
        let now_42 = (atomicLoad(&words[32u]));
        n_failed_9 = now_42;
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
    let value_23 = bitcast<f32>(found_21 & 4294967292u);
    let value_24 = bitcast<f32>(found_22 & 4294967292u);
    let value_25 = bitcast<f32>(found_23 & 4294967292u);
    let value_26 = bitcast<f32>(found_24 & 4294967292u);
    let value_27 = bitcast<f32>(found_25 & 4294967292u);
    var squares_2: f32 = 0f;
    var largest_2: f32 = 0f;
    let vg_10 = value_23 * gain_15;
    largest_2 = max(largest_2, abs(vg_10));
    squares_2 += value_23 * value_23;
    let vg_11 = value_24 * gain_16;
    largest_2 = max(largest_2, abs(vg_11));
    squares_2 += value_24 * value_24;
    let vg_12 = value_25 * gain_17;
    largest_2 = max(largest_2, abs(vg_12));
    squares_2 += value_25 * value_25;
    let vg_13 = value_26 * gain_18;
    largest_2 = max(largest_2, abs(vg_13));
    squares_2 += value_26 * value_26;
    let vg_14 = value_27 * gain_19;
    largest_2 = max(largest_2, abs(vg_14));
    squares_2 += value_27 * value_27;
    let my_squares_2 = squares_2;
    let my_largest_2 = largest_2;
    let sg_177 = subgroupShuffleXor(my_squares_2, 16u);
    let sum_146 = my_squares_2 + sg_177;
    let sg_178 = subgroupShuffleXor(sum_146, 8u);
    let sum_147 = sum_146 + sg_178;
    let sg_179 = subgroupShuffleXor(sum_147, 4u);
    let sum_148 = sum_147 + sg_179;
    let sg_180 = subgroupShuffleXor(sum_148, 2u);
    let sum_149 = sum_148 + sg_180;
    let sg_181 = subgroupShuffleXor(sum_149, 1u);
    let sum_150 = sum_149 + sg_181;
    let sg_182 = subgroupShuffleXor(my_largest_2, 16u);
    let sum_151 = max(my_largest_2, sg_182);
    let sg_183 = subgroupShuffleXor(sum_151, 8u);
    let sum_152 = max(sum_151, sg_183);
    let sg_184 = subgroupShuffleXor(sum_152, 4u);
    let sum_153 = max(sum_152, sg_184);
    let sg_185 = subgroupShuffleXor(sum_153, 2u);
    let sum_154 = max(sum_153, sg_185);
    let sg_186 = subgroupShuffleXor(sum_154, 1u);
    let sum_155 = max(sum_154, sg_186);
    if ((tid & 31u) == 0u) {
      group_stats_2[tid / 32u] = vec2<f32>(sum_150, sum_155);
    }
    workgroupBarrier();
    let of_group_2 = group_stats_2[tid & 15u];
    let sg_187 = subgroupShuffleXor(of_group_2.x, 8u);
    let sum_156 = of_group_2.x + sg_187;
    let sg_188 = subgroupShuffleXor(sum_156, 4u);
    let sum_157 = sum_156 + sg_188;
    let sg_189 = subgroupShuffleXor(sum_157, 2u);
    let sum_158 = sum_157 + sg_189;
    let sg_190 = subgroupShuffleXor(sum_158, 1u);
    let sum_159 = sum_158 + sg_190;
    let largest_of_group_2 = of_group_2.y;
    let sg_191 = subgroupShuffleXor(largest_of_group_2, 8u);
    let sum_160 = max(largest_of_group_2, sg_191);
    let sg_192 = subgroupShuffleXor(sum_160, 4u);
    let sum_161 = max(sum_160, sg_192);
    let sg_193 = subgroupShuffleXor(sum_161, 2u);
    let sum_162 = max(sum_161, sg_193);
    let sg_194 = subgroupShuffleXor(sum_162, 1u);
    let sum_163 = max(sum_162, sg_194);
    let factor_2 = 1f / sqrt(sum_159 / 2560f + 1e-05f);
    let finite_scale_2 = 127f / max(sum_163 * factor_2, 1e-05f);
    let factor_and_scale_2 = factor_2 * finite_scale_2;
    let factor_bits_2 = bitcast<u32>(factor_2);
    let x_scale_2 = select(finite_scale_2, factor_2, (factor_bits_2 - 1u) >= 2139095039u);
    var q_sum_2: i32 = 0i;
    let ones_2 = 16843009u;
    let moved_10 = vg_10 * factor_and_scale_2 + 12582912f;
    let q_10 = bitcast<i32>(bitcast<u32>(moved_10) - 1262485504u);
    let byte_10 = bitcast<u32>(q_10) & 255u;
    let sg_195 = subgroupShuffleXor(byte_10, 1u);
    let two_10 = byte_10 | (sg_195 << 8u);
    let sg_196 = subgroupShuffleXor(two_10, 2u);
    let word_10 = two_10 | (sg_196 << 16u);
    q_sum_2 += dot4I8Packed(word_10, ones_2);
    if ((tid & 3u) == 0u) {
      let unit_10 = (tid + 0u) / 16u;
      let vec_10 = ((unit_10 >> 1u) & 3u) * 40u + (unit_10 >> 3u) * 2u + (unit_10 & 1u);
      let part_of_unit_10 = tid / 4u % 4u;
      staged[vec_10][part_of_unit_10] = word_10;
    }
    let moved_11 = vg_11 * factor_and_scale_2 + 12582912f;
    let q_11 = bitcast<i32>(bitcast<u32>(moved_11) - 1262485504u);
    let byte_11 = bitcast<u32>(q_11) & 255u;
    let sg_197 = subgroupShuffleXor(byte_11, 1u);
    let two_11 = byte_11 | (sg_197 << 8u);
    let sg_198 = subgroupShuffleXor(two_11, 2u);
    let word_11 = two_11 | (sg_198 << 16u);
    q_sum_2 += dot4I8Packed(word_11, ones_2);
    if ((tid & 3u) == 0u) {
      let unit_11 = (tid + 512u) / 16u;
      let vec_11 = ((unit_11 >> 1u) & 3u) * 40u + (unit_11 >> 3u) * 2u + (unit_11 & 1u);
      let part_of_unit_11 = tid / 4u % 4u;
      staged[vec_11][part_of_unit_11] = word_11;
    }
    let moved_12 = vg_12 * factor_and_scale_2 + 12582912f;
    let q_12 = bitcast<i32>(bitcast<u32>(moved_12) - 1262485504u);
    let byte_12 = bitcast<u32>(q_12) & 255u;
    let sg_199 = subgroupShuffleXor(byte_12, 1u);
    let two_12 = byte_12 | (sg_199 << 8u);
    let sg_200 = subgroupShuffleXor(two_12, 2u);
    let word_12 = two_12 | (sg_200 << 16u);
    q_sum_2 += dot4I8Packed(word_12, ones_2);
    if ((tid & 3u) == 0u) {
      let unit_12 = (tid + 1024u) / 16u;
      let vec_12 = ((unit_12 >> 1u) & 3u) * 40u + (unit_12 >> 3u) * 2u + (unit_12 & 1u);
      let part_of_unit_12 = tid / 4u % 4u;
      staged[vec_12][part_of_unit_12] = word_12;
    }
    let moved_13 = vg_13 * factor_and_scale_2 + 12582912f;
    let q_13 = bitcast<i32>(bitcast<u32>(moved_13) - 1262485504u);
    let byte_13 = bitcast<u32>(q_13) & 255u;
    let sg_201 = subgroupShuffleXor(byte_13, 1u);
    let two_13 = byte_13 | (sg_201 << 8u);
    let sg_202 = subgroupShuffleXor(two_13, 2u);
    let word_13 = two_13 | (sg_202 << 16u);
    q_sum_2 += dot4I8Packed(word_13, ones_2);
    if ((tid & 3u) == 0u) {
      let unit_13 = (tid + 1536u) / 16u;
      let vec_13 = ((unit_13 >> 1u) & 3u) * 40u + (unit_13 >> 3u) * 2u + (unit_13 & 1u);
      let part_of_unit_13 = tid / 4u % 4u;
      staged[vec_13][part_of_unit_13] = word_13;
    }
    let moved_14 = vg_14 * factor_and_scale_2 + 12582912f;
    let q_14 = bitcast<i32>(bitcast<u32>(moved_14) - 1262485504u);
    let byte_14 = bitcast<u32>(q_14) & 255u;
    let sg_203 = subgroupShuffleXor(byte_14, 1u);
    let two_14 = byte_14 | (sg_203 << 8u);
    let sg_204 = subgroupShuffleXor(two_14, 2u);
    let word_14 = two_14 | (sg_204 << 16u);
    q_sum_2 += dot4I8Packed(word_14, ones_2);
    if ((tid & 3u) == 0u) {
      let unit_14 = (tid + 2048u) / 16u;
      let vec_14 = ((unit_14 >> 1u) & 3u) * 40u + (unit_14 >> 3u) * 2u + (unit_14 & 1u);
      let part_of_unit_14 = tid / 4u % 4u;
      staged[vec_14][part_of_unit_14] = word_14;
    }
    let my_sum_2 = q_sum_2;
    let sg_205 = subgroupShuffleXor(my_sum_2, 4u);
    let group_sum_6 = my_sum_2 + sg_205;
    let sg_206 = subgroupShuffleXor(group_sum_6, 8u);
    let group_sum_7 = group_sum_6 + sg_206;
    let sg_207 = subgroupShuffleXor(group_sum_7, 16u);
    let group_sum_8 = group_sum_7 + sg_207;
    if ((tid & 31u) == 0u) {
      group_sums_2[tid / 32u] = group_sum_8;
    }
    workgroupBarrier();
    let sum_of_group_2 = group_sums_2[tid & 15u];
    let sg_208 = subgroupShuffleXor(sum_of_group_2, 8u);
    let sum_164 = sum_of_group_2 + sg_208;
    let sg_209 = subgroupShuffleXor(sum_164, 4u);
    let sum_165 = sum_164 + sg_209;
    let sg_210 = subgroupShuffleXor(sum_165, 2u);
    let sum_166 = sum_165 + sg_210;
    let sg_211 = subgroupShuffleXor(sum_166, 1u);
    let sum_167 = sum_166 + sg_211;
    let group_8 = tid / 16u;
    let lane_of_row_8 = tid & 15u;
    let row_7 = first_row_4 + group_8;
    let safe_row_8 = min(row_7, end_row_4 - 1u);
    let start_9 = layer * 1085440u + 808960u + safe_row_8 * 108u;
    let i_34 = lane_of_row_8 + 0u;
    let w4_31 = w[start_9 + i_34];
    let i_35 = lane_of_row_8 + 16u;
    let w4_32 = w[start_9 + i_35];
    let i_36 = lane_of_row_8 + 32u;
    let w4_33 = w[start_9 + i_36];
    let i_37 = lane_of_row_8 + 48u;
    let w4_34 = w[start_9 + i_37];
    let i_38 = lane_of_row_8 + 64u;
    let w4_35 = w[start_9 + i_38];
    let i_39 = lane_of_row_8 + 80u;
    let w4_36 = w[start_9 + i_39];
    let i_40 = min(lane_of_row_8 + 96u, 107u);
    let w4_37 = w[start_9 + i_40];
    let vectors_at_3 = layer * 14600u;
    let column_30 = tid + 0u;
    let gain_20 = vectors[vectors_at_3 + 7680u + column_30];
    let column_31 = tid + 512u;
    let gain_21 = vectors[vectors_at_3 + 7680u + column_31];
    let column_32 = tid + 1024u;
    let gain_22 = vectors[vectors_at_3 + 7680u + column_32];
    let column_33 = tid + 1536u;
    let gain_23 = vectors[vectors_at_3 + 7680u + column_33];
    let column_34 = tid + 2048u;
    let gain_24 = vectors[vectors_at_3 + 7680u + column_34];
    let column_35 = tid + 2560u;
    let gain_25 = vectors[vectors_at_3 + 7680u + column_35];
    let column_36 = tid + 3072u;
    let gain_26 = vectors[vectors_at_3 + 7680u + column_36];
    let column_37 = tid + 3584u;
    let gain_27 = vectors[vectors_at_3 + 7680u + column_37];
    let column_38 = tid + 4096u;
    let gain_28 = vectors[vectors_at_3 + 7680u + column_38];
    let column_39 = tid + 4608u;
    let gain_29 = vectors[vectors_at_3 + 7680u + column_39];
    let column_40 = tid + 5120u;
    let gain_30 = vectors[vectors_at_3 + 7680u + column_40];
    let column_41 = tid + 5632u;
    let gain_31 = vectors[vectors_at_3 + 7680u + column_41];
    let column_42 = tid + 6144u;
    let gain_32 = vectors[vectors_at_3 + 7680u + column_42];
    let column_43 = min(tid + 6656u, 6911u);
    let gain_33 = vectors[vectors_at_3 + 7680u + column_43];
    let w_scale_10 = vectors[vectors_at_3 + 14598u];
    var kept_w_9: vec4<u32> = w4_15;
    var kept_w_10: vec4<u32> = w4_16;
    var kept_w_11: vec4<u32> = w4_17;
    var kept_w_12: vec4<u32> = w4_18;
    var kept_w_13: vec4<u32> = w4_19;
    var kept_w_14: vec4<u32> = w4_20;
    var kept_w_15: vec4<u32> = w4_21;
    var kept_w_16: vec4<u32> = w4_22;
    var kept_w_17: vec4<u32> = w4_23;
    var kept_w_18: vec4<u32> = w4_24;
    for (var first_of_groups_2 = first_row_3; first_of_groups_2 < end_row_3; first_of_groups_2 += 64u) {
      let group_9 = tid / 8u;
      let lane_of_row_9 = tid & 7u;
      let row_8 = first_of_groups_2 + group_9;
      let safe_row_9 = min(row_8, end_row_3 - 1u);
      let start_10 = layer * 1085440u + 256000u + safe_row_9 * 40u;
      let start_11 = layer * 1085440u + 532480u + safe_row_9 * 40u;
      let i_41 = lane_of_row_9 + 0u;
      let w4_38 = kept_w_9;
      let w4_39 = kept_w_10;
      let i_42 = lane_of_row_9 + 8u;
      let w4_40 = kept_w_11;
      let w4_41 = kept_w_12;
      let i_43 = lane_of_row_9 + 16u;
      let w4_42 = kept_w_13;
      let w4_43 = kept_w_14;
      let i_44 = lane_of_row_9 + 24u;
      let w4_44 = kept_w_15;
      let w4_45 = kept_w_16;
      let i_45 = lane_of_row_9 + 32u;
      let w4_46 = kept_w_17;
      let w4_47 = kept_w_18;
      var acc_10: i32 = 0i;
      var acc_11: i32 = 0i;
      let i_46 = lane_of_row_9 + 0u;
      let q4_24 = staged[0u + i_46];
      acc_10 += dot4I8Packed((w4_38.x >> 6u) & 0x03030303u, q4_24.x);
      acc_11 += dot4I8Packed((w4_39.x >> 6u) & 0x03030303u, q4_24.x);
      acc_10 += dot4I8Packed((w4_38.y >> 6u) & 0x03030303u, q4_24.y);
      acc_11 += dot4I8Packed((w4_39.y >> 6u) & 0x03030303u, q4_24.y);
      acc_10 += dot4I8Packed((w4_38.z >> 6u) & 0x03030303u, q4_24.z);
      acc_11 += dot4I8Packed((w4_39.z >> 6u) & 0x03030303u, q4_24.z);
      acc_10 += dot4I8Packed((w4_38.w >> 6u) & 0x03030303u, q4_24.w);
      acc_11 += dot4I8Packed((w4_39.w >> 6u) & 0x03030303u, q4_24.w);
      let q4_25 = staged[40u + i_46];
      acc_10 += dot4I8Packed((w4_38.x >> 4u) & 0x03030303u, q4_25.x);
      acc_11 += dot4I8Packed((w4_39.x >> 4u) & 0x03030303u, q4_25.x);
      acc_10 += dot4I8Packed((w4_38.y >> 4u) & 0x03030303u, q4_25.y);
      acc_11 += dot4I8Packed((w4_39.y >> 4u) & 0x03030303u, q4_25.y);
      acc_10 += dot4I8Packed((w4_38.z >> 4u) & 0x03030303u, q4_25.z);
      acc_11 += dot4I8Packed((w4_39.z >> 4u) & 0x03030303u, q4_25.z);
      acc_10 += dot4I8Packed((w4_38.w >> 4u) & 0x03030303u, q4_25.w);
      acc_11 += dot4I8Packed((w4_39.w >> 4u) & 0x03030303u, q4_25.w);
      let q4_26 = staged[80u + i_46];
      acc_10 += dot4I8Packed((w4_38.x >> 2u) & 0x03030303u, q4_26.x);
      acc_11 += dot4I8Packed((w4_39.x >> 2u) & 0x03030303u, q4_26.x);
      acc_10 += dot4I8Packed((w4_38.y >> 2u) & 0x03030303u, q4_26.y);
      acc_11 += dot4I8Packed((w4_39.y >> 2u) & 0x03030303u, q4_26.y);
      acc_10 += dot4I8Packed((w4_38.z >> 2u) & 0x03030303u, q4_26.z);
      acc_11 += dot4I8Packed((w4_39.z >> 2u) & 0x03030303u, q4_26.z);
      acc_10 += dot4I8Packed((w4_38.w >> 2u) & 0x03030303u, q4_26.w);
      acc_11 += dot4I8Packed((w4_39.w >> 2u) & 0x03030303u, q4_26.w);
      let q4_27 = staged[120u + i_46];
      acc_10 += dot4I8Packed(w4_38.x & 0x03030303u, q4_27.x);
      acc_11 += dot4I8Packed(w4_39.x & 0x03030303u, q4_27.x);
      acc_10 += dot4I8Packed(w4_38.y & 0x03030303u, q4_27.y);
      acc_11 += dot4I8Packed(w4_39.y & 0x03030303u, q4_27.y);
      acc_10 += dot4I8Packed(w4_38.z & 0x03030303u, q4_27.z);
      acc_11 += dot4I8Packed(w4_39.z & 0x03030303u, q4_27.z);
      acc_10 += dot4I8Packed(w4_38.w & 0x03030303u, q4_27.w);
      acc_11 += dot4I8Packed(w4_39.w & 0x03030303u, q4_27.w);
      let i_47 = lane_of_row_9 + 8u;
      let q4_28 = staged[0u + i_47];
      acc_10 += dot4I8Packed((w4_40.x >> 6u) & 0x03030303u, q4_28.x);
      acc_11 += dot4I8Packed((w4_41.x >> 6u) & 0x03030303u, q4_28.x);
      acc_10 += dot4I8Packed((w4_40.y >> 6u) & 0x03030303u, q4_28.y);
      acc_11 += dot4I8Packed((w4_41.y >> 6u) & 0x03030303u, q4_28.y);
      acc_10 += dot4I8Packed((w4_40.z >> 6u) & 0x03030303u, q4_28.z);
      acc_11 += dot4I8Packed((w4_41.z >> 6u) & 0x03030303u, q4_28.z);
      acc_10 += dot4I8Packed((w4_40.w >> 6u) & 0x03030303u, q4_28.w);
      acc_11 += dot4I8Packed((w4_41.w >> 6u) & 0x03030303u, q4_28.w);
      let q4_29 = staged[40u + i_47];
      acc_10 += dot4I8Packed((w4_40.x >> 4u) & 0x03030303u, q4_29.x);
      acc_11 += dot4I8Packed((w4_41.x >> 4u) & 0x03030303u, q4_29.x);
      acc_10 += dot4I8Packed((w4_40.y >> 4u) & 0x03030303u, q4_29.y);
      acc_11 += dot4I8Packed((w4_41.y >> 4u) & 0x03030303u, q4_29.y);
      acc_10 += dot4I8Packed((w4_40.z >> 4u) & 0x03030303u, q4_29.z);
      acc_11 += dot4I8Packed((w4_41.z >> 4u) & 0x03030303u, q4_29.z);
      acc_10 += dot4I8Packed((w4_40.w >> 4u) & 0x03030303u, q4_29.w);
      acc_11 += dot4I8Packed((w4_41.w >> 4u) & 0x03030303u, q4_29.w);
      let q4_30 = staged[80u + i_47];
      acc_10 += dot4I8Packed((w4_40.x >> 2u) & 0x03030303u, q4_30.x);
      acc_11 += dot4I8Packed((w4_41.x >> 2u) & 0x03030303u, q4_30.x);
      acc_10 += dot4I8Packed((w4_40.y >> 2u) & 0x03030303u, q4_30.y);
      acc_11 += dot4I8Packed((w4_41.y >> 2u) & 0x03030303u, q4_30.y);
      acc_10 += dot4I8Packed((w4_40.z >> 2u) & 0x03030303u, q4_30.z);
      acc_11 += dot4I8Packed((w4_41.z >> 2u) & 0x03030303u, q4_30.z);
      acc_10 += dot4I8Packed((w4_40.w >> 2u) & 0x03030303u, q4_30.w);
      acc_11 += dot4I8Packed((w4_41.w >> 2u) & 0x03030303u, q4_30.w);
      let q4_31 = staged[120u + i_47];
      acc_10 += dot4I8Packed(w4_40.x & 0x03030303u, q4_31.x);
      acc_11 += dot4I8Packed(w4_41.x & 0x03030303u, q4_31.x);
      acc_10 += dot4I8Packed(w4_40.y & 0x03030303u, q4_31.y);
      acc_11 += dot4I8Packed(w4_41.y & 0x03030303u, q4_31.y);
      acc_10 += dot4I8Packed(w4_40.z & 0x03030303u, q4_31.z);
      acc_11 += dot4I8Packed(w4_41.z & 0x03030303u, q4_31.z);
      acc_10 += dot4I8Packed(w4_40.w & 0x03030303u, q4_31.w);
      acc_11 += dot4I8Packed(w4_41.w & 0x03030303u, q4_31.w);
      let i_48 = lane_of_row_9 + 16u;
      let q4_32 = staged[0u + i_48];
      acc_10 += dot4I8Packed((w4_42.x >> 6u) & 0x03030303u, q4_32.x);
      acc_11 += dot4I8Packed((w4_43.x >> 6u) & 0x03030303u, q4_32.x);
      acc_10 += dot4I8Packed((w4_42.y >> 6u) & 0x03030303u, q4_32.y);
      acc_11 += dot4I8Packed((w4_43.y >> 6u) & 0x03030303u, q4_32.y);
      acc_10 += dot4I8Packed((w4_42.z >> 6u) & 0x03030303u, q4_32.z);
      acc_11 += dot4I8Packed((w4_43.z >> 6u) & 0x03030303u, q4_32.z);
      acc_10 += dot4I8Packed((w4_42.w >> 6u) & 0x03030303u, q4_32.w);
      acc_11 += dot4I8Packed((w4_43.w >> 6u) & 0x03030303u, q4_32.w);
      let q4_33 = staged[40u + i_48];
      acc_10 += dot4I8Packed((w4_42.x >> 4u) & 0x03030303u, q4_33.x);
      acc_11 += dot4I8Packed((w4_43.x >> 4u) & 0x03030303u, q4_33.x);
      acc_10 += dot4I8Packed((w4_42.y >> 4u) & 0x03030303u, q4_33.y);
      acc_11 += dot4I8Packed((w4_43.y >> 4u) & 0x03030303u, q4_33.y);
      acc_10 += dot4I8Packed((w4_42.z >> 4u) & 0x03030303u, q4_33.z);
      acc_11 += dot4I8Packed((w4_43.z >> 4u) & 0x03030303u, q4_33.z);
      acc_10 += dot4I8Packed((w4_42.w >> 4u) & 0x03030303u, q4_33.w);
      acc_11 += dot4I8Packed((w4_43.w >> 4u) & 0x03030303u, q4_33.w);
      let q4_34 = staged[80u + i_48];
      acc_10 += dot4I8Packed((w4_42.x >> 2u) & 0x03030303u, q4_34.x);
      acc_11 += dot4I8Packed((w4_43.x >> 2u) & 0x03030303u, q4_34.x);
      acc_10 += dot4I8Packed((w4_42.y >> 2u) & 0x03030303u, q4_34.y);
      acc_11 += dot4I8Packed((w4_43.y >> 2u) & 0x03030303u, q4_34.y);
      acc_10 += dot4I8Packed((w4_42.z >> 2u) & 0x03030303u, q4_34.z);
      acc_11 += dot4I8Packed((w4_43.z >> 2u) & 0x03030303u, q4_34.z);
      acc_10 += dot4I8Packed((w4_42.w >> 2u) & 0x03030303u, q4_34.w);
      acc_11 += dot4I8Packed((w4_43.w >> 2u) & 0x03030303u, q4_34.w);
      let q4_35 = staged[120u + i_48];
      acc_10 += dot4I8Packed(w4_42.x & 0x03030303u, q4_35.x);
      acc_11 += dot4I8Packed(w4_43.x & 0x03030303u, q4_35.x);
      acc_10 += dot4I8Packed(w4_42.y & 0x03030303u, q4_35.y);
      acc_11 += dot4I8Packed(w4_43.y & 0x03030303u, q4_35.y);
      acc_10 += dot4I8Packed(w4_42.z & 0x03030303u, q4_35.z);
      acc_11 += dot4I8Packed(w4_43.z & 0x03030303u, q4_35.z);
      acc_10 += dot4I8Packed(w4_42.w & 0x03030303u, q4_35.w);
      acc_11 += dot4I8Packed(w4_43.w & 0x03030303u, q4_35.w);
      let i_49 = lane_of_row_9 + 24u;
      let q4_36 = staged[0u + i_49];
      acc_10 += dot4I8Packed((w4_44.x >> 6u) & 0x03030303u, q4_36.x);
      acc_11 += dot4I8Packed((w4_45.x >> 6u) & 0x03030303u, q4_36.x);
      acc_10 += dot4I8Packed((w4_44.y >> 6u) & 0x03030303u, q4_36.y);
      acc_11 += dot4I8Packed((w4_45.y >> 6u) & 0x03030303u, q4_36.y);
      acc_10 += dot4I8Packed((w4_44.z >> 6u) & 0x03030303u, q4_36.z);
      acc_11 += dot4I8Packed((w4_45.z >> 6u) & 0x03030303u, q4_36.z);
      acc_10 += dot4I8Packed((w4_44.w >> 6u) & 0x03030303u, q4_36.w);
      acc_11 += dot4I8Packed((w4_45.w >> 6u) & 0x03030303u, q4_36.w);
      let q4_37 = staged[40u + i_49];
      acc_10 += dot4I8Packed((w4_44.x >> 4u) & 0x03030303u, q4_37.x);
      acc_11 += dot4I8Packed((w4_45.x >> 4u) & 0x03030303u, q4_37.x);
      acc_10 += dot4I8Packed((w4_44.y >> 4u) & 0x03030303u, q4_37.y);
      acc_11 += dot4I8Packed((w4_45.y >> 4u) & 0x03030303u, q4_37.y);
      acc_10 += dot4I8Packed((w4_44.z >> 4u) & 0x03030303u, q4_37.z);
      acc_11 += dot4I8Packed((w4_45.z >> 4u) & 0x03030303u, q4_37.z);
      acc_10 += dot4I8Packed((w4_44.w >> 4u) & 0x03030303u, q4_37.w);
      acc_11 += dot4I8Packed((w4_45.w >> 4u) & 0x03030303u, q4_37.w);
      let q4_38 = staged[80u + i_49];
      acc_10 += dot4I8Packed((w4_44.x >> 2u) & 0x03030303u, q4_38.x);
      acc_11 += dot4I8Packed((w4_45.x >> 2u) & 0x03030303u, q4_38.x);
      acc_10 += dot4I8Packed((w4_44.y >> 2u) & 0x03030303u, q4_38.y);
      acc_11 += dot4I8Packed((w4_45.y >> 2u) & 0x03030303u, q4_38.y);
      acc_10 += dot4I8Packed((w4_44.z >> 2u) & 0x03030303u, q4_38.z);
      acc_11 += dot4I8Packed((w4_45.z >> 2u) & 0x03030303u, q4_38.z);
      acc_10 += dot4I8Packed((w4_44.w >> 2u) & 0x03030303u, q4_38.w);
      acc_11 += dot4I8Packed((w4_45.w >> 2u) & 0x03030303u, q4_38.w);
      let q4_39 = staged[120u + i_49];
      acc_10 += dot4I8Packed(w4_44.x & 0x03030303u, q4_39.x);
      acc_11 += dot4I8Packed(w4_45.x & 0x03030303u, q4_39.x);
      acc_10 += dot4I8Packed(w4_44.y & 0x03030303u, q4_39.y);
      acc_11 += dot4I8Packed(w4_45.y & 0x03030303u, q4_39.y);
      acc_10 += dot4I8Packed(w4_44.z & 0x03030303u, q4_39.z);
      acc_11 += dot4I8Packed(w4_45.z & 0x03030303u, q4_39.z);
      acc_10 += dot4I8Packed(w4_44.w & 0x03030303u, q4_39.w);
      acc_11 += dot4I8Packed(w4_45.w & 0x03030303u, q4_39.w);
      let i_50 = lane_of_row_9 + 32u;
      let q4_40 = staged[0u + i_50];
      acc_10 += dot4I8Packed((w4_46.x >> 6u) & 0x03030303u, q4_40.x);
      acc_11 += dot4I8Packed((w4_47.x >> 6u) & 0x03030303u, q4_40.x);
      acc_10 += dot4I8Packed((w4_46.y >> 6u) & 0x03030303u, q4_40.y);
      acc_11 += dot4I8Packed((w4_47.y >> 6u) & 0x03030303u, q4_40.y);
      acc_10 += dot4I8Packed((w4_46.z >> 6u) & 0x03030303u, q4_40.z);
      acc_11 += dot4I8Packed((w4_47.z >> 6u) & 0x03030303u, q4_40.z);
      acc_10 += dot4I8Packed((w4_46.w >> 6u) & 0x03030303u, q4_40.w);
      acc_11 += dot4I8Packed((w4_47.w >> 6u) & 0x03030303u, q4_40.w);
      let q4_41 = staged[40u + i_50];
      acc_10 += dot4I8Packed((w4_46.x >> 4u) & 0x03030303u, q4_41.x);
      acc_11 += dot4I8Packed((w4_47.x >> 4u) & 0x03030303u, q4_41.x);
      acc_10 += dot4I8Packed((w4_46.y >> 4u) & 0x03030303u, q4_41.y);
      acc_11 += dot4I8Packed((w4_47.y >> 4u) & 0x03030303u, q4_41.y);
      acc_10 += dot4I8Packed((w4_46.z >> 4u) & 0x03030303u, q4_41.z);
      acc_11 += dot4I8Packed((w4_47.z >> 4u) & 0x03030303u, q4_41.z);
      acc_10 += dot4I8Packed((w4_46.w >> 4u) & 0x03030303u, q4_41.w);
      acc_11 += dot4I8Packed((w4_47.w >> 4u) & 0x03030303u, q4_41.w);
      let q4_42 = staged[80u + i_50];
      acc_10 += dot4I8Packed((w4_46.x >> 2u) & 0x03030303u, q4_42.x);
      acc_11 += dot4I8Packed((w4_47.x >> 2u) & 0x03030303u, q4_42.x);
      acc_10 += dot4I8Packed((w4_46.y >> 2u) & 0x03030303u, q4_42.y);
      acc_11 += dot4I8Packed((w4_47.y >> 2u) & 0x03030303u, q4_42.y);
      acc_10 += dot4I8Packed((w4_46.z >> 2u) & 0x03030303u, q4_42.z);
      acc_11 += dot4I8Packed((w4_47.z >> 2u) & 0x03030303u, q4_42.z);
      acc_10 += dot4I8Packed((w4_46.w >> 2u) & 0x03030303u, q4_42.w);
      acc_11 += dot4I8Packed((w4_47.w >> 2u) & 0x03030303u, q4_42.w);
      let q4_43 = staged[120u + i_50];
      acc_10 += dot4I8Packed(w4_46.x & 0x03030303u, q4_43.x);
      acc_11 += dot4I8Packed(w4_47.x & 0x03030303u, q4_43.x);
      acc_10 += dot4I8Packed(w4_46.y & 0x03030303u, q4_43.y);
      acc_11 += dot4I8Packed(w4_47.y & 0x03030303u, q4_43.y);
      acc_10 += dot4I8Packed(w4_46.z & 0x03030303u, q4_43.z);
      acc_11 += dot4I8Packed(w4_47.z & 0x03030303u, q4_43.z);
      acc_10 += dot4I8Packed(w4_46.w & 0x03030303u, q4_43.w);
      acc_11 += dot4I8Packed(w4_47.w & 0x03030303u, q4_43.w);
      let mine_47 = acc_10;
      let sg_212 = subgroupShuffleXor(mine_47, 4u);
      let sum_168 = mine_47 + sg_212;
      let sg_213 = subgroupShuffleXor(sum_168, 2u);
      let sum_169 = sum_168 + sg_213;
      let sg_214 = subgroupShuffleXor(sum_169, 1u);
      let sum_170 = sum_169 + sg_214;
      let mine_48 = acc_11;
      let sg_215 = subgroupShuffleXor(mine_48, 4u);
      let sum_171 = mine_48 + sg_215;
      let sg_216 = subgroupShuffleXor(sum_171, 2u);
      let sum_172 = sum_171 + sg_216;
      let sg_217 = subgroupShuffleXor(sum_172, 1u);
      let sum_173 = sum_172 + sg_217;
      if ((lane_of_row_9 == 0u) && (row_8 < end_row_3)) {
        let gate = f32(sum_170 - sum_167) / x_scale_2 * w_scale_8;
        let up = f32(sum_173 - sum_167) / x_scale_2 * w_scale_9;
        let positive = max(gate, 0f);
        let value_28 = positive * positive * up;
        let place_33 = row_8 + 73984u;
        let value_bits_7 = bitcast<u32>(value_28);
        let half_7 = select(2u, 0u, (value_bits_7 & 2139095040u) == 2139095040u);
        let rounded_7 = value_bits_7 + half_7;
        atomicStore(&words[place_33], (rounded_7 & 4294967292u) | tag);
      }
      if ((first_of_groups_2 + 64u) < end_row_3) {
        let group_10 = tid / 8u;
        let lane_of_row_10 = tid & 7u;
        let later_row_2 = row_8 + 64u;
        let safe_row_10 = min(later_row_2, end_row_3 - 1u);
        let start_12 = layer * 1085440u + 256000u + safe_row_10 * 40u;
        let start_13 = layer * 1085440u + 532480u + safe_row_10 * 40u;
        let i_51 = lane_of_row_10 + 0u;
        let w4_48 = w[start_12 + i_51];
        let w4_49 = w[start_13 + i_51];
        let i_52 = lane_of_row_10 + 8u;
        let w4_50 = w[start_12 + i_52];
        let w4_51 = w[start_13 + i_52];
        let i_53 = lane_of_row_10 + 16u;
        let w4_52 = w[start_12 + i_53];
        let w4_53 = w[start_13 + i_53];
        let i_54 = lane_of_row_10 + 24u;
        let w4_54 = w[start_12 + i_54];
        let w4_55 = w[start_13 + i_54];
        let i_55 = lane_of_row_10 + 32u;
        let w4_56 = w[start_12 + i_55];
        let w4_57 = w[start_13 + i_55];
        kept_w_9 = w4_48;
        kept_w_10 = w4_49;
        kept_w_11 = w4_50;
        kept_w_12 = w4_51;
        kept_w_13 = w4_52;
        kept_w_14 = w4_53;
        kept_w_15 = w4_54;
        kept_w_16 = w4_55;
        kept_w_17 = w4_56;
        kept_w_18 = w4_57;
      }
    }
    let column_44 = tid + 0u;
    let place_34 = column_44 + 73984u;
    let column_45 = tid + 512u;
    let place_35 = column_45 + 73984u;
    let column_46 = tid + 1024u;
    let place_36 = column_46 + 73984u;
    let column_47 = tid + 1536u;
    let place_37 = column_47 + 73984u;
    let column_48 = tid + 2048u;
    let place_38 = column_48 + 73984u;
    let column_49 = tid + 2560u;
    let place_39 = column_49 + 73984u;
    let column_50 = tid + 3072u;
    let place_40 = column_50 + 73984u;
    let column_51 = tid + 3584u;
    let place_41 = column_51 + 73984u;
    let column_52 = tid + 4096u;
    let place_42 = column_52 + 73984u;
    let column_53 = tid + 4608u;
    let place_43 = column_53 + 73984u;
    let column_54 = tid + 5120u;
    let place_44 = column_54 + 73984u;
    let column_55 = tid + 5632u;
    let place_45 = column_55 + 73984u;
    let column_56 = tid + 6144u;
    let place_46 = column_56 + 73984u;
    let column_57 = min(tid + 6656u, 6911u);
    let place_47 = column_57 + 73984u;
    let last_place_3 = 80895u;
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
    var waits_5: u32 = 1u;
    if (tid < 32u) {
      let end_10 = patience;
      for (var early_5 = 0u; early_5 < end_10; early_5 += 1u) {
        let now_43 = (atomicLoad(&words[last_place_3]));
        found_26 = now_43;
        var n_failed_10: u32 = 0u;
        if ((early_5 & 255u) == 255u) {
          let now_44 = (atomicLoad(&words[32u]));
          n_failed_10 = now_44;
        }
        let given_up_10 = n_failed_10 != 0u;
        if ((((found_26 ^ tag) & 3u) == 0u) || given_up_10) {
          break;
        }
      }
    }
    workgroupBarrier();
    let end_11 = patience;
    for (var tries_5 = 0u; tries_5 < end_11; tries_5 += 1u) {
      let now_45 = (atomicLoad(&words[place_34]));
      found_26 = now_45;
      let now_46 = (atomicLoad(&words[place_35]));
      found_27 = now_46;
      let now_47 = (atomicLoad(&words[place_36]));
      found_28 = now_47;
      let now_48 = (atomicLoad(&words[place_37]));
      found_29 = now_48;
      let now_49 = (atomicLoad(&words[place_38]));
      found_30 = now_49;
      let now_50 = (atomicLoad(&words[place_39]));
      found_31 = now_50;
      let now_51 = (atomicLoad(&words[place_40]));
      found_32 = now_51;
      let now_52 = (atomicLoad(&words[place_41]));
      found_33 = now_52;
      let now_53 = (atomicLoad(&words[place_42]));
      found_34 = now_53;
      let now_54 = (atomicLoad(&words[place_43]));
      found_35 = now_54;
      let now_55 = (atomicLoad(&words[place_44]));
      found_36 = now_55;
      let now_56 = (atomicLoad(&words[place_45]));
      found_37 = now_56;
      let now_57 = (atomicLoad(&words[place_46]));
      found_38 = now_57;
      let now_58 = (atomicLoad(&words[place_47]));
      found_39 = now_58;
      var odd_5: u32 = 0u;
      odd_5 = odd_5 | (found_26 ^ tag);
      odd_5 = odd_5 | (found_27 ^ tag);
      odd_5 = odd_5 | (found_28 ^ tag);
      odd_5 = odd_5 | (found_29 ^ tag);
      odd_5 = odd_5 | (found_30 ^ tag);
      odd_5 = odd_5 | (found_31 ^ tag);
      odd_5 = odd_5 | (found_32 ^ tag);
      odd_5 = odd_5 | (found_33 ^ tag);
      odd_5 = odd_5 | (found_34 ^ tag);
      odd_5 = odd_5 | (found_35 ^ tag);
      odd_5 = odd_5 | (found_36 ^ tag);
      odd_5 = odd_5 | (found_37 ^ tag);
      odd_5 = odd_5 | (found_38 ^ tag);
      odd_5 = odd_5 | (found_39 ^ tag);
      if ((odd_5 & 3u) == 0u) {
        waits_5 = 0u;
        break;
      }
      var n_failed_11: u32 = 0u;
      if ((tries_5 & 255u) == 255u) {
        let now_59 = (atomicLoad(&words[32u]));
        n_failed_11 = now_59;
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
    let value_29 = bitcast<f32>(found_26 & 4294967292u);
    let value_30 = bitcast<f32>(found_27 & 4294967292u);
    let value_31 = bitcast<f32>(found_28 & 4294967292u);
    let value_32 = bitcast<f32>(found_29 & 4294967292u);
    let value_33 = bitcast<f32>(found_30 & 4294967292u);
    let value_34 = bitcast<f32>(found_31 & 4294967292u);
    let value_35 = bitcast<f32>(found_32 & 4294967292u);
    let value_36 = bitcast<f32>(found_33 & 4294967292u);
    let value_37 = bitcast<f32>(found_34 & 4294967292u);
    let value_38 = bitcast<f32>(found_35 & 4294967292u);
    let value_39 = bitcast<f32>(found_36 & 4294967292u);
    let value_40 = bitcast<f32>(found_37 & 4294967292u);
    let value_41 = bitcast<f32>(found_38 & 4294967292u);
    let value_42 = bitcast<f32>(found_39 & 4294967292u);
    var squares_3: f32 = 0f;
    var largest_3: f32 = 0f;
    let vg_15 = value_29 * gain_20;
    largest_3 = max(largest_3, abs(vg_15));
    squares_3 += value_29 * value_29;
    let vg_16 = value_30 * gain_21;
    largest_3 = max(largest_3, abs(vg_16));
    squares_3 += value_30 * value_30;
    let vg_17 = value_31 * gain_22;
    largest_3 = max(largest_3, abs(vg_17));
    squares_3 += value_31 * value_31;
    let vg_18 = value_32 * gain_23;
    largest_3 = max(largest_3, abs(vg_18));
    squares_3 += value_32 * value_32;
    let vg_19 = value_33 * gain_24;
    largest_3 = max(largest_3, abs(vg_19));
    squares_3 += value_33 * value_33;
    let vg_20 = value_34 * gain_25;
    largest_3 = max(largest_3, abs(vg_20));
    squares_3 += value_34 * value_34;
    let vg_21 = value_35 * gain_26;
    largest_3 = max(largest_3, abs(vg_21));
    squares_3 += value_35 * value_35;
    let vg_22 = value_36 * gain_27;
    largest_3 = max(largest_3, abs(vg_22));
    squares_3 += value_36 * value_36;
    let vg_23 = value_37 * gain_28;
    largest_3 = max(largest_3, abs(vg_23));
    squares_3 += value_37 * value_37;
    let vg_24 = value_38 * gain_29;
    largest_3 = max(largest_3, abs(vg_24));
    squares_3 += value_38 * value_38;
    let vg_25 = value_39 * gain_30;
    largest_3 = max(largest_3, abs(vg_25));
    squares_3 += value_39 * value_39;
    let vg_26 = value_40 * gain_31;
    largest_3 = max(largest_3, abs(vg_26));
    squares_3 += value_40 * value_40;
    let vg_27 = value_41 * gain_32;
    largest_3 = max(largest_3, abs(vg_27));
    squares_3 += value_41 * value_41;
    let vg_28 = value_42 * gain_33;
    largest_3 = max(largest_3, abs(vg_28));
    if ((tid + 6656u) < 6912u) {
      squares_3 += value_42 * value_42;
    }
    let my_squares_3 = squares_3;
    let my_largest_3 = largest_3;
    let sg_218 = subgroupShuffleXor(my_squares_3, 16u);
    let sum_174 = my_squares_3 + sg_218;
    let sg_219 = subgroupShuffleXor(sum_174, 8u);
    let sum_175 = sum_174 + sg_219;
    let sg_220 = subgroupShuffleXor(sum_175, 4u);
    let sum_176 = sum_175 + sg_220;
    let sg_221 = subgroupShuffleXor(sum_176, 2u);
    let sum_177 = sum_176 + sg_221;
    let sg_222 = subgroupShuffleXor(sum_177, 1u);
    let sum_178 = sum_177 + sg_222;
    let sg_223 = subgroupShuffleXor(my_largest_3, 16u);
    let sum_179 = max(my_largest_3, sg_223);
    let sg_224 = subgroupShuffleXor(sum_179, 8u);
    let sum_180 = max(sum_179, sg_224);
    let sg_225 = subgroupShuffleXor(sum_180, 4u);
    let sum_181 = max(sum_180, sg_225);
    let sg_226 = subgroupShuffleXor(sum_181, 2u);
    let sum_182 = max(sum_181, sg_226);
    let sg_227 = subgroupShuffleXor(sum_182, 1u);
    let sum_183 = max(sum_182, sg_227);
    if ((tid & 31u) == 0u) {
      group_stats_3[tid / 32u] = vec2<f32>(sum_178, sum_183);
    }
    workgroupBarrier();
    let of_group_3 = group_stats_3[tid & 15u];
    let sg_228 = subgroupShuffleXor(of_group_3.x, 8u);
    let sum_184 = of_group_3.x + sg_228;
    let sg_229 = subgroupShuffleXor(sum_184, 4u);
    let sum_185 = sum_184 + sg_229;
    let sg_230 = subgroupShuffleXor(sum_185, 2u);
    let sum_186 = sum_185 + sg_230;
    let sg_231 = subgroupShuffleXor(sum_186, 1u);
    let sum_187 = sum_186 + sg_231;
    let largest_of_group_3 = of_group_3.y;
    let sg_232 = subgroupShuffleXor(largest_of_group_3, 8u);
    let sum_188 = max(largest_of_group_3, sg_232);
    let sg_233 = subgroupShuffleXor(sum_188, 4u);
    let sum_189 = max(sum_188, sg_233);
    let sg_234 = subgroupShuffleXor(sum_189, 2u);
    let sum_190 = max(sum_189, sg_234);
    let sg_235 = subgroupShuffleXor(sum_190, 1u);
    let sum_191 = max(sum_190, sg_235);
    let factor_3 = 1f / sqrt(sum_187 / 6912f + 1e-05f);
    let finite_scale_3 = 127f / max(sum_191 * factor_3, 1e-05f);
    let factor_and_scale_3 = factor_3 * finite_scale_3;
    let factor_bits_3 = bitcast<u32>(factor_3);
    let x_scale_3 = select(finite_scale_3, factor_3, (factor_bits_3 - 1u) >= 2139095039u);
    var q_sum_3: i32 = 0i;
    let ones_3 = 16843009u;
    let moved_15 = vg_15 * factor_and_scale_3 + 12582912f;
    let q_15 = bitcast<i32>(bitcast<u32>(moved_15) - 1262485504u);
    let byte_15 = bitcast<u32>(q_15) & 255u;
    let sg_236 = subgroupShuffleXor(byte_15, 1u);
    let two_15 = byte_15 | (sg_236 << 8u);
    let sg_237 = subgroupShuffleXor(two_15, 2u);
    let word_15 = two_15 | (sg_237 << 16u);
    q_sum_3 += dot4I8Packed(word_15, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_15 = (tid + 0u) / 16u;
      let vec_15 = ((unit_15 >> 1u) & 3u) * 108u + (unit_15 >> 3u) * 2u + (unit_15 & 1u);
      let part_of_unit_15 = tid / 4u % 4u;
      staged[vec_15][part_of_unit_15] = word_15;
    }
    let moved_16 = vg_16 * factor_and_scale_3 + 12582912f;
    let q_16 = bitcast<i32>(bitcast<u32>(moved_16) - 1262485504u);
    let byte_16 = bitcast<u32>(q_16) & 255u;
    let sg_238 = subgroupShuffleXor(byte_16, 1u);
    let two_16 = byte_16 | (sg_238 << 8u);
    let sg_239 = subgroupShuffleXor(two_16, 2u);
    let word_16 = two_16 | (sg_239 << 16u);
    q_sum_3 += dot4I8Packed(word_16, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_16 = (tid + 512u) / 16u;
      let vec_16 = ((unit_16 >> 1u) & 3u) * 108u + (unit_16 >> 3u) * 2u + (unit_16 & 1u);
      let part_of_unit_16 = tid / 4u % 4u;
      staged[vec_16][part_of_unit_16] = word_16;
    }
    let moved_17 = vg_17 * factor_and_scale_3 + 12582912f;
    let q_17 = bitcast<i32>(bitcast<u32>(moved_17) - 1262485504u);
    let byte_17 = bitcast<u32>(q_17) & 255u;
    let sg_240 = subgroupShuffleXor(byte_17, 1u);
    let two_17 = byte_17 | (sg_240 << 8u);
    let sg_241 = subgroupShuffleXor(two_17, 2u);
    let word_17 = two_17 | (sg_241 << 16u);
    q_sum_3 += dot4I8Packed(word_17, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_17 = (tid + 1024u) / 16u;
      let vec_17 = ((unit_17 >> 1u) & 3u) * 108u + (unit_17 >> 3u) * 2u + (unit_17 & 1u);
      let part_of_unit_17 = tid / 4u % 4u;
      staged[vec_17][part_of_unit_17] = word_17;
    }
    let moved_18 = vg_18 * factor_and_scale_3 + 12582912f;
    let q_18 = bitcast<i32>(bitcast<u32>(moved_18) - 1262485504u);
    let byte_18 = bitcast<u32>(q_18) & 255u;
    let sg_242 = subgroupShuffleXor(byte_18, 1u);
    let two_18 = byte_18 | (sg_242 << 8u);
    let sg_243 = subgroupShuffleXor(two_18, 2u);
    let word_18 = two_18 | (sg_243 << 16u);
    q_sum_3 += dot4I8Packed(word_18, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_18 = (tid + 1536u) / 16u;
      let vec_18 = ((unit_18 >> 1u) & 3u) * 108u + (unit_18 >> 3u) * 2u + (unit_18 & 1u);
      let part_of_unit_18 = tid / 4u % 4u;
      staged[vec_18][part_of_unit_18] = word_18;
    }
    let moved_19 = vg_19 * factor_and_scale_3 + 12582912f;
    let q_19 = bitcast<i32>(bitcast<u32>(moved_19) - 1262485504u);
    let byte_19 = bitcast<u32>(q_19) & 255u;
    let sg_244 = subgroupShuffleXor(byte_19, 1u);
    let two_19 = byte_19 | (sg_244 << 8u);
    let sg_245 = subgroupShuffleXor(two_19, 2u);
    let word_19 = two_19 | (sg_245 << 16u);
    q_sum_3 += dot4I8Packed(word_19, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_19 = (tid + 2048u) / 16u;
      let vec_19 = ((unit_19 >> 1u) & 3u) * 108u + (unit_19 >> 3u) * 2u + (unit_19 & 1u);
      let part_of_unit_19 = tid / 4u % 4u;
      staged[vec_19][part_of_unit_19] = word_19;
    }
    let moved_20 = vg_20 * factor_and_scale_3 + 12582912f;
    let q_20 = bitcast<i32>(bitcast<u32>(moved_20) - 1262485504u);
    let byte_20 = bitcast<u32>(q_20) & 255u;
    let sg_246 = subgroupShuffleXor(byte_20, 1u);
    let two_20 = byte_20 | (sg_246 << 8u);
    let sg_247 = subgroupShuffleXor(two_20, 2u);
    let word_20 = two_20 | (sg_247 << 16u);
    q_sum_3 += dot4I8Packed(word_20, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_20 = (tid + 2560u) / 16u;
      let vec_20 = ((unit_20 >> 1u) & 3u) * 108u + (unit_20 >> 3u) * 2u + (unit_20 & 1u);
      let part_of_unit_20 = tid / 4u % 4u;
      staged[vec_20][part_of_unit_20] = word_20;
    }
    let moved_21 = vg_21 * factor_and_scale_3 + 12582912f;
    let q_21 = bitcast<i32>(bitcast<u32>(moved_21) - 1262485504u);
    let byte_21 = bitcast<u32>(q_21) & 255u;
    let sg_248 = subgroupShuffleXor(byte_21, 1u);
    let two_21 = byte_21 | (sg_248 << 8u);
    let sg_249 = subgroupShuffleXor(two_21, 2u);
    let word_21 = two_21 | (sg_249 << 16u);
    q_sum_3 += dot4I8Packed(word_21, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_21 = (tid + 3072u) / 16u;
      let vec_21 = ((unit_21 >> 1u) & 3u) * 108u + (unit_21 >> 3u) * 2u + (unit_21 & 1u);
      let part_of_unit_21 = tid / 4u % 4u;
      staged[vec_21][part_of_unit_21] = word_21;
    }
    let moved_22 = vg_22 * factor_and_scale_3 + 12582912f;
    let q_22 = bitcast<i32>(bitcast<u32>(moved_22) - 1262485504u);
    let byte_22 = bitcast<u32>(q_22) & 255u;
    let sg_250 = subgroupShuffleXor(byte_22, 1u);
    let two_22 = byte_22 | (sg_250 << 8u);
    let sg_251 = subgroupShuffleXor(two_22, 2u);
    let word_22 = two_22 | (sg_251 << 16u);
    q_sum_3 += dot4I8Packed(word_22, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_22 = (tid + 3584u) / 16u;
      let vec_22 = ((unit_22 >> 1u) & 3u) * 108u + (unit_22 >> 3u) * 2u + (unit_22 & 1u);
      let part_of_unit_22 = tid / 4u % 4u;
      staged[vec_22][part_of_unit_22] = word_22;
    }
    let moved_23 = vg_23 * factor_and_scale_3 + 12582912f;
    let q_23 = bitcast<i32>(bitcast<u32>(moved_23) - 1262485504u);
    let byte_23 = bitcast<u32>(q_23) & 255u;
    let sg_252 = subgroupShuffleXor(byte_23, 1u);
    let two_23 = byte_23 | (sg_252 << 8u);
    let sg_253 = subgroupShuffleXor(two_23, 2u);
    let word_23 = two_23 | (sg_253 << 16u);
    q_sum_3 += dot4I8Packed(word_23, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_23 = (tid + 4096u) / 16u;
      let vec_23 = ((unit_23 >> 1u) & 3u) * 108u + (unit_23 >> 3u) * 2u + (unit_23 & 1u);
      let part_of_unit_23 = tid / 4u % 4u;
      staged[vec_23][part_of_unit_23] = word_23;
    }
    let moved_24 = vg_24 * factor_and_scale_3 + 12582912f;
    let q_24 = bitcast<i32>(bitcast<u32>(moved_24) - 1262485504u);
    let byte_24 = bitcast<u32>(q_24) & 255u;
    let sg_254 = subgroupShuffleXor(byte_24, 1u);
    let two_24 = byte_24 | (sg_254 << 8u);
    let sg_255 = subgroupShuffleXor(two_24, 2u);
    let word_24 = two_24 | (sg_255 << 16u);
    q_sum_3 += dot4I8Packed(word_24, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_24 = (tid + 4608u) / 16u;
      let vec_24 = ((unit_24 >> 1u) & 3u) * 108u + (unit_24 >> 3u) * 2u + (unit_24 & 1u);
      let part_of_unit_24 = tid / 4u % 4u;
      staged[vec_24][part_of_unit_24] = word_24;
    }
    let moved_25 = vg_25 * factor_and_scale_3 + 12582912f;
    let q_25 = bitcast<i32>(bitcast<u32>(moved_25) - 1262485504u);
    let byte_25 = bitcast<u32>(q_25) & 255u;
    let sg_256 = subgroupShuffleXor(byte_25, 1u);
    let two_25 = byte_25 | (sg_256 << 8u);
    let sg_257 = subgroupShuffleXor(two_25, 2u);
    let word_25 = two_25 | (sg_257 << 16u);
    q_sum_3 += dot4I8Packed(word_25, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_25 = (tid + 5120u) / 16u;
      let vec_25 = ((unit_25 >> 1u) & 3u) * 108u + (unit_25 >> 3u) * 2u + (unit_25 & 1u);
      let part_of_unit_25 = tid / 4u % 4u;
      staged[vec_25][part_of_unit_25] = word_25;
    }
    let moved_26 = vg_26 * factor_and_scale_3 + 12582912f;
    let q_26 = bitcast<i32>(bitcast<u32>(moved_26) - 1262485504u);
    let byte_26 = bitcast<u32>(q_26) & 255u;
    let sg_258 = subgroupShuffleXor(byte_26, 1u);
    let two_26 = byte_26 | (sg_258 << 8u);
    let sg_259 = subgroupShuffleXor(two_26, 2u);
    let word_26 = two_26 | (sg_259 << 16u);
    q_sum_3 += dot4I8Packed(word_26, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_26 = (tid + 5632u) / 16u;
      let vec_26 = ((unit_26 >> 1u) & 3u) * 108u + (unit_26 >> 3u) * 2u + (unit_26 & 1u);
      let part_of_unit_26 = tid / 4u % 4u;
      staged[vec_26][part_of_unit_26] = word_26;
    }
    let moved_27 = vg_27 * factor_and_scale_3 + 12582912f;
    let q_27 = bitcast<i32>(bitcast<u32>(moved_27) - 1262485504u);
    let byte_27 = bitcast<u32>(q_27) & 255u;
    let sg_260 = subgroupShuffleXor(byte_27, 1u);
    let two_27 = byte_27 | (sg_260 << 8u);
    let sg_261 = subgroupShuffleXor(two_27, 2u);
    let word_27 = two_27 | (sg_261 << 16u);
    q_sum_3 += dot4I8Packed(word_27, ones_3);
    if ((tid & 3u) == 0u) {
      let unit_27 = (tid + 6144u) / 16u;
      let vec_27 = ((unit_27 >> 1u) & 3u) * 108u + (unit_27 >> 3u) * 2u + (unit_27 & 1u);
      let part_of_unit_27 = tid / 4u % 4u;
      staged[vec_27][part_of_unit_27] = word_27;
    }
    let moved_28 = vg_28 * factor_and_scale_3 + 12582912f;
    let q_28 = bitcast<i32>(bitcast<u32>(moved_28) - 1262485504u);
    let byte_28 = bitcast<u32>(q_28) & 255u;
    let sg_262 = subgroupShuffleXor(byte_28, 1u);
    let two_28 = byte_28 | (sg_262 << 8u);
    let sg_263 = subgroupShuffleXor(two_28, 2u);
    let word_28 = two_28 | (sg_263 << 16u);
    if ((tid + 6656u) < 6912u) {
      q_sum_3 += dot4I8Packed(word_28, ones_3);
      if ((tid & 3u) == 0u) {
        let unit_28 = (tid + 6656u) / 16u;
        let vec_28 = ((unit_28 >> 1u) & 3u) * 108u + (unit_28 >> 3u) * 2u + (unit_28 & 1u);
        let part_of_unit_28 = tid / 4u % 4u;
        staged[vec_28][part_of_unit_28] = word_28;
      }
    }
    let my_sum_3 = q_sum_3;
    let sg_264 = subgroupShuffleXor(my_sum_3, 4u);
    let group_sum_9 = my_sum_3 + sg_264;
    let sg_265 = subgroupShuffleXor(group_sum_9, 8u);
    let group_sum_10 = group_sum_9 + sg_265;
    let sg_266 = subgroupShuffleXor(group_sum_10, 16u);
    let group_sum_11 = group_sum_10 + sg_266;
    if ((tid & 31u) == 0u) {
      group_sums_3[tid / 32u] = group_sum_11;
    }
    workgroupBarrier();
    let sum_of_group_3 = group_sums_3[tid & 15u];
    let sg_267 = subgroupShuffleXor(sum_of_group_3, 8u);
    let sum_192 = sum_of_group_3 + sg_267;
    let sg_268 = subgroupShuffleXor(sum_192, 4u);
    let sum_193 = sum_192 + sg_268;
    let sg_269 = subgroupShuffleXor(sum_193, 2u);
    let sum_194 = sum_193 + sg_269;
    let sg_270 = subgroupShuffleXor(sum_194, 1u);
    let sum_195 = sum_194 + sg_270;
    let next_layer = min(layer + 1u, 29u);
    let group_11 = tid / 16u;
    let lane_of_row_11 = tid & 15u;
    let row_9 = first_row_1 + group_11;
    let safe_row_11 = min(row_9, end_row_1 - 1u);
    let start_14 = next_layer * 1085440u + 0u + safe_row_11 * 40u;
    let i_56 = lane_of_row_11 + 0u;
    let w4_58 = w[start_14 + i_56];
    let i_57 = lane_of_row_11 + 16u;
    let w4_59 = w[start_14 + i_57];
    let i_58 = min(lane_of_row_11 + 32u, 39u);
    let w4_60 = w[start_14 + i_58];
    let vectors_at_4 = next_layer * 14600u;
    let column_58 = tid + 0u;
    let gain_34 = vectors[vectors_at_4 + 0u + column_58];
    let column_59 = tid + 512u;
    let gain_35 = vectors[vectors_at_4 + 0u + column_59];
    let column_60 = tid + 1024u;
    let gain_36 = vectors[vectors_at_4 + 0u + column_60];
    let column_61 = tid + 1536u;
    let gain_37 = vectors[vectors_at_4 + 0u + column_61];
    let column_62 = tid + 2048u;
    let gain_38 = vectors[vectors_at_4 + 0u + column_62];
    let w_scale_11 = vectors[vectors_at_4 + 14592u];
    let w_scale_12 = vectors[vectors_at_4 + 14593u];
    let w_scale_13 = vectors[vectors_at_4 + 14594u];
    kept_w = w4_58;
    kept_w_1 = w4_59;
    kept_w_2 = w4_60;
    next_gain = gain_34;
    next_gain_1 = gain_35;
    next_gain_2 = gain_36;
    next_gain_3 = gain_37;
    next_gain_4 = gain_38;
    next_scale = w_scale_11;
    next_scale_1 = w_scale_12;
    next_scale_2 = w_scale_13;
    var kept_w_19: vec4<u32> = w4_31;
    var kept_w_20: vec4<u32> = w4_32;
    var kept_w_21: vec4<u32> = w4_33;
    var kept_w_22: vec4<u32> = w4_34;
    var kept_w_23: vec4<u32> = w4_35;
    var kept_w_24: vec4<u32> = w4_36;
    var kept_w_25: vec4<u32> = w4_37;
    for (var first_of_groups_3 = first_row_4; first_of_groups_3 < end_row_4; first_of_groups_3 += 32u) {
      let group_12 = tid / 16u;
      let lane_of_row_12 = tid & 15u;
      let row_10 = first_of_groups_3 + group_12;
      let safe_row_12 = min(row_10, end_row_4 - 1u);
      let start_15 = layer * 1085440u + 808960u + safe_row_12 * 108u;
      let i_59 = lane_of_row_12 + 0u;
      let w4_61 = kept_w_19;
      let i_60 = lane_of_row_12 + 16u;
      let w4_62 = kept_w_20;
      let i_61 = lane_of_row_12 + 32u;
      let w4_63 = kept_w_21;
      let i_62 = lane_of_row_12 + 48u;
      let w4_64 = kept_w_22;
      let i_63 = lane_of_row_12 + 64u;
      let w4_65 = kept_w_23;
      let i_64 = lane_of_row_12 + 80u;
      let w4_66 = kept_w_24;
      let i_65 = min(lane_of_row_12 + 96u, 107u);
      let w4_67 = kept_w_25;
      var acc_12: i32 = 0i;
      let i_66 = lane_of_row_12 + 0u;
      let q4_44 = staged[0u + i_66];
      acc_12 += dot4I8Packed((w4_61.x >> 6u) & 0x03030303u, q4_44.x);
      acc_12 += dot4I8Packed((w4_61.y >> 6u) & 0x03030303u, q4_44.y);
      acc_12 += dot4I8Packed((w4_61.z >> 6u) & 0x03030303u, q4_44.z);
      acc_12 += dot4I8Packed((w4_61.w >> 6u) & 0x03030303u, q4_44.w);
      let q4_45 = staged[108u + i_66];
      acc_12 += dot4I8Packed((w4_61.x >> 4u) & 0x03030303u, q4_45.x);
      acc_12 += dot4I8Packed((w4_61.y >> 4u) & 0x03030303u, q4_45.y);
      acc_12 += dot4I8Packed((w4_61.z >> 4u) & 0x03030303u, q4_45.z);
      acc_12 += dot4I8Packed((w4_61.w >> 4u) & 0x03030303u, q4_45.w);
      let q4_46 = staged[216u + i_66];
      acc_12 += dot4I8Packed((w4_61.x >> 2u) & 0x03030303u, q4_46.x);
      acc_12 += dot4I8Packed((w4_61.y >> 2u) & 0x03030303u, q4_46.y);
      acc_12 += dot4I8Packed((w4_61.z >> 2u) & 0x03030303u, q4_46.z);
      acc_12 += dot4I8Packed((w4_61.w >> 2u) & 0x03030303u, q4_46.w);
      let q4_47 = staged[324u + i_66];
      acc_12 += dot4I8Packed(w4_61.x & 0x03030303u, q4_47.x);
      acc_12 += dot4I8Packed(w4_61.y & 0x03030303u, q4_47.y);
      acc_12 += dot4I8Packed(w4_61.z & 0x03030303u, q4_47.z);
      acc_12 += dot4I8Packed(w4_61.w & 0x03030303u, q4_47.w);
      let i_67 = lane_of_row_12 + 16u;
      let q4_48 = staged[0u + i_67];
      acc_12 += dot4I8Packed((w4_62.x >> 6u) & 0x03030303u, q4_48.x);
      acc_12 += dot4I8Packed((w4_62.y >> 6u) & 0x03030303u, q4_48.y);
      acc_12 += dot4I8Packed((w4_62.z >> 6u) & 0x03030303u, q4_48.z);
      acc_12 += dot4I8Packed((w4_62.w >> 6u) & 0x03030303u, q4_48.w);
      let q4_49 = staged[108u + i_67];
      acc_12 += dot4I8Packed((w4_62.x >> 4u) & 0x03030303u, q4_49.x);
      acc_12 += dot4I8Packed((w4_62.y >> 4u) & 0x03030303u, q4_49.y);
      acc_12 += dot4I8Packed((w4_62.z >> 4u) & 0x03030303u, q4_49.z);
      acc_12 += dot4I8Packed((w4_62.w >> 4u) & 0x03030303u, q4_49.w);
      let q4_50 = staged[216u + i_67];
      acc_12 += dot4I8Packed((w4_62.x >> 2u) & 0x03030303u, q4_50.x);
      acc_12 += dot4I8Packed((w4_62.y >> 2u) & 0x03030303u, q4_50.y);
      acc_12 += dot4I8Packed((w4_62.z >> 2u) & 0x03030303u, q4_50.z);
      acc_12 += dot4I8Packed((w4_62.w >> 2u) & 0x03030303u, q4_50.w);
      let q4_51 = staged[324u + i_67];
      acc_12 += dot4I8Packed(w4_62.x & 0x03030303u, q4_51.x);
      acc_12 += dot4I8Packed(w4_62.y & 0x03030303u, q4_51.y);
      acc_12 += dot4I8Packed(w4_62.z & 0x03030303u, q4_51.z);
      acc_12 += dot4I8Packed(w4_62.w & 0x03030303u, q4_51.w);
      let i_68 = lane_of_row_12 + 32u;
      let q4_52 = staged[0u + i_68];
      acc_12 += dot4I8Packed((w4_63.x >> 6u) & 0x03030303u, q4_52.x);
      acc_12 += dot4I8Packed((w4_63.y >> 6u) & 0x03030303u, q4_52.y);
      acc_12 += dot4I8Packed((w4_63.z >> 6u) & 0x03030303u, q4_52.z);
      acc_12 += dot4I8Packed((w4_63.w >> 6u) & 0x03030303u, q4_52.w);
      let q4_53 = staged[108u + i_68];
      acc_12 += dot4I8Packed((w4_63.x >> 4u) & 0x03030303u, q4_53.x);
      acc_12 += dot4I8Packed((w4_63.y >> 4u) & 0x03030303u, q4_53.y);
      acc_12 += dot4I8Packed((w4_63.z >> 4u) & 0x03030303u, q4_53.z);
      acc_12 += dot4I8Packed((w4_63.w >> 4u) & 0x03030303u, q4_53.w);
      let q4_54 = staged[216u + i_68];
      acc_12 += dot4I8Packed((w4_63.x >> 2u) & 0x03030303u, q4_54.x);
      acc_12 += dot4I8Packed((w4_63.y >> 2u) & 0x03030303u, q4_54.y);
      acc_12 += dot4I8Packed((w4_63.z >> 2u) & 0x03030303u, q4_54.z);
      acc_12 += dot4I8Packed((w4_63.w >> 2u) & 0x03030303u, q4_54.w);
      let q4_55 = staged[324u + i_68];
      acc_12 += dot4I8Packed(w4_63.x & 0x03030303u, q4_55.x);
      acc_12 += dot4I8Packed(w4_63.y & 0x03030303u, q4_55.y);
      acc_12 += dot4I8Packed(w4_63.z & 0x03030303u, q4_55.z);
      acc_12 += dot4I8Packed(w4_63.w & 0x03030303u, q4_55.w);
      let i_69 = lane_of_row_12 + 48u;
      let q4_56 = staged[0u + i_69];
      acc_12 += dot4I8Packed((w4_64.x >> 6u) & 0x03030303u, q4_56.x);
      acc_12 += dot4I8Packed((w4_64.y >> 6u) & 0x03030303u, q4_56.y);
      acc_12 += dot4I8Packed((w4_64.z >> 6u) & 0x03030303u, q4_56.z);
      acc_12 += dot4I8Packed((w4_64.w >> 6u) & 0x03030303u, q4_56.w);
      let q4_57 = staged[108u + i_69];
      acc_12 += dot4I8Packed((w4_64.x >> 4u) & 0x03030303u, q4_57.x);
      acc_12 += dot4I8Packed((w4_64.y >> 4u) & 0x03030303u, q4_57.y);
      acc_12 += dot4I8Packed((w4_64.z >> 4u) & 0x03030303u, q4_57.z);
      acc_12 += dot4I8Packed((w4_64.w >> 4u) & 0x03030303u, q4_57.w);
      let q4_58 = staged[216u + i_69];
      acc_12 += dot4I8Packed((w4_64.x >> 2u) & 0x03030303u, q4_58.x);
      acc_12 += dot4I8Packed((w4_64.y >> 2u) & 0x03030303u, q4_58.y);
      acc_12 += dot4I8Packed((w4_64.z >> 2u) & 0x03030303u, q4_58.z);
      acc_12 += dot4I8Packed((w4_64.w >> 2u) & 0x03030303u, q4_58.w);
      let q4_59 = staged[324u + i_69];
      acc_12 += dot4I8Packed(w4_64.x & 0x03030303u, q4_59.x);
      acc_12 += dot4I8Packed(w4_64.y & 0x03030303u, q4_59.y);
      acc_12 += dot4I8Packed(w4_64.z & 0x03030303u, q4_59.z);
      acc_12 += dot4I8Packed(w4_64.w & 0x03030303u, q4_59.w);
      let i_70 = lane_of_row_12 + 64u;
      let q4_60 = staged[0u + i_70];
      acc_12 += dot4I8Packed((w4_65.x >> 6u) & 0x03030303u, q4_60.x);
      acc_12 += dot4I8Packed((w4_65.y >> 6u) & 0x03030303u, q4_60.y);
      acc_12 += dot4I8Packed((w4_65.z >> 6u) & 0x03030303u, q4_60.z);
      acc_12 += dot4I8Packed((w4_65.w >> 6u) & 0x03030303u, q4_60.w);
      let q4_61 = staged[108u + i_70];
      acc_12 += dot4I8Packed((w4_65.x >> 4u) & 0x03030303u, q4_61.x);
      acc_12 += dot4I8Packed((w4_65.y >> 4u) & 0x03030303u, q4_61.y);
      acc_12 += dot4I8Packed((w4_65.z >> 4u) & 0x03030303u, q4_61.z);
      acc_12 += dot4I8Packed((w4_65.w >> 4u) & 0x03030303u, q4_61.w);
      let q4_62 = staged[216u + i_70];
      acc_12 += dot4I8Packed((w4_65.x >> 2u) & 0x03030303u, q4_62.x);
      acc_12 += dot4I8Packed((w4_65.y >> 2u) & 0x03030303u, q4_62.y);
      acc_12 += dot4I8Packed((w4_65.z >> 2u) & 0x03030303u, q4_62.z);
      acc_12 += dot4I8Packed((w4_65.w >> 2u) & 0x03030303u, q4_62.w);
      let q4_63 = staged[324u + i_70];
      acc_12 += dot4I8Packed(w4_65.x & 0x03030303u, q4_63.x);
      acc_12 += dot4I8Packed(w4_65.y & 0x03030303u, q4_63.y);
      acc_12 += dot4I8Packed(w4_65.z & 0x03030303u, q4_63.z);
      acc_12 += dot4I8Packed(w4_65.w & 0x03030303u, q4_63.w);
      let i_71 = lane_of_row_12 + 80u;
      let q4_64 = staged[0u + i_71];
      acc_12 += dot4I8Packed((w4_66.x >> 6u) & 0x03030303u, q4_64.x);
      acc_12 += dot4I8Packed((w4_66.y >> 6u) & 0x03030303u, q4_64.y);
      acc_12 += dot4I8Packed((w4_66.z >> 6u) & 0x03030303u, q4_64.z);
      acc_12 += dot4I8Packed((w4_66.w >> 6u) & 0x03030303u, q4_64.w);
      let q4_65 = staged[108u + i_71];
      acc_12 += dot4I8Packed((w4_66.x >> 4u) & 0x03030303u, q4_65.x);
      acc_12 += dot4I8Packed((w4_66.y >> 4u) & 0x03030303u, q4_65.y);
      acc_12 += dot4I8Packed((w4_66.z >> 4u) & 0x03030303u, q4_65.z);
      acc_12 += dot4I8Packed((w4_66.w >> 4u) & 0x03030303u, q4_65.w);
      let q4_66 = staged[216u + i_71];
      acc_12 += dot4I8Packed((w4_66.x >> 2u) & 0x03030303u, q4_66.x);
      acc_12 += dot4I8Packed((w4_66.y >> 2u) & 0x03030303u, q4_66.y);
      acc_12 += dot4I8Packed((w4_66.z >> 2u) & 0x03030303u, q4_66.z);
      acc_12 += dot4I8Packed((w4_66.w >> 2u) & 0x03030303u, q4_66.w);
      let q4_67 = staged[324u + i_71];
      acc_12 += dot4I8Packed(w4_66.x & 0x03030303u, q4_67.x);
      acc_12 += dot4I8Packed(w4_66.y & 0x03030303u, q4_67.y);
      acc_12 += dot4I8Packed(w4_66.z & 0x03030303u, q4_67.z);
      acc_12 += dot4I8Packed(w4_66.w & 0x03030303u, q4_67.w);
      let i_72 = lane_of_row_12 + 96u;
      if (i_72 < 108u) {
        let q4_68 = staged[0u + i_72];
        acc_12 += dot4I8Packed((w4_67.x >> 6u) & 0x03030303u, q4_68.x);
        acc_12 += dot4I8Packed((w4_67.y >> 6u) & 0x03030303u, q4_68.y);
        acc_12 += dot4I8Packed((w4_67.z >> 6u) & 0x03030303u, q4_68.z);
        acc_12 += dot4I8Packed((w4_67.w >> 6u) & 0x03030303u, q4_68.w);
        let q4_69 = staged[108u + i_72];
        acc_12 += dot4I8Packed((w4_67.x >> 4u) & 0x03030303u, q4_69.x);
        acc_12 += dot4I8Packed((w4_67.y >> 4u) & 0x03030303u, q4_69.y);
        acc_12 += dot4I8Packed((w4_67.z >> 4u) & 0x03030303u, q4_69.z);
        acc_12 += dot4I8Packed((w4_67.w >> 4u) & 0x03030303u, q4_69.w);
        let q4_70 = staged[216u + i_72];
        acc_12 += dot4I8Packed((w4_67.x >> 2u) & 0x03030303u, q4_70.x);
        acc_12 += dot4I8Packed((w4_67.y >> 2u) & 0x03030303u, q4_70.y);
        acc_12 += dot4I8Packed((w4_67.z >> 2u) & 0x03030303u, q4_70.z);
        acc_12 += dot4I8Packed((w4_67.w >> 2u) & 0x03030303u, q4_70.w);
        let q4_71 = staged[324u + i_72];
        acc_12 += dot4I8Packed(w4_67.x & 0x03030303u, q4_71.x);
        acc_12 += dot4I8Packed(w4_67.y & 0x03030303u, q4_71.y);
        acc_12 += dot4I8Packed(w4_67.z & 0x03030303u, q4_71.z);
        acc_12 += dot4I8Packed(w4_67.w & 0x03030303u, q4_71.w);
      }
      let mine_49 = acc_12;
      let sg_271 = subgroupShuffleXor(mine_49, 8u);
      let sum_196 = mine_49 + sg_271;
      let sg_272 = subgroupShuffleXor(sum_196, 4u);
      let sum_197 = sum_196 + sg_272;
      let sg_273 = subgroupShuffleXor(sum_197, 2u);
      let sum_198 = sum_197 + sg_273;
      let sg_274 = subgroupShuffleXor(sum_198, 1u);
      let sum_199 = sum_198 + sg_274;
      if ((lane_of_row_12 == 0u) && (row_10 < end_row_4)) {
        let value_43 = f32(sum_199 - sum_195) / x_scale_3 * w_scale_10;
        let mine_at_1 = row_10 - first_row;
        let x_new_1 = residual[mine_at_1] + value_43;
        residual[mine_at_1] = x_new_1;
        let place_48 = row_10 + 64u;
        let value_bits_8 = bitcast<u32>(x_new_1);
        let half_8 = select(2u, 0u, (value_bits_8 & 2139095040u) == 2139095040u);
        let rounded_8 = value_bits_8 + half_8;
        atomicStore(&words[place_48], (rounded_8 & 4294967292u) | next_tag);
      }
      if ((first_of_groups_3 + 32u) < end_row_4) {
        let group_13 = tid / 16u;
        let lane_of_row_13 = tid & 15u;
        let later_row_3 = row_10 + 32u;
        let safe_row_13 = min(later_row_3, end_row_4 - 1u);
        let start_16 = layer * 1085440u + 808960u + safe_row_13 * 108u;
        let i_73 = lane_of_row_13 + 0u;
        let w4_68 = w[start_16 + i_73];
        let i_74 = lane_of_row_13 + 16u;
        let w4_69 = w[start_16 + i_74];
        let i_75 = lane_of_row_13 + 32u;
        let w4_70 = w[start_16 + i_75];
        let i_76 = lane_of_row_13 + 48u;
        let w4_71 = w[start_16 + i_76];
        let i_77 = lane_of_row_13 + 64u;
        let w4_72 = w[start_16 + i_77];
        let i_78 = lane_of_row_13 + 80u;
        let w4_73 = w[start_16 + i_78];
        let i_79 = min(lane_of_row_13 + 96u, 107u);
        let w4_74 = w[start_16 + i_79];
        kept_w_19 = w4_68;
        kept_w_20 = w4_69;
        kept_w_21 = w4_70;
        kept_w_22 = w4_71;
        kept_w_23 = w4_72;
        kept_w_24 = w4_73;
        kept_w_25 = w4_74;
      }
    }
  }
  workgroupBarrier();
  for (var row_11 = first_row + tid; row_11 < end_row; row_11 += 512u) {
    let x_value_1 = residual[row_11 - first_row];
    x[row_11] = x_value_1;
  }
  if ((wg.x == 0u) && (tid == 0u)) {
    atomicStore(&words[0u], (last_tag + 1u + 30u) & 3u);
  }
}
