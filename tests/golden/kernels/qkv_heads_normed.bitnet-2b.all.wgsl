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
      let to_row_1 = ((block * 10u + kv_row) * 64u + pos % 64u) * 128u;
      for (var t_1 = team_lane * 2u; t_1 < 128u; t_1 += 64u) {
        let v0 = tile[head_base + t_1] * head_factor;
        let v1 = tile[head_base + (t_1 + 1u)] * head_factor;
        let word = pack2x16float(vec2<f32>(v0, v1));
        kv[(to_row_1 + t_1) / 2u] = word;
      }
    }
  }
}
