// Look-up tables of integers, in vectors. Two weights are a four-bit index into a table of the 16 sums that they can
// make of two int8 activations. One instruction looks up as many rows as a vector has bytes.
//
// So rows are stored across: 64 rows are a tile, in which each 64 consecutive bytes hold the same four columns, one
// byte per row (columns 4g and 4g + 1 in its low nibble, as code + 4·code). A table is built once for each pair of
// columns and serves all rows.
//
// A sum S of two is −254 … 254, too large for a byte. S + 254 is split into its lowest four bits and the rest, at most
// 31, with a table for each. Eight look-ups of either fit a byte before they are added in 16 bits. So S is exact, and Σ
// w·q equals the engine's.
//
// For 64 weights this takes two look-ups, two additions, one or two instructions for the index, and one for the
// widening. Cores do one or two look-ups per cycle, so it is about as fast as the engine's kernel, and faster without
// byte dot products. But rows come in tiles of 64, and 16 bytes of tables are read for each 32 bytes of weights.
#ifndef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/study/tmac_int8.cc"
#endif
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/cache_control.h>
// clang-format on

#include "backend/cpu/study/int8_row.h"
#include "backend/cpu/study/kernel_rows.h"
#include "backend/cpu/study/tmac_layout.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu::study {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace tmac_int8 {

using DU8 = hn::CappedTag<uint8_t, 64>;
using DU16 = hn::Repartition<uint16_t, DU8>;
using DU32 = hn::Repartition<uint32_t, DU8>;
using VU8 = hn::Vec<DU8>;
using VU16 = hn::Vec<DU16>;

// Vectors of rows that go through the columns together: those of a tile, but at most two because of the registers.
inline constexpr size_t kTileVectors = kTileRows / hn::MaxLanes(DU8());
inline constexpr size_t kVectors = kTileVectors < 2 ? kTileVectors : 2;

inline constexpr size_t kGroupsPerByte = 4;  // two look-ups each: 8·31 fits a byte
inline constexpr size_t kGroupsPerSum = 64;  // 128 look-ups of at most 508 fit 16 bits
static_assert(2 * kGroupsPerByte * ((2 * kMostPairSum) >> 4) <= UINT8_MAX);
static_assert(2 * kGroupsPerSum * 2 * kMostPairSum <= UINT16_MAX);

inline constexpr size_t kPrefetchBytes = 2048;

// The low and high parts of S + kMostPairSum in bytes, for the rows of V vectors.
template <size_t V>
struct Sums {
  VU8 low[V], high[V];
};

// Adds the look-ups of one group of four columns for the rows at `codes`.
template <size_t V>
HWY_INLINE void AddGroup(const uint8_t* codes, const uint8_t* tables, Sums<V>& sums) {
  const DU8 d;
  const size_t lanes = hn::Lanes(d);
  const VU8 low0 = hn::LoadDup128(d, tables), high0 = hn::LoadDup128(d, tables + 16);
  const VU8 low1 = hn::LoadDup128(d, tables + 32), high1 = hn::LoadDup128(d, tables + 48);
  for (size_t v = 0; v < V; ++v) {
    const VU8 packed = hn::LoadU(d, codes + v * lanes);
    const VU8 first = hn::And(packed, hn::Set(d, 15));
    const VU8 second = hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(DU16(), packed))), hn::Set(d, 15));
    sums.low[v] = hn::Add(sums.low[v], hn::Add(hn::TableLookupBytes(low0, first), hn::TableLookupBytes(low1, second)));
    sums.high[v] =
        hn::Add(sums.high[v], hn::Add(hn::TableLookupBytes(high0, first), hn::TableLookupBytes(high1, second)));
  }
}

// even += the even rows of low + 16·high, odd += the odd rows.
HWY_INLINE void Widen(VU8 low, VU8 high, VU16& even, VU16& odd) {
  const DU16 d;
  const VU16 l = hn::BitCast(d, low), h = hn::BitCast(d, high);
  const VU16 byte = hn::Set(d, 0xFF);
  even = hn::Add(even, hn::Add(hn::And(l, byte), hn::ShiftLeft<4>(hn::And(h, byte))));
  odd = hn::Add(odd, hn::Add(hn::ShiftRight<8>(l), hn::ShiftLeft<4>(hn::ShiftRight<8>(h))));
}

// sums[i] += lane i of v.
HWY_INLINE void Flush(VU16 v, uint32_t* sums) {
  const DU32 d;
  const hn::Half<DU16> half;
  const size_t lanes = hn::Lanes(d);
  hn::StoreU(hn::Add(hn::LoadU(d, sums), hn::PromoteTo(d, hn::LowerHalf(half, v))), d, sums);
  hn::StoreU(hn::Add(hn::LoadU(d, sums + lanes), hn::PromoteTo(d, hn::UpperHalf(half, v))), d, sums + lanes);
}

