enable subgroups;

@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> kv: array<u32>;
@group(0) @binding(2) var<storage, read> params: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;
fn int8_values(word: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(((vec4<u32>(word ^ 2155905152u) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u)) | vec4<u32>(1258291200u)) - vec4<f32>(8388736f);
}

@compute @workgroup_size(4)
fn serial_attention(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let kv_head = wg.x / 4u;
  let n_pos = params[wg.y * 3u + 3u] + 1u;
  let table = params[wg.y * 3u + 4u];
  let q_base = (wg.y * 8u + wg.x) * 16u;
  let quad = tid + 0u;
  var acc: vec4<f32> = vec4<f32>();
  let quad_1 = tid + 4u;
  var acc_1: vec4<f32> = vec4<f32>();
  let quad_2 = tid + 8u;
  var acc_2: vec4<f32> = vec4<f32>();
  let quad_3 = tid + 12u;
  var acc_3: vec4<f32> = vec4<f32>();
  var greatest: f32 = -3e+38f;
  var total: f32 = 0f;
  let start = 0u;
  for (var first = start / 4u * 4u; first < n_pos; first += 4u) {
    let pos = first + tid;
    let block = params[table + first / 64u];
    let rows = (block * 4u + kv_head) * 64u + first % 64u;
    let k_row = (rows + tid) * 17u;
    var score: f32 = 0f;
    for (var group = 0u; group < 2u; group += 1u) {
      var of_group: f32 = 0f;
      let first_quad = group * 8u;
      let end_quad = min(first_quad + 8u, 16u);
      for (var quad_4 = first_quad; quad_4 < end_quad; quad_4 += 1u) {
        let k4 = kv[k_row + quad_4];
        let q4 = q[q_base + quad_4];
        of_group += dot(q4, int8_values(k4));
      }
      let halves = kv[k_row + 16u + group % 1u];
      let scales_of_two = unpack2x16float(halves);
      let scale = select(scales_of_two.x, scales_of_two.y, group >= 1u);
      score += of_group * scale;
    }
    let scaled = score * 0.125f;
    let seen = select(-3e+38f, scaled, pos < n_pos);
    let sg = subgroupShuffleXor(seen, 2u);
    let sum = max(seen, sg);
    let sg_1 = subgroupShuffleXor(sum, 1u);
    let sum_1 = max(sum, sg_1);
    let new_greatest = max(greatest, sum_1);
    let shrink = exp(greatest - new_greatest);
    let weight = select(0f, exp(seen - new_greatest), pos < n_pos);
    greatest = new_greatest;
    total = total * shrink + weight;
    acc = acc * shrink;
    acc_1 = acc_1 * shrink;
    acc_2 = acc_2 * shrink;
    acc_3 = acc_3 * shrink;
    let v_rows = rows + 128u;
    let n_here = min(n_pos - first, 4u);
    for (var lane = 0u; lane < n_here; lane += 1u) {
      let sg_2 = subgroupShuffle(weight, lane);
      let v_row = (v_rows + lane) * 17u;
      let v4 = kv[v_row + quad];
      let group_1 = quad / 8u;
      let halves_1 = kv[v_row + 16u + group_1 % 1u];
      let scales_of_two_1 = unpack2x16float(halves_1);
      let scale_1 = select(scales_of_two_1.x, scales_of_two_1.y, group_1 >= 1u);
      acc += int8_values(v4) * (sg_2 * scale_1);
      let v4_1 = kv[v_row + quad_1];
      let group_2 = quad_1 / 8u;
      let halves_2 = kv[v_row + 16u + group_2 % 1u];
      let scales_of_two_2 = unpack2x16float(halves_2);
      let scale_2 = select(scales_of_two_2.x, scales_of_two_2.y, group_2 >= 1u);
      acc_1 += int8_values(v4_1) * (sg_2 * scale_2);
      let v4_2 = kv[v_row + quad_2];
      let group_3 = quad_2 / 8u;
      let halves_3 = kv[v_row + 16u + group_3 % 1u];
      let scales_of_two_3 = unpack2x16float(halves_3);
      let scale_3 = select(scales_of_two_3.x, scales_of_two_3.y, group_3 >= 1u);
      acc_2 += int8_values(v4_2) * (sg_2 * scale_3);
      let v4_3 = kv[v_row + quad_3];
      let group_4 = quad_3 / 8u;
      let halves_4 = kv[v_row + 16u + group_4 % 1u];
      let scales_of_two_4 = unpack2x16float(halves_4);
      let scale_4 = select(scales_of_two_4.x, scales_of_two_4.y, group_4 >= 1u);
      acc_3 += int8_values(v4_3) * (sg_2 * scale_4);
    }
  }
  let my_total = total;
  let sg_3 = subgroupShuffleXor(my_total, 2u);
  let sum_2 = my_total + sg_3;
  let sg_4 = subgroupShuffleXor(sum_2, 1u);
  let sum_3 = sum_2 + sg_4;
  y[q_base + quad] = acc * (1f / sum_3);
  y[q_base + quad_1] = acc_1 * (1f / sum_3);
  y[q_base + quad_2] = acc_2 * (1f / sum_3);
  y[q_base + quad_3] = acc_3 * (1f / sum_3);
}
