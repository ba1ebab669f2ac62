enable subgroups;
requires packed_4x8_integer_dot_product;

@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> errors: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> parts: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> bounds: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> upper: array<f32>;
@group(0) @binding(5) var<storage, read_write> greatest: array<atomic<u32>>;
var<workgroup> part: array<f32, 8>;
var<workgroup> part_1: array<f32, 8>;
var<workgroup> part_2: array<f32, 8>;
var<workgroup> part_3: array<f32, 8>;

@compute @workgroup_size(256)
fn estimate_logits(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let workgroup_index = wg.y * n_wg.x + wg.x;
  let lane = tid & 31u;
  let first = workgroup_index * 32u + tid / 32u;
  let row = first + 0u;
  let existing = min(row, 128255u);
  let start = existing * 160u;
  let row_1 = first + 8u;
  let existing_1 = min(row_1, 128255u);
  let start_1 = existing_1 * 160u;
  let row_2 = first + 16u;
  let existing_2 = min(row_2, 128255u);
  let start_2 = existing_2 * 160u;
  let row_3 = first + 24u;
  let existing_3 = min(row_3, 128255u);
  let start_3 = existing_3 * 160u;
  var sum_high: i32 = 0i;
  var sum_low: i32 = 0i;
  var sum_high_1: i32 = 0i;
  var sum_low_1: i32 = 0i;
  var sum_high_2: i32 = 0i;
  var sum_low_2: i32 = 0i;
  var sum_high_3: i32 = 0i;
  var sum_low_3: i32 = 0i;
  var sum_high_4: i32 = 0i;
  var sum_low_4: i32 = 0i;
  var sum_high_5: i32 = 0i;
  var sum_low_5: i32 = 0i;
  var sum_high_6: i32 = 0i;
  var sum_low_6: i32 = 0i;
  var sum_high_7: i32 = 0i;
  var sum_low_7: i32 = 0i;
  var sum_high_8: i32 = 0i;
  var sum_low_8: i32 = 0i;
  var sum_high_9: i32 = 0i;
  var sum_low_9: i32 = 0i;
  var sum_high_10: i32 = 0i;
  var sum_low_10: i32 = 0i;
  var sum_high_11: i32 = 0i;
  var sum_low_11: i32 = 0i;
  var sum_high_12: i32 = 0i;
  var sum_low_12: i32 = 0i;
  var sum_high_13: i32 = 0i;
  var sum_low_13: i32 = 0i;
  var sum_high_14: i32 = 0i;
  var sum_low_14: i32 = 0i;
  var sum_high_15: i32 = 0i;
  var sum_low_15: i32 = 0i;
  for (var i = lane; i < 160u; i += 32u) {
    let codes16 = codes[start + i];
    let codes16_1 = codes[start_1 + i];
    let codes16_2 = codes[start_2 + i];
    let codes16_3 = codes[start_3 + i];
    let at_parts = (i + 0u) * 2u;
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
    sum_high_4 += dot4I8Packed(codes16_1.x, high.x);
    sum_low_4 += dot4I8Packed(codes16_1.x, low.x);
    sum_high_4 += dot4I8Packed(codes16_1.y, high.y);
    sum_low_4 += dot4I8Packed(codes16_1.y, low.y);
    sum_high_4 += dot4I8Packed(codes16_1.z, high.z);
    sum_low_4 += dot4I8Packed(codes16_1.z, low.z);
    sum_high_4 += dot4I8Packed(codes16_1.w, high.w);
    sum_low_4 += dot4I8Packed(codes16_1.w, low.w);
    sum_high_8 += dot4I8Packed(codes16_2.x, high.x);
    sum_low_8 += dot4I8Packed(codes16_2.x, low.x);
    sum_high_8 += dot4I8Packed(codes16_2.y, high.y);
    sum_low_8 += dot4I8Packed(codes16_2.y, low.y);
    sum_high_8 += dot4I8Packed(codes16_2.z, high.z);
    sum_low_8 += dot4I8Packed(codes16_2.z, low.z);
    sum_high_8 += dot4I8Packed(codes16_2.w, high.w);
    sum_low_8 += dot4I8Packed(codes16_2.w, low.w);
    sum_high_12 += dot4I8Packed(codes16_3.x, high.x);
    sum_low_12 += dot4I8Packed(codes16_3.x, low.x);
    sum_high_12 += dot4I8Packed(codes16_3.y, high.y);
    sum_low_12 += dot4I8Packed(codes16_3.y, low.y);
    sum_high_12 += dot4I8Packed(codes16_3.z, high.z);
    sum_low_12 += dot4I8Packed(codes16_3.z, low.z);
    sum_high_12 += dot4I8Packed(codes16_3.w, high.w);
    sum_low_12 += dot4I8Packed(codes16_3.w, low.w);
    let at_parts_1 = (i + 160u) * 2u;
    let high_1 = parts[at_parts_1];
    let low_1 = parts[at_parts_1 + 1u];
    sum_high_1 += dot4I8Packed(codes16.x, high_1.x);
    sum_low_1 += dot4I8Packed(codes16.x, low_1.x);
    sum_high_1 += dot4I8Packed(codes16.y, high_1.y);
    sum_low_1 += dot4I8Packed(codes16.y, low_1.y);
    sum_high_1 += dot4I8Packed(codes16.z, high_1.z);
    sum_low_1 += dot4I8Packed(codes16.z, low_1.z);
    sum_high_1 += dot4I8Packed(codes16.w, high_1.w);
    sum_low_1 += dot4I8Packed(codes16.w, low_1.w);
    sum_high_5 += dot4I8Packed(codes16_1.x, high_1.x);
    sum_low_5 += dot4I8Packed(codes16_1.x, low_1.x);
    sum_high_5 += dot4I8Packed(codes16_1.y, high_1.y);
    sum_low_5 += dot4I8Packed(codes16_1.y, low_1.y);
    sum_high_5 += dot4I8Packed(codes16_1.z, high_1.z);
    sum_low_5 += dot4I8Packed(codes16_1.z, low_1.z);
    sum_high_5 += dot4I8Packed(codes16_1.w, high_1.w);
    sum_low_5 += dot4I8Packed(codes16_1.w, low_1.w);
    sum_high_9 += dot4I8Packed(codes16_2.x, high_1.x);
    sum_low_9 += dot4I8Packed(codes16_2.x, low_1.x);
    sum_high_9 += dot4I8Packed(codes16_2.y, high_1.y);
    sum_low_9 += dot4I8Packed(codes16_2.y, low_1.y);
    sum_high_9 += dot4I8Packed(codes16_2.z, high_1.z);
    sum_low_9 += dot4I8Packed(codes16_2.z, low_1.z);
    sum_high_9 += dot4I8Packed(codes16_2.w, high_1.w);
    sum_low_9 += dot4I8Packed(codes16_2.w, low_1.w);
    sum_high_13 += dot4I8Packed(codes16_3.x, high_1.x);
    sum_low_13 += dot4I8Packed(codes16_3.x, low_1.x);
    sum_high_13 += dot4I8Packed(codes16_3.y, high_1.y);
    sum_low_13 += dot4I8Packed(codes16_3.y, low_1.y);
    sum_high_13 += dot4I8Packed(codes16_3.z, high_1.z);
    sum_low_13 += dot4I8Packed(codes16_3.z, low_1.z);
    sum_high_13 += dot4I8Packed(codes16_3.w, high_1.w);
    sum_low_13 += dot4I8Packed(codes16_3.w, low_1.w);
    let at_parts_2 = (i + 320u) * 2u;
    let high_2 = parts[at_parts_2];
    let low_2 = parts[at_parts_2 + 1u];
    sum_high_2 += dot4I8Packed(codes16.x, high_2.x);
    sum_low_2 += dot4I8Packed(codes16.x, low_2.x);
    sum_high_2 += dot4I8Packed(codes16.y, high_2.y);
    sum_low_2 += dot4I8Packed(codes16.y, low_2.y);
    sum_high_2 += dot4I8Packed(codes16.z, high_2.z);
    sum_low_2 += dot4I8Packed(codes16.z, low_2.z);
    sum_high_2 += dot4I8Packed(codes16.w, high_2.w);
    sum_low_2 += dot4I8Packed(codes16.w, low_2.w);
    sum_high_6 += dot4I8Packed(codes16_1.x, high_2.x);
    sum_low_6 += dot4I8Packed(codes16_1.x, low_2.x);
    sum_high_6 += dot4I8Packed(codes16_1.y, high_2.y);
    sum_low_6 += dot4I8Packed(codes16_1.y, low_2.y);
    sum_high_6 += dot4I8Packed(codes16_1.z, high_2.z);
    sum_low_6 += dot4I8Packed(codes16_1.z, low_2.z);
    sum_high_6 += dot4I8Packed(codes16_1.w, high_2.w);
    sum_low_6 += dot4I8Packed(codes16_1.w, low_2.w);
    sum_high_10 += dot4I8Packed(codes16_2.x, high_2.x);
    sum_low_10 += dot4I8Packed(codes16_2.x, low_2.x);
    sum_high_10 += dot4I8Packed(codes16_2.y, high_2.y);
    sum_low_10 += dot4I8Packed(codes16_2.y, low_2.y);
    sum_high_10 += dot4I8Packed(codes16_2.z, high_2.z);
    sum_low_10 += dot4I8Packed(codes16_2.z, low_2.z);
    sum_high_10 += dot4I8Packed(codes16_2.w, high_2.w);
    sum_low_10 += dot4I8Packed(codes16_2.w, low_2.w);
    sum_high_14 += dot4I8Packed(codes16_3.x, high_2.x);
    sum_low_14 += dot4I8Packed(codes16_3.x, low_2.x);
    sum_high_14 += dot4I8Packed(codes16_3.y, high_2.y);
    sum_low_14 += dot4I8Packed(codes16_3.y, low_2.y);
    sum_high_14 += dot4I8Packed(codes16_3.z, high_2.z);
    sum_low_14 += dot4I8Packed(codes16_3.z, low_2.z);
    sum_high_14 += dot4I8Packed(codes16_3.w, high_2.w);
    sum_low_14 += dot4I8Packed(codes16_3.w, low_2.w);
    let at_parts_3 = (i + 480u) * 2u;
    let high_3 = parts[at_parts_3];
    let low_3 = parts[at_parts_3 + 1u];
    sum_high_3 += dot4I8Packed(codes16.x, high_3.x);
    sum_low_3 += dot4I8Packed(codes16.x, low_3.x);
    sum_high_3 += dot4I8Packed(codes16.y, high_3.y);
    sum_low_3 += dot4I8Packed(codes16.y, low_3.y);
    sum_high_3 += dot4I8Packed(codes16.z, high_3.z);
    sum_low_3 += dot4I8Packed(codes16.z, low_3.z);
    sum_high_3 += dot4I8Packed(codes16.w, high_3.w);
    sum_low_3 += dot4I8Packed(codes16.w, low_3.w);
    sum_high_7 += dot4I8Packed(codes16_1.x, high_3.x);
    sum_low_7 += dot4I8Packed(codes16_1.x, low_3.x);
    sum_high_7 += dot4I8Packed(codes16_1.y, high_3.y);
    sum_low_7 += dot4I8Packed(codes16_1.y, low_3.y);
    sum_high_7 += dot4I8Packed(codes16_1.z, high_3.z);
    sum_low_7 += dot4I8Packed(codes16_1.z, low_3.z);
    sum_high_7 += dot4I8Packed(codes16_1.w, high_3.w);
    sum_low_7 += dot4I8Packed(codes16_1.w, low_3.w);
    sum_high_11 += dot4I8Packed(codes16_2.x, high_3.x);
    sum_low_11 += dot4I8Packed(codes16_2.x, low_3.x);
    sum_high_11 += dot4I8Packed(codes16_2.y, high_3.y);
    sum_low_11 += dot4I8Packed(codes16_2.y, low_3.y);
    sum_high_11 += dot4I8Packed(codes16_2.z, high_3.z);
    sum_low_11 += dot4I8Packed(codes16_2.z, low_3.z);
    sum_high_11 += dot4I8Packed(codes16_2.w, high_3.w);
    sum_low_11 += dot4I8Packed(codes16_2.w, low_3.w);
    sum_high_15 += dot4I8Packed(codes16_3.x, high_3.x);
    sum_low_15 += dot4I8Packed(codes16_3.x, low_3.x);
    sum_high_15 += dot4I8Packed(codes16_3.y, high_3.y);
    sum_low_15 += dot4I8Packed(codes16_3.y, low_3.y);
    sum_high_15 += dot4I8Packed(codes16_3.z, high_3.z);
    sum_low_15 += dot4I8Packed(codes16_3.z, low_3.z);
    sum_high_15 += dot4I8Packed(codes16_3.w, high_3.w);
    sum_low_15 += dot4I8Packed(codes16_3.w, low_3.w);
  }
  let known = errors[existing];
  let known_1 = errors[existing_1];
  let known_2 = errors[existing_2];
  let known_3 = errors[existing_3];
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
  let mine_1 = f32(sum_high_4) * 128f + f32(sum_low_4);
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
  let mine_2 = f32(sum_high_8) * 128f + f32(sum_low_8);
  let sg_10 = subgroupShuffleXor(mine_2, 16u);
  let sum_10 = mine_2 + sg_10;
  let sg_11 = subgroupShuffleXor(sum_10, 8u);
  let sum_11 = sum_10 + sg_11;
  let sg_12 = subgroupShuffleXor(sum_11, 4u);
  let sum_12 = sum_11 + sg_12;
  let sg_13 = subgroupShuffleXor(sum_12, 2u);
  let sum_13 = sum_12 + sg_13;
  let sg_14 = subgroupShuffleXor(sum_13, 1u);
  let sum_14 = sum_13 + sg_14;
  let estimate_2 = sum_14 * (bound.x * known_2.x);
  let off_2 = (known_2.y * bound.y + known_2.z * bound.z + bound.w) * 1.0019531f;
  let is_known_2 = (known_2.y < 1e+38f) && (bound.w < 1e+38f);
  if (row_2 < 128256u) {
    if (is_known_2) {
      lower = max(lower, estimate_2 - off_2);
    }
    if (lane == 0u) {
      upper[0u + row_2] = select(3e+38f, estimate_2 + off_2, is_known_2);
    }
  }
  let mine_3 = f32(sum_high_12) * 128f + f32(sum_low_12);
  let sg_15 = subgroupShuffleXor(mine_3, 16u);
  let sum_15 = mine_3 + sg_15;
  let sg_16 = subgroupShuffleXor(sum_15, 8u);
  let sum_16 = sum_15 + sg_16;
  let sg_17 = subgroupShuffleXor(sum_16, 4u);
  let sum_17 = sum_16 + sg_17;
  let sg_18 = subgroupShuffleXor(sum_17, 2u);
  let sum_18 = sum_17 + sg_18;
  let sg_19 = subgroupShuffleXor(sum_18, 1u);
  let sum_19 = sum_18 + sg_19;
  let estimate_3 = sum_19 * (bound.x * known_3.x);
  let off_3 = (known_3.y * bound.y + known_3.z * bound.z + bound.w) * 1.0019531f;
  let is_known_3 = (known_3.y < 1e+38f) && (bound.w < 1e+38f);
  if (row_3 < 128256u) {
    if (is_known_3) {
      lower = max(lower, estimate_3 - off_3);
    }
    if (lane == 0u) {
      upper[0u + row_3] = select(3e+38f, estimate_3 + off_3, is_known_3);
    }
  }
  let of_group = lower;
  let sg_20 = subgroupShuffleXor(of_group, 16u);
  let sum_20 = max(of_group, sg_20);
  let sg_21 = subgroupShuffleXor(sum_20, 8u);
  let sum_21 = max(sum_20, sg_21);
  let sg_22 = subgroupShuffleXor(sum_21, 4u);
  let sum_22 = max(sum_21, sg_22);
  let sg_23 = subgroupShuffleXor(sum_22, 2u);
  let sum_23 = max(sum_22, sg_23);
  let sg_24 = subgroupShuffleXor(sum_23, 1u);
  let sum_24 = max(sum_23, sg_24);
  if ((tid & 31u) == 0u) {
    part[tid / 32u] = sum_24;
  }
  workgroupBarrier();
  let loaded = part[tid & 7u];
  let sg_25 = subgroupShuffleXor(loaded, 4u);
  let sum_25 = max(loaded, sg_25);
  let sg_26 = subgroupShuffleXor(sum_25, 2u);
  let sum_26 = max(sum_25, sg_26);
  let sg_27 = subgroupShuffleXor(sum_26, 1u);
  let sum_27 = max(sum_26, sg_27);
  if ((tid == 0u) && (workgroup_index < 4008u)) {
    let float_bits = bitcast<u32>(sum_27);
    let key = select(float_bits | 2147483648u, ~float_bits, float_bits >= 2147483648u);
    let old = (atomicMax(&greatest[0u + workgroup_index % 512u], key));
  }
  let bound_1 = bounds[1u];
  var lower_1: f32 = -3e+38f;
  let mine_4 = f32(sum_high_1) * 128f + f32(sum_low_1);
  let sg_28 = subgroupShuffleXor(mine_4, 16u);
  let sum_28 = mine_4 + sg_28;
  let sg_29 = subgroupShuffleXor(sum_28, 8u);
  let sum_29 = sum_28 + sg_29;
  let sg_30 = subgroupShuffleXor(sum_29, 4u);
  let sum_30 = sum_29 + sg_30;
  let sg_31 = subgroupShuffleXor(sum_30, 2u);
  let sum_31 = sum_30 + sg_31;
  let sg_32 = subgroupShuffleXor(sum_31, 1u);
  let sum_32 = sum_31 + sg_32;
  let estimate_4 = sum_32 * (bound_1.x * known.x);
  let off_4 = (known.y * bound_1.y + known.z * bound_1.z + bound_1.w) * 1.0019531f;
  let is_known_4 = (known.y < 1e+38f) && (bound_1.w < 1e+38f);
  if (row < 128256u) {
    if (is_known_4) {
      lower_1 = max(lower_1, estimate_4 - off_4);
    }
    if (lane == 0u) {
      upper[128256u + row] = select(3e+38f, estimate_4 + off_4, is_known_4);
    }
  }
  let mine_5 = f32(sum_high_5) * 128f + f32(sum_low_5);
  let sg_33 = subgroupShuffleXor(mine_5, 16u);
  let sum_33 = mine_5 + sg_33;
  let sg_34 = subgroupShuffleXor(sum_33, 8u);
  let sum_34 = sum_33 + sg_34;
  let sg_35 = subgroupShuffleXor(sum_34, 4u);
  let sum_35 = sum_34 + sg_35;
  let sg_36 = subgroupShuffleXor(sum_35, 2u);
  let sum_36 = sum_35 + sg_36;
  let sg_37 = subgroupShuffleXor(sum_36, 1u);
  let sum_37 = sum_36 + sg_37;
  let estimate_5 = sum_37 * (bound_1.x * known_1.x);
  let off_5 = (known_1.y * bound_1.y + known_1.z * bound_1.z + bound_1.w) * 1.0019531f;
  let is_known_5 = (known_1.y < 1e+38f) && (bound_1.w < 1e+38f);
  if (row_1 < 128256u) {
    if (is_known_5) {
      lower_1 = max(lower_1, estimate_5 - off_5);
    }
    if (lane == 0u) {
      upper[128256u + row_1] = select(3e+38f, estimate_5 + off_5, is_known_5);
    }
  }
  let mine_6 = f32(sum_high_9) * 128f + f32(sum_low_9);
  let sg_38 = subgroupShuffleXor(mine_6, 16u);
  let sum_38 = mine_6 + sg_38;
  let sg_39 = subgroupShuffleXor(sum_38, 8u);
  let sum_39 = sum_38 + sg_39;
  let sg_40 = subgroupShuffleXor(sum_39, 4u);
  let sum_40 = sum_39 + sg_40;
  let sg_41 = subgroupShuffleXor(sum_40, 2u);
  let sum_41 = sum_40 + sg_41;
  let sg_42 = subgroupShuffleXor(sum_41, 1u);
  let sum_42 = sum_41 + sg_42;
  let estimate_6 = sum_42 * (bound_1.x * known_2.x);
  let off_6 = (known_2.y * bound_1.y + known_2.z * bound_1.z + bound_1.w) * 1.0019531f;
  let is_known_6 = (known_2.y < 1e+38f) && (bound_1.w < 1e+38f);
  if (row_2 < 128256u) {
    if (is_known_6) {
      lower_1 = max(lower_1, estimate_6 - off_6);
    }
    if (lane == 0u) {
      upper[128256u + row_2] = select(3e+38f, estimate_6 + off_6, is_known_6);
    }
  }
  let mine_7 = f32(sum_high_13) * 128f + f32(sum_low_13);
  let sg_43 = subgroupShuffleXor(mine_7, 16u);
  let sum_43 = mine_7 + sg_43;
  let sg_44 = subgroupShuffleXor(sum_43, 8u);
  let sum_44 = sum_43 + sg_44;
  let sg_45 = subgroupShuffleXor(sum_44, 4u);
  let sum_45 = sum_44 + sg_45;
  let sg_46 = subgroupShuffleXor(sum_45, 2u);
  let sum_46 = sum_45 + sg_46;
  let sg_47 = subgroupShuffleXor(sum_46, 1u);
  let sum_47 = sum_46 + sg_47;
  let estimate_7 = sum_47 * (bound_1.x * known_3.x);
  let off_7 = (known_3.y * bound_1.y + known_3.z * bound_1.z + bound_1.w) * 1.0019531f;
  let is_known_7 = (known_3.y < 1e+38f) && (bound_1.w < 1e+38f);
  if (row_3 < 128256u) {
    if (is_known_7) {
      lower_1 = max(lower_1, estimate_7 - off_7);
    }
    if (lane == 0u) {
      upper[128256u + row_3] = select(3e+38f, estimate_7 + off_7, is_known_7);
    }
  }
  let of_group_1 = lower_1;
  let sg_48 = subgroupShuffleXor(of_group_1, 16u);
  let sum_48 = max(of_group_1, sg_48);
  let sg_49 = subgroupShuffleXor(sum_48, 8u);
  let sum_49 = max(sum_48, sg_49);
  let sg_50 = subgroupShuffleXor(sum_49, 4u);
  let sum_50 = max(sum_49, sg_50);
  let sg_51 = subgroupShuffleXor(sum_50, 2u);
  let sum_51 = max(sum_50, sg_51);
  let sg_52 = subgroupShuffleXor(sum_51, 1u);
  let sum_52 = max(sum_51, sg_52);
  if ((tid & 31u) == 0u) {
    part_1[tid / 32u] = sum_52;
  }
  workgroupBarrier();
  let loaded_1 = part_1[tid & 7u];
  let sg_53 = subgroupShuffleXor(loaded_1, 4u);
  let sum_53 = max(loaded_1, sg_53);
  let sg_54 = subgroupShuffleXor(sum_53, 2u);
  let sum_54 = max(sum_53, sg_54);
  let sg_55 = subgroupShuffleXor(sum_54, 1u);
  let sum_55 = max(sum_54, sg_55);
  if ((tid == 0u) && (workgroup_index < 4008u)) {
    let float_bits_1 = bitcast<u32>(sum_55);
    let key_1 = select(float_bits_1 | 2147483648u, ~float_bits_1, float_bits_1 >= 2147483648u);
    let old_1 = (atomicMax(&greatest[512u + workgroup_index % 512u], key_1));
  }
  let bound_2 = bounds[2u];
  var lower_2: f32 = -3e+38f;
  let mine_8 = f32(sum_high_2) * 128f + f32(sum_low_2);
  let sg_56 = subgroupShuffleXor(mine_8, 16u);
  let sum_56 = mine_8 + sg_56;
  let sg_57 = subgroupShuffleXor(sum_56, 8u);
  let sum_57 = sum_56 + sg_57;
  let sg_58 = subgroupShuffleXor(sum_57, 4u);
  let sum_58 = sum_57 + sg_58;
  let sg_59 = subgroupShuffleXor(sum_58, 2u);
  let sum_59 = sum_58 + sg_59;
  let sg_60 = subgroupShuffleXor(sum_59, 1u);
  let sum_60 = sum_59 + sg_60;
  let estimate_8 = sum_60 * (bound_2.x * known.x);
  let off_8 = (known.y * bound_2.y + known.z * bound_2.z + bound_2.w) * 1.0019531f;
  let is_known_8 = (known.y < 1e+38f) && (bound_2.w < 1e+38f);
  if (row < 128256u) {
    if (is_known_8) {
      lower_2 = max(lower_2, estimate_8 - off_8);
    }
    if (lane == 0u) {
      upper[256512u + row] = select(3e+38f, estimate_8 + off_8, is_known_8);
    }
  }
  let mine_9 = f32(sum_high_6) * 128f + f32(sum_low_6);
  let sg_61 = subgroupShuffleXor(mine_9, 16u);
  let sum_61 = mine_9 + sg_61;
  let sg_62 = subgroupShuffleXor(sum_61, 8u);
  let sum_62 = sum_61 + sg_62;
  let sg_63 = subgroupShuffleXor(sum_62, 4u);
  let sum_63 = sum_62 + sg_63;
  let sg_64 = subgroupShuffleXor(sum_63, 2u);
  let sum_64 = sum_63 + sg_64;
  let sg_65 = subgroupShuffleXor(sum_64, 1u);
  let sum_65 = sum_64 + sg_65;
  let estimate_9 = sum_65 * (bound_2.x * known_1.x);
  let off_9 = (known_1.y * bound_2.y + known_1.z * bound_2.z + bound_2.w) * 1.0019531f;
  let is_known_9 = (known_1.y < 1e+38f) && (bound_2.w < 1e+38f);
  if (row_1 < 128256u) {
    if (is_known_9) {
      lower_2 = max(lower_2, estimate_9 - off_9);
    }
    if (lane == 0u) {
      upper[256512u + row_1] = select(3e+38f, estimate_9 + off_9, is_known_9);
    }
  }
  let mine_10 = f32(sum_high_10) * 128f + f32(sum_low_10);
  let sg_66 = subgroupShuffleXor(mine_10, 16u);
  let sum_66 = mine_10 + sg_66;
  let sg_67 = subgroupShuffleXor(sum_66, 8u);
  let sum_67 = sum_66 + sg_67;
  let sg_68 = subgroupShuffleXor(sum_67, 4u);
  let sum_68 = sum_67 + sg_68;
  let sg_69 = subgroupShuffleXor(sum_68, 2u);
  let sum_69 = sum_68 + sg_69;
  let sg_70 = subgroupShuffleXor(sum_69, 1u);
  let sum_70 = sum_69 + sg_70;
  let estimate_10 = sum_70 * (bound_2.x * known_2.x);
  let off_10 = (known_2.y * bound_2.y + known_2.z * bound_2.z + bound_2.w) * 1.0019531f;
  let is_known_10 = (known_2.y < 1e+38f) && (bound_2.w < 1e+38f);
  if (row_2 < 128256u) {
    if (is_known_10) {
      lower_2 = max(lower_2, estimate_10 - off_10);
    }
    if (lane == 0u) {
      upper[256512u + row_2] = select(3e+38f, estimate_10 + off_10, is_known_10);
    }
  }
  let mine_11 = f32(sum_high_14) * 128f + f32(sum_low_14);
  let sg_71 = subgroupShuffleXor(mine_11, 16u);
  let sum_71 = mine_11 + sg_71;
  let sg_72 = subgroupShuffleXor(sum_71, 8u);
  let sum_72 = sum_71 + sg_72;
  let sg_73 = subgroupShuffleXor(sum_72, 4u);
  let sum_73 = sum_72 + sg_73;
  let sg_74 = subgroupShuffleXor(sum_73, 2u);
  let sum_74 = sum_73 + sg_74;
  let sg_75 = subgroupShuffleXor(sum_74, 1u);
  let sum_75 = sum_74 + sg_75;
  let estimate_11 = sum_75 * (bound_2.x * known_3.x);
  let off_11 = (known_3.y * bound_2.y + known_3.z * bound_2.z + bound_2.w) * 1.0019531f;
  let is_known_11 = (known_3.y < 1e+38f) && (bound_2.w < 1e+38f);
  if (row_3 < 128256u) {
    if (is_known_11) {
      lower_2 = max(lower_2, estimate_11 - off_11);
    }
    if (lane == 0u) {
      upper[256512u + row_3] = select(3e+38f, estimate_11 + off_11, is_known_11);
    }
  }
  let of_group_2 = lower_2;
  let sg_76 = subgroupShuffleXor(of_group_2, 16u);
  let sum_76 = max(of_group_2, sg_76);
  let sg_77 = subgroupShuffleXor(sum_76, 8u);
  let sum_77 = max(sum_76, sg_77);
  let sg_78 = subgroupShuffleXor(sum_77, 4u);
  let sum_78 = max(sum_77, sg_78);
  let sg_79 = subgroupShuffleXor(sum_78, 2u);
  let sum_79 = max(sum_78, sg_79);
  let sg_80 = subgroupShuffleXor(sum_79, 1u);
  let sum_80 = max(sum_79, sg_80);
  if ((tid & 31u) == 0u) {
    part_2[tid / 32u] = sum_80;
  }
  workgroupBarrier();
  let loaded_2 = part_2[tid & 7u];
  let sg_81 = subgroupShuffleXor(loaded_2, 4u);
  let sum_81 = max(loaded_2, sg_81);
  let sg_82 = subgroupShuffleXor(sum_81, 2u);
  let sum_82 = max(sum_81, sg_82);
  let sg_83 = subgroupShuffleXor(sum_82, 1u);
  let sum_83 = max(sum_82, sg_83);
  if ((tid == 0u) && (workgroup_index < 4008u)) {
    let float_bits_2 = bitcast<u32>(sum_83);
    let key_2 = select(float_bits_2 | 2147483648u, ~float_bits_2, float_bits_2 >= 2147483648u);
    let old_2 = (atomicMax(&greatest[1024u + workgroup_index % 512u], key_2));
  }
  let bound_3 = bounds[3u];
  var lower_3: f32 = -3e+38f;
  let mine_12 = f32(sum_high_3) * 128f + f32(sum_low_3);
  let sg_84 = subgroupShuffleXor(mine_12, 16u);
  let sum_84 = mine_12 + sg_84;
  let sg_85 = subgroupShuffleXor(sum_84, 8u);
  let sum_85 = sum_84 + sg_85;
  let sg_86 = subgroupShuffleXor(sum_85, 4u);
  let sum_86 = sum_85 + sg_86;
  let sg_87 = subgroupShuffleXor(sum_86, 2u);
  let sum_87 = sum_86 + sg_87;
  let sg_88 = subgroupShuffleXor(sum_87, 1u);
  let sum_88 = sum_87 + sg_88;
  let estimate_12 = sum_88 * (bound_3.x * known.x);
  let off_12 = (known.y * bound_3.y + known.z * bound_3.z + bound_3.w) * 1.0019531f;
  let is_known_12 = (known.y < 1e+38f) && (bound_3.w < 1e+38f);
  if (row < 128256u) {
    if (is_known_12) {
      lower_3 = max(lower_3, estimate_12 - off_12);
    }
    if (lane == 0u) {
      upper[384768u + row] = select(3e+38f, estimate_12 + off_12, is_known_12);
    }
  }
  let mine_13 = f32(sum_high_7) * 128f + f32(sum_low_7);
  let sg_89 = subgroupShuffleXor(mine_13, 16u);
  let sum_89 = mine_13 + sg_89;
  let sg_90 = subgroupShuffleXor(sum_89, 8u);
  let sum_90 = sum_89 + sg_90;
  let sg_91 = subgroupShuffleXor(sum_90, 4u);
  let sum_91 = sum_90 + sg_91;
  let sg_92 = subgroupShuffleXor(sum_91, 2u);
  let sum_92 = sum_91 + sg_92;
  let sg_93 = subgroupShuffleXor(sum_92, 1u);
  let sum_93 = sum_92 + sg_93;
  let estimate_13 = sum_93 * (bound_3.x * known_1.x);
  let off_13 = (known_1.y * bound_3.y + known_1.z * bound_3.z + bound_3.w) * 1.0019531f;
  let is_known_13 = (known_1.y < 1e+38f) && (bound_3.w < 1e+38f);
  if (row_1 < 128256u) {
    if (is_known_13) {
      lower_3 = max(lower_3, estimate_13 - off_13);
    }
    if (lane == 0u) {
      upper[384768u + row_1] = select(3e+38f, estimate_13 + off_13, is_known_13);
    }
  }
  let mine_14 = f32(sum_high_11) * 128f + f32(sum_low_11);
  let sg_94 = subgroupShuffleXor(mine_14, 16u);
  let sum_94 = mine_14 + sg_94;
  let sg_95 = subgroupShuffleXor(sum_94, 8u);
  let sum_95 = sum_94 + sg_95;
  let sg_96 = subgroupShuffleXor(sum_95, 4u);
  let sum_96 = sum_95 + sg_96;
  let sg_97 = subgroupShuffleXor(sum_96, 2u);
  let sum_97 = sum_96 + sg_97;
  let sg_98 = subgroupShuffleXor(sum_97, 1u);
  let sum_98 = sum_97 + sg_98;
  let estimate_14 = sum_98 * (bound_3.x * known_2.x);
  let off_14 = (known_2.y * bound_3.y + known_2.z * bound_3.z + bound_3.w) * 1.0019531f;
  let is_known_14 = (known_2.y < 1e+38f) && (bound_3.w < 1e+38f);
  if (row_2 < 128256u) {
    if (is_known_14) {
      lower_3 = max(lower_3, estimate_14 - off_14);
    }
    if (lane == 0u) {
      upper[384768u + row_2] = select(3e+38f, estimate_14 + off_14, is_known_14);
    }
  }
  let mine_15 = f32(sum_high_15) * 128f + f32(sum_low_15);
  let sg_99 = subgroupShuffleXor(mine_15, 16u);
  let sum_99 = mine_15 + sg_99;
  let sg_100 = subgroupShuffleXor(sum_99, 8u);
  let sum_100 = sum_99 + sg_100;
  let sg_101 = subgroupShuffleXor(sum_100, 4u);
  let sum_101 = sum_100 + sg_101;
  let sg_102 = subgroupShuffleXor(sum_101, 2u);
  let sum_102 = sum_101 + sg_102;
  let sg_103 = subgroupShuffleXor(sum_102, 1u);
  let sum_103 = sum_102 + sg_103;
  let estimate_15 = sum_103 * (bound_3.x * known_3.x);
  let off_15 = (known_3.y * bound_3.y + known_3.z * bound_3.z + bound_3.w) * 1.0019531f;
  let is_known_15 = (known_3.y < 1e+38f) && (bound_3.w < 1e+38f);
  if (row_3 < 128256u) {
    if (is_known_15) {
      lower_3 = max(lower_3, estimate_15 - off_15);
    }
    if (lane == 0u) {
      upper[384768u + row_3] = select(3e+38f, estimate_15 + off_15, is_known_15);
    }
  }
  let of_group_3 = lower_3;
  let sg_104 = subgroupShuffleXor(of_group_3, 16u);
  let sum_104 = max(of_group_3, sg_104);
  let sg_105 = subgroupShuffleXor(sum_104, 8u);
  let sum_105 = max(sum_104, sg_105);
  let sg_106 = subgroupShuffleXor(sum_105, 4u);
  let sum_106 = max(sum_105, sg_106);
  let sg_107 = subgroupShuffleXor(sum_106, 2u);
  let sum_107 = max(sum_106, sg_107);
  let sg_108 = subgroupShuffleXor(sum_107, 1u);
  let sum_108 = max(sum_107, sg_108);
  if ((tid & 31u) == 0u) {
    part_3[tid / 32u] = sum_108;
  }
  workgroupBarrier();
  let loaded_3 = part_3[tid & 7u];
  let sg_109 = subgroupShuffleXor(loaded_3, 4u);
  let sum_109 = max(loaded_3, sg_109);
  let sg_110 = subgroupShuffleXor(sum_109, 2u);
  let sum_110 = max(sum_109, sg_110);
  let sg_111 = subgroupShuffleXor(sum_110, 1u);
  let sum_111 = max(sum_110, sg_111);
  if ((tid == 0u) && (workgroup_index < 4008u)) {
    let float_bits_3 = bitcast<u32>(sum_111);
    let key_3 = select(float_bits_3 | 2147483648u, ~float_bits_3, float_bits_3 >= 2147483648u);
    let old_3 = (atomicMax(&greatest[1536u + workgroup_index % 512u], key_3));
  }
}
