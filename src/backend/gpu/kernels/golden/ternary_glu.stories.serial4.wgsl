requires packed_4x8_integer_dot_product;

@group(0) @binding(0) var<storage, read> w_gate: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> w_up: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> x: array<vec4<u32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(3) var<uniform> scales: scales_fields;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(16)
fn ternary_glu(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let x_base = wg.y * 33u;
  let group = tid / 1u;
  let lane_of_row = tid & 0u;
  let row = wg.x * 16u + 0u + group;
  let start = row * 8u;
  var acc: i32 = 0i;
  var acc_1: i32 = 0i;
  for (var i = lane_of_row; i < 8u; i += 1u) {
    let w4 = w_gate[start + i];
    let w4_1 = w_up[start + i];
    for (var plane = 0u; plane < 4u; plane += 1u) {
      let q4 = x[x_base + ((i >> 1u) * 8u + (i & 1u)) + plane * 2u];
      let shift = 6u - plane * 2u;
      acc += dot4I8Packed((w4.x >> shift) & 0x03030303u, q4.x);
      acc_1 += dot4I8Packed((w4_1.x >> shift) & 0x03030303u, q4.x);
      acc += dot4I8Packed((w4.y >> shift) & 0x03030303u, q4.y);
      acc_1 += dot4I8Packed((w4_1.y >> shift) & 0x03030303u, q4.y);
      acc += dot4I8Packed((w4.z >> shift) & 0x03030303u, q4.z);
      acc_1 += dot4I8Packed((w4_1.z >> shift) & 0x03030303u, q4.z);
      acc += dot4I8Packed((w4.w >> shift) & 0x03030303u, q4.w);
      acc_1 += dot4I8Packed((w4_1.w >> shift) & 0x03030303u, q4.w);
    }
  }
  let mine = acc;
  let mine_1 = acc_1;
  let x_meta = x[x_base + 32u];
  let x_scale = bitcast<f32>(x_meta.x);
  let x_sum = bitcast<i32>(x_meta.y);
  if (lane_of_row == 0u) {
    let gate = f32(mine - x_sum) / x_scale * scales.a;
    let up = f32(mine_1 - x_sum) / x_scale * scales.b;
    let positive = max(gate, 0f);
    let value = positive * positive * up;
    y[wg.y * 1536u + row] = value;
  }
}
