enable subgroups;
requires packed_4x8_integer_dot_product;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
var<workgroup> part: array<f32, 8>;
var<workgroup> part_1: array<u32, 8>;
var<workgroup> part_2: array<i32, 8>;

@compute @workgroup_size(256)
fn rms_norm_quantize(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  var v: vec4<f32> = vec4<f32>();
  var v_1: vec4<f32> = vec4<f32>();
  var v_2: vec4<f32> = vec4<f32>();
  let first = wg.y * 640u;
  let i = tid + 0u;
  v = x[first + i];
  let i_1 = tid + 256u;
  v_1 = x[first + i_1];
  let i_2 = tid + 512u;
  if (i_2 < 640u) {
    v_2 = x[first + i_2];
  }
  var squares: f32 = 0f;
  squares += dot(v, v);
  squares += dot(v_1, v_1);
  squares += dot(v_2, v_2);
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
  let loaded = part[tid & 7u];
  let sg_5 = subgroupShuffleXor(loaded, 4u);
  let sum_5 = loaded + sg_5;
  let sg_6 = subgroupShuffleXor(sum_5, 2u);
  let sum_6 = sum_5 + sg_6;
  let sg_7 = subgroupShuffleXor(sum_6, 1u);
  let sum_7 = sum_6 + sg_7;
  let factor = 1f / sqrt(sum_7 / 2560f + 1e-05f);
  let i_3 = tid + 0u;
  v = v * factor * gain[i_3];
  let i_4 = tid + 256u;
  v_1 = v_1 * factor * gain[i_4];
  let i_5 = tid + 512u;
  if (i_5 < 640u) {
    v_2 = v_2 * factor * gain[i_5];
  }
  var largest: u32 = 0u;
  let a = bitcast<vec4<u32>>(abs(v));
  let b = max(a.x, a.y);
  let d = max(a.z, a.w);
  largest = max(largest, max(b, d));
  let a_1 = bitcast<vec4<u32>>(abs(v_1));
  let b_1 = max(a_1.x, a_1.y);
  let d_1 = max(a_1.z, a_1.w);
  largest = max(largest, max(b_1, d_1));
  let a_2 = bitcast<vec4<u32>>(abs(v_2));
  let b_2 = max(a_2.x, a_2.y);
  let d_2 = max(a_2.z, a_2.w);
  largest = max(largest, max(b_2, d_2));
  let mine_1 = largest;
  let sg_8 = subgroupShuffleXor(mine_1, 16u);
  let sum_8 = max(mine_1, sg_8);
  let sg_9 = subgroupShuffleXor(sum_8, 8u);
  let sum_9 = max(sum_8, sg_9);
  let sg_10 = subgroupShuffleXor(sum_9, 4u);
  let sum_10 = max(sum_9, sg_10);
  let sg_11 = subgroupShuffleXor(sum_10, 2u);
  let sum_11 = max(sum_10, sg_11);
  let sg_12 = subgroupShuffleXor(sum_11, 1u);
  let sum_12 = max(sum_11, sg_12);
  if ((tid & 31u) == 0u) {
    part_1[tid / 32u] = sum_12;
  }
  workgroupBarrier();
  let loaded_1 = part_1[tid & 7u];
  let sg_13 = subgroupShuffleXor(loaded_1, 4u);
  let sum_13 = max(loaded_1, sg_13);
  let sg_14 = subgroupShuffleXor(sum_13, 2u);
  let sum_14 = max(sum_13, sg_14);
  let sg_15 = subgroupShuffleXor(sum_14, 1u);
  let sum_15 = max(sum_14, sg_15);
  let scale = 127f / max(bitcast<f32>(sum_15), 1e-05f);
  let base = wg.y * 644u;
  var sum_16: i32 = 0i;
  let i_6 = tid + 0u;
  let limited = clamp(round(v * scale), vec4<f32>(-128f), vec4<f32>(127f));
  let q = vec4<i32>(limited);
  let packed = pack4xI8(q);
  y[base + i_6] = packed;
  sum_16 += q.x + q.y + q.z + q.w;
  let i_7 = tid + 256u;
  let limited_1 = clamp(round(v_1 * scale), vec4<f32>(-128f), vec4<f32>(127f));
  let q_1 = vec4<i32>(limited_1);
  let packed_1 = pack4xI8(q_1);
  y[base + i_7] = packed_1;
  sum_16 += q_1.x + q_1.y + q_1.z + q_1.w;
  let i_8 = tid + 512u;
  if (i_8 < 640u) {
    let limited_2 = clamp(round(v_2 * scale), vec4<f32>(-128f), vec4<f32>(127f));
    let q_2 = vec4<i32>(limited_2);
    let packed_2 = pack4xI8(q_2);
    y[base + i_8] = packed_2;
    sum_16 += q_2.x + q_2.y + q_2.z + q_2.w;
  }
  let my_sum = sum_16;
  let sg_16 = subgroupShuffleXor(my_sum, 16u);
  let sum_17 = my_sum + sg_16;
  let sg_17 = subgroupShuffleXor(sum_17, 8u);
  let sum_18 = sum_17 + sg_17;
  let sg_18 = subgroupShuffleXor(sum_18, 4u);
  let sum_19 = sum_18 + sg_18;
  let sg_19 = subgroupShuffleXor(sum_19, 2u);
  let sum_20 = sum_19 + sg_19;
  let sg_20 = subgroupShuffleXor(sum_20, 1u);
  let sum_21 = sum_20 + sg_20;
  if ((tid & 31u) == 0u) {
    part_2[tid / 32u] = sum_21;
  }
  workgroupBarrier();
  let loaded_2 = part_2[tid & 7u];
  let sg_21 = subgroupShuffleXor(loaded_2, 4u);
  let sum_22 = loaded_2 + sg_21;
  let sg_22 = subgroupShuffleXor(sum_22, 2u);
  let sum_23 = sum_22 + sg_22;
  let sg_23 = subgroupShuffleXor(sum_23, 1u);
  let sum_24 = sum_23 + sg_23;
  if (tid == 0u) {
    y[base + 640u] = select(bitcast<u32>(scale), 2143289344u, sum_15 >= 2139095040u);
    y[base + 641u] = bitcast<u32>(sum_24);
  }
}
