#include <optional>

#include "model/families/family.h"
#include "model/source/source_reader.h"

namespace tern {

// Every second layer has a window, from the first on. llama.cpp rounds the bounds of YaRN's ramp here, which changes
// the results; the model's own code does not.
Result<void> finish_gpt_oss(ModelSource& source, Config& c) {
  constexpr float kLimit = 7;
  const MetadataReader meta(source, c.architecture);
  TRY(const int window, meta.integer("attention.sliding_window", 1 << 24));
  const std::string pattern_key = c.architecture + ".attention.sliding_window_pattern";
  TRY(const auto pattern, source.get_int(pattern_key));
  if (pattern.value_or(2) != 2) {
    return fail(ErrorCode::kNotSupported, "{}: {} is {}, but Tern knows only 2", source.path(), pattern_key, *pattern);
  }
  for (size_t i = 0; i < c.each_layer().size(); i += 2) c.each_layer()[i].window = window;
  c.experts.limit = kLimit;
  c.ropes[0].rounds_ramp = false;
  return {};
}

}  // namespace tern
