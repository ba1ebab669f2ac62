// Matrices of any float format with random values, and the planes that kernels read.
#pragma once

#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/float/float_linear.h"
#include "backend/gpu/memory/weights/pack.h"
#include "backend/ref/ops.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/gpu/ternary_data.h"
#include "conform/matrix.h"

namespace tern::conform {

inline const std::span<const Format> kFloatFormats = float_row_formats();

// Rows [first, first + count) of a matrix in the device's layout.
struct Planes {
  explicit Planes(const Tensor& w) : Planes(w, 0, w.rows) {}
  Planes(const Tensor& w, int first, int count) : coding(gpu::coding_of(w)) {
    const auto rows = static_cast<uint64_t>(count);
    units.resize(rows * gpu::unit_row_bytes(coding, w.cols) / 4);
    std::vector<float> values(rows * coding.scales_of_row(static_cast<uint32_t>(w.cols)));
    const uint64_t stride = row_bytes(w.format, w.cols);
    gpu::pack_rows(w, coding, w.data.subspan(static_cast<uint64_t>(first) * stride, rows * stride), units, values);
    const size_t n = gpu::words_of_scales(coding, values.size());
    scales.resize(std::max<size_t>(1, n));  // a binding must not be empty
    gpu::pack_scales(coding, values, std::span(scales).first(n));
    EXPECT_EQ(scales.size() * 4, gpu::scale_bytes(coding, rows, w.cols));
  }
  gpu::WeightCoding coding;
  std::vector<uint32_t> units, scales;
};

// The smallest number of columns that a matrix of this format can have.
inline int block_of(Format format) { return std::max(format_info(format).block, 8); }

// Σ |w·x| of every (token, row), with the separately multiplied parts of w added up. Errors of float sums are relative
// to it. [n, rows]
inline std::vector<double> magnitudes(const std::vector<float>& x, int n, const Tensor& w) {
  const auto cols = static_cast<size_t>(w.cols), rows = static_cast<size_t>(w.rows);
  std::vector<double> sums(static_cast<size_t>(n) * rows);
  for (size_t r = 0; r < rows; ++r) {
    const std::vector<double> weights = weight_magnitudes(w, static_cast<int>(r));
    for (size_t t = 0; t < static_cast<size_t>(n); ++t) {
      for (size_t i = 0; i < cols; ++i) {
        sums[t * rows + r] += std::abs(weights[i] * w.scale * x[t * cols + i]);
      }
    }
  }
  return sums;
}

// The largest change of each value by conversion to int8: half a step, which is 1/127 of the largest value of its run.
inline std::vector<float> half_steps(const std::vector<float>& x) {
  std::vector<float> steps(x.size());
  for (size_t first = 0; first < x.size(); first += gpu::kRun) {
    float most = 0;
    for (size_t i = first; i < first + gpu::kRun; ++i) most = std::max(most, std::abs(x[i]));
    for (size_t i = first; i < first + gpu::kRun; ++i) steps[i] = most / 127 * 0.50001f;
  }
  return steps;
}

// All formats for the variants with everything and with nothing; for others one of each kind.
inline std::vector<Format> formats_for(const std::string& variant) {
  if (variant == "everything" || variant == "nothing") return {std::begin(kFloatFormats), std::end(kFloatFormats)};
  return {Format::kF16, Format::kQ4_0, Format::kQ1_0};
}

// All formats on GPUs. A software driver takes seconds to compile each of these kernels, so it gets a format of each
// kind.
inline std::vector<Format> formats_on_matrices(const std::string& variant) {
  const bool few = variant == "default_limits";
  if (gpu::list_adapters()->front().type != gpu::AdapterType::kSoftware) return formats_for(few ? "" : "everything");
  return few ? std::vector{Format::kQ1_0}
             : std::vector{Format::kF16, Format::kQ4_K, Format::kQ4_0, Format::kQ8_0, Format::kQ2_0};
}

// Variants with the features that the matrices need, and without robustness: with it drivers take minutes for these
// kernels.
inline std::vector<Variant> variants_with_matrices() {
  auto some = variants();
  std::erase_if(some, [](const Variant& v) {
    return v.compare_robustness || v.without.f16 || v.without.subgroups || v.without.subgroup_matrix;
  });
  return some;
}

// Weights and activations are rounded to 11 bits, each by at most 2^-11 of its value. Weights below the range of normal
// halves are rounded to multiples of 2^-24. The rest is an ordinary f32 sum.
inline double matrix_error(double terms, double x_sum, int cols) {
  return (0x1p-10 + 0x1p-22 + (cols + 6) * kUlp) * terms + 0x1p-25 * x_sum;
}

// A RowRange as kernels read it.
inline std::vector<uint32_t> range_of(int first, int count) {
  return {static_cast<uint32_t>(first), static_cast<uint32_t>(count), 0, 0};
}

}  // namespace tern::conform
