@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<u32>;
var<workgroup> tile: array<f32, 512>;

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
  if (is_used) {
    let from_row = (token * 12u + row) * 64u;
    let pair = team_lane + 0u;
    let at_a = pair;
    let at_b = at_a + 32u;
    let a = qkv[from_row + at_a];
    let b = qkv[from_row + at_b];
    let turn = angles[pos * 32u + pair];
    let angle = select(vec2<f32>(1f, 0f), turn, is_turned);
    let pair_1 = team_lane + 8u;
    let at_a_1 = pair_1;
    let at_b_1 = at_a_1 + 32u;
    let a_1 = qkv[from_row + at_a_1];
    let b_1 = qkv[from_row + at_b_1];
    let turn_1 = angles[pos * 32u + pair_1];
    let angle_1 = select(vec2<f32>(1f, 0f), turn_1, is_turned);
    let pair_2 = team_lane + 16u;
    let at_a_2 = pair_2;
    let at_b_2 = at_a_2 + 32u;
    let a_2 = qkv[from_row + at_a_2];
    let b_2 = qkv[from_row + at_b_2];
    let turn_2 = angles[pos * 32u + pair_2];
    let angle_2 = select(vec2<f32>(1f, 0f), turn_2, is_turned);
    let pair_3 = team_lane + 24u;
    let at_a_3 = pair_3;
    let at_b_3 = at_a_3 + 32u;
    let a_3 = qkv[from_row + at_a_3];
    let b_3 = qkv[from_row + at_b_3];
    let turn_3 = angles[pos * 32u + pair_3];
    let angle_3 = select(vec2<f32>(1f, 0f), turn_3, is_turned);
    let tile_base = team * 64u;
    tile[tile_base + at_a] = a * angle.x - b * angle.y;
    tile[tile_base + at_b] = b * angle.x + a * angle.y;
    tile[tile_base + at_a_1] = a_1 * angle_1.x - b_1 * angle_1.y;
    tile[tile_base + at_b_1] = b_1 * angle_1.x + a_1 * angle_1.y;
    tile[tile_base + at_a_2] = a_2 * angle_2.x - b_2 * angle_2.y;
    tile[tile_base + at_b_2] = b_2 * angle_2.x + a_2 * angle_2.y;
    tile[tile_base + at_a_3] = a_3 * angle_3.x - b_3 * angle_3.y;
    tile[tile_base + at_b_3] = b_3 * angle_3.x + a_3 * angle_3.y;
  }
  workgroupBarrier();
  if (is_used) {
    let head_base = team * 64u;
    if (row < 8u) {
      let to_row = (token * 8u + row) * 64u;
      for (var t = team_lane; t < 64u; t += 8u) {
        q[to_row + t] = tile[head_base + t];
      }
    } else {
      let kv_row = row - 8u;
      let to_row_1 = (kv_row * 512u + pos) * 64u;
      for (var t_1 = team_lane * 2u; t_1 < 64u; t_1 += 16u) {
        let v0 = tile[head_base + t_1];
        let v1 = tile[head_base + (t_1 + 1u)];
        let word = pack2x16float(vec2<f32>(v0, v1));
        kv[(to_row_1 + t_1) / 2u] = word;
      }
    }
  }
}
