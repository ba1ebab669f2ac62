enable subgroups;

@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<u32>;
var<workgroup> tile: array<f32, 256>;
var<workgroup> factors: array<f32, 2>;

@compute @workgroup_size(64)
fn qkv_heads(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let team = tid / 32u;
  let team_lane = tid % 32u;
  let token = wg.y;
  let row = wg.x * 2u + team;
  let pos = params[token * 3u + 3u];
  let turns = params[token * 3u + 5u] + pos;
  let is_used = row < 30u;
  let is_query = row < 20u;
  let is_turned = row < 25u;
  var squares: f32 = 0f;
  if (is_used) {
    let from_row = (token * 30u + row) * 128u;
    let pair = team_lane + 0u;
    let at_a = pair;
    let at_b = at_a + 64u;
    let a = qkv[from_row + at_a];
    let b = qkv[from_row + at_b];
    let gain = select(k_gain[at_a], q_gain[at_a], is_query);
    let scale = select(1f, gain, is_turned);
    let gain_1 = select(k_gain[at_b], q_gain[at_b], is_query);
    let scale_1 = select(1f, gain_1, is_turned);
    let turn = angles[turns * 64u + pair];
    let angle = select(vec2<f32>(1f, 0f), turn, is_turned);
    let pair_1 = team_lane + 32u;
    let at_a_1 = pair_1;
    let at_b_1 = at_a_1 + 64u;
    let a_1 = qkv[from_row + at_a_1];
    let b_1 = qkv[from_row + at_b_1];
    let gain_2 = select(k_gain[at_a_1], q_gain[at_a_1], is_query);
    let scale_2 = select(1f, gain_2, is_turned);
    let gain_3 = select(k_gain[at_b_1], q_gain[at_b_1], is_query);
    let scale_3 = select(1f, gain_3, is_turned);
    let turn_1 = angles[turns * 64u + pair_1];
    let angle_1 = select(vec2<f32>(1f, 0f), turn_1, is_turned);
    let tile_base = team * 128u;
    let scaled_a = a * scale;
    let scaled_b = b * scale_1;
    tile[tile_base + at_a] = scaled_a * angle.x - scaled_b * angle.y;
    tile[tile_base + at_b] = scaled_b * angle.x + scaled_a * angle.y;
    squares += a * a + b * b;
    let scaled_a_1 = a_1 * scale_2;
    let scaled_b_1 = b_1 * scale_3;
    tile[tile_base + at_a_1] = scaled_a_1 * angle_1.x - scaled_b_1 * angle_1.y;
    tile[tile_base + at_b_1] = scaled_b_1 * angle_1.x + scaled_a_1 * angle_1.y;
    squares += a_1 * a_1 + b_1 * b_1;
  }
  let mine = squares;
  let sg = subgroupShuffleXor(mine, 16u);
  let sum = mine + sg;
  let sg_1 = subgroupShuffleXor(sum, 8u);
  let sum_1 = sum + sg_1;
  let sg_2 = subgroupShuffleXor(sum_1, 4u);
  let sum_2 = sum_1 + sg_2;
  let sg_3 = subgroupShuffleXor(sum_2, 2u);
  let sum_3 = sum_2 + sg_3;
  let sg_4 = subgroupShuffleXor(sum_3, 1u);
  let sum_4 = sum_3 + sg_4;
  let factor = 1f / sqrt(sum_4 / 128f + 1e-05f);
  if (is_used && (team_lane == 0u)) {
    factors[team] = select(1f, factor, is_turned);
  }
  workgroupBarrier();
  if (is_used) {
    let head_base = team * 128u;
    let head_factor = factors[team];
    if (row < 20u) {
      let to_row = (token * 20u + row) * 128u;
      for (var t = team_lane; t < 128u; t += 32u) {
        q[to_row + t] = tile[head_base + t] * head_factor;
      }
    } else {
      let kv_row = row - 20u;
      let table = params[token * 3u + 4u];
      let block = params[table + pos / 64u];
      let to_row_1 = ((block * 10u + kv_row) * 64u + pos % 64u) * 34u;
      for (var i = team_lane; i < 34u; i += 32u) {
        if (i < 32u) {
          let group = i / 8u;
          let first_of_group = group * 32u;
          var most: f32 = 0f;
          for (var at = first_of_group; at < first_of_group + 32u; at += 4u) {
            let a_2 = tile[head_base + at] * head_factor;
            let b_2 = tile[head_base + (at + 1u)] * head_factor;
            let c = tile[head_base + (at + 2u)] * head_factor;
            let d = tile[head_base + (at + 3u)] * head_factor;
            most = max(most, max(max(abs(a_2), abs(b_2)), max(abs(c), abs(d))));
          }
          let greatest = most;
          let exact_scale = greatest / 127f;
          let raw = bitcast<u32>(exact_scale);
          let normal = ((raw + 4095u + ((raw >> 13u) & 1u)) >> 13u) - 114688u;
          let subnormal = bitcast<u32>(exact_scale + 0.5f) - 1056964608u;
          let scale_bits = min(select(normal, subnormal, exact_scale < 6.1035156e-05f), 31744u);
          let as_pair = unpack2x16float(scale_bits);
          let inverse = select(0f, 1f / as_pair.x, as_pair.x > 0f);
          let from_value = i * 4u;
          let v0 = tile[head_base + from_value] * head_factor;
          let v1 = tile[head_base + (from_value + 1u)] * head_factor;
          let v2 = tile[head_base + (from_value + 2u)] * head_factor;
          let v3 = tile[head_base + (from_value + 3u)] * head_factor;
          let v = vec4<f32>(v0, v1, v2, v3);
          let limited = clamp(round(v * inverse), vec4<f32>(-127f), vec4<f32>(127f));
          let q_1 = vec4<i32>(limited);
          let packed = (((bitcast<u32>(q_1.x) & 255u) | ((bitcast<u32>(q_1.y) & 255u) << 8u)) | ((bitcast<u32>(q_1.z) & 255u) << 16u)) | ((bitcast<u32>(q_1.w) & 255u) << 24u);
          kv[to_row_1 + i] = packed;
        } else {
          let low_group = i - 32u;
          let high_group = min(low_group + 2u, 3u);
          let first_of_group_1 = low_group * 32u;
          var most_1: f32 = 0f;
          for (var at_1 = first_of_group_1; at_1 < first_of_group_1 + 32u; at_1 += 4u) {
            let a_3 = tile[head_base + at_1] * head_factor;
            let b_3 = tile[head_base + (at_1 + 1u)] * head_factor;
            let c_1 = tile[head_base + (at_1 + 2u)] * head_factor;
            let d_1 = tile[head_base + (at_1 + 3u)] * head_factor;
            most_1 = max(most_1, max(max(abs(a_3), abs(b_3)), max(abs(c_1), abs(d_1))));
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
            let a_4 = tile[head_base + at_2] * head_factor;
            let b_4 = tile[head_base + (at_2 + 1u)] * head_factor;
            let c_2 = tile[head_base + (at_2 + 2u)] * head_factor;
            let d_2 = tile[head_base + (at_2 + 3u)] * head_factor;
            most_2 = max(most_2, max(max(abs(a_4), abs(b_4)), max(abs(c_2), abs(d_2))));
          }
          let greatest_2 = most_2;
          let exact_scale_2 = greatest_2 / 127f;
          let raw_2 = bitcast<u32>(exact_scale_2);
          let normal_2 = ((raw_2 + 4095u + ((raw_2 >> 13u) & 1u)) >> 13u) - 114688u;
          let subnormal_2 = bitcast<u32>(exact_scale_2 + 0.5f) - 1056964608u;
          let scale_bits_2 = min(select(normal_2, subnormal_2, exact_scale_2 < 6.1035156e-05f), 31744u);
          let as_pair_2 = unpack2x16float(scale_bits_2);
          let inverse_2 = select(0f, 1f / as_pair_2.x, as_pair_2.x > 0f);
          kv[to_row_1 + 32u + low_group] = scale_bits_1 | (scale_bits_2 << 16u);
        }
      }
    }
  }
}
