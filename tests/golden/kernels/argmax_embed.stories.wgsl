@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(3) var<storage, read_write> ids: array<u32>;
@group(0) @binding(4) var<storage, read_write> params: array<u32>;
@group(0) @binding(5) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read> scales: array<u32>;
@group(0) @binding(7) var<storage, read_write> y: array<vec4<f32>>;
var<workgroup> best: array<f32, 256>;
var<workgroup> best_at: array<u32, 256>;

@compute @workgroup_size(256)
fn argmax_embed(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  if (((wg.x == 0u) && (wg.y == 0u)) && (tid == 0u)) {
    params[2u] += 1u;
  }
  var value: f32 = -3.4e+38f;
  var index: u32 = 4294967295u;
  for (var i = tid; i < 32u; i += 256u) {
    let other = values[i];
    let at_i = indices[i];
    if ((other > value) || ((other == value) && (at_i < index))) {
      value = other;
      index = at_i;
    }
  }
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
  let winner = best_at[0u];
  let token = select(winner, 0u, winner == 4294967295u);
  if (tid == 0u) {
    let step_now = params[2u] - 1u;
    let in_ring = step_now % 64u * params[0u] + wg.y;
    tokens[wg.y] = token;
    ids[in_ring] = token;
    params[wg.y * 3u + 3u] += 1u;
  }
  let first_quad = 0u;
  for (var i_1 = tid * 2u; i_1 < 128u; i_1 += 512u) {
    let at = token * 64u + i_1 / 2u;
    let unit = table[at];
    let value_1 = vec4<f32>(unpack2x16float(unit.x), unpack2x16float(unit.y));
    y[first_quad + i_1 + 0u] = value_1;
    let value_2 = vec4<f32>(unpack2x16float(unit.z), unpack2x16float(unit.w));
    y[first_quad + i_1 + 1u] = value_2;
  }
}
