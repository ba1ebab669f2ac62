@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> sequences: array<u32>;
@group(0) @binding(2) var<storage, read_write> state: array<f32>;

@compute @workgroup_size(128)
fn keep_columns(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let number = wg.y;
  let first = sequences[number * 5u + 0u];
  let n = sequences[number * 5u + 1u];
  let state_at = sequences[number * 5u + 2u] * 7104u;
  let to_state = sequences[number * 5u + 3u] * 7104u;
  let is_new = sequences[number * 5u + 4u] != 0u;
  let column = wg.x * 128u + tid;
  if (column < 320u) {
    let columns = state_at + 6144u + column;
    let to_columns = to_state + 6144u + column;
    let source = n + 0u;
    var value: f32 = 0f;
    if (source >= 3u) {
      let at = (first + source - 3u) * 320u + column;
      value = x[at];
    } else {
      if (!is_new) {
        value = state[columns + source * 320u];
      }
    }
    state[to_columns + 0u] = value;
    let source_1 = n + 1u;
    var value_1: f32 = 0f;
    if (source_1 >= 3u) {
      let at_1 = (first + source_1 - 3u) * 320u + column;
      value_1 = x[at_1];
    } else {
      if (!is_new) {
        value_1 = state[columns + source_1 * 320u];
      }
    }
    state[to_columns + 320u] = value_1;
    let source_2 = n + 2u;
    var value_2: f32 = 0f;
    if (source_2 >= 3u) {
      let at_2 = (first + source_2 - 3u) * 320u + column;
      value_2 = x[at_2];
    } else {
      if (!is_new) {
        value_2 = state[columns + source_2 * 320u];
      }
    }
    state[to_columns + 640u] = value_2;
  }
}
