enable subgroups;

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> upper: array<f32>;
@group(0) @binding(5) var<storage, read> greatest: array<u32>;
@group(0) @binding(6) var<storage, read_write> values: array<f32>;
@group(0) @binding(7) var<storage, read_write> indices: array<u32>;
var<workgroup> part: array<u32, 8>;
var<workgroup> n_chosen: array<atomic<u32>, 1>;
var<workgroup> chosen: array<u32, 256>;
var<workgroup> best: array<f32, 256>;
var<workgroup> best_at: array<u32, 256>;

@compute @workgroup_size(256)
fn greatest_logit(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  var value: f32 = -3.4e+38f;
  var index: u32 = 4294967295u;
  let group = tid / 32u;
  let lane_of_row = tid & 31u;
  // The n-th greatest of the least that logits can be: n are no less.
  var mine: u32 = 0u;
  for (var i = tid; i < 512u; i += 256u) {
    mine = max(mine, greatest[wg.y * 512u + i]);
  }
  let my_greatest = mine;
  let sg = subgroupShuffleXor(my_greatest, 16u);
  let sum = max(my_greatest, sg);
  let sg_1 = subgroupShuffleXor(sum, 8u);
  let sum_1 = max(sum, sg_1);
  let sg_2 = subgroupShuffleXor(sum_1, 4u);
  let sum_2 = max(sum_1, sg_2);
  let sg_3 = subgroupShuffleXor(sum_2, 2u);
  let sum_3 = max(sum_2, sg_3);
  let sg_4 = subgroupShuffleXor(sum_3, 1u);
  let sum_4 = max(sum_3, sg_4);
  if ((tid & 31u) == 0u) {
    part[tid / 32u] = sum_4;
  }
  workgroupBarrier();
  let loaded = part[tid & 7u];
  let sg_5 = subgroupShuffleXor(loaded, 4u);
  let sum_5 = max(loaded, sg_5);
  let sg_6 = subgroupShuffleXor(sum_5, 2u);
  let sum_6 = max(sum_5, sg_6);
  let sg_7 = subgroupShuffleXor(sum_6, 1u);
  let sum_7 = max(sum_6, sg_7);
  // Rows that may reach it are computed.
  let my_row = wg.x * 256u + tid;
  if (my_row < 128256u) {
    let index_1 = wg.y * 128256u + my_row;
    let float_bits = bitcast<u32>(upper[index_1]);
    let key = select(float_bits | 2147483648u, ~float_bits, float_bits >= 2147483648u);
    if (key >= sum_7) {
      let old = (atomicAdd(&n_chosen[0u], 1u));
      chosen[old] = my_row;
    } else {
    }
  }
  let same = (workgroupUniformLoad(&n_chosen[0u]));
  let turns = (same + 7u) / 8u;
  if (same > 0u) {
    for (var turn = 0u; turn < turns; turn += 1u) {
      let place = turn * 8u + group;
      let row = chosen[min(place, same - 1u)];
      let start = row * 320u;
      let x_base = wg.y * 640u;
      var squares: f32 = 0f;
      var acc: f32 = 0f;
      for (var i_1 = lane_of_row; i_1 < 320u; i_1 += 32u) {
        let at = start + i_1;
        let unit = w[at];
        var part_1: f32 = 0f;
        let x_at = i_1 * 2u;
        let q = x_at + 0u;
        let v = x[x_base + q];
        squares += dot(v, v);
        let x4 = v * gain[q];
        part_1 += dot(vec4<f32>(unpack2x16float(unit.x), unpack2x16float(unit.y)), x4);
        let q_1 = x_at + 1u;
        let v_1 = x[x_base + q_1];
        squares += dot(v_1, v_1);
        let x4_1 = v_1 * gain[q_1];
        part_1 += dot(vec4<f32>(unpack2x16float(unit.z), unpack2x16float(unit.w)), x4_1);
        acc += part_1;
      }
      let mine_1 = acc;
      let sg_8 = subgroupShuffleXor(mine_1, 16u);
      let sum_8 = mine_1 + sg_8;
      let sg_9 = subgroupShuffleXor(sum_8, 8u);
      let sum_9 = sum_8 + sg_9;
      let sg_10 = subgroupShuffleXor(sum_9, 4u);
      let sum_10 = sum_9 + sg_10;
      let sg_11 = subgroupShuffleXor(sum_10, 2u);
      let sum_11 = sum_10 + sg_11;
      let sg_12 = subgroupShuffleXor(sum_11, 1u);
      let sum_12 = sum_11 + sg_12;
      let my_squares = squares;
      let sg_13 = subgroupShuffleXor(my_squares, 16u);
      let sum_13 = my_squares + sg_13;
      let sg_14 = subgroupShuffleXor(sum_13, 8u);
      let sum_14 = sum_13 + sg_14;
      let sg_15 = subgroupShuffleXor(sum_14, 4u);
      let sum_15 = sum_14 + sg_15;
      let sg_16 = subgroupShuffleXor(sum_15, 2u);
      let sum_16 = sum_15 + sg_16;
      let sg_17 = subgroupShuffleXor(sum_16, 1u);
      let sum_17 = sum_16 + sg_17;
      let factor = 1f / sqrt(sum_17 / 2560f + 1e-05f);
      let normed = sum_12 * factor;
      if ((lane_of_row == 0u) && (place < same)) {
        if ((normed > value) || ((normed == value) && (row < index))) {
          value = normed;
          index = row;
        }
      }
    }
  }
  if (same > 0u) {
    best[tid] = value;
    best_at[tid] = index;
    workgroupBarrier();
    if (tid < 128u) {
      let a = best[tid];
      let b = best[tid + 128u];
      let at_a = best_at[tid];
      let at_b = best_at[tid + 128u];
      if ((b > a) || ((b == a) && (at_b < at_a))) {
        best[tid] = b;
        best_at[tid] = at_b;
      }
    }
    workgroupBarrier();
    if (tid < 64u) {
      let a_1 = best[tid];
      let b_1 = best[tid + 64u];
      let at_a_1 = best_at[tid];
      let at_b_1 = best_at[tid + 64u];
      if ((b_1 > a_1) || ((b_1 == a_1) && (at_b_1 < at_a_1))) {
        best[tid] = b_1;
        best_at[tid] = at_b_1;
      }
    }
    workgroupBarrier();
    if (tid < 32u) {
      let a_2 = best[tid];
      let b_2 = best[tid + 32u];
      let at_a_2 = best_at[tid];
      let at_b_2 = best_at[tid + 32u];
      if ((b_2 > a_2) || ((b_2 == a_2) && (at_b_2 < at_a_2))) {
        best[tid] = b_2;
        best_at[tid] = at_b_2;
      }
    }
    workgroupBarrier();
    if (tid < 16u) {
      let a_3 = best[tid];
      let b_3 = best[tid + 16u];
      let at_a_3 = best_at[tid];
      let at_b_3 = best_at[tid + 16u];
      if ((b_3 > a_3) || ((b_3 == a_3) && (at_b_3 < at_a_3))) {
        best[tid] = b_3;
        best_at[tid] = at_b_3;
      }
    }
    workgroupBarrier();
    if (tid < 8u) {
      let a_4 = best[tid];
      let b_4 = best[tid + 8u];
      let at_a_4 = best_at[tid];
      let at_b_4 = best_at[tid + 8u];
      if ((b_4 > a_4) || ((b_4 == a_4) && (at_b_4 < at_a_4))) {
        best[tid] = b_4;
        best_at[tid] = at_b_4;
      }
    }
    workgroupBarrier();
    if (tid < 4u) {
      let a_5 = best[tid];
      let b_5 = best[tid + 4u];
      let at_a_5 = best_at[tid];
      let at_b_5 = best_at[tid + 4u];
      if ((b_5 > a_5) || ((b_5 == a_5) && (at_b_5 < at_a_5))) {
        best[tid] = b_5;
        best_at[tid] = at_b_5;
      }
    }
    workgroupBarrier();
    if (tid < 2u) {
      let a_6 = best[tid];
      let b_6 = best[tid + 2u];
      let at_a_6 = best_at[tid];
      let at_b_6 = best_at[tid + 2u];
      if ((b_6 > a_6) || ((b_6 == a_6) && (at_b_6 < at_a_6))) {
        best[tid] = b_6;
        best_at[tid] = at_b_6;
      }
    }
    workgroupBarrier();
    if (tid < 1u) {
      let a_7 = best[tid];
      let b_7 = best[tid + 1u];
      let at_a_7 = best_at[tid];
      let at_b_7 = best_at[tid + 1u];
      if ((b_7 > a_7) || ((b_7 == a_7) && (at_b_7 < at_a_7))) {
        best[tid] = b_7;
        best_at[tid] = at_b_7;
      }
    }
    workgroupBarrier();
    value = best[0u];
    index = best_at[0u];
  }
  if (tid == 0u) {
    values[wg.x] = value;
    indices[wg.x] = index;
  }
}
