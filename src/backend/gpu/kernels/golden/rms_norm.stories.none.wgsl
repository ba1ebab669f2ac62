@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> gain: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
var<workgroup> part: array<f32, 256>;

@compute @workgroup_size(256)
fn rms_norm(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let row = wg.y * 512u;
  var squares: f32 = 0f;
  for (var i = tid; i < 512u; i += 256u) {
    let v = x[row + i];
    squares += v * v;
  }
  let mine = squares;
  workgroupBarrier();
  part[tid] = mine;
  workgroupBarrier();
  let part_lane = tid & 255u;
  if (part_lane < 128u) {
    let a = part[tid];
    let b = part[tid + 128u];
    part[tid] = a + b;
  }
  workgroupBarrier();
  if (part_lane < 64u) {
    let a_1 = part[tid];
    let b_1 = part[tid + 64u];
    part[tid] = a_1 + b_1;
  }
  workgroupBarrier();
  if (part_lane < 32u) {
    let a_2 = part[tid];
    let b_2 = part[tid + 32u];
    part[tid] = a_2 + b_2;
  }
  workgroupBarrier();
  if (part_lane < 16u) {
    let a_3 = part[tid];
    let b_3 = part[tid + 16u];
    part[tid] = a_3 + b_3;
  }
  workgroupBarrier();
  if (part_lane < 8u) {
    let a_4 = part[tid];
    let b_4 = part[tid + 8u];
    part[tid] = a_4 + b_4;
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_5 = part[tid];
    let b_5 = part[tid + 4u];
    part[tid] = a_5 + b_5;
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_6 = part[tid];
    let b_6 = part[tid + 2u];
    part[tid] = a_6 + b_6;
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_7 = part[tid];
    let b_7 = part[tid + 1u];
    part[tid] = a_7 + b_7;
  }
  workgroupBarrier();
  let sum = part[tid - part_lane];
  let factor = 1f / sqrt(sum / 512f + 1e-05f);
  for (var i_1 = tid; i_1 < 512u; i_1 += 256u) {
    y[row + i_1] = x[row + i_1] * factor * gain[i_1];
  }
}
