#pragma once

#include "base/result.h"
#include "model/config.h"
#include "model/weights.h"

namespace tern {

// Multiplies the scales of the configuration into weights that stand where they act, so that no step knows them:
// residual_scale into the matrices that end each half of a layer, attention_scale into those of q, or their norm's
// gain, logit_scale into the last norm's gain. The embedding's is left to its step: the head may be the same matrix.
// Errors: those of reading a gain.
Result<void> fold_scales(const Config& config, Weights& weights);

}  // namespace tern
