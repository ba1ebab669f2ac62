// Quantized rows of test values, in the form that the ternary layers take.
#pragma once

#include "backend/ops.h"
#include "conform/conform.h"

namespace tern::conform {

struct Int8Input {
  Int8Input(int n, int width, uint64_t seed)
      : q(static_cast<size_t>(n * width), 1), scale(static_cast<size_t>(n)), sum(static_cast<size_t>(n)) {
    Values values(seed);
    for (int r = 0; r < n; ++r) {
      scale[static_cast<size_t>(r)] = 1.0f + static_cast<float>(values.integer(1, 1000));
      for (int i = 0; i < width; ++i) {
        // Rows of extreme values come first: their sums need more than 16 bits.
        const int value = r == 0 ? -128 : r == 1 ? 127 : values.integer(-128, 127);
        q[static_cast<size_t>(r * width + i)] = static_cast<int8_t>(value);
        sum[static_cast<size_t>(r)] += value;
      }
    }
  }
  ops::QuantizedRows view() const { return {q.data(), scale.data(), sum.data()}; }
  Guarded<int8_t> q;
  Guarded<float> scale;
  Guarded<int32_t> sum;
};

}  // namespace tern::conform
