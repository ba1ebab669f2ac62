// Random numbers that are the same on all platforms: the standard fixes its generators, but not its distributions.
#pragma once

#include <cmath>
#include <cstdint>

namespace tern::load {

// SplitMix64. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
class Random {
 public:
  // The streams of one seed are independent of each other.
  explicit Random(uint64_t seed, uint64_t stream = 0) : state_(mix(seed) ^ mix(~stream)) {}

  uint64_t next() { return mix(state_ += kStep); }

  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // Uniform in [0, n), n < 2^32. The bias if `n` does not divide 2^32 is too small to matter.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }

  // Seconds to the next of independent (Poisson) arrivals at `rate` per second on average.
  double seconds_to_next(double rate) { return -std::log1p(-uniform()) / rate; }

 private:
  static constexpr uint64_t kStep = 0x9E3779B97F4A7C15;

  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }

  uint64_t state_;
};

}  // namespace tern::load
