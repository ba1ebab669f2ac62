// What every format of blocks comes down to, whatever order its bits are in: codes, small whole numbers that scale
// them, and one or two f16 numbers that scale those. Decoders, encoders, other layouts and the planes of devices are
// made from these parts, so a new format is a function that takes its blocks apart and one that puts them together.
#pragma once

#include <bit>
#include <cstdint>

namespace tern {

inline constexpr int kMostBlock = 256;  // values of any format's block
inline constexpr int kMostGroups = 16;  // of any format's block

// A value is (d · scale) · level − dmin · min, with the scale and min of its group. Its level is code − zero, or what
// `levels` has for the code. Both products and the one with the level are exact in f32, so that only the difference is
// rounded: all decoders agree on every bit.
struct Coding {
  int n_codes = 0;  // 0: the format has floats, and none of this
  int zero = 0;     // the code that stands for 0
  int group = 0;    // neighbouring values with a scale of their own
  // Scales are whole numbers from `least_scale` to `most_scale`; 1 and 1: d is all there is. Mins go from 0 to the
  // same.
  int least_scale = 1, most_scale = 1;
  bool has_mins = false;
  const int8_t* levels = nullptr;  // [n_codes], ascending, where they are not evenly spaced

  constexpr bool has_codes() const { return n_codes > 0; }
  constexpr int bits() const { return std::bit_width(static_cast<unsigned>(n_codes - 1)); }  // of a code
  constexpr bool has_scales() const { return most_scale > 1; }
  constexpr int level(int code) const { return levels ? levels[code] : code - zero; }
};

// One block. Of the arrays the first `block` codes and `block / group` scales and mins are used.
struct BlockParts {
  uint16_t d, dmin;  // f16; dmin only where the format has mins
  int8_t scales[kMostGroups];
  uint8_t mins[kMostGroups];
  uint8_t codes[kMostBlock];  // in the order of the values
};

}  // namespace tern
