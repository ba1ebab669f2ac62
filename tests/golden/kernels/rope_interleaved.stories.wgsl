@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> params: array<u32>;

@compute @workgroup_size(128)
fn rope(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let column = wg.x * 128u + tid;
  let pair = column % 32u;
  let head = (wg.y * 8u + column / 32u) * 64u;
  let at_a = head + pair * 2u;
  let at_b = at_a + 1u;
  let turns = (params[wg.y * 3u + 5u] + params[wg.y * 3u + 3u]) * 32u;
  let angle = angles[turns + pair];
  let a = x[at_a];
  let b = x[at_b];
  x[at_a] = a * angle.x - b * angle.y;
  x[at_b] = b * angle.x + a * angle.y;
}
