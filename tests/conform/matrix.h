// Weight matrices of test values.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "base/half.h"
#include "conform/conform.h"
#include "model/source/weights.h"

namespace tern::conform {

// A weight matrix of test values, with guard bytes around its data.
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

// A row of a matrix decoded to floats, without the tensor's scale.
inline std::vector<float> row_of(const Tensor& w, int row) {
  const uint64_t stride = row_bytes(w.format, w.cols);
  std::vector<float> values(static_cast<size_t>(w.cols));
  format_info(w.format).decode(w.data.subspan(static_cast<uint64_t>(row) * stride, stride), values);
  return values;
}
// Encodes `values` as one row into the bytes of its matrix.
inline void put_row(const Tensor& w, MutableBytes bytes, int row, std::span<const float> values) {
  const uint64_t stride = row_bytes(w.format, w.cols);
  format_info(w.format).encode(values, bytes.subspan(static_cast<uint64_t>(row) * stride, stride));
}

// The n-th largest value (NaN aside); with fewer values, the smallest; with none, −∞.
inline float least_of_best(std::span<const float> values, size_t n) {
  std::vector<float> sorted;
  std::ranges::copy_if(values, std::back_inserter(sorted), [](float y) { return !std::isnan(y); });
  std::ranges::sort(sorted, std::greater<>());
  return sorted.empty() ? -std::numeric_limits<float>::infinity() : sorted[std::min(n, sorted.size()) - 1];
}

// For every weight of a row |d·scale·level| + |dmin·min|, or |w| for a format without mins. Rounding errors are
// relative to this where the two parts are multiplied separately. Without the tensor's scale.
inline std::vector<double> weight_magnitudes(const Tensor& w, int row) {
  const FormatInfo& info = format_info(w.format);
  const Bytes bytes =
      w.data.subspan(static_cast<uint64_t>(row) * row_bytes(w.format, w.cols), row_bytes(w.format, w.cols));
  const std::vector<float> values = row_of(w, row);
  std::vector<double> magnitudes(values.size());
  BlockParts parts = {};
  for (size_t i = 0; i < values.size(); ++i) {
    magnitudes[i] = std::abs(static_cast<double>(values[i]));
    if (!info.coding.has_mins) continue;
    const size_t block = i / static_cast<size_t>(info.block), at = i % static_cast<size_t>(info.block);
    if (at == 0) info.unpack(bytes.data() + block * static_cast<size_t>(info.block_bytes), parts);
    const auto group = at / static_cast<size_t>(info.coding.group);
    const double min = f16_to_f32(parts.dmin) * (info.coding.has_scales() ? parts.mins[group] : 1);
    magnitudes[i] = std::abs(values[i] + min) + std::abs(min);
  }
  return magnitudes;
}

}  // namespace tern::conform
