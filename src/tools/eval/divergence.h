// Compares predictions for one text with reference predictions; shared by all such comparisons.
#pragma once

#include "tern/tools.h"
#include "tools/eval/eval_windows.h"

namespace tern {

// A model and the type of its KV cache.
struct Predictor {
  const Engine& engine;
  KvType kv_type;
};

// Runs both on the windows of `text`, which were cut for n_ctx tokens. Both may use one engine. `on_progress` may be
// empty. kOutOfMemory: a KV cache of n_ctx tokens does not fit; kCorruption: logits that are not finite; also errors of
// running a model.
Result<Divergence> measure_divergence(const Predictor& model, const Predictor& reference, const EvalText& text,
                                      int n_ctx, const OnProgress& on_progress);

}  // namespace tern
