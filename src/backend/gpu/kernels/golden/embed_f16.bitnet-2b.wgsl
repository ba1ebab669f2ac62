@group(0) @binding(0) var<storage, read> tokens: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<u32>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(2) var<uniform> range: range_fields;
@group(0) @binding(3) var<storage, read_write> y: array<vec2<f32>>;

@compute @workgroup_size(256)
fn embed(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let row = tokens[wg.y] - range.first;
  if (row < range.count) {
    for (var i = tid; i < 1280u; i += 256u) {
      let word = table[row * 1280u + i];
      y[wg.y * 1280u + i] = unpack2x16float(word);
    }
  }
}
