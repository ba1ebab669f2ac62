#include <algorithm>
#include <functional>

#include "model/families/family.h"
#include "model/source/source_reader.h"

namespace tern {
namespace {

constexpr std::string_view kPattern = ".attention.sliding_window_pattern", kLimits = ".swiglu_clamp_exp";

Result<void> set_windows(ModelSource& source, Config& c) {
  constexpr int kUsualPeriod = 4;
  const MetadataReader meta(source, c.architecture);
  TRY(const int window, meta.integer("attention.sliding_window", 1 << 24));
  TRY(const auto pattern, source.get_ints(c.architecture + std::string(kPattern)));
  if (pattern && pattern->size() != static_cast<size_t>(c.n_layers)) {
    return fail(ErrorCode::kCorruption, "{}: {}{} has {} values, but the model has {} layers; convert the model again",
                source.path(), c.architecture, kPattern, pattern->size(), c.n_layers);
  }
  for (size_t i = 0; i < static_cast<size_t>(c.n_layers); ++i) {
    const bool has_window = pattern ? (*pattern)[i] != 0 : (i + 1) % kUsualPeriod != 0;
    LayerConfig& layer = c.each_layer()[i];
    layer.window = has_window ? window : 0;
    layer.rope = has_window ? 0 : kNoRope;
  }
  return {};
}

Result<void> set_limit(const ModelSource& source, Config& c) {
  const std::string key = c.architecture + std::string(kLimits);
  TRY(const auto limits, source.get_floats(key));
  if (!limits) return {};
  if (limits->empty() || std::ranges::adjacent_find(*limits, std::not_equal_to()) != limits->end() ||
      !(limits->front() > 0)) {
    return fail(ErrorCode::kNotSupported,
                "{}: {} has different values; Tern computes one positive bound for all layers", source.path(), key);
  }
  c.experts.limit = limits->front();
  return {};
}

}  // namespace

// Layers with a window rotate; those that see everything do not.
Result<void> finish_maple(ModelSource& source, Config& c) {
  TRY_STATUS(set_windows(source, c));
  return set_limit(source, c);
}

}  // namespace tern
