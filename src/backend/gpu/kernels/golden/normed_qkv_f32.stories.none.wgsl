@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> parts: array<vec2<f32>>;
struct scales_fields { a: f32, b: f32, c: f32, unused: f32 }
@group(0) @binding(4) var<uniform> scales: scales_fields;
@group(0) @binding(5) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read> params: array<u32>;
@group(0) @binding(7) var<storage, read_write> q: array<f32>;
@group(0) @binding(8) var<storage, read_write> kv: array<f32>;
var<workgroup> staged: array<vec4<u32>, 32>;
fn dot4(a: u32, b: u32) -> i32 {
  let x_1 = bitcast<i32>(a);
  let y = bitcast<i32>(b);
  let top = (x_1 >> 24u) * (y >> 24u);
  let high = ((x_1 << 8u) >> 24u) * ((y << 8u) >> 24u);
  let middle = ((x_1 << 16u) >> 24u) * ((y << 16u) >> 24u);
  let low = ((x_1 << 24u) >> 24u) * ((y << 24u) >> 24u);
  return top + high + middle + low;
}
var<workgroup> part: array<f32, 128>;
var<workgroup> part_1: array<f32, 128>;
var<workgroup> part_2: array<i32, 128>;
var<workgroup> part_3: array<i32, 128>;
var<workgroup> part_4: array<i32, 128>;
var<workgroup> tile: array<f32, 32>;

