#include "model/families/family.h"

namespace tern {

// A sliding window (2,047 positions in Phi-3-mini-4k) is part of the model's definition, but llama.cpp and MLC leave it
// out. Up to that many tokens the results are the same.
Result<void> finish_phi3(ModelSource& source, Config& c) {
  TRY(const auto window, source.get_int(c.architecture + ".attention.sliding_window"));
  if (window && *window > 0 && *window < c.n_ctx) {
    for (LayerConfig& layer : c.each_layer()) layer.window = static_cast<int>(*window);
  }
  return {};
}

}  // namespace tern
