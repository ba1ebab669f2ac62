#include "backend/cpu/study/study.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "backend/cpu/ops/ops.h"
#include "backend/cpu/study/kernel_rows.h"
#include "backend/cpu/study/two_bit.h"
#include "base/check.h"

namespace tern::cpu::study {
namespace {

bool all_finite(std::span<const float> x) {
  constexpr uint32_t kExponent = 0x7F800000;
  uint32_t not_finite = 0;
  for (const float value : x) {
    not_finite |= static_cast<uint32_t>((std::bit_cast<uint32_t>(value) & kExponent) == kExponent);
  }
  return not_finite == 0;
}

}  // namespace

std::span<const Kernel> kernels() {
  // clang-format off: one a line
  static const std::array kTable = {
      f32_kernel(),
      two_bit_scalar_kernel(),
      two_bit_float_kernel(),
      two_bit_lut_kernel(),
      base3_scalar_kernel(),
      base3_lut_kernel(),
      base3_int8_kernel(),
      tmac_int8_kernel(),
      engine_i2_s_kernel(),
      engine_base3_kernel(),
  };
  // clang-format on
  return kTable;
}

Result<Multiplier> Multiplier::create(ThreadPool& pool, int64_t cols) {
  uint64_t bytes = 0;
  for (const Kernel& kernel : kernels()) bytes = std::max(bytes, kernel.prepared_bytes(cols));
  TRY(HostMemory prepared, HostMemory::allocate(bytes, "the activations as a kernel prepares them"));
  prepared.advise_huge_pages();
  return Multiplier(pool, std::move(prepared), ternary_scratch(static_cast<int>(two_bit_cols(cols))));
}

Multiplier::Multiplier(ThreadPool& pool, HostMemory prepared, size_t scratch_floats)
    : pool_(pool),
      prepared_(std::move(prepared)),
      scratch_(static_cast<size_t>(pool.size()), Scratch(scratch_floats)) {}

void Multiplier::multiply_with(const Kernel& kernel, const Packed& w, std::span<const float> x, std::span<float> y) {
  CHECK(x.size() == static_cast<size_t>(w.cols) && y.size() == static_cast<size_t>(w.rows));
  CHECK(kernel.prepared_bytes(w.cols) <= prepared_.bytes());
  std::atomic<int> next = 0;
  bool finite = true;
  pool_.run([&](int worker) {
    if (worker == 0) {
      finite = all_finite(x);
      if (finite) kernel.prepare(w, x.data(), prepared_.data());
    }
    pool_.barrier();
    WorkQueue queue(next, pool_.size(), scratch_[static_cast<size_t>(worker)]);
    if (finite) return kernel.multiply(w, prepared_.data(), queue, y.data());
    queue.for_ranges(w.rows, kRowGrain, [&](int begin, int end) {
      std::fill(y.begin() + begin, y.begin() + end, std::numeric_limits<float>::quiet_NaN());
    });
  });
}

}  // namespace tern::cpu::study
