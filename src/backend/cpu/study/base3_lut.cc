// Base 3 by table look-up: a byte is five weights, and a table has their sum for each of the 243 bytes that occur
// (float_lut.h). Nothing is unpacked, so the packing costs nothing: a byte is one load, as with two-bit codes, but has
// one weight more.
#include "backend/cpu/study/base3.h"
#include "backend/cpu/study/float_lut.h"

namespace tern::cpu::study {
namespace {

// out[v] = Σ (digit − 1)·x for the digits of v.
void base3_lut_make_table(const float (&x)[kTrits], float* out) {
  out[0] = -((x[0] + x[1]) + (x[2] + x[3]) + x[4]);
  for (size_t k = 0, known = 1; k < kTrits; ++k, known *= 3) {
    for (size_t i = 0; i < known; ++i) {
      out[known + i] = out[i] + x[k];
      out[2 * known + i] = out[i] + 2 * x[k];
    }
  }
  std::fill(out + kBase3Values, out + kTableFloats, 0.0f);
}

void base3_lut_prepare(const Packed& w, const float* x, std::byte* out) {
  auto* table = reinterpret_cast<float*>(out);
  const auto cols = static_cast<size_t>(w.cols);
  const auto row_bytes = static_cast<size_t>(base3_row_bytes(w.cols));
  for (size_t m = 0; m < row_bytes; ++m, table += kTableFloats) {
    float digit[kTrits];
    for (size_t k = 0; k < kTrits; ++k) {
      const size_t at = k * row_bytes + m;
      digit[k] = at < cols ? x[at] : 0.0f;
    }
    base3_lut_make_table(digit, table);
  }
}

void base3_lut_multiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  multiply_by_tables(w, static_cast<size_t>(base3_row_bytes(w.cols)), reinterpret_cast<const float*>(prepared), queue,
                     y);
}

}  // namespace

Kernel base3_lut_kernel() {
  return {.name = "base3-lut",
          .packing = kBase3,
          .activations = Activations::kFloat,
          .is_vectors = false,
          .what = "a table of 243 sums for every five columns",
          .prepared_bytes =
              [](int64_t cols) { return static_cast<uint64_t>(base3_row_bytes(cols)) * kTableFloats * sizeof(float); },
          .prepare = base3_lut_prepare,
          .multiply = base3_lut_multiply,
          // An entry: four additions at the start and one for each digit, on sums of up to three times Σ|x|.
          .roundings = [](int64_t cols) { return table_roundings(base3_row_bytes(cols), 3 * (4 + 5)); }};
}

}  // namespace tern::cpu::study
