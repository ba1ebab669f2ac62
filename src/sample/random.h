// Random numbers that are the same on every platform, unlike the distributions of <random>.
#pragma once

#include <cstdint>

namespace tern {

// SplitMix64: a 64-bit counter stepped by the golden ratio, and a mixing function. Every seed is good, including zero.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, with the constants of
// https://prng.di.unimi.it/splitmix64.c.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // Rewinds: the last n numbers come again.
  void step_back(uint64_t n) { state_ -= n * 0x9E3779B97F4A7C15u; }

  // Uniform in [0, 1), in steps of 2^-24.
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

 private:
  uint64_t state_;
};

}  // namespace tern
