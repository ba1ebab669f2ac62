@group(0) @binding(0) var<storage, read> tokens: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> scales: array<u32>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(3) var<uniform> range: range_fields;
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>;
fn codes4_minus_8(word: u32, shift: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word) >> (vec4<u32>(0u, 8u, 16u, 24u) + vec4<u32>(shift))) & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388616f);
}

@compute @workgroup_size(256)
fn embed(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let row = tokens[wg.y] - range.first;
  if (row < range.count) {
    let first_quad = wg.y * 640u;
    for (var i = tid * 1u; i < 640u; i += 256u) {
      let at = row * 80u + i / 8u;
      let unit = table[at];
      let quad = i % 8u;
      let quad_of_unit = quad + 0u;
      let word = unit[quad_of_unit / 2u];
      let value = codes4_minus_8(word, quad_of_unit % 2u * 4u);
      let halves = scales[at / 2u] >> ((at & 1u) * 16u);
      let scale = unpack2x16float(halves);
      y[first_quad + i + 0u] = value * scale.x;
    }
  }
}
