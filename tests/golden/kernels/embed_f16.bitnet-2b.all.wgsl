@group(0) @binding(0) var<storage, read> tokens: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> scales: array<u32>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(3) var<uniform> range: range_fields;
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(256)
fn embed(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let row = tokens[wg.y] - range.first;
  if (row < range.count) {
    let first_quad = wg.y * 640u;
    for (var i = tid * 2u; i < 640u; i += 512u) {
      let at = row * 320u + i / 2u;
      let unit = table[at];
      let value = vec4<f32>(unpack2x16float(unit.x), unpack2x16float(unit.y));
      y[first_quad + i + 0u] = value;
      let value_1 = vec4<f32>(unpack2x16float(unit.z), unpack2x16float(unit.w));
      y[first_quad + i + 1u] = value_1;
    }
  }
}
