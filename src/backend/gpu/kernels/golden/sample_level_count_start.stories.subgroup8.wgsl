enable subgroups;

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
var<workgroup> part: array<u32, 32>;
var<workgroup> bins: array<atomic<u32>, 768>;

@compute @workgroup_size(256)
fn sample_count_start(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  var mine: u32 = u32();
  if (tid < 128u) {
    mine = parts[tid * 4u + 0u];
  }
  let part_greatest = mine;
  let sg = subgroupShuffleXor(part_greatest, 4u);
  let sum = max(part_greatest, sg);
  let sg_1 = subgroupShuffleXor(sum, 2u);
  let sum_1 = max(sum, sg_1);
  let sg_2 = subgroupShuffleXor(sum_1, 1u);
  let sum_2 = max(sum_1, sg_2);
  if ((tid & 7u) == 0u) {
    part[tid / 8u] = sum_2;
  }
  workgroupBarrier();
  var total: u32 = part[0u];
  for (var i = 1u; i < 32u; i += 1u) {
    let a_4 = total;
    let b_3 = part[i];
    total = max(a_4, b_3);
  }
  let reduced = total;
  let rest = options.top_k;
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
  for (var i_1 = wg.x * 64u + tid; i_1 < end; i_1 += 256u) {
    let key = key_of(logits[i_1]);
    let high = key >> level.shift;
    if ((key >= least) && ((high >> 8u) == prefix)) {
      let at = (high & 255u) * 3u;
      let scaled = weight_of(key, reduced, 1f) * 8192f;
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
