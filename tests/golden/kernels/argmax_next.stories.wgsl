@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(3) var<storage, read_write> ids: array<u32>;
@group(0) @binding(4) var<storage, read_write> params: array<u32>;
var<workgroup> best: array<f32, 64>;
var<workgroup> best_at: array<u32, 64>;

@compute @workgroup_size(64)
fn argmax_next(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  best[tid] = values[wg.y * 64u + tid];
  best_at[tid] = indices[wg.y * 64u + tid];
  workgroupBarrier();
  if (tid < 32u) {
    let a = best[tid];
    let b = best[tid + 32u];
    let at_a = best_at[tid];
    let at_b = best_at[tid + 32u];
    if ((b > a) || ((b == a) && (at_b < at_a))) {
      best[tid] = b;
      best_at[tid] = at_b;
    }
  }
  workgroupBarrier();
  if (tid < 16u) {
    let a_1 = best[tid];
    let b_1 = best[tid + 16u];
    let at_a_1 = best_at[tid];
    let at_b_1 = best_at[tid + 16u];
    if ((b_1 > a_1) || ((b_1 == a_1) && (at_b_1 < at_a_1))) {
      best[tid] = b_1;
      best_at[tid] = at_b_1;
    }
  }
  workgroupBarrier();
  if (tid < 8u) {
    let a_2 = best[tid];
    let b_2 = best[tid + 8u];
    let at_a_2 = best_at[tid];
    let at_b_2 = best_at[tid + 8u];
    if ((b_2 > a_2) || ((b_2 == a_2) && (at_b_2 < at_a_2))) {
      best[tid] = b_2;
      best_at[tid] = at_b_2;
    }
  }
  workgroupBarrier();
  if (tid < 4u) {
    let a_3 = best[tid];
    let b_3 = best[tid + 4u];
    let at_a_3 = best_at[tid];
    let at_b_3 = best_at[tid + 4u];
    if ((b_3 > a_3) || ((b_3 == a_3) && (at_b_3 < at_a_3))) {
      best[tid] = b_3;
      best_at[tid] = at_b_3;
    }
  }
  workgroupBarrier();
  if (tid < 2u) {
    let a_4 = best[tid];
    let b_4 = best[tid + 2u];
    let at_a_4 = best_at[tid];
    let at_b_4 = best_at[tid + 2u];
    if ((b_4 > a_4) || ((b_4 == a_4) && (at_b_4 < at_a_4))) {
      best[tid] = b_4;
      best_at[tid] = at_b_4;
    }
  }
  workgroupBarrier();
  if (tid < 1u) {
    let a_5 = best[tid];
    let b_5 = best[tid + 1u];
    let at_a_5 = best_at[tid];
    let at_b_5 = best_at[tid + 1u];
    if ((b_5 > a_5) || ((b_5 == a_5) && (at_b_5 < at_a_5))) {
      best[tid] = b_5;
      best_at[tid] = at_b_5;
    }
  }
  workgroupBarrier();
  if (tid == 0u) {
    let winner = best_at[0u];
    let token = select(winner, 0u, winner == 4294967295u);
    let step_now = params[2u] - 1u;
    let in_ring = step_now % 64u * params[0u] + wg.y;
    tokens[wg.y] = token;
    ids[in_ring] = token;
    params[wg.y * 3u + 3u] += 1u;
  }
}
