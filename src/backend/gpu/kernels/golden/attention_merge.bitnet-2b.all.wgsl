enable subgroups;

@group(0) @binding(0) var<storage, read> parts: array<f32>;
@group(0) @binding(1) var<storage, read> params: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read> next_gain: array<f32>;
@group(0) @binding(4) var<storage, read_write> next_parts: array<vec2<f32>>;
var<workgroup> part: array<f32, 2>;
var<workgroup> part_1: array<f32, 2>;

@compute @workgroup_size(64)
fn attention_merge(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let row = wg.y * 20u + wg.x;
  let base = row * 2080u;
  let n_pos = params[0u] + params[1u];
  let splits = min((n_pos + 63u) / 64u, 16u);
  var greatest: f32 = -3e+38f;
  for (var i = 0u; i < splits; i += 1u) {
    greatest = max(greatest, parts[base + i * 130u + 128u]);
  }
  var squares: f32 = 0f;
  var largest: f32 = 0f;
  for (var d = tid; d < 128u; d += 64u) {
    var sum: f32 = 0f;
    var total: f32 = 0f;
    for (var i_1 = 0u; i_1 < splits; i_1 += 1u) {
      let part_at = base + i_1 * 130u;
      let weight = exp(parts[part_at + 128u] - greatest);
      sum += weight * parts[part_at + d];
      total += weight * parts[part_at + 129u];
    }
    let result = sum / total;
    y[row * 128u + d] = result;
    squares += result * result;
    let gain = next_gain[wg.x * 128u + d];
    largest = max(largest, abs(result * gain));
  }
  let my_squares = squares;
  let my_largest = largest;
  let sg = subgroupShuffleXor(my_squares, 16u);
  let sum_1 = my_squares + sg;
  let sg_1 = subgroupShuffleXor(sum_1, 8u);
  let sum_2 = sum_1 + sg_1;
  let sg_2 = subgroupShuffleXor(sum_2, 4u);
  let sum_3 = sum_2 + sg_2;
  let sg_3 = subgroupShuffleXor(sum_3, 2u);
  let sum_4 = sum_3 + sg_3;
  let sg_4 = subgroupShuffleXor(sum_4, 1u);
  let sum_5 = sum_4 + sg_4;
  if ((tid & 31u) == 0u) {
    part[tid / 32u] = sum_5;
  }
  workgroupBarrier();
  let loaded = part[tid & 1u];
  let sg_5 = subgroupShuffleXor(loaded, 1u);
  let sum_6 = loaded + sg_5;
  let sg_6 = subgroupShuffleXor(my_largest, 16u);
  let sum_7 = max(my_largest, sg_6);
  let sg_7 = subgroupShuffleXor(sum_7, 8u);
  let sum_8 = max(sum_7, sg_7);
  let sg_8 = subgroupShuffleXor(sum_8, 4u);
  let sum_9 = max(sum_8, sg_8);
  let sg_9 = subgroupShuffleXor(sum_9, 2u);
  let sum_10 = max(sum_9, sg_9);
  let sg_10 = subgroupShuffleXor(sum_10, 1u);
  let sum_11 = max(sum_10, sg_10);
  if ((tid & 31u) == 0u) {
    part_1[tid / 32u] = sum_11;
  }
  workgroupBarrier();
  let loaded_1 = part_1[tid & 1u];
  let sg_11 = subgroupShuffleXor(loaded_1, 1u);
  let sum_12 = max(loaded_1, sg_11);
  if (tid == 0u) {
    next_parts[row] = vec2<f32>(sum_6, sum_12);
  }
}
