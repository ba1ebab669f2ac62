enable f16;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> halves: array<vec4<f16>>;
@group(0) @binding(3) var<storage, read_write> token_scales: array<f32>;
var<workgroup> part: array<f32, 256>;
var<workgroup> part_1: array<f32, 256>;

@compute @workgroup_size(256)
fn norm_halves_exactly(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  var squares: f32 = 0f;
  for (var i = tid; i < 128u; i += 256u) {
    let v = x[wg.y * 128u + i];
    squares += dot(v, v);
  }
  let my_squares = squares;
  workgroupBarrier();
  part[tid] = my_squares;
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
  let factor = 1f / sqrt(sum / 512f + 1e-06f);
  var peak: f32 = 0f;
  for (var i_1 = tid; i_1 < 128u; i_1 += 256u) {
    let v_1 = abs(x[wg.y * 128u + i_1] * factor * gain[i_1]);
    let low = max(v_1.x, v_1.y);
    let high = max(v_1.z, v_1.w);
    peak = max(peak, max(low, high));
  }
  let mine = peak;
  workgroupBarrier();
  part_1[tid] = mine;
  workgroupBarrier();
  let part_lane_1 = tid & 255u;
  if (part_lane_1 < 128u) {
    let a_8 = part_1[tid];
    let b_8 = part_1[tid + 128u];
    part_1[tid] = max(a_8, b_8);
  }
  workgroupBarrier();
  if (part_lane_1 < 64u) {
    let a_9 = part_1[tid];
    let b_9 = part_1[tid + 64u];
    part_1[tid] = max(a_9, b_9);
  }
  workgroupBarrier();
  if (part_lane_1 < 32u) {
    let a_10 = part_1[tid];
    let b_10 = part_1[tid + 32u];
    part_1[tid] = max(a_10, b_10);
  }
  workgroupBarrier();
  if (part_lane_1 < 16u) {
    let a_11 = part_1[tid];
    let b_11 = part_1[tid + 16u];
    part_1[tid] = max(a_11, b_11);
  }
  workgroupBarrier();
  if (part_lane_1 < 8u) {
    let a_12 = part_1[tid];
    let b_12 = part_1[tid + 8u];
    part_1[tid] = max(a_12, b_12);
  }
  workgroupBarrier();
  if (part_lane_1 < 4u) {
    let a_13 = part_1[tid];
    let b_13 = part_1[tid + 4u];
    part_1[tid] = max(a_13, b_13);
  }
  workgroupBarrier();
  if (part_lane_1 < 2u) {
    let a_14 = part_1[tid];
    let b_14 = part_1[tid + 2u];
    part_1[tid] = max(a_14, b_14);
  }
  workgroupBarrier();
  if (part_lane_1 < 1u) {
    let a_15 = part_1[tid];
    let b_15 = part_1[tid + 1u];
    part_1[tid] = max(a_15, b_15);
  }
  workgroupBarrier();
  let sum_1 = part_1[tid - part_lane_1];
  let exponent = clamp(bitcast<u32>(sum_1) >> 23u, 64u, 200u);
  let scale = bitcast<f32>((264u - exponent) << 23u);
  if (tid == 0u) {
    token_scales[wg.y] = scale;
  }
  for (var i_2 = tid; i_2 < 128u; i_2 += 256u) {
    let index = (wg.y / 16u * 8192u + wg.y % 16u * 16u) / 4u + (i_2 >> 2u) * 64u + (i_2 & 3u);
    let exact = x[wg.y * 128u + i_2] * factor * gain[i_2] * scale;
    let as_bits = bitcast<u32>(exact.x);
    let first_bits = bitcast<f32>(as_bits & 4294959104u);
    let as_bits_1 = bitcast<u32>(exact.y);
    let first_bits_1 = bitcast<f32>(as_bits_1 & 4294959104u);
    let as_bits_2 = bitcast<u32>(exact.z);
    let first_bits_2 = bitcast<f32>(as_bits_2 & 4294959104u);
    let as_bits_3 = bitcast<u32>(exact.w);
    let first_bits_3 = bitcast<f32>(as_bits_3 & 4294959104u);
    let high_bits = vec4<f32>(first_bits, first_bits_1, first_bits_2, first_bits_3);
    halves[index] = vec4<f16>(high_bits);
    halves[index + 8192u] = vec4<f16>(exact - high_bits);
  }
}
