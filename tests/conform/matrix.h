// Weight matrices of test values.
#pragma once

#include <vector>

#include "conform/conform.h"
#include "model/weights.h"

namespace tern::conform {

// A weight matrix with its bytes behind guards.
struct Matrix {
  Matrix(Format format, int rows, int cols, uint64_t seed) : bytes(tensor_bytes(format, rows, cols), 4) {
    Values values(seed);
    std::vector<float> row(static_cast<size_t>(cols));
    const uint64_t stride = row_bytes(format, cols);
    for (int r = 0; r < rows; ++r) {
      if (format_info(format).is_ternary) {
        for (float& value : row) value = static_cast<float>(values.integer(-1, 1));
      } else {
        values.fill(row);
      }
      const MutableBytes out(reinterpret_cast<std::byte*>(bytes.data()) + static_cast<uint64_t>(r) * stride, stride);
      format_info(format).encode(row, out);
    }
    tensor = {.name = "w",
              .format = format,
              .rows = rows,
              .cols = cols,
              .data = {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()},
              .scale = 0.7f};
  }
  Guarded<unsigned char> bytes;
  Tensor tensor;
};

}  // namespace tern::conform
