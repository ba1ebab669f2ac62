#include "quant/formats/tq1_0.h"

#include <algorithm>
#include <array>

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {
namespace {

// A run of bytes whose n-th digits are the values first + n·n_bytes + m. Three runs make a block; these are TQ1_0's.
struct Run {
  int n_bytes;
  int n_digits;
  int first;
};
constexpr Run kFive32 = {32, 5, 0};
constexpr Run kFive16 = {16, 5, 160};
constexpr Run kFour = {4, 4, 240};
// The runs of PTQ1_0.
constexpr Run kSmallFive16 = {16, 5, 0};
constexpr Run kSmallFive8 = {8, 5, 80};
constexpr Run kSmallFour = {2, 4, 120};

// The inner loop goes over the bytes of one digit, so that compilers vectorize it.
void decode_run_codes(const uint8_t* bytes, Run run, uint8_t* codes) {
  std::array<uint8_t, 32> fractions;
  std::copy_n(bytes, run.n_bytes, fractions.begin());
  for (int n = 0; n < run.n_digits; ++n) {
    uint8_t* const out = codes + run.first + n * run.n_bytes;
    for (int m = 0; m < run.n_bytes; ++m) {
      const int thrice = fractions[static_cast<size_t>(m)] * 3;
      out[m] = static_cast<uint8_t>(thrice >> 8);
      fractions[static_cast<size_t>(m)] = static_cast<uint8_t>(thrice);
    }
  }
}

void encode_run(const float* values, Run run, float inverse, uint8_t* bytes) {
  for (int m = 0; m < run.n_bytes; ++m) {
    int number = 0;
    for (int n = 0; n < 5; ++n) {
      const int value = run.first + n * run.n_bytes + m;
      number = number * 3 + (n < run.n_digits ? round_and_clamp(values[value] * inverse, -1, 1) + 1 : 0);
    }
    bytes[m] = static_cast<uint8_t>((number * 256 + 242) / 243);
  }
}

}  // namespace

void TQ1_0::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  decode_run_codes(block.five, kFive32, parts.codes);
  decode_run_codes(block.five + 32, kFive16, parts.codes);
  decode_run_codes(block.four, kFour, parts.codes);
}

void PTQ1_0::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  decode_run_codes(block.five, kSmallFive16, parts.codes);
  decode_run_codes(block.five + 16, kSmallFive8, parts.codes);
  decode_run_codes(block.four, kSmallFour, parts.codes);
}

void decode_tq1_0_codes(Bytes blocks, std::span<uint8_t> codes) {
  decode_blocks<Tq1_0Block, kTq1_0Block>(blocks, codes, [](const Tq1_0Block& block, uint8_t* out) {
    if ((block.d & 0x7FFF) == 0) {
      std::fill_n(out, kTq1_0Block, uint8_t{1});
      return;
    }
    decode_run_codes(block.five, kFive32, out);
    decode_run_codes(block.five + 32, kFive16, out);
    decode_run_codes(block.four, kFour, out);
    if ((block.d & 0x8000) == 0) return;
    for (int i = 0; i < kTq1_0Block; ++i) out[i] = static_cast<uint8_t>(2 - out[i]);
  });
}

TQ1_0::Block TQ1_0::encode(const float* x) {
  const float d = max_magnitude(x, kValues);
  const float inverse = inverse_or_zero(d);
  Block block = {.five = {}, .four = {}, .d = f32_to_f16(d)};
  encode_run(x, kFive32, inverse, block.five);
  encode_run(x, kFive16, inverse, block.five + 32);
  encode_run(x, kFour, inverse, block.four);
  return block;
}

PTQ1_0::Block PTQ1_0::encode(const float* x) {
  const float d = max_magnitude(x, kValues);
  const float inverse = inverse_or_zero(d);
  Block block = {.five = {}, .four = {}, .d = f32_to_f16(d)};
  encode_run(x, kSmallFive16, inverse, block.five);
  encode_run(x, kSmallFive8, inverse, block.five + 16);
  encode_run(x, kSmallFour, inverse, block.four);
  return block;
}

}  // namespace tern
