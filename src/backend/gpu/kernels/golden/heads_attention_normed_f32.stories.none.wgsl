@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> q_gain: array<f32>;
@group(0) @binding(2) var<storage, read> k_gain: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> params: array<u32>;
@group(0) @binding(5) var<storage, read_write> kv: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
var<workgroup> tile: array<f32, 192>;
var<workgroup> factors: array<f32, 3>;
var<workgroup> own: array<vec4<f32>, 48>;
var<workgroup> part: array<f32, 256>;
var<workgroup> weights: array<f32, 64>;
var<workgroup> sums: array<vec4<f32>, 256>;
var<workgroup> part_1: array<f32, 256>;
var<workgroup> part_2: array<f32, 256>;
var<workgroup> part_3: array<f32, 256>;

@compute @workgroup_size(256)
fn heads_attention(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
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
  let team = tid / 32u;
  let team_lane = tid % 32u;
  let own_pos = n_pos - 1u;
  let readable = select(n_pos - 2u, 1u, n_pos == 1u);
  let key_row = kv_head + 8u;
  let row = select(select(key_row + 2u, key_row, team == 1u), head, team == 0u);
  let is_used = team < 3u;
  let is_query = row < 8u;
  let is_turned = row < 10u;
  var squares: f32 = 0f;
  if (is_used) {
    let from_row = (token * 12u + row) * 64u;
    let pair = team_lane + 0u;
    let at_a = pair;
    let at_b = at_a + 32u;
    let a = qkv[from_row + at_a];
    let b = qkv[from_row + at_b];
    let gain = select(k_gain[at_a], q_gain[at_a], is_query);
    let scale = select(1f, gain, is_turned);
    let gain_1 = select(k_gain[at_b], q_gain[at_b], is_query);
    let scale_1 = select(1f, gain_1, is_turned);
    let turn = angles[own_pos * 32u + pair];
    let angle = select(vec2<f32>(1f, 0f), turn, is_turned);
    let tile_base = team * 64u;
    let scaled_a = a * scale;
    let scaled_b = b * scale_1;
    tile[tile_base + at_a] = scaled_a * angle.x - scaled_b * angle.y;
    tile[tile_base + at_b] = scaled_b * angle.x + scaled_a * angle.y;
    squares += a * a + b * b;
  }
  let mine = squares;
  workgroupBarrier();
  part[tid] = mine;
  workgroupBarrier();
  let part_lane = tid & 31u;
  if (part_lane < 16u) {
    let a_1 = part[tid];
    let b_1 = part[tid + 16u];
    part[tid] = a_1 + b_1;
  }
  workgroupBarrier();
  if (part_lane < 8u) {
    let a_2 = part[tid];
    let b_2 = part[tid + 8u];
    part[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_3 = part[tid];
    let b_3 = part[tid + 4u];
    part[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_4 = part[tid];
    let b_4 = part[tid + 2u];
    part[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_5 = part[tid];
    let b_5 = part[tid + 1u];
    part[tid] = a_5 + b_5;
  }
  workgroupBarrier();
  let sum = part[tid - part_lane];
  let factor = 1f / sqrt(sum / 64f + 1e-05f);
  if (is_used && (team_lane == 0u)) {
    factors[team] = select(1f, factor, is_turned);
  }
  workgroupBarrier();
  let writes = ((head % 4u) == 0u) && (wg.z == 0u);
  for (var i = tid; i < 48u; i += 256u) {
    let which = i / 16u;
    let quad = i % 16u;
    let head_base = which * 64u;
    let head_factor = factors[which];
    let v = vec4<f32>(tile[head_base + quad * 4u] * head_factor, tile[head_base + (quad * 4u + 1u)] * head_factor, tile[head_base + (quad * 4u + 2u)] * head_factor, tile[head_base + (quad * 4u + 3u)] * head_factor);
    if (which == 0u) {
      own[i] = v;
    } else {
      let rounded = v;
      own[i] = rounded;
      let kv_base = select(v_base, k_base, which == 1u);
      if (writes) {
        kv[kv_base + own_pos * 16u + quad] = rounded;
      }
    }
  }
  workgroupBarrier();
  let q4 = own[part_of_pos + 0u] * 0.125f;
  let q4_1 = own[part_of_pos + 4u] * 0.125f;
  let q4_2 = own[part_of_pos + 8u] * 0.125f;
  let q4_3 = own[part_of_pos + 12u] * 0.125f;
  var greatest: f32 = -3e+38f;
  var total: f32 = 0f;
  var acc: vec4<f32> = vec4<f32>();
  let own_value = own[32u + my_quad];
  for (var first = max(n_pos, 300u) - 300u + wg.z * 64u; first < n_pos; first += n_wg.z * 64u) {
    let pos = first + my_pos;
    var score: f32 = 0f;
    if (pos < own_pos) {
      let k_row = k_base + pos * 16u + part_of_pos;
      let k4 = kv[k_row + 0u];
      score += dot(q4, k4);
      let k4_1 = kv[k_row + 4u];
      score += dot(q4_1, k4_1);
      let k4_2 = kv[k_row + 8u];
      score += dot(q4_2, k4_2);
      let k4_3 = kv[k_row + 12u];
      score += dot(q4_3, k4_3);
    } else {
      let k4_4 = own[16u + part_of_pos + 0u];
      score += dot(q4, k4_4);
      let k4_5 = own[16u + part_of_pos + 4u];
      score += dot(q4_1, k4_5);
      let k4_6 = own[16u + part_of_pos + 8u];
      score += dot(q4_2, k4_6);
      let k4_7 = own[16u + part_of_pos + 12u];
      score += dot(q4_3, k4_7);
    }
    let my_score = score;
    workgroupBarrier();
    part_1[tid] = my_score;
    workgroupBarrier();
    let part_lane_1 = tid & 3u;
    if (part_lane_1 < 2u) {
      let a_6 = part_1[tid];
      let b_6 = part_1[tid + 2u];
      part_1[tid] = a_6 + b_6;
    }
    workgroupBarrier();
    if (part_lane_1 < 1u) {
      let a_7 = part_1[tid];
      let b_7 = part_1[tid + 1u];
      part_1[tid] = a_7 + b_7;
    }
    workgroupBarrier();
    let sum_1 = part_1[tid - part_lane_1];
    let seen = select(-3e+38f, sum_1, pos < n_pos);
    workgroupBarrier();
    part_2[tid] = seen;
    workgroupBarrier();
    let part_lane_2 = tid & 255u;
    if (part_lane_2 < 128u) {
      let a_8 = part_2[tid];
      let b_8 = part_2[tid + 128u];
      part_2[tid] = max(a_8, b_8);
    }
    workgroupBarrier();
    if (part_lane_2 < 64u) {
      let a_9 = part_2[tid];
      let b_9 = part_2[tid + 64u];
      part_2[tid] = max(a_9, b_9);
    }
    workgroupBarrier();
    if (part_lane_2 < 32u) {
      let a_10 = part_2[tid];
      let b_10 = part_2[tid + 32u];
      part_2[tid] = max(a_10, b_10);
    }
    workgroupBarrier();
    if (part_lane_2 < 16u) {
      let a_11 = part_2[tid];
      let b_11 = part_2[tid + 16u];
      part_2[tid] = max(a_11, b_11);
    }
    workgroupBarrier();
    if (part_lane_2 < 8u) {
      let a_12 = part_2[tid];
      let b_12 = part_2[tid + 8u];
      part_2[tid] = max(a_12, b_12);
    }
    workgroupBarrier();
    if (part_lane_2 < 4u) {
      let a_13 = part_2[tid];
      let b_13 = part_2[tid + 4u];
      part_2[tid] = max(a_13, b_13);
    }
    workgroupBarrier();
    if (part_lane_2 < 2u) {
      let a_14 = part_2[tid];
      let b_14 = part_2[tid + 2u];
      part_2[tid] = max(a_14, b_14);
    }
    workgroupBarrier();
    if (part_lane_2 < 1u) {
      let a_15 = part_2[tid];
      let b_15 = part_2[tid + 1u];
      part_2[tid] = max(a_15, b_15);
    }
    workgroupBarrier();
    let sum_2 = part_2[tid - part_lane_2];
    let new_greatest = max(greatest, sum_2);
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
    let v4 = kv[v_base + min(first + at_p, readable) * 16u + my_quad];
    acc += select(v4, own_value, (first + at_p) >= own_pos) * w;
    let at_p_1 = line + 16u;
    let w_1 = weights[at_p_1];
    let v4_1 = kv[v_base + min(first + at_p_1, readable) * 16u + my_quad];
    acc += select(v4_1, own_value, (first + at_p_1) >= own_pos) * w_1;
    let at_p_2 = line + 32u;
    let w_2 = weights[at_p_2];
    let v4_2 = kv[v_base + min(first + at_p_2, readable) * 16u + my_quad];
    acc += select(v4_2, own_value, (first + at_p_2) >= own_pos) * w_2;
    let at_p_3 = line + 48u;
    let w_3 = weights[at_p_3];
    let v4_3 = kv[v_base + min(first + at_p_3, readable) * 16u + my_quad];
    acc += select(v4_3, own_value, (first + at_p_3) >= own_pos) * w_3;
    greatest = new_greatest;
    workgroupBarrier();
  }
  let my_total = total;
  workgroupBarrier();
  part_3[tid] = my_total;
  workgroupBarrier();
  let part_lane_3 = tid & 255u;
  if (part_lane_3 < 128u) {
    let a_16 = part_3[tid];
    let b_16 = part_3[tid + 128u];
    part_3[tid] = a_16 + b_16;
  }
  workgroupBarrier();
  if (part_lane_3 < 64u) {
    let a_17 = part_3[tid];
    let b_17 = part_3[tid + 64u];
    part_3[tid] = a_17 + b_17;
  }
  workgroupBarrier();
  if (part_lane_3 < 32u) {
    let a_18 = part_3[tid];
    let b_18 = part_3[tid + 32u];
    part_3[tid] = a_18 + b_18;
  }
  workgroupBarrier();
  if (part_lane_3 < 16u) {
    let a_19 = part_3[tid];
    let b_19 = part_3[tid + 16u];
    part_3[tid] = a_19 + b_19;
  }
  workgroupBarrier();
  if (part_lane_3 < 8u) {
    let a_20 = part_3[tid];
    let b_20 = part_3[tid + 8u];
    part_3[tid] = a_20 + b_20;
  }
  workgroupBarrier();
  if (part_lane_3 < 4u) {
    let a_21 = part_3[tid];
    let b_21 = part_3[tid + 4u];
    part_3[tid] = a_21 + b_21;
  }
  workgroupBarrier();
  if (part_lane_3 < 2u) {
    let a_22 = part_3[tid];
    let b_22 = part_3[tid + 2u];
    part_3[tid] = a_22 + b_22;
  }
  workgroupBarrier();
  if (part_lane_3 < 1u) {
    let a_23 = part_3[tid];
    let b_23 = part_3[tid + 1u];
    part_3[tid] = a_23 + b_23;
  }
  workgroupBarrier();
  let sum_3 = part_3[tid - part_lane_3];
  sums[tid] = acc;
  workgroupBarrier();
  if (line == 0u) {
    var sum_4: vec4<f32> = acc;
    sum_4 += sums[tid + 16u];
    sum_4 += sums[tid + 32u];
    sum_4 += sums[tid + 48u];
    sum_4 += sums[tid + 64u];
    sum_4 += sums[tid + 80u];
    sum_4 += sums[tid + 96u];
    sum_4 += sums[tid + 112u];
    sum_4 += sums[tid + 128u];
    sum_4 += sums[tid + 144u];
    sum_4 += sums[tid + 160u];
    sum_4 += sums[tid + 176u];
    sum_4 += sums[tid + 192u];
    sum_4 += sums[tid + 208u];
    sum_4 += sums[tid + 224u];
    sum_4 += sums[tid + 240u];
    let result = sum_4 * (1f / sum_3);
    y[(q_base + my_quad) * 4u + 0u] = result.x;
    y[(q_base + my_quad) * 4u + 1u] = result.y;
    y[(q_base + my_quad) * 4u + 2u] = result.z;
    y[(q_base + my_quad) * 4u + 3u] = result.w;
  }
}
