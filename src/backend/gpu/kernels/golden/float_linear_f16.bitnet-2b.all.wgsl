enable f16;
enable subgroups;

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
struct range_fields { first: u32, count: u32, unused_a: u32, unused_b: u32 }
@group(0) @binding(2) var<uniform> range: range_fields;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn float_linear(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) n_wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 32u;
  let lane_of_row = tid & 31u;
  let count = range.count;
  let first = (wg.y * n_wg.x + wg.x) * 32u + group;
  let row = first + 0u;
  let start = min(row, count - 1u) * 320u;
  var acc: f32 = 0f;
  let row_1 = first + 8u;
  let start_1 = min(row_1, count - 1u) * 320u;
  var acc_1: f32 = 0f;
  let row_2 = first + 16u;
  let start_2 = min(row_2, count - 1u) * 320u;
  var acc_2: f32 = 0f;
  let row_3 = first + 24u;
  let start_3 = min(row_3, count - 1u) * 320u;
  var acc_3: f32 = 0f;
  let x_base = wg.z * 640u;
  for (var i = lane_of_row; i < 320u; i += 32u) {
    let w4 = w[start + i];
    let w4_1 = w[start_1 + i];
    let w4_2 = w[start_2 + i];
    let w4_3 = w[start_3 + i];
    let x4 = x[x_base + i * 2u + 0u];
    let x4_1 = x[x_base + i * 2u + 1u];
    let low = vec2<f32>(bitcast<vec2<f16>>(w4.x));
    let high = vec2<f32>(bitcast<vec2<f16>>(w4.y));
    let w_1 = vec4<f32>(low, high);
    let low_1 = vec2<f32>(bitcast<vec2<f16>>(w4.z));
    let high_1 = vec2<f32>(bitcast<vec2<f16>>(w4.w));
    let w_2 = vec4<f32>(low_1, high_1);
    acc += dot(w_1, x4);
    acc += dot(w_2, x4_1);
    let low_2 = vec2<f32>(bitcast<vec2<f16>>(w4_1.x));
    let high_2 = vec2<f32>(bitcast<vec2<f16>>(w4_1.y));
    let w_3 = vec4<f32>(low_2, high_2);
    let low_3 = vec2<f32>(bitcast<vec2<f16>>(w4_1.z));
    let high_3 = vec2<f32>(bitcast<vec2<f16>>(w4_1.w));
    let w_4 = vec4<f32>(low_3, high_3);
    acc_1 += dot(w_3, x4);
    acc_1 += dot(w_4, x4_1);
    let low_4 = vec2<f32>(bitcast<vec2<f16>>(w4_2.x));
    let high_4 = vec2<f32>(bitcast<vec2<f16>>(w4_2.y));
    let w_5 = vec4<f32>(low_4, high_4);
    let low_5 = vec2<f32>(bitcast<vec2<f16>>(w4_2.z));
    let high_5 = vec2<f32>(bitcast<vec2<f16>>(w4_2.w));
    let w_6 = vec4<f32>(low_5, high_5);
    acc_2 += dot(w_5, x4);
    acc_2 += dot(w_6, x4_1);
    let low_6 = vec2<f32>(bitcast<vec2<f16>>(w4_3.x));
    let high_6 = vec2<f32>(bitcast<vec2<f16>>(w4_3.y));
    let w_7 = vec4<f32>(low_6, high_6);
    let low_7 = vec2<f32>(bitcast<vec2<f16>>(w4_3.z));
    let high_7 = vec2<f32>(bitcast<vec2<f16>>(w4_3.w));
    let w_8 = vec4<f32>(low_7, high_7);
    acc_3 += dot(w_7, x4);
    acc_3 += dot(w_8, x4_1);
  }
  let mine = acc;
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
  if ((lane_of_row == 0u) && (row < count)) {
    y[wg.z * 128256u + range.first + row] = sum_4;
  }
  let mine_1 = acc_1;
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
  if ((lane_of_row == 0u) && (row_1 < count)) {
    y[wg.z * 128256u + range.first + row_1] = sum_9;
  }
  let mine_2 = acc_2;
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
  if ((lane_of_row == 0u) && (row_2 < count)) {
    y[wg.z * 128256u + range.first + row_2] = sum_14;
  }
  let mine_3 = acc_3;
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
  if ((lane_of_row == 0u) && (row_3 < count)) {
    y[wg.z * 128256u + range.first + row_3] = sum_19;
  }
}
