enable subgroups;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
var<workgroup> part: array<f32, 8>;

@compute @workgroup_size(256)
fn rms_norm_add(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let first = wg.y * 640u;
  var squares: f32 = 0f;
  for (var i = tid; i < 640u; i += 256u) {
    let v = x[wg.y * 640u + i];
    squares += dot(v, v);
  }
  let my_squares = squares;
  let sg = subgroupShuffleXor(my_squares, 16u);
  let sum = my_squares + sg;
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
  let loaded = part[tid & 7u];
  let sg_5 = subgroupShuffleXor(loaded, 4u);
  let sum_5 = loaded + sg_5;
  let sg_6 = subgroupShuffleXor(sum_5, 2u);
  let sum_6 = sum_5 + sg_6;
  let sg_7 = subgroupShuffleXor(sum_6, 1u);
  let sum_7 = sum_6 + sg_7;
  let factor = 1f / sqrt(sum_7 / 2560f + 1e-05f);
  for (var i_1 = tid; i_1 < 640u; i_1 += 256u) {
    let sum_8 = y[first + i_1] + x[first + i_1] * factor * gain[i_1];
    y[first + i_1] = sum_8 * 0.5f;
  }
}
