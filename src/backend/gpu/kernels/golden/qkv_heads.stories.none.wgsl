@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<u32>;
var<workgroup> tile: array<f32, 128>;

@compute @workgroup_size(64)
fn qkv_heads(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let team = tid / 32u;
  let team_lane = tid % 32u;
  let token = wg.y;
  let row = wg.x * 2u + team;
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
    let tile_base = team * 64u;
    tile[tile_base + at_a] = a * angle.x - b * angle.y;
    tile[tile_base + at_b] = b * angle.x + a * angle.y;
  }
  workgroupBarrier();
  if (is_used) {
    let head_base = team * 64u;
    if (row < 8u) {
      let to_row = (token * 8u + row) * 64u;
      for (var t = team_lane; t < 64u; t += 32u) {
        q[to_row + t] = tile[head_base + t];
      }
    } else {
      let kv_row = row - 8u;
      let to_row_1 = (kv_row * 512u + pos) * 64u;
      for (var t_1 = team_lane * 2u; t_1 < 64u; t_1 += 64u) {
        let v0 = tile[head_base + t_1];
        let v1 = tile[head_base + (t_1 + 1u)];
        let word = pack2x16float(vec2<f32>(v0, v1));
        kv[(to_row_1 + t_1) / 2u] = word;
      }
    }
  }
}
