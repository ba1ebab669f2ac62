enable subgroups;

@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<storage, read> gain: array<f32>;
var<workgroup> part: array<f32, 2>;

@compute @workgroup_size(64)
fn head_norm(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let head = (wg.y * 20u + wg.x) * 128u;
  var squares: f32 = 0f;
  for (var i = tid; i < 128u; i += 64u) {
    let v = x[head + i];
    squares += v * v;
  }
  let mine = squares;
  let sg = subgroupShuffleXor(mine, 16u);
  let sum = mine + sg;
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
  let loaded = part[tid & 1u];
  let sg_5 = subgroupShuffleXor(loaded, 1u);
  let sum_5 = loaded + sg_5;
  let factor = 1f / sqrt(sum_5 / 128f + 1e-05f);
  for (var i_1 = tid; i_1 < 128u; i_1 += 64u) {
    let v_1 = x[head + i_1];
    x[head + i_1] = v_1 * factor * gain[i_1];
  }
}
