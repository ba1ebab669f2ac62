// Matrices of any float format with random values, and the planes in which kernels read them.
#pragma once

#include <vector>

#include "backend/gpu/pack.h"
#include "backend/ref/ops.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/ternary_data.h"

namespace tern::conform {

inline constexpr Format kFloatFormats[] = {Format::kF32,   Format::kF16,   Format::kBF16, Format::kQ8_0,
                                           Format::kQ4_0,  Format::kQ6_K,  Format::kQ1_0, Format::kQ2_0,
                                           Format::kPQ2_0, Format::kTQ1_0, Format::kTQ2_0};

// Rows [first, first + count) of a matrix as a device holds them.
struct Planes {
  explicit Planes(const Tensor& w) : Planes(w, 0, w.rows) {}
  Planes(const Tensor& w, int first, int count) : coding(gpu::coding_of(w)) {
    const auto rows = static_cast<uint64_t>(count);
    units.resize(rows * gpu::unit_row_bytes(coding, w.cols) / 4);
    std::vector<float> values(coding.group == 0 ? 0 : rows * static_cast<uint64_t>(w.cols) / coding.group);
    const uint64_t stride = row_bytes(w.format, w.cols);
    gpu::pack_rows(w, coding, w.data.subspan(static_cast<uint64_t>(first) * stride, rows * stride), units, values);
    scales = gpu::pack_scales(coding, values);
    EXPECT_EQ(scales.size() * 4, gpu::scale_bytes(coding, rows, w.cols));
  }
  gpu::WeightCoding coding;
  std::vector<uint32_t> units, scales;
};

// The least number of columns that a format can have.
inline int block_of(Format format) { return std::max(format_info(format).block, 8); }

// Σ |w·x| of every (token, row): what the errors of a float sum are measured by. [n, rows]
inline std::vector<double> magnitudes(const std::vector<float>& x, int n, const Tensor& w) {
  const auto cols = static_cast<size_t>(w.cols), rows = static_cast<size_t>(w.rows);
  std::vector<double> sums(static_cast<size_t>(n) * rows);
  std::vector<float> weights(cols);
  for (size_t r = 0; r < rows; ++r) {
    const uint64_t stride = row_bytes(w.format, w.cols);
    format_info(w.format).decode(w.data.subspan(r * stride, stride), weights);
    for (size_t t = 0; t < static_cast<size_t>(n); ++t) {
      for (size_t i = 0; i < cols; ++i) {
        sums[t * rows + r] += std::abs(static_cast<double>(weights[i]) * w.scale * x[t * cols + i]);
      }
    }
  }
  return sums;
}

}  // namespace tern::conform
