enable subgroups;

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read_write> parts: array<u32>;
@group(0) @binding(2) var<storage, read_write> hist: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> params: array<u32>;
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

@compute @workgroup_size(256)
fn sample_greatest(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  if (((wg.x == 0u) && (wg.y == 0u)) && (tid == 0u)) {
    params[2u] += 1u;
  }
  let hist_of_row = wg.y * 6144u;
  for (var i = wg.x * 256u + tid; i < 6144u; i += 32768u) {
    atomicStore(&hist[hist_of_row + i], 0u);
  }
  var most: u32 = u32();
  let end = min(wg.x * 1002u + 1002u, 128256u);
  for (var i_1 = wg.x * 1002u + tid; i_1 < end; i_1 += 256u) {
    let key = key_of(logits[wg.y * 128256u + i_1]);
    most = max(most, key);
  }
  let mine = most;
  let sg = subgroupShuffleXor(mine, 16u);
  let sum = max(mine, sg);
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
  if (tid == 0u) {
    let parts_of_row = wg.y * 512u;
    parts[parts_of_row + wg.x * 4u + 0u] = sum_7;
  }
}
