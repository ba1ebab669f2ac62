enable subgroups;

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
    if (is_query) {
      let to_row = (wg.y * 8u + wg.x) * 64u;
      q[to_row + at_a] = normed_a;
      q[to_row + at_b] = normed_b;
      q[to_row + at_a_1] = normed_a_1;
      q[to_row + at_b_1] = normed_b_1;
    } else {
      let table = params[wg.y * 3u + 4u];
      let block = params[table + pos / 64u];
      let to_row_1 = ((block * 4u + (wg.x - 8u)) * 64u + pos % 64u) * 64u;
      kv[to_row_1 + at_a] = normed_a;
      kv[to_row_1 + at_b] = normed_b;
      kv[to_row_1 + at_a_1] = normed_a_1;
      kv[to_row_1 + at_b_1] = normed_b_1;
    }
  }
}
