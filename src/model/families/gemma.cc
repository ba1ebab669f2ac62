#include <cmath>

#include "model/families/family.h"
#include "model/source/source_reader.h"

namespace tern {
namespace {

// Files do not contain the embedding's factor. For the largest models they also do not say that attention is scaled by
// d_model / n_heads rather than by head_dim. llama.cpp recognizes these by their number of layers.
Result<void> set_scales(const ModelSource& source, Config& c, int layers_of_largest) {
  if (c.embedding_scale == 1) c.embedding_scale = std::sqrt(static_cast<float>(c.d_model));
  if (c.attention_scale != 0 || c.n_layers != layers_of_largest) return {};
  if (c.layers_differ(&LayerConfig::n_heads)) {
    return fail(ErrorCode::kNotSupported,
                "{}: attention.head_count differs from layer to layer, so attention.scale cannot follow from "
                "it; convert the model again, with the key attention.scale",
                source.path());
  }
  c.attention_scale = 1 / std::sqrt(static_cast<float>(c.d_model) / static_cast<float>(c.n_heads));
  return {};
}

// The last layer of every `period` attends to everything. The others have a window and rotate by ropes[local_rope]. A
// window of 0 means no window: all layers attend to everything and rotate alike, as in llama.cpp and in another maker's
// models (Rnj-1).
Result<void> set_layers(ModelSource& source, Config& c, int usual_period, int local_rope) {
  const MetadataReader meta(source, c.architecture);
  TRY(const int period, meta.integer("attention.sliding_window_pattern", 1 << 20, usual_period));
  TRY(const auto declared, source.get_int(c.architecture + ".attention.sliding_window"));
  if (declared == 0) return {};
  TRY(const int window, meta.integer("attention.sliding_window", 1 << 24));
  int number = 0;
  for (LayerConfig& layer : c.each_layer()) {
    if (++number % period == 0) continue;
    layer.window = window;
    layer.rope = local_rope;
  }
  return {};
}

}  // namespace

Result<void> finish_gemma2(ModelSource& source, Config& c) {
  constexpr int kLayersOf27b = 46;
  TRY_STATUS(set_scales(source, c, kLayersOf27b));
  return set_layers(source, c, 2, 0);
}

// Layers with a window rotate as in the first training, without the scaling for long contexts.
Result<void> finish_gemma3(ModelSource& source, Config& c) {
  constexpr int kLayersOf27b = 62;
  TRY_STATUS(set_scales(source, c, kLayersOf27b));
  const MetadataReader meta(source, c.architecture);
  RopeParams local;
  local.pairs = c.ropes[0].pairs;
  TRY(local.theta, meta.positive("rope.freq_base_swa", 10000.0));
  c.ropes.push_back(std::move(local));
  return set_layers(source, c, 6, 1);
}

}  // namespace tern
