enable subgroups;

@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<u32>;
var<workgroup> tile: array<f32, 64>;
var<workgroup> part: array<f32, 8>;

@compute @workgroup_size(64)
fn qkv_heads(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let head = wg.x;
  let is_query = head < 8u;
  let is_turned = head < 10u;
  let from_row = (wg.y * 12u + head) * 64u;
  let pos = params[0u] + wg.y;
  var squares: f32 = 0f;
  for (var i = tid; i < 64u; i += 64u) {
    let v = qkv[from_row + i];
    squares += v * v;
  }
  let mine = squares;
  let sg = subgroupShuffleXor(mine, 4u);
  let sum = mine + sg;
  let sg_1 = subgroupShuffleXor(sum, 2u);
  let sum_1 = sum + sg_1;
  let sg_2 = subgroupShuffleXor(sum_1, 1u);
  let sum_2 = sum_1 + sg_2;
  if ((tid & 7u) == 0u) {
    part[tid / 8u] = sum_2;
  }
  workgroupBarrier();
  let loaded = part[tid & 7u];
  let sg_3 = subgroupShuffleXor(loaded, 4u);
  let sum_3 = loaded + sg_3;
  let sg_4 = subgroupShuffleXor(sum_3, 2u);
  let sum_4 = sum_3 + sg_4;
  let sg_5 = subgroupShuffleXor(sum_4, 1u);
  let sum_5 = sum_4 + sg_5;
  let factor = 1f / sqrt(sum_5 / 64f + 1e-05f);
  for (var pair = tid; pair < 32u; pair += 64u) {
    let at_a = pair;
    let at_b = at_a + 32u;
    let v_1 = qkv[from_row + at_a];
    let gain = select(k_gain[at_a], q_gain[at_a], is_query);
    let normed = select(v_1, v_1 * factor * gain, is_turned);
    let v_2 = qkv[from_row + at_b];
    let gain_1 = select(k_gain[at_b], q_gain[at_b], is_query);
    let normed_1 = select(v_2, v_2 * factor * gain_1, is_turned);
    let turn = angles[pos * 32u + pair];
    let angle = select(vec2<f32>(1f, 0f), turn, is_turned);
    tile[at_a] = normed * angle.x - normed_1 * angle.y;
    tile[at_b] = normed_1 * angle.x + normed * angle.y;
  }
  workgroupBarrier();
  if (is_query) {
    for (var t = tid; t < 64u; t += 64u) {
      q[(wg.y * 8u + head) * 64u + t] = tile[t];
    }
  } else {
    let kv_row = head - 8u;
    for (var t_1 = tid * 2u; t_1 < 64u; t_1 += 128u) {
      let v0 = tile[t_1];
      let v1 = tile[t_1 + 1u];
      let word = pack2x16float(vec2<f32>(v0, v1));
      kv[((kv_row * 512u + pos) * 64u + t_1) / 2u] = word;
    }
  }
}
