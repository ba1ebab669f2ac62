// Base 3, one weight at a time: a digit is v − 3·(v / 3), and v / 3 = (v·171) >> 9 for a byte.
//
// The five digits of a byte depend on each other, but the next bytes do not wait for them. The bottleneck is the number
// of instructions: six per weight. There are five sums, one for each digit.
#include "backend/cpu/study/base3.h"
#include "backend/cpu/study/kernel_rows.h"

namespace tern::cpu::study {
namespace {

constexpr float kBase3Weight[3] = {-1.0f, 0.0f, 1.0f};

// Plane k of x begins at x[k·n_bytes].
float base3_scalar_dot(const uint8_t* bytes, const float* x, size_t n_bytes) {
  float sum[kTrits] = {};
  for (size_t m = 0; m < n_bytes; ++m) {
    uint32_t v = bytes[m];
    for (size_t k = 0; k < kTrits; ++k) {
      const uint32_t rest = third(v);
      sum[k] += kBase3Weight[v - 3 * rest] * x[k * n_bytes + m];
      v = rest;
    }
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]) + sum[4];
}

void base3_scalar_multiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  const auto row_bytes = static_cast<size_t>(base3_row_bytes(w.cols));
  const auto* x = reinterpret_cast<const float*>(prepared);
  queue.for_ranges(w.rows, kRowGrain, [&](int begin, int end) {
    for (int row = begin; row < end; ++row) {
      y[row] = base3_scalar_dot(w.bytes() + static_cast<size_t>(row) * row_bytes, x, row_bytes) * w.scale;
    }
  });
}

// Copies x and pads it with zeros. Its planes are already one after another.
void base3_scalar_prepare(const Packed& w, const float* x, std::byte* out) {
  auto* padded = reinterpret_cast<float*>(out);
  std::copy_n(x, w.cols, padded);
  std::fill(padded + w.cols, padded + kTrits * base3_row_bytes(w.cols), 0.0f);
}

}  // namespace

Kernel base3_scalar_kernel() {
  return {.name = "base3-scalar",
          .packing = kBase3,
          .activations = Activations::kFloat,
          .is_vectors = false,
          .what = "one digit at a time, thirds by multiplication",
          .prepared_bytes =
              [](int64_t cols) { return static_cast<uint64_t>(kTrits * base3_row_bytes(cols)) * sizeof(float); },
          .prepare = base3_scalar_prepare,
          .multiply = base3_scalar_multiply,
          // A chain over a fifth of the row, the sum of the chains, the scale.
          .roundings = [](int64_t cols) { return static_cast<double>(base3_row_bytes(cols)) + 5; }};
}

}  // namespace tern::cpu::study
