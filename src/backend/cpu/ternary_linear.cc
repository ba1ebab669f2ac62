// y = Σ code·q for I2_S weights and int8 activations, straight from the file's bytes.
//
// A block's 32 bytes hold four planes of 32 codes (quant/i2_s.h): shift by 6, 4, 2, 0, mask with 3, and each plane
// lines up with 32 consecutive activations. Codes are c = w + 1 ∈ {0, 1, 2}, unsigned, so the dot product instructions
// for unsigned × signed bytes apply; Σ w·q = Σ c·q − Σ q is mended once per output. Everything is exact in int32.
//
// A tile is kRows rows × T tokens: each plane is unpacked once for T tokens, and each activation is loaded once for
// kRows rows. With 64-byte vectors two rows share one: 32 bytes of each side by side, against the same activations
// twice.
//
// A single token reuses nothing, so there the order of reading counts: rows are streamed one after another (DotRow).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/ternary_linear.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/cache_control.h>
// clang-format on

#include <cstring>

#include "backend/cpu/ops.h"
#include "backend/cpu/results-inl.h"
#include "backend/cpu/wasm_dot-inl.h"
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

// acc += Σ code·q in groups of four bytes. Without an instruction for it: pairs fit 16 bits, each at most 2·2·128 =
// 512.
HWY_INLINE VI32 Dot4(VU8 codes, VI8 q, VI32 acc) {
  const DI32 di32;
#if HWY_TARGET == HWY_WASM
  return WasmDot4(codes, q, acc);
#endif
  if constexpr (kHasDot4) {
    return hn::SumOfMulQuadAccumulate(di32, codes, q, acc);
  } else {
    const DI16 di16;
    return hn::Add(acc, hn::WidenMulPairwiseAdd(di32, hn::SatWidenMulPairwiseAdd(di16, codes, q), hn::Set(di16, 1)));
  }
}

