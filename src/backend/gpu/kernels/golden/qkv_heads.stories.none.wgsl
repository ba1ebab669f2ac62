@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<u32>;
var<workgroup> tile: array<f32, 64>;

@compute @workgroup_size(64)
fn qkv_heads(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let head = wg.x;
  let is_query = head < 8u;
  let is_turned = head < 10u;
  let from_row = (wg.y * 12u + head) * 64u;
  let pos = params[0u] + wg.y;
  for (var pair = tid; pair < 32u; pair += 64u) {
    let at_a = pair;
    let at_b = at_a + 32u;
    let v = qkv[from_row + at_a];
    let v_1 = qkv[from_row + at_b];
    let turn = angles[pos * 32u + pair];
    let angle = select(vec2<f32>(1f, 0f), turn, is_turned);
    tile[at_a] = v * angle.x - v_1 * angle.y;
    tile[at_b] = v_1 * angle.x + v * angle.y;
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
