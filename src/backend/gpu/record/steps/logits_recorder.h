// The head, other than as a float layer like any other: for several rows of logits in tiles, and with its int8 copy,
// which gives only the best logits of a few rows.
#pragma once

#include "backend/gpu/record/steps/float_inputs.h"

namespace tern::gpu {

// The base class records nothing. A tab has few rows of logits, and no memory for a second copy of the head.
class LogitsRecorder {
 public:
  virtual ~LogitsRecorder() = default;

  // The head in tiles; false if this device or format has no such kernel.
  virtual Result<bool> in_tiles(const FloatMatrix&, const Tensor& /*w*/, SlotId /*in*/, const step::FloatNormOnRead&,
                                SlotId /*out*/) {
    return false;
  }
  // The best logits, found with the head's copy.
  virtual Result<void> best_logits(const step::FloatLinear&) { return {}; }
};

}  // namespace tern::gpu
