enable subgroups;

@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> kv: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> params: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read> next_gain: array<f32>;
@group(0) @binding(5) var<storage, read_write> next_parts: array<vec2<f32>>;
var<workgroup> weights: array<f32, 64>;
var<workgroup> sums: array<vec4<f32>, 256>;
var<workgroup> part_1: array<f32, 32>;
var<workgroup> part_2: array<f32, 32>;
var<workgroup> part_3: array<f32, 32>;
var<workgroup> part_4: array<f32, 32>;

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
    let sg = subgroupShuffleXor(my_score, 2u);
    let sum = my_score + sg;
    let sg_1 = subgroupShuffleXor(sum, 1u);
    let sum_1 = sum + sg_1;
    let part = sum_1 * 0.02f;
    let grown = exp(clamp(part * 2f, -20f, 20f)) + 1f;
    let tangent = 1f - 2f / grown;
    let capped = tangent * 50f;
    let seen = select(-3e+38f, capped, pos < n_pos);
    let sg_2 = subgroupShuffleXor(seen, 4u);
    let sum_2 = max(seen, sg_2);
    let sg_3 = subgroupShuffleXor(sum_2, 2u);
    let sum_3 = max(sum_2, sg_3);
    let sg_4 = subgroupShuffleXor(sum_3, 1u);
    let sum_4 = max(sum_3, sg_4);
    if ((tid & 7u) == 0u) {
      part_1[tid / 8u] = sum_4;
    }
    workgroupBarrier();
    var total_1: f32 = part_1[0u];
    for (var i = 1u; i < 32u; i += 1u) {
      let a = total_1;
      let b = part_1[i];
      total_1 = max(a, b);
    }
    let reduced = total_1;
    let new_greatest = max(greatest, reduced);
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
  let sg_5 = subgroupShuffleXor(my_total, 4u);
  let sum_5 = my_total + sg_5;
  let sg_6 = subgroupShuffleXor(sum_5, 2u);
  let sum_6 = sum_5 + sg_6;
  let sg_7 = subgroupShuffleXor(sum_6, 1u);
  let sum_7 = sum_6 + sg_7;
  if ((tid & 7u) == 0u) {
    part_2[tid / 8u] = sum_7;
  }
  workgroupBarrier();
  var total_2: f32 = part_2[0u];
  for (var i_1 = 1u; i_1 < 32u; i_1 += 1u) {
    let a_1 = total_2;
    let b_1 = part_2[i_1];
    total_2 = a_1 + b_1;
  }
  let reduced_1 = total_2;
  sums[tid] = acc;
  workgroupBarrier();
  var squares: f32 = 0f;
  var largest: f32 = 0f;
  if (line == 0u) {
    var sum_8: vec4<f32> = acc;
    sum_8 += sums[tid + 16u];
    sum_8 += sums[tid + 32u];
    sum_8 += sums[tid + 48u];
    sum_8 += sums[tid + 64u];
    sum_8 += sums[tid + 80u];
    sum_8 += sums[tid + 96u];
    sum_8 += sums[tid + 112u];
    sum_8 += sums[tid + 128u];
    sum_8 += sums[tid + 144u];
    sum_8 += sums[tid + 160u];
    sum_8 += sums[tid + 176u];
    sum_8 += sums[tid + 192u];
    sum_8 += sums[tid + 208u];
    sum_8 += sums[tid + 224u];
    sum_8 += sums[tid + 240u];
    let result = sum_8 * (1f / reduced_1);
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
  let sg_8 = subgroupShuffleXor(my_squares, 4u);
  let sum_9 = my_squares + sg_8;
  let sg_9 = subgroupShuffleXor(sum_9, 2u);
  let sum_10 = sum_9 + sg_9;
  let sg_10 = subgroupShuffleXor(sum_10, 1u);
  let sum_11 = sum_10 + sg_10;
  if ((tid & 7u) == 0u) {
    part_3[tid / 8u] = sum_11;
  }
  workgroupBarrier();
  var total_3: f32 = part_3[0u];
  for (var i_2 = 1u; i_2 < 32u; i_2 += 1u) {
    let a_2 = total_3;
    let b_2 = part_3[i_2];
    total_3 = a_2 + b_2;
  }
  let reduced_2 = total_3;
  let sg_11 = subgroupShuffleXor(my_largest, 4u);
  let sum_12 = max(my_largest, sg_11);
  let sg_12 = subgroupShuffleXor(sum_12, 2u);
  let sum_13 = max(sum_12, sg_12);
  let sg_13 = subgroupShuffleXor(sum_13, 1u);
  let sum_14 = max(sum_13, sg_13);
  if ((tid & 7u) == 0u) {
    part_4[tid / 8u] = sum_14;
  }
  workgroupBarrier();
  var total_4: f32 = part_4[0u];
  for (var i_3 = 1u; i_3 < 32u; i_3 += 1u) {
    let a_3 = total_4;
    let b_3 = part_4[i_3];
    total_4 = max(a_3, b_3);
  }
  let reduced_3 = total_4;
  if (tid == 0u) {
    next_parts[token * 8u + head] = vec2<f32>(reduced_2, reduced_3);
  }
}
