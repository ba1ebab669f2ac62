#include "quant/k_quants/q6_k.h"

#include "base/half.h"
#include "quant/block_loop.h"
#include "quant/fit.h"

namespace tern {
namespace {

constexpr int kGroups = kQ6_KBlock / kQ6_KGroup;

// The location of value i's code.
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

// Nearest code in −32 … 31, ties to even. Adding 1.5·2^23 leaves the integer in the low bits of the float, where it is
// clamped as an integer (compilers vectorize that, unlike comparisons of floats). NaN (which infinities lead to) gives
// one end of the range.
float nearest_code(float x) {
  constexpr float kShift = 0x1.8p23f;
  constexpr auto kZero = std::bit_cast<int32_t>(kShift);
  const auto bits = std::bit_cast<int32_t>(x + kShift);
  const int32_t above = bits > kZero + 31 ? kZero + 31 : bits;
  return std::bit_cast<float>(above < kZero - 32 ? kZero - 32 : above) - kShift;
}

// The scale with the least squared error for 16 values, out of those found from 19 divisors around the one that maps
// the signed maximum to −32. For given codes q the best scale is Σxq / Σq², with the error Σx² − (Σxq)² / Σq², so the
// largest (Σxq)² / Σq² wins. All divisors are tried at once so that the loops vectorize. `weight(j)` multiplies value
// j's squared error, and so its terms in all these sums.
template <class Weight>
float best_scale(const float* x, Weight weight) {
  float greatest = 0;
  for (int j = 0; j < kQ6_KGroup; ++j) {
    if (std::fabs(x[j]) > std::fabs(greatest)) greatest = x[j];
  }
  // A scale this small would make d 0 as f16, and the divisors must stay finite.
  if (!(std::fabs(greatest) > 1e-15f)) return 0;
  constexpr int kTries = 19, kLanes = 20;
  float divisor[kLanes] = {}, xq[kLanes] = {}, qq[kLanes] = {};
  for (int i = 0; i < kTries; ++i) {
    const int step = (i + 9) % 19 - 9;  // 0 first, so that the plain divisor wins ties
    divisor[i] = -(32.0f + 0.1f * static_cast<float>(step)) / greatest;
  }
  for (int j = 0; j < kQ6_KGroup; ++j) {
    for (int i = 0; i < kLanes; ++i) {
      const float q = nearest_code(x[j] * divisor[i]);
      xq[i] += weight(j) * x[j] * q;
      qq[i] += weight(j) * q * q;
    }
  }
  float scale = 0;
  float best_gain = 0;
  for (int i = 0; i < kTries; ++i) {
    if (qq[i] > 0 && xq[i] * xq[i] > best_gain * qq[i]) {
      scale = xq[i] / qq[i];
      best_gain = xq[i] * scale;
    }
  }
  return scale;
}

// Sets the f16 number d and the signed bytes that it multiplies, so that the products come closest to `scales`.
void set_scales(const float* scales, Q6_KBlock& block) {
  float greatest = 0;
  for (int g = 0; g < kGroups; ++g) {
    if (std::fabs(scales[g]) > std::fabs(greatest)) greatest = scales[g];
  }
  block.d = f32_to_f16(greatest / -128.0f);
  const float inverse = inverse_or_zero(f16_to_f32(block.d));
  for (int g = 0; g < kGroups; ++g) {
    block.scales[g] = static_cast<int8_t>(round_and_clamp(scales[g] * inverse, -128, 127));
  }
}

// Σ w·(x − scale·q)² of a group, with the nearest code q of each value.
float weighted_error(const float* x, const float* w, float scale) {
  const float inverse = inverse_or_zero(scale);
  float error = 0;
  for (int j = 0; j < kQ6_KGroup; ++j) {
    const float difference = x[j] - scale * nearest_code(x[j] * inverse);
    error += w[j] * difference * difference;
  }
  return error;
}

// Moves each group's scale up or down by one if that makes the error smaller.
void refine_scales(const float* x, const float* w, Q6_KBlock& block) {
  const float d = f16_to_f32(block.d);
  for (int g = 0; g < kGroups; ++g) {
    const float *const group = x + g * kQ6_KGroup, *const weights = w + g * kQ6_KGroup;
    const int rounded = block.scales[g];
    float least = weighted_error(group, weights, d * static_cast<float>(rounded));
    for (const int scale : {rounded - 1, rounded + 1}) {
      if (scale < -128 || scale > 127) continue;
      const float error = weighted_error(group, weights, d * static_cast<float>(scale));
      if (!(error < least)) continue;
      least = error;
      block.scales[g] = static_cast<int8_t>(scale);
    }
  }
}

// Codes the values with the block's scales and stores the codes (the table in q6_k.h).
void put_codes(const float* x, Q6_KBlock& block) {
  constexpr int kHalfBlock = 128, kQuarter = 32;
  const float d = f16_to_f32(block.d);
  uint8_t codes[kQ6_KBlock];
  for (int g = 0; g < kGroups; ++g) {
    const float inverse = inverse_or_zero(d * static_cast<float>(block.scales[g]));
    for (int i = g * kQ6_KGroup; i < (g + 1) * kQ6_KGroup; ++i) {
      codes[i] = static_cast<uint8_t>(static_cast<int>(nearest_code(x[i] * inverse)) + 32);
    }
  }
  for (int half = 0; half < 2; ++half) {
    const uint8_t* const c = codes + half * kHalfBlock;
    for (int i = 0; i < 2 * kQuarter; ++i) {
      block.low[half * 64 + i] = static_cast<uint8_t>((c[i] & 15) | c[i + 2 * kQuarter] << 4);
    }
    for (int l = 0; l < kQuarter; ++l) {
      const int high = c[l] >> 4 | (c[l + kQuarter] >> 4) << 2 | (c[l + 2 * kQuarter] >> 4) << 4;
      block.high[half * 32 + l] = static_cast<uint8_t>(high | (c[l + 3 * kQuarter] >> 4) << 6);
    }
  }
}

}  // namespace

void Q6_K::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  std::copy_n(block.scales, kGroups, parts.scales);
  // A run of 32 values has the same shifts and consecutive bytes.
  for (int first = 0; first < kValues; first += 32) {
    const Place at = place_of(first);
    const uint8_t *low = block.low + at.low, *high = block.high + at.high;
    for (int l = 0; l < 32; ++l) {
      parts.codes[first + l] =
          static_cast<uint8_t>((low[l] >> at.low_shift & 15) | (high[l] >> at.high_shift & 3) << 4);
    }
  }
}

Q6_K::Block Q6_K::encode(const float* from) {
  float x[kValues], scales[kGroups];
  for (int i = 0; i < kValues; ++i) x[i] = std::isnan(from[i]) ? 0.0f : from[i];
  for (int g = 0; g < kGroups; ++g) scales[g] = best_scale(x + g * kQ6_KGroup, [](int) { return 1.0f; });
  Block block = {};
  set_scales(scales, block);
  put_codes(x, block);
  return block;
}

Q6_K::Block Q6_K::encode_weighted(const float* from, const float* given) {
  float x[kValues], weights[kValues], scales[kGroups];
  for (int i = 0; i < kValues; ++i) x[i] = std::isnan(from[i]) ? 0.0f : from[i];
  for (int g = 0; g < kGroups; ++g) {
    float* const w = weights + g * kQ6_KGroup;
    even_out({given + g * kQ6_KGroup, kQ6_KGroup}, w);
    scales[g] = best_scale(x + g * kQ6_KGroup, [&](int j) { return w[j]; });
  }
  Block block = {};
  set_scales(scales, block);
  refine_scales(x, weights, block);
  put_codes(x, block);
  return block;
}

}  // namespace tern
