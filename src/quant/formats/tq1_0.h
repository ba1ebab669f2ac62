// TQ1_0 and PTQ1_0: ternary weights in base 3, five to a byte; 1.6875 and 1.75 bits per value (ggml type 34, and 143).
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "quant/format.h"

namespace tern {

inline constexpr int kTq1_0Block = 256;

// 54 bytes for 256 values: five[48], four[4], then the f16 scale d. A value is d · (t − 1) with a digit t of 0, 1, 2.
//
// A byte holds its digits as a fixed-point fraction, not as an integer. With the digits t0 … t4 read as the base-3
// number v = 81·t0 + 27·t1 + 9·t2 + 3·t3 + t4 (0 … 242), the byte is ceil(v · 256 / 243), so byte / 256 is just above
// v / 243. The first digit is then the integer part of byte · 3 / 256. Multiplying by 3 modulo 256 drops it and moves
// the next one up:
//
//   digit n of a byte b:  ((b · 3^n mod 256) · 3) >> 8
//
// This needs no division and no table, and all vector lanes do the same. A `four` byte has four digits: its v is a
// multiple of 3.
//
// Order: runs of consecutive values are stored in consecutive bytes, one digit after another.
//   five[m],      m = 0 … 31:  digit n is value       n·32 + m     (values   0 … 159)
//   five[32 + m], m = 0 … 15:  digit n is value 160 + n·16 + m     (values 160 … 239)
//   four[m],      m = 0 … 3:   digit n is value 240 + n·4  + m     (values 240 … 255)
//
// The quantizer takes d = max|x| and t = x/d rounded + 1: exact for weights that are −s, 0, +s.
//
// Example: x[j] = 0.5 · ((j mod 3) − 1). Byte 0 holds the values 0, 32, 64, 96, 128: digits 0 2 1 0 2, v = 65, byte
// ceil(68.48) = 69 = 0x45. The block is 45 6c cf repeated to 32 bytes, 94 bb 31 repeated to 16, then 30 92 bb 30, then
// 00 38.
//
// 13 byte values are produced by no five digits. They still decode to digits, and every decoder gives the same ones.
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_tq1_0), ggml-quants.c (quantize_row_tq1_0_ref).
struct Tq1_0Block {
  uint8_t five[48];
  uint8_t four[4];
  uint16_t d;
};
static_assert(sizeof(Tq1_0Block) == 54);

// The bare codes of whole blocks, each a weight's sign + 1: 0, 1, 2. Codes under a scale of 0 are 1. codes.size() is a
// multiple of kTq1_0Block.
void decode_tq1_0_codes(Bytes blocks, std::span<uint8_t> codes);

struct TQ1_0 {
  using Block = Tq1_0Block;
  static constexpr FormatId kId = {Format::kTQ1_0, "TQ1_0", 34};
  static constexpr bool kIsTernary = true;
  static constexpr int kValues = kTq1_0Block;
  static constexpr Coding kCoding = {.n_codes = 3, .zero = 1, .group = kTq1_0Block};

  static void unpack(const Block& block, BlockParts& parts);
  static Block encode(const float* values);
};

// PTQ1_0: the same in blocks of 128; 1.75 bits per value (type 143 of the Prism fork). 28 bytes: five[24], four[2],
// then the f16 scale d. The runs are
//   five[m],      m = 0 … 15:  digit n is value       n·16 + m     (values   0 …  79)
//   five[16 + m], m = 0 … 7:   digit n is value  80 + n·8  + m     (values  80 … 119)
//   four[m],      m = 0, 1:    digit n is value 120 + n·2  + m     (values 120 … 127)
//
// Example: x[j] = 0.5 · ((j mod 3) − 1) gives 31 94 bb repeated to 16 bytes, cf 45 6c repeated to 8, 43 6c, then 00 38.
//
// Source: PrismML-Eng/llama.cpp, branch q2_0-prs (block_ptq1_0).
struct PTQ1_0 {
  struct Block {
    uint8_t five[24];
    uint8_t four[2];
    uint16_t d;
  };
  static constexpr FormatId kId = {Format::kPTQ1_0, "PTQ1_0", 143};
  static constexpr int kValues = 128;
  static constexpr Coding kCoding = {.n_codes = 3, .zero = 1, .group = kValues};

  static void unpack(const Block& block, BlockParts& parts);
  static Block encode(const float* values);
};
static_assert(sizeof(PTQ1_0::Block) == 28);

}  // namespace tern
