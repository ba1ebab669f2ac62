enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> kv: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read> params: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read> next_gain: array<f32>;
@group(0) @binding(5) var<storage, read_write> next_parts: array<vec2<f32>>;
var<workgroup> staged: array<f16, 4608>;
var<workgroup> scores: array<f32, 2304>;
var<workgroup> weights: array<f16, 2560>;
var<workgroup> shrinks: array<atomic<u32>, 1>;

@compute @workgroup_size(128)
fn attention_on_matrices(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let head = wg.x;
  let kv_head = head / 4u;
  let n_tokens = params[0u];
  let first_token = (n_wg.y - 1u - wg.y) * 64u;
  let last_token = min(first_token + 63u, n_tokens - 1u);
  let subgroup = tid / 32u;
  let lane = tid % 32u;
  let part = lane % 2u;
  let my_row = subgroup * 16u + lane / 2u;
  let my_token = first_token + my_row;
  let my_pos = params[min(my_token, last_token) * 3u + 3u];
  var weights_from: f32 = -3e+38f;
  var shrink: f32 = 1f;
  var total: f32 = 0f;
  for (var i = tid; i < 1024u; i += 128u) {
    let token = min(first_token + i / 16u, last_token);
    let v = q[(token * 8u + head) * 16u + i % 16u] * 0.18033688f;
    let to = i / 16u * 72u + i % 16u * 4u;
    staged[to + 0u] = f16(v.x);
    staged[to + 1u] = f16(v.y);
    staged[to + 2u] = f16(v.z);
    staged[to + 3u] = f16(v.w);
  }
  workgroupBarrier();
  let from_query = subgroup * 1152u + 0u;
  let matrix = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&staged, from_query, false, 72u));
  let from_query_1 = subgroup * 1152u + 16u;
  let matrix_1 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&staged, from_query_1, false, 72u));
  let from_query_2 = subgroup * 1152u + 32u;
  let matrix_2 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&staged, from_query_2, false, 72u));
  let from_query_3 = subgroup * 1152u + 48u;
  let matrix_3 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&staged, from_query_3, false, 72u));
  workgroupBarrier();
  var sum: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_1: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_2: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  var sum_3: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
  let first_table = params[first_token * 3u + 4u];
  let last_table = params[last_token * 3u + 4u];
  let is_one = first_table == last_table;
  let end_of_starts = select(last_token + 1u, first_token + 1u, is_one);
  for (var token_1 = first_token; token_1 < end_of_starts; token_1 += 1u) {
    let table = params[token_1 * 3u + 4u];
    let before = params[(max(token_1, 1u) - 1u) * 3u + 4u];
    if ((token_1 == first_token) || (table != before)) {
      var last_of_sequence: u32 = last_token;
      if (table != last_table) {
        last_of_sequence = token_1;
        for (var next = token_1 + 1u; next < last_token; next += 1u) {
          if (params[next * 3u + 4u] == table) {
            last_of_sequence = next;
          }
        }
      }
      let last_of_these = last_of_sequence;
      let first_pos = params[token_1 * 3u + 3u];
      let last_pos = params[last_of_these * 3u + 3u];
      let is_mine = (my_token >= token_1) && (my_token <= last_of_these);
      let start = 0u;
      for (var first = start; first < last_pos + 1u; first += 32u) {
        let block = params[table + first / 64u];
        let i_1 = tid + 0u;
        let pos = min(first + i_1 / 16u, last_pos);
        let kv_row = ((block * 4u + kv_head) * 64u + pos % 64u) * 16u;
        let kv_quad = i_1 % 16u;
        let to_1 = i_1 / 16u * 72u + kv_quad * 4u;
        let i_2 = tid + 128u;
        let pos_1 = min(first + i_2 / 16u, last_pos);
        let kv_row_1 = ((block * 4u + kv_head) * 64u + pos_1 % 64u) * 16u;
        let kv_quad_1 = i_2 % 16u;
        let to_2 = i_2 / 16u * 72u + kv_quad_1 * 4u;
        let i_3 = tid + 256u;
        let pos_2 = min(first + i_3 / 16u, last_pos);
        let kv_row_2 = ((block * 4u + kv_head) * 64u + pos_2 % 64u) * 16u;
        let kv_quad_2 = i_3 % 16u;
        let to_3 = i_3 / 16u * 72u + kv_quad_2 * 4u;
        let i_4 = tid + 384u;
        let pos_3 = min(first + i_4 / 16u, last_pos);
        let kv_row_3 = ((block * 4u + kv_head) * 64u + pos_3 % 64u) * 16u;
        let kv_quad_3 = i_4 % 16u;
        let to_4 = i_4 / 16u * 72u + kv_quad_3 * 4u;
        let kv4 = kv[kv_row + 0u + kv_quad];
        let kv4_1 = kv[kv_row_1 + 0u + kv_quad_1];
        let kv4_2 = kv[kv_row_2 + 0u + kv_quad_2];
        let kv4_3 = kv[kv_row_3 + 0u + kv_quad_3];
        let to_side = to_1 + 0u;
        staged[to_side + 0u] = kv4.x;
        staged[to_side + 1u] = kv4.y;
        staged[to_side + 2u] = kv4.z;
        staged[to_side + 3u] = kv4.w;
        let to_side_1 = to_2 + 0u;
        staged[to_side_1 + 0u] = kv4_1.x;
        staged[to_side_1 + 1u] = kv4_1.y;
        staged[to_side_1 + 2u] = kv4_1.z;
        staged[to_side_1 + 3u] = kv4_1.w;
        let to_side_2 = to_3 + 0u;
        staged[to_side_2 + 0u] = kv4_2.x;
        staged[to_side_2 + 1u] = kv4_2.y;
        staged[to_side_2 + 2u] = kv4_2.z;
        staged[to_side_2 + 3u] = kv4_2.w;
        let to_side_3 = to_4 + 0u;
        staged[to_side_3 + 0u] = kv4_3.x;
        staged[to_side_3 + 1u] = kv4_3.y;
        staged[to_side_3 + 2u] = kv4_3.z;
        staged[to_side_3 + 3u] = kv4_3.w;
        let kv4_4 = kv[kv_row + 2048u + kv_quad];
        let kv4_5 = kv[kv_row_1 + 2048u + kv_quad_1];
        let kv4_6 = kv[kv_row_2 + 2048u + kv_quad_2];
        let kv4_7 = kv[kv_row_3 + 2048u + kv_quad_3];
        let to_side_4 = to_1 + 2304u;
        staged[to_side_4 + 0u] = kv4_4.x;
        staged[to_side_4 + 1u] = kv4_4.y;
        staged[to_side_4 + 2u] = kv4_4.z;
        staged[to_side_4 + 3u] = kv4_4.w;
        let to_side_5 = to_2 + 2304u;
        staged[to_side_5 + 0u] = kv4_5.x;
        staged[to_side_5 + 1u] = kv4_5.y;
        staged[to_side_5 + 2u] = kv4_5.z;
        staged[to_side_5 + 3u] = kv4_5.w;
        let to_side_6 = to_3 + 2304u;
        staged[to_side_6 + 0u] = kv4_6.x;
        staged[to_side_6 + 1u] = kv4_6.y;
        staged[to_side_6 + 2u] = kv4_6.z;
        staged[to_side_6 + 3u] = kv4_6.w;
        let to_side_7 = to_4 + 2304u;
        staged[to_side_7 + 0u] = kv4_7.x;
        staged[to_side_7 + 1u] = kv4_7.y;
        staged[to_side_7 + 2u] = kv4_7.z;
        staged[to_side_7 + 3u] = kv4_7.w;
        if (tid == 0u) {
          atomicStore(&shrinks[0u], 0u);
        }
        workgroupBarrier();
        let to_scores = subgroup * 576u;
        var score: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
        let matrix_4 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 0u, true, 72u));
        score = subgroupMatrixMultiplyAccumulate(matrix, matrix_4, score);
        let matrix_5 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 16u, true, 72u));
        score = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_5, score);
        let matrix_6 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 32u, true, 72u));
        score = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_6, score);
        let matrix_7 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 48u, true, 72u));
        score = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_7, score);
        subgroupMatrixStore(&scores, to_scores + 0u, score, false, 36u);
        var score_1: subgroup_matrix_result<f32, 16, 16> = subgroup_matrix_result<f32, 16, 16>();
        let matrix_8 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 1152u, true, 72u));
        score_1 = subgroupMatrixMultiplyAccumulate(matrix, matrix_8, score_1);
        let matrix_9 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 1168u, true, 72u));
        score_1 = subgroupMatrixMultiplyAccumulate(matrix_1, matrix_9, score_1);
        let matrix_10 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 1184u, true, 72u));
        score_1 = subgroupMatrixMultiplyAccumulate(matrix_2, matrix_10, score_1);
        let matrix_11 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 1200u, true, 72u));
        score_1 = subgroupMatrixMultiplyAccumulate(matrix_3, matrix_11, score_1);
        subgroupMatrixStore(&scores, to_scores + 16u, score_1, false, 36u);
        workgroupBarrier();
        let from_score = my_row * 36u + part;
        let my_first_pos = first + part;
        var top: f32 = -3e+38f;
        let pos_4 = my_first_pos + 0u;
        let s = scores[from_score + 0u];
        let is_seen = is_mine && (pos_4 <= my_pos);
        let seen = select(-3e+38f, s, is_seen);
        top = max(top, seen);
        let pos_5 = my_first_pos + 2u;
        let s_1 = scores[from_score + 2u];
        let is_seen_1 = is_mine && (pos_5 <= my_pos);
        let seen_1 = select(-3e+38f, s_1, is_seen_1);
        top = max(top, seen_1);
        let pos_6 = my_first_pos + 4u;
        let s_2 = scores[from_score + 4u];
        let is_seen_2 = is_mine && (pos_6 <= my_pos);
        let seen_2 = select(-3e+38f, s_2, is_seen_2);
        top = max(top, seen_2);
        let pos_7 = my_first_pos + 6u;
        let s_3 = scores[from_score + 6u];
        let is_seen_3 = is_mine && (pos_7 <= my_pos);
        let seen_3 = select(-3e+38f, s_3, is_seen_3);
        top = max(top, seen_3);
        let pos_8 = my_first_pos + 8u;
        let s_4 = scores[from_score + 8u];
        let is_seen_4 = is_mine && (pos_8 <= my_pos);
        let seen_4 = select(-3e+38f, s_4, is_seen_4);
        top = max(top, seen_4);
        let pos_9 = my_first_pos + 10u;
        let s_5 = scores[from_score + 10u];
        let is_seen_5 = is_mine && (pos_9 <= my_pos);
        let seen_5 = select(-3e+38f, s_5, is_seen_5);
        top = max(top, seen_5);
        let pos_10 = my_first_pos + 12u;
        let s_6 = scores[from_score + 12u];
        let is_seen_6 = is_mine && (pos_10 <= my_pos);
        let seen_6 = select(-3e+38f, s_6, is_seen_6);
        top = max(top, seen_6);
        let pos_11 = my_first_pos + 14u;
        let s_7 = scores[from_score + 14u];
        let is_seen_7 = is_mine && (pos_11 <= my_pos);
        let seen_7 = select(-3e+38f, s_7, is_seen_7);
        top = max(top, seen_7);
        let pos_12 = my_first_pos + 16u;
        let s_8 = scores[from_score + 16u];
        let is_seen_8 = is_mine && (pos_12 <= my_pos);
        let seen_8 = select(-3e+38f, s_8, is_seen_8);
        top = max(top, seen_8);
        let pos_13 = my_first_pos + 18u;
        let s_9 = scores[from_score + 18u];
        let is_seen_9 = is_mine && (pos_13 <= my_pos);
        let seen_9 = select(-3e+38f, s_9, is_seen_9);
        top = max(top, seen_9);
        let pos_14 = my_first_pos + 20u;
        let s_10 = scores[from_score + 20u];
        let is_seen_10 = is_mine && (pos_14 <= my_pos);
        let seen_10 = select(-3e+38f, s_10, is_seen_10);
        top = max(top, seen_10);
        let pos_15 = my_first_pos + 22u;
        let s_11 = scores[from_score + 22u];
        let is_seen_11 = is_mine && (pos_15 <= my_pos);
        let seen_11 = select(-3e+38f, s_11, is_seen_11);
        top = max(top, seen_11);
        let pos_16 = my_first_pos + 24u;
        let s_12 = scores[from_score + 24u];
        let is_seen_12 = is_mine && (pos_16 <= my_pos);
        let seen_12 = select(-3e+38f, s_12, is_seen_12);
        top = max(top, seen_12);
        let pos_17 = my_first_pos + 26u;
        let s_13 = scores[from_score + 26u];
        let is_seen_13 = is_mine && (pos_17 <= my_pos);
        let seen_13 = select(-3e+38f, s_13, is_seen_13);
        top = max(top, seen_13);
        let pos_18 = my_first_pos + 28u;
        let s_14 = scores[from_score + 28u];
        let is_seen_14 = is_mine && (pos_18 <= my_pos);
        let seen_14 = select(-3e+38f, s_14, is_seen_14);
        top = max(top, seen_14);
        let pos_19 = my_first_pos + 30u;
        let s_15 = scores[from_score + 30u];
        let is_seen_15 = is_mine && (pos_19 <= my_pos);
        let seen_15 = select(-3e+38f, s_15, is_seen_15);
        top = max(top, seen_15);
        let my_top = top;
        let sg = subgroupShuffleXor(my_top, 1u);
        let of_row = max(my_top, sg);
        let passes = of_row > (weights_from + 8f);
        let new_from = select(weights_from, of_row, passes);
        shrink = exp2(weights_from - new_from);
        var sum_of_weights: f32 = total * shrink;
        let to_weight = my_row * 40u + part;
        let weight = select(0f, exp2(seen - new_from), seen > (-3e+38f));
        weights[to_weight + 0u] = f16(weight);
        sum_of_weights += weight;
        let weight_1 = select(0f, exp2(seen_1 - new_from), seen_1 > (-3e+38f));
        weights[to_weight + 2u] = f16(weight_1);
        sum_of_weights += weight_1;
        let weight_2 = select(0f, exp2(seen_2 - new_from), seen_2 > (-3e+38f));
        weights[to_weight + 4u] = f16(weight_2);
        sum_of_weights += weight_2;
        let weight_3 = select(0f, exp2(seen_3 - new_from), seen_3 > (-3e+38f));
        weights[to_weight + 6u] = f16(weight_3);
        sum_of_weights += weight_3;
        let weight_4 = select(0f, exp2(seen_4 - new_from), seen_4 > (-3e+38f));
        weights[to_weight + 8u] = f16(weight_4);
        sum_of_weights += weight_4;
        let weight_5 = select(0f, exp2(seen_5 - new_from), seen_5 > (-3e+38f));
        weights[to_weight + 10u] = f16(weight_5);
        sum_of_weights += weight_5;
        let weight_6 = select(0f, exp2(seen_6 - new_from), seen_6 > (-3e+38f));
        weights[to_weight + 12u] = f16(weight_6);
        sum_of_weights += weight_6;
        let weight_7 = select(0f, exp2(seen_7 - new_from), seen_7 > (-3e+38f));
        weights[to_weight + 14u] = f16(weight_7);
        sum_of_weights += weight_7;
        let weight_8 = select(0f, exp2(seen_8 - new_from), seen_8 > (-3e+38f));
        weights[to_weight + 16u] = f16(weight_8);
        sum_of_weights += weight_8;
        let weight_9 = select(0f, exp2(seen_9 - new_from), seen_9 > (-3e+38f));
        weights[to_weight + 18u] = f16(weight_9);
        sum_of_weights += weight_9;
        let weight_10 = select(0f, exp2(seen_10 - new_from), seen_10 > (-3e+38f));
        weights[to_weight + 20u] = f16(weight_10);
        sum_of_weights += weight_10;
        let weight_11 = select(0f, exp2(seen_11 - new_from), seen_11 > (-3e+38f));
        weights[to_weight + 22u] = f16(weight_11);
        sum_of_weights += weight_11;
        let weight_12 = select(0f, exp2(seen_12 - new_from), seen_12 > (-3e+38f));
        weights[to_weight + 24u] = f16(weight_12);
        sum_of_weights += weight_12;
        let weight_13 = select(0f, exp2(seen_13 - new_from), seen_13 > (-3e+38f));
        weights[to_weight + 26u] = f16(weight_13);
        sum_of_weights += weight_13;
        let weight_14 = select(0f, exp2(seen_14 - new_from), seen_14 > (-3e+38f));
        weights[to_weight + 28u] = f16(weight_14);
        sum_of_weights += weight_14;
        let weight_15 = select(0f, exp2(seen_15 - new_from), seen_15 > (-3e+38f));
        weights[to_weight + 30u] = f16(weight_15);
        sum_of_weights += weight_15;
        total = sum_of_weights;
        weights_from = new_from;
        if (passes) {
          let old = (atomicMax(&shrinks[0u], 1u));
        }
        let same = (workgroupUniformLoad(&shrinks[0u]));
        if ((same != 0u) && (first != start)) {
          let shrink_at = subgroup * 576u;
          let at_scores = subgroup * 576u;
          subgroupMatrixStore(&scores, at_scores + 0u, sum, false, 36u);
          subgroupMatrixStore(&scores, at_scores + 16u, sum_1, false, 36u);
          workgroupBarrier();
          for (var column = part; column < 32u; column += 2u) {
            let at = my_row * 36u + column;
            scores[at] = scores[at] * shrink;
          }
          workgroupBarrier();
          let matrix_12 = (subgroupMatrixLoad<subgroup_matrix_result<f32, 16, 16>>(&scores, shrink_at + 0u, false, 36u));
          sum = matrix_12;
          let matrix_13 = (subgroupMatrixLoad<subgroup_matrix_result<f32, 16, 16>>(&scores, shrink_at + 16u, false, 36u));
          sum_1 = matrix_13;
          workgroupBarrier();
          subgroupMatrixStore(&scores, at_scores + 0u, sum_2, false, 36u);
          subgroupMatrixStore(&scores, at_scores + 16u, sum_3, false, 36u);
          workgroupBarrier();
          for (var column_1 = part; column_1 < 32u; column_1 += 2u) {
            let at_1 = my_row * 36u + column_1;
            scores[at_1] = scores[at_1] * shrink;
          }
          workgroupBarrier();
          let matrix_14 = (subgroupMatrixLoad<subgroup_matrix_result<f32, 16, 16>>(&scores, shrink_at + 0u, false, 36u));
          sum_2 = matrix_14;
          let matrix_15 = (subgroupMatrixLoad<subgroup_matrix_result<f32, 16, 16>>(&scores, shrink_at + 16u, false, 36u));
          sum_3 = matrix_15;
          workgroupBarrier();
        }
        let from_weights = subgroup * 640u;
        let matrix_16 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&weights, from_weights + 0u, false, 40u));
        let matrix_17 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 2304u, false, 72u));
        sum = subgroupMatrixMultiplyAccumulate(matrix_16, matrix_17, sum);
        let matrix_18 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 2320u, false, 72u));
        sum_1 = subgroupMatrixMultiplyAccumulate(matrix_16, matrix_18, sum_1);
        let matrix_19 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 2336u, false, 72u));
        sum_2 = subgroupMatrixMultiplyAccumulate(matrix_16, matrix_19, sum_2);
        let matrix_20 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 2352u, false, 72u));
        sum_3 = subgroupMatrixMultiplyAccumulate(matrix_16, matrix_20, sum_3);
        let matrix_21 = (subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>>(&weights, from_weights + 16u, false, 40u));
        let matrix_22 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 3456u, false, 72u));
        sum = subgroupMatrixMultiplyAccumulate(matrix_21, matrix_22, sum);
        let matrix_23 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 3472u, false, 72u));
        sum_1 = subgroupMatrixMultiplyAccumulate(matrix_21, matrix_23, sum_1);
        let matrix_24 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 3488u, false, 72u));
        sum_2 = subgroupMatrixMultiplyAccumulate(matrix_21, matrix_24, sum_2);
        let matrix_25 = (subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>>(&staged, 3504u, false, 72u));
        sum_3 = subgroupMatrixMultiplyAccumulate(matrix_21, matrix_25, sum_3);
        workgroupBarrier();
      }
    }
  }
  let my_total = total;
  let sg_1 = subgroupShuffleXor(my_total, 1u);
  let of_row_1 = my_total + sg_1;
  let factor = 1f / of_row_1;
  var squares: f32 = 0f;
  var largest: f32 = 0f;
  let first_row = subgroup * 16u;
  let at_scores_1 = subgroup * 576u;
  subgroupMatrixStore(&scores, at_scores_1 + 0u, sum, false, 36u);
  subgroupMatrixStore(&scores, at_scores_1 + 16u, sum_1, false, 36u);
  workgroupBarrier();
  for (var column_2 = part; column_2 < 32u; column_2 += 2u) {
    let at_2 = my_row * 36u + column_2;
    let result = scores[at_2] * factor;
    scores[at_2] = result;
    squares += result * result;
    let g = next_gain[head * 64u + 0u + column_2];
    largest = max(largest, abs(result * g));
  }
  workgroupBarrier();
  for (var i_5 = lane; i_5 < 512u; i_5 += 32u) {
    let row = first_row + i_5 / 32u;
    let token_2 = first_token + row;
    if (token_2 < n_tokens) {
      y[(token_2 * 8u + head) * 64u + 0u + i_5 % 32u] = scores[row * 36u + i_5 % 32u];
    }
  }
  workgroupBarrier();
  subgroupMatrixStore(&scores, at_scores_1 + 0u, sum_2, false, 36u);
  subgroupMatrixStore(&scores, at_scores_1 + 16u, sum_3, false, 36u);
  workgroupBarrier();
  for (var column_3 = part; column_3 < 32u; column_3 += 2u) {
    let at_3 = my_row * 36u + column_3;
    let result_1 = scores[at_3] * factor;
    scores[at_3] = result_1;
    squares += result_1 * result_1;
    let g_1 = next_gain[head * 64u + 32u + column_3];
    largest = max(largest, abs(result_1 * g_1));
  }
  workgroupBarrier();
  for (var i_6 = lane; i_6 < 512u; i_6 += 32u) {
    let row_1 = first_row + i_6 / 32u;
    let token_3 = first_token + row_1;
    if (token_3 < n_tokens) {
      y[(token_3 * 8u + head) * 64u + 32u + i_6 % 32u] = scores[row_1 * 36u + i_6 % 32u];
    }
  }
  workgroupBarrier();
  let my_squares = squares;
  let my_largest = largest;
  let sg_2 = subgroupShuffleXor(my_squares, 1u);
  let of_row_2 = my_squares + sg_2;
  let sg_3 = subgroupShuffleXor(my_largest, 1u);
  let of_row_3 = max(my_largest, sg_3);
  if ((part == 0u) && (my_token < n_tokens)) {
    next_parts[my_token * 8u + head] = vec2<f32>(of_row_2, of_row_3);
  }
}
