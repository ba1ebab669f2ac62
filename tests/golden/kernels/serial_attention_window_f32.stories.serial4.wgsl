enable subgroups;

@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> kv: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> params: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(4)
fn serial_attention(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let kv_head = wg.x / 4u;
  let n_pos = params[wg.y * 3u + 3u] + 1u;
  let table = params[wg.y * 3u + 4u];
  let q_base = (wg.y * 8u + wg.x) * 18u;
  let quad = tid + 0u;
  var acc: vec4<f32> = vec4<f32>();
  let quad_1 = tid + 4u;
  var acc_1: vec4<f32> = vec4<f32>();
  let quad_2 = tid + 8u;
  var acc_2: vec4<f32> = vec4<f32>();
  let quad_3 = tid + 12u;
  var acc_3: vec4<f32> = vec4<f32>();
  let quad_4 = tid + 16u;
  let from_quad = min(quad_4, 17u);
  var acc_4: vec4<f32> = vec4<f32>();
  var greatest: f32 = -3e+38f;
  var total: f32 = 0f;
  let start = max(n_pos, 300u) - 300u;
  for (var first = start / 4u * 4u; first < n_pos; first += 4u) {
    let pos = first + tid;
    let block = params[table + first / 64u];
    let rows = (block * 4u + kv_head) * 64u + first % 64u;
    let k_row = (rows + tid) * 18u;
    var score: f32 = 0f;
    for (var quad_5 = 0u; quad_5 < 18u; quad_5 += 1u) {
      let k4 = kv[k_row + quad_5];
      let q4 = q[q_base + quad_5];
      score += dot(q4, k4);
    }
    let scaled = score * 0.11785114f;
    let seen = select(-3e+38f, scaled, (pos >= start) && (pos < n_pos));
    let sg = subgroupShuffleXor(seen, 2u);
    let sum = max(seen, sg);
    let sg_1 = subgroupShuffleXor(sum, 1u);
    let sum_1 = max(sum, sg_1);
    let new_greatest = max(greatest, sum_1);
    let shrink = exp(greatest - new_greatest);
    let weight = select(0f, exp(seen - new_greatest), (pos >= start) && (pos < n_pos));
    greatest = new_greatest;
    total = total * shrink + weight;
    acc = acc * shrink;
    acc_1 = acc_1 * shrink;
    acc_2 = acc_2 * shrink;
    acc_3 = acc_3 * shrink;
    acc_4 = acc_4 * shrink;
    let v_rows = rows + 128u;
    let n_here = min(n_pos - first, 4u);
    for (var lane = 0u; lane < n_here; lane += 1u) {
      let sg_2 = subgroupShuffle(weight, lane);
      let v_row = (v_rows + lane) * 18u;
      let v4 = kv[v_row + quad];
      acc += v4 * sg_2;
      let v4_1 = kv[v_row + quad_1];
      acc_1 += v4_1 * sg_2;
      let v4_2 = kv[v_row + quad_2];
      acc_2 += v4_2 * sg_2;
      let v4_3 = kv[v_row + quad_3];
      acc_3 += v4_3 * sg_2;
      let v4_4 = kv[v_row + from_quad];
      acc_4 += v4_4 * sg_2;
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
  if (quad_4 < 18u) {
    y[q_base + quad_4] = acc_4 * (1f / sum_3);
  }
}