// even[i], odd[i] = Σ (S + kMostPairSum) over all columns, for the rows 2i and 2i + 1 of the V vectors at `codes`.
template <size_t V>
HWY_INLINE void SumRows(const uint8_t* codes, const uint8_t* tables, size_t n_groups, uint32_t* even, uint32_t* odd) {
  const DU8 d;
  const size_t pairs = hn::Lanes(DU16());
  for (size_t sum_end = 0, g = 0; g < n_groups;) {
    sum_end = std::min(n_groups, g + kGroupsPerSum);
    VU16 e[V], o[V];
    for (size_t v = 0; v < V; ++v) e[v] = o[v] = hn::Zero(DU16());
    while (g < sum_end) {
      Sums<V> sums;
      for (size_t v = 0; v < V; ++v) sums.low[v] = sums.high[v] = hn::Zero(d);
      for (const size_t end = std::min(sum_end, g + kGroupsPerByte); g < end; ++g) {
        hwy::Prefetch(codes + g * kTileRows + kPrefetchBytes);
        AddGroup<V>(codes + g * kTileRows, tables + g * kGroupTables, sums);
      }
      for (size_t v = 0; v < V; ++v) Widen(sums.low[v], sums.high[v], e[v], o[v]);
    }
    for (size_t v = 0; v < V; ++v) {
      Flush(e[v], even + v * pairs);
      Flush(o[v], odd + v * pairs);
    }
  }
}

// The tables of one pair of activations: 16 low parts, then 16 high parts.
HWY_INLINE void MakeTables(int q0, int q1, uint8_t* out) {
  const hn::FixedTag<int16_t, 8> d;
  const hn::FixedTag<uint8_t, 8> d8;
  HWY_ALIGN static constexpr int16_t kFirst[8] = {-1, 0, 1, 0, -1, 0, 1, 0};
  HWY_ALIGN static constexpr int16_t kSecond[16] = {-1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0};
  const auto first = hn::Add(hn::Mul(hn::Load(d, kFirst), hn::Set(d, static_cast<int16_t>(q0))),
                             hn::Set(d, static_cast<int16_t>(kMostPairSum)));
  const auto q = hn::Set(d, static_cast<int16_t>(q1));
  for (size_t half = 0; half < 16; half += 8) {
    const auto sum = hn::Add(first, hn::Mul(hn::Load(d, kSecond + half), q));
    hn::StoreU(hn::DemoteTo(d8, hn::And(sum, hn::Set(d, 15))), d8, out + half);
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<4>(sum)), d8, out + 16 + half);
  }
}

void Prepare(const Packed& w, const float* x, std::byte* out) {
  auto& row = *reinterpret_cast<Int8Row*>(out);
  auto* tables = reinterpret_cast<uint8_t*>(out) + kInt8Header;
  const auto n_groups = static_cast<size_t>(tmac_groups(w.cols));
  // Quantized into the end of `out`, for which prepared_bytes() has room.
  auto* q = reinterpret_cast<int8_t*>(tables + n_groups * kGroupTables);
  quantize_row(x, w.cols, q, row);
  std::fill(q + w.cols, q + 4 * n_groups, int8_t{0});
  for (size_t g = 0; g < n_groups; ++g) {
    MakeTables(q[4 * g], q[4 * g + 1], tables + g * kGroupTables);
    MakeTables(q[4 * g + 2], q[4 * g + 3], tables + g * kGroupTables + 32);
  }
}

void Multiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  const auto& in = *reinterpret_cast<const Int8Row*>(prepared);
  const auto* tables = reinterpret_cast<const uint8_t*>(prepared) + kInt8Header;
  const auto n_groups = static_cast<size_t>(tmac_groups(w.cols));
  const auto too_much = static_cast<int32_t>(2 * n_groups * kMostPairSum);
  const int n_tiles = (w.rows + kTileRows - 1) / kTileRows;
  queue.for_ranges(n_tiles, 1, [&](int begin, int end) HWY_ATTR {
    for (int tile = begin; tile < end; ++tile) {
      const uint8_t* codes = w.bytes() + static_cast<size_t>(tile) * n_groups * kTileRows;
      uint32_t even[kTileRows / 2] = {}, odd[kTileRows / 2] = {};
      for (size_t v = 0; v < kTileVectors; v += kVectors) {
        const size_t row = v * hn::Lanes(DU8());
        SumRows<kVectors>(codes + row, tables, n_groups, even + row / 2, odd + row / 2);
      }
      const int first = tile * kTileRows;
      for (int i = 0; i < kTileRows && first + i < w.rows; ++i) {
        const uint32_t sum = i % 2 == 0 ? even[i / 2] : odd[i / 2];
        y[first + i] = int8_result(static_cast<int32_t>(sum) - too_much, in, w.scale);
      }
    }
  });
}

}  // namespace tmac_int8

void TmacPrepare(const Packed& w, const float* x, std::byte* out) { tmac_int8::Prepare(w, x, out); }
void TmacMultiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  tmac_int8::Multiply(w, prepared, queue, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu::study
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu::study {

HWY_EXPORT(TmacPrepare);
HWY_EXPORT(TmacMultiply);

Kernel tmac_int8_kernel() {
  return {.name = "2bit-lut-int8",
          .packing = {"2-bit", tmac_bytes, pack_tmac},
          .activations = Activations::kInt8,
          .is_vectors = true,
          .what = "tables of 16 sums for every two columns, looked up for many rows at once",
          .prepared_bytes =
              [](int64_t cols) { return kInt8Header + static_cast<uint64_t>(tmac_groups(cols)) * (kGroupTables + 4); },
          .prepare = [](auto... args) { return HWY_DYNAMIC_DISPATCH(TmacPrepare)(args...); },
          .multiply = [](auto... args) { return HWY_DYNAMIC_DISPATCH(TmacMultiply)(args...); },
          .roundings = nullptr};
}

}  // namespace tern::cpu::study
#endif
