enable subgroups;

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
var<workgroup> part: array<u32, 32>;

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
  let sg = subgroupShuffleXor(mine, 4u);
  let sum = max(mine, sg);
  let sg_1 = subgroupShuffleXor(sum, 2u);
  let sum_1 = max(sum, sg_1);
  let sg_2 = subgroupShuffleXor(sum_1, 1u);
  let sum_2 = max(sum_1, sg_2);
  if ((tid & 7u) == 0u) {
    part[tid / 8u] = sum_2;
  }
  workgroupBarrier();
  var total: u32 = part[0u];
  for (var i_2 = 1u; i_2 < 32u; i_2 += 1u) {
    let a_4 = total;
    let b_3 = part[i_2];
    total = max(a_4, b_3);
  }
  let reduced = total;
  if (tid == 0u) {
    parts[wg.x * 4u + 0u] = reduced;
  }
}
