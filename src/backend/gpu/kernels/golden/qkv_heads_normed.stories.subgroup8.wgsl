enable subgroups;

@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<u32>;
var<workgroup> tile: array<f32, 512>;
var<workgroup> factors: array<f32, 8>;

@compute @workgroup_size(64)
fn qkv_heads(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let team = tid / 8u;
  let team_lane = tid % 8u;
  let token = wg.y;
  let row = wg.x * 8u + team;
  let pos = params[0u] + token;
  let is_used = row < 12u;
  let is_query = row < 8u;
  let is_turned = row < 10u;
  var squares: f32 = 0f;
  if (is_used) {
    let from_row = (token * 12u + row) * 64u;
    let pair = team_lane + 0u;
    let at_a = pair;
    let at_b = at_a + 32u;
    let a = qkv[from_row + at_a];
    let b = qkv[from_row + at_b];
    let gain = select(k_gain[at_a], q_gain[at_a], is_query);
    let scale = select(1f, gain, is_turned);
    let gain_1 = select(k_gain[at_b], q_gain[at_b], is_query);
    let scale_1 = select(1f, gain_1, is_turned);
    let turn = angles[pos * 32u + pair];
    let angle = select(vec2<f32>(1f, 0f), turn, is_turned);
    let pair_1 = team_lane + 8u;
    let at_a_1 = pair_1;
    let at_b_1 = at_a_1 + 32u;
    let a_1 = qkv[from_row + at_a_1];
    let b_1 = qkv[from_row + at_b_1];
    let gain_2 = select(k_gain[at_a_1], q_gain[at_a_1], is_query);
    let scale_2 = select(1f, gain_2, is_turned);
    let gain_3 = select(k_gain[at_b_1], q_gain[at_b_1], is_query);
    let scale_3 = select(1f, gain_3, is_turned);
    let turn_1 = angles[pos * 32u + pair_1];
    let angle_1 = select(vec2<f32>(1f, 0f), turn_1, is_turned);
    let pair_2 = team_lane + 16u;
    let at_a_2 = pair_2;
    let at_b_2 = at_a_2 + 32u;
    let a_2 = qkv[from_row + at_a_2];
    let b_2 = qkv[from_row + at_b_2];
    let gain_4 = select(k_gain[at_a_2], q_gain[at_a_2], is_query);
    let scale_4 = select(1f, gain_4, is_turned);
    let gain_5 = select(k_gain[at_b_2], q_gain[at_b_2], is_query);
    let scale_5 = select(1f, gain_5, is_turned);
    let turn_2 = angles[pos * 32u + pair_2];
    let angle_2 = select(vec2<f32>(1f, 0f), turn_2, is_turned);
    let pair_3 = team_lane + 24u;
    let at_a_3 = pair_3;
    let at_b_3 = at_a_3 + 32u;
    let a_3 = qkv[from_row + at_a_3];
    let b_3 = qkv[from_row + at_b_3];
    let gain_6 = select(k_gain[at_a_3], q_gain[at_a_3], is_query);
    let scale_6 = select(1f, gain_6, is_turned);
    let gain_7 = select(k_gain[at_b_3], q_gain[at_b_3], is_query);
    let scale_7 = select(1f, gain_7, is_turned);
    let turn_3 = angles[pos * 32u + pair_3];
    let angle_3 = select(vec2<f32>(1f, 0f), turn_3, is_turned);
    let tile_base = team * 64u;
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
    let scaled_a_2 = a_2 * scale_4;
    let scaled_b_2 = b_2 * scale_5;
    tile[tile_base + at_a_2] = scaled_a_2 * angle_2.x - scaled_b_2 * angle_2.y;
    tile[tile_base + at_b_2] = scaled_b_2 * angle_2.x + scaled_a_2 * angle_2.y;
    squares += a_2 * a_2 + b_2 * b_2;
    let scaled_a_3 = a_3 * scale_6;
    let scaled_b_3 = b_3 * scale_7;
    tile[tile_base + at_a_3] = scaled_a_3 * angle_3.x - scaled_b_3 * angle_3.y;
    tile[tile_base + at_b_3] = scaled_b_3 * angle_3.x + scaled_a_3 * angle_3.y;
    squares += a_3 * a_3 + b_3 * b_3;
  }
  let mine = squares;
  let sg = subgroupShuffleXor(mine, 4u);
  let sum = mine + sg;
  let sg_1 = subgroupShuffleXor(sum, 2u);
  let sum_1 = sum + sg_1;
  let sg_2 = subgroupShuffleXor(sum_1, 1u);
  let sum_2 = sum_1 + sg_2;
  let factor = 1f / sqrt(sum_2 / 64f + 1e-05f);
  if (is_used && (team_lane == 0u)) {
    factors[team] = select(1f, factor, is_turned);
  }
  workgroupBarrier();
  if (is_used) {
    let head_base = team * 64u;
    let head_factor = factors[team];
    if (row < 8u) {
      let to_row = (token * 8u + row) * 64u;
      for (var t = team_lane; t < 64u; t += 8u) {
        q[to_row + t] = tile[head_base + t] * head_factor;
      }
    } else {
      let kv_row = row - 8u;
      let to_row_1 = (kv_row * 512u + pos) * 64u;
      for (var t_1 = team_lane * 2u; t_1 < 64u; t_1 += 16u) {
        let v0 = tile[head_base + t_1] * head_factor;
        let v1 = tile[head_base + (t_1 + 1u)] * head_factor;
        let word = pack2x16float(vec2<f32>(v0, v1));
        kv[(to_row_1 + t_1) / 2u] = word;
      }
    }
  }
}
