#include "backend/gpu/pack.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "base/half.h"
#include "quant/q1_0.h"
#include "quant/q2_0.h"
#include "quant/q4_0.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"
#include "quant/tq2_0.h"

namespace tern::gpu {
namespace {

// unpack(): the codes of a block's values in their order, as the plane holds them, and the scale of each kGroup of
// them.

struct FromQ8_0 {
  using Block = Q8_0Block;
  static constexpr int kValues = kQ8_0Block, kGroup = kQ8_0Block;
  static void unpack(const Block& block, uint8_t* codes, float* scales) {
    for (int i = 0; i < kValues; ++i) codes[i] = static_cast<uint8_t>(block.q[i] + 128);
    scales[0] = f16_to_f32(block.d);
  }
};

struct FromQ4_0 {
  using Block = Q4_0Block;
  static constexpr int kValues = kQ4_0Block, kGroup = kQ4_0Block;
  static void unpack(const Block& block, uint8_t* codes, float* scales) {
    for (int i = 0; i < kValues / 2; ++i) {
      codes[i] = block.nibbles[i] & 15;
      codes[i + kValues / 2] = block.nibbles[i] >> 4;
    }
    scales[0] = f16_to_f32(block.d);
  }
};

struct FromQ6_K {
  using Block = Q6_KBlock;
  static constexpr int kValues = kQ6_KBlock, kGroup = kQ6_KGroup;
  static void unpack(const Block& block, uint8_t* codes, float* scales) {
    for (int half = 0; half < 2; ++half) {
      const uint8_t* low = block.low + 64 * half;
      const uint8_t* high = block.high + 32 * half;
      uint8_t* out = codes + 128 * half;
      for (int i = 0; i < 32; ++i) {
        out[i] = static_cast<uint8_t>((low[i] & 15) | ((high[i] & 3) << 4));
        out[i + 32] = static_cast<uint8_t>((low[i + 32] & 15) | ((high[i] >> 2 & 3) << 4));
        out[i + 64] = static_cast<uint8_t>((low[i] >> 4) | ((high[i] >> 4 & 3) << 4));
        out[i + 96] = static_cast<uint8_t>((low[i + 32] >> 4) | ((high[i] >> 6) << 4));
      }
    }
    for (int i = 0; i < kValues; ++i) codes[i] = static_cast<uint8_t>(codes[i] + 128 - 32);
    const float d = f16_to_f32(block.d);
    for (int i = 0; i < kValues / kGroup; ++i) scales[i] = d * static_cast<float>(block.scales[i]);
  }
};

struct FromQ1_0 {
  using Block = Q1_0Block;
  static constexpr int kValues = kQ1_0Block, kGroup = kQ1_0Block;
  static void unpack(const Block& block, uint8_t* codes, float* scales) {
    for (int i = 0; i < kValues; ++i) codes[i] = (block.bits[i / 8] >> (i % 8) & 1) ^ 1;  // a set bit is a minus here
    scales[0] = f16_to_f32(block.d);
  }
};

template <int n>
struct FromQ2 {
  using Block = Q2Block<n>;
  static constexpr int kValues = n, kGroup = n;
  static void unpack(const Block& block, uint8_t* codes, float* scales) {
    for (int i = 0; i < n; ++i) codes[i] = block.codes[i / 4] >> (2 * (i % 4)) & 3;
    scales[0] = f16_to_f32(block.d);
  }
};

// Quads one after another in a word, each with its four codes in the word's bytes (packed_weights.h).
template <uint32_t kBits>
void pack_unit(const uint8_t* codes, uint32_t* words) {
  constexpr uint32_t kQuads = 8 / kBits;  // of a word
  uint32_t unit[4] = {};
  for (uint32_t q = 0; q < 4 * kQuads; ++q) {
    for (uint32_t i = 0; i < 4; ++i)
      unit[q / kQuads] |= static_cast<uint32_t>(codes[4 * q + i]) << (q % kQuads * kBits + 8 * i);
  }
  std::memcpy(words, unit, sizeof unit);
}

template <uint32_t kBits>
void pack_codes(const uint8_t* codes, size_t n, uint32_t* words) {
  constexpr size_t kValues = 128 / kBits;
  for (size_t i = 0; i < n; i += kValues, words += 4) pack_unit<kBits>(codes + i, words);
}

template <class From, uint32_t kBits>
void pack_blocks(const std::byte* in, size_t n_blocks, uint32_t* units, float* scales) {
  std::array<uint8_t, From::kValues> codes{};
  for (size_t b = 0; b < n_blocks; ++b) {
    typename From::Block block;
    std::memcpy(&block, in + b * sizeof block, sizeof block);
    From::unpack(block, codes.data(), scales + b * (From::kValues / From::kGroup));
    pack_codes<kBits>(codes.data(), From::kValues, units + b * (From::kValues * kBits / 32));
  }
}

// Ternary formats by their values: −d, 0 or d. `d` of a group is the greatest magnitude in it, for what else there is
// is zero.
void pack_ternary_values(std::span<const float> values, size_t group, uint32_t* units, float* scales) {
  std::vector<uint8_t> codes(group);
  for (size_t g = 0; g * group < values.size(); ++g) {
    const auto in = values.subspan(g * group, group);
    float d = 0;
    for (const float v : in) d = std::abs(v) > d || v != v ? std::abs(v) : d;
    for (size_t i = 0; i < group; ++i) codes[i] = static_cast<uint8_t>(in[i] > 0 ? 2 : in[i] < 0 ? 0 : 1);
    pack_codes<2>(codes.data(), group, units + g * (group / 16));
    scales[g] = d;
  }
}

void pack_row(const Tensor& t, const WeightCoding& c, Bytes row, uint32_t* units, float* scales) {
  const size_t n_blocks = row.size() / static_cast<size_t>(format_info(t.format).block_bytes);
  if (c.words == WeightWords::kF16 || c.words == WeightWords::kBF16) {
    std::memcpy(units, row.data(), row.size());
    return;
  }
  if (c.words != WeightWords::kF32) {
    switch (t.format) {
      case Format::kQ8_0:
        return pack_blocks<FromQ8_0, 8>(row.data(), n_blocks, units, scales);
      case Format::kQ6_K:
        return pack_blocks<FromQ6_K, 8>(row.data(), n_blocks, units, scales);
      case Format::kQ4_0:
        return pack_blocks<FromQ4_0, 4>(row.data(), n_blocks, units, scales);
      case Format::kQ1_0:
        return pack_blocks<FromQ1_0, 1>(row.data(), n_blocks, units, scales);
      case Format::kQ2_0:
        return pack_blocks<FromQ2<kQ2_0Block>, 2>(row.data(), n_blocks, units, scales);
      case Format::kPQ2_0:
        return pack_blocks<FromQ2<kPq2_0Block>, 2>(row.data(), n_blocks, units, scales);
      default:
        break;
    }
  }
  std::vector<float> values(static_cast<size_t>(t.cols));
  format_info(t.format).decode(row, values);
  if (c.words == WeightWords::kF32) {
    for (float& value : values) value *= t.scale;
    std::memcpy(units, values.data(), values.size() * sizeof(float));
    return;
  }
  CHECK(c.words == WeightWords::kCodes2);
  pack_ternary_values(values, c.group, units, scales);
}

WeightCoding codes_of(Format format) {
  switch (format) {
    case Format::kF32:
      return {};
    case Format::kF16:
      return {.words = WeightWords::kF16};
    case Format::kBF16:
      return {.words = WeightWords::kBF16};
    case Format::kQ8_0:
      return {.words = WeightWords::kCodes8, .zero = 128, .group = kQ8_0Block};
    case Format::kQ6_K:  // its scales are products that no f16 holds
      return {.words = WeightWords::kCodes8, .zero = 128, .group = kQ6_KGroup, .f32_scales = true};
    case Format::kQ4_0:
      return {.words = WeightWords::kCodes4, .zero = 8, .group = kQ4_0Block};
    case Format::kQ1_0:
      return {.words = WeightWords::kSigns, .group = kQ1_0Block};
    case Format::kQ2_0:
      return {.words = WeightWords::kCodes2, .zero = 1, .group = kQ2_0Block};
    case Format::kPQ2_0:
      return {.words = WeightWords::kCodes2, .zero = 1, .group = kPq2_0Block};
    case Format::kTQ1_0:
    case Format::kTQ2_0:
      return {.words = WeightWords::kCodes2, .zero = 1, .group = kTq2_0Block};
    case Format::kI2_S:
      return {.words = WeightWords::kCodes2, .zero = 1, .group = 128};
  }
  CHECK(false);
}

}  // namespace

WeightCoding coding_of(const Tensor& tensor) {
  WeightCoding coding = codes_of(tensor.format);
  if (tensor.scale != 1.0f) coding.f32_scales = true;
  const bool needs_scale = coding.group == 0 && tensor.scale != 1.0f;
  if (needs_scale || static_cast<uint32_t>(tensor.cols) % coding.values() != 0) return {};
  if (coding.group == 0) coding.f32_scales = false;
  return coding;
}

uint64_t unit_row_bytes(const WeightCoding& coding, int cols) {
  return static_cast<uint64_t>(cols) * coding.bits() / 8;
}

uint64_t scale_bytes(const WeightCoding& coding, uint64_t rows, int cols) {
  if (coding.group == 0) return 4;
  const uint64_t n = rows * (static_cast<uint64_t>(cols) / coding.group);
  return coding.f32_scales ? 4 * n : (n + 1) / 2 * 4;
}

bool is_plain_copy(const Tensor& tensor, const WeightCoding& coding) {
  if (tensor.format == Format::kF32) return coding.words == WeightWords::kF32 && tensor.scale == 1.0f;
  return coding.words == WeightWords::kF16 || coding.words == WeightWords::kBF16;
}

void pack_rows(const Tensor& tensor, const WeightCoding& coding, Bytes rows, std::span<uint32_t> units,
               std::span<float> scales) {
  const uint64_t in_bytes = row_bytes(tensor.format, tensor.cols);
  const uint64_t count = rows.size() / in_bytes;
  const size_t row_words = unit_row_bytes(coding, tensor.cols) / 4;
  const size_t row_scales = coding.group == 0 ? 0 : static_cast<size_t>(tensor.cols) / coding.group;
  CHECK(units.size() >= count * row_words && scales.size() >= count * row_scales);
  for (uint64_t r = 0; r < count; ++r) {
    pack_row(tensor, coding, rows.subspan(r * in_bytes, in_bytes), units.data() + r * row_words,
             scales.data() + r * row_scales);
  }
  if (tensor.scale == 1.0f || row_scales == 0) return;
  for (float& scale : scales.first(count * row_scales)) scale *= tensor.scale;
}

std::vector<uint32_t> pack_scales(const WeightCoding& coding, std::span<const float> scales) {
  std::vector<uint32_t> words(std::max<size_t>(1, coding.f32_scales ? scales.size() : (scales.size() + 1) / 2));
  for (size_t i = 0; i < scales.size(); ++i) {
    if (coding.f32_scales) {
      words[i] = std::bit_cast<uint32_t>(scales[i]);
    } else {
      words[i / 2] |= static_cast<uint32_t>(f32_to_f16(scales[i])) << (16 * (i % 2));
    }
  }
  return words;
}

}  // namespace tern::gpu
