// Pseudorandom numbers, the same every time.
#pragma once

#include <cstdint>

namespace tern::gpu {

class Noise {
 public:
  // -1 … 1
  float operator()() {
    state_ = state_ * 1664525 + 1013904223;
    return static_cast<float>(state_ >> 8) * 0x1p-23f - 1;
  }

 private:
  uint32_t state_ = 1;
};

}  // namespace tern::gpu
