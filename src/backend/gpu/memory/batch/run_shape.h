// The shape of a run: all that the host must know about it to choose its dispatches.
#pragma once

#include <cstdint>

namespace tern::gpu {

struct RunShape {
  int n_tokens = 1;
  int n_logit_rows = 1;
  int n_sequences = 1;
  int n_pos = 1;                // positions of the longest sequence after this batch
  bool is_decode_batch = true;  // every slice has one token
  // Workgroups of the megakernel that computes all layers (record/layer_path.h); 0: use one dispatch per step.
  uint32_t megakernel_workgroups = 0;
  int slice_tokens_estimate = 1;  // tokens of the shortest slice, or a quarter of their mean where that is more
  int n_best = 0;                 // only this many of the largest logits of each row are needed (HeadCopy); 0: all
  // embeds_next: this is a step of a single-row stream, which needs the sampled token and that token's row of the
  // embedding table (DeviceSampler), but no logits. is_embedded: the previous step has already written this token's
  // row.
  bool embeds_next = false, is_embedded = false;
  // Every slice has one token, and new states of recurrent layers go to other places than those they continue.
  bool moves_states = false;
};

}  // namespace tern::gpu
