// y = Σ code·q for I2_S weights and int8 activations, straight from the file's bytes.
//
// A block's 32 bytes hold four planes of 32 codes (quant/i2_s.h): shift by 6, 4, 2, 0, mask with 3, and each plane lines
// up with 32 consecutive activations. Codes are c = w + 1 ∈ {0, 1, 2}, unsigned, so the dot product instructions for
// unsigned × signed bytes apply; Σ w·q = Σ c·q − Σ q is mended once per output. Everything is exact in int32.
//
// A tile is kRows rows × T tokens: each plane is unpacked once for T tokens, and each activation is loaded once for
// kRows rows. With 64-byte vectors two rows share one: 32 bytes of each side by side, against the same activations twice.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/ternary_linear.cc"
#include "backend/cpu/targets.h"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "backend/cpu/ops.h"
#include "base/check.h"
#include "quant/i2_s.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
inline constexpr int kRowsPerVector = 2;
using DU8 = hn::FixedTag<uint8_t, 64>;
#else
inline constexpr int kRowsPerVector = 1;
using DU8 = hn::CappedTag<uint8_t, 32>;
#endif
using DI8 = hn::RebindToSigned<DU8>;
using DU16 = hn::Repartition<uint16_t, DU8>;
using DI16 = hn::RebindToSigned<DU16>;
using DI32 = hn::Repartition<int32_t, DU8>;
using VU8 = hn::Vec<DU8>;
using VI8 = hn::Vec<DI8>;
using VI32 = hn::Vec<DI32>;

// Vectors per block of one row.
inline constexpr int kParts = kRowsPerVector == 2 ? 1 : 32 / static_cast<int>(hn::MaxLanes(DU8()));
inline constexpr int kPartBytes = 32 / kParts;
#if HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86
inline constexpr bool kHasDot4 = true;  // vpdpbusd
#else
inline constexpr bool kHasDot4 = false;
#endif
// Row vectors and tokens of the widest tile, as many as the registers hold.
inline constexpr int kVectors = kRowsPerVector == 2 ? 2 : 1;
inline constexpr int kRows = kVectors * kRowsPerVector;
inline constexpr int kTokens = kRowsPerVector == 2 ? 8 : 4;

// 32·k bytes of codes; `second` is the other row of a two-row vector.
HWY_INLINE VU8 LoadCodes(const uint8_t* first, [[maybe_unused]] const uint8_t* second) {
  const DU8 d;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const hn::Half<DU8> dh;
  return hn::Combine(d, hn::LoadU(dh, second), hn::LoadU(dh, first));
#else
  return hn::LoadU(d, first);
#endif
}

HWY_INLINE VI8 LoadActivations(const int8_t* q) {
  const DI8 d;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return VI8{_mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(q)))};
#else
  return hn::LoadU(d, q);
#endif
}

template <int kPlane>
HWY_INLINE VU8 Plane(VU8 packed) {
  const DU8 d;
  const VU8 shifted = hn::BitCast(d, hn::ShiftRight<6 - 2 * kPlane>(hn::BitCast(DU16(), packed)));
  return hn::And(shifted, hn::Set(d, 3));
}

// acc += Σ over the four planes of code·q, in groups of bytes; q points at the block's activations.
HWY_INLINE VI32 DotBlock(const VU8 (&planes)[4], const int8_t* q, VI32 acc) {
  const DI32 di32;
  if constexpr (kHasDot4) {
    for (int p = 0; p < 4; ++p) acc = hn::SumOfMulQuadAccumulate(di32, planes[p], LoadActivations(q + 32 * p), acc);
    return acc;
  } else {
    // Pairs fit 16 bits with room: each is at most 2·2·128 = 512 in size, and four planes make 2048.
    const DI16 di16;
    auto pairs = hn::SatWidenMulPairwiseAdd(di16, planes[0], LoadActivations(q));
    for (int p = 1; p < 4; ++p) {
      pairs = hn::Add(pairs, hn::SatWidenMulPairwiseAdd(di16, planes[p], LoadActivations(q + 32 * p)));
    }
    return hn::Add(acc, hn::WidenMulPairwiseAdd(di32, pairs, hn::Set(di16, 1)));
  }
}

// Σ code·q of one row: the lanes of its half of the vector.
HWY_INLINE int32_t RowSum(VI32 acc, [[maybe_unused]] int row_of_vector) {
  const DI32 d;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const hn::Half<DI32> dh;
  return hn::ReduceSum(dh, row_of_vector == 0 ? hn::LowerHalf(dh, acc) : hn::UpperHalf(dh, acc));
#else
  return hn::ReduceSum(d, acc);
#endif
}

struct Problem {
  const uint8_t* codes;
  size_t row_bytes;
  size_t cols;
  ops::QuantizedRows in;
};

