enable subgroups;

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read> parts: array<u32>;
@group(0) @binding(2) var<storage, read_write> hist: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> state: array<u32>;
@group(0) @binding(4) var<storage, read> options: array<vec4<f32>>;
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
var<workgroup> part: array<u32, 8>;
var<workgroup> bins: array<atomic<u32>, 768>;

@compute @workgroup_size(256)
fn sample_share_start(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let row_options = options[wg.y];
  let parts_of_row = wg.y * 512u;
  var mine: u32 = u32();
  if (tid < 128u) {
    mine = parts[parts_of_row + tid * 4u + 0u];
  }
  let part_greatest = mine;
  let sg = subgroupShuffleXor(part_greatest, 16u);
  let sum = max(part_greatest, sg);
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
  let hist_of_row = wg.y * 6144u;
  let state_of_row = wg.y * 72u;
  let rest = -1f;
  let prefix = 0u;
  let above = 0f;
  let least = 1u;
  let floor_ties = 128256f;
  if ((wg.x == 0u) && (tid == 0u)) {
    state[state_of_row + level.index * 8u + 0u] = prefix;
    state[state_of_row + level.index * 8u + 1u] = bitcast<u32>(rest);
    state[state_of_row + level.index * 8u + 2u] = bitcast<u32>(above);
    state[state_of_row + level.index * 8u + 3u] = least;
    state[state_of_row + level.index * 8u + 4u] = bitcast<u32>(floor_ties);
  }
  let end = min(wg.x * 1002u + 1002u, 128256u);
  for (var i = wg.x * 1002u + tid; i < end; i += 256u) {
    let key = key_of(logits[wg.y * 128256u + i]);
    let high = key >> level.shift;
    if ((key >= least) && ((high >> 8u) == prefix)) {
      let at = (high & 255u) * 3u;
      let scaled = weight_of(key, sum_7, 1f) * 8192f;
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
    let old_3 = (atomicAdd(&hist[hist_of_row + (level.index * 256u + tid) * 3u + 0u], now_1));
    let now_2 = (atomicLoad(&bins[tid * 3u + 1u]));
    let old_4 = (atomicAdd(&hist[hist_of_row + (level.index * 256u + tid) * 3u + 1u], now_2));
    let now_3 = (atomicLoad(&bins[tid * 3u + 2u]));
    let old_5 = (atomicAdd(&hist[hist_of_row + (level.index * 256u + tid) * 3u + 2u], now_3));
  }
}
