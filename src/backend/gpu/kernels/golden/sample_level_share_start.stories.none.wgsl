@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read> parts: array<u32>;
@group(0) @binding(2) var<storage, read_write> hist: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> state: array<u32>;
struct options_fields { temperature: f32, top_k: f32, top_p: f32, min_p: f32 }
@group(0) @binding(4) var<uniform> options: options_fields;
struct level_fields { index: u32, shift: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(5) var<uniform> level: level_fields;
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
var<workgroup> bins: array<atomic<u32>, 768>;

@compute @workgroup_size(256)
fn sample_share_start(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  var mine: u32 = u32();
  if (tid < 128u) {
    mine = parts[tid * 4u + 0u];
  }
  let part_greatest = mine;
  workgroupBarrier();
  part[tid] = part_greatest;
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
  let rest = -1f;
  let prefix = 0u;
  let above = 0f;
  let least = 1u;
  let floor_ties = 8192f;
  if ((wg.x == 0u) && (tid == 0u)) {
    state[level.index * 8u + 0u] = prefix;
    state[level.index * 8u + 1u] = bitcast<u32>(rest);
    state[level.index * 8u + 2u] = bitcast<u32>(above);
    state[level.index * 8u + 3u] = least;
    state[level.index * 8u + 4u] = bitcast<u32>(floor_ties);
  }
  let end = min(wg.x * 64u + 64u, 8192u);
  for (var i = wg.x * 64u + tid; i < end; i += 256u) {
    let key = key_of(logits[i]);
    let high = key >> level.shift;
    if ((key >= least) && ((high >> 8u) == prefix)) {
      let at = (high & 255u) * 3u;
      let scaled = weight_of(key, sum, 1f) * 8192f;
      let whole = floor(scaled);
      let old = (atomicAdd(&bins[at], 1u));
      let old_1 = (atomicAdd(&bins[at + 1u], u32(whole)));
      let old_2 = (atomicAdd(&bins[at + 2u], u32(round((scaled - whole) * 8192f))));
    }
  }
  workgroupBarrier();
  let now = (atomicLoad(&bins[tid * 3u]));
  if (now > 0u) {
    let now_1 = (atomicLoad(&bins[tid * 3u + 0u]));
    let old_3 = (atomicAdd(&hist[(level.index * 256u + tid) * 3u + 0u], now_1));
    let now_2 = (atomicLoad(&bins[tid * 3u + 1u]));
    let old_4 = (atomicAdd(&hist[(level.index * 256u + tid) * 3u + 1u], now_2));
    let now_3 = (atomicLoad(&bins[tid * 3u + 2u]));
    let old_5 = (atomicAdd(&hist[(level.index * 256u + tid) * 3u + 2u], now_3));
  }
}
