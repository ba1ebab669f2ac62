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
  let head = wg.x;
  let is_query = head < 20u;
  let is_turned = head < 25u;
  let from_row = (wg.y * 30u + head) * 128u;
  let pos = params[0u] + wg.y;
  for (var pair = tid; pair < 64u; pair += 64u) {
    let at_a = pair;
    let at_b = at_a + 64u;
    let v = qkv[from_row + at_a];
    let v_1 = qkv[from_row + at_b];
    let turn = angles[pos * 64u + pair];
    let angle = select(vec2<f32>(1f, 0f), turn, is_turned);
    tile[at_a] = v * angle.x - v_1 * angle.y;
    tile[at_b] = v_1 * angle.x + v * angle.y;
  }
  workgroupBarrier();
  if (is_query) {
    for (var t = tid; t < 128u; t += 64u) {
      q[(wg.y * 20u + head) * 128u + t] = tile[t];
    }
  } else {
    let kv_row = head - 20u;
    for (var t_1 = tid * 2u; t_1 < 128u; t_1 += 128u) {
      let v0 = tile[t_1];
      let v1 = tile[t_1 + 1u];
      let word = pack2x16float(vec2<f32>(v0, v1));
      kv[((kv_row * 4096u + pos) * 128u + t_1) / 2u] = word;
    }
  }
}
