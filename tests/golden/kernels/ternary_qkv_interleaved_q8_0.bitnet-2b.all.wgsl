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
var<workgroup> tile: array<f32, 128>;

@compute @workgroup_size(256)
fn ternary_qkv(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let x_base = wg.y * 161u;
  let group = tid / 4u;
  let lane_of_row = tid & 3u;
  let head = wg.x / 1u;
  let first_pair = wg.x % 1u * 64u;
  let pair = first_pair + group;
  let row_a = head * 128u + pair * 2u;
  let row_b = row_a + 1u;
  let start_a = row_a * 40u;
  let start_b = row_b * 40u;
  var acc: i32 = 0i;
  var acc_1: i32 = 0i;
  for (var i = lane_of_row; i < 40u; i += 4u) {
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
  let sg = subgroupShuffleXor(mine, 2u);
  let sum = mine + sg;
  let sg_1 = subgroupShuffleXor(sum, 1u);
  let sum_1 = sum + sg_1;
  let mine_1 = acc_1;
  let sg_2 = subgroupShuffleXor(mine_1, 2u);
  let sum_2 = mine_1 + sg_2;
  let sg_3 = subgroupShuffleXor(sum_2, 1u);
  let sum_3 = sum_2 + sg_3;
  let x_meta = x[x_base + 160u];
  let x_scale = bitcast<f32>(x_meta.x);
  let x_sum = bitcast<i32>(x_meta.y);
  let is_query = head < 20u;
  let is_key = head < 25u;
  let key_or_value = select(scales.c, scales.b, is_key);
  let scale = select(key_or_value, scales.a, is_query);
  let a = f32(sum_1 - x_sum) / x_scale * scale;
  let b = f32(sum_3 - x_sum) / x_scale * scale;
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
    for (var t = tid; t < 128u; t += 256u) {
      let dim = first_pair * 2u + t;
      q[(wg.y * 20u + head) * 128u + dim] = tile[t];
    }
  } else {
    let kv_row = head - 20u;
    let table = params[wg.y * 3u + 4u];
    let block = params[table + pos / 64u];
    let to_row = ((block * 10u + kv_row) * 64u + pos % 64u) * 34u;
    for (var i_1 = tid; i_1 < 34u; i_1 += 256u) {
      if (i_1 < 32u) {
        let group_1 = i_1 / 8u;
        let first_of_group = group_1 * 32u;
        var most: f32 = 0f;
        for (var at = first_of_group; at < first_of_group + 32u; at += 4u) {
          let a_1 = tile[at];
          let b_1 = tile[at + 1u];
          let c = tile[at + 2u];
          let d = tile[at + 3u];
          most = max(most, max(max(abs(a_1), abs(b_1)), max(abs(c), abs(d))));
        }
        let greatest = most;
        let exact_scale = greatest / 127f;
        let raw = bitcast<u32>(exact_scale);
        let normal = ((raw + 4095u + ((raw >> 13u) & 1u)) >> 13u) - 114688u;
        let subnormal = bitcast<u32>(exact_scale + 0.5f) - 1056964608u;
        let scale_bits = min(select(normal, subnormal, exact_scale < 6.1035156e-05f), 31744u);
        let as_pair = unpack2x16float(scale_bits);
        let inverse = select(0f, 1f / as_pair.x, as_pair.x > 0f);
        let from_value = i_1 * 4u;
        let v0 = tile[from_value];
        let v1 = tile[from_value + 1u];
        let v2 = tile[from_value + 2u];
        let v3 = tile[from_value + 3u];
        let v = vec4<f32>(v0, v1, v2, v3);
        let limited = clamp(round(v * inverse), vec4<f32>(-127f), vec4<f32>(127f));
        let q_1 = vec4<i32>(limited);
        let packed = (((bitcast<u32>(q_1.x) & 255u) | ((bitcast<u32>(q_1.y) & 255u) << 8u)) | ((bitcast<u32>(q_1.z) & 255u) << 16u)) | ((bitcast<u32>(q_1.w) & 255u) << 24u);
        let t_1 = i_1 * 4u;
        let dim_1 = first_pair * 2u + t_1;
        kv[to_row + dim_1 / 4u] = packed;
      } else {
        let low_group = i_1 - 32u;
        let high_group = min(low_group + 2u, 3u);
        let first_of_group_1 = low_group * 32u;
        var most_1: f32 = 0f;
        for (var at_1 = first_of_group_1; at_1 < first_of_group_1 + 32u; at_1 += 4u) {
          let a_2 = tile[at_1];
          let b_2 = tile[at_1 + 1u];
          let c_1 = tile[at_1 + 2u];
          let d_1 = tile[at_1 + 3u];
          most_1 = max(most_1, max(max(abs(a_2), abs(b_2)), max(abs(c_1), abs(d_1))));
        }
        let greatest_1 = most_1;
        let exact_scale_1 = greatest_1 / 127f;
        let raw_1 = bitcast<u32>(exact_scale_1);
        let normal_1 = ((raw_1 + 4095u + ((raw_1 >> 13u) & 1u)) >> 13u) - 114688u;
        let subnormal_1 = bitcast<u32>(exact_scale_1 + 0.5f) - 1056964608u;
        let scale_bits_1 = min(select(normal_1, subnormal_1, exact_scale_1 < 6.1035156e-05f), 31744u);
        let as_pair_1 = unpack2x16float(scale_bits_1);
        let inverse_1 = select(0f, 1f / as_pair_1.x, as_pair_1.x > 0f);
        let first_of_group_2 = high_group * 32u;
        var most_2: f32 = 0f;
        for (var at_2 = first_of_group_2; at_2 < first_of_group_2 + 32u; at_2 += 4u) {
          let a_3 = tile[at_2];
          let b_3 = tile[at_2 + 1u];
          let c_2 = tile[at_2 + 2u];
          let d_2 = tile[at_2 + 3u];
          most_2 = max(most_2, max(max(abs(a_3), abs(b_3)), max(abs(c_2), abs(d_2))));
        }
        let greatest_2 = most_2;
        let exact_scale_2 = greatest_2 / 127f;
        let raw_2 = bitcast<u32>(exact_scale_2);
        let normal_2 = ((raw_2 + 4095u + ((raw_2 >> 13u) & 1u)) >> 13u) - 114688u;
        let subnormal_2 = bitcast<u32>(exact_scale_2 + 0.5f) - 1056964608u;
        let scale_bits_2 = min(select(normal_2, subnormal_2, exact_scale_2 < 6.1035156e-05f), 31744u);
        let as_pair_2 = unpack2x16float(scale_bits_2);
        let inverse_2 = select(0f, 1f / as_pair_2.x, as_pair_2.x > 0f);
        kv[to_row + 32u + first_pair / 32u + low_group] = scale_bits_1 | (scale_bits_2 << 16u);
      }
    }
  }
}
