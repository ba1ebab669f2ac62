@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<storage, read> gain: array<f32>;
var<workgroup> part: array<f32, 64>;

@compute @workgroup_size(64)
fn head_norm(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let head = (wg.y * 8u + wg.x) * 64u;
  var squares: f32 = 0f;
  for (var i = tid; i < 64u; i += 64u) {
    let v = x[head + i];
    squares += v * v;
  }
  let mine = squares;
  workgroupBarrier();
  part[tid] = mine;
  workgroupBarrier();
  let part_lane = tid & 63u;
  if (part_lane < 32u) {
    let a = part[tid];
    let b = part[tid + 32u];
    part[tid] = a + b;
  }
  workgroupBarrier();
  if (part_lane < 16u) {
    let a_1 = part[tid];
    let b_1 = part[tid + 16u];
    part[tid] = a_1 + b_1;
  }
  workgroupBarrier();
  if (part_lane < 8u) {
    let a_2 = part[tid];
    let b_2 = part[tid + 8u];
    part[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_3 = part[tid];
    let b_3 = part[tid + 4u];
    part[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_4 = part[tid];
    let b_4 = part[tid + 2u];
    part[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_5 = part[tid];
    let b_5 = part[tid + 1u];
    part[tid] = a_5 + b_5;
  }
  workgroupBarrier();
  let sum = part[tid - part_lane];
  let factor = 1f / sqrt(sum / 64f + 1e-05f);
  for (var i_1 = tid; i_1 < 64u; i_1 += 64u) {
    let v_1 = x[head + i_1];
    x[head + i_1] = v_1 * factor * gain[i_1];
  }
}
