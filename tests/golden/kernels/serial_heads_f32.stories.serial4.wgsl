@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<f32>;

@compute @workgroup_size(4)
fn serial_heads(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let from_row = (wg.y * 12u + wg.x) * 64u;
  let is_query = wg.x < 8u;
  let is_turned = wg.x < 10u;
  let pos = params[wg.y * 3u + 3u];
  let turns = params[wg.y * 3u + 5u] + pos;
  for (var t = tid; t < 16u; t += 4u) {
    let pair = t * 2u + 0u;
    let at_a = pair * 2u;
    let at_b = at_a + 1u;
    let pair_1 = t * 2u + 1u;
    let at_a_1 = pair_1 * 2u;
    let at_b_1 = at_a_1 + 1u;
    let v = qkv[from_row + at_a];
    let v_1 = qkv[from_row + at_b];
    let turn = angles[turns * 32u + pair];
    let angle = select(vec2<f32>(1f, 0f), turn, is_turned);
    let new_a = v * angle.x - v_1 * angle.y;
    let new_b = v_1 * angle.x + v * angle.y;
    let v_2 = qkv[from_row + at_a_1];
    let v_3 = qkv[from_row + at_b_1];
    let turn_1 = angles[turns * 32u + pair_1];
    let angle_1 = select(vec2<f32>(1f, 0f), turn_1, is_turned);
    let new_a_1 = v_2 * angle_1.x - v_3 * angle_1.y;
    let new_b_1 = v_3 * angle_1.x + v_2 * angle_1.y;
    if (is_query) {
      let to_row = (wg.y * 8u + wg.x) * 64u;
      q[to_row + at_a] = new_a;
      q[to_row + at_b] = new_b;
      q[to_row + at_a_1] = new_a_1;
      q[to_row + at_b_1] = new_b_1;
    } else {
      let table = params[wg.y * 3u + 4u];
      let block = params[table + pos / 64u];
      let to_row_1 = ((block * 4u + (wg.x - 8u)) * 64u + pos % 64u) * 64u;
      kv[to_row_1 + at_a] = new_a;
      kv[to_row_1 + at_b] = new_b;
      kv[to_row_1 + at_a_1] = new_a_1;
      kv[to_row_1 + at_b_1] = new_b_1;
    }
  }
}
