@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read_write> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> indices: array<u32>;
@group(0) @binding(3) var<storage, read_write> params: array<u32>;
var<workgroup> best: array<f32, 256>;
var<workgroup> best_at: array<u32, 256>;

@compute @workgroup_size(256)
fn argmax_parts(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  if (((wg.x == 0u) && (wg.y == 0u)) && (tid == 0u)) {
    params[2u] += 1u;
  }
  var value: f32 = -3.4e+38f;
  var index: u32 = 4294967295u;
  let last = min(wg.x * 128u + 128u, 8192u);
  for (var i = wg.x * 128u + tid; i < last; i += 256u) {
    let logit = logits[wg.y * 8192u + i];
    if ((logit > value) || ((logit == value) && (i < index))) {
      value = logit;
      index = i;
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
  if (tid == 0u) {
    let to = wg.y * 64u + wg.x;
    values[to] = best[0u];
    indices[to] = best_at[0u];
  }
}
