@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(3) var<storage, read_write> ids: array<u32>;
@group(0) @binding(4) var<storage, read_write> params: array<u32>;

@compute @workgroup_size(1)
fn argmax_next(@builtin(local_invocation_index) tid: u32) {
  var value: f32 = -3.4e+38f;
  var index: u32 = 4294967295u;
  for (var i = 0u; i < 64u; i += 1u) {
    let other = values[i];
    let at_i = indices[i];
    if ((other > value) || ((other == value) && (at_i < index))) {
      value = other;
      index = at_i;
    }
  }
  let winner = index;
  let token = select(winner, 0u, winner == 4294967295u);
  let step_now = params[3u];
  tokens[0u] = token;
  ids[step_now % 64u] = token;
  params[3u] = step_now + 1u;
  params[0u] += 1u;
}
