@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read_write> parts: array<u32>;
@group(0) @binding(2) var<storage, read_write> hist: array<atomic<u32>>;
fn key_of(a: u32) -> u32 {
  let b = select(a, 0u, a == 2147483648u);
  let order = select(b | 2147483648u, ~b, b >= 2147483648u);
  return select(order, 0u, (a & 2147483647u) > 2139095040u);
}
fn value_of(a_1: u32) -> f32 {
  return bitcast<f32>(select(~a_1, a_1 ^ 2147483648u, a_1 >= 2147483648u));
}
fn weight_of(a_2: u32, b_1: u32, c: f32) -> f32 {
  let below = value_of(a_2) - value_of(b_1);
  let w = exp(max(below / c, -200f));
  let none = (a_2 <= 8388607u) || (b_1 == 4286578688u);
  return select(select(w, 0f, none), 1f, a_2 == b_1);
}
fn drawn_weight(a_3: u32, b_2: u32, c_1: f32, d: f32) -> f32 {
  let w_1 = weight_of(a_3, b_2, c_1);
  return select(w_1, 0f, weight_of(a_3, b_2, 1f) < d);
}
var<workgroup> part: array<u32, 256>;

@compute @workgroup_size(256)
fn sample_greatest(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  for (var i = wg.x * 256u + tid; i < 6144u; i += 32768u) {
    atomicStore(&hist[i], 0u);
  }
  var most: u32 = u32();
  let end = min(wg.x * 64u + 64u, 8192u);
  for (var i_1 = wg.x * 64u + tid; i_1 < end; i_1 += 256u) {
    let key = key_of(logits[i_1]);
    most = max(most, key);
  }
  let mine = most;
  workgroupBarrier();
  part[tid] = mine;
  workgroupBarrier();
  let part_lane = tid & 255u;
  if (part_lane < 128u) {
    let a_4 = part[tid];
    let b_3 = part[tid + 128u];
    part[tid] = max(a_4, b_3);
  }
  workgroupBarrier();
  if (part_lane < 64u) {
    let a_5 = part[tid];
    let b_4 = part[tid + 64u];
    part[tid] = max(a_5, b_4);
  }
  workgroupBarrier();
  if (part_lane < 32u) {
    let a_6 = part[tid];
    let b_5 = part[tid + 32u];
    part[tid] = max(a_6, b_5);
  }
  workgroupBarrier();
  if (part_lane < 16u) {
    let a_7 = part[tid];
    let b_6 = part[tid + 16u];
    part[tid] = max(a_7, b_6);
  }
  workgroupBarrier();
  if (part_lane < 8u) {
    let a_8 = part[tid];
    let b_7 = part[tid + 8u];
    part[tid] = max(a_8, b_7);
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_9 = part[tid];
    let b_8 = part[tid + 4u];
    part[tid] = max(a_9, b_8);
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_10 = part[tid];
    let b_9 = part[tid + 2u];
    part[tid] = max(a_10, b_9);
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_11 = part[tid];
    let b_10 = part[tid + 1u];
    part[tid] = max(a_11, b_10);
  }
  workgroupBarrier();
  let sum = part[tid - part_lane];
  if (tid == 0u) {
    parts[wg.x * 4u + 0u] = sum;
  }
}
