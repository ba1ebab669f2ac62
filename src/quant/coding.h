// The common parts of every block format, whatever its bit layout: codes, small integers that scale them, and one or
// two f16 numbers that scale those. Decoders, encoders, other layouts and device layouts are built on these parts, so a
// new format needs only a function that unpacks its blocks and one that packs them.
#pragma once

#include <bit>
#include <cstdint>

#include "base/half.h"

namespace tern {

inline constexpr int kMostBlock = 256;  // values in the largest block of any format
inline constexpr int kMostGroups = 16;  // groups in a block of any format, at most

// A value is (d · scale) · level − dmin · min, with the scale and min of its group. Its level is code − zero, or
// levels[code] if there is a table. d · scale, its product with the level, and dmin · min are exact in f32. Only the
// difference is rounded, so all decoders agree on every bit.
struct Coding {
  int n_codes = 0;  // 0: the format stores floats and has no coding
  int zero = 0;     // the code for the value 0
  int group = 0;    // adjacent values that share a scale
  // Scales are integers from `least_scale` to `most_scale`; 1 and 1 mean that d is the only scale. Mins are integers
  // from 0 to `most_scale`.
  int least_scale = 1, most_scale = 1;
  bool has_mins = false;
  const int8_t* levels = nullptr;  // [n_codes], ascending; only for levels that are not evenly spaced
  bool has_bf16_d = false;         // BlockParts::d is a bfloat16, for powers of two that f16 lacks

  constexpr bool has_codes() const { return n_codes > 0; }
  constexpr int bits() const { return std::bit_width(static_cast<unsigned>(n_codes - 1)); }  // of a code
  constexpr bool has_scales() const { return most_scale > 1; }
  constexpr int level(int code) const { return levels ? levels[code] : code - zero; }
  constexpr float d(uint16_t bits) const { return has_bf16_d ? bf16_to_f32(bits) : f16_to_f32(bits); }
};

// The parts of one block. Only the first `block` codes and the first `block / group` scales and mins are used.
struct BlockParts {
  uint16_t d, dmin;  // f16 (see Coding::has_bf16_d); dmin only if the format has mins
  int8_t scales[kMostGroups];
  uint8_t mins[kMostGroups];
  uint8_t codes[kMostBlock];  // in the order of the values
};

}  // namespace tern