// acc += Σ over the four planes of code·q, in groups of bytes; q points at the block's activations.
HWY_INLINE VI32 DotBlock(const VU8 (&planes)[4], const int8_t* q, VI32 acc) {
  const DI32 di32;
#if HWY_TARGET == HWY_WASM && defined(__wasm_relaxed_simd__)
  for (int p = 0; p < 4; ++p) acc = WasmDot4(planes[p], LoadActivations(q + 32 * p), acc);
  return acc;
#endif
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

// dots[v·kRowsPerVector + i][t] = Σ code·q for the rows of `rows` and T tokens from q on.
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

template <int T>
void Tile(const Problem& p, int row, int row_end, int token, float weight_scale, const Results& results) {
  const uint8_t* rows[kRows];
  const int n_rows = std::min(kRows, row_end - row);
  for (int i = 0; i < kRows; ++i) rows[i] = p.codes + static_cast<size_t>(row + std::min(i, n_rows - 1)) * p.row_bytes;
  int32_t dots[kRows][kTokens];
  const int8_t* q = p.in.q + static_cast<size_t>(token) * p.cols;
  DotTile<kVectors, T>(p, rows, q, dots);
  float y[T][kRows] = {};
  for (int i = 0; i < n_rows; ++i) {
    for (int t = 0; t < T; ++t) {
      const int32_t dot = dots[i][t] - p.in.sum[token + t];
      y[t][i] = static_cast<float>(dot) / p.in.scale[token + t] * weight_scale;
    }
  }
  PutTile(results, y, token, row, n_rows);
}

// How far ahead the next codes are fetched. The loop leaves memory waiting otherwise: 6.5 GB/s a core from memory
// without it, 11 with it, flat from 2 to 16 KiB (docs/performance.md).
inline constexpr size_t kPrefetchBytes = 2048;

// Σ code·q of one row and one token. Rows are read one after another, as they lie: one stream, which the hardware's
// prefetchers follow. `q` is in the order of arrange(). Four sums, one per plane, keep the dot products independent.
HWY_INLINE int32_t DotRow(const uint8_t* codes, const int8_t* q, size_t n_bytes) {
  const DU8 d;
  const DI8 di8;
  const size_t lanes = hn::Lanes(d);
  VI32 acc[4] = {hn::Zero(DI32()), hn::Zero(DI32()), hn::Zero(DI32()), hn::Zero(DI32())};
  size_t byte = 0;
  for (; byte + lanes <= n_bytes; byte += lanes, q += 4 * lanes) {
    hwy::Prefetch(codes + byte + kPrefetchBytes);
    const VU8 packed = hn::LoadU(d, codes + byte);
    acc[0] = Dot4(Plane<0>(packed), hn::LoadU(di8, q), acc[0]);
    acc[1] = Dot4(Plane<1>(packed), hn::LoadU(di8, q + lanes), acc[1]);
    acc[2] = Dot4(Plane<2>(packed), hn::LoadU(di8, q + 2 * lanes), acc[2]);
    acc[3] = Dot4(Plane<3>(packed), hn::LoadU(di8, q + 3 * lanes), acc[3]);
  }
  if (byte < n_bytes) {  // half a 64-byte vector: the codes beyond meet activations that are 0
    const VU8 packed = hn::LoadN(d, codes + byte, n_bytes - byte);
    acc[0] = Dot4(Plane<0>(packed), hn::LoadU(di8, q), acc[0]);
    acc[1] = Dot4(Plane<1>(packed), hn::LoadU(di8, q + lanes), acc[1]);
    acc[2] = Dot4(Plane<2>(packed), hn::LoadU(di8, q + 2 * lanes), acc[2]);
    acc[3] = Dot4(Plane<3>(packed), hn::LoadU(di8, q + 3 * lanes), acc[3]);
  }
  return hn::ReduceSum(DI32(), hn::Add(hn::Add(acc[0], acc[1]), hn::Add(acc[2], acc[3])));
}

// The activations of one token in the order in which DotRow meets them: for every vector of codes, the activations of
// its plane 0, then 1, 2, 3. Returns the number of bytes written to `out`.
size_t Arrange(const int8_t* q, size_t cols, int8_t* out) {
  const size_t lanes = hn::Lanes(DU8());
  const size_t chunk = std::min<size_t>(lanes, kI2sBlockBytes);
  const size_t n_bytes = cols / 4;
  int8_t* at = out;
  for (size_t vector = 0; vector < n_bytes; vector += lanes) {
    for (size_t plane = 0; plane < 4; ++plane) {
      for (size_t i = vector; i < vector + lanes; i += chunk, at += chunk) {
        if (i < n_bytes) {
          std::memcpy(at, q + i / kI2sBlockBytes * kI2sBlock + plane * kI2sBlockBytes + i % kI2sBlockBytes, chunk);
        } else {
          std::memset(at, 0, chunk);
        }
      }
    }
  }
  return static_cast<size_t>(at - out);
}

// Rows that one pass over the tokens takes: their codes stay in the first-level cache.
inline constexpr int kPassRows = 16;

// Rows [begin, end) for all tokens. Tokens go outside, so that a group of them stays in the first-level cache while the
// rows, few enough to stay there too, pass by.
void LinearRows(const Tensor& w, const ops::QuantizedRows& in, int n, int begin, int end, const Results& results) {
  const Problem p{reinterpret_cast<const uint8_t*>(w.data.data()), static_cast<size_t>(w.cols) / 4,
                  static_cast<size_t>(w.cols), in};
  int token = 0;
  for (; token + kTokens <= n; token += kTokens) {
    for (int row = begin; row < end; row += kRows) Tile<kTokens>(p, row, end, token, w.scale, results);
  }
  for (; token + 2 <= n; token += 2) {
    for (int row = begin; row < end; row += kRows) Tile<2>(p, row, end, token, w.scale, results);
  }
  for (; token < n; ++token) {
    for (int row = begin; row < end; row += kRows) Tile<1>(p, row, end, token, w.scale, results);
  }
}

// The same for one token, whose activations are in the order of Arrange(), and at most kPassRows rows.
void LinearRowsOfOne(const Tensor& w, const ops::QuantizedRows& in, const int8_t* arranged, int begin, int end,
                     const Results& results) {
  const auto* codes = reinterpret_cast<const uint8_t*>(w.data.data());
  const size_t row_bytes = static_cast<size_t>(w.cols) / 4;
  float y[1][kPassRows] = {};
  for (int row = begin; row < end; ++row) {
    const int32_t dot = DotRow(codes + static_cast<size_t>(row) * row_bytes, arranged, row_bytes) - in.sum[0];
    y[0][row - begin] = static_cast<float>(dot) / in.scale[0] * w.scale;
  }
  PutTile(results, y, 0, begin, end - begin);
}

// Calls body(rows) once for the op, where rows(w, begin, end, results) computes rows of w for all tokens.
template <class Body>
void WithRows(const ops::QuantizedRows& in, int n, size_t cols, Share& share, const Body& body) {
  if (n == 1) {
    auto* arranged = reinterpret_cast<int8_t*>(share.scratch().data());
    Arrange(in.q, cols, arranged);
    body([&](const Tensor& w, int begin, int end, const Results& results) {
      LinearRowsOfOne(w, in, arranged, begin, end, results);
    });
  } else {
    body([&](const Tensor& w, int begin, int end, const Results& results) {
      LinearRows(w, in, n, begin, end, results);
    });
  }
}

// Calls pass(begin, end) for runs of kPassRows rows.
template <class Pass>
void ForPasses(int n_rows, Share& share, const Pass& pass) {
  share.for_ranges(n_rows, kPassRows, [&](int begin, int end) {
    for (int row = begin; row < end; row += kPassRows) pass(row, std::min(row + kPassRows, end));
  });
}

void TernaryLinear(const ops::TernaryLinear& op, Share& share) {
  const Results results(op.store, op.out, op.w->rows);
  WithRows(op.in, op.n, static_cast<size_t>(op.w->cols), share, [&](const auto& rows) {
    ForPasses(op.w->rows, share, [&](int begin, int end) { rows(*op.w, begin, end, results); });
  });
}

// The gate's results go to the output, and the up pass over the same rows finishes them.
void TernaryGlu(const ops::TernaryGlu& op, Share& share) {
  const Results store(ops::Store::kSet, op.out, op.w_gate->rows);
  const Results finish(op.act, op.out, op.w_gate->rows);
  WithRows(op.in, op.n, static_cast<size_t>(op.w_gate->cols), share, [&](const auto& rows) {
    ForPasses(op.w_gate->rows, share, [&](int begin, int end) {
      rows(*op.w_gate, begin, end, store);
      rows(*op.w_up, begin, end, finish);
    });
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
