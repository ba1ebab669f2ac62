#include "tools/random_values.h"

#include "base/check.h"

namespace tern {

void fill_ternary(CounterRandom random, std::span<float> values) {
  CHECK(values.size() % 8 == 0);
  for (size_t i = 0; i < values.size() / 8; ++i) {
    const uint64_t bits = random(i);
    for (size_t j = 0; j < 8; ++j) {
      const auto byte = static_cast<uint8_t>(bits >> (8 * j));
      values[i * 8 + j] = static_cast<float>((byte >= 96) - 2 * (byte >= 176));
    }
  }
}

void fill_normal(CounterRandom random, float mean, float deviation, std::span<float> values) {
  // The sum of four uniform integers in [0, 65535] has mean 131070 and variance 4 · (65536² − 1)/12.
  constexpr float kMean = 131070.0f;
  constexpr float kDeviation = 37837.2271f;
  const float factor = deviation / kDeviation;
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t bits = random(i);
    const uint64_t pairs = (bits & 0x0000FFFF0000FFFFu) + ((bits >> 16) & 0x0000FFFF0000FFFFu);
    const auto sum = static_cast<int32_t>((pairs & 0xFFFFFFFFu) + (pairs >> 32));
    values[i] = mean + (static_cast<float>(sum) - kMean) * factor;
  }
}

}  // namespace tern
