@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> taps: array<f32>;
@group(0) @binding(2) var<storage, read> sequences: array<u32>;
@group(0) @binding(3) var<storage, read> state: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(128)
fn causal_conv(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {
  let number = sequences[wg.y + 320u];
  let first = sequences[number * 5u + 0u];
  let n = sequences[number * 5u + 1u];
  let state_at = sequences[number * 5u + 2u] * 7104u;
  let to_state = sequences[number * 5u + 3u] * 7104u;
  let is_new = sequences[number * 5u + 4u] != 0u;
  let row = wg.y - first;
  let column = wg.x * 128u + tid;
  if (column < 320u) {
    var sum: f32 = 0f;
    let tap = taps[column * 4u + 0u];
    if (row >= 3u) {
      let at = (wg.y - 3u) * 320u + column;
      sum += tap * x[at];
    } else {
      if (!is_new) {
        let kept = row + 0u;
        let at_1 = state_at + 6144u + kept * 320u + column;
        sum += tap * state[at_1];
      }
    }
    let tap_1 = taps[column * 4u + 1u];
    if (row >= 2u) {
      let at_2 = (wg.y - 2u) * 320u + column;
      sum += tap_1 * x[at_2];
    } else {
      if (!is_new) {
        let kept_1 = row + 1u;
        let at_3 = state_at + 6144u + kept_1 * 320u + column;
        sum += tap_1 * state[at_3];
      }
    }
    let tap_2 = taps[column * 4u + 2u];
    if (row >= 1u) {
      let at_4 = (wg.y - 1u) * 320u + column;
      sum += tap_2 * x[at_4];
    } else {
      if (!is_new) {
        let kept_2 = row + 2u;
        let at_5 = state_at + 6144u + kept_2 * 320u + column;
        sum += tap_2 * state[at_5];
      }
    }
    let tap_3 = taps[column * 4u + 3u];
    if (row >= 0u) {
      let at_6 = (wg.y - 0u) * 320u + column;
      sum += tap_3 * x[at_6];
    } else {
      if (!is_new) {
        let kept_3 = row + 3u;
        let at_7 = state_at + 6144u + kept_3 * 320u + column;
        sum += tap_3 * state[at_7];
      }
    }
    let v = sum;
    y[wg.y * 320u + column] = v / (1f + exp(-v));
  }
}
