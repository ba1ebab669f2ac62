// The kernels with which Tern runs models (backend/cpu/ops/ops.h), unchanged: int8 activations on two-bit codes in the
// file's order (I2_S), and on ten base-3 digits in 16 bits (TQ1_0, backend/cpu/linear/base3.h). How they work and what
// limits them: backend/cpu/linear/ternary_linear.cc and docs/measurements/cpu.md.
#include <vector>

#include "backend/cpu/linear/base3.h"
#include "backend/cpu/study/int8_row.h"
#include "backend/cpu/study/kernel_rows.h"
#include "backend/cpu/study/two_bit.h"

namespace tern::cpu::study {
namespace {

// Both need rows of whole I2_S blocks.
int64_t padded_cols(int64_t cols) { return two_bit_cols(cols); }

uint64_t i2_s_bytes(int64_t rows, int64_t cols) { return tensor_bytes(Format::kI2_S, rows, padded_cols(cols)); }

uint64_t word_bytes(int64_t rows, int64_t cols) {
  return static_cast<uint64_t>(rows) * cpu::base3_row_bytes(static_cast<size_t>(padded_cols(cols)));
}

void pack_words(const Codes& codes, MutableBytes out) {
  std::vector<uint8_t> padded(static_cast<size_t>(padded_cols(codes.cols)), 1);
  const size_t stride = cpu::base3_row_bytes(padded.size());
  for (int r = 0; r < codes.rows; ++r) {
    const std::span<const int8_t> row = codes.row(r);
    for (size_t i = 0; i < row.size(); ++i) padded[i] = static_cast<uint8_t>(row[i] + 1);
    cpu::base3_encode_row(padded, out.subspan(static_cast<size_t>(r) * stride, stride));
  }
}

uint64_t prepared_bytes(int64_t cols) { return kInt8Header + static_cast<uint64_t>(padded_cols(cols)); }

void engine_prepare(const Packed& w, const float* x, std::byte* out) {
  auto* q = reinterpret_cast<int8_t*>(out) + kInt8Header;
  quantize_row(x, w.cols, q, *reinterpret_cast<Int8Row*>(out));
  std::fill(q + w.cols, q + padded_cols(w.cols), int8_t{0});
}

template <Format kFormat>
void engine_multiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  const auto& in = *reinterpret_cast<const Int8Row*>(prepared);
  const auto* q = reinterpret_cast<const int8_t*>(prepared) + kInt8Header;
  const Tensor tensor{.name = {},
                      .format = kFormat,
                      .rows = w.rows,
                      .cols = static_cast<int>(padded_cols(w.cols)),
                      .data = w.data,
                      .scale = w.scale,
                      .is_rearranged = kFormat == Format::kTQ1_0};
  ternary_linear({.in = {q, &in.scale, &in.sum}, .n = 1, .w = &tensor, .store = ops::Store::kSet, .out = y}, queue);
}

// Makes a Kernel for any layout that ternary_linear takes.
template <Format kFormat>
Kernel engine_kernel(std::string_view name, const Packing& packing, std::string_view what) {
  return {.name = name,
          .packing = packing,
          .activations = Activations::kInt8,
          .is_vectors = true,
          .what = what,
          .prepared_bytes = prepared_bytes,
          .prepare = engine_prepare,
          .multiply = engine_multiply<kFormat>,
          .roundings = nullptr};
}

}  // namespace

Kernel engine_i2_s_kernel() {
  return engine_kernel<Format::kI2_S>("tern I2_S", {"2-bit", i2_s_bytes, pack_two_bit},
                                      "what Tern runs: I2_S as it is in the file");
}

Kernel engine_base3_kernel() {
  return engine_kernel<Format::kTQ1_0>("tern TQ1_0", {"base-3", word_bytes, pack_words, alignof(uint16_t)},
                                       "what Tern runs: TQ1_0 as ten digits in 16 bits");
}

}  // namespace tern::cpu::study
