@group(0) @binding(0) var<storage, read_write> sequences: array<u32>;

@compute @workgroup_size(64)
fn turn_states(@builtin(local_invocation_index) tid: u32) {
  let at = tid * 5u;
  let from_state = sequences[at + 2u];
  let to_state = sequences[at + 3u];
  sequences[at + 2u] = to_state;
  sequences[at + 3u] = from_state;
  sequences[at + 4u] = 0u;
}
