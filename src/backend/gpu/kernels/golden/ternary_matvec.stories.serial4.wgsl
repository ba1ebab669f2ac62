requires packed_4x8_integer_dot_product;

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(2) var<uniform> scales: scales_fields;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(16)
fn ternary_matvec(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let x_base = wg.y * 97u;
  let group = tid / 1u;
  let lane_of_row = tid & 0u;
  let row = wg.x * 16u + 0u + group;
  let start = row * 24u;
  var acc: i32 = 0i;
  for (var i = lane_of_row; i < 24u; i += 1u) {
    let w4 = w[start + i];
    for (var plane = 0u; plane < 4u; plane += 1u) {
      let q4 = x[x_base + ((i >> 1u) * 8u + (i & 1u)) + plane * 2u];
      let shift = 6u - plane * 2u;
      acc += dot4I8Packed((w4.x >> shift) & 0x03030303u, q4.x);
      acc += dot4I8Packed((w4.y >> shift) & 0x03030303u, q4.y);
      acc += dot4I8Packed((w4.z >> shift) & 0x03030303u, q4.z);
      acc += dot4I8Packed((w4.w >> shift) & 0x03030303u, q4.w);
    }
  }
  let mine = acc;
  let x_meta = x[x_base + 96u];
  let x_scale = bitcast<f32>(x_meta.x);
  let x_sum = bitcast<i32>(x_meta.y);
  if (lane_of_row == 0u) {
    let value = f32(mine - x_sum) / x_scale * scales.a;
    let index = wg.y * 512u + row;
    y[index] = value;
  }
}
