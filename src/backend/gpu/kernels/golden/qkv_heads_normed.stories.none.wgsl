@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<u32>;
var<workgroup> tile: array<f32, 128>;
var<workgroup> factors: array<f32, 2>;
var<workgroup> part: array<f32, 64>;

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
    let tile_base = team * 64u;
    let scaled_a = a * scale;
    let scaled_b = b * scale_1;
    tile[tile_base + at_a] = scaled_a * angle.x - scaled_b * angle.y;
    tile[tile_base + at_b] = scaled_b * angle.x + scaled_a * angle.y;
    squares += a * a + b * b;
  }
  let mine = squares;
  workgroupBarrier();
  part[tid] = mine;
  workgroupBarrier();
  let part_lane = tid & 31u;
  if (part_lane < 16u) {
    let a_1 = part[tid];
    let b_1 = part[tid + 16u];
    part[tid] = a_1 + b_1;
  }
  workgroupBarrier();
  if (part_lane < 8u) {
    let a_2 = part[tid];
    let b_2 = part[tid + 8u];
    part[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_3 = part[tid];
    let b_3 = part[tid + 4u];
    part[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_4 = part[tid];
    let b_4 = part[tid + 2u];
    part[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_5 = part[tid];
    let b_5 = part[tid + 1u];
    part[tid] = a_5 + b_5;
  }
  workgroupBarrier();
  let sum = part[tid - part_lane];
  let factor = 1f / sqrt(sum / 64f + 1e-05f);
  if (is_used && (team_lane == 0u)) {
    factors[team] = select(1f, factor, is_turned);
  }
  workgroupBarrier();
  if (is_used) {
    let head_base = team * 64u;
    let head_factor = factors[team];
    if (row < 8u) {
      let to_row = (token * 8u + row) * 64u;
      for (var t = team_lane; t < 64u; t += 32u) {
        q[to_row + t] = tile[head_base + t] * head_factor;
      }
    } else {
      let kv_row = row - 8u;
      let to_row_1 = (kv_row * 512u + pos) * 64u;
      for (var t_1 = team_lane * 2u; t_1 < 64u; t_1 += 64u) {
        let v0 = tile[head_base + t_1] * head_factor;
        let v1 = tile[head_base + (t_1 + 1u)] * head_factor;
        let word = pack2x16float(vec2<f32>(v0, v1));
        kv[(to_row_1 + t_1) / 2u] = word;
      }
    }
  }
}
