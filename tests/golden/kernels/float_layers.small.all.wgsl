enable subgroups;
requires packed_4x8_integer_dot_product;
diagnostic(off, subgroup_uniformity);

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> vectors: array<f32>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;
@group(0) @binding(4) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read> params: array<u32>;
@group(0) @binding(6) var<storage, read_write> kv: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> words: array<atomic<u32>>;
var<workgroup> residual: array<f32, 128>;
var<workgroup> turned: array<f32, 192>;
var<workgroup> sums: array<f32, 544>;
var<workgroup> narrow: array<vec4<u32>, 16>;
var<workgroup> narrow_runs: array<vec2<f32>, 8>;
var<workgroup> wide: array<vec4<u32>, 16>;
var<workgroup> wide_runs: array<vec2<f32>, 8>;
var<workgroup> squares_of_group: array<f32, 8>;

@compute @workgroup_size(256)
fn float_layers(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
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
  let first_row_1 = wg.x * 256u / n_wg.x;
  let end_row_1 = (wg.x + 1u) * 256u / n_wg.x;
  let first_row_2 = wg.x * 256u / n_wg.x;
  let end_row_2 = (wg.x + 1u) * 256u / n_wg.x;
  let first_row_3 = wg.x * 256u / n_wg.x;
  let end_row_3 = (wg.x + 1u) * 256u / n_wg.x;
  let first_row_4 = wg.x * 768u / n_wg.x;
  let end_row_4 = (wg.x + 1u) * 768u / n_wg.x;
  let first_tag = (last_tag + 1u) & 3u;
  for (var row = first_row + tid; row < end_row; row += 256u) {
    let x_value = x[row];
    residual[row - first_row] = x_value;
    let row_of_block = (row & 3u) * 32u + ((row >> 2u) & 31u);
    let place = (row & 4294967168u) + row_of_block + 64u;
    let value_bits = bitcast<u32>(x_value);
    let half = select(2u, 0u, (value_bits & 2139095040u) == 2139095040u);
    let rounded = value_bits + half;
    atomicStore(&words[place], (rounded & 4294967292u) | first_tag);
  }
  var next_gain: vec4<f32> = vec4<f32>();
  var next_unit: vec4<u32> = vec4<u32>();
  var next_scale: f32 = f32();
  let first_layer = 0u;
  let units_of_layer = first_layer * 28672u;
  let scales_of_layer = first_layer * 7168u;
  let lane_of_row = tid & 15u;
  let row_1 = first_row_4 + tid / 16u;
  let units_at = units_of_layer + 0u;
  let scales_at = scales_of_layer + 0u;
  let start = min(row_1, end_row_4 - 1u) * 16u;
  let i = lane_of_row + 0u;
  let at = start + i;
  let unit = w[units_at + at];
  let block_1 = at / 2u;
  let halves = scales[scales_at + block_1 / 2u] >> ((block_1 & 1u) * 16u);
  let scale = unpack2x16float(halves);
  next_unit = unit;
  next_scale = scale.x;
  let vectors_at = first_layer * 512u + 0u;
  let quad = min(tid + 0u, 63u);
  let from_value = vectors_at + quad * 4u;
  let v0 = vectors[from_value];
  let v1 = vectors[from_value + 1u];
  let v2 = vectors[from_value + 2u];
  let v3 = vectors[from_value + 3u];
  let gain = vec4<f32>(v0, v1, v2, v3);
  next_gain = gain;
  for (var layer = 0u; layer < 2u; layer += 1u) {
    let tag = (last_tag + 1u + layer) & 3u;
    let next_tag = (tag + 1u) & 3u;
    let units_of_layer_1 = layer * 28672u;
    let scales_of_layer_1 = layer * 7168u;
    let gain_1 = next_gain;
    let quad_1 = min(tid + 0u, 63u);
    let place_1 = quad_1 / 32u * 128u + quad_1 % 32u + 64u;
    let place_2 = place_1 + 32u;
    let place_3 = place_1 + 64u;
    let place_4 = place_1 + 96u;
    var found: u32 = 0u;
    var found_1: u32 = 0u;
    var found_2: u32 = 0u;
    var found_3: u32 = 0u;
    var waits: u32 = 1u;
    if (tid < 32u) {
      let end = patience;
      for (var early = 0u; early < end; early += 1u) {
        let now_2 = (atomicLoad(&words[place_4]));
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
      var odd: u32 = 0u;
      odd = odd | (found ^ tag);
      odd = odd | (found_1 ^ tag);
      odd = odd | (found_2 ^ tag);
      odd = odd | (found_3 ^ tag);
      if ((odd & 3u) == 0u) {
        waits = 0u;
        break;
      }
      var n_failed_1: u32 = 0u;
      if ((tries & 255u) == 255u) {
        let now_8 = (atomicLoad(&words[32u]));
        n_failed_1 = now_8;
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
    let v = vec4<f32>(value, value_1, value_2, value_3);
    var squares: f32 = 0f;
    let weighted = v * gain_1;
    let size = abs(weighted);
    let most = max(max(size.x, size.y), max(size.z, size.w));
    let sg = subgroupShuffleXor(most, 4u);
    let sum = max(most, sg);
    let sg_1 = subgroupShuffleXor(sum, 2u);
    let sum_1 = max(sum, sg_1);
    let sg_2 = subgroupShuffleXor(sum_1, 1u);
    let sum_2 = max(sum_1, sg_2);
    let to_int8 = select(0f, 127f / sum_2, sum_2 > 1e-35f);
    let moved = weighted * to_int8 + vec4<f32>(12582912f);
    let q = bitcast<vec4<i32>>(moved);
    let packed = pack4xI8(q);
    let sg_3 = subgroupShuffleXor(packed, 1u);
    let other_word = sg_3;
    let sg_4 = subgroupShuffleXor(packed, 2u);
    let other_word_1 = sg_4;
    let sg_5 = subgroupShuffleXor(packed, 3u);
    let other_word_2 = sg_5;
    if ((tid + 0u) < 64u) {
      let quad_2 = tid + 0u;
      if ((tid & 3u) == 0u) {
        let piece = quad_2 / 4u;
        narrow[piece % 1u * 16u + piece / 1u] = vec4<u32>(packed, other_word, other_word_1, other_word_2);
      }
      if ((tid & 7u) == 0u) {
        let run_of_row = quad_2 / 8u;
        let run_scale = sum_2 / 127f;
        let run_at = run_of_row % 1u * 16u + run_of_row / 1u;
        narrow_runs[run_at] = vec2<f32>(run_scale, most);
      }
      squares += dot(v, v);
    }
    let my_squares = squares;
    let sg_6 = subgroupShuffleXor(my_squares, 16u);
    let sum_3 = my_squares + sg_6;
    let sg_7 = subgroupShuffleXor(sum_3, 8u);
    let sum_4 = sum_3 + sg_7;
    let sg_8 = subgroupShuffleXor(sum_4, 4u);
    let sum_5 = sum_4 + sg_8;
    let sg_9 = subgroupShuffleXor(sum_5, 2u);
    let sum_6 = sum_5 + sg_9;
    let sg_10 = subgroupShuffleXor(sum_6, 1u);
    let sum_7 = sum_6 + sg_10;
    if ((tid & 31u) == 0u) {
      squares_of_group[tid / 32u] = sum_7;
    }
    workgroupBarrier();
    let squares_part = squares_of_group[tid & 7u];
    let sg_11 = subgroupShuffleXor(squares_part, 4u);
    let sum_8 = squares_part + sg_11;
    let sg_12 = subgroupShuffleXor(sum_8, 2u);
    let sum_9 = sum_8 + sg_12;
    let sg_13 = subgroupShuffleXor(sum_9, 1u);
    let sum_10 = sum_9 + sg_13;
    let norm_factor = 1f / sqrt(sum_10 / 256f + 1e-05f);
    let key_of_layer = layer * kv_layer + key_at;
    let k8 = kv[key_of_layer + 0u];
    let v8 = kv[key_of_layer + 2048u];
    let lane_of_row_1 = tid & 15u;
    let row_2 = first_row_4 + tid / 16u;
    let units_at_1 = units_of_layer_1 + 0u;
    let scales_at_1 = scales_of_layer_1 + 0u;
    let unit_1 = next_unit;
    let scale_1 = next_scale;
    let start_1 = min(row_2, end_row_4 - 1u) * 16u;
    var acc: f32 = 0f;
    let i_1 = lane_of_row_1 + 0u;
    var part: f32 = 0f;
    let x16 = narrow[i_1 + 0u];
    let x4 = x16.x;
    let x4_1 = x16.y;
    let x4_2 = x16.z;
    let x4_3 = x16.w;
    let run = narrow_runs[i_1 / 2u];
    var dot_of_bytes: i32 = 0i;
    let bytes = unit_1.x ^ 2155905152u;
    dot_of_bytes = dot_of_bytes + dot4I8Packed(bytes, x4);
    let bytes_1 = unit_1.y ^ 2155905152u;
    dot_of_bytes = dot_of_bytes + dot4I8Packed(bytes_1, x4_1);
    let bytes_2 = unit_1.z ^ 2155905152u;
    dot_of_bytes = dot_of_bytes + dot4I8Packed(bytes_2, x4_2);
    let bytes_3 = unit_1.w ^ 2155905152u;
    dot_of_bytes = dot_of_bytes + dot4I8Packed(bytes_3, x4_3);
    let int8_dot = f32(dot_of_bytes);
    part += int8_dot * run.x;
    acc += part * scale_1;
    let mine = acc;
    let sg_14 = subgroupShuffleXor(mine, 8u);
    let sum_11 = mine + sg_14;
    let sg_15 = subgroupShuffleXor(sum_11, 4u);
    let sum_12 = sum_11 + sg_15;
    let sg_16 = subgroupShuffleXor(sum_12, 2u);
    let sum_13 = sum_12 + sg_16;
    let sg_17 = subgroupShuffleXor(sum_13, 1u);
    let sum_14 = sum_13 + sg_17;
    if ((lane_of_row_1 == 0u) && (row_2 < end_row_4)) {
      let place_5 = row_2 + 320u;
      let value_4 = sum_14 * norm_factor;
      let value_bits_1 = bitcast<u32>(value_4);
      let half_1 = select(2u, 0u, (value_bits_1 & 2139095040u) == 2139095040u);
      let rounded_1 = value_bits_1 + half_1;
      atomicStore(&words[place_5], (rounded_1 & 4294967292u) | tag);
    }
    for (var more = first_row_4 + 16u; more < end_row_4; more += 16u) {
      let row_3 = more + tid / 16u;
      let start_2 = min(row_3, end_row_4 - 1u) * 16u;
      let i_2 = lane_of_row_1 + 0u;
      let at_1 = start_2 + i_2;
      let unit_2 = w[units_at_1 + at_1];
      let block_2 = at_1 / 2u;
      let halves_1 = scales[scales_at_1 + block_2 / 2u] >> ((block_2 & 1u) * 16u);
      let scale_2 = unpack2x16float(halves_1);
      var acc_1: f32 = 0f;
      let i_3 = lane_of_row_1 + 0u;
      var part_1: f32 = 0f;
      let x16_1 = narrow[i_3 + 0u];
      let x4_4 = x16_1.x;
      let x4_5 = x16_1.y;
      let x4_6 = x16_1.z;
      let x4_7 = x16_1.w;
      let run_1 = narrow_runs[i_3 / 2u];
      var dot_of_bytes_1: i32 = 0i;
      let bytes_4 = unit_2.x ^ 2155905152u;
      dot_of_bytes_1 = dot_of_bytes_1 + dot4I8Packed(bytes_4, x4_4);
      let bytes_5 = unit_2.y ^ 2155905152u;
      dot_of_bytes_1 = dot_of_bytes_1 + dot4I8Packed(bytes_5, x4_5);
      let bytes_6 = unit_2.z ^ 2155905152u;
      dot_of_bytes_1 = dot_of_bytes_1 + dot4I8Packed(bytes_6, x4_6);
      let bytes_7 = unit_2.w ^ 2155905152u;
      dot_of_bytes_1 = dot_of_bytes_1 + dot4I8Packed(bytes_7, x4_7);
      let int8_dot_1 = f32(dot_of_bytes_1);
      part_1 += int8_dot_1 * run_1.x;
      acc_1 += part_1 * scale_2.x;
      let mine_1 = acc_1;
      let sg_18 = subgroupShuffleXor(mine_1, 8u);
      let sum_15 = mine_1 + sg_18;
      let sg_19 = subgroupShuffleXor(sum_15, 4u);
      let sum_16 = sum_15 + sg_19;
      let sg_20 = subgroupShuffleXor(sum_16, 2u);
      let sum_17 = sum_16 + sg_20;
      let sg_21 = subgroupShuffleXor(sum_17, 1u);
      let sum_18 = sum_17 + sg_21;
      if ((lane_of_row_1 == 0u) && (row_3 < end_row_4)) {
        let place_6 = row_3 + 320u;
        let value_5 = sum_18 * norm_factor;
        let value_bits_2 = bitcast<u32>(value_5);
        let half_2 = select(2u, 0u, (value_bits_2 & 2139095040u) == 2139095040u);
        let rounded_2 = value_bits_2 + half_2;
        atomicStore(&words[place_6], (rounded_2 & 4294967292u) | tag);
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
    let place_7 = safe_slot * 64u + a_at + 320u;
    let place_8 = safe_slot * 64u + b_at + 320u;
    let is_needed = (tid + 0u) < n_pairs;
    var found_4: u32 = 0u;
    var found_5: u32 = 0u;
    var waits_1: u32 = 1u;
    if (tid < 32u) {
      let end_2 = patience;
      for (var early_1 = 0u; early_1 < end_2; early_1 += 1u) {
        let now_9 = (atomicLoad(&words[place_8]));
        found_4 = now_9;
        var n_failed_2: u32 = 0u;
        if ((early_1 & 255u) == 255u) {
          let now_10 = (atomicLoad(&words[32u]));
          n_failed_2 = now_10;
        }
        let given_up_2 = n_failed_2 != 0u;
        if ((((found_4 ^ tag) & 3u) == 0u) || given_up_2) {
          break;
        }
      }
    }
    workgroupBarrier();
    if (is_needed) {
      let end_3 = patience;
      for (var tries_1 = 0u; tries_1 < end_3; tries_1 += 1u) {
        let now_11 = (atomicLoad(&words[place_7]));
        found_4 = now_11;
        let now_12 = (atomicLoad(&words[place_8]));
        found_5 = now_12;
        var odd_1: u32 = 0u;
        odd_1 = odd_1 | (found_4 ^ tag);
        odd_1 = odd_1 | (found_5 ^ tag);
        if ((odd_1 & 3u) == 0u) {
          waits_1 = 0u;
          break;
        }
        var n_failed_3: u32 = 0u;
        if ((tries_1 & 255u) == 255u) {
          let now_13 = (atomicLoad(&words[32u]));
          n_failed_3 = now_13;
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
    let value_6 = bitcast<f32>(found_4 & 4294967292u);
    let value_7 = bitcast<f32>(found_5 & 4294967292u);
    let turn = select(angle, vec2<f32>(1f, 0f), is_value);
    let q_factor = select(1f, 0.125f, is_query);
    let turned_a = (value_6 * turn.x - value_7 * turn.y) * q_factor;
    let turned_b = (value_7 * turn.x + value_6 * turn.y) * q_factor;
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
        let block_3 = params[table + safe_pos_1 / 64u];
        let key_at_1 = ((block_3 * 8u + safe_head_1) * 64u + safe_pos_1 % 64u) * 8u + lane_of_pos;
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
      let sg_22 = subgroupShuffleXor(my_part, 4u);
      let sum_19 = my_part + sg_22;
      let sg_23 = subgroupShuffleXor(sum_19, 2u);
      let sum_20 = sum_19 + sg_23;
      let sg_24 = subgroupShuffleXor(sum_20, 1u);
      let sum_21 = sum_20 + sg_24;
      let seen = select(-3e+38f, sum_21, is_seen);
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
          let block_4 = params[table + safe_pos_2 / 64u];
          let key_at_3 = ((block_4 * 8u + safe_head_2) * 64u + safe_pos_2 % 64u) * 8u + lane_of_pos;
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
        let sg_25 = subgroupShuffleXor(my_part_1, 4u);
        let sum_22 = my_part_1 + sg_25;
        let sg_26 = subgroupShuffleXor(sum_22, 2u);
        let sum_23 = sum_22 + sg_26;
        let sg_27 = subgroupShuffleXor(sum_23, 1u);
        let sum_24 = sum_23 + sg_27;
        let seen_1 = select(-3e+38f, sum_24, is_seen_1);
        let most_1 = max(greatest, seen_1);
        let shrink = exp(greatest - most_1);
        let weight = select(0f, exp(seen_1 - most_1), is_seen_1);
        total = total * shrink + weight;
        let v4_6 = select(vec4<f32>(0f), v4_4, is_seen_1);
        acc_2 = acc_2 * shrink + v4_6 * weight;
        let v4_7 = select(vec4<f32>(0f), v4_5, is_seen_1);
        acc_3 = acc_3 * shrink + v4_7 * weight;
        greatest = most_1;
      }
    }
    if (has_positions) {
      var most_2: f32 = greatest;
      let mine_2 = most_2;
      let sg_28 = subgroupShuffleXor(mine_2, 8u);
      most_2 = max(mine_2, sg_28);
      let mine_3 = most_2;
      let sg_29 = subgroupShuffleXor(mine_3, 16u);
      most_2 = max(mine_3, sg_29);
      let of_subgroup = most_2;
      let shrink_1 = exp(greatest - of_subgroup);
      let my_total = total * shrink_1;
      let sg_30 = subgroupShuffleXor(my_total, 8u);
      let sum_25 = my_total + sg_30;
      let sg_31 = subgroupShuffleXor(sum_25, 16u);
      let sum_26 = sum_25 + sg_31;
      let sums_row = (tid / 32u * 1u + 0u) * 68u;
      let mine_4 = acc_2.x * shrink_1;
      let sg_32 = subgroupShuffleXor(mine_4, 8u);
      let sum_27 = mine_4 + sg_32;
      let sg_33 = subgroupShuffleXor(sum_27, 16u);
      let sum_28 = sum_27 + sg_33;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 0u)] = sum_28;
      }
      let mine_5 = acc_2.y * shrink_1;
      let sg_34 = subgroupShuffleXor(mine_5, 8u);
      let sum_29 = mine_5 + sg_34;
      let sg_35 = subgroupShuffleXor(sum_29, 16u);
      let sum_30 = sum_29 + sg_35;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 1u)] = sum_30;
      }
      let mine_6 = acc_2.z * shrink_1;
      let sg_36 = subgroupShuffleXor(mine_6, 8u);
      let sum_31 = mine_6 + sg_36;
      let sg_37 = subgroupShuffleXor(sum_31, 16u);
      let sum_32 = sum_31 + sg_37;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 2u)] = sum_32;
      }
      let mine_7 = acc_2.w * shrink_1;
      let sg_38 = subgroupShuffleXor(mine_7, 8u);
      let sum_33 = mine_7 + sg_38;
      let sg_39 = subgroupShuffleXor(sum_33, 16u);
      let sum_34 = sum_33 + sg_39;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 3u)] = sum_34;
      }
      let mine_8 = acc_3.x * shrink_1;
      let sg_40 = subgroupShuffleXor(mine_8, 8u);
      let sum_35 = mine_8 + sg_40;
      let sg_41 = subgroupShuffleXor(sum_35, 16u);
      let sum_36 = sum_35 + sg_41;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 4u)] = sum_36;
      }
      let mine_9 = acc_3.y * shrink_1;
      let sg_42 = subgroupShuffleXor(mine_9, 8u);
      let sum_37 = mine_9 + sg_42;
      let sg_43 = subgroupShuffleXor(sum_37, 16u);
      let sum_38 = sum_37 + sg_43;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 5u)] = sum_38;
      }
      let mine_10 = acc_3.z * shrink_1;
      let sg_44 = subgroupShuffleXor(mine_10, 8u);
      let sum_39 = mine_10 + sg_44;
      let sg_45 = subgroupShuffleXor(sum_39, 16u);
      let sum_40 = sum_39 + sg_45;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 6u)] = sum_40;
      }
      let mine_11 = acc_3.w * shrink_1;
      let sg_46 = subgroupShuffleXor(mine_11, 8u);
      let sum_41 = mine_11 + sg_46;
      let sg_47 = subgroupShuffleXor(sum_41, 16u);
      let sum_42 = sum_41 + sg_47;
      if ((tid % 32u) < 8u) {
        sums[sums_row + ((lane_of_pos + 0u) * 8u + 7u)] = sum_42;
      }
      if ((tid % 32u) == 0u) {
        sums[sums_row + 64u] = of_subgroup;
        sums[sums_row + 65u] = sum_26;
      }
    }
    workgroupBarrier();
    let n_told = 1u;
    for (var out_value = tid; out_value < n_told * 64u; out_value += 256u) {
      let head_1 = out_value / 64u;
      let dim = out_value % 64u;
      var most_3: f32 = -3e+38f;
      for (var i_4 = 0u; i_4 < n_used; i_4 += 1u) {
        let sums_row_1 = (head_1 + i_4 * 1u) * 68u;
        let top = sums[sums_row_1 + 64u];
        most_3 = max(most_3, top);
      }
      var out_sum: f32 = 0f;
      var weights: f32 = 0f;
      for (var i_5 = 0u; i_5 < n_used; i_5 += 1u) {
        let sums_row_2 = (head_1 + i_5 * 1u) * 68u;
        let top_1 = sums[sums_row_2 + 64u];
        let shrink_2 = exp(top_1 - most_3);
        out_sum += sums[sums_row_2 + dim] * shrink_2;
        weights += sums[sums_row_2 + 65u] * shrink_2;
      }
      let part_at = ((first_head + head_1 + 0u) * 2u + split) * 66u;
      if (is_used) {
        let place_9 = part_at + dim + 1088u;
        let whole = out_sum;
        let value_bits_3 = bitcast<u32>(whole);
        let half_3 = select(2u, 0u, (value_bits_3 & 2139095040u) == 2139095040u);
        let rounded_3 = value_bits_3 + half_3;
        atomicStore(&words[place_9], (rounded_3 & 4294967292u) | tag);
        if (dim == 0u) {
          let place_10 = part_at + 1152u;
          let top_of_all = most_3;
          let value_bits_4 = bitcast<u32>(top_of_all);
          let half_4 = select(2u, 0u, (value_bits_4 & 2139095040u) == 2139095040u);
          let rounded_4 = value_bits_4 + half_4;
          atomicStore(&words[place_10], (rounded_4 & 4294967292u) | tag);
          let place_11 = part_at + 1153u;
          let whole_weight = weights;
          let value_bits_5 = bitcast<u32>(whole_weight);
          let half_5 = select(2u, 0u, (value_bits_5 & 2139095040u) == 2139095040u);
          let rounded_5 = value_bits_5 + half_5;
          atomicStore(&words[place_11], (rounded_5 & 4294967292u) | tag);
        }
      }
    }
    let lane_of_row_2 = tid & 15u;
    let row_4 = first_row_1 + tid / 16u;
    let units_at_2 = units_of_layer_1 + 12288u;
    let scales_at_2 = scales_of_layer_1 + 3072u;
    let start_3 = min(row_4, end_row_1 - 1u) * 16u;
    let i_6 = lane_of_row_2 + 0u;
    let at_2 = start_3 + i_6;
    let unit_3 = w[units_at_2 + at_2];
    let block_5 = at_2 / 2u;
    let halves_2 = scales[scales_at_2 + block_5 / 2u] >> ((block_5 & 1u) * 16u);
    let scale_3 = unpack2x16float(halves_2);
    let first_row_5 = wg.x * 256u / n_wg.x;
    let end_row_5 = (wg.x + 1u) * 256u / n_wg.x;
    let has_more = splits > 8u;
    let lane_of_value = tid % 8u;
    let group_of_value = tid / 8u;
    for (var from_value_1 = first_row_5; from_value_1 < end_row_5; from_value_1 += 32u) {
      let is_needed_1 = (from_value_1 + group_of_value) < end_row_5;
      let out = min(from_value_1 + group_of_value, end_row_5 - 1u);
      let head_2 = out / 64u;
      let part_2 = lane_of_value + 0u;
      let safe_part = min(part_2, splits - 1u);
      let part_at_1 = (head_2 * 2u + safe_part) * 66u + 1088u;
      let place_12 = part_at_1 + out % 64u;
      let place_13 = part_at_1 + 64u;
      let place_14 = part_at_1 + 65u;
      var found_6: u32 = 0u;
      var found_7: u32 = 0u;
      var found_8: u32 = 0u;
      var waits_2: u32 = 1u;
      if (tid < 32u) {
        let end_4 = patience;
        for (var early_2 = 0u; early_2 < end_4; early_2 += 1u) {
          let now_14 = (atomicLoad(&words[place_14]));
          found_6 = now_14;
          var n_failed_4: u32 = 0u;
          if ((early_2 & 255u) == 255u) {
            let now_15 = (atomicLoad(&words[32u]));
            n_failed_4 = now_15;
          }
          let given_up_4 = n_failed_4 != 0u;
          if ((((found_6 ^ tag) & 3u) == 0u) || given_up_4) {
            break;
          }
        }
      }
      workgroupBarrier();
      if (is_needed_1) {
        let end_5 = patience;
        for (var tries_2 = 0u; tries_2 < end_5; tries_2 += 1u) {
          let now_16 = (atomicLoad(&words[place_12]));
          found_6 = now_16;
          let now_17 = (atomicLoad(&words[place_13]));
          found_7 = now_17;
          let now_18 = (atomicLoad(&words[place_14]));
          found_8 = now_18;
          var odd_2: u32 = 0u;
          odd_2 = odd_2 | (found_6 ^ tag);
          odd_2 = odd_2 | (found_7 ^ tag);
          odd_2 = odd_2 | (found_8 ^ tag);
          if ((odd_2 & 3u) == 0u) {
            waits_2 = 0u;
            break;
          }
          var n_failed_5: u32 = 0u;
          if ((tries_2 & 255u) == 255u) {
            let now_19 = (atomicLoad(&words[32u]));
            n_failed_5 = now_19;
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
      let value_8 = bitcast<f32>(found_6 & 4294967292u);
      let value_9 = bitcast<f32>(found_7 & 4294967292u);
      let value_10 = bitcast<f32>(found_8 & 4294967292u);
      var most_of_lane: f32 = value_9;
      let my_most = most_of_lane;
      let sg_48 = subgroupShuffleXor(my_most, 4u);
      let sum_43 = max(my_most, sg_48);
      let sg_49 = subgroupShuffleXor(sum_43, 2u);
      let sum_44 = max(sum_43, sg_49);
      let sg_50 = subgroupShuffleXor(sum_44, 1u);
      let sum_45 = max(sum_44, sg_50);
      let shrink_3 = select(0f, exp(value_9 - sum_45), part_2 < splits);
      var values_of_lane: f32 = value_8 * shrink_3;
      var weights_of_lane: f32 = value_10 * shrink_3;
      let my_value = values_of_lane;
      let my_weight = weights_of_lane;
      let sg_51 = subgroupShuffleXor(my_value, 4u);
      let sum_46 = my_value + sg_51;
      let sg_52 = subgroupShuffleXor(sum_46, 2u);
      let sum_47 = sum_46 + sg_52;
      let sg_53 = subgroupShuffleXor(sum_47, 1u);
      let sum_48 = sum_47 + sg_53;
      let sg_54 = subgroupShuffleXor(my_weight, 4u);
      let sum_49 = my_weight + sg_54;
      let sg_55 = subgroupShuffleXor(sum_49, 2u);
      let sum_50 = sum_49 + sg_55;
      let sg_56 = subgroupShuffleXor(sum_50, 1u);
      let sum_51 = sum_50 + sg_56;
      if ((lane_of_value == 0u) && is_needed_1) {
        let result = sum_48 / sum_51;
        let row_of_block_1 = (out & 3u) * 32u + ((out >> 2u) & 31u);
        let place_15 = (out & 4294967168u) + row_of_block_1 + 1616u;
        let value_bits_6 = bitcast<u32>(result);
        let half_6 = select(2u, 0u, (value_bits_6 & 2139095040u) == 2139095040u);
        let rounded_6 = value_bits_6 + half_6;
        atomicStore(&words[place_15], (rounded_6 & 4294967292u) | tag);
      }
    }
    let quad_3 = min(tid + 0u, 63u);
    let place_16 = quad_3 / 32u * 128u + quad_3 % 32u + 1616u;
    let place_17 = place_16 + 32u;
    let place_18 = place_16 + 64u;
    let place_19 = place_16 + 96u;
    var found_9: u32 = 0u;
    var found_10: u32 = 0u;
    var found_11: u32 = 0u;
    var found_12: u32 = 0u;
    var waits_3: u32 = 1u;
    if (tid < 32u) {
      let end_6 = patience;
      for (var early_3 = 0u; early_3 < end_6; early_3 += 1u) {
        let now_20 = (atomicLoad(&words[place_19]));
        found_9 = now_20;
        var n_failed_6: u32 = 0u;
        if ((early_3 & 255u) == 255u) {
          let now_21 = (atomicLoad(&words[32u]));
          n_failed_6 = now_21;
        }
        let given_up_6 = n_failed_6 != 0u;
        if ((((found_9 ^ tag) & 3u) == 0u) || given_up_6) {
          break;
        }
      }
    }
    workgroupBarrier();
    let end_7 = patience;
    for (var tries_3 = 0u; tries_3 < end_7; tries_3 += 1u) {
      let now_22 = (atomicLoad(&words[place_16]));
      found_9 = now_22;
      let now_23 = (atomicLoad(&words[place_17]));
      found_10 = now_23;
      let now_24 = (atomicLoad(&words[place_18]));
      found_11 = now_24;
      let now_25 = (atomicLoad(&words[place_19]));
      found_12 = now_25;
      var odd_3: u32 = 0u;
      odd_3 = odd_3 | (found_9 ^ tag);
      odd_3 = odd_3 | (found_10 ^ tag);
      odd_3 = odd_3 | (found_11 ^ tag);
      odd_3 = odd_3 | (found_12 ^ tag);
      if ((odd_3 & 3u) == 0u) {
        waits_3 = 0u;
        break;
      }
      var n_failed_7: u32 = 0u;
      if ((tries_3 & 255u) == 255u) {
        let now_26 = (atomicLoad(&words[32u]));
        n_failed_7 = now_26;
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
    let value_11 = bitcast<f32>(found_9 & 4294967292u);
    let value_12 = bitcast<f32>(found_10 & 4294967292u);
    let value_13 = bitcast<f32>(found_11 & 4294967292u);
    let value_14 = bitcast<f32>(found_12 & 4294967292u);
    let v_1 = vec4<f32>(value_11, value_12, value_13, value_14);
    let size_1 = abs(v_1);
    let most_4 = max(max(size_1.x, size_1.y), max(size_1.z, size_1.w));
    let sg_57 = subgroupShuffleXor(most_4, 4u);
    let sum_52 = max(most_4, sg_57);
    let sg_58 = subgroupShuffleXor(sum_52, 2u);
    let sum_53 = max(sum_52, sg_58);
    let sg_59 = subgroupShuffleXor(sum_53, 1u);
    let sum_54 = max(sum_53, sg_59);
    let to_int8_1 = select(0f, 127f / sum_54, sum_54 > 1e-35f);
    let moved_1 = v_1 * to_int8_1 + vec4<f32>(12582912f);
    let q_1 = bitcast<vec4<i32>>(moved_1);
    let packed_1 = pack4xI8(q_1);
    let sg_60 = subgroupShuffleXor(packed_1, 1u);
    let other_word_3 = sg_60;
    let sg_61 = subgroupShuffleXor(packed_1, 2u);
    let other_word_4 = sg_61;
    let sg_62 = subgroupShuffleXor(packed_1, 3u);
    let other_word_5 = sg_62;
    if ((tid + 0u) < 64u) {
      let quad_4 = tid + 0u;
      if ((tid & 3u) == 0u) {
        let piece_1 = quad_4 / 4u;
        wide[piece_1 % 1u * 16u + piece_1 / 1u] = vec4<u32>(packed_1, other_word_3, other_word_4, other_word_5);
      }
      if ((tid & 7u) == 0u) {
        let run_of_row_1 = quad_4 / 8u;
        let run_scale_1 = sum_54 / 127f;
        let run_at_1 = run_of_row_1 % 1u * 16u + run_of_row_1 / 1u;
        wide_runs[run_at_1] = vec2<f32>(run_scale_1, most_4);
      }
    }
    workgroupBarrier();
    let lane_of_row_3 = tid & 15u;
    let row_5 = first_row_2 + tid / 16u;
    let units_at_3 = units_of_layer_1 + 16384u;
    let scales_at_3 = scales_of_layer_1 + 4096u;
    let units_at_4 = units_of_layer_1 + 20480u;
    let scales_at_4 = scales_of_layer_1 + 5120u;
    let start_4 = min(row_5, end_row_2 - 1u) * 16u;
    let i_7 = lane_of_row_3 + 0u;
    let at_3 = start_4 + i_7;
    let unit_4 = w[units_at_3 + at_3];
    let block_6 = at_3 / 2u;
    let halves_3 = scales[scales_at_3 + block_6 / 2u] >> ((block_6 & 1u) * 16u);
    let scale_4 = unpack2x16float(halves_3);
    let at_4 = start_4 + i_7;
    let unit_5 = w[units_at_4 + at_4];
    let block_7 = at_4 / 2u;
    let halves_4 = scales[scales_at_4 + block_7 / 2u] >> ((block_7 & 1u) * 16u);
    let scale_5 = unpack2x16float(halves_4);
    let vectors_at_1 = layer * 512u + 256u;
    let quad_5 = min(tid + 0u, 63u);
    let from_value_2 = vectors_at_1 + quad_5 * 4u;
    let v0_1 = vectors[from_value_2];
    let v1_1 = vectors[from_value_2 + 1u];
    let v2_1 = vectors[from_value_2 + 2u];
    let v3_1 = vectors[from_value_2 + 3u];
    let gain_2 = vec4<f32>(v0_1, v1_1, v2_1, v3_1);
    let start_5 = min(row_4, end_row_1 - 1u) * 16u;
    var acc_4: f32 = 0f;
    let i_8 = lane_of_row_2 + 0u;
    var part_3: f32 = 0f;
    let x16_2 = wide[i_8 + 0u];
    let x4_8 = x16_2.x;
    let x4_9 = x16_2.y;
    let x4_10 = x16_2.z;
    let x4_11 = x16_2.w;
    let run_2 = wide_runs[i_8 / 2u];
    var dot_of_bytes_2: i32 = 0i;
    let bytes_8 = unit_3.x ^ 2155905152u;
    dot_of_bytes_2 = dot_of_bytes_2 + dot4I8Packed(bytes_8, x4_8);
    let bytes_9 = unit_3.y ^ 2155905152u;
    dot_of_bytes_2 = dot_of_bytes_2 + dot4I8Packed(bytes_9, x4_9);
    let bytes_10 = unit_3.z ^ 2155905152u;
    dot_of_bytes_2 = dot_of_bytes_2 + dot4I8Packed(bytes_10, x4_10);
    let bytes_11 = unit_3.w ^ 2155905152u;
    dot_of_bytes_2 = dot_of_bytes_2 + dot4I8Packed(bytes_11, x4_11);
    let int8_dot_2 = f32(dot_of_bytes_2);
    part_3 += int8_dot_2 * run_2.x;
    acc_4 += part_3 * scale_3.x;
    let mine_12 = acc_4;
    let sg_63 = subgroupShuffleXor(mine_12, 8u);
    let sum_55 = mine_12 + sg_63;
    let sg_64 = subgroupShuffleXor(sum_55, 4u);
    let sum_56 = sum_55 + sg_64;
    let sg_65 = subgroupShuffleXor(sum_56, 2u);
    let sum_57 = sum_56 + sg_65;
    let sg_66 = subgroupShuffleXor(sum_57, 1u);
    let sum_58 = sum_57 + sg_66;
    if ((lane_of_row_2 == 0u) && (row_4 < end_row_1)) {
      let mine_at = row_4 - first_row;
      let x_new = residual[mine_at] + sum_58;
      residual[mine_at] = x_new;
      let row_of_block_2 = (row_4 & 3u) * 32u + ((row_4 >> 2u) & 31u);
      let place_20 = (row_4 & 4294967168u) + row_of_block_2 + 1872u;
      let value_bits_7 = bitcast<u32>(x_new);
      let half_7 = select(2u, 0u, (value_bits_7 & 2139095040u) == 2139095040u);
      let rounded_7 = value_bits_7 + half_7;
      atomicStore(&words[place_20], (rounded_7 & 4294967292u) | tag);
    }
    for (var more_1 = first_row_1 + 16u; more_1 < end_row_1; more_1 += 16u) {
      let row_6 = more_1 + tid / 16u;
      let start_6 = min(row_6, end_row_1 - 1u) * 16u;
      let i_9 = lane_of_row_2 + 0u;
      let at_5 = start_6 + i_9;
      let unit_6 = w[units_at_2 + at_5];
      let block_8 = at_5 / 2u;
      let halves_5 = scales[scales_at_2 + block_8 / 2u] >> ((block_8 & 1u) * 16u);
      let scale_6 = unpack2x16float(halves_5);
      var acc_5: f32 = 0f;
      let i_10 = lane_of_row_2 + 0u;
      var part_4: f32 = 0f;
      let x16_3 = wide[i_10 + 0u];
      let x4_12 = x16_3.x;
      let x4_13 = x16_3.y;
      let x4_14 = x16_3.z;
      let x4_15 = x16_3.w;
      let run_3 = wide_runs[i_10 / 2u];
      var dot_of_bytes_3: i32 = 0i;
      let bytes_12 = unit_6.x ^ 2155905152u;
      dot_of_bytes_3 = dot_of_bytes_3 + dot4I8Packed(bytes_12, x4_12);
      let bytes_13 = unit_6.y ^ 2155905152u;
      dot_of_bytes_3 = dot_of_bytes_3 + dot4I8Packed(bytes_13, x4_13);
      let bytes_14 = unit_6.z ^ 2155905152u;
      dot_of_bytes_3 = dot_of_bytes_3 + dot4I8Packed(bytes_14, x4_14);
      let bytes_15 = unit_6.w ^ 2155905152u;
      dot_of_bytes_3 = dot_of_bytes_3 + dot4I8Packed(bytes_15, x4_15);
      let int8_dot_3 = f32(dot_of_bytes_3);
      part_4 += int8_dot_3 * run_3.x;
      acc_5 += part_4 * scale_6.x;
      let mine_13 = acc_5;
      let sg_67 = subgroupShuffleXor(mine_13, 8u);
      let sum_59 = mine_13 + sg_67;
      let sg_68 = subgroupShuffleXor(sum_59, 4u);
      let sum_60 = sum_59 + sg_68;
      let sg_69 = subgroupShuffleXor(sum_60, 2u);
      let sum_61 = sum_60 + sg_69;
      let sg_70 = subgroupShuffleXor(sum_61, 1u);
      let sum_62 = sum_61 + sg_70;
      if ((lane_of_row_2 == 0u) && (row_6 < end_row_1)) {
        let mine_at_1 = row_6 - first_row;
        let x_new_1 = residual[mine_at_1] + sum_62;
        residual[mine_at_1] = x_new_1;
        let row_of_block_3 = (row_6 & 3u) * 32u + ((row_6 >> 2u) & 31u);
        let place_21 = (row_6 & 4294967168u) + row_of_block_3 + 1872u;
        let value_bits_8 = bitcast<u32>(x_new_1);
        let half_8 = select(2u, 0u, (value_bits_8 & 2139095040u) == 2139095040u);
        let rounded_8 = value_bits_8 + half_8;
        atomicStore(&words[place_21], (rounded_8 & 4294967292u) | tag);
      }
    }
    let quad_6 = min(tid + 0u, 63u);
    let place_22 = quad_6 / 32u * 128u + quad_6 % 32u + 1872u;
    let place_23 = place_22 + 32u;
    let place_24 = place_22 + 64u;
    let place_25 = place_22 + 96u;
    var found_13: u32 = 0u;
    var found_14: u32 = 0u;
    var found_15: u32 = 0u;
    var found_16: u32 = 0u;
    var waits_4: u32 = 1u;
    if (tid < 32u) {
      let end_8 = patience;
      for (var early_4 = 0u; early_4 < end_8; early_4 += 1u) {
        let now_27 = (atomicLoad(&words[place_25]));
        found_13 = now_27;
        var n_failed_8: u32 = 0u;
        if ((early_4 & 255u) == 255u) {
          let now_28 = (atomicLoad(&words[32u]));
          n_failed_8 = now_28;
        }
        let given_up_8 = n_failed_8 != 0u;
        if ((((found_13 ^ tag) & 3u) == 0u) || given_up_8) {
          break;
        }
      }
    }
    workgroupBarrier();
    let end_9 = patience;
    for (var tries_4 = 0u; tries_4 < end_9; tries_4 += 1u) {
      let now_29 = (atomicLoad(&words[place_22]));
      found_13 = now_29;
      let now_30 = (atomicLoad(&words[place_23]));
      found_14 = now_30;
      let now_31 = (atomicLoad(&words[place_24]));
      found_15 = now_31;
      let now_32 = (atomicLoad(&words[place_25]));
      found_16 = now_32;
      var odd_4: u32 = 0u;
      odd_4 = odd_4 | (found_13 ^ tag);
      odd_4 = odd_4 | (found_14 ^ tag);
      odd_4 = odd_4 | (found_15 ^ tag);
      odd_4 = odd_4 | (found_16 ^ tag);
      if ((odd_4 & 3u) == 0u) {
        waits_4 = 0u;
        break;
      }
      var n_failed_9: u32 = 0u;
      if ((tries_4 & 255u) == 255u) {
        let now_33 = (atomicLoad(&words[32u]));
        n_failed_9 = now_33;
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
    let value_15 = bitcast<f32>(found_13 & 4294967292u);
    let value_16 = bitcast<f32>(found_14 & 4294967292u);
    let value_17 = bitcast<f32>(found_15 & 4294967292u);
    let value_18 = bitcast<f32>(found_16 & 4294967292u);
    let v_2 = vec4<f32>(value_15, value_16, value_17, value_18);
    var squares_1: f32 = 0f;
    let weighted_1 = v_2 * gain_2;
    let size_2 = abs(weighted_1);
    let most_5 = max(max(size_2.x, size_2.y), max(size_2.z, size_2.w));
    let sg_71 = subgroupShuffleXor(most_5, 4u);
    let sum_63 = max(most_5, sg_71);
    let sg_72 = subgroupShuffleXor(sum_63, 2u);
    let sum_64 = max(sum_63, sg_72);
    let sg_73 = subgroupShuffleXor(sum_64, 1u);
    let sum_65 = max(sum_64, sg_73);
    let to_int8_2 = select(0f, 127f / sum_65, sum_65 > 1e-35f);
    let moved_2 = weighted_1 * to_int8_2 + vec4<f32>(12582912f);
    let q_2 = bitcast<vec4<i32>>(moved_2);
    let packed_2 = pack4xI8(q_2);
    let sg_74 = subgroupShuffleXor(packed_2, 1u);
    let other_word_6 = sg_74;
    let sg_75 = subgroupShuffleXor(packed_2, 2u);
    let other_word_7 = sg_75;
    let sg_76 = subgroupShuffleXor(packed_2, 3u);
    let other_word_8 = sg_76;
    if ((tid + 0u) < 64u) {
      let quad_7 = tid + 0u;
      if ((tid & 3u) == 0u) {
        let piece_2 = quad_7 / 4u;
        narrow[piece_2 % 1u * 16u + piece_2 / 1u] = vec4<u32>(packed_2, other_word_6, other_word_7, other_word_8);
      }
      if ((tid & 7u) == 0u) {
        let run_of_row_2 = quad_7 / 8u;
        let run_scale_2 = sum_65 / 127f;
        let run_at_2 = run_of_row_2 % 1u * 16u + run_of_row_2 / 1u;
        narrow_runs[run_at_2] = vec2<f32>(run_scale_2, most_5);
      }
      squares_1 += dot(v_2, v_2);
    }
    let my_squares_1 = squares_1;
    let sg_77 = subgroupShuffleXor(my_squares_1, 16u);
    let sum_66 = my_squares_1 + sg_77;
    let sg_78 = subgroupShuffleXor(sum_66, 8u);
    let sum_67 = sum_66 + sg_78;
    let sg_79 = subgroupShuffleXor(sum_67, 4u);
    let sum_68 = sum_67 + sg_79;
    let sg_80 = subgroupShuffleXor(sum_68, 2u);
    let sum_69 = sum_68 + sg_80;
    let sg_81 = subgroupShuffleXor(sum_69, 1u);
    let sum_70 = sum_69 + sg_81;
    if ((tid & 31u) == 0u) {
      squares_of_group[tid / 32u] = sum_70;
    }
    workgroupBarrier();
    let squares_part_1 = squares_of_group[tid & 7u];
    let sg_82 = subgroupShuffleXor(squares_part_1, 4u);
    let sum_71 = squares_part_1 + sg_82;
    let sg_83 = subgroupShuffleXor(sum_71, 2u);
    let sum_72 = sum_71 + sg_83;
    let sg_84 = subgroupShuffleXor(sum_72, 1u);
    let sum_73 = sum_72 + sg_84;
    let norm_factor_1 = 1f / sqrt(sum_73 / 256f + 1e-05f);
    let lane_of_row_4 = tid & 15u;
    let row_7 = first_row_3 + tid / 16u;
    let units_at_5 = units_of_layer_1 + 24576u;
    let scales_at_5 = scales_of_layer_1 + 6144u;
    let start_7 = min(row_7, end_row_3 - 1u) * 16u;
    let i_11 = lane_of_row_4 + 0u;
    let at_6 = start_7 + i_11;
    let unit_7 = w[units_at_5 + at_6];
    let block_9 = at_6 / 2u;
    let halves_6 = scales[scales_at_5 + block_9 / 2u] >> ((block_9 & 1u) * 16u);
    let scale_7 = unpack2x16float(halves_6);
    let start_8 = min(row_5, end_row_2 - 1u) * 16u;
    var acc_6: f32 = 0f;
    var acc_7: f32 = 0f;
    let i_12 = lane_of_row_3 + 0u;
    var part_5: f32 = 0f;
    var part_6: f32 = 0f;
    let x16_4 = narrow[i_12 + 0u];
    let x4_16 = x16_4.x;
    let x4_17 = x16_4.y;
    let x4_18 = x16_4.z;
    let x4_19 = x16_4.w;
    let run_4 = narrow_runs[i_12 / 2u];
    var dot_of_bytes_4: i32 = 0i;
    let bytes_16 = unit_4.x ^ 2155905152u;
    dot_of_bytes_4 = dot_of_bytes_4 + dot4I8Packed(bytes_16, x4_16);
    let bytes_17 = unit_4.y ^ 2155905152u;
    dot_of_bytes_4 = dot_of_bytes_4 + dot4I8Packed(bytes_17, x4_17);
    let bytes_18 = unit_4.z ^ 2155905152u;
    dot_of_bytes_4 = dot_of_bytes_4 + dot4I8Packed(bytes_18, x4_18);
    let bytes_19 = unit_4.w ^ 2155905152u;
    dot_of_bytes_4 = dot_of_bytes_4 + dot4I8Packed(bytes_19, x4_19);
    let int8_dot_4 = f32(dot_of_bytes_4);
    part_5 += int8_dot_4 * run_4.x;
    var dot_of_bytes_5: i32 = 0i;
    let bytes_20 = unit_5.x ^ 2155905152u;
    dot_of_bytes_5 = dot_of_bytes_5 + dot4I8Packed(bytes_20, x4_16);
    let bytes_21 = unit_5.y ^ 2155905152u;
    dot_of_bytes_5 = dot_of_bytes_5 + dot4I8Packed(bytes_21, x4_17);
    let bytes_22 = unit_5.z ^ 2155905152u;
    dot_of_bytes_5 = dot_of_bytes_5 + dot4I8Packed(bytes_22, x4_18);
    let bytes_23 = unit_5.w ^ 2155905152u;
    dot_of_bytes_5 = dot_of_bytes_5 + dot4I8Packed(bytes_23, x4_19);
    let int8_dot_5 = f32(dot_of_bytes_5);
    part_6 += int8_dot_5 * run_4.x;
    acc_6 += part_5 * scale_4.x;
    acc_7 += part_6 * scale_5.x;
    let mine_14 = acc_6;
    let sg_85 = subgroupShuffleXor(mine_14, 8u);
    let sum_74 = mine_14 + sg_85;
    let sg_86 = subgroupShuffleXor(sum_74, 4u);
    let sum_75 = sum_74 + sg_86;
    let sg_87 = subgroupShuffleXor(sum_75, 2u);
    let sum_76 = sum_75 + sg_87;
    let sg_88 = subgroupShuffleXor(sum_76, 1u);
    let sum_77 = sum_76 + sg_88;
    let mine_15 = acc_7;
    let sg_89 = subgroupShuffleXor(mine_15, 8u);
    let sum_78 = mine_15 + sg_89;
    let sg_90 = subgroupShuffleXor(sum_78, 4u);
    let sum_79 = sum_78 + sg_90;
    let sg_91 = subgroupShuffleXor(sum_79, 2u);
    let sum_80 = sum_79 + sg_91;
    let sg_92 = subgroupShuffleXor(sum_80, 1u);
    let sum_81 = sum_80 + sg_92;
    if ((lane_of_row_3 == 0u) && (row_5 < end_row_2)) {
      let gate = sum_77 * norm_factor_1;
      let up = sum_81 * norm_factor_1;
      let positive = max(gate, 0f);
      let value_19 = positive * positive * up;
      let row_of_block_4 = (row_5 & 3u) * 32u + ((row_5 >> 2u) & 31u);
      let place_26 = (row_5 & 4294967168u) + row_of_block_4 + 2128u;
      let value_bits_9 = bitcast<u32>(value_19);
      let half_9 = select(2u, 0u, (value_bits_9 & 2139095040u) == 2139095040u);
      let rounded_9 = value_bits_9 + half_9;
      atomicStore(&words[place_26], (rounded_9 & 4294967292u) | tag);
    }
    for (var more_2 = first_row_2 + 16u; more_2 < end_row_2; more_2 += 16u) {
      let row_8 = more_2 + tid / 16u;
      let start_9 = min(row_8, end_row_2 - 1u) * 16u;
      let i_13 = lane_of_row_3 + 0u;
      let at_7 = start_9 + i_13;
      let unit_8 = w[units_at_3 + at_7];
      let block_10 = at_7 / 2u;
      let halves_7 = scales[scales_at_3 + block_10 / 2u] >> ((block_10 & 1u) * 16u);
      let scale_8 = unpack2x16float(halves_7);
      let at_8 = start_9 + i_13;
      let unit_9 = w[units_at_4 + at_8];
      let block_11 = at_8 / 2u;
      let halves_8 = scales[scales_at_4 + block_11 / 2u] >> ((block_11 & 1u) * 16u);
      let scale_9 = unpack2x16float(halves_8);
      var acc_8: f32 = 0f;
      var acc_9: f32 = 0f;
      let i_14 = lane_of_row_3 + 0u;
      var part_7: f32 = 0f;
      var part_8: f32 = 0f;
      let x16_5 = narrow[i_14 + 0u];
      let x4_20 = x16_5.x;
      let x4_21 = x16_5.y;
      let x4_22 = x16_5.z;
      let x4_23 = x16_5.w;
      let run_5 = narrow_runs[i_14 / 2u];
      var dot_of_bytes_6: i32 = 0i;
      let bytes_24 = unit_8.x ^ 2155905152u;
      dot_of_bytes_6 = dot_of_bytes_6 + dot4I8Packed(bytes_24, x4_20);
      let bytes_25 = unit_8.y ^ 2155905152u;
      dot_of_bytes_6 = dot_of_bytes_6 + dot4I8Packed(bytes_25, x4_21);
      let bytes_26 = unit_8.z ^ 2155905152u;
      dot_of_bytes_6 = dot_of_bytes_6 + dot4I8Packed(bytes_26, x4_22);
      let bytes_27 = unit_8.w ^ 2155905152u;
      dot_of_bytes_6 = dot_of_bytes_6 + dot4I8Packed(bytes_27, x4_23);
      let int8_dot_6 = f32(dot_of_bytes_6);
      part_7 += int8_dot_6 * run_5.x;
      var dot_of_bytes_7: i32 = 0i;
      let bytes_28 = unit_9.x ^ 2155905152u;
      dot_of_bytes_7 = dot_of_bytes_7 + dot4I8Packed(bytes_28, x4_20);
      let bytes_29 = unit_9.y ^ 2155905152u;
      dot_of_bytes_7 = dot_of_bytes_7 + dot4I8Packed(bytes_29, x4_21);
      let bytes_30 = unit_9.z ^ 2155905152u;
      dot_of_bytes_7 = dot_of_bytes_7 + dot4I8Packed(bytes_30, x4_22);
      let bytes_31 = unit_9.w ^ 2155905152u;
      dot_of_bytes_7 = dot_of_bytes_7 + dot4I8Packed(bytes_31, x4_23);
      let int8_dot_7 = f32(dot_of_bytes_7);
      part_8 += int8_dot_7 * run_5.x;
      acc_8 += part_7 * scale_8.x;
      acc_9 += part_8 * scale_9.x;
      let mine_16 = acc_8;
      let sg_93 = subgroupShuffleXor(mine_16, 8u);
      let sum_82 = mine_16 + sg_93;
      let sg_94 = subgroupShuffleXor(sum_82, 4u);
      let sum_83 = sum_82 + sg_94;
      let sg_95 = subgroupShuffleXor(sum_83, 2u);
      let sum_84 = sum_83 + sg_95;
      let sg_96 = subgroupShuffleXor(sum_84, 1u);
      let sum_85 = sum_84 + sg_96;
      let mine_17 = acc_9;
      let sg_97 = subgroupShuffleXor(mine_17, 8u);
      let sum_86 = mine_17 + sg_97;
      let sg_98 = subgroupShuffleXor(sum_86, 4u);
      let sum_87 = sum_86 + sg_98;
      let sg_99 = subgroupShuffleXor(sum_87, 2u);
      let sum_88 = sum_87 + sg_99;
      let sg_100 = subgroupShuffleXor(sum_88, 1u);
      let sum_89 = sum_88 + sg_100;
      if ((lane_of_row_3 == 0u) && (row_8 < end_row_2)) {
        let gate_1 = sum_85 * norm_factor_1;
        let up_1 = sum_89 * norm_factor_1;
        let positive_1 = max(gate_1, 0f);
        let value_20 = positive_1 * positive_1 * up_1;
        let row_of_block_5 = (row_8 & 3u) * 32u + ((row_8 >> 2u) & 31u);
        let place_27 = (row_8 & 4294967168u) + row_of_block_5 + 2128u;
        let value_bits_10 = bitcast<u32>(value_20);
        let half_10 = select(2u, 0u, (value_bits_10 & 2139095040u) == 2139095040u);
        let rounded_10 = value_bits_10 + half_10;
        atomicStore(&words[place_27], (rounded_10 & 4294967292u) | tag);
      }
    }
    let quad_8 = min(tid + 0u, 63u);
    let place_28 = quad_8 / 32u * 128u + quad_8 % 32u + 2128u;
    let place_29 = place_28 + 32u;
    let place_30 = place_28 + 64u;
    let place_31 = place_28 + 96u;
    var found_17: u32 = 0u;
    var found_18: u32 = 0u;
    var found_19: u32 = 0u;
    var found_20: u32 = 0u;
    var waits_5: u32 = 1u;
    if (tid < 32u) {
      let end_10 = patience;
      for (var early_5 = 0u; early_5 < end_10; early_5 += 1u) {
        let now_34 = (atomicLoad(&words[place_31]));
        found_17 = now_34;
        var n_failed_10: u32 = 0u;
        if ((early_5 & 255u) == 255u) {
          let now_35 = (atomicLoad(&words[32u]));
          n_failed_10 = now_35;
        }
        let given_up_10 = n_failed_10 != 0u;
        if ((((found_17 ^ tag) & 3u) == 0u) || given_up_10) {
          break;
        }
      }
    }
    workgroupBarrier();
    let end_11 = patience;
    for (var tries_5 = 0u; tries_5 < end_11; tries_5 += 1u) {
      let now_36 = (atomicLoad(&words[place_28]));
      found_17 = now_36;
      let now_37 = (atomicLoad(&words[place_29]));
      found_18 = now_37;
      let now_38 = (atomicLoad(&words[place_30]));
      found_19 = now_38;
      let now_39 = (atomicLoad(&words[place_31]));
      found_20 = now_39;
      var odd_5: u32 = 0u;
      odd_5 = odd_5 | (found_17 ^ tag);
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
    let value_21 = bitcast<f32>(found_17 & 4294967292u);
    let value_22 = bitcast<f32>(found_18 & 4294967292u);
    let value_23 = bitcast<f32>(found_19 & 4294967292u);
    let value_24 = bitcast<f32>(found_20 & 4294967292u);
    let v_3 = vec4<f32>(value_21, value_22, value_23, value_24);
    let size_3 = abs(v_3);
    let most_6 = max(max(size_3.x, size_3.y), max(size_3.z, size_3.w));
    let sg_101 = subgroupShuffleXor(most_6, 4u);
    let sum_90 = max(most_6, sg_101);
    let sg_102 = subgroupShuffleXor(sum_90, 2u);
    let sum_91 = max(sum_90, sg_102);
    let sg_103 = subgroupShuffleXor(sum_91, 1u);
    let sum_92 = max(sum_91, sg_103);
    let to_int8_3 = select(0f, 127f / sum_92, sum_92 > 1e-35f);
    let moved_3 = v_3 * to_int8_3 + vec4<f32>(12582912f);
    let q_3 = bitcast<vec4<i32>>(moved_3);
    let packed_3 = pack4xI8(q_3);
    let sg_104 = subgroupShuffleXor(packed_3, 1u);
    let other_word_9 = sg_104;
    let sg_105 = subgroupShuffleXor(packed_3, 2u);
    let other_word_10 = sg_105;
    let sg_106 = subgroupShuffleXor(packed_3, 3u);
    let other_word_11 = sg_106;
    if ((tid + 0u) < 64u) {
      let quad_9 = tid + 0u;
      if ((tid & 3u) == 0u) {
        let piece_3 = quad_9 / 4u;
        wide[piece_3 % 1u * 16u + piece_3 / 1u] = vec4<u32>(packed_3, other_word_9, other_word_10, other_word_11);
      }
      if ((tid & 7u) == 0u) {
        let run_of_row_3 = quad_9 / 8u;
        let run_scale_3 = sum_92 / 127f;
        let run_at_3 = run_of_row_3 % 1u * 16u + run_of_row_3 / 1u;
        wide_runs[run_at_3] = vec2<f32>(run_scale_3, most_6);
      }
    }
    workgroupBarrier();
    let next_layer = min(layer + 1u, 1u);
    let units_of_layer_2 = next_layer * 28672u;
    let scales_of_layer_2 = next_layer * 7168u;
    let lane_of_row_5 = tid & 15u;
    let row_9 = first_row_4 + tid / 16u;
    let units_at_6 = units_of_layer_2 + 0u;
    let scales_at_6 = scales_of_layer_2 + 0u;
    let start_10 = min(row_9, end_row_4 - 1u) * 16u;
    let i_15 = lane_of_row_5 + 0u;
    let at_9 = start_10 + i_15;
    let unit_10 = w[units_at_6 + at_9];
    let block_12 = at_9 / 2u;
    let halves_9 = scales[scales_at_6 + block_12 / 2u] >> ((block_12 & 1u) * 16u);
    let scale_10 = unpack2x16float(halves_9);
    next_unit = unit_10;
    next_scale = scale_10.x;
    let vectors_at_2 = next_layer * 512u + 0u;
    let quad_10 = min(tid + 0u, 63u);
    let from_value_3 = vectors_at_2 + quad_10 * 4u;
    let v0_2 = vectors[from_value_3];
    let v1_2 = vectors[from_value_3 + 1u];
    let v2_2 = vectors[from_value_3 + 2u];
    let v3_2 = vectors[from_value_3 + 3u];
    let gain_3 = vec4<f32>(v0_2, v1_2, v2_2, v3_2);
    next_gain = gain_3;
    let start_11 = min(row_7, end_row_3 - 1u) * 16u;
    var acc_10: f32 = 0f;
    let i_16 = lane_of_row_4 + 0u;
    var part_9: f32 = 0f;
    let x16_6 = wide[i_16 + 0u];
    let x4_24 = x16_6.x;
    let x4_25 = x16_6.y;
    let x4_26 = x16_6.z;
    let x4_27 = x16_6.w;
    let run_6 = wide_runs[i_16 / 2u];
    var dot_of_bytes_8: i32 = 0i;
    let bytes_32 = unit_7.x ^ 2155905152u;
    dot_of_bytes_8 = dot_of_bytes_8 + dot4I8Packed(bytes_32, x4_24);
    let bytes_33 = unit_7.y ^ 2155905152u;
    dot_of_bytes_8 = dot_of_bytes_8 + dot4I8Packed(bytes_33, x4_25);
    let bytes_34 = unit_7.z ^ 2155905152u;
    dot_of_bytes_8 = dot_of_bytes_8 + dot4I8Packed(bytes_34, x4_26);
    let bytes_35 = unit_7.w ^ 2155905152u;
    dot_of_bytes_8 = dot_of_bytes_8 + dot4I8Packed(bytes_35, x4_27);
    let int8_dot_8 = f32(dot_of_bytes_8);
    part_9 += int8_dot_8 * run_6.x;
    acc_10 += part_9 * scale_7.x;
    let mine_18 = acc_10;
    let sg_107 = subgroupShuffleXor(mine_18, 8u);
    let sum_93 = mine_18 + sg_107;
    let sg_108 = subgroupShuffleXor(sum_93, 4u);
    let sum_94 = sum_93 + sg_108;
    let sg_109 = subgroupShuffleXor(sum_94, 2u);
    let sum_95 = sum_94 + sg_109;
    let sg_110 = subgroupShuffleXor(sum_95, 1u);
    let sum_96 = sum_95 + sg_110;
    if ((lane_of_row_4 == 0u) && (row_7 < end_row_3)) {
      let mine_at_2 = row_7 - first_row;
      let x_new_2 = residual[mine_at_2] + sum_96;
      residual[mine_at_2] = x_new_2;
      let row_of_block_6 = (row_7 & 3u) * 32u + ((row_7 >> 2u) & 31u);
      let place_32 = (row_7 & 4294967168u) + row_of_block_6 + 64u;
      let value_bits_11 = bitcast<u32>(x_new_2);
      let half_11 = select(2u, 0u, (value_bits_11 & 2139095040u) == 2139095040u);
      let rounded_11 = value_bits_11 + half_11;
      atomicStore(&words[place_32], (rounded_11 & 4294967292u) | next_tag);
    }
    for (var more_3 = first_row_3 + 16u; more_3 < end_row_3; more_3 += 16u) {
      let row_10 = more_3 + tid / 16u;
      let start_12 = min(row_10, end_row_3 - 1u) * 16u;
      let i_17 = lane_of_row_4 + 0u;
      let at_10 = start_12 + i_17;
      let unit_11 = w[units_at_5 + at_10];
      let block_13 = at_10 / 2u;
      let halves_10 = scales[scales_at_5 + block_13 / 2u] >> ((block_13 & 1u) * 16u);
      let scale_11 = unpack2x16float(halves_10);
      var acc_11: f32 = 0f;
      let i_18 = lane_of_row_4 + 0u;
      var part_10: f32 = 0f;
      let x16_7 = wide[i_18 + 0u];
      let x4_28 = x16_7.x;
      let x4_29 = x16_7.y;
      let x4_30 = x16_7.z;
      let x4_31 = x16_7.w;
      let run_7 = wide_runs[i_18 / 2u];
      var dot_of_bytes_9: i32 = 0i;
      let bytes_36 = unit_11.x ^ 2155905152u;
      dot_of_bytes_9 = dot_of_bytes_9 + dot4I8Packed(bytes_36, x4_28);
      let bytes_37 = unit_11.y ^ 2155905152u;
      dot_of_bytes_9 = dot_of_bytes_9 + dot4I8Packed(bytes_37, x4_29);
      let bytes_38 = unit_11.z ^ 2155905152u;
      dot_of_bytes_9 = dot_of_bytes_9 + dot4I8Packed(bytes_38, x4_30);
      let bytes_39 = unit_11.w ^ 2155905152u;
      dot_of_bytes_9 = dot_of_bytes_9 + dot4I8Packed(bytes_39, x4_31);
      let int8_dot_9 = f32(dot_of_bytes_9);
      part_10 += int8_dot_9 * run_7.x;
      acc_11 += part_10 * scale_11.x;
      let mine_19 = acc_11;
      let sg_111 = subgroupShuffleXor(mine_19, 8u);
      let sum_97 = mine_19 + sg_111;
      let sg_112 = subgroupShuffleXor(sum_97, 4u);
      let sum_98 = sum_97 + sg_112;
      let sg_113 = subgroupShuffleXor(sum_98, 2u);
      let sum_99 = sum_98 + sg_113;
      let sg_114 = subgroupShuffleXor(sum_99, 1u);
      let sum_100 = sum_99 + sg_114;
      if ((lane_of_row_4 == 0u) && (row_10 < end_row_3)) {
        let mine_at_3 = row_10 - first_row;
        let x_new_3 = residual[mine_at_3] + sum_100;
        residual[mine_at_3] = x_new_3;
        let row_of_block_7 = (row_10 & 3u) * 32u + ((row_10 >> 2u) & 31u);
        let place_33 = (row_10 & 4294967168u) + row_of_block_7 + 64u;
        let value_bits_12 = bitcast<u32>(x_new_3);
        let half_12 = select(2u, 0u, (value_bits_12 & 2139095040u) == 2139095040u);
        let rounded_12 = value_bits_12 + half_12;
        atomicStore(&words[place_33], (rounded_12 & 4294967292u) | next_tag);
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
