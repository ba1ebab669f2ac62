#include "quant/block_format.h"

#include "base/half.h"

namespace tern {

void values_of(const Coding& coding, const BlockParts& parts, std::span<float> values) {
  const float d = coding.d(parts.d), dmin = f16_to_f32(parts.dmin);
  const auto group = static_cast<size_t>(coding.group);
  for (size_t g = 0; g * group < values.size(); ++g) {
    const float scale = coding.has_scales() ? d * static_cast<float>(parts.scales[g]) : d;
    const float min = coding.has_scales() ? dmin * static_cast<float>(parts.mins[g]) : dmin;
    for (size_t i = g * group; i < (g + 1) * group; ++i) {
      const float value = scale * static_cast<float>(coding.level(parts.codes[i]));
      values[i] = coding.has_mins ? value - min : value;
    }
  }
}

}  // namespace tern
