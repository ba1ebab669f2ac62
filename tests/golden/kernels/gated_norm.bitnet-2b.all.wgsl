enable subgroups;

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> gate: array<f32>;
@group(0) @binding(2) var<storage, read> gain: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(32)
fn gated_norm(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let head = (wg.y * 6u + wg.x) * 32u;
  let of_gate = wg.y * 192u + 0u + wg.x * 32u;
  var squares: f32 = 0f;
  for (var i = tid; i < 32u; i += 32u) {
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
  let factor = 1f / sqrt(sum_4 / 32f + 1e-06f);
  for (var i_1 = tid; i_1 < 32u; i_1 += 32u) {
    let v_1 = x[head + i_1];
    let g = gate[of_gate + i_1];
    y[head + i_1] = v_1 * factor * gain[i_1] * (g / (1f + exp(-g)));
  }
}
