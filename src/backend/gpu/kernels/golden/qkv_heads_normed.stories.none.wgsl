@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<u32>;
var<workgroup> tile: array<f32, 64>;
var<workgroup> part: array<f32, 64>;

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
  workgroupBarrier();
  part[tid] = mine;
  workgroupBarrier();
  let part_lane = tid & 63u;
  if (part_lane < 32u) {
    let a = part[tid];
    let b = part[tid + 32u];
    part[tid] = a + b;
  }
  workgroupBarrier();
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
