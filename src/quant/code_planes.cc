#include "quant/code_planes.h"

namespace tern {

void unpack_k_scales(const uint8_t (&bytes)[12], BlockParts& parts) {
  for (int g = 0; g < 4; ++g) {
    parts.scales[g] = static_cast<int8_t>(bytes[g] & 63);
    parts.mins[g] = bytes[g + 4] & 63;
    parts.scales[g + 4] = static_cast<int8_t>((bytes[g + 8] & 15) | bytes[g] >> 6 << 4);
    parts.mins[g + 4] = static_cast<uint8_t>(bytes[g + 8] >> 4 | bytes[g + 4] >> 6 << 4);
  }
}

void pack_k_scales(const BlockParts& parts, uint8_t (&bytes)[12]) {
  for (int g = 0; g < 4; ++g) {
    const int scale = parts.scales[g + 4], min = parts.mins[g + 4];
    bytes[g] = static_cast<uint8_t>(parts.scales[g] | scale >> 4 << 6);
    bytes[g + 4] = static_cast<uint8_t>(parts.mins[g] | min >> 4 << 6);
    bytes[g + 8] = static_cast<uint8_t>((scale & 15) | (min & 15) << 4);
  }
}

}  // namespace tern
