#include "quant/q6_k.h"

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {
namespace {

constexpr int kGroups = kQ6_KBlock / kQ6_KGroup;

// Where value i's code lies.
struct Place {
  int low;         // index into low[]
  int low_shift;   // 0 or 4
  int high;        // index into high[]
  int high_shift;  // 0, 2, 4 or 6
};

constexpr Place place_of(int i) {
  const int half = i / 128;
  const int quarter = i % 128 / 32;
  const int l = i % 32;
  return {.low = half * 64 + quarter % 2 * 32 + l,
          .low_shift = quarter / 2 * 4,
          .high = half * 32 + l,
          .high_shift = quarter * 2};
}

// Nearest code in −32 … 31, ties to even. Adding 1.5·2^23 leaves the integer in the low mantissa bits; std::lrint is a
// library call on the baseline CPU, and this runs 20 times per value.
int nearest_code(float x) {
  const float clamped = std::clamp(x, -32.0f, 31.0f);
  const auto bits = std::bit_cast<uint32_t>(clamped + 0x1.8p23f);
  return static_cast<int>(bits & 0x7FFFFFu) - 0x400000;
}

// The scale that codes the 16 values with least squared error, among those found from 19 divisors around the one that
// maps the signed maximum to −32. For given codes q the best scale is Σxq / Σq²; it leaves the error Σx² − (Σxq)² / Σq²
// and so the greatest (Σxq)² / Σq² wins.
float best_scale(const float* x) {
  float greatest = 0;
  for (int j = 0; j < kQ6_KGroup; ++j) {
    if (std::fabs(x[j]) > std::fabs(greatest)) greatest = x[j];
  }
  // A scale of scales this small is 0 as f16, and the divisors must stay finite.
  if (!(std::fabs(greatest) > 1e-15f)) return 0;
  float scale = 0;
  float best_gain = 0;
  for (int i = 0; i < 19; ++i) {
    const int step = (i + 9) % 19 - 9;  // 0 first, so that where all are equally good the plain divisor stays
    const float divisor = -(32.0f + 0.1f * static_cast<float>(step)) / greatest;
    float xq = 0;
    float qq = 0;
    for (int j = 0; j < kQ6_KGroup; ++j) {
      const auto q = static_cast<float>(nearest_code(x[j] * divisor));
      xq += x[j] * q;
      qq += q * q;
    }
    if (qq > 0 && xq * xq > best_gain * qq) {
      scale = xq / qq;
      best_gain = xq * scale;
    }
  }
  return scale;
}

// The f16 scale of scales, and the signed bytes that multiply it.
void set_scales(const float* x, Q6_KBlock& block) {
  float scales[kGroups];
  float greatest = 0;
  for (int g = 0; g < kGroups; ++g) {
    scales[g] = best_scale(x + g * kQ6_KGroup);
    if (std::fabs(scales[g]) > std::fabs(greatest)) greatest = scales[g];
  }
  block.d = f32_to_f16(greatest / -128.0f);
  const float inverse = inverse_or_zero(f16_to_f32(block.d));
  for (int g = 0; g < kGroups; ++g) {
    block.scales[g] = static_cast<int8_t>(round_and_clamp(scales[g] * inverse, -128, 127));
  }
}

}  // namespace

void decode_q6_k(Bytes blocks, std::span<float> values) {
  decode_blocks<Q6_KBlock, kQ6_KBlock>(blocks, values, [](const Q6_KBlock& block, float* out) {
    const float d = f16_to_f32(block.d);
    for (int i = 0; i < kQ6_KBlock; ++i) {
      const Place at = place_of(i);
      const int low = block.low[at.low] >> at.low_shift & 15;
      const int high = block.high[at.high] >> at.high_shift & 3;
      const float scale = d * static_cast<float>(block.scales[i / kQ6_KGroup]);
      out[i] = scale * static_cast<float>((low | high << 4) - 32);
    }
  });
}

void encode_q6_k(std::span<const float> values, MutableBytes blocks) {
  encode_blocks<Q6_KBlock, kQ6_KBlock>(values, blocks, [](const float* from_caller) {
    float x[kQ6_KBlock];
    for (int i = 0; i < kQ6_KBlock; ++i) x[i] = std::isnan(from_caller[i]) ? 0.0f : from_caller[i];
    Q6_KBlock block = {};
    set_scales(x, block);
    const float d = f16_to_f32(block.d);
    for (int i = 0; i < kQ6_KBlock; ++i) {
      const Place at = place_of(i);
      const float inverse = inverse_or_zero(d * static_cast<float>(block.scales[i / kQ6_KGroup]));
      const int code = nearest_code(x[i] * inverse) + 32;
      block.low[at.low] = static_cast<uint8_t>(block.low[at.low] | (code & 15) << at.low_shift);
      block.high[at.high] = static_cast<uint8_t>(block.high[at.high] | (code >> 4) << at.high_shift);
    }
    return block;
  });
}

}  // namespace tern
