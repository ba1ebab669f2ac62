enable subgroups;

@group(0) @binding(0) var<storage, read> parts: array<f32>;
@group(0) @binding(1) var<storage, read> params: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read> next_gain: array<f32>;
@group(0) @binding(4) var<storage, read_write> next_parts: array<vec2<f32>>;
var<workgroup> shares: array<f32, 16>;
var<workgroup> part: array<f32, 4>;
var<workgroup> part_1: array<f32, 4>;
var<workgroup> part_2: array<f32, 4>;
var<workgroup> part_3: array<f32, 4>;

@compute @workgroup_size(128)
fn attention_merge(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let row = wg.y * 20u + wg.x;
  let base = row * 2080u;
  let n_pos = params[wg.y * 3u + 3u] + 1u;
  let splits = min((n_pos + 63u) / 64u, 16u);
  let my_part = base + min(tid, splits - 1u) * 130u;
  let my_greatest = parts[my_part + 128u];
  let my_sum = parts[my_part + 129u];
  let sg = subgroupShuffleXor(my_greatest, 16u);
  let sum = max(my_greatest, sg);
  let sg_1 = subgroupShuffleXor(sum, 8u);
  let sum_1 = max(sum, sg_1);
  let sg_2 = subgroupShuffleXor(sum_1, 4u);
  let sum_2 = max(sum_1, sg_2);
  let sg_3 = subgroupShuffleXor(sum_2, 2u);
  let sum_3 = max(sum_2, sg_3);
  let sg_4 = subgroupShuffleXor(sum_3, 1u);
  let sum_4 = max(sum_3, sg_4);
  if ((tid & 31u) == 0u) {
    part[tid / 32u] = sum_4;
  }
  workgroupBarrier();
  let loaded = part[tid & 3u];
  let sg_5 = subgroupShuffleXor(loaded, 2u);
  let sum_5 = max(loaded, sg_5);
  let sg_6 = subgroupShuffleXor(sum_5, 1u);
  let sum_6 = max(sum_5, sg_6);
  let share = select(0f, exp(my_greatest - sum_6), tid < splits);
  let weighed = share * my_sum;
  let sg_7 = subgroupShuffleXor(weighed, 16u);
  let sum_7 = weighed + sg_7;
  let sg_8 = subgroupShuffleXor(sum_7, 8u);
  let sum_8 = sum_7 + sg_8;
  let sg_9 = subgroupShuffleXor(sum_8, 4u);
  let sum_9 = sum_8 + sg_9;
  let sg_10 = subgroupShuffleXor(sum_9, 2u);
  let sum_10 = sum_9 + sg_10;
  let sg_11 = subgroupShuffleXor(sum_10, 1u);
  let sum_11 = sum_10 + sg_11;
  if ((tid & 31u) == 0u) {
    part_1[tid / 32u] = sum_11;
  }
  workgroupBarrier();
  let loaded_1 = part_1[tid & 3u];
  let sg_12 = subgroupShuffleXor(loaded_1, 2u);
  let sum_12 = loaded_1 + sg_12;
  let sg_13 = subgroupShuffleXor(sum_12, 1u);
  let sum_13 = sum_12 + sg_13;
  if (tid < 16u) {
    shares[tid] = share;
  }
  workgroupBarrier();
  var squares: f32 = 0f;
  var largest: f32 = 0f;
  for (var d = tid; d < 128u; d += 128u) {
    var sum_14: f32 = 0f;
    for (var i = 0u; i < splits; i += 8u) {
      let split = min(i + 0u, splits - 1u);
      let part_value = parts[base + split * 130u + d];
      let split_1 = min(i + 1u, splits - 1u);
      let part_value_1 = parts[base + split_1 * 130u + d];
      let split_2 = min(i + 2u, splits - 1u);
      let part_value_2 = parts[base + split_2 * 130u + d];
      let split_3 = min(i + 3u, splits - 1u);
      let part_value_3 = parts[base + split_3 * 130u + d];
      let split_4 = min(i + 4u, splits - 1u);
      let part_value_4 = parts[base + split_4 * 130u + d];
      let split_5 = min(i + 5u, splits - 1u);
      let part_value_5 = parts[base + split_5 * 130u + d];
      let split_6 = min(i + 6u, splits - 1u);
      let part_value_6 = parts[base + split_6 * 130u + d];
      let split_7 = min(i + 7u, splits - 1u);
      let part_value_7 = parts[base + split_7 * 130u + d];
      sum_14 += part_value * shares[i + 0u];
      sum_14 += part_value_1 * shares[i + 1u];
      sum_14 += part_value_2 * shares[i + 2u];
      sum_14 += part_value_3 * shares[i + 3u];
      sum_14 += part_value_4 * shares[i + 4u];
      sum_14 += part_value_5 * shares[i + 5u];
      sum_14 += part_value_6 * shares[i + 6u];
      sum_14 += part_value_7 * shares[i + 7u];
    }
    let result = sum_14 / sum_13;
    y[row * 128u + d] = result;
    squares += result * result;
    let gain = next_gain[wg.x * 128u + d];
    largest = max(largest, abs(result * gain));
  }
  let my_squares = squares;
  let my_largest = largest;
  let sg_14 = subgroupShuffleXor(my_squares, 16u);
  let sum_15 = my_squares + sg_14;
  let sg_15 = subgroupShuffleXor(sum_15, 8u);
  let sum_16 = sum_15 + sg_15;
  let sg_16 = subgroupShuffleXor(sum_16, 4u);
  let sum_17 = sum_16 + sg_16;
  let sg_17 = subgroupShuffleXor(sum_17, 2u);
  let sum_18 = sum_17 + sg_17;
  let sg_18 = subgroupShuffleXor(sum_18, 1u);
  let sum_19 = sum_18 + sg_18;
  if ((tid & 31u) == 0u) {
    part_2[tid / 32u] = sum_19;
  }
  workgroupBarrier();
  let loaded_2 = part_2[tid & 3u];
  let sg_19 = subgroupShuffleXor(loaded_2, 2u);
  let sum_20 = loaded_2 + sg_19;
  let sg_20 = subgroupShuffleXor(sum_20, 1u);
  let sum_21 = sum_20 + sg_20;
  let sg_21 = subgroupShuffleXor(my_largest, 16u);
  let sum_22 = max(my_largest, sg_21);
  let sg_22 = subgroupShuffleXor(sum_22, 8u);
  let sum_23 = max(sum_22, sg_22);
  let sg_23 = subgroupShuffleXor(sum_23, 4u);
  let sum_24 = max(sum_23, sg_23);
  let sg_24 = subgroupShuffleXor(sum_24, 2u);
  let sum_25 = max(sum_24, sg_24);
  let sg_25 = subgroupShuffleXor(sum_25, 1u);
  let sum_26 = max(sum_25, sg_25);
  if ((tid & 31u) == 0u) {
    part_3[tid / 32u] = sum_26;
  }
  workgroupBarrier();
  let loaded_3 = part_3[tid & 3u];
  let sg_26 = subgroupShuffleXor(loaded_3, 2u);
  let sum_27 = max(loaded_3, sg_26);
  let sg_27 = subgroupShuffleXor(sum_27, 1u);
  let sum_28 = max(sum_27, sg_27);
  if (tid == 0u) {
    next_parts[row] = vec2<f32>(sum_21, sum_28);
  }
}
