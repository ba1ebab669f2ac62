@group(0) @binding(0) var<storage, read> parts: array<f32>;
@group(0) @binding(1) var<storage, read> params: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read> next_gain: array<f32>;
@group(0) @binding(4) var<storage, read_write> next_parts: array<vec2<f32>>;
var<workgroup> part: array<f32, 64>;
var<workgroup> part_1: array<f32, 64>;

@compute @workgroup_size(64)
fn attention_merge(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let row = wg.y * 8u + wg.x;
  let base = row * 1056u;
  let n_pos = params[0u] + params[1u];
  let splits = min((n_pos + 63u) / 64u, 16u);
  var greatest: f32 = -3e+38f;
  for (var i = 0u; i < splits; i += 1u) {
    greatest = max(greatest, parts[base + i * 66u + 64u]);
  }
  var squares: f32 = 0f;
  var largest: f32 = 0f;
  for (var d = tid; d < 64u; d += 64u) {
    var sum: f32 = 0f;
    var total: f32 = 0f;
    for (var i_1 = 0u; i_1 < splits; i_1 += 1u) {
      let part_at = base + i_1 * 66u;
      let weight = exp(parts[part_at + 64u] - greatest);
      sum += weight * parts[part_at + d];
      total += weight * parts[part_at + 65u];
    }
    let result = sum / total;
    y[row * 64u + d] = result;
    squares += result * result;
    let gain = next_gain[wg.x * 64u + d];
    largest = max(largest, abs(result * gain));
  }
  let my_squares = squares;
  let my_largest = largest;
  workgroupBarrier();
  part[tid] = my_squares;
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
  let sum_1 = part[tid - part_lane];
  workgroupBarrier();
  part_1[tid] = my_largest;
  workgroupBarrier();
  let part_lane_1 = tid & 63u;
  if (part_lane_1 < 32u) {
    let a_6 = part_1[tid];
    let b_6 = part_1[tid + 32u];
    part_1[tid] = max(a_6, b_6);
  }
  workgroupBarrier();
  if (part_lane_1 < 16u) {
    let a_7 = part_1[tid];
    let b_7 = part_1[tid + 16u];
    part_1[tid] = max(a_7, b_7);
  }
  workgroupBarrier();
  if (part_lane_1 < 8u) {
    let a_8 = part_1[tid];
    let b_8 = part_1[tid + 8u];
    part_1[tid] = max(a_8, b_8);
  }
  workgroupBarrier();
  if (part_lane_1 < 4u) {
    let a_9 = part_1[tid];
    let b_9 = part_1[tid + 4u];
    part_1[tid] = max(a_9, b_9);
  }
  workgroupBarrier();
  if (part_lane_1 < 2u) {
    let a_10 = part_1[tid];
    let b_10 = part_1[tid + 2u];
    part_1[tid] = max(a_10, b_10);
  }
  workgroupBarrier();
  if (part_lane_1 < 1u) {
    let a_11 = part_1[tid];
    let b_11 = part_1[tid + 1u];
    part_1[tid] = max(a_11, b_11);
  }
  workgroupBarrier();
  let sum_2 = part_1[tid - part_lane_1];
  if (tid == 0u) {
    next_parts[row] = vec2<f32>(sum_1, sum_2);
  }
}
