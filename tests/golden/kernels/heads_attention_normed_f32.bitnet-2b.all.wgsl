enable subgroups;

@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> kv: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
var<workgroup> tile: array<f32, 384>;
var<workgroup> factors: array<f32, 3>;
var<workgroup> own: array<vec4<f32>, 96>;
var<workgroup> weights: array<f32, 64>;
var<workgroup> places: array<u32, 64>;
var<workgroup> sums: array<vec4<f32>, 256>;
var<workgroup> part: array<f32, 8>;
var<workgroup> part_1: array<f32, 8>;

@compute @workgroup_size(256)
fn heads_attention(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let head = wg.x;
  let token = wg.y;
  let kv_head = head / 4u;
  let n_pos = params[token * 3u + 3u] + 1u;
  let table = params[token * 3u + 4u];
  let q_base = (token * 20u + head) * 32u;
  let my_pos = tid / 4u;
  let part_of_pos = tid % 4u;
  let my_quad = tid % 32u;
  let line = tid / 32u;
  let team = tid / 32u;
  let team_lane = tid % 32u;
  let own_pos = n_pos - 1u;
  let readable = select(n_pos - 2u, 1u, n_pos == 1u);
  let key_row = kv_head + 20u;
  let row = select(select(key_row + 5u, key_row, team == 1u), head, team == 0u);
  let is_used = team < 3u;
  let turns = params[token * 3u + 5u] + own_pos;
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
  let writes = ((head % 4u) == 0u) && (wg.z == 0u);
  for (var i = tid; i < 96u; i += 256u) {
    let which = i / 32u;
    let quad = i % 32u;
    let head_base = which * 128u;
    let head_factor = factors[which];
    let v = vec4<f32>(tile[head_base + quad * 4u] * head_factor, tile[head_base + (quad * 4u + 1u)] * head_factor, tile[head_base + (quad * 4u + 2u)] * head_factor, tile[head_base + (quad * 4u + 3u)] * head_factor);
    if (which == 0u) {
      own[i] = v;
    } else {
      let rounded = v;
      own[i] = rounded;
      if (writes) {
        let block = params[table + own_pos / 64u];
        let key_at = ((block * 10u + kv_head) * 64u + own_pos % 64u) * 32u;
        let to_row = select(key_at + 10240u, key_at, which == 1u);
        kv[to_row + quad] = rounded;
      }
    }
  }
  workgroupBarrier();
  let q4 = own[part_of_pos + 0u] * 0.088388346f;
  let q4_1 = own[part_of_pos + 4u] * 0.088388346f;
  let q4_2 = own[part_of_pos + 8u] * 0.088388346f;
  let q4_3 = own[part_of_pos + 12u] * 0.088388346f;
  let q4_4 = own[part_of_pos + 16u] * 0.088388346f;
  let q4_5 = own[part_of_pos + 20u] * 0.088388346f;
  let q4_6 = own[part_of_pos + 24u] * 0.088388346f;
  let q4_7 = own[part_of_pos + 28u] * 0.088388346f;
  var greatest: f32 = -3e+38f;
  var total: f32 = 0f;
  var acc: vec4<f32> = vec4<f32>();
  let own_value = own[64u + my_quad];
  for (var first = max(n_pos, 300u) - 300u + wg.z * 64u; first < n_pos; first += n_wg.z * 64u) {
    let pos = first + my_pos;
    let seen_pos = min(pos, readable);
    let block_1 = params[table + seen_pos / 64u];
    let key_at_1 = ((block_1 * 10u + kv_head) * 64u + seen_pos % 64u) * 32u;
    var score: f32 = 0f;
    if (pos < own_pos) {
      let k_row = key_at_1 + part_of_pos;
      let k4 = kv[k_row + 0u];
      score += dot(q4, k4);
      let k4_1 = kv[k_row + 4u];
      score += dot(q4_1, k4_1);
      let k4_2 = kv[k_row + 8u];
      score += dot(q4_2, k4_2);
      let k4_3 = kv[k_row + 12u];
      score += dot(q4_3, k4_3);
      let k4_4 = kv[k_row + 16u];
      score += dot(q4_4, k4_4);
      let k4_5 = kv[k_row + 20u];
      score += dot(q4_5, k4_5);
      let k4_6 = kv[k_row + 24u];
      score += dot(q4_6, k4_6);
      let k4_7 = kv[k_row + 28u];
      score += dot(q4_7, k4_7);
    } else {
      let k4_8 = own[32u + part_of_pos + 0u];
      score += dot(q4, k4_8);
      let k4_9 = own[32u + part_of_pos + 4u];
      score += dot(q4_1, k4_9);
      let k4_10 = own[32u + part_of_pos + 8u];
      score += dot(q4_2, k4_10);
      let k4_11 = own[32u + part_of_pos + 12u];
      score += dot(q4_3, k4_11);
      let k4_12 = own[32u + part_of_pos + 16u];
      score += dot(q4_4, k4_12);
      let k4_13 = own[32u + part_of_pos + 20u];
      score += dot(q4_5, k4_13);
      let k4_14 = own[32u + part_of_pos + 24u];
      score += dot(q4_6, k4_14);
      let k4_15 = own[32u + part_of_pos + 28u];
      score += dot(q4_7, k4_15);
    }
    let my_score = score;
    let sg_5 = subgroupShuffleXor(my_score, 2u);
    let sum_5 = my_score + sg_5;
    let sg_6 = subgroupShuffleXor(sum_5, 1u);
    let sum_6 = sum_5 + sg_6;
    let seen = select(-3e+38f, sum_6, pos < n_pos);
    let sg_7 = subgroupShuffleXor(seen, 16u);
    let sum_7 = max(seen, sg_7);
    let sg_8 = subgroupShuffleXor(sum_7, 8u);
    let sum_8 = max(sum_7, sg_8);
    let sg_9 = subgroupShuffleXor(sum_8, 4u);
    let sum_9 = max(sum_8, sg_9);
    let sg_10 = subgroupShuffleXor(sum_9, 2u);
    let sum_10 = max(sum_9, sg_10);
    let sg_11 = subgroupShuffleXor(sum_10, 1u);
    let sum_11 = max(sum_10, sg_11);
    if ((tid & 31u) == 0u) {
      part[tid / 32u] = sum_11;
    }
    workgroupBarrier();
    let loaded = part[tid & 7u];
    let sg_12 = subgroupShuffleXor(loaded, 4u);
    let sum_12 = max(loaded, sg_12);
    let sg_13 = subgroupShuffleXor(sum_12, 2u);
    let sum_13 = max(sum_12, sg_13);
    let sg_14 = subgroupShuffleXor(sum_13, 1u);
    let sum_14 = max(sum_13, sg_14);
    let new_greatest = max(greatest, sum_14);
    let shrink = exp(greatest - new_greatest);
    let weight = select(0f, exp(seen - new_greatest), pos < n_pos);
    total = total * shrink;
    if (part_of_pos == 0u) {
      weights[my_pos] = weight;
      places[my_pos] = key_at_1;
      total += weight;
    }
    workgroupBarrier();
    acc = acc * shrink;
    let at_p = line + 0u;
    let w = weights[at_p];
    let place = places[at_p];
    let v4 = kv[place + 10240u + my_quad];
    acc += select(v4, own_value, (first + at_p) >= own_pos) * w;
    let at_p_1 = line + 8u;
    let w_1 = weights[at_p_1];
    let place_1 = places[at_p_1];
    let v4_1 = kv[place_1 + 10240u + my_quad];
    acc += select(v4_1, own_value, (first + at_p_1) >= own_pos) * w_1;
    let at_p_2 = line + 16u;
    let w_2 = weights[at_p_2];
    let place_2 = places[at_p_2];
    let v4_2 = kv[place_2 + 10240u + my_quad];
    acc += select(v4_2, own_value, (first + at_p_2) >= own_pos) * w_2;
    let at_p_3 = line + 24u;
    let w_3 = weights[at_p_3];
    let place_3 = places[at_p_3];
    let v4_3 = kv[place_3 + 10240u + my_quad];
    acc += select(v4_3, own_value, (first + at_p_3) >= own_pos) * w_3;
    let at_p_4 = line + 32u;
    let w_4 = weights[at_p_4];
    let place_4 = places[at_p_4];
    let v4_4 = kv[place_4 + 10240u + my_quad];
    acc += select(v4_4, own_value, (first + at_p_4) >= own_pos) * w_4;
    let at_p_5 = line + 40u;
    let w_5 = weights[at_p_5];
    let place_5 = places[at_p_5];
    let v4_5 = kv[place_5 + 10240u + my_quad];
    acc += select(v4_5, own_value, (first + at_p_5) >= own_pos) * w_5;
    let at_p_6 = line + 48u;
    let w_6 = weights[at_p_6];
    let place_6 = places[at_p_6];
    let v4_6 = kv[place_6 + 10240u + my_quad];
    acc += select(v4_6, own_value, (first + at_p_6) >= own_pos) * w_6;
    let at_p_7 = line + 56u;
    let w_7 = weights[at_p_7];
    let place_7 = places[at_p_7];
    let v4_7 = kv[place_7 + 10240u + my_quad];
    acc += select(v4_7, own_value, (first + at_p_7) >= own_pos) * w_7;
    greatest = new_greatest;
    workgroupBarrier();
  }
  let my_total = total;
  let sg_15 = subgroupShuffleXor(my_total, 16u);
  let sum_15 = my_total + sg_15;
  let sg_16 = subgroupShuffleXor(sum_15, 8u);
  let sum_16 = sum_15 + sg_16;
  let sg_17 = subgroupShuffleXor(sum_16, 4u);
  let sum_17 = sum_16 + sg_17;
  let sg_18 = subgroupShuffleXor(sum_17, 2u);
  let sum_18 = sum_17 + sg_18;
  let sg_19 = subgroupShuffleXor(sum_18, 1u);
  let sum_19 = sum_18 + sg_19;
  if ((tid & 31u) == 0u) {
    part_1[tid / 32u] = sum_19;
  }
  workgroupBarrier();
  let loaded_1 = part_1[tid & 7u];
  let sg_20 = subgroupShuffleXor(loaded_1, 4u);
  let sum_20 = loaded_1 + sg_20;
  let sg_21 = subgroupShuffleXor(sum_20, 2u);
  let sum_21 = sum_20 + sg_21;
  let sg_22 = subgroupShuffleXor(sum_21, 1u);
  let sum_22 = sum_21 + sg_22;
  sums[tid] = acc;
  workgroupBarrier();
  if (line == 0u) {
    var sum_23: vec4<f32> = acc;
    sum_23 += sums[tid + 32u];
    sum_23 += sums[tid + 64u];
    sum_23 += sums[tid + 96u];
    sum_23 += sums[tid + 128u];
    sum_23 += sums[tid + 160u];
    sum_23 += sums[tid + 192u];
    sum_23 += sums[tid + 224u];
    let result = sum_23 * (1f / sum_22);
    y[(q_base + my_quad) * 4u + 0u] = result.x;
    y[(q_base + my_quad) * 4u + 1u] = result.y;
    y[(q_base + my_quad) * 4u + 2u] = result.z;
    y[(q_base + my_quad) * 4u + 3u] = result.w;
  }
}
