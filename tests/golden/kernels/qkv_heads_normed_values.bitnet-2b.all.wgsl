enable subgroups;

@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<u32>;
var<workgroup> tile: array<f32, 128>;
var<workgroup> factors: array<f32, 2>;

@compute @workgroup_size(64)
fn qkv_heads(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let team = tid / 32u;
  let team_lane = tid % 32u;
  let token = wg.y;
  let row = wg.x * 2u + team;
  let pos = params[token * 3u + 3u];
  let turns = params[token * 3u + 5u] + pos;
  let is_used = row < 8u;
  let is_query = row < 4u;
  let is_turned = row < 6u;
  var squares: f32 = 0f;
  if (is_used) {
    let from_row = (token * 8u + row) * 64u;
    let pair = team_lane + 0u;
    let turns_here = pair < 8u;
    let at_a = pair + select(8u, 0u, turns_here);
    let at_b = pair + select(32u, 8u, turns_here);
    let a = qkv[from_row + at_a];
    let b = qkv[from_row + at_b];
    let gain = select(k_gain[at_a], q_gain[at_a], is_query);
    let scale = select(1f, gain, is_turned);
    let gain_1 = select(k_gain[at_b], q_gain[at_b], is_query);
    let scale_1 = select(1f, gain_1, is_turned);
    let turn = angles[turns * 8u + min(pair, 7u)];
    let angle = select(vec2<f32>(1f, 0f), turn, is_turned && turns_here);
    let tile_base = team * 64u;
    let scaled_a = a * scale;
    let scaled_b = b * scale_1;
    tile[tile_base + at_a] = scaled_a * angle.x - scaled_b * angle.y;
    tile[tile_base + at_b] = scaled_b * angle.x + scaled_a * angle.y;
    squares += a * a + b * b;
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
  let factor = 1f / sqrt(sum_4 / 64f + 1e-06f);
  if (is_used && (team_lane == 0u)) {
    factors[team] = factor;
  }
  workgroupBarrier();
  if (is_used) {
    let head_base = team * 64u;
    let head_factor = factors[team];
    if (row < 4u) {
      let to_row = (token * 4u + row) * 64u;
      for (var t = team_lane; t < 64u; t += 32u) {
        q[to_row + t] = tile[head_base + t] * head_factor;
      }
    } else {
      let kv_row = row - 4u;
      let table = params[token * 3u + 4u];
      let block = params[table + pos / 64u];
      let to_row_1 = ((block * 4u + kv_row) * 64u + pos % 64u) * 64u;
      for (var t_1 = team_lane * 2u; t_1 < 64u; t_1 += 64u) {
        let v0 = tile[head_base + t_1] * head_factor;
        let v1 = tile[head_base + (t_1 + 1u)] * head_factor;
        let word = pack2x16float(vec2<f32>(v0, v1));
        kv[(to_row_1 + t_1) / 2u] = word;
      }
    }
  }
}
