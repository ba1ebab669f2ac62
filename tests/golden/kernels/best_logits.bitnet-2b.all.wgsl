enable subgroups;

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> gain: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> upper: array<f32>;
@group(0) @binding(5) var<storage, read> greatest: array<u32>;
@group(0) @binding(6) var<storage, read_write> y: array<u32>;
var<workgroup> values: array<u32, 256>;
var<workgroup> found: array<u32, 1>;
var<workgroup> n_chosen: array<atomic<u32>, 1>;
var<workgroup> chosen: array<u32, 256>;

@compute @workgroup_size(256)
fn best_logits(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let group = tid / 32u;
  let lane_of_row = tid & 31u;
  // The n-th greatest of the least that logits can be: n are no less.
  var mine: u32 = 0u;
  for (var i = tid; i < 512u; i += 256u) {
    mine = max(mine, greatest[wg.y * 512u + i]);
  }
  let my_greatest = mine;
  values[tid] = my_greatest;
  workgroupBarrier();
  var n_before: u32 = 0u;
  for (var i_1 = 0u; i_1 < 256u; i_1 += 1u) {
    let other = values[i_1];
    n_before += select(0u, 1u, (other > my_greatest) || ((other == my_greatest) && (i_1 < tid)));
  }
  if (n_before == 127u) {
    found[0u] = my_greatest;
  }
  workgroupBarrier();
  let nth = found[0u];
  // Rows that may reach it are computed.
  let my_row = wg.x * 256u + tid;
  if (my_row < 128256u) {
    let index = wg.y * 128256u + my_row;
    let float_bits = bitcast<u32>(upper[index]);
    let key = select(float_bits | 2147483648u, ~float_bits, float_bits >= 2147483648u);
    if (key >= nth) {
      let old = (atomicAdd(&n_chosen[0u], 1u));
      chosen[old] = my_row;
    } else {
      y[index] = 4286578688u;
    }
  }
  let same = (workgroupUniformLoad(&n_chosen[0u]));
  let turns = (same + 7u) / 8u;
  if (same > 0u) {
    for (var turn = 0u; turn < turns; turn += 1u) {
      let place = turn * 8u + group;
      let row = chosen[min(place, same - 1u)];
      let start = row * 320u;
      let x_base = wg.y * 640u;
      var acc: f32 = 0f;
      for (var i_2 = lane_of_row; i_2 < 320u; i_2 += 32u) {
        let at = start + i_2;
        let unit = w[at];
        var part: f32 = 0f;
        let x_at = i_2 * 2u;
        let q = x_at + 0u;
        let v = x[x_base + q];
        part += dot(vec4<f32>(unpack2x16float(unit.x), unpack2x16float(unit.y)), v);
        let q_1 = x_at + 1u;
        let v_1 = x[x_base + q_1];
        part += dot(vec4<f32>(unpack2x16float(unit.z), unpack2x16float(unit.w)), v_1);
        acc += part;
      }
      let mine_1 = acc;
      let sg = subgroupShuffleXor(mine_1, 16u);
      let sum = mine_1 + sg;
      let sg_1 = subgroupShuffleXor(sum, 8u);
      let sum_1 = sum + sg_1;
      let sg_2 = subgroupShuffleXor(sum_1, 4u);
      let sum_2 = sum_1 + sg_2;
      let sg_3 = subgroupShuffleXor(sum_2, 2u);
      let sum_3 = sum_2 + sg_3;
      let sg_4 = subgroupShuffleXor(sum_3, 1u);
      let sum_4 = sum_3 + sg_4;
      if ((lane_of_row == 0u) && (place < same)) {
        y[wg.y * 128256u + row] = bitcast<u32>(sum_4);
      }
    }
  }
}
