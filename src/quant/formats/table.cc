#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "quant/block_format.h"
#include "quant/format.h"
#include "quant/formats/block_formats.h"
#include "quant/formats/i2_s.h"
#include "quant/formats/plain_float.h"

namespace tern {
namespace {

constexpr FormatInfo floats(FormatId id, int bytes, decltype(FormatInfo::decode) decode,
                            decltype(FormatInfo::encode) encode) {
  FormatInfo info = {id};
  info.block = 1;
  info.block_bytes = bytes;
  info.is_for_float_rows = true;
  info.decode = decode;
  info.encode = encode;
  return info;
}

constexpr FormatInfo i2_s() {
  FormatInfo info = {{Format::kI2_S, "I2_S", 36}};  // the type number of bitnet.cpp
  info.block = kI2sBlock;
  info.fills_block = true;
  info.block_bytes = kI2sBlockBytes;
  info.tail_bytes = kI2sTailBytes;
  info.is_ternary = true;
  info.coding = kI2sCoding;
  info.unpack = unpack_i2_s;
  info.decode = decode_i2_s;
  info.encode = encode_i2_s;
  return info;
}

template <class... F>
constexpr std::array<FormatInfo, kFormatCount> make_table(FormatList<F...> /*formats*/) {
  return {{floats({Format::kF32, "F32", 0}, 4, decode_f32, encode_f32),
           floats({Format::kF16, "F16", 1}, 2, decode_f16, encode_f16),
           floats({Format::kBF16, "BF16", 30}, 2, decode_bf16, encode_bf16), i2_s(), block_format<F>()...}};
}

constexpr std::array<FormatInfo, kFormatCount> kFormats = make_table(BlockFormats());

constexpr bool in_enum_order() {
  for (int i = 0; i < kFormatCount; ++i) {
    if (static_cast<int>(kFormats[i].format) != i) return false;
  }
  return true;
}
static_assert(in_enum_order(), "format_info indexes the table by the enum");

// The formats for which `has` is true.
template <class Has>
constexpr auto list_of(Has has) {
  constexpr size_t kCount = static_cast<size_t>(std::ranges::count_if(kFormats, Has{}));
  std::array<Format, kCount> list = {};
  size_t n = 0;
  for (const FormatInfo& info : kFormats) {
    if (has(info)) list[n++] = info.format;
  }
  return list;
}
constexpr auto kTernaryRows = list_of([](const FormatInfo& info) { return info.is_ternary; });
constexpr auto kFloatRows = list_of([](const FormatInfo& info) { return info.is_for_float_rows; });

constexpr char to_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (to_upper(a[i]) != to_upper(b[i])) return false;
  }
  return true;
}

const FormatInfo& format_info(Format format) {
  const auto index = static_cast<size_t>(format);
  CHECK(index < kFormats.size());
  return kFormats[index];
}

std::span<const FormatInfo> formats() { return kFormats; }
std::span<const Format> ternary_row_formats() { return kTernaryRows; }
std::span<const Format> float_row_formats() { return kFloatRows; }

uint64_t row_bytes(Format format, int64_t cols) {
  const FormatInfo& info = format_info(format);
  CHECK(cols >= 0 && (cols % info.block == 0 || info.fills_block));
  uint64_t bytes = 0;
  const auto blocks = static_cast<uint64_t>(cols / info.block + (cols % info.block != 0));
  const bool overflow = __builtin_mul_overflow(blocks, static_cast<uint64_t>(info.block_bytes), &bytes);
  return overflow ? std::numeric_limits<uint64_t>::max() : bytes;
}

uint64_t tensor_bytes(Format format, int64_t rows, int64_t cols) {
  CHECK(rows >= 0);
  uint64_t bytes = 0;
  const auto tail = static_cast<uint64_t>(format_info(format).tail_bytes);
  const bool overflow = __builtin_mul_overflow(static_cast<uint64_t>(rows), row_bytes(format, cols), &bytes) ||
                        __builtin_add_overflow(bytes, tail, &bytes);
  return overflow ? std::numeric_limits<uint64_t>::max() : bytes;
}

const FormatInfo* find_format(std::string_view name) {
  for (const FormatInfo& info : kFormats) {
    if (equal_ignoring_case(info.name, name)) return &info;
  }
  return nullptr;
}

}  // namespace tern
