enable subgroups;

@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<storage, read> gain: array<f32>;
var<workgroup> part: array<f32, 8>;

@compute @workgroup_size(64)
fn head_norm(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let head = (wg.y * 8u + wg.x) * 64u;
  var squares: f32 = 0f;
  for (var i = tid; i < 64u; i += 64u) {
    let v = x[head + i];
    squares += v * v;
  }
  let mine = squares;
  let sg = subgroupShuffleXor(mine, 4u);
  let sum = mine + sg;
  let sg_1 = subgroupShuffleXor(sum, 2u);
  let sum_1 = sum + sg_1;
  let sg_2 = subgroupShuffleXor(sum_1, 1u);
  let sum_2 = sum_1 + sg_2;
  if ((tid & 7u) == 0u) {
    part[tid / 8u] = sum_2;
  }
  workgroupBarrier();
  let loaded = part[tid & 7u];
  let sg_3 = subgroupShuffleXor(loaded, 4u);
  let sum_3 = loaded + sg_3;
  let sg_4 = subgroupShuffleXor(sum_3, 2u);
  let sum_4 = sum_3 + sg_4;
  let sg_5 = subgroupShuffleXor(sum_4, 1u);
  let sum_5 = sum_4 + sg_5;
  let factor = 1f / sqrt(sum_5 / 64f + 1e-05f);
  for (var i_1 = tid; i_1 < 64u; i_1 += 64u) {
    let v_1 = x[head + i_1];
    x[head + i_1] = v_1 * factor * gain[i_1];
  }
}
