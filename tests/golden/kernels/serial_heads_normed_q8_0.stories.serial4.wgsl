enable subgroups;

@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<u32>;

@compute @workgroup_size(4)
fn serial_heads(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let from_row = (wg.y * 12u + wg.x) * 64u;
  let is_query = wg.x < 8u;
  let is_turned = wg.x < 10u;
  let pos = params[wg.y * 3u + 3u];
  let turns = params[wg.y * 3u + 5u] + pos;
  var squares: f32 = 0f;
  for (var i = tid; i < 64u; i += 4u) {
    let v = qkv[from_row + i];
    squares += v * v;
  }
  let mine = squares;
  let sg = subgroupShuffleXor(mine, 2u);
  let sum = mine + sg;
  let sg_1 = subgroupShuffleXor(sum, 1u);
  let sum_1 = sum + sg_1;
  let inverse = 1f / sqrt(sum_1 / 64f + 1e-05f);
  let factor = select(1f, inverse, is_turned);
  if (is_query) {
    for (var t = tid; t < 16u; t += 4u) {
      let pair = t * 2u + 0u;
      let at_a = pair;
      let at_b = at_a + 32u;
      let pair_1 = t * 2u + 1u;
      let at_a_1 = pair_1;
      let at_b_1 = at_a_1 + 32u;
      let v_1 = qkv[from_row + at_a];
      let gain = select(k_gain[at_a], q_gain[at_a], is_query);
      let scaled = v_1 * select(1f, gain, is_turned);
      let v_2 = qkv[from_row + at_b];
      let gain_1 = select(k_gain[at_b], q_gain[at_b], is_query);
      let scaled_1 = v_2 * select(1f, gain_1, is_turned);
      let turn = angles[turns * 32u + pair];
      let angle = select(vec2<f32>(1f, 0f), turn, is_turned);
      let new_a = scaled * angle.x - scaled_1 * angle.y;
      let new_b = scaled_1 * angle.x + scaled * angle.y;
      let normed_a = new_a * factor;
      let normed_b = new_b * factor;
      let v_3 = qkv[from_row + at_a_1];
      let gain_2 = select(k_gain[at_a_1], q_gain[at_a_1], is_query);
      let scaled_2 = v_3 * select(1f, gain_2, is_turned);
      let v_4 = qkv[from_row + at_b_1];
      let gain_3 = select(k_gain[at_b_1], q_gain[at_b_1], is_query);
      let scaled_3 = v_4 * select(1f, gain_3, is_turned);
      let turn_1 = angles[turns * 32u + pair_1];
      let angle_1 = select(vec2<f32>(1f, 0f), turn_1, is_turned);
      let new_a_1 = scaled_2 * angle_1.x - scaled_3 * angle_1.y;
      let new_b_1 = scaled_3 * angle_1.x + scaled_2 * angle_1.y;
      let normed_a_1 = new_a_1 * factor;
      let normed_b_1 = new_b_1 * factor;
      let to_row = (wg.y * 8u + wg.x) * 64u;
      q[to_row + at_a] = normed_a;
      q[to_row + at_b] = normed_b;
      q[to_row + at_a_1] = normed_a_1;
      q[to_row + at_b_1] = normed_b_1;
    }
  } else {
    let table = params[wg.y * 3u + 4u];
    let block = params[table + pos / 64u];
    let to_row_1 = ((block * 4u + (wg.x - 8u)) * 64u + pos % 64u) * 17u;
    for (var word = tid; word < 1u; word += 4u) {
      var scale_bits: u32 = 0u;
      for (var high = 0u; high < 2u; high += 1u) {
        let first_of_group = (word + high * 1u) * 32u;
        let end_of_group = min(first_of_group + 32u, 64u);
        var most: f32 = 0f;
        for (var i_1 = first_of_group; i_1 < end_of_group; i_1 += 1u) {
          let is_b = i_1 >= 32u;
          let pair_2 = i_1 % 32u;
          let at_a_2 = pair_2;
          let at_b_2 = at_a_2 + 32u;
          let v_5 = qkv[from_row + at_a_2];
          let gain_4 = select(k_gain[at_a_2], q_gain[at_a_2], is_query);
          let scaled_4 = v_5 * select(1f, gain_4, is_turned);
          let v_6 = qkv[from_row + at_b_2];
          let gain_5 = select(k_gain[at_b_2], q_gain[at_b_2], is_query);
          let scaled_5 = v_6 * select(1f, gain_5, is_turned);
          let turn_2 = angles[turns * 32u + pair_2];
          let angle_2 = select(vec2<f32>(1f, 0f), turn_2, is_turned);
          let new_a_2 = scaled_4 * angle_2.x - scaled_5 * angle_2.y;
          let new_b_2 = scaled_5 * angle_2.x + scaled_4 * angle_2.y;
          let normed_a_2 = new_a_2 * factor;
          let normed_b_2 = new_b_2 * factor;
          let value = select(normed_a_2, normed_b_2, is_b);
          most = max(most, abs(value));
        }
        let greatest = most;
        let exact_scale = greatest / 127f;
        let raw = bitcast<u32>(exact_scale);
        let normal = ((raw + 4095u + ((raw >> 13u) & 1u)) >> 13u) - 114688u;
        let subnormal = bitcast<u32>(exact_scale + 0.5f) - 1056964608u;
        let scale_bits_1 = min(select(normal, subnormal, exact_scale < 6.1035156e-05f), 31744u);
        let as_pair = unpack2x16float(scale_bits_1);
        let inverse_1 = select(0f, 1f / as_pair.x, as_pair.x > 0f);
        scale_bits += scale_bits_1 << (high * 16u);
        for (var quad = first_of_group / 4u; quad < end_of_group / 4u; quad += 1u) {
          var four: vec4<f32> = vec4<f32>();
          let dim = quad * 4u + 0u;
          let is_b_1 = dim >= 32u;
          let pair_3 = dim % 32u;
          let at_a_3 = pair_3;
          let at_b_3 = at_a_3 + 32u;
          let v_7 = qkv[from_row + at_a_3];
          let gain_6 = select(k_gain[at_a_3], q_gain[at_a_3], is_query);
          let scaled_6 = v_7 * select(1f, gain_6, is_turned);
          let v_8 = qkv[from_row + at_b_3];
          let gain_7 = select(k_gain[at_b_3], q_gain[at_b_3], is_query);
          let scaled_7 = v_8 * select(1f, gain_7, is_turned);
          let turn_3 = angles[turns * 32u + pair_3];
          let angle_3 = select(vec2<f32>(1f, 0f), turn_3, is_turned);
          let new_a_3 = scaled_6 * angle_3.x - scaled_7 * angle_3.y;
          let new_b_3 = scaled_7 * angle_3.x + scaled_6 * angle_3.y;
          let normed_a_3 = new_a_3 * factor;
          let normed_b_3 = new_b_3 * factor;
          let value_1 = select(normed_a_3, normed_b_3, is_b_1);
          four.x = value_1;
          let dim_1 = quad * 4u + 1u;
          let is_b_2 = dim_1 >= 32u;
          let pair_4 = dim_1 % 32u;
          let at_a_4 = pair_4;
          let at_b_4 = at_a_4 + 32u;
          let v_9 = qkv[from_row + at_a_4];
          let gain_8 = select(k_gain[at_a_4], q_gain[at_a_4], is_query);
          let scaled_8 = v_9 * select(1f, gain_8, is_turned);
          let v_10 = qkv[from_row + at_b_4];
          let gain_9 = select(k_gain[at_b_4], q_gain[at_b_4], is_query);
          let scaled_9 = v_10 * select(1f, gain_9, is_turned);
          let turn_4 = angles[turns * 32u + pair_4];
          let angle_4 = select(vec2<f32>(1f, 0f), turn_4, is_turned);
          let new_a_4 = scaled_8 * angle_4.x - scaled_9 * angle_4.y;
          let new_b_4 = scaled_9 * angle_4.x + scaled_8 * angle_4.y;
          let normed_a_4 = new_a_4 * factor;
          let normed_b_4 = new_b_4 * factor;
          let value_2 = select(normed_a_4, normed_b_4, is_b_2);
          four.y = value_2;
          let dim_2 = quad * 4u + 2u;
          let is_b_3 = dim_2 >= 32u;
          let pair_5 = dim_2 % 32u;
          let at_a_5 = pair_5;
          let at_b_5 = at_a_5 + 32u;
          let v_11 = qkv[from_row + at_a_5];
          let gain_10 = select(k_gain[at_a_5], q_gain[at_a_5], is_query);
          let scaled_10 = v_11 * select(1f, gain_10, is_turned);
          let v_12 = qkv[from_row + at_b_5];
          let gain_11 = select(k_gain[at_b_5], q_gain[at_b_5], is_query);
          let scaled_11 = v_12 * select(1f, gain_11, is_turned);
          let turn_5 = angles[turns * 32u + pair_5];
          let angle_5 = select(vec2<f32>(1f, 0f), turn_5, is_turned);
          let new_a_5 = scaled_10 * angle_5.x - scaled_11 * angle_5.y;
          let new_b_5 = scaled_11 * angle_5.x + scaled_10 * angle_5.y;
          let normed_a_5 = new_a_5 * factor;
          let normed_b_5 = new_b_5 * factor;
          let value_3 = select(normed_a_5, normed_b_5, is_b_3);
          four.z = value_3;
          let dim_3 = quad * 4u + 3u;
          let is_b_4 = dim_3 >= 32u;
          let pair_6 = dim_3 % 32u;
          let at_a_6 = pair_6;
          let at_b_6 = at_a_6 + 32u;
          let v_13 = qkv[from_row + at_a_6];
          let gain_12 = select(k_gain[at_a_6], q_gain[at_a_6], is_query);
          let scaled_12 = v_13 * select(1f, gain_12, is_turned);
          let v_14 = qkv[from_row + at_b_6];
          let gain_13 = select(k_gain[at_b_6], q_gain[at_b_6], is_query);
          let scaled_13 = v_14 * select(1f, gain_13, is_turned);
          let turn_6 = angles[turns * 32u + pair_6];
          let angle_6 = select(vec2<f32>(1f, 0f), turn_6, is_turned);
          let new_a_6 = scaled_12 * angle_6.x - scaled_13 * angle_6.y;
          let new_b_6 = scaled_13 * angle_6.x + scaled_12 * angle_6.y;
          let normed_a_6 = new_a_6 * factor;
          let normed_b_6 = new_b_6 * factor;
          let value_4 = select(normed_a_6, normed_b_6, is_b_4);
          four.w = value_4;
          let v_15 = four;
          let limited = clamp(round(v_15 * inverse_1), vec4<f32>(-127f), vec4<f32>(127f));
          let q_1 = vec4<i32>(limited);
          let packed = (((bitcast<u32>(q_1.x) & 255u) | ((bitcast<u32>(q_1.y) & 255u) << 8u)) | ((bitcast<u32>(q_1.z) & 255u) << 16u)) | ((bitcast<u32>(q_1.w) & 255u) << 24u);
          kv[to_row_1 + quad] = packed;
        }
      }
      kv[to_row_1 + 16u + word] = scale_bits;
    }
  }
}
