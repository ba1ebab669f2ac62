#include "backend/cpu/study/expected.h"

#include <cmath>

#include "backend/cpu/study/int8_row.h"
#include "base/check.h"

namespace tern::cpu::study {

Expected expect(const Codes& codes, float scale, std::span<const float> x, ThreadPool& pool) {
  CHECK(x.size() == static_cast<size_t>(codes.cols));
  Expected expected{.exact = std::vector<double>(static_cast<size_t>(codes.rows)),
                    .int8 = std::vector<float>(static_cast<size_t>(codes.rows))};
  std::vector<int8_t> q(x.size());
  Int8Row row{};
  quantize_row(x.data(), codes.cols, q.data(), row);
  for (const float value : x) expected.magnitude += std::abs(static_cast<double>(value));
  expected.magnitude *= std::abs(static_cast<double>(scale));
  std::atomic<int> next = 0;
  pool.run([&](int) {
    WorkQueue queue(next, pool.size(), {});
    queue.for_ranges(codes.rows, 16, [&](int begin, int end) {
      for (int r = begin; r < end; ++r) {
        const std::span<const int8_t> weights = codes.row(r);
        double sum = 0;
        int32_t dot = 0;
        for (size_t i = 0; i < weights.size(); ++i) {
          sum += weights[i] * static_cast<double>(x[i]);
          dot += weights[i] * q[i];
        }
        expected.exact[static_cast<size_t>(r)] = static_cast<double>(scale) * sum;
        expected.int8[static_cast<size_t>(r)] = int8_result(dot, row, scale);
      }
    });
  });
  return expected;
}

Verdict judge(const Kernel& kernel, const Expected& expected, int64_t cols, std::span<const float> y) {
  CHECK(y.size() == expected.exact.size());
  Verdict verdict;
  const double bound =
      kernel.activations == Activations::kInt8
          ? 0
          : kernel.roundings(cols) * 0x1p-24 * expected.magnitude + static_cast<double>(cols) * 0x1p-140;
  for (size_t r = 0; r < y.size(); ++r) {
    const double error = std::abs(static_cast<double>(y[r]) - expected.exact[r]);
    const bool good = kernel.activations == Activations::kInt8 ? y[r] == expected.int8[r] : error <= bound;
    if (!good && !verdict.bad_row) verdict.bad_row = static_cast<int>(r);
    if (!(error <= verdict.max_error) && !std::isnan(verdict.max_error)) verdict.max_error = error;
  }
  return verdict;
}

}  // namespace tern::cpu::study
