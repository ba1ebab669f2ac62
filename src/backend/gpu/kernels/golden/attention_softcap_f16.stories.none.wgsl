@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> kv: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> params: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read> next_gain: array<f32>;
@group(0) @binding(5) var<storage, read_write> next_parts: array<vec2<f32>>;
var<workgroup> weights: array<f32, 64>;
var<workgroup> sums: array<vec4<f32>, 256>;
var<workgroup> part: array<f32, 256>;
var<workgroup> part_2: array<f32, 256>;
var<workgroup> part_3: array<f32, 256>;
var<workgroup> part_4: array<f32, 256>;
var<workgroup> part_5: array<f32, 256>;

@compute @workgroup_size(256)
fn attention(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let head = wg.x;
  let token = wg.y;
  let kv_head = head / 4u;
  let n_pos = params[0u] + token + 1u;
  let k_base = ((0u + kv_head) * 512u + 0u) * 64u / 4u;
  let v_base = ((2u + kv_head) * 512u + 0u) * 64u / 4u;
  let q_base = (token * 8u + head) * 16u;
  let my_pos = tid / 4u;
  let part_of_pos = tid % 4u;
  let my_quad = tid % 16u;
  let line = tid / 16u;
  let q4 = q[q_base + part_of_pos + 0u] * 0.125f;
  let q4_1 = q[q_base + part_of_pos + 4u] * 0.125f;
  let q4_2 = q[q_base + part_of_pos + 8u] * 0.125f;
  let q4_3 = q[q_base + part_of_pos + 12u] * 0.125f;
  var greatest: f32 = -3e+38f;
  var total: f32 = 0f;
  var acc: vec4<f32> = vec4<f32>();
  for (var first = max(n_pos, 300u) - 300u + wg.z * 64u; first < n_pos; first += n_wg.z * 64u) {
    let pos = first + my_pos;
    let k_row = k_base + min(pos, n_pos - 1u) * 16u + part_of_pos;
    var score: f32 = 0f;
    let k4 = kv[k_row + 0u];
    score += dot(q4, vec4<f32>(unpack2x16float(k4.x), unpack2x16float(k4.y)));
    let k4_1 = kv[k_row + 4u];
    score += dot(q4_1, vec4<f32>(unpack2x16float(k4_1.x), unpack2x16float(k4_1.y)));
    let k4_2 = kv[k_row + 8u];
    score += dot(q4_2, vec4<f32>(unpack2x16float(k4_2.x), unpack2x16float(k4_2.y)));
    let k4_3 = kv[k_row + 12u];
    score += dot(q4_3, vec4<f32>(unpack2x16float(k4_3.x), unpack2x16float(k4_3.y)));
    let my_score = score;
    workgroupBarrier();
    part[tid] = my_score;
    workgroupBarrier();
    let part_lane = tid & 3u;
    if (part_lane < 2u) {
      let a = part[tid];
      let b = part[tid + 2u];
      part[tid] = a + b;
    }
    workgroupBarrier();
    if (part_lane < 1u) {
      let a_1 = part[tid];
      let b_1 = part[tid + 1u];
      part[tid] = a_1 + b_1;
    }
    workgroupBarrier();
    let sum = part[tid - part_lane];
    let part_1 = sum * 0.02f;
    let grown = exp(clamp(part_1 * 2f, -20f, 20f)) + 1f;
    let tangent = 1f - 2f / grown;
    let capped = tangent * 50f;
    let seen = select(-3e+38f, capped, pos < n_pos);
    workgroupBarrier();
    part_2[tid] = seen;
    workgroupBarrier();
    let part_lane_1 = tid & 255u;
    if (part_lane_1 < 128u) {
      let a_2 = part_2[tid];
      let b_2 = part_2[tid + 128u];
      part_2[tid] = max(a_2, b_2);
    }
    workgroupBarrier();
    if (part_lane_1 < 64u) {
      let a_3 = part_2[tid];
      let b_3 = part_2[tid + 64u];
      part_2[tid] = max(a_3, b_3);
    }
    workgroupBarrier();
    if (part_lane_1 < 32u) {
      let a_4 = part_2[tid];
      let b_4 = part_2[tid + 32u];
      part_2[tid] = max(a_4, b_4);
    }
    workgroupBarrier();
    if (part_lane_1 < 16u) {
      let a_5 = part_2[tid];
      let b_5 = part_2[tid + 16u];
      part_2[tid] = max(a_5, b_5);
    }
    workgroupBarrier();
    if (part_lane_1 < 8u) {
      let a_6 = part_2[tid];
      let b_6 = part_2[tid + 8u];
      part_2[tid] = max(a_6, b_6);
    }
    workgroupBarrier();
    if (part_lane_1 < 4u) {
      let a_7 = part_2[tid];
      let b_7 = part_2[tid + 4u];
      part_2[tid] = max(a_7, b_7);
    }
    workgroupBarrier();
    if (part_lane_1 < 2u) {
      let a_8 = part_2[tid];
      let b_8 = part_2[tid + 2u];
      part_2[tid] = max(a_8, b_8);
    }
    workgroupBarrier();
    if (part_lane_1 < 1u) {
      let a_9 = part_2[tid];
      let b_9 = part_2[tid + 1u];
      part_2[tid] = max(a_9, b_9);
    }
    workgroupBarrier();
    let sum_1 = part_2[tid - part_lane_1];
    let new_greatest = max(greatest, sum_1);
    let shrink = exp(greatest - new_greatest);
    let weight = select(0f, exp(seen - new_greatest), pos < n_pos);
    total = total * shrink;
    if (part_of_pos == 0u) {
      weights[my_pos] = weight;
      total += weight;
    }
    workgroupBarrier();
    acc = acc * shrink;
    let at_p = line + 0u;
    let w = weights[at_p];
    let v4 = kv[v_base + min(first + at_p, n_pos - 1u) * 16u + my_quad];
    acc += vec4<f32>(unpack2x16float(v4.x), unpack2x16float(v4.y)) * w;
    let at_p_1 = line + 16u;
    let w_1 = weights[at_p_1];
    let v4_1 = kv[v_base + min(first + at_p_1, n_pos - 1u) * 16u + my_quad];
    acc += vec4<f32>(unpack2x16float(v4_1.x), unpack2x16float(v4_1.y)) * w_1;
    let at_p_2 = line + 32u;
    let w_2 = weights[at_p_2];
    let v4_2 = kv[v_base + min(first + at_p_2, n_pos - 1u) * 16u + my_quad];
    acc += vec4<f32>(unpack2x16float(v4_2.x), unpack2x16float(v4_2.y)) * w_2;
    let at_p_3 = line + 48u;
    let w_3 = weights[at_p_3];
    let v4_3 = kv[v_base + min(first + at_p_3, n_pos - 1u) * 16u + my_quad];
    acc += vec4<f32>(unpack2x16float(v4_3.x), unpack2x16float(v4_3.y)) * w_3;
    greatest = new_greatest;
    workgroupBarrier();
  }
  let my_total = total;
  workgroupBarrier();
  part_3[tid] = my_total;
  workgroupBarrier();
  let part_lane_2 = tid & 255u;
  if (part_lane_2 < 128u) {
    let a_10 = part_3[tid];
    let b_10 = part_3[tid + 128u];
    part_3[tid] = a_10 + b_10;
  }
  workgroupBarrier();
  if (part_lane_2 < 64u) {
    let a_11 = part_3[tid];
    let b_11 = part_3[tid + 64u];
    part_3[tid] = a_11 + b_11;
  }
  workgroupBarrier();
  if (part_lane_2 < 32u) {
    let a_12 = part_3[tid];
    let b_12 = part_3[tid + 32u];
    part_3[tid] = a_12 + b_12;
  }
  workgroupBarrier();
  if (part_lane_2 < 16u) {
    let a_13 = part_3[tid];
    let b_13 = part_3[tid + 16u];
    part_3[tid] = a_13 + b_13;
  }
  workgroupBarrier();
  if (part_lane_2 < 8u) {
    let a_14 = part_3[tid];
    let b_14 = part_3[tid + 8u];
    part_3[tid] = a_14 + b_14;
  }
  workgroupBarrier();
  if (part_lane_2 < 4u) {
    let a_15 = part_3[tid];
    let b_15 = part_3[tid + 4u];
    part_3[tid] = a_15 + b_15;
  }
  workgroupBarrier();
  if (part_lane_2 < 2u) {
    let a_16 = part_3[tid];
    let b_16 = part_3[tid + 2u];
    part_3[tid] = a_16 + b_16;
  }
  workgroupBarrier();
  if (part_lane_2 < 1u) {
    let a_17 = part_3[tid];
    let b_17 = part_3[tid + 1u];
    part_3[tid] = a_17 + b_17;
  }
  workgroupBarrier();
  let sum_2 = part_3[tid - part_lane_2];
  sums[tid] = acc;
  workgroupBarrier();
  var squares: f32 = 0f;
  var largest: f32 = 0f;
  if (line == 0u) {
    var sum_3: vec4<f32> = acc;
    sum_3 += sums[tid + 16u];
    sum_3 += sums[tid + 32u];
    sum_3 += sums[tid + 48u];
    sum_3 += sums[tid + 64u];
    sum_3 += sums[tid + 80u];
    sum_3 += sums[tid + 96u];
    sum_3 += sums[tid + 112u];
    sum_3 += sums[tid + 128u];
    sum_3 += sums[tid + 144u];
    sum_3 += sums[tid + 160u];
    sum_3 += sums[tid + 176u];
    sum_3 += sums[tid + 192u];
    sum_3 += sums[tid + 208u];
    sum_3 += sums[tid + 224u];
    sum_3 += sums[tid + 240u];
    let result = sum_3 * (1f / sum_2);
    y[(q_base + my_quad) * 4u + 0u] = result.x;
    y[(q_base + my_quad) * 4u + 1u] = result.y;
    y[(q_base + my_quad) * 4u + 2u] = result.z;
    y[(q_base + my_quad) * 4u + 3u] = result.w;
    squares = dot(result, result);
    let gain = next_gain[head * 64u + my_quad * 4u + 0u];
    largest = max(largest, abs(result.x * gain));
    let gain_1 = next_gain[head * 64u + my_quad * 4u + 1u];
    largest = max(largest, abs(result.y * gain_1));
    let gain_2 = next_gain[head * 64u + my_quad * 4u + 2u];
    largest = max(largest, abs(result.z * gain_2));
    let gain_3 = next_gain[head * 64u + my_quad * 4u + 3u];
    largest = max(largest, abs(result.w * gain_3));
  }
  let my_squares = squares;
  let my_largest = largest;
  workgroupBarrier();
  part_4[tid] = my_squares;
  workgroupBarrier();
  let part_lane_3 = tid & 255u;
  if (part_lane_3 < 128u) {
    let a_18 = part_4[tid];
    let b_18 = part_4[tid + 128u];
    part_4[tid] = a_18 + b_18;
  }
  workgroupBarrier();
  if (part_lane_3 < 64u) {
    let a_19 = part_4[tid];
    let b_19 = part_4[tid + 64u];
    part_4[tid] = a_19 + b_19;
  }
  workgroupBarrier();
  if (part_lane_3 < 32u) {
    let a_20 = part_4[tid];
    let b_20 = part_4[tid + 32u];
    part_4[tid] = a_20 + b_20;
  }
  workgroupBarrier();
  if (part_lane_3 < 16u) {
    let a_21 = part_4[tid];
    let b_21 = part_4[tid + 16u];
    part_4[tid] = a_21 + b_21;
  }
  workgroupBarrier();
  if (part_lane_3 < 8u) {
    let a_22 = part_4[tid];
    let b_22 = part_4[tid + 8u];
    part_4[tid] = a_22 + b_22;
  }
  workgroupBarrier();
  if (part_lane_3 < 4u) {
    let a_23 = part_4[tid];
    let b_23 = part_4[tid + 4u];
    part_4[tid] = a_23 + b_23;
  }
  workgroupBarrier();
  if (part_lane_3 < 2u) {
    let a_24 = part_4[tid];
    let b_24 = part_4[tid + 2u];
    part_4[tid] = a_24 + b_24;
  }
  workgroupBarrier();
  if (part_lane_3 < 1u) {
    let a_25 = part_4[tid];
    let b_25 = part_4[tid + 1u];
    part_4[tid] = a_25 + b_25;
  }
  workgroupBarrier();
  let sum_4 = part_4[tid - part_lane_3];
  workgroupBarrier();
  part_5[tid] = my_largest;
  workgroupBarrier();
  let part_lane_4 = tid & 255u;
  if (part_lane_4 < 128u) {
    let a_26 = part_5[tid];
    let b_26 = part_5[tid + 128u];
    part_5[tid] = max(a_26, b_26);
  }
  workgroupBarrier();
  if (part_lane_4 < 64u) {
    let a_27 = part_5[tid];
    let b_27 = part_5[tid + 64u];
    part_5[tid] = max(a_27, b_27);
  }
  workgroupBarrier();
  if (part_lane_4 < 32u) {
    let a_28 = part_5[tid];
    let b_28 = part_5[tid + 32u];
    part_5[tid] = max(a_28, b_28);
  }
  workgroupBarrier();
  if (part_lane_4 < 16u) {
    let a_29 = part_5[tid];
    let b_29 = part_5[tid + 16u];
    part_5[tid] = max(a_29, b_29);
  }
  workgroupBarrier();
  if (part_lane_4 < 8u) {
    let a_30 = part_5[tid];
    let b_30 = part_5[tid + 8u];
    part_5[tid] = max(a_30, b_30);
  }
  workgroupBarrier();
  if (part_lane_4 < 4u) {
    let a_31 = part_5[tid];
    let b_31 = part_5[tid + 4u];
    part_5[tid] = max(a_31, b_31);
  }
  workgroupBarrier();
  if (part_lane_4 < 2u) {
    let a_32 = part_5[tid];
    let b_32 = part_5[tid + 2u];
    part_5[tid] = max(a_32, b_32);
  }
  workgroupBarrier();
  if (part_lane_4 < 1u) {
    let a_33 = part_5[tid];
    let b_33 = part_5[tid + 1u];
    part_5[tid] = max(a_33, b_33);
  }
  workgroupBarrier();
  let sum_5 = part_5[tid - part_lane_4];
  if (tid == 0u) {
    next_parts[token * 8u + head] = vec2<f32>(sum_4, sum_5);
  }
}
