// Ternary matrices and int8 rows, for the host's reference and packed for the kernels.
#pragma once

#include <bit>
#include <cstring>
#include <vector>

#include "backend/gpu/kernels/common.h"
#include "backend/ops.h"
#include "conform/values.h"
#include "model/source/weights.h"

namespace tern::conform {

// The scales of up to three matrices that a kernel reads as one.
inline const std::vector<float> kSplitScales = {0.7f, 1.3f, 0.4f, 0};

// A [rows, cols] matrix of the given format with random values; ternary formats get all three codes.
struct WeightMatrix {
  WeightMatrix(Format format, int rows, int cols, uint64_t seed, float scale = 1.0f)
      : bytes(tensor_bytes(format, rows, cols)) {
    Values values(seed);
    std::vector<float> row(static_cast<size_t>(cols));
    const uint64_t stride = row_bytes(format, cols);
    for (int r = 0; r < rows; ++r) {
      values.fill(row);
      if (format_info(format).is_ternary) {
        for (float& value : row) value = static_cast<float>(values.integer(-1, 1));
      }
      format_info(format).encode(row, MutableBytes(bytes).subspan(static_cast<uint64_t>(r) * stride, stride));
    }
    tensor = {.name = "w", .format = format, .rows = rows, .cols = cols, .data = bytes, .scale = scale};
  }
  // Rows [first, first + count) in the device's layout, without the data after the last row.
  std::vector<std::byte> device_rows(int first, int count) const {
    const auto stride = static_cast<ptrdiff_t>(row_bytes(tensor.format, tensor.cols));
    return {bytes.begin() + first * stride, bytes.begin() + (first + count) * stride};
  }
  std::vector<std::byte> device_rows() const { return device_rows(0, tensor.rows); }
  std::vector<std::byte> bytes;
  Tensor tensor;
};

// [n, width] int8 rows with scales and sums.
struct Int8Rows {
  Int8Rows(int n_rows, int row_width)
      : n(n_rows),
        width(row_width),
        q(static_cast<size_t>(n * width)),
        scale(static_cast<size_t>(n)),
        sum(static_cast<size_t>(n)) {}

  // Rows 1 and 2 have only extreme values, whose sums need more than 16 bits.
  static Int8Rows random(int n, int width, uint64_t seed) {
    Int8Rows rows(n, width);
    Values values(seed);
    for (int r = 0; r < n; ++r) {
      rows.scale[static_cast<size_t>(r)] = static_cast<float>(values.integer(1, 1000)) / 7;
      for (int i = 0; i < width; ++i) {
        const int value = r == 1 ? 127 : r == 2 ? -128 : values.integer(-128, 127);
        rows.q[static_cast<size_t>(r * width + i)] = static_cast<int8_t>(value);
        rows.sum[static_cast<size_t>(r)] += value;
      }
    }
    return rows;
  }

  // The kernels' layout (kernels/common.h), filled with poison.
  static std::vector<uint32_t> blank(int n, int width);
  std::vector<uint32_t> packed() const {
    std::vector<uint32_t> words = blank(n, width);
    const size_t stride = words_per_row();
    for (size_t r = 0; r < scale.size(); ++r) {
      uint32_t* row = words.data() + r * stride;
      std::memcpy(row, q.data() + r * static_cast<size_t>(width), static_cast<size_t>(width));
      row[meta()] = std::bit_cast<uint32_t>(scale[r]);
      row[meta() + 1] = std::bit_cast<uint32_t>(sum[r]);
    }
    return words;
  }
  static Int8Rows unpacked(const std::vector<uint32_t>& words, int n, int width) {
    Int8Rows rows(n, width);
    for (size_t r = 0; r < rows.scale.size(); ++r) {
      const uint32_t* row = words.data() + r * rows.words_per_row();
      std::memcpy(rows.q.data() + r * static_cast<size_t>(width), row, static_cast<size_t>(width));
      rows.scale[r] = std::bit_cast<float>(row[rows.meta()]);
      rows.sum[r] = std::bit_cast<int32_t>(row[rows.meta() + 1]);
    }
    return rows;
  }

  size_t meta() const { return size_t{4} * gpu::quantized_meta(static_cast<uint32_t>(width)); }  // in words
  size_t words_per_row() const { return gpu::quantized_row_bytes(static_cast<uint32_t>(width)) / 4; }
  ops::QuantizedRows view() const { return {q.data(), scale.data(), sum.data()}; }
  ops::MutableQuantizedRows mutable_view() { return {q.data(), scale.data(), sum.data()}; }

  int n, width;
  std::vector<int8_t> q;
  std::vector<float> scale;
  std::vector<int32_t> sum;
};

// The exact Σ w·q of every (token, row). [n, rows]
inline std::vector<int64_t> exact_dots(const Int8Rows& x, const Tensor& w) {
  std::vector<int64_t> dots;
  std::vector<float> row(static_cast<size_t>(w.cols));
  std::vector<float> weights;
  const uint64_t stride = row_bytes(w.format, w.cols);
  for (int r = 0; r < w.rows; ++r) {
    format_info(w.format).decode(w.data.subspan(static_cast<uint64_t>(r) * stride, stride), row);
    weights.insert(weights.end(), row.begin(), row.end());
  }
  for (int t = 0; t < x.n; ++t) {
    for (int r = 0; r < w.rows; ++r) {
      int64_t dot = 0;
      for (int i = 0; i < w.cols; ++i) {
        dot += static_cast<int64_t>(weights[static_cast<size_t>(r * w.cols + i)]) *
               x.q[static_cast<size_t>(t * w.cols + i)];
      }
      dots.push_back(dot);
    }
  }
  return dots;
}

inline std::vector<uint32_t> Int8Rows::blank(int n, int width) {
  constexpr uint32_t kFiller = 0x7FE5A5A5;
  return std::vector<uint32_t>(static_cast<size_t>(n) * gpu::quantized_row_bytes(static_cast<uint32_t>(width)) / 4,
                               kFiller);
}

}  // namespace tern::conform
