// I2_S rows: Σ code·q of one row and one token, and rows as panels. Included once per instruction set.
//
// A block's 32 bytes hold four planes of 32 codes (quant/formats/i2_s.h), so a vector of bytes masked with 3 is a run
// of codes ready for the dot products. Two planes need a shift by 4 and two need none: masked with 3 << 2, a plane
// gives four times its codes. Those are summed separately and divided at the end.
#if defined(TERN_BACKEND_CPU_I2_S_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_I2_S_ROWS_INL_H_
#undef TERN_BACKEND_CPU_I2_S_ROWS_INL_H_
#else
#define TERN_BACKEND_CPU_I2_S_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "backend/cpu/linear/dot_bytes-inl.h"
#include "backend/cpu/linear/transpose_words-inl.h"
#include "backend/cpu/ops/fetch_ahead.h"
#include "quant/formats/i2_s.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct I2sRows {
  // A row ends in a whole block. Its codes past the last column are 0, so they may be multiplied with anything.
  static size_t row_bytes(size_t cols) { return i2_s_bytes(cols); }

  // Bytes of the activations of one row after arrange().
  static size_t arranged_bytes(size_t cols) {
    return (row_bytes(cols) + kVectorBytes - 1) / kVectorBytes * kVectorBytes * 4;
  }

  // Stores the activations of one token in the order in which dot() reads them: for every vector of codes, the
  // activations of its plane 0, then 1, 2, 3; 0 beyond the row's end.
  static void arrange(const int8_t* q, size_t cols, int8_t* out) {
    const size_t lanes = hn::Lanes(DU8()), chunk = std::min<size_t>(lanes, kI2sBlockBytes);
    for (size_t vector = 0; vector < row_bytes(cols); vector += lanes) {
      for (size_t plane = 0; plane < 4; ++plane) {
        for (size_t i = vector; i < vector + lanes; i += chunk, out += chunk) {
          const size_t from = i / kI2sBlockBytes * kI2sBlock + plane * kI2sBlockBytes + i % kI2sBlockBytes;
          if (from + chunk <= cols) {
            std::memcpy(out, q + from, chunk);
          } else {
            const size_t n = from < cols ? cols - from : 0;
            std::memcpy(out, q + std::min(from, cols), n);
            std::memset(out + n, 0, chunk - n);
          }
        }
      }
    }
  }

  // Σ code·q. Rows are read in order as one stream, which hardware prefetchers follow, and also prefetched in software.
  template <class Dot>
  static HWY_INLINE int32_t dot(const uint8_t* codes, const int8_t* q, size_t cols, FetchAhead ahead) {
    const DU8 d;
    const size_t lanes = hn::Lanes(d), n_bytes = row_bytes(cols);
    VI32 ones = hn::Zero(DI32()), fours = ones;
    size_t byte = 0;
    while (byte + lanes <= n_bytes) {
      // Eight steps of pairs: 8 · 2 · (8 · 128 · 2) = 32,768. As −32,768 it just fits 16 bits; positive sums, with at
      // most 127, do not reach it.
      const size_t end = Dot::kQuads ? n_bytes : std::min(n_bytes, byte + 8 * lanes);
      Sums<Dot> sums;
      sums.clear();
      for (; byte + kCacheLine <= end; byte += kCacheLine) {
        fetch_ahead(codes + byte, ahead);
        for (size_t i = 0; i < kCacheLine; i += lanes, q += 4 * lanes) sums.add(hn::LoadU(d, codes + byte + i), q);
      }
      for (; byte + lanes <= end; byte += lanes, q += 4 * lanes) sums.add(hn::LoadU(d, codes + byte), q);
      sums.flush(ones, fours);
    }
    if (byte < n_bytes) {  // half a 64-byte vector: the codes beyond are multiplied with activations that are 0
      Sums<Dot> sums;
      sums.clear();
      sums.add(hn::LoadN(d, codes + byte, n_bytes - byte), q);
      sums.flush(ones, fours);
    }
    return hn::ReduceSum(DI32(), ones) + hn::ReduceSum(DI32(), fours) / 4;
  }

  // dot() for one row and T tokens, whose activations are `stride` bytes apart: the row is unpacked once for all of
  // them.
  static constexpr int kMostTokens = kVectorBytes == 64 ? 8 : 4;
  template <class Dot, int T>
  static HWY_INLINE void dot_tokens(const uint8_t* codes, const int8_t* q, size_t stride, size_t cols, FetchAhead ahead,
                                    int32_t (&out)[T]) {
    const DU8 d;
    const size_t lanes = hn::Lanes(d), n_bytes = row_bytes(cols);
    typename Dot::Sum ones[T], fours[T];
    for (int t = 0; t < T; ++t) {
      ones[t] = fours[t] = Dot::zero();
      out[t] = 0;
    }
    const auto step = [&](VU8 low, size_t byte) HWY_ATTR {
      const VU8 high = hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(DU16(), low)));
      const VU8 one = hn::Set(d, 3), four = hn::Set(d, 12);
      const VU8 plane0 = hn::And(high, four), plane1 = hn::And(high, one);
      const VU8 plane2 = hn::And(low, four), plane3 = hn::And(low, one);
      for (int t = 0; t < T; ++t) {
        const int8_t* const at = q + static_cast<size_t>(t) * stride + 4 * byte;
        fours[t] = Dot::add(plane0, hn::LoadU(DI8(), at), fours[t]);
        ones[t] = Dot::add(plane1, hn::LoadU(DI8(), at + lanes), ones[t]);
        fours[t] = Dot::add(plane2, hn::LoadU(DI8(), at + 2 * lanes), fours[t]);
        ones[t] = Dot::add(plane3, hn::LoadU(DI8(), at + 3 * lanes), ones[t]);
      }
    };
    const auto flush = [&]() HWY_ATTR {
      for (int t = 0; t < T; ++t) {
        out[t] += hn::ReduceSum(DI32(), hn::Add(hn::ShiftLeft<2>(Dot::widen(ones[t])), Dot::widen(fours[t]))) / 4;
        ones[t] = fours[t] = Dot::zero();
      }
    };
    size_t byte = 0;
    while (byte + lanes <= n_bytes) {
      const size_t end = Dot::kQuads ? n_bytes : std::min(n_bytes, byte + 8 * lanes);  // as in dot()
      for (; byte + kCacheLine <= end; byte += kCacheLine) {
        fetch_ahead(codes + byte, ahead);
        for (size_t i = 0; i < kCacheLine; i += lanes) step(hn::LoadU(d, codes + byte + i), byte + i);
      }
      for (; byte + lanes <= end; byte += lanes) step(hn::LoadU(d, codes + byte), byte);
      flush();
    }
    if (byte < n_bytes) {  // half a 64-byte vector
      step(hn::LoadN(d, codes + byte, n_bytes - byte), byte);
      flush();
    }
  }

  // The best number of rows at a time. An instruction for four products gains nothing from more than one, and a 64-byte
  // vector may be only half full at the end.
  template <class Dot>
  static constexpr int kRows = Dot::kQuads || kVectorBytes > kI2sBlockBytes ? 1 : 4;

  // dot() for R rows, `stride` bytes apart, which load the activations once.
  template <class Dot, size_t R>
  static HWY_INLINE void dots(const uint8_t* codes, size_t stride, const int8_t* q, size_t cols, FetchAhead ahead,
                              int32_t (&out)[R]) {
    const size_t lanes = hn::Lanes(DU8()), n_bytes = row_bytes(cols);
    // Lines are prefetched in the order of their addresses, and those of the next rows into the first-level cache,
    // because no hardware prefetcher follows several short streams.
    ahead.first_cache = std::max(ahead.first_cache, R * stride);
    VI32 totals[R];  // four times the sums
    for (VI32& total : totals) total = hn::Zero(DI32());
    for (size_t byte = 0; byte < n_bytes;) {
      const size_t end = std::min(n_bytes, byte + 8 * lanes);  // as in dot()
      VI16 ones[R], fours[R];
      for (size_t r = 0; r < R; ++r) ones[r] = fours[r] = hn::Zero(DI16());
      const auto add_rows = [&](const uint8_t* at) HWY_ATTR {
        for (size_t r = 0; r < R; ++r) {
          add<Dot>(hn::LoadU(DU8(), at + r * stride), q, fours[r], ones[r], fours[r], ones[r]);
        }
        q += 4 * lanes;
      };
      for (; byte + kCacheLine <= end; byte += kCacheLine) {
        for (size_t i = 0; i < R * kCacheLine; i += kCacheLine) fetch_ahead(codes + R * byte + i, ahead);
        for (size_t i = 0; i < kCacheLine; i += lanes) add_rows(codes + byte + i);
      }
      for (; byte < end; byte += lanes) add_rows(codes + byte);
      for (size_t r = 0; r < R; ++r) {
        totals[r] = hn::Add(totals[r], hn::WidenMulPairwiseAdd(DI32(), ones[r], hn::Set(DI16(), 4)));
        totals[r] = hn::Add(totals[r], Dot::widen(fours[r]));
      }
    }
    for (size_t r = 0; r < R; ++r) out[r] = hn::ReduceSum(DI32(), totals[r]) / 4;
  }

  // Unpacks kPanelRows rows to a panel (code_panel.h). The packed bytes are first transposed to words of rows, which is
  // a quarter of the work; a word's planes are then words of the panel. `spare` must have spare_bytes() bytes.
  static size_t spare_bytes(size_t cols) { return kPanelRows * row_bytes(cols); }
  static void make_panel(const uint8_t* rows, size_t cols, uint8_t* panel, uint8_t* spare) {
    TransposeWords(rows, row_bytes(cols), row_bytes(cols), spare);
    const DU8 d;
    const size_t lanes = hn::Lanes(d);
    constexpr size_t kWord = 4 * kPanelRows, kPlaneWords = kI2sBlockBytes / 4;  // bytes of a word of all rows
    const VU8 three = hn::Set(d, 3);
    for (size_t word = 0; word < row_bytes(cols) / 4; ++word) {
      uint8_t* const out = panel + (word / kPlaneWords * 4 * kPlaneWords + word % kPlaneWords) * kWord;
      for (size_t i = 0; i < kWord; i += lanes) {
        const VU16 packed = hn::BitCast(DU16(), hn::LoadU(d, spare + word * kWord + i));
        const auto put = [&](size_t plane, VU16 v) HWY_ATTR {
          hn::StoreU(hn::And(hn::BitCast(d, v), three), d, out + plane * kPlaneWords * kWord + i);
        };
        put(0, hn::ShiftRight<6>(packed));
        put(1, hn::ShiftRight<4>(packed));
        put(2, hn::ShiftRight<2>(packed));
        put(3, packed);
      }
    }
  }

 private:
  // Adds a vector of codes times its activations. The sums of planes 0 and 2 are four times too large.
  template <class Dot, class Sum>
  static HWY_INLINE void add(VU8 low, const int8_t* q, Sum& plane0, Sum& plane1, Sum& plane2, Sum& plane3) {
    const DU8 d;
    const size_t lanes = hn::Lanes(d);
    const VU8 high = hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(DU16(), low)));
    const VU8 one = hn::Set(d, 3), four = hn::Set(d, 12);
    plane0 = Dot::add(hn::And(high, four), hn::LoadU(DI8(), q), plane0);
    plane1 = Dot::add(hn::And(high, one), hn::LoadU(DI8(), q + lanes), plane1);
    plane2 = Dot::add(hn::And(low, four), hn::LoadU(DI8(), q + 2 * lanes), plane2);
    plane3 = Dot::add(hn::And(low, one), hn::LoadU(DI8(), q + 3 * lanes), plane3);
  }

  // One sum for each plane's chain of dot products; 0 and 2 are four times too large.
  template <class Dot>
  struct Sums {
    typename Dot::Sum plane[4];

    HWY_INLINE void clear() {
      for (auto& sum : plane) sum = Dot::zero();
    }

    HWY_INLINE void add(VU8 codes, const int8_t* q) {
      I2sRows::add<Dot>(codes, q, plane[0], plane[1], plane[2], plane[3]);
    }
    HWY_INLINE void flush(VI32& ones, VI32& fours) const {
      ones = hn::Add(ones, Dot::widen(hn::Add(plane[1], plane[3])));
      fours = hn::Add(fours, Dot::widen(hn::Add(plane[0], plane[2])));
    }
  };
};

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
