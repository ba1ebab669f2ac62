enable subgroups;

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> gain: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
var<workgroup> part: array<f32, 32>;

@compute @workgroup_size(256)
fn rms_norm(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let row = wg.y * 512u;
  var squares: f32 = 0f;
  for (var i = tid; i < 512u; i += 256u) {
    let v = x[row + i];
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
  var total: f32 = part[0u];
  for (var i_1 = 1u; i_1 < 32u; i_1 += 1u) {
    let a = total;
    let b = part[i_1];
    total = a + b;
  }
  let reduced = total;
  let factor = 1f / sqrt(reduced / 512f + 1e-05f);
  for (var i_2 = tid; i_2 < 512u; i_2 += 256u) {
    y[row + i_2] = x[row + i_2] * factor * gain[i_2];
  }
}
