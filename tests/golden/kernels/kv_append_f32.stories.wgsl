@group(0) @binding(0) var<storage, read> k: array<f32>;
@group(0) @binding(1) var<storage, read> v: array<f32>;
@group(0) @binding(2) var<storage, read> params: array<u32>;
@group(0) @binding(3) var<storage, read_write> kv: array<f32>;

@compute @workgroup_size(64)
fn kv_append(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let side = wg.x / 2u;
  let head = wg.x % 2u;
  let from_row = (wg.y * 2u + head) * 64u;
  let pos = params[wg.y * 3u + 3u];
  let table = params[wg.y * 3u + 4u];
  let block = params[table + pos / 64u];
  let to_row = ((block * 4u + wg.x) * 64u + pos % 64u) * 64u;
  for (var i = tid; i < 64u; i += 64u) {
    let first = from_row + i * 1u;
    if (side == 0u) {
      let v0 = k[first];
      kv[to_row + i] = v0;
    } else {
      let v0_1 = v[first];
      kv[to_row + i] = v0_1;
    }
  }
}