@compute @workgroup_size(128)
fn normed_qkv(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 8u;
  let lane_of_row = tid & 7u;
  let head = wg.x / 2u;
  let first_pair = wg.x % 2u * 16u;
  let pair = first_pair + group;
  let row_a = head * 64u + pair;
  let row_b = row_a + 32u;
  let start_a = row_a * 8u;
  let start_b = row_b * 8u;
  let i = lane_of_row + 0u;
  let w4 = w[start_a + i];
  let w4_1 = w[start_b + i];
  let x_row = wg.y * 128u;
  let parts_row = wg.y * 16u;
  let unit = tid + 0u;
  let from_quad = min(unit, 31u) * 4u;
  let v = x[x_row + from_quad + 0u];
  let g = gain[from_quad + 0u];
  let vg = v * g;
  let v_1 = x[x_row + from_quad + 1u];
  let g_1 = gain[from_quad + 1u];
  let vg_1 = v_1 * g_1;
  let v_2 = x[x_row + from_quad + 2u];
  let g_2 = gain[from_quad + 2u];
  let vg_2 = v_2 * g_2;
  let v_3 = x[x_row + from_quad + 3u];
  let g_3 = gain[from_quad + 3u];
  let vg_3 = v_3 * g_3;
  var squares: f32 = 0f;
  var largest: f32 = 0f;
  let i_1 = tid + 0u;
  if (i_1 < 16u) {
    let part_stats = parts[parts_row + i_1];
    squares += part_stats.x;
    largest = max(largest, part_stats.y);
  }
  let my_squares = squares;
  let my_largest = largest;
  workgroupBarrier();
  part[tid] = my_squares;
  workgroupBarrier();
  let part_lane = tid & 127u;
  if (part_lane < 64u) {
    let a_1 = part[tid];
    let b_1 = part[tid + 64u];
    part[tid] = a_1 + b_1;
  }
  workgroupBarrier();
  if (part_lane < 32u) {
    let a_2 = part[tid];
    let b_2 = part[tid + 32u];
    part[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  if (part_lane < 16u) {
    let a_3 = part[tid];
    let b_3 = part[tid + 16u];
    part[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  if (part_lane < 8u) {
    let a_4 = part[tid];
    let b_4 = part[tid + 8u];
    part[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_5 = part[tid];
    let b_5 = part[tid + 4u];
    part[tid] = a_5 + b_5;
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_6 = part[tid];
    let b_6 = part[tid + 2u];
    part[tid] = a_6 + b_6;
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_7 = part[tid];
    let b_7 = part[tid + 1u];
    part[tid] = a_7 + b_7;
  }
  workgroupBarrier();
  let sum = part[tid - part_lane];
  workgroupBarrier();
  part_1[tid] = my_largest;
  workgroupBarrier();
  let part_lane_1 = tid & 127u;
  if (part_lane_1 < 64u) {
    let a_8 = part_1[tid];
    let b_8 = part_1[tid + 64u];
    part_1[tid] = max(a_8, b_8);
  }
  workgroupBarrier();
  if (part_lane_1 < 32u) {
    let a_9 = part_1[tid];
    let b_9 = part_1[tid + 32u];
    part_1[tid] = max(a_9, b_9);
  }
  workgroupBarrier();
  if (part_lane_1 < 16u) {
    let a_10 = part_1[tid];
    let b_10 = part_1[tid + 16u];
    part_1[tid] = max(a_10, b_10);
  }
  workgroupBarrier();
  if (part_lane_1 < 8u) {
    let a_11 = part_1[tid];
    let b_11 = part_1[tid + 8u];
    part_1[tid] = max(a_11, b_11);
  }
  workgroupBarrier();
  if (part_lane_1 < 4u) {
    let a_12 = part_1[tid];
    let b_12 = part_1[tid + 4u];
    part_1[tid] = max(a_12, b_12);
  }
  workgroupBarrier();
  if (part_lane_1 < 2u) {
    let a_13 = part_1[tid];
    let b_13 = part_1[tid + 2u];
    part_1[tid] = max(a_13, b_13);
  }
  workgroupBarrier();
  if (part_lane_1 < 1u) {
    let a_14 = part_1[tid];
    let b_14 = part_1[tid + 1u];
    part_1[tid] = max(a_14, b_14);
  }
  workgroupBarrier();
  let sum_1 = part_1[tid - part_lane_1];
  let factor = 1f / sqrt(sum / 512f + 1e-05f);
  let finite_scale = 127f / max(sum_1 * factor, 1e-05f);
  let factor_and_scale = factor * finite_scale;
  let factor_bits = bitcast<u32>(factor);
  let x_scale = select(finite_scale, factor, (factor_bits - 1u) >= 2139095039u);
  var q_sum: i32 = 0i;
  if (unit < 32u) {
    let limited = clamp(round(vg * factor_and_scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q_1 = vec4<i32>(limited);
    let packed = (((bitcast<u32>(q_1.x) & 255u) | ((bitcast<u32>(q_1.y) & 255u) << 8u)) | ((bitcast<u32>(q_1.z) & 255u) << 16u)) | ((bitcast<u32>(q_1.w) & 255u) << 24u);
    q_sum += q_1.x + q_1.y + q_1.z + q_1.w;
    let limited_1 = clamp(round(vg_1 * factor_and_scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q_2 = vec4<i32>(limited_1);
    let packed_1 = (((bitcast<u32>(q_2.x) & 255u) | ((bitcast<u32>(q_2.y) & 255u) << 8u)) | ((bitcast<u32>(q_2.z) & 255u) << 16u)) | ((bitcast<u32>(q_2.w) & 255u) << 24u);
    q_sum += q_2.x + q_2.y + q_2.z + q_2.w;
    let limited_2 = clamp(round(vg_2 * factor_and_scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q_3 = vec4<i32>(limited_2);
    let packed_2 = (((bitcast<u32>(q_3.x) & 255u) | ((bitcast<u32>(q_3.y) & 255u) << 8u)) | ((bitcast<u32>(q_3.z) & 255u) << 16u)) | ((bitcast<u32>(q_3.w) & 255u) << 24u);
    q_sum += q_3.x + q_3.y + q_3.z + q_3.w;
    let limited_3 = clamp(round(vg_3 * factor_and_scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q_4 = vec4<i32>(limited_3);
    let packed_3 = (((bitcast<u32>(q_4.x) & 255u) | ((bitcast<u32>(q_4.y) & 255u) << 8u)) | ((bitcast<u32>(q_4.z) & 255u) << 16u)) | ((bitcast<u32>(q_4.w) & 255u) << 24u);
    q_sum += q_4.x + q_4.y + q_4.z + q_4.w;
    let staged_at = ((unit >> 1u) & 3u) * 8u + ((unit >> 3u) * 2u + (unit & 1u));
    staged[staged_at] = vec4<u32>(packed, packed_1, packed_2, packed_3);
  }
  let my_sum = q_sum;
  workgroupBarrier();
  part_2[tid] = my_sum;
  workgroupBarrier();
  let part_lane_2 = tid & 127u;
  if (part_lane_2 < 64u) {
    let a_15 = part_2[tid];
    let b_15 = part_2[tid + 64u];
    part_2[tid] = a_15 + b_15;
  }
  workgroupBarrier();
  if (part_lane_2 < 32u) {
    let a_16 = part_2[tid];
    let b_16 = part_2[tid + 32u];
    part_2[tid] = a_16 + b_16;
  }
  workgroupBarrier();
  if (part_lane_2 < 16u) {
    let a_17 = part_2[tid];
    let b_17 = part_2[tid + 16u];
    part_2[tid] = a_17 + b_17;
  }
  workgroupBarrier();
  if (part_lane_2 < 8u) {
    let a_18 = part_2[tid];
    let b_18 = part_2[tid + 8u];
    part_2[tid] = a_18 + b_18;
  }
  workgroupBarrier();
  if (part_lane_2 < 4u) {
    let a_19 = part_2[tid];
    let b_19 = part_2[tid + 4u];
    part_2[tid] = a_19 + b_19;
  }
  workgroupBarrier();
  if (part_lane_2 < 2u) {
    let a_20 = part_2[tid];
    let b_20 = part_2[tid + 2u];
    part_2[tid] = a_20 + b_20;
  }
  workgroupBarrier();
  if (part_lane_2 < 1u) {
    let a_21 = part_2[tid];
    let b_21 = part_2[tid + 1u];
    part_2[tid] = a_21 + b_21;
  }
  workgroupBarrier();
  let sum_2 = part_2[tid - part_lane_2];
  workgroupBarrier();
  var acc: i32 = 0i;
  var acc_1: i32 = 0i;
  let i_2 = lane_of_row + 0u;
  let q4 = staged[i_2 + 0u];
  acc += dot4((w4.x >> 6u) & 0x03030303u, q4.x);
  acc_1 += dot4((w4_1.x >> 6u) & 0x03030303u, q4.x);
  acc += dot4((w4.y >> 6u) & 0x03030303u, q4.y);
  acc_1 += dot4((w4_1.y >> 6u) & 0x03030303u, q4.y);
  acc += dot4((w4.z >> 6u) & 0x03030303u, q4.z);
  acc_1 += dot4((w4_1.z >> 6u) & 0x03030303u, q4.z);
  acc += dot4((w4.w >> 6u) & 0x03030303u, q4.w);
  acc_1 += dot4((w4_1.w >> 6u) & 0x03030303u, q4.w);
  let q4_1 = staged[i_2 + 8u];
  acc += dot4((w4.x >> 4u) & 0x03030303u, q4_1.x);
  acc_1 += dot4((w4_1.x >> 4u) & 0x03030303u, q4_1.x);
  acc += dot4((w4.y >> 4u) & 0x03030303u, q4_1.y);
  acc_1 += dot4((w4_1.y >> 4u) & 0x03030303u, q4_1.y);
  acc += dot4((w4.z >> 4u) & 0x03030303u, q4_1.z);
  acc_1 += dot4((w4_1.z >> 4u) & 0x03030303u, q4_1.z);
  acc += dot4((w4.w >> 4u) & 0x03030303u, q4_1.w);
  acc_1 += dot4((w4_1.w >> 4u) & 0x03030303u, q4_1.w);
  let q4_2 = staged[i_2 + 16u];
  acc += dot4((w4.x >> 2u) & 0x03030303u, q4_2.x);
  acc_1 += dot4((w4_1.x >> 2u) & 0x03030303u, q4_2.x);
  acc += dot4((w4.y >> 2u) & 0x03030303u, q4_2.y);
  acc_1 += dot4((w4_1.y >> 2u) & 0x03030303u, q4_2.y);
  acc += dot4((w4.z >> 2u) & 0x03030303u, q4_2.z);
  acc_1 += dot4((w4_1.z >> 2u) & 0x03030303u, q4_2.z);
  acc += dot4((w4.w >> 2u) & 0x03030303u, q4_2.w);
  acc_1 += dot4((w4_1.w >> 2u) & 0x03030303u, q4_2.w);
  let q4_3 = staged[i_2 + 24u];
  acc += dot4(w4.x & 0x03030303u, q4_3.x);
  acc_1 += dot4(w4_1.x & 0x03030303u, q4_3.x);
  acc += dot4(w4.y & 0x03030303u, q4_3.y);
  acc_1 += dot4(w4_1.y & 0x03030303u, q4_3.y);
  acc += dot4(w4.z & 0x03030303u, q4_3.z);
  acc_1 += dot4(w4_1.z & 0x03030303u, q4_3.z);
  acc += dot4(w4.w & 0x03030303u, q4_3.w);
  acc_1 += dot4(w4_1.w & 0x03030303u, q4_3.w);
  let mine = acc;
  workgroupBarrier();
  part_3[tid] = mine;
  workgroupBarrier();
  let part_lane_3 = tid & 7u;
  if (part_lane_3 < 4u) {
    let a_22 = part_3[tid];
    let b_22 = part_3[tid + 4u];
    part_3[tid] = a_22 + b_22;
  }
  workgroupBarrier();
  if (part_lane_3 < 2u) {
    let a_23 = part_3[tid];
    let b_23 = part_3[tid + 2u];
    part_3[tid] = a_23 + b_23;
  }
  workgroupBarrier();
  if (part_lane_3 < 1u) {
    let a_24 = part_3[tid];
    let b_24 = part_3[tid + 1u];
    part_3[tid] = a_24 + b_24;
  }
  workgroupBarrier();
  let sum_3 = part_3[tid - part_lane_3];
  let mine_1 = acc_1;
  workgroupBarrier();
  part_4[tid] = mine_1;
  workgroupBarrier();
  let part_lane_4 = tid & 7u;
  if (part_lane_4 < 4u) {
    let a_25 = part_4[tid];
    let b_25 = part_4[tid + 4u];
    part_4[tid] = a_25 + b_25;
  }
  workgroupBarrier();
  if (part_lane_4 < 2u) {
    let a_26 = part_4[tid];
    let b_26 = part_4[tid + 2u];
    part_4[tid] = a_26 + b_26;
  }
  workgroupBarrier();
  if (part_lane_4 < 1u) {
    let a_27 = part_4[tid];
    let b_27 = part_4[tid + 1u];
    part_4[tid] = a_27 + b_27;
  }
  workgroupBarrier();
  let sum_4 = part_4[tid - part_lane_4];
  let is_query = head < 8u;
  let is_key = head < 10u;
  let key_or_value = select(scales.c, scales.b, is_key);
  let scale = select(key_or_value, scales.a, is_query);
  let a_28 = f32(sum_3 - sum_2) / x_scale * scale;
  let b_28 = f32(sum_4 - sum_2) / x_scale * scale;
  let pos = params[0u] + wg.y;
  if (lane_of_row == 0u) {
    let turn = angles[pos * 32u + pair];
    let angle = select(vec2<f32>(1f, 0f), turn, is_key);
    let at_a = group;
    tile[at_a] = a_28 * angle.x - b_28 * angle.y;
    tile[at_a + 16u] = b_28 * angle.x + a_28 * angle.y;
  }
  workgroupBarrier();
  if (is_query) {
    for (var t = tid; t < 32u; t += 128u) {
      let run = t / 16u;
      let dim = first_pair + run * 32u + t % 16u;
      q[(wg.y * 8u + head) * 64u + dim] = tile[t];
    }
  } else {
    let kv_row = head - 8u;
    for (var t_1 = tid * 1u; t_1 < 32u; t_1 += 128u) {
      let run_1 = t_1 / 16u;
      let dim_1 = first_pair + run_1 * 32u + t_1 % 16u;
      let v0 = tile[t_1];
      let word = v0;
      kv[((kv_row * 512u + pos) * 64u + dim_1) / 1u] = word;
    }
  }
}
