#include "quant/ternary.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tern {

float absmean_ternary(std::span<const float> w, std::span<int8_t> codes) {
  CHECK(codes.size() == w.size());
  double sum = 0;  // double: a tensor has tens of millions of weights
  for (const float value : w) sum += std::fabs(value);
  const float mean = w.empty() ? 0.0f : static_cast<float>(sum / static_cast<double>(w.size()));
  const float scale = mean < 1e-5f ? 1e-5f : mean;  // not std::max: a NaN must be kept
  const float inverse = 1.0f / scale;
  for (size_t i = 0; i < w.size(); ++i) {
    const float rounded = std::nearbyint(w[i] * inverse);  // the default rounding mode: half to even
    codes[i] = static_cast<int8_t>((rounded > 0) - (rounded < 0));
  }
  return scale;
}

}  // namespace tern
