#pragma once

#include "base/result.h"
#include "model/source/config.h"
#include "model/source/weights.h"

namespace tern {

// Folds the configuration's scales into weights, so that no step has to apply them: residual_scale into the matrices
// that end each half of a layer, attention_scale into q's matrix or norm gain, logit_scale into the last norm's gain.
// embedding_scale stays with its step, as the output head may be the same matrix. Errors: those of reading a gain.
Result<void> fold_scales(const Config& config, Weights& weights);

}  // namespace tern
