enable subgroups;

@group(0) @binding(0) var<storage, read> chosen: array<f32>;
@group(0) @binding(1) var<storage, read> params: array<u32>;
@group(0) @binding(2) var<storage, read_write> tiles: array<u32>;
var<workgroup> counts: array<atomic<u32>, 6>;
var<workgroup> part: array<u32, 4>;
var<workgroup> sums: array<u32, 256>;

@compute @workgroup_size(128)
fn expert_tiles(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  for (var i = tid; i < 6u; i += 128u) {
    atomicStore(&counts[i], 0u);
  }
  workgroupBarrier();
  let n = params[0u] * 2u;
  var n_mine: u32 = 0u;
  for (var choice = tid; choice < n; choice += 128u) {
    let expert = u32(chosen[choice / 2u * 4u + choice % 2u]);
    let old = (atomicAdd(&counts[expert], 1u));
    n_mine += select(0u, 1u, expert == wg.x);
  }
  workgroupBarrier();
  var n_before: u32 = 0u;
  for (var i_1 = tid; i_1 < wg.x; i_1 += 128u) {
    let now = (atomicLoad(&counts[i_1]));
    n_before += (now + 31u) / 32u;
  }
  let mine_before = n_before;
  let sg = subgroupShuffleXor(mine_before, 16u);
  let sum = mine_before + sg;
  let sg_1 = subgroupShuffleXor(sum, 8u);
  let sum_1 = sum + sg_1;
  let sg_2 = subgroupShuffleXor(sum_1, 4u);
  let sum_2 = sum_1 + sg_2;
  let sg_3 = subgroupShuffleXor(sum_2, 2u);
  let sum_3 = sum_2 + sg_3;
  let sg_4 = subgroupShuffleXor(sum_3, 1u);
  let sum_4 = sum_3 + sg_4;
  if ((tid & 31u) == 0u) {
    part[tid / 32u] = sum_4;
  }
  workgroupBarrier();
  let loaded = part[tid & 3u];
  let sg_5 = subgroupShuffleXor(loaded, 2u);
  let sum_5 = loaded + sg_5;
  let sg_6 = subgroupShuffleXor(sum_5, 1u);
  let sum_6 = sum_5 + sg_6;
  let now_1 = (atomicLoad(&counts[wg.x]));
  let n_tiles = (now_1 + 31u) / 32u;
  let mine = n_mine;
  sums[tid] = mine;
  workgroupBarrier();
  let sum_7 = sums[tid + 0u];
  let other = sums[max(tid, 1u) - 1u + 0u];
  sums[tid + 128u] = sum_7 + select(0u, other, tid >= 1u);
  workgroupBarrier();
  let sum_8 = sums[tid + 128u];
  let other_1 = sums[max(tid, 2u) - 2u + 128u];
  sums[tid + 0u] = sum_8 + select(0u, other_1, tid >= 2u);
  workgroupBarrier();
  let sum_9 = sums[tid + 0u];
  let other_2 = sums[max(tid, 4u) - 4u + 0u];
  sums[tid + 128u] = sum_9 + select(0u, other_2, tid >= 4u);
  workgroupBarrier();
  let sum_10 = sums[tid + 128u];
  let other_3 = sums[max(tid, 8u) - 8u + 128u];
  sums[tid + 0u] = sum_10 + select(0u, other_3, tid >= 8u);
  workgroupBarrier();
  let sum_11 = sums[tid + 0u];
  let other_4 = sums[max(tid, 16u) - 16u + 0u];
  sums[tid + 128u] = sum_11 + select(0u, other_4, tid >= 16u);
  workgroupBarrier();
  let sum_12 = sums[tid + 128u];
  let other_5 = sums[max(tid, 32u) - 32u + 128u];
  sums[tid + 0u] = sum_12 + select(0u, other_5, tid >= 32u);
  workgroupBarrier();
  let sum_13 = sums[tid + 0u];
  let other_6 = sums[max(tid, 64u) - 64u + 0u];
  sums[tid + 128u] = sum_13 + select(0u, other_6, tid >= 64u);
  let sum_before = sums[tid + 128u] - mine;
  var at: u32 = sum_before;
  for (var choice_1 = tid; choice_1 < n; choice_1 += 128u) {
    let expert_1 = u32(chosen[choice_1 / 2u * 4u + choice_1 % 2u]);
    if (expert_1 == wg.x) {
      let place = at;
      tiles[(sum_6 + place / 32u) * 34u + place % 32u + 4u] = choice_1;
      at += 1u;
    }
  }
  for (var place_1 = tid + now_1; place_1 < n_tiles * 32u; place_1 += 128u) {
    tiles[(sum_6 + place_1 / 32u) * 34u + place_1 % 32u + 4u] = 0u;
  }
  for (var tile = tid; tile < n_tiles; tile += 128u) {
    let head = (sum_6 + tile) * 34u + 2u;
    tiles[head] = wg.x;
    tiles[head + 1u] = min(now_1 - tile * 32u, 32u);
  }
  if ((tid == 0u) && (wg.x == 5u)) {
    tiles[0u] = sum_6 + n_tiles;
    tiles[1u] = 1024u;
  }
}
