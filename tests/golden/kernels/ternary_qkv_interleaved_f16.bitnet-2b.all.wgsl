enable subgroups;
requires packed_4x8_integer_dot_product;

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(2) var<uniform> scales: scales_fields;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> kv: array<u32>;
var<workgroup> tile: array<f32, 32>;

@compute @workgroup_size(128)
fn ternary_qkv(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let x_base = wg.y * 161u;
  let group = tid / 8u;
  let lane_of_row = tid & 7u;
  let head = wg.x / 4u;
  let first_pair = wg.x % 4u * 16u;
  let pair = first_pair + group;
  let row_a = head * 128u + pair * 2u;
  let row_b = row_a + 1u;
  let start_a = row_a * 40u;
  let start_b = row_b * 40u;
  var acc: i32 = 0i;
  var acc_1: i32 = 0i;
  for (var i = lane_of_row; i < 40u; i += 8u) {
    let w4 = w[start_a + i];
    let w4_1 = w[start_b + i];
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
  let x_meta = x[x_base + 160u];
  let x_scale = bitcast<f32>(x_meta.x);
  let x_sum = bitcast<i32>(x_meta.y);
  let is_query = head < 20u;
  let is_key = head < 25u;
  let key_or_value = select(scales.c, scales.b, is_key);
  let scale = select(key_or_value, scales.a, is_query);
  let a = f32(sum_2 - x_sum) / x_scale * scale;
  let b = f32(sum_5 - x_sum) / x_scale * scale;
  let pos = params[wg.y * 3u + 3u];
  if (lane_of_row == 0u) {
    let turns = params[wg.y * 3u + 5u] + pos;
    let turn = angles[turns * 64u + pair];
    let angle = select(vec2<f32>(1f, 0f), turn, is_key);
    let at_a = group * 2u;
    tile[at_a] = a * angle.x - b * angle.y;
    tile[at_a + 1u] = b * angle.x + a * angle.y;
  }
  workgroupBarrier();
  if (is_query) {
    for (var t = tid; t < 32u; t += 128u) {
      let dim = first_pair * 2u + t;
      q[(wg.y * 20u + head) * 128u + dim] = tile[t];
    }
  } else {
    let kv_row = head - 20u;
    let table = params[wg.y * 3u + 4u];
    let block = params[table + pos / 64u];
    let to_row = ((block * 10u + kv_row) * 64u + pos % 64u) * 128u;
    for (var t_1 = tid * 2u; t_1 < 32u; t_1 += 256u) {
      let dim_1 = first_pair * 2u + t_1;
      let v0 = tile[t_1];
      let v1 = tile[t_1 + 1u];
      let word = pack2x16float(vec2<f32>(v0, v1));
      kv[(to_row + dim_1) / 2u] = word;
    }
  }
}
