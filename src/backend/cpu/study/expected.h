// The expected result of a product, and the check of a kernel's result against it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backend/cpu/study/study.h"

namespace tern::cpu::study {

struct Expected {
  std::vector<double> exact;  // scale · Σ w·x, in double
  std::vector<float> int8;    // on quantized activations, from integers: bit for bit what int8 kernels give
  double magnitude = 0;       // scale · Σ|x|
};

// Plain loops over `codes`; x has codes.cols finite values.
Expected expect(const Codes& codes, float scale, std::span<const float> x, ThreadPool& pool);

struct Verdict {
  double max_error = 0;        // largest error of any row, against Expected::exact
  std::optional<int> bad_row;  // the first row off by more than the kernel's bound; int8: that is not Expected::int8
};

Verdict judge(const Kernel& kernel, const Expected& expected, int64_t cols, std::span<const float> y);

}  // namespace tern::cpu::study
