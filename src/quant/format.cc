#include "quant/format.h"

#include <array>
#include <limits>

#include "base/check.h"
#include "quant/i2_s.h"
#include "quant/plain_float.h"
#include "quant/q1_0.h"
#include "quant/q2_0.h"
#include "quant/q4_0.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"
#include "quant/tq1_0.h"
#include "quant/tq2_0.h"

namespace tern {
namespace {

// format, name, block, block_bytes, tail_bytes, is_ternary, decode, encode
constexpr std::array<FormatInfo, kFormatCount> kFormats = {{
    {Format::kF32, "F32", 1, 4, 0, false, decode_f32, encode_f32},
    {Format::kF16, "F16", 1, 2, 0, false, decode_f16, encode_f16},
    {Format::kBF16, "BF16", 1, 2, 0, false, decode_bf16, encode_bf16},
    {Format::kQ8_0, "Q8_0", kQ8_0Block, sizeof(Q8_0Block), 0, false, decode_q8_0, encode_q8_0},
    {Format::kQ4_0, "Q4_0", kQ4_0Block, sizeof(Q4_0Block), 0, false, decode_q4_0, encode_q4_0},
    {Format::kQ6_K, "Q6_K", kQ6_KBlock, sizeof(Q6_KBlock), 0, false, decode_q6_k, encode_q6_k},
    {Format::kI2_S, "I2_S", kI2sBlock, kI2sBlockBytes, kI2sTailBytes, true, decode_i2_s, encode_i2_s},
    {Format::kTQ1_0, "TQ1_0", kTq1_0Block, sizeof(Tq1_0Block), 0, true, decode_tq1_0, encode_tq1_0},
    {Format::kTQ2_0, "TQ2_0", kTq2_0Block, sizeof(Tq2_0Block), 0, true, decode_tq2_0, encode_tq2_0},
    {Format::kQ1_0, "Q1_0", kQ1_0Block, sizeof(Q1_0Block), 0, false, decode_q1_0, encode_q1_0},
    {Format::kQ2_0, "Q2_0", kQ2_0Block, sizeof(Q2_0Block), 0, false, decode_q2_0, encode_q2_0},
    {Format::kPQ2_0, "PQ2_0", kPq2_0Block, sizeof(Pq2_0Block), 0, false, decode_pq2_0, encode_pq2_0},
}};

constexpr bool in_enum_order() {
  for (int i = 0; i < kFormatCount; ++i) {
    if (static_cast<int>(kFormats[i].format) != i) return false;
  }
  return true;
}
static_assert(in_enum_order(), "format_info indexes the table by the enum");

constexpr char to_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (to_upper(a[i]) != to_upper(b[i])) return false;
  }
  return true;
}

}  // namespace

const FormatInfo& format_info(Format format) {
  const auto index = static_cast<size_t>(format);
  CHECK(index < kFormats.size());
  return kFormats[index];
}

uint64_t row_bytes(Format format, int64_t cols) {
  const FormatInfo& info = format_info(format);
  CHECK(cols >= 0 && cols % info.block == 0);
  uint64_t bytes = 0;
  const auto blocks = static_cast<uint64_t>(cols / info.block);
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
