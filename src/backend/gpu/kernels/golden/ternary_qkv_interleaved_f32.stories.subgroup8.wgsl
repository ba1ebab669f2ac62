enable subgroups;

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(2) var<uniform> scales: scales_fields;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<f32>;
fn dot4(a: u32, b: u32) -> i32 {
  let x_1 = bitcast<i32>(a);
  let y = bitcast<i32>(b);
  let top = (x_1 >> 24u) * (y >> 24u);
  let high = ((x_1 << 8u) >> 24u) * ((y << 8u) >> 24u);
  let middle = ((x_1 << 16u) >> 24u) * ((y << 16u) >> 24u);
  let low = ((x_1 << 24u) >> 24u) * ((y << 24u) >> 24u);
  return top + high + middle + low;
}
var<workgroup> tile: array<f32, 32>;

@compute @workgroup_size(128)
fn ternary_qkv(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let x_base = wg.y * 33u;
  let group = tid / 8u;
  let lane_of_row = tid & 7u;
  let head = wg.x / 2u;
  let first_pair = wg.x % 2u * 16u;
  let pair = first_pair + group;
  let row_a = head * 64u + pair * 2u;
  let row_b = row_a + 1u;
  let start_a = row_a * 8u;
  let start_b = row_b * 8u;
  let i = lane_of_row + 0u;
  let w4 = w[start_a + i];
  let w4_1 = w[start_b + i];
  var acc: i32 = 0i;
  var acc_1: i32 = 0i;
  let i_1 = lane_of_row + 0u;
  let q4 = x[x_base + ((i_1 >> 1u) * 8u + (i_1 & 1u)) + 0u];
  acc += dot4((w4.x >> 6u) & 0x03030303u, q4.x);
  acc_1 += dot4((w4_1.x >> 6u) & 0x03030303u, q4.x);
  acc += dot4((w4.y >> 6u) & 0x03030303u, q4.y);
  acc_1 += dot4((w4_1.y >> 6u) & 0x03030303u, q4.y);
  acc += dot4((w4.z >> 6u) & 0x03030303u, q4.z);
  acc_1 += dot4((w4_1.z >> 6u) & 0x03030303u, q4.z);
  acc += dot4((w4.w >> 6u) & 0x03030303u, q4.w);
  acc_1 += dot4((w4_1.w >> 6u) & 0x03030303u, q4.w);
  let q4_1 = x[x_base + ((i_1 >> 1u) * 8u + (i_1 & 1u)) + 2u];
  acc += dot4((w4.x >> 4u) & 0x03030303u, q4_1.x);
  acc_1 += dot4((w4_1.x >> 4u) & 0x03030303u, q4_1.x);
  acc += dot4((w4.y >> 4u) & 0x03030303u, q4_1.y);
  acc_1 += dot4((w4_1.y >> 4u) & 0x03030303u, q4_1.y);
  acc += dot4((w4.z >> 4u) & 0x03030303u, q4_1.z);
  acc_1 += dot4((w4_1.z >> 4u) & 0x03030303u, q4_1.z);
  acc += dot4((w4.w >> 4u) & 0x03030303u, q4_1.w);
  acc_1 += dot4((w4_1.w >> 4u) & 0x03030303u, q4_1.w);
  let q4_2 = x[x_base + ((i_1 >> 1u) * 8u + (i_1 & 1u)) + 4u];
  acc += dot4((w4.x >> 2u) & 0x03030303u, q4_2.x);
  acc_1 += dot4((w4_1.x >> 2u) & 0x03030303u, q4_2.x);
  acc += dot4((w4.y >> 2u) & 0x03030303u, q4_2.y);
  acc_1 += dot4((w4_1.y >> 2u) & 0x03030303u, q4_2.y);
  acc += dot4((w4.z >> 2u) & 0x03030303u, q4_2.z);
  acc_1 += dot4((w4_1.z >> 2u) & 0x03030303u, q4_2.z);
  acc += dot4((w4.w >> 2u) & 0x03030303u, q4_2.w);
  acc_1 += dot4((w4_1.w >> 2u) & 0x03030303u, q4_2.w);
  let q4_3 = x[x_base + ((i_1 >> 1u) * 8u + (i_1 & 1u)) + 6u];
  acc += dot4(w4.x & 0x03030303u, q4_3.x);
  acc_1 += dot4(w4_1.x & 0x03030303u, q4_3.x);
  acc += dot4(w4.y & 0x03030303u, q4_3.y);
  acc_1 += dot4(w4_1.y & 0x03030303u, q4_3.y);
  acc += dot4(w4.z & 0x03030303u, q4_3.z);
  acc_1 += dot4(w4_1.z & 0x03030303u, q4_3.z);
  acc += dot4(w4.w & 0x03030303u, q4_3.w);
  acc_1 += dot4(w4_1.w & 0x03030303u, q4_3.w);
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
  let x_meta = x[x_base + 32u];
  let x_scale = bitcast<f32>(x_meta.x);
  let x_sum = bitcast<i32>(x_meta.y);
  let is_query = head < 8u;
  let is_key = head < 10u;
  let key_or_value = select(scales.c, scales.b, is_key);
  let scale = select(key_or_value, scales.a, is_query);
  let a_1 = f32(sum_2 - x_sum) / x_scale * scale;
  let b_1 = f32(sum_5 - x_sum) / x_scale * scale;
  let pos = params[0u] + wg.y;
  if (lane_of_row == 0u) {
    let turn = angles[pos * 32u + pair];
    let angle = select(vec2<f32>(1f, 0f), turn, is_key);
    let at_a = group * 2u;
    tile[at_a] = a_1 * angle.x - b_1 * angle.y;
    tile[at_a + 1u] = b_1 * angle.x + a_1 * angle.y;
  }
  workgroupBarrier();
  if (is_query) {
    for (var t = tid; t < 32u; t += 128u) {
      let dim = first_pair * 2u + t;
      q[(wg.y * 8u + head) * 64u + dim] = tile[t];
    }
  } else {
    let kv_row = head - 8u;
    for (var t_1 = tid * 1u; t_1 < 32u; t_1 += 128u) {
      let dim_1 = first_pair * 2u + t_1;
      let v0 = tile[t_1];
      let word = v0;
      kv[((kv_row * 512u + pos) * 64u + dim_1) / 1u] = word;
    }
  }
}
