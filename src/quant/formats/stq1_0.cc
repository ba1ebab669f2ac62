#include "quant/formats/stq1_0.h"

#include <cmath>

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {
namespace {

constexpr int kFours = 64, kLanesOfFour = 4, kLaneStride = 16;

int first_value(int group) { return kLanesOfFour * kLaneStride * (group / kLaneStride) + group % kLaneStride; }

// The lane with the least magnitude. NaN counts as 0.
int least_lane(const float* x) {
  int least = 0;
  const auto magnitude = [&](int lane) {
    return std::isnan(x[lane * kLaneStride]) ? 0.0f : std::abs(x[lane * kLaneStride]);
  };
  for (int lane = 1; lane < kLanesOfFour; ++lane) {
    if (magnitude(lane) < magnitude(least)) least = lane;
  }
  return least;
}

}  // namespace

void STQ1_0::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  for (int g = 0; g < kFours; ++g) {
    const int slot = block.slots[g / 2] >> 4 * (g % 2) & 15;
    const int is_negative = block.signs[g / 8] >> g % 8 & 1;
    const int zero = slot / 4;
    const int codes[3] = {is_negative, is_negative ^ (slot & 1), is_negative ^ (slot >> 1 & 1)};
    uint8_t* const out = parts.codes + first_value(g);
    for (int lane = 0; lane < kLanesOfFour; ++lane) {
      const int code = lane == zero ? 1 : 2 - 2 * codes[lane - (lane > zero ? 1 : 0)];
      out[lane * kLaneStride] = static_cast<uint8_t>(code);
    }
  }
}

STQ1_0::Block STQ1_0::encode(const float* values) {
  Block block = {.slots = {}, .signs = {}, .d = f32_to_f16(max_magnitude(values, kValues))};
  for (int g = 0; g < kFours; ++g) {
    const float* const x = values + first_value(g);
    const int zero = least_lane(x);
    const auto is_negative = [&](int n) {
      return x[(n < zero ? n : n + 1) * kLaneStride] < 0;
    };  // of the n-th other lane
    const int slot = 4 * zero + 2 * (is_negative(2) != is_negative(0)) + (is_negative(1) != is_negative(0));
    block.slots[g / 2] = static_cast<uint8_t>(block.slots[g / 2] | slot << 4 * (g % 2));
    block.signs[g / 8] = static_cast<uint8_t>(block.signs[g / 8] | is_negative(0) << g % 8);
  }
  return block;
}

}  // namespace tern
