// How far predictions are from others of the same text: the part that all comparisons share.
#pragma once

#include "tern/tools.h"
#include "tools/eval_windows.h"

namespace tern {

// A model, and how it keeps keys and values.
struct Predictor {
  const Engine& engine;
  KvType kv_type;
};

// Both read the windows of `text`, which were cut for n_ctx tokens of either. They may be one engine. `on_progress` may
// be empty. kOutOfMemory: there is no room for keys and values of n_ctx tokens; kCorruption: logits that are not
// finite; and what running a model fails with.
Result<Divergence> measure_divergence(const Predictor& model, const Predictor& reference, const EvalText& text,
                                      int n_ctx, const OnProgress& on_progress);

}  // namespace tern
