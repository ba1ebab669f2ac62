@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
var<workgroup> part: array<u32, 256>;
var<workgroup> part_1: array<i32, 256>;

@compute @workgroup_size(256)
fn quantize(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  var v: vec4<f32> = vec4<f32>();
  let first = wg.y * 128u;
  let i = tid + 0u;
  if (i < 128u) {
    v = x[first + i];
  }
  var largest: u32 = 0u;
  let a = bitcast<vec4<u32>>(abs(v));
  let b = max(a.x, a.y);
  let d = max(a.z, a.w);
  largest = max(largest, max(b, d));
  let mine = largest;
  workgroupBarrier();
  part[tid] = mine;
  workgroupBarrier();
  let part_lane = tid & 255u;
  if (part_lane < 128u) {
    let a_1 = part[tid];
    let b_1 = part[tid + 128u];
    part[tid] = max(a_1, b_1);
  }
  workgroupBarrier();
  if (part_lane < 64u) {
    let a_2 = part[tid];
    let b_2 = part[tid + 64u];
    part[tid] = max(a_2, b_2);
  }
  workgroupBarrier();
  if (part_lane < 32u) {
    let a_3 = part[tid];
    let b_3 = part[tid + 32u];
    part[tid] = max(a_3, b_3);
  }
  workgroupBarrier();
  if (part_lane < 16u) {
    let a_4 = part[tid];
    let b_4 = part[tid + 16u];
    part[tid] = max(a_4, b_4);
  }
  workgroupBarrier();
  if (part_lane < 8u) {
    let a_5 = part[tid];
    let b_5 = part[tid + 8u];
    part[tid] = max(a_5, b_5);
  }
  workgroupBarrier();
  if (part_lane < 4u) {
    let a_6 = part[tid];
    let b_6 = part[tid + 4u];
    part[tid] = max(a_6, b_6);
  }
  workgroupBarrier();
  if (part_lane < 2u) {
    let a_7 = part[tid];
    let b_7 = part[tid + 2u];
    part[tid] = max(a_7, b_7);
  }
  workgroupBarrier();
  if (part_lane < 1u) {
    let a_8 = part[tid];
    let b_8 = part[tid + 1u];
    part[tid] = max(a_8, b_8);
  }
  workgroupBarrier();
  let sum = part[tid - part_lane];
  let scale = 127f / max(bitcast<f32>(sum), 1e-05f);
  let base = wg.y * 132u;
  var sum_1: i32 = 0i;
  let i_1 = tid + 0u;
  if (i_1 < 128u) {
    let limited = clamp(round(v * scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q = vec4<i32>(limited);
    let packed = (((bitcast<u32>(q.x) & 255u) | ((bitcast<u32>(q.y) & 255u) << 8u)) | ((bitcast<u32>(q.z) & 255u) << 16u)) | ((bitcast<u32>(q.w) & 255u) << 24u);
    y[base + i_1] = packed;
    sum_1 += q.x + q.y + q.z + q.w;
  }
  let my_sum = sum_1;
  workgroupBarrier();
  part_1[tid] = my_sum;
  workgroupBarrier();
  let part_lane_1 = tid & 255u;
  if (part_lane_1 < 128u) {
    let a_9 = part_1[tid];
    let b_9 = part_1[tid + 128u];
    part_1[tid] = a_9 + b_9;
  }
  workgroupBarrier();
  if (part_lane_1 < 64u) {
    let a_10 = part_1[tid];
    let b_10 = part_1[tid + 64u];
    part_1[tid] = a_10 + b_10;
  }
  workgroupBarrier();
  if (part_lane_1 < 32u) {
    let a_11 = part_1[tid];
    let b_11 = part_1[tid + 32u];
    part_1[tid] = a_11 + b_11;
  }
  workgroupBarrier();
  if (part_lane_1 < 16u) {
    let a_12 = part_1[tid];
    let b_12 = part_1[tid + 16u];
    part_1[tid] = a_12 + b_12;
  }
  workgroupBarrier();
  if (part_lane_1 < 8u) {
    let a_13 = part_1[tid];
    let b_13 = part_1[tid + 8u];
    part_1[tid] = a_13 + b_13;
  }
  workgroupBarrier();
  if (part_lane_1 < 4u) {
    let a_14 = part_1[tid];
    let b_14 = part_1[tid + 4u];
    part_1[tid] = a_14 + b_14;
  }
  workgroupBarrier();
  if (part_lane_1 < 2u) {
    let a_15 = part_1[tid];
    let b_15 = part_1[tid + 2u];
    part_1[tid] = a_15 + b_15;
  }
  workgroupBarrier();
  if (part_lane_1 < 1u) {
    let a_16 = part_1[tid];
    let b_16 = part_1[tid + 1u];
    part_1[tid] = a_16 + b_16;
  }
  workgroupBarrier();
  let sum_2 = part_1[tid - part_lane_1];
  if (tid == 0u) {
    y[base + 128u] = select(bitcast<u32>(scale), 2143289344u, sum >= 2139095040u);
    y[base + 129u] = bitcast<u32>(sum_2);
  }
}