// dots[v·kRowsPerVector + i][t] = Σ code·q for row rows[…] and token first_token + t.
template <int V, int T>
HWY_INLINE void DotTile(const Problem& p, const uint8_t* const* rows, const int8_t* q, int32_t (*dots)[kTokens]) {
  VI32 acc[V][T];
  for (int v = 0; v < V; ++v) {
    for (int t = 0; t < T; ++t) acc[v][t] = hn::Zero(DI32());
  }
  const size_t blocks = p.cols / kI2sBlock;
  for (size_t b = 0; b < blocks; ++b) {
    for (int part = 0; part < kParts; ++part) {
      const size_t byte = b * kI2sBlockBytes + static_cast<size_t>(part * kPartBytes);
      const int8_t* at = q + b * kI2sBlock + static_cast<size_t>(part * kPartBytes);
      for (int v = 0; v < V; ++v) {
        const VU8 packed = LoadCodes(rows[v * kRowsPerVector] + byte, rows[(v + 1) * kRowsPerVector - 1] + byte);
        const VU8 planes[4] = {Plane<0>(packed), Plane<1>(packed), Plane<2>(packed), Plane<3>(packed)};
        for (int t = 0; t < T; ++t) acc[v][t] = DotBlock(planes, at + static_cast<size_t>(t) * p.cols, acc[v][t]);
      }
    }
  }
  for (int v = 0; v < V; ++v) {
    for (int i = 0; i < kRowsPerVector; ++i) {
      for (int t = 0; t < T; ++t) dots[v * kRowsPerVector + i][t] = RowSum(acc[v][t], i);
    }
  }
}

template <int T, class Store>
void Tile(const Problem& p, int row, int row_end, int token, float weight_scale, const Store& store) {
  const uint8_t* rows[kRows];
  const int n_rows = std::min(kRows, row_end - row);
  for (int i = 0; i < kRows; ++i) rows[i] = p.codes + static_cast<size_t>(row + std::min(i, n_rows - 1)) * p.row_bytes;
  int32_t dots[kRows][kTokens];
  const int8_t* q = p.in.q + static_cast<size_t>(token) * p.cols;
  DotTile<kVectors, T>(p, rows, q, dots);
  for (int i = 0; i < n_rows; ++i) {
    for (int t = 0; t < T; ++t) {
      const int32_t dot = dots[i][t] - p.in.sum[token + t];
      store(row + i, token + t, static_cast<float>(dot) / p.in.scale[token + t] * weight_scale);
    }
  }
}

// Calls store(row, token, y) for rows [begin, end) and all tokens. Tokens go outside, so that a group of them stays in
// the first-level cache while the rows, few enough to stay there too, pass by.
template <class Store>
void LinearRows(const Tensor& w, const ops::QuantizedRows& in, int n, int begin, int end, const Store& store) {
  const Problem p{reinterpret_cast<const uint8_t*>(w.data.data()), static_cast<size_t>(w.cols) / 4,
                  static_cast<size_t>(w.cols), in};
  int token = 0;
  for (; token + kTokens <= n; token += kTokens) {
    for (int row = begin; row < end; row += kRows) Tile<kTokens>(p, row, end, token, w.scale, store);
  }
  for (; token + 2 <= n; token += 2) {
    for (int row = begin; row < end; row += kRows) Tile<2>(p, row, end, token, w.scale, store);
  }
  for (; token < n; ++token) {
    for (int row = begin; row < end; row += kRows) Tile<1>(p, row, end, token, w.scale, store);
  }
}

// Rows that one pass over the tokens takes: their codes stay in the first-level cache.
inline constexpr int kPassRows = 16;

void TernaryLinear(const ops::TernaryLinear& op, Share& share) {
  const auto stride = static_cast<size_t>(op.w->rows);
  share.for_ranges(op.w->rows, kPassRows, [&](int begin, int end) HWY_ATTR {
    for (int row = begin; row < end; row += kPassRows) {
      LinearRows(*op.w, op.in, op.n, row, std::min(row + kPassRows, end), [&](int r, int token, float y) {
        float& out = op.out[static_cast<size_t>(token) * stride + static_cast<size_t>(r)];
        out = op.store == ops::Store::kAdd ? out + y : y;
      });
    }
  });
}

// The gate's results go to the output, and the up pass over the same rows finishes them.
void TernaryGlu(const ops::TernaryGlu& op, Share& share) {
  const auto stride = static_cast<size_t>(op.w_gate->rows);
  const auto at = [&](int r, int token) -> float& { return op.out[static_cast<size_t>(token) * stride + static_cast<size_t>(r)]; };
  share.for_ranges(op.w_gate->rows, kPassRows, [&](int begin, int end) HWY_ATTR {
    for (int row = begin; row < end; row += kPassRows) {
      const int row_end = std::min(row + kPassRows, end);
      LinearRows(*op.w_gate, op.in, op.n, row, row_end, [&](int r, int token, float y) { at(r, token) = y; });
      LinearRows(*op.w_up, op.in, op.n, row, row_end, [&](int r, int token, float y) {
        const float positive = std::max(at(r, token), 0.0f);
        at(r, token) = positive * positive * y;
      });
    }
  });
}

std::string TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(TernaryLinear);
HWY_EXPORT(TernaryGlu);
HWY_EXPORT(TargetName);

void ternary_linear(const ops::TernaryLinear& op, Share& share) {
  CHECK(op.w->format == Format::kI2_S);
  HWY_DYNAMIC_DISPATCH(TernaryLinear)(op, share);
}

void ternary_glu(const ops::TernaryGlu& op, Share& share) {
  CHECK(op.w_gate->format == Format::kI2_S && op.w_up->format == Format::kI2_S);
  HWY_DYNAMIC_DISPATCH(TernaryGlu)(op, share);
}

std::string target_name() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

}  // namespace tern::cpu
#endif
