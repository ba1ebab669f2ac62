// Keys and values of one layer on the device: blocks of [2 (keys, values)][n_kv_heads][64] rows, and the kernel that
// fills them. A row has head_dim values: as f32; as f16, two per word; or (q8_0) as int8 codes, four per word, followed
// by an f16 scale for each 32 codes, two per word.
#pragma once

#include <vector>

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

inline constexpr uint32_t kBlockPositions = 64;

struct HeadShape {
  uint32_t n_heads, n_kv_heads, head_dim;

  bool operator==(const HeadShape&) const = default;
};

// The initial maximum of attention's softmax. It is lower than any score, but finite: e^(kLowestScore − m) is 0 without
// computing with an infinity.
inline constexpr float kLowestScore = -3.0e38f;

// A KvWord is what a kernel writes at once: one f32, two f16, or four int8 codes.
template <class KvWord>
constexpr uint32_t kv_word_values() {
  return std::same_as<KvWord, wgsl::I8x4> ? 4 : std::same_as<KvWord, wgsl::F16x2> ? 2 : 1;
}
// What a kernel reads at once: four values, or four codes.
template <class KvWord>
using KvQuad = std::conditional_t<
    std::same_as<KvWord, wgsl::I8x4>, wgsl::I8x4,
    std::conditional_t<std::same_as<KvWord, wgsl::F16x2>, wgsl::Vec2<wgsl::F16x2>, wgsl::Vec4<wgsl::F32>>>;

// Codes have scales. The scales of groups g and g + kv_scale_words share a word, so that a kernel that writes two runs
// of a head that RoPE rotates together writes whole words. If there is no second group, its half is 0.
template <class KvWord>
inline constexpr bool kHasKvScales = std::same_as<KvWord, wgsl::I8x4>;
inline constexpr uint32_t kScaleGroup = 32;
constexpr uint32_t kv_scale_groups(uint32_t head_dim) { return (head_dim + kScaleGroup - 1) / kScaleGroup; }
constexpr uint32_t kv_scale_words(uint32_t head_dim) { return (kv_scale_groups(head_dim) + 1) / 2; }

// Words of a row, and below the same in units that a kernel reads at once.
template <class KvWord>
constexpr uint32_t kv_row_words(uint32_t head_dim) {
  return head_dim / kv_word_values<KvWord>() + (kHasKvScales<KvWord> ? kv_scale_words(head_dim) : 0);
}
template <class KvWord>
constexpr uint32_t kv_row_quads(uint32_t head_dim) {
  return head_dim / 4 + (kHasKvScales<KvWord> ? kv_scale_words(head_dim) : 0);
}

// Four int8 codes as floats.
wgsl::Temp<wgsl::Vec4<wgsl::F32>> int8_values(const wgsl::Name<wgsl::I8x4>& codes);

// The values of a quad; for codes, without their scale.
template <class KvWord>
wgsl::Temp<wgsl::Vec4<wgsl::F32>> kv_values(const wgsl::Name<KvQuad<KvWord>>& quad) {
  using namespace wgsl;
  if constexpr (std::same_as<KvWord, F16x2>) {
    return vec4f(unpack2x16float(at(quad, 0)), unpack2x16float(at(quad, 1)));
  } else if constexpr (kHasKvScales<KvWord>) {
    return int8_values(quad);
  } else {
    return e(quad);
  }
}

// Four values in the cache's format. Only for formats without scales.
template <class KvWord>
wgsl::Temp<KvQuad<KvWord>> kv_quad(const wgsl::Name<wgsl::Vec4<wgsl::F32>>& v) {
  using namespace wgsl;
  if constexpr (std::same_as<KvWord, F16x2>) {
    auto low = let("low", pack2x16float(vec2f(at(v, 0), at(v, 1))));
    auto high = let("high", pack2x16float(vec2f(at(v, 2), at(v, 3))));
    return vec2_of(low, high);
  } else {
    return e(v);
  }
}

// The block that holds position `pos` of the sequence whose block table begins at params[table].
inline wgsl::Name<wgsl::U32> kv_block(const ParamsBuffer& params, const wgsl::Name<wgsl::U32>& table,
                                      const wgsl::Name<wgsl::U32>& pos) {
  return wgsl::let("block", params[table + pos / kBlockPositions]);
}

// The index of position `pos` among the layer's rows. kv_row: the head for keys, n_kv_heads more for values.
template <wgsl::ValueOf<wgsl::U32> Row>
wgsl::Temp<wgsl::U32> kv_place(const HeadShape& s, const wgsl::Name<wgsl::U32>& block, Row&& kv_row,
                               const wgsl::Name<wgsl::U32>& pos) {
  return (block * (2 * s.n_kv_heads) + std::forward<Row>(kv_row)) * kBlockPositions + pos % kBlockPositions;
}

// One word of the cache from its values. Only for formats without scales.
template <class KvWord, class Values>
wgsl::Temp<KvWord> kv_word(const Values& values, const wgsl::Name<wgsl::U32>& first) {
  using namespace wgsl;
  if constexpr (std::same_as<KvWord, F16x2>) {
    auto a = let("v0", values[first]);
    auto b = let("v1", values[first + 1u]);
    return pack2x16float(vec2f(a, b));
  } else {
    return e(let("v0", values[first]));
  }
}

// ---- q8_0

// How a group of up to 32 values of a head becomes codes.
struct KvScale {
  wgsl::Name<wgsl::U32> bits;  // of the scale as f16
  wgsl::Name<wgsl::F32> scale;
  wgsl::Name<wgsl::F32> inverse;  // 0 if the scale is 0
};
// From the largest magnitude of the values, like q8_scale in kv_layout.h.
KvScale kv_scale(const wgsl::Name<wgsl::F32>& most);
wgsl::Name<wgsl::I8x4> kv_codes(const wgsl::Name<wgsl::Vec4<wgsl::F32>>& v, const KvScale& by);

