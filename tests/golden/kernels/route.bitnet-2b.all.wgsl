@group(0) @binding(0) var<storage, read> scores: array<f32>;
@group(0) @binding(1) var<storage, read> expert_scale: array<f32>;
@group(0) @binding(2) var<storage, read_write> chosen: array<f32>;
var<workgroup> keys: array<vec4<u32>, 3>;
var<workgroup> best: array<f32, 2>;
var<workgroup> factors: array<f32, 1>;

@compute @workgroup_size(64)
fn route(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let first = wg.y * 10u;
  let out_at = wg.y * 4u;
  for (var quad = tid; quad < 3u; quad += 64u) {
    let i_of_quad = quad * 4u + 0u;
    let i_or_last = min(i_of_quad, 9u);
    let score = scores[first + i_or_last];
    let float_bits = bitcast<u32>(select(score, 0f, score == 0f));
    let key = select(float_bits | 2147483648u, ~float_bits, float_bits >= 2147483648u);
    let key_1 = key;
    let key_or_0 = select(0u, key_1, i_of_quad < 10u);
    let i_of_quad_1 = quad * 4u + 1u;
    let i_or_last_1 = min(i_of_quad_1, 9u);
    let score_1 = scores[first + i_or_last_1];
    let float_bits_1 = bitcast<u32>(select(score_1, 0f, score_1 == 0f));
    let key_2 = select(float_bits_1 | 2147483648u, ~float_bits_1, float_bits_1 >= 2147483648u);
    let key_3 = key_2;
    let key_or_0_1 = select(0u, key_3, i_of_quad_1 < 10u);
    let i_of_quad_2 = quad * 4u + 2u;
    let i_or_last_2 = min(i_of_quad_2, 9u);
    let score_2 = scores[first + i_or_last_2];
    let float_bits_2 = bitcast<u32>(select(score_2, 0f, score_2 == 0f));
    let key_4 = select(float_bits_2 | 2147483648u, ~float_bits_2, float_bits_2 >= 2147483648u);
    let key_5 = key_4;
    let key_or_0_2 = select(0u, key_5, i_of_quad_2 < 10u);
    let i_of_quad_3 = quad * 4u + 3u;
    let i_or_last_3 = min(i_of_quad_3, 9u);
    let score_3 = scores[first + i_or_last_3];
    let float_bits_3 = bitcast<u32>(select(score_3, 0f, score_3 == 0f));
    let key_6 = select(float_bits_3 | 2147483648u, ~float_bits_3, float_bits_3 >= 2147483648u);
    let key_7 = key_6;
    let key_or_0_3 = select(0u, key_7, i_of_quad_3 < 10u);
    keys[quad] = vec4<u32>(key_or_0, key_or_0_1, key_or_0_2, key_or_0_3);
  }
  workgroupBarrier();
  for (var i = tid; i < 10u; i += 64u) {
    let score_4 = scores[first + i];
    let float_bits_4 = bitcast<u32>(select(score_4, 0f, score_4 == 0f));
    let key_8 = select(float_bits_4 | 2147483648u, ~float_bits_4, float_bits_4 >= 2147483648u);
    let key_9 = key_8;
    var before: u32 = 0u;
    for (var quad_1 = 0u; quad_1 < 3u; quad_1 += 1u) {
      let others = keys[quad_1];
      let other = others.x;
      before += select(0u, 1u, (other > key_9) || ((other == key_9) && ((quad_1 * 4u + 0u) < i)));
      let other_1 = others.y;
      before += select(0u, 1u, (other_1 > key_9) || ((other_1 == key_9) && ((quad_1 * 4u + 1u) < i)));
      let other_2 = others.z;
      before += select(0u, 1u, (other_2 > key_9) || ((other_2 == key_9) && ((quad_1 * 4u + 2u) < i)));
      let other_3 = others.w;
      before += select(0u, 1u, (other_3 > key_9) || ((other_3 == key_9) && ((quad_1 * 4u + 3u) < i)));
    }
    let place = before;
    if (place < 2u) {
      chosen[out_at + place] = f32(i);
      best[place] = scores[first + i];
    }
  }
  workgroupBarrier();
  if (tid < 2u) {
    let most = best[0u];
    var sum: f32 = 0f;
    for (var j = 0u; j < 2u; j += 1u) {
      sum += exp(best[j] - most);
    }
    let weight = exp(best[tid] - most) / sum;
    chosen[out_at + 2u + tid] = weight;
  }
}
