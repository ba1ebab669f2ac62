#include "backend/gpu/memory/weights/pack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "base/check.h"
#include "base/half.h"
#include "quant/format.h"
#include "quant/formats/q1_0.h"
#include "quant/formats/q8_0.h"

namespace tern::gpu {
namespace {

// Packs quads one after another into words; each quad has its four codes in the word's four bytes (packed_weights.h).
template <uint32_t kBits>
void pack_unit(const uint8_t* codes, uint32_t* words) {
  constexpr uint32_t kQuads = 8 / kBits;  // per word
  uint32_t unit[4] = {};
  for (uint32_t q = 0; q < 4 * kQuads; ++q) {
    uint32_t four;
    std::memcpy(&four, codes + 4 * q, sizeof four);  // no code has bits beyond its own
    unit[q / kQuads] |= four << (q % kQuads * kBits);
  }
  std::memcpy(words, unit, sizeof unit);
}

template <uint32_t kBits>
void pack_codes(const uint8_t* codes, size_t n, uint32_t* words) {
  constexpr size_t kValues = 128 / kBits;
  for (size_t i = 0; i < n; i += kValues, words += 4) pack_unit<kBits>(codes + i, words);
}

void pack_codes(WeightWords words, const uint8_t* codes, size_t n, uint32_t* units) {
  switch (words) {
    case WeightWords::kCodes8:
      return pack_codes<8>(codes, n, units);
    case WeightWords::kCodes4:
      return pack_codes<4>(codes, n, units);
    case WeightWords::kCodes2:
      return pack_codes<2>(codes, n, units);
    case WeightWords::kSigns:
      return pack_codes<1>(codes, n, units);
    default:
      CHECK(false);
  }
}

// Converts a code of the format into the plane's.
uint8_t plane_code(const Coding& coding, const WeightCoding& plane, uint8_t code) {
  if (plane.words == WeightWords::kSigns) return coding.level(code) < 0 ? 1 : 0;
  return static_cast<uint8_t>(coding.level(code) + static_cast<int>(plane.zero));
}

// Converts the codes of a format into the plane's. If that only flips bits or adds a number, no table look-ups are
// needed.
class PlaneCodes {
 public:
  PlaneCodes(const Coding& coding, const WeightCoding& plane) {
    const auto n = static_cast<size_t>(coding.n_codes);
    for (size_t code = 0; code < n; ++code) codes_[code] = plane_code(coding, plane, static_cast<uint8_t>(code));
    for (size_t code = 0; code < n; ++code) {
      are_flipped_ = are_flipped_ && codes_[code] == (code ^ codes_[0]);
      are_shifted_ = are_shifted_ && codes_[code] == static_cast<uint8_t>(code + codes_[0]);
    }
  }
  void make_of(std::span<uint8_t> codes) const {
    const uint8_t of_zero = codes_[0];  // a copy in a register; `codes` could alias codes_
    if (are_flipped_) {
      for (uint8_t& code : codes) code ^= of_zero;
    } else if (are_shifted_) {
      for (uint8_t& code : codes) code = static_cast<uint8_t>(code + of_zero);
    } else {
      for (uint8_t& code : codes) code = codes_[code];
    }
  }