// The scale of group `group`, whose values begin at value(32 · group), among n values.
template <class Value>
KvScale kv_scale_of(const Value& value, const wgsl::Name<wgsl::U32>& group, uint32_t n) {
  using namespace wgsl;
  auto first = let("first_of_group", group * kScaleGroup);
  auto end = n % kScaleGroup == 0 ? first + kScaleGroup : min(first + kScaleGroup, n);
  auto most = var("most", 0.0f);
  loop("at", first, std::move(end), 4u, [&](const Name<U32>& at) {
    auto a = let("a", value(e(at)));
    auto b = let("b", value(at + 1u));
    auto c = let("c", value(at + 2u));
    auto d = let("d", value(at + 3u));
    most = max(most, max(max(abs(a), abs(b)), max(abs(c), abs(d))));
  });
  return kv_scale(let("greatest", most));
}

// Writes the codes and scales of n values: word i of the codes to kv[code_at(i)], word j of the scales to
// kv[scale_at(j)]. `lanes` invocations share the work; each computes the scales that it needs itself.
template <class Value, class Kv, class CodeAt, class ScaleAt>
void store_codes(const Value& value, uint32_t n, const wgsl::Name<wgsl::U32>& lane, uint32_t lanes, const Kv& kv,
                 const CodeAt& code_at, const ScaleAt& scale_at) {
  using namespace wgsl;
  const uint32_t groups = kv_scale_groups(n), words = kv_scale_words(n);
  loop("i", lane, n / 4 + words, lanes, [&](const Name<U32>& i) {
    when(
        i < n / 4,
        [&] {
          auto group = let("group", i / (kScaleGroup / 4));
          const KvScale by = kv_scale_of(value, group, n);
          auto from = let("from_value", i * 4u);
          auto v0 = let("v0", value(e(from)));
          auto v1 = let("v1", value(from + 1u));
          auto v2 = let("v2", value(from + 2u));
          auto v3 = let("v3", value(from + 3u));
          auto v = let("v", vec4f(v0, v1, v2, v3));
          auto codes = kv_codes(v, by);
          kv[code_at(i)] = codes;
        },
        [&] {
          auto low = let("low_group", i - n / 4);
          auto high = let("high_group", min(low + words, groups - 1));
          const KvScale of_low = kv_scale_of(value, low, n);
          const KvScale of_high = kv_scale_of(value, high, n);
          auto high_bits =
              groups % 2 == 0 ? of_high.bits : let("high_bits", select(0u, of_high.bits, low + words < groups));
          kv[scale_at(low)] = packed<I8x4>(of_low.bits | (high_bits << 16u));
        });
  });
}

// Writes a whole row. value(i) gives value i.
template <class Value, class Kv>
void store_code_row(const Value& value, uint32_t head_dim, const wgsl::Name<wgsl::U32>& lane, uint32_t lanes,
                    const Kv& kv, const wgsl::Name<wgsl::U32>& to_row) {
  using namespace wgsl;
  store_codes(
      value, head_dim, lane, lanes, kv, [&](const Name<U32>& i) { return to_row + i; },
      [&](const Name<U32>& j) { return to_row + (head_dim / 4) + j; });
}

// The scales of the row that begins at kv[row].
class KvScales {
 public:
  template <class Kv>
  KvScales(const Kv& kv, const wgsl::Name<wgsl::U32>& row, uint32_t head_dim) {
    using namespace wgsl;
    for (uint32_t word = 0; word < kv_scale_words(head_dim); ++word) {
      auto halves = let("halves", packed<F16x2>(bits(kv[row + (head_dim / 4 + word)])));
      pairs_.push_back(let("scales_of_two", unpack2x16float(halves)));
    }
  }
  wgsl::Name<wgsl::F32> of(uint32_t group) const {
    return wgsl::at(pairs_[group % pairs_.size()], group / static_cast<uint32_t>(pairs_.size()));
  }

 private:
  std::vector<wgsl::Name<wgsl::Vec2<wgsl::F32>>> pairs_;
};

// The scale of one group whose index is known only on the device.
template <class Kv>
wgsl::Name<wgsl::F32> kv_scale_at(const Kv& kv, const wgsl::Name<wgsl::U32>& row, const wgsl::Name<wgsl::U32>& group,
                                  uint32_t head_dim) {
  using namespace wgsl;
  const uint32_t words = kv_scale_words(head_dim);
  auto halves = let("halves", packed<F16x2>(bits(kv[row + (head_dim / 4) + group % words])));
  auto both = let("scales_of_two", unpack2x16float(halves));
  return let("scale", select(at(both, 0), at(both, 1), group >= words));
}

template <class KvWord>
using KvAppendKernel = wgsl::Kernel<wgsl::In<"k", wgsl::F32>, wgsl::In<"v", wgsl::F32>, ParamsBuffer,
                                    wgsl::Out<"kv", KvWord>, wgsl::WorkgroupId, wgsl::LocalIndex>;
struct KvAppendConfig {
  HeadShape heads;
  uint32_t workgroup = 64;

  bool operator==(const KvAppendConfig&) const = default;
};
// Writes the batch's keys and values to the positions of its rows. Grid: [2 · n_kv_heads, n_tokens].
template <class KvWord>
KvAppendKernel<KvWord> kv_append(const KvAppendConfig& c);

}  // namespace tern::gpu
