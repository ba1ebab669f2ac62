// Shared by block_linear.cc and the formats' loops (block_kernels-inl.h): a matrix with its input and scratch memory,
// and a format's functions. Included once per instruction set.
#if defined(TERN_BACKEND_CPU_BLOCK_JOB_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_BLOCK_JOB_INL_H_
#undef TERN_BACKEND_CPU_BLOCK_JOB_INL_H_
#else
#define TERN_BACKEND_CPU_BLOCK_JOB_INL_H_
#endif

#include <hwy/highway.h>

#include <optional>
#include <type_traits>

#include "backend/cpu/linear/block_activations-inl.h"
#include "backend/cpu/linear/block_linear.h"
#include "backend/cpu/ops/results-inl.h"
#include "backend/ops.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace block {

// The rows and tokens of a tile: as many sums and operands as fit the registers.
inline constexpr int kTileRows = 4;
static_assert(kBlockPassRows % kTileRows == 0);
#if (HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86) || HWY_ARCH_ARM_A64
inline constexpr int kTileTokens = 4;  // 32 registers
#else
inline constexpr int kTileTokens = 2;
#endif

// The scales of one row, one per run: f16 numbers, and pairs of signed bytes.
struct RowScales {
  uint16_t* d;
  uint16_t* halves;

  RowScales row(size_t r, size_t cols) const {
    const size_t at = r * Groups(cols) * kLanes;
    return {d + at, halves + at};
  }
};

inline constexpr int kScaleRows = 4;  // rows whose scales are gathered at a time

// True if a few tokens have loops of their own, which unpack in registers. The oldest instruction set uses the panel
// for them too: it has no byte shuffles, and this leaves it one loop per format instead of three.
inline constexpr bool kHasRowLoops = HWY_TARGET != HWY_SSE2;

// A matrix, its input in the format's order, and scratch memory.
struct Job {
  const Tensor* w;
  int n;
  const uint8_t* activations;
  RowScales scales;
  uint8_t* panel;  // kBlockPassRows rows
  const uint8_t* rows = nullptr;
  int first_row = 0;      // the row at `rows`
  size_t row_stride = 0;  // bytes

  const uint8_t* row(int r) const { return rows + static_cast<size_t>(r - first_row) * row_stride; }
};

// Sets out[i] to scale · Σ of the lanes of v[i]. The order is the same for all callers: halves are added until four
// lanes are left, then the outer pairs of those.
HWY_INLINE void SumLanes(const VF32 (&v)[4], float scale, float* out) {
  const hn::FixedTag<float, 4> d4;
  const auto fold = [](VF32 x) HWY_ATTR {
    const hn::Half<DF32> dh;
    if constexpr (kParts == 1) {
      return x;
    } else if constexpr (kParts == 2) {
      return hn::Add(hn::LowerHalf(dh, x), hn::UpperHalf(dh, x));
    } else {
      const hn::Half<decltype(dh)> dq;
      const auto half = hn::Add(hn::LowerHalf(dh, x), hn::UpperHalf(dh, x));
      return hn::Add(hn::LowerHalf(dq, half), hn::UpperHalf(dq, half));
    }
  };
  const auto a = fold(v[0]), b = fold(v[1]), c = fold(v[2]), e = fold(v[3]);
  const hn::Repartition<double, decltype(d4)> d2;
  const auto ab = hn::Add(hn::InterleaveLower(d4, a, b), hn::InterleaveUpper(d4, a, b));
  const auto ce = hn::Add(hn::InterleaveLower(d4, c, e), hn::InterleaveUpper(d4, c, e));
  const auto low = hn::InterleaveLower(d2, hn::BitCast(d2, ab), hn::BitCast(d2, ce));
  const auto high = hn::InterleaveUpper(d2, hn::BitCast(d2, ab), hn::BitCast(d2, ce));
  hn::StoreU(hn::Mul(hn::Add(hn::BitCast(d4, low), hn::BitCast(d4, high)), hn::Set(d4, scale)), d4, out);
}

// Subtracts Σ min · d·Σq from `sum`, over the parts of a run that have a min, in order.
template <int kMins, class Min>
HWY_INLINE VF32 TakeMins(VF32 sum, const Min& min, const uint8_t* sums) {
  if constexpr (kMins > 0) sum = hn::NegMulAdd(min(std::integral_constant<int, 0>()), LoadFloat32s(sums), sum);
  if constexpr (kMins > 1) {
    sum = hn::NegMulAdd(min(std::integral_constant<int, 1>()), LoadFloat32s(sums + kVectorBytes), sum);
  }
  return sum;
}

// Where the results of a pass go: n_rows rows from `row` on, for the tokens from `token` on.
struct Destination {
  const Results* results;
  int token, row, n_rows;
};

// The code that formats of one kind share. kLargest belongs to the dot product, not to the format. Compiled in
// block_linear.cc (block_tiles-inl.h).
template <int kLargest, bool kHalfScales, int kMins>
struct Tiles {
  // Writes [n][groups] records of kActivationBytes to `out`. Runs beyond the last are zeros.
  static void arrange(const ops::BlockRows& in, int n, size_t cols, const StepOrder& order, int zero, uint8_t* out);
  // Multiplies the rows of a panel with kTileTokens tokens (or one).
  static void tiles(const uint8_t* panel, const uint8_t* activations, size_t groups, float scale,
                    const Destination& to);
  static void tiles_of_one(const uint8_t* panel, const uint8_t* activations, size_t groups, float scale,
                           const Destination& to);
};

// A format's functions, chosen once per op.
struct Kernel {
  const StepOrder* order;
  int zero;
  void (*arrange)(const ops::BlockRows& in, int n, size_t cols, const StepOrder& order, int zero, uint8_t* out);
  // rows_of[t] streams the rows of `to` for t + 1 tokens. Null: the format cannot do so many tokens at once.
  void (*rows_of[kTileTokens])(const Job& job, const Destination& to);
  void (*unpack_row)(const uint8_t* row, size_t cols, const RowScales& scales, uint8_t* out);
  void (*tiles)(const uint8_t* panel, const uint8_t* activations, size_t groups, float scale, const Destination& to);
  void (*tiles_of_one)(const uint8_t* panel, const uint8_t* activations, size_t groups, float scale,
                       const Destination& to);
  size_t activation_bytes, panel_bytes;
};

// The kernel for blocks in the file's order, for formats that have one (block_file_rows.cc).
std::optional<Kernel> FileKernel(Format format);
// The kernels for records of a format: with blocks of 32 values (block_record_rows.cc) and of 256
// (block_k_record_rows.cc).
std::optional<Kernel> SmallRecordKernel(Format format);
std::optional<Kernel> LargeRecordKernel(Format format);

}  // namespace block
}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
