@group(0) @binding(0) var<storage, read> k: array<f32>;
@group(0) @binding(1) var<storage, read> v: array<f32>;
@group(0) @binding(2) var<storage, read> params: array<u32>;
@group(0) @binding(3) var<storage, read_write> kv: array<u32>;

@compute @workgroup_size(64)
fn kv_append(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let side = wg.x / 2u;
  let head = wg.x % 2u;
  let from_row = (wg.y * 2u + head) * 64u;
  let pos = params[wg.y * 3u + 3u];
  let table = params[wg.y * 3u + 4u];
  let block = params[table + pos / 64u];
  let to_row = ((block * 4u + wg.x) * 64u + pos % 64u) * 32u;
  for (var i = tid; i < 32u; i += 64u) {
    let first = from_row + i * 2u;
    if (side == 0u) {
      let v0 = k[first];
      let v1 = k[first + 1u];
      kv[to_row + i] = pack2x16float(vec2<f32>(v0, v1));
    } else {
      let v0_1 = v[first];
      let v1_1 = v[first + 1u];
      kv[to_row + i] = pack2x16float(vec2<f32>(v0_1, v1_1));
    }
  }
}
