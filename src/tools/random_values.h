// Random numbers that are the same on every platform: integers from a counter, and floats computed from them with
// operations that IEEE 754 defines exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tern {

// The output function of SplitMix64 (Steele, Lea and Flood 2014, "Fast Splittable Pseudorandom Number Generators"): a
// bijection in which every input bit flips half of the output bits on average.
constexpr uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// The numbers of one key, in any order. Value i depends only on the key and i, so loops over i vectorize and threads
// share no state.
class CounterRandom {
 public:
  constexpr explicit CounterRandom(uint64_t key) : key_(mix64(key)) {}
  constexpr uint64_t operator()(uint64_t i) const { return mix64(key_ + (i + 1) * 0x9E3779B97F4A7C15u); }

 private:
  uint64_t key_;
};

// Fills with −1, 0 and +1 with probabilities 5/16, 6/16 and 5/16. The size is a multiple of 8.
void fill_ternary(CounterRandom random, std::span<float> values);
inline constexpr double kTernaryVariance = 0.625;

// Fills with bell-shaped numbers of this mean and standard deviation, at most 3.47 deviations from the mean. They are
// sums of four uniform numbers, because the exact method needs a logarithm, which differs between C libraries.
void fill_normal(CounterRandom random, float mean, float deviation, std::span<float> values);

}  // namespace tern
