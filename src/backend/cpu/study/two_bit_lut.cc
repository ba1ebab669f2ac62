// Two-bit codes by table look-up: a byte is four weights, and a table has their sum for each of the 256 bytes
// (float_lut.h). It takes an eighth of the instructions of the scalar loop; the limit is loading the tables.
#include "backend/cpu/study/float_lut.h"
#include "backend/cpu/study/two_bit.h"

namespace tern::cpu::study {
namespace {

// out[byte] = Σ (code − 1)·x for the four codes of the byte; x[k] belongs to the bits 2k and 2k + 1.
void two_bit_lut_make_table(const float (&x)[4], float* out) {
  out[0] = -(x[0] + x[1] + (x[2] + x[3]));
  for (size_t k = 0, known = 1; k < 4; ++k, known *= 4) {
    for (size_t i = 0; i < known; ++i) out[known + i] = out[i] + x[k];
    for (size_t i = 0; i < 2 * known; ++i) out[2 * known + i] = out[i] + 2 * x[k];
  }
}

void two_bit_lut_prepare(const Packed& w, const float* x, std::byte* out) {
  auto* table = reinterpret_cast<float*>(out);
  const auto cols = static_cast<size_t>(w.cols);
  const auto row_bytes = static_cast<size_t>(two_bit_row_bytes(w.cols));
  for (size_t m = 0; m < row_bytes; ++m, table += kTableFloats) {
    const size_t column = m / kI2sBlockBytes * kI2sBlock + m % kI2sBlockBytes;
    float plane[4];
    for (size_t k = 0; k < 4; ++k) {
      const size_t at = column + 32 * (3 - k);
      plane[k] = at < cols ? x[at] : 0.0f;
    }
    two_bit_lut_make_table(plane, table);
  }
}

void two_bit_lut_multiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  multiply_by_tables(w, static_cast<size_t>(two_bit_row_bytes(w.cols)), reinterpret_cast<const float*>(prepared), queue,
                     y);
}

}  // namespace

Kernel two_bit_lut_kernel() {
  return {
      .name = "2bit-lut",
      .packing = kTwoBit,
      .activations = Activations::kFloat,
      .is_vectors = false,
      .what = "a table of 256 sums for every four columns",
      .prepared_bytes =
          [](int64_t cols) { return static_cast<uint64_t>(two_bit_row_bytes(cols)) * kTableFloats * sizeof(float); },
      .prepare = two_bit_lut_prepare,
      .multiply = two_bit_lut_multiply,
      // An entry: three additions at the start and up to two for each code, on sums of up to three times Σ|x|.
      .roundings = [](int64_t cols) { return table_roundings(two_bit_row_bytes(cols), 3 * (3 + 8)); }};
}

}  // namespace tern::cpu::study
