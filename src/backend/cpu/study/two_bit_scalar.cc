// Two-bit codes, one at a time: shift, mask, look up −1, 0 or +1, multiply, add. No branch depends on a weight, because
// a third of the branches would be mispredicted.
//
// Four sums, one for each plane of a block, keep four chains of additions going. Each step of a chain takes the latency
// of an addition, so four weights take 3 or 4 cycles. That is the bottleneck.
#include "backend/cpu/study/kernel_rows.h"
#include "backend/cpu/study/two_bit.h"

namespace tern::cpu::study {
namespace {

constexpr float kTwoBitWeight[4] = {-1.0f, 0.0f, 1.0f, 0.0f};

float two_bit_scalar_dot(const uint8_t* codes, const float* x, size_t n_bytes) {
  float sum[4] = {};
  for (size_t block = 0; block < n_bytes; block += kI2sBlockBytes, x += kI2sBlock) {
    for (size_t p = 0; p < kI2sBlockBytes; ++p) {
      const uint32_t code = codes[block + p];
      sum[0] += kTwoBitWeight[code >> 6] * x[p];
      sum[1] += kTwoBitWeight[code >> 4 & 3] * x[p + 32];
      sum[2] += kTwoBitWeight[code >> 2 & 3] * x[p + 64];
      sum[3] += kTwoBitWeight[code & 3] * x[p + 96];
    }
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void two_bit_scalar_multiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  const auto row_bytes = static_cast<size_t>(two_bit_row_bytes(w.cols));
  const auto* x = reinterpret_cast<const float*>(prepared);
  queue.for_ranges(w.rows, kRowGrain, [&](int begin, int end) {
    for (int row = begin; row < end; ++row) {
      y[row] = two_bit_scalar_dot(w.bytes() + static_cast<size_t>(row) * row_bytes, x, row_bytes) * w.scale;
    }
  });
}

// Copies x and pads it with zeros.
void two_bit_scalar_prepare(const Packed& w, const float* x, std::byte* out) {
  auto* padded = reinterpret_cast<float*>(out);
  std::copy_n(x, w.cols, padded);
  std::fill(padded + w.cols, padded + two_bit_cols(w.cols), 0.0f);
}

}  // namespace

Kernel two_bit_scalar_kernel() {
  return {.name = "2bit-scalar",
          .packing = kTwoBit,
          .activations = Activations::kFloat,
          .is_vectors = false,
          .what = "one weight at a time, no branches",
          .prepared_bytes = [](int64_t cols) { return static_cast<uint64_t>(two_bit_cols(cols)) * sizeof(float); },
          .prepare = two_bit_scalar_prepare,
          .multiply = two_bit_scalar_multiply,
          // A chain over a quarter of the (padded) row, the sum of the chains, the scale.
          .roundings = [](int64_t cols) { return static_cast<double>(two_bit_cols(cols)) / 4 + 4; }};
}

}  // namespace tern::cpu::study
