#include "quant/tq1_0.h"

#include <algorithm>
#include <array>

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {
namespace {

// A run of bytes whose digits n are the values first + n·n_bytes + m. Three of them make a block.
struct Run {
  int n_bytes;
  int n_digits;
  int first;
};
constexpr Run kFive32 = {32, 5, 0};
constexpr Run kFive16 = {16, 5, 160};
constexpr Run kFour = {4, 4, 240};

// Byte by byte within a digit, as a compiler takes vectors of them.
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

void decode_run(const uint8_t* bytes, Run run, float d, float* values) {
  for (int m = 0; m < run.n_bytes; ++m) {
    uint8_t fraction = bytes[m];
    for (int n = 0; n < run.n_digits; ++n) {
      const int digit = fraction * 3 >> 8;
      values[run.first + n * run.n_bytes + m] = d * static_cast<float>(digit - 1);
      fraction = static_cast<uint8_t>(fraction * 3);
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

void decode_tq1_0(Bytes blocks, std::span<float> values) {
  decode_blocks<Tq1_0Block, kTq1_0Block>(blocks, values, [](const Tq1_0Block& block, float* out) {
    const float d = f16_to_f32(block.d);
    decode_run(block.five, kFive32, d, out);
    decode_run(block.five + 32, kFive16, d, out);
    decode_run(block.four, kFour, d, out);
  });
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

void encode_tq1_0(std::span<const float> values, MutableBytes blocks) {
  encode_blocks<Tq1_0Block, kTq1_0Block>(values, blocks, [](const float* x) {
    const float d = max_magnitude(x, kTq1_0Block);
    const float inverse = inverse_or_zero(d);
    Tq1_0Block block = {.five = {}, .four = {}, .d = f32_to_f16(d)};
    encode_run(x, kFive32, inverse, block.five);
    encode_run(x, kFive16, inverse, block.five + 32);
    encode_run(x, kFour, inverse, block.four);
    return block;
  });
}

}  // namespace tern
