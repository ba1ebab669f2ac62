enable subgroups;
requires packed_4x8_integer_dot_product;

@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> errors: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> parts: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> bounds: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> upper: array<f32>;
@group(0) @binding(5) var<storage, read_write> greatest: array<atomic<u32>>;
var<workgroup> part: array<f32, 8>;

@compute @workgroup_size(256)
fn estimate_logits(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let workgroup_index = wg.y * n_wg.x + wg.x;
  let lane = tid & 31u;
  let first = workgroup_index * 16u + tid / 32u;
  let row = first + 0u;
  let existing = min(row, 128255u);
  let start = existing * 160u;
  let row_1 = first + 8u;
  let existing_1 = min(row_1, 128255u);
  let start_1 = existing_1 * 160u;
  var sum_high: i32 = 0i;
  var sum_low: i32 = 0i;
  var sum_high_1: i32 = 0i;
  var sum_low_1: i32 = 0i;
  let i = lane + 0u;
  let codes16 = codes[start + i];
  let codes16_1 = codes[start_1 + i];
  let i_1 = lane + 32u;
  let codes16_2 = codes[start + i_1];
  let codes16_3 = codes[start_1 + i_1];
  let i_2 = lane + 64u;
  let codes16_4 = codes[start + i_2];
  let codes16_5 = codes[start_1 + i_2];
  let i_3 = lane + 96u;
  let codes16_6 = codes[start + i_3];
  let codes16_7 = codes[start_1 + i_3];
  let i_4 = lane + 128u;
  let codes16_8 = codes[start + i_4];
  let codes16_9 = codes[start_1 + i_4];
  let i_5 = lane + 0u;
  let at_parts = (i_5 + 0u) * 2u;
  let high = parts[at_parts];
  let low = parts[at_parts + 1u];
  sum_high += dot4I8Packed(codes16.x, high.x);
  sum_low += dot4I8Packed(codes16.x, low.x);
  sum_high += dot4I8Packed(codes16.y, high.y);
  sum_low += dot4I8Packed(codes16.y, low.y);
  sum_high += dot4I8Packed(codes16.z, high.z);
  sum_low += dot4I8Packed(codes16.z, low.z);
  sum_high += dot4I8Packed(codes16.w, high.w);
  sum_low += dot4I8Packed(codes16.w, low.w);
  sum_high_1 += dot4I8Packed(codes16_1.x, high.x);
  sum_low_1 += dot4I8Packed(codes16_1.x, low.x);
  sum_high_1 += dot4I8Packed(codes16_1.y, high.y);
  sum_low_1 += dot4I8Packed(codes16_1.y, low.y);
  sum_high_1 += dot4I8Packed(codes16_1.z, high.z);
  sum_low_1 += dot4I8Packed(codes16_1.z, low.z);
  sum_high_1 += dot4I8Packed(codes16_1.w, high.w);
  sum_low_1 += dot4I8Packed(codes16_1.w, low.w);
  let i_6 = lane + 32u;
  let at_parts_1 = (i_6 + 0u) * 2u;
  let high_1 = parts[at_parts_1];
  let low_1 = parts[at_parts_1 + 1u];
  sum_high += dot4I8Packed(codes16_2.x, high_1.x);
  sum_low += dot4I8Packed(codes16_2.x, low_1.x);
  sum_high += dot4I8Packed(codes16_2.y, high_1.y);
  sum_low += dot4I8Packed(codes16_2.y, low_1.y);
  sum_high += dot4I8Packed(codes16_2.z, high_1.z);
  sum_low += dot4I8Packed(codes16_2.z, low_1.z);
  sum_high += dot4I8Packed(codes16_2.w, high_1.w);
  sum_low += dot4I8Packed(codes16_2.w, low_1.w);
  sum_high_1 += dot4I8Packed(codes16_3.x, high_1.x);
  sum_low_1 += dot4I8Packed(codes16_3.x, low_1.x);
  sum_high_1 += dot4I8Packed(codes16_3.y, high_1.y);
  sum_low_1 += dot4I8Packed(codes16_3.y, low_1.y);
  sum_high_1 += dot4I8Packed(codes16_3.z, high_1.z);
  sum_low_1 += dot4I8Packed(codes16_3.z, low_1.z);
  sum_high_1 += dot4I8Packed(codes16_3.w, high_1.w);
  sum_low_1 += dot4I8Packed(codes16_3.w, low_1.w);
  let i_7 = lane + 64u;
  let at_parts_2 = (i_7 + 0u) * 2u;
  let high_2 = parts[at_parts_2];
  let low_2 = parts[at_parts_2 + 1u];
  sum_high += dot4I8Packed(codes16_4.x, high_2.x);
  sum_low += dot4I8Packed(codes16_4.x, low_2.x);
  sum_high += dot4I8Packed(codes16_4.y, high_2.y);
  sum_low += dot4I8Packed(codes16_4.y, low_2.y);
  sum_high += dot4I8Packed(codes16_4.z, high_2.z);
  sum_low += dot4I8Packed(codes16_4.z, low_2.z);
  sum_high += dot4I8Packed(codes16_4.w, high_2.w);
  sum_low += dot4I8Packed(codes16_4.w, low_2.w);
  sum_high_1 += dot4I8Packed(codes16_5.x, high_2.x);
  sum_low_1 += dot4I8Packed(codes16_5.x, low_2.x);
  sum_high_1 += dot4I8Packed(codes16_5.y, high_2.y);
  sum_low_1 += dot4I8Packed(codes16_5.y, low_2.y);
  sum_high_1 += dot4I8Packed(codes16_5.z, high_2.z);
  sum_low_1 += dot4I8Packed(codes16_5.z, low_2.z);
  sum_high_1 += dot4I8Packed(codes16_5.w, high_2.w);
  sum_low_1 += dot4I8Packed(codes16_5.w, low_2.w);
  let i_8 = lane + 96u;
  let at_parts_3 = (i_8 + 0u) * 2u;
  let high_3 = parts[at_parts_3];
  let low_3 = parts[at_parts_3 + 1u];
  sum_high += dot4I8Packed(codes16_6.x, high_3.x);
  sum_low += dot4I8Packed(codes16_6.x, low_3.x);
  sum_high += dot4I8Packed(codes16_6.y, high_3.y);
  sum_low += dot4I8Packed(codes16_6.y, low_3.y);
  sum_high += dot4I8Packed(codes16_6.z, high_3.z);
  sum_low += dot4I8Packed(codes16_6.z, low_3.z);
  sum_high += dot4I8Packed(codes16_6.w, high_3.w);
  sum_low += dot4I8Packed(codes16_6.w, low_3.w);
  sum_high_1 += dot4I8Packed(codes16_7.x, high_3.x);
  sum_low_1 += dot4I8Packed(codes16_7.x, low_3.x);
  sum_high_1 += dot4I8Packed(codes16_7.y, high_3.y);
  sum_low_1 += dot4I8Packed(codes16_7.y, low_3.y);
  sum_high_1 += dot4I8Packed(codes16_7.z, high_3.z);
  sum_low_1 += dot4I8Packed(codes16_7.z, low_3.z);
  sum_high_1 += dot4I8Packed(codes16_7.w, high_3.w);
  sum_low_1 += dot4I8Packed(codes16_7.w, low_3.w);
  let i_9 = lane + 128u;
  let at_parts_4 = (i_9 + 0u) * 2u;
  let high_4 = parts[at_parts_4];
  let low_4 = parts[at_parts_4 + 1u];
  sum_high += dot4I8Packed(codes16_8.x, high_4.x);
  sum_low += dot4I8Packed(codes16_8.x, low_4.x);
  sum_high += dot4I8Packed(codes16_8.y, high_4.y);
  sum_low += dot4I8Packed(codes16_8.y, low_4.y);
  sum_high += dot4I8Packed(codes16_8.z, high_4.z);
  sum_low += dot4I8Packed(codes16_8.z, low_4.z);
  sum_high += dot4I8Packed(codes16_8.w, high_4.w);
  sum_low += dot4I8Packed(codes16_8.w, low_4.w);
  sum_high_1 += dot4I8Packed(codes16_9.x, high_4.x);
  sum_low_1 += dot4I8Packed(codes16_9.x, low_4.x);
  sum_high_1 += dot4I8Packed(codes16_9.y, high_4.y);
  sum_low_1 += dot4I8Packed(codes16_9.y, low_4.y);
  sum_high_1 += dot4I8Packed(codes16_9.z, high_4.z);
  sum_low_1 += dot4I8Packed(codes16_9.z, low_4.z);
  sum_high_1 += dot4I8Packed(codes16_9.w, high_4.w);
  sum_low_1 += dot4I8Packed(codes16_9.w, low_4.w);
  let known = errors[existing];
  let known_1 = errors[existing_1];
  let bound = bounds[0u];
  var lower: f32 = -3e+38f;
  let mine = f32(sum_high) * 128f + f32(sum_low);
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
  let estimate = sum_4 * (bound.x * known.x);
  let off = (known.y * bound.y + known.z * bound.z + bound.w) * 1.0019531f;
  let is_known = (known.y < 1e+38f) && (bound.w < 1e+38f);
  if (row < 128256u) {
    if (is_known) {
      lower = max(lower, estimate - off);
    }
    if (lane == 0u) {
      upper[0u + row] = select(3e+38f, estimate + off, is_known);
    }
  }
  let mine_1 = f32(sum_high_1) * 128f + f32(sum_low_1);
  let sg_5 = subgroupShuffleXor(mine_1, 16u);
  let sum_5 = mine_1 + sg_5;
  let sg_6 = subgroupShuffleXor(sum_5, 8u);
  let sum_6 = sum_5 + sg_6;
  let sg_7 = subgroupShuffleXor(sum_6, 4u);
  let sum_7 = sum_6 + sg_7;
  let sg_8 = subgroupShuffleXor(sum_7, 2u);
  let sum_8 = sum_7 + sg_8;
  let sg_9 = subgroupShuffleXor(sum_8, 1u);
  let sum_9 = sum_8 + sg_9;
  let estimate_1 = sum_9 * (bound.x * known_1.x);
  let off_1 = (known_1.y * bound.y + known_1.z * bound.z + bound.w) * 1.0019531f;
  let is_known_1 = (known_1.y < 1e+38f) && (bound.w < 1e+38f);
  if (row_1 < 128256u) {
    if (is_known_1) {
      lower = max(lower, estimate_1 - off_1);
    }
    if (lane == 0u) {
      upper[0u + row_1] = select(3e+38f, estimate_1 + off_1, is_known_1);
    }
  }
  let of_group = lower;
  let sg_10 = subgroupShuffleXor(of_group, 16u);
  let sum_10 = max(of_group, sg_10);
  let sg_11 = subgroupShuffleXor(sum_10, 8u);
  let sum_11 = max(sum_10, sg_11);
  let sg_12 = subgroupShuffleXor(sum_11, 4u);
  let sum_12 = max(sum_11, sg_12);
  let sg_13 = subgroupShuffleXor(sum_12, 2u);
  let sum_13 = max(sum_12, sg_13);
  let sg_14 = subgroupShuffleXor(sum_13, 1u);
  let sum_14 = max(sum_13, sg_14);
  if ((tid & 31u) == 0u) {
    part[tid / 32u] = sum_14;
  }
  workgroupBarrier();
  let loaded = part[tid & 7u];
  let sg_15 = subgroupShuffleXor(loaded, 4u);
  let sum_15 = max(loaded, sg_15);
  let sg_16 = subgroupShuffleXor(sum_15, 2u);
  let sum_16 = max(sum_15, sg_16);
  let sg_17 = subgroupShuffleXor(sum_16, 1u);
  let sum_17 = max(sum_16, sg_17);
  if ((tid == 0u) && (workgroup_index < 8016u)) {
    let float_bits = bitcast<u32>(sum_17);
    let key = select(float_bits | 2147483648u, ~float_bits, float_bits >= 2147483648u);
    let old = (atomicMax(&greatest[0u + workgroup_index % 512u], key));
  }
}