 private:
  std::array<uint8_t, 256> codes_ = {};
  bool are_flipped_ = true, are_shifted_ = true;
};

struct ScalesOf {
  size_t n_groups;  // per block
  float own;        // the tensor's scale
};

// Writes a block's scales, multiplied by the tensor's own scale, to the plane of scales. Where the plane has whole
// words, their bits are stored.
void put_scales(const Coding& coding, const WeightCoding& plane, const BlockParts& parts, const ScalesOf& of,
                float* scales) {
  const auto word = [](uint32_t low, uint32_t high) { return std::bit_cast<float>(low | high << 16); };
  const float d = coding.d(parts.d) * of.own;
  if (plane.has_mins() && plane.f32_scales) {
    *scales++ = d;
    *scales++ = f16_to_f32(parts.dmin) * of.own;
  } else if (plane.has_mins()) {
    *scales++ = word(parts.d, parts.dmin);
  }
  if (plane.mins == WeightMins::kBytes) {
    const auto pair = [&](size_t g) { return static_cast<uint32_t>(parts.scales[g] | parts.mins[g] << 8); };
    for (size_t g = 0; g < of.n_groups; g += 2) *scales++ = word(pair(g), pair(g + 1));
    return;
  }
  if (plane.has_mins()) return;
  for (size_t g = 0; g < of.n_groups; ++g) {
    scales[g] = coding.has_scales() ? d * static_cast<float>(parts.scales[g]) : d;
  }
}

// Moves the bits at even positions into the lower half and those at odd positions into the upper half.
uint32_t unshuffled(uint32_t x) {
  const auto swap = [&x](uint32_t mask, int distance) {
    const uint32_t other = (x ^ (x >> distance)) & mask;
    x ^= other ^ (other << distance);
  };
  swap(0x22222222, 1);
  swap(0x0C0C0C0C, 2);
  swap(0x00F000F0, 4);
  swap(0x0000FF00, 8);
  return x;
}

// Repacks what follows a block's scale word by word, without unpacking.
template <class Traits, class Word>
void pack_words(const Tensor& t, const WeightCoding& plane, Bytes row, uint32_t* units, float* scales,
                const Word& word_of) {
  constexpr size_t kBlock = sizeof(typename Traits::Block), kOfScale = sizeof(BlockParts::d);
  const size_t block_scales = plane.scales_of_row(Traits::kValues);
  BlockParts parts = {};
  for (size_t b = 0; b * kBlock < row.size(); ++b) {
    const auto* const block = row.data() + b * kBlock;
    uint32_t words[(kBlock - kOfScale) / sizeof(uint32_t)];
    std::memcpy(&parts.d, block, kOfScale);
    std::memcpy(words, block + kOfScale, sizeof words);
    for (uint32_t& word : words) word = word_of(word);
    std::memcpy(units + b * std::size(words), words, sizeof words);
    put_scales(Traits::kCoding, plane, parts, {1, t.scale}, scales + b * block_scales);
  }
}

// Among 32 consecutive values, the bit of value 4s + i goes to bit 8i + s, and is set if the value is −1.
void pack_signs(const Tensor& t, const WeightCoding& plane, Bytes row, uint32_t* units, float* scales) {
  pack_words<Q1_0>(t, plane, row, units, scales, [](uint32_t word) { return unshuffled(unshuffled(~word)); });
}

// The bytes in their order; only the zero point changes.
void pack_bytes(const Tensor& t, const WeightCoding& plane, Bytes row, uint32_t* units, float* scales) {
  pack_words<Q8_0>(t, plane, row, units, scales, [](uint32_t word) { return word ^ 0x80808080; });
}

void pack_blocks(const Tensor& t, const WeightCoding& plane, Bytes row, uint32_t* units, float* scales) {
  const FormatInfo& format = format_info(t.format);
  const auto block = static_cast<size_t>(format.block), block_bytes = static_cast<size_t>(format.block_bytes);
  const size_t n_groups = block / static_cast<size_t>(format.coding.group);
  const size_t block_scales = plane.scales_of_row(static_cast<uint32_t>(block));
  const PlaneCodes plane_codes(format.coding, plane);
  BlockParts parts = {};
  for (size_t b = 0; b * block_bytes < row.size(); ++b) {
    format.unpack(row.data() + b * block_bytes, parts);
    plane_codes.make_of(std::span(parts.codes).first(block));
    pack_codes(plane.words, parts.codes, block, units + b * (block * plane.bits() / 32));
    put_scales(format.coding, plane, parts, {n_groups, t.scale}, scales + b * block_scales);
  }
}

void pack_row(const Tensor& t, const WeightCoding& c, Bytes row, uint32_t* units, float* scales) {
  if (c.words == WeightWords::kF16 || c.words == WeightWords::kBF16) {
    std::memcpy(units, row.data(), row.size());
    if (c.group > 0) *scales = t.scale;
    return;
  }
  if (t.format == Format::kQ1_0 && c.words == WeightWords::kSigns) return pack_signs(t, c, row, units, scales);
  if (t.format == Format::kQ8_0 && c.words == WeightWords::kCodes8) return pack_bytes(t, c, row, units, scales);
  if (c.has_codes()) return pack_blocks(t, c, row, units, scales);
  std::vector<float> values(static_cast<size_t>(t.cols));
  format_info(t.format).decode(row, values);
  for (float& value : values) value *= t.scale;
  std::memcpy(units, values.data(), values.size() * sizeof(float));
}

// The narrowest words that hold a format's evenly spaced levels, and in which no word belongs to two groups.
WeightWords words_of(const Coding& coding) {
  if (coding.n_codes == 2) return WeightWords::kSigns;
  if (coding.levels) return WeightWords::kCodes8;
  if (coding.n_codes <= 4 && coding.group >= 64) return WeightWords::kCodes2;
  return coding.n_codes <= 16 && coding.group >= 32 ? WeightWords::kCodes4 : WeightWords::kCodes8;
}

WeightCoding codes_of(Format format) {
  if (format == Format::kF16) return {.words = WeightWords::kF16};
  if (format == Format::kBF16) return {.words = WeightWords::kBF16};
  const Coding& coding = format_info(format).coding;
  if (!coding.has_codes()) return {};
  const WeightWords words = words_of(coding);
  WeightCoding plane = {.words = words, .group = static_cast<uint32_t>(coding.group)};
  if (words == WeightWords::kCodes8) {
    plane.zero = 128;
  } else if (words != WeightWords::kSigns) {
    plane.zero = static_cast<uint32_t>(coding.zero);
  }
  if (coding.has_mins) {
    plane.mins = coding.has_scales() ? WeightMins::kBytes : WeightMins::kF16;
  } else {
    plane.f32_scales = coding.has_scales() || coding.has_bf16_d;  // products of two scales, which f16 cannot hold
  }
  return plane;
}

}  // namespace

WeightCoding coding_of(const Tensor& tensor) {
  WeightCoding coding = codes_of(tensor.format);
  const auto cols = static_cast<uint32_t>(tensor.cols);
  if (cols % coding.values() != 0) return {};
  if (tensor.scale == 1.0f || coding == WeightCoding{}) return coding;
  coding.f32_scales = true;
  if (coding.group == 0) coding.group = cols;  // f16 weights: one scale per row
  return coding;
}

uint64_t unit_row_bytes(const WeightCoding& coding, int cols) {
  return static_cast<uint64_t>(cols) * coding.bits() / 8;
}

uint64_t scale_bytes(const WeightCoding& coding, uint64_t rows, int cols) {
  return coding.group == 0 ? 4 : 4 * coding.scale_words(rows, static_cast<uint32_t>(cols));
}

bool is_plain_copy(const Tensor& tensor, const WeightCoding& coding) {
  if (tensor.format == Format::kF32) return coding.words == WeightWords::kF32 && tensor.scale == 1.0f;
  return coding.group == 0 && (coding.words == WeightWords::kF16 || coding.words == WeightWords::kBF16);
}

void pack_rows(const Tensor& tensor, const WeightCoding& coding, Bytes rows, std::span<uint32_t> units,
               std::span<float> scales) {
  const uint64_t in_bytes = row_bytes(tensor.format, tensor.cols);
  const uint64_t count = rows.size() / in_bytes;
  const size_t row_words = unit_row_bytes(coding, tensor.cols) / 4;
  const size_t row_scales = coding.scales_of_row(static_cast<uint32_t>(tensor.cols));
  CHECK(units.size() >= count * row_words && scales.size() >= count * row_scales);
  for (uint64_t r = 0; r < count; ++r) {
    pack_row(tensor, coding, rows.subspan(r * in_bytes, in_bytes), units.data() + r * row_words,
             scales.data() + r * row_scales);
  }
}

size_t words_of_scales(const WeightCoding& coding, size_t n_scales) {
  return coding.has_scale_words() ? n_scales : (n_scales + 1) / 2;
}

void pack_scales(const WeightCoding& coding, std::span<const float> scales, std::span<uint32_t> words) {
  CHECK(words.size() == words_of_scales(coding, scales.size()));
  if (coding.has_scale_words()) {
    std::ranges::transform(scales, words.begin(), [](float scale) { return std::bit_cast<uint32_t>(scale); });
    return;
  }
  const auto half = [&](size_t i) { return i < scales.size() ? uint32_t{f32_to_f16(scales[i])} : 0; };
  for (size_t i = 0; i < words.size(); ++i) words[i] = half(2 * i) | half(2 * i + 1) << 16;
}

}  // namespace tern::gpu
