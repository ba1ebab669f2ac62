enable subgroups;
requires packed_4x8_integer_dot_product;

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> parts: array<vec2<f32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(4) var<uniform> scales: scales_fields;
@group(0) @binding(5) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read> params: array<u32>;
@group(0) @binding(7) var<storage, read_write> q: array<f32>;
@group(0) @binding(8) var<storage, read_write> kv: array<u32>;
var<workgroup> staged: array<vec4<u32>, 160>;
var<workgroup> group_stats: array<vec2<f32>, 8>;
var<workgroup> part: array<i32, 8>;
var<workgroup> tile: array<f32, 64>;

@compute @workgroup_size(256)
fn normed_qkv(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 8u;
  let lane_of_row = tid & 7u;
  let head = wg.x / 2u;
  let first_pair = wg.x % 2u * 32u;
  let pair = first_pair + group;
  let row_a = head * 128u + pair;
  let row_b = row_a + 64u;
  let start_a = row_a * 40u;
  let start_b = row_b * 40u;
  let x_row = wg.y * 640u;
  let parts_row = wg.y * 80u;
  let unit = tid + 0u;
  let from_quad = min(unit, 159u) * 4u;
  let v = x[x_row + from_quad + 0u];
  let g = gain[from_quad + 0u];
  let vg = v * g;
  let v_1 = x[x_row + from_quad + 1u];
  let g_1 = gain[from_quad + 1u];
  let vg_1 = v_1 * g_1;
  let v_2 = x[x_row + from_quad + 2u];
  let g_2 = gain[from_quad + 2u];
  let vg_2 = v_2 * g_2;
  let v_3 = x[x_row + from_quad + 3u];
  let g_3 = gain[from_quad + 3u];
  let vg_3 = v_3 * g_3;
  var squares: f32 = 0f;
  var largest: f32 = 0f;
  let i = tid + 0u;
  if (i < 80u) {
    let part_stats = parts[parts_row + i];
    squares += part_stats.x;
    largest = max(largest, part_stats.y);
  }
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
  let group_stat = group_stats[tid & 7u];
  let sg_10 = subgroupShuffleXor(group_stat.x, 4u);
  let sum_10 = group_stat.x + sg_10;
  let sg_11 = subgroupShuffleXor(sum_10, 2u);
  let sum_11 = sum_10 + sg_11;
  let sg_12 = subgroupShuffleXor(sum_11, 1u);
  let sum_12 = sum_11 + sg_12;
  let sg_13 = subgroupShuffleXor(group_stat.y, 4u);
  let sum_13 = max(group_stat.y, sg_13);
  let sg_14 = subgroupShuffleXor(sum_13, 2u);
  let sum_14 = max(sum_13, sg_14);
  let sg_15 = subgroupShuffleXor(sum_14, 1u);
  let sum_15 = max(sum_14, sg_15);
  let factor = 1f / sqrt(sum_12 / 2560f + 1e-05f);
  let finite_scale = 127f / max(sum_15 * factor, 1e-05f);
  let factor_and_scale = factor * finite_scale;
  let factor_bits = bitcast<u32>(factor);
  let x_scale = select(finite_scale, factor, (factor_bits - 1u) >= 2139095039u);
  var q_sum: i32 = 0i;
  if (unit < 160u) {
    let limited = clamp(round(vg * factor_and_scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q_1 = vec4<i32>(limited);
    let packed = pack4xI8(q_1);
    q_sum += q_1.x + q_1.y + q_1.z + q_1.w;
    let limited_1 = clamp(round(vg_1 * factor_and_scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q_2 = vec4<i32>(limited_1);
    let packed_1 = pack4xI8(q_2);
    q_sum += q_2.x + q_2.y + q_2.z + q_2.w;
    let limited_2 = clamp(round(vg_2 * factor_and_scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q_3 = vec4<i32>(limited_2);
    let packed_2 = pack4xI8(q_3);
    q_sum += q_3.x + q_3.y + q_3.z + q_3.w;
    let limited_3 = clamp(round(vg_3 * factor_and_scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q_4 = vec4<i32>(limited_3);
    let packed_3 = pack4xI8(q_4);
    q_sum += q_4.x + q_4.y + q_4.z + q_4.w;
    let staged_at = ((unit >> 1u) & 3u) * 40u + ((unit >> 3u) * 2u + (unit & 1u));
    staged[staged_at] = vec4<u32>(packed, packed_1, packed_2, packed_3);
  }
  let my_sum = q_sum;
  let sg_16 = subgroupShuffleXor(my_sum, 16u);
  let sum_16 = my_sum + sg_16;
  let sg_17 = subgroupShuffleXor(sum_16, 8u);
  let sum_17 = sum_16 + sg_17;
  let sg_18 = subgroupShuffleXor(sum_17, 4u);
  let sum_18 = sum_17 + sg_18;
  let sg_19 = subgroupShuffleXor(sum_18, 2u);
  let sum_19 = sum_18 + sg_19;
  let sg_20 = subgroupShuffleXor(sum_19, 1u);
  let sum_20 = sum_19 + sg_20;
  if ((tid & 31u) == 0u) {
    part[tid / 32u] = sum_20;
  }
  workgroupBarrier();
  let loaded = part[tid & 7u];
  let sg_21 = subgroupShuffleXor(loaded, 4u);
  let sum_21 = loaded + sg_21;
  let sg_22 = subgroupShuffleXor(sum_21, 2u);
  let sum_22 = sum_21 + sg_22;
  let sg_23 = subgroupShuffleXor(sum_22, 1u);
  let sum_23 = sum_22 + sg_23;
  workgroupBarrier();
  var acc: i32 = 0i;
  var acc_1: i32 = 0i;
  for (var i_1 = lane_of_row; i_1 < 40u; i_1 += 8u) {
    let w4 = w[start_a + i_1];
    let w4_1 = w[start_b + i_1];
    let q4 = staged[i_1 + 0u];
    acc += dot4I8Packed((w4.x >> 6u) & 0x03030303u, q4.x);
    acc_1 += dot4I8Packed((w4_1.x >> 6u) & 0x03030303u, q4.x);
    acc += dot4I8Packed((w4.y >> 6u) & 0x03030303u, q4.y);
    acc_1 += dot4I8Packed((w4_1.y >> 6u) & 0x03030303u, q4.y);
    acc += dot4I8Packed((w4.z >> 6u) & 0x03030303u, q4.z);
    acc_1 += dot4I8Packed((w4_1.z >> 6u) & 0x03030303u, q4.z);
    acc += dot4I8Packed((w4.w >> 6u) & 0x03030303u, q4.w);
    acc_1 += dot4I8Packed((w4_1.w >> 6u) & 0x03030303u, q4.w);
    let q4_1 = staged[i_1 + 40u];
    acc += dot4I8Packed((w4.x >> 4u) & 0x03030303u, q4_1.x);
    acc_1 += dot4I8Packed((w4_1.x >> 4u) & 0x03030303u, q4_1.x);
    acc += dot4I8Packed((w4.y >> 4u) & 0x03030303u, q4_1.y);
    acc_1 += dot4I8Packed((w4_1.y >> 4u) & 0x03030303u, q4_1.y);
    acc += dot4I8Packed((w4.z >> 4u) & 0x03030303u, q4_1.z);
    acc_1 += dot4I8Packed((w4_1.z >> 4u) & 0x03030303u, q4_1.z);
    acc += dot4I8Packed((w4.w >> 4u) & 0x03030303u, q4_1.w);
    acc_1 += dot4I8Packed((w4_1.w >> 4u) & 0x03030303u, q4_1.w);
    let q4_2 = staged[i_1 + 80u];
    acc += dot4I8Packed((w4.x >> 2u) & 0x03030303u, q4_2.x);
    acc_1 += dot4I8Packed((w4_1.x >> 2u) & 0x03030303u, q4_2.x);
    acc += dot4I8Packed((w4.y >> 2u) & 0x03030303u, q4_2.y);
    acc_1 += dot4I8Packed((w4_1.y >> 2u) & 0x03030303u, q4_2.y);
    acc += dot4I8Packed((w4.z >> 2u) & 0x03030303u, q4_2.z);
    acc_1 += dot4I8Packed((w4_1.z >> 2u) & 0x03030303u, q4_2.z);
    acc += dot4I8Packed((w4.w >> 2u) & 0x03030303u, q4_2.w);
    acc_1 += dot4I8Packed((w4_1.w >> 2u) & 0x03030303u, q4_2.w);
    let q4_3 = staged[i_1 + 120u];
    acc += dot4I8Packed(w4.x & 0x03030303u, q4_3.x);
    acc_1 += dot4I8Packed(w4_1.x & 0x03030303u, q4_3.x);
    acc += dot4I8Packed(w4.y & 0x03030303u, q4_3.y);
    acc_1 += dot4I8Packed(w4_1.y & 0x03030303u, q4_3.y);
    acc += dot4I8Packed(w4.z & 0x03030303u, q4_3.z);
    acc_1 += dot4I8Packed(w4_1.z & 0x03030303u, q4_3.z);
    acc += dot4I8Packed(w4.w & 0x03030303u, q4_3.w);
    acc_1 += dot4I8Packed(w4_1.w & 0x03030303u, q4_3.w);
  }
  let mine = acc;
  let sg_24 = subgroupShuffleXor(mine, 4u);
  let sum_24 = mine + sg_24;
  let sg_25 = subgroupShuffleXor(sum_24, 2u);
  let sum_25 = sum_24 + sg_25;
  let sg_26 = subgroupShuffleXor(sum_25, 1u);
  let sum_26 = sum_25 + sg_26;
  let mine_1 = acc_1;
  let sg_27 = subgroupShuffleXor(mine_1, 4u);
  let sum_27 = mine_1 + sg_27;
  let sg_28 = subgroupShuffleXor(sum_27, 2u);
  let sum_28 = sum_27 + sg_28;
  let sg_29 = subgroupShuffleXor(sum_28, 1u);
  let sum_29 = sum_28 + sg_29;
  let is_query = head < 20u;
  let is_key = head < 25u;
  let key_or_value = select(scales.c, scales.b, is_key);
  let scale = select(key_or_value, scales.a, is_query);
  let a = f32(sum_26 - sum_23) / x_scale * scale;
  let b = f32(sum_29 - sum_23) / x_scale * scale;
  let pos = params[wg.y * 3u + 3u];
  if (lane_of_row == 0u) {
    let turns = params[wg.y * 3u + 5u] + pos;
    let turn = angles[turns * 64u + pair];
    let angle = select(vec2<f32>(1f, 0f), turn, is_key);
    let at_a = group;
    tile[at_a] = a * angle.x - b * angle.y;
    tile[at_a + 32u] = b * angle.x + a * angle.y;
  }
  workgroupBarrier();
  if (is_query) {
    for (var t = tid; t < 64u; t += 256u) {
      let run = t / 32u;
      let dim = first_pair + run * 64u + t % 32u;
      q[(wg.y * 20u + head) * 128u + dim] = tile[t];
    }
  } else {
    let kv_row = head - 20u;
    let table = params[wg.y * 3u + 4u];
    let block = params[table + pos / 64u];
    let to_row = ((block * 10u + kv_row) * 64u + pos % 64u) * 34u;
    for (var i_2 = tid; i_2 < 17u; i_2 += 256u) {
      if (i_2 < 16u) {
        let group_1 = i_2 / 8u;
        let first_of_group = group_1 * 32u;
        var most: f32 = 0f;
        for (var at = first_of_group; at < first_of_group + 32u; at += 4u) {
          let a_1 = tile[at];
          let b_1 = tile[at + 1u];
          let c = tile[at + 2u];
          let d = tile[at + 3u];
          most = max(most, max(max(abs(a_1), abs(b_1)), max(abs(c), abs(d))));
        }
        let greatest = most;
        let exact_scale = greatest / 127f;
        let raw = bitcast<u32>(exact_scale);
        let normal = ((raw + 4095u + ((raw >> 13u) & 1u)) >> 13u) - 114688u;
        let subnormal = bitcast<u32>(exact_scale + 0.5f) - 1056964608u;
        let scale_bits = min(select(normal, subnormal, exact_scale < 6.1035156e-05f), 31744u);
        let as_pair = unpack2x16float(scale_bits);
        let inverse = select(0f, 1f / as_pair.x, as_pair.x > 0f);
        let from_value = i_2 * 4u;
        let v0 = tile[from_value];
        let v1 = tile[from_value + 1u];
        let v2 = tile[from_value + 2u];
        let v3 = tile[from_value + 3u];
        let v_4 = vec4<f32>(v0, v1, v2, v3);
        let limited_4 = clamp(round(v_4 * inverse), vec4<f32>(-127f), vec4<f32>(127f));
        let q_5 = vec4<i32>(limited_4);
        let packed_4 = (((bitcast<u32>(q_5.x) & 255u) | ((bitcast<u32>(q_5.y) & 255u) << 8u)) | ((bitcast<u32>(q_5.z) & 255u) << 16u)) | ((bitcast<u32>(q_5.w) & 255u) << 24u);
        let t_1 = i_2 * 4u;
        let run_1 = t_1 / 32u;
        let dim_1 = first_pair + run_1 * 64u + t_1 % 32u;
        kv[to_row + dim_1 / 4u] = packed_4;
      } else {
        let low_group = i_2 - 16u;
        let high_group = min(low_group + 1u, 1u);
        let first_of_group_1 = low_group * 32u;
        var most_1: f32 = 0f;
        for (var at_1 = first_of_group_1; at_1 < first_of_group_1 + 32u; at_1 += 4u) {
          let a_2 = tile[at_1];
          let b_2 = tile[at_1 + 1u];
          let c_1 = tile[at_1 + 2u];
          let d_1 = tile[at_1 + 3u];
          most_1 = max(most_1, max(max(abs(a_2), abs(b_2)), max(abs(c_1), abs(d_1))));
        }
        let greatest_1 = most_1;
        let exact_scale_1 = greatest_1 / 127f;
        let raw_1 = bitcast<u32>(exact_scale_1);
        let normal_1 = ((raw_1 + 4095u + ((raw_1 >> 13u) & 1u)) >> 13u) - 114688u;
        let subnormal_1 = bitcast<u32>(exact_scale_1 + 0.5f) - 1056964608u;
        let scale_bits_1 = min(select(normal_1, subnormal_1, exact_scale_1 < 6.1035156e-05f), 31744u);
        let as_pair_1 = unpack2x16float(scale_bits_1);
        let inverse_1 = select(0f, 1f / as_pair_1.x, as_pair_1.x > 0f);
        let first_of_group_2 = high_group * 32u;
        var most_2: f32 = 0f;
        for (var at_2 = first_of_group_2; at_2 < first_of_group_2 + 32u; at_2 += 4u) {
          let a_3 = tile[at_2];
          let b_3 = tile[at_2 + 1u];
          let c_2 = tile[at_2 + 2u];
          let d_2 = tile[at_2 + 3u];
          most_2 = max(most_2, max(max(abs(a_3), abs(b_3)), max(abs(c_2), abs(d_2))));
        }
        let greatest_2 = most_2;
        let exact_scale_2 = greatest_2 / 127f;
        let raw_2 = bitcast<u32>(exact_scale_2);
        let normal_2 = ((raw_2 + 4095u + ((raw_2 >> 13u) & 1u)) >> 13u) - 114688u;
        let subnormal_2 = bitcast<u32>(exact_scale_2 + 0.5f) - 1056964608u;
        let scale_bits_2 = min(select(normal_2, subnormal_2, exact_scale_2 < 6.1035156e-05f), 31744u);
        let as_pair_2 = unpack2x16float(scale_bits_2);
        let inverse_2 = select(0f, 1f / as_pair_2.x, as_pair_2.x > 0f);
        kv[to_row + 32u + first_pair / 32u + low_group] = scale_bits_1 | (scale_bits_2 << 16u);
      }
    }
  }
}
