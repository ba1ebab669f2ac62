enable subgroups;
requires packed_4x8_integer_dot_product;

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(2) var<uniform> scales: scales_fields;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(128)
fn ternary_matvec_add(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let x_base = wg.y * 433u;
  let group = tid / 8u;
  let lane_of_row = tid & 7u;
  let row = wg.x * 32u + 0u + group;
  let row_1 = wg.x * 32u + 16u + group;
  let start = row * 108u;
  let start_1 = row_1 * 108u;
  var acc: i32 = 0i;
  var acc_1: i32 = 0i;
  for (var i = lane_of_row; i < 108u; i += 8u) {
    let w4 = w[start + i];
    let w4_1 = w[start_1 + i];
    let q4 = x[x_base + ((i >> 1u) * 8u + (i & 1u)) + 0u];
    acc += dot4I8Packed((w4.x >> 6u) & 0x03030303u, q4.x);
    acc_1 += dot4I8Packed((w4_1.x >> 6u) & 0x03030303u, q4.x);
    acc += dot4I8Packed((w4.y >> 6u) & 0x03030303u, q4.y);
    acc_1 += dot4I8Packed((w4_1.y >> 6u) & 0x03030303u, q4.y);
    acc += dot4I8Packed((w4.z >> 6u) & 0x03030303u, q4.z);
    acc_1 += dot4I8Packed((w4_1.z >> 6u) & 0x03030303u, q4.z);
    acc += dot4I8Packed((w4.w >> 6u) & 0x03030303u, q4.w);
    acc_1 += dot4I8Packed((w4_1.w >> 6u) & 0x03030303u, q4.w);
    let q4_1 = x[x_base + ((i >> 1u) * 8u + (i & 1u)) + 2u];
    acc += dot4I8Packed((w4.x >> 4u) & 0x03030303u, q4_1.x);
    acc_1 += dot4I8Packed((w4_1.x >> 4u) & 0x03030303u, q4_1.x);
    acc += dot4I8Packed((w4.y >> 4u) & 0x03030303u, q4_1.y);
    acc_1 += dot4I8Packed((w4_1.y >> 4u) & 0x03030303u, q4_1.y);
    acc += dot4I8Packed((w4.z >> 4u) & 0x03030303u, q4_1.z);
    acc_1 += dot4I8Packed((w4_1.z >> 4u) & 0x03030303u, q4_1.z);
    acc += dot4I8Packed((w4.w >> 4u) & 0x03030303u, q4_1.w);
    acc_1 += dot4I8Packed((w4_1.w >> 4u) & 0x03030303u, q4_1.w);
    let q4_2 = x[x_base + ((i >> 1u) * 8u + (i & 1u)) + 4u];
    acc += dot4I8Packed((w4.x >> 2u) & 0x03030303u, q4_2.x);
    acc_1 += dot4I8Packed((w4_1.x >> 2u) & 0x03030303u, q4_2.x);
    acc += dot4I8Packed((w4.y >> 2u) & 0x03030303u, q4_2.y);
    acc_1 += dot4I8Packed((w4_1.y >> 2u) & 0x03030303u, q4_2.y);
    acc += dot4I8Packed((w4.z >> 2u) & 0x03030303u, q4_2.z);
    acc_1 += dot4I8Packed((w4_1.z >> 2u) & 0x03030303u, q4_2.z);
    acc += dot4I8Packed((w4.w >> 2u) & 0x03030303u, q4_2.w);
    acc_1 += dot4I8Packed((w4_1.w >> 2u) & 0x03030303u, q4_2.w);
    let q4_3 = x[x_base + ((i >> 1u) * 8u + (i & 1u)) + 6u];
    acc += dot4I8Packed(w4.x & 0x03030303u, q4_3.x);
    acc_1 += dot4I8Packed(w4_1.x & 0x03030303u, q4_3.x);
    acc += dot4I8Packed(w4.y & 0x03030303u, q4_3.y);
    acc_1 += dot4I8Packed(w4_1.y & 0x03030303u, q4_3.y);
    acc += dot4I8Packed(w4.z & 0x03030303u, q4_3.z);
    acc_1 += dot4I8Packed(w4_1.z & 0x03030303u, q4_3.z);
    acc += dot4I8Packed(w4.w & 0x03030303u, q4_3.w);
    acc_1 += dot4I8Packed(w4_1.w & 0x03030303u, q4_3.w);
  }
  let mine = acc;
  let sg = subgroupShuffleXor(mine, 4u);
  let sum = mine + sg;
  let sg_1 = subgroupShuffleXor(sum, 2u);
  let sum_1 = sum + sg_1;
  let sg_2 = subgroupShuffleXor(sum_1, 1u);
  let sum_2 = sum_1 + sg_2;
  let mine_1 = acc_1;
  let sg_3 = subgroupShuffleXor(mine_1, 4u);
  let sum_3 = mine_1 + sg_3;
  let sg_4 = subgroupShuffleXor(sum_3, 2u);
  let sum_4 = sum_3 + sg_4;
  let sg_5 = subgroupShuffleXor(sum_4, 1u);
  let sum_5 = sum_4 + sg_5;
  let x_meta = x[x_base + 432u];
  let x_scale = bitcast<f32>(x_meta.x);
  let x_sum = bitcast<i32>(x_meta.y);
  if (lane_of_row == 0u) {
    let value = f32(sum_2 - x_sum) / x_scale * scales.a;
    let index = wg.y * 2560u + row;
    let y_new = y[index] + value;
    y[index] = y_new;
    let value_1 = f32(sum_5 - x_sum) / x_scale * scales.a;
    let index_1 = wg.y * 2560u + row_1;
    let y_new_1 = y[index_1] + value_1;
    y[index_1] = y_new_1;
  }
}
