// Test values, and the unit of float rounding errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace tern::conform {

// A deterministic source of test values: floats in [−1, 1], occasionally a larger one or a zero.
class Values {
 public:
  explicit Values(uint64_t seed) : random_(seed) {}
  float next() {
    const uint64_t kind = random_() % 50;
    if (kind == 0) return 0.0f;
    const float value = static_cast<float>(static_cast<double>(random_() % 2'000'001) / 1e6 - 1.0);
    return kind == 1 ? value * 30 : value;
  }
  int integer(int from, int to) { return from + static_cast<int>(random_() % static_cast<uint64_t>(to - from + 1)); }
  template <class Container>
  void fill(Container& values) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = next();
  }

 private:
  std::mt19937_64 random_;
};

// `count` values, multiplied by `factor`.
inline std::vector<float> random(size_t count, uint64_t seed, float factor = 1) {
  std::vector<float> values(count);
  Values(seed).fill(values);
  for (float& value : values) value *= factor;
  return values;
}

// Σ (values − expected)² / Σ expected².
inline double nmse(std::span<const float> values, std::span<const float> expected) {
  double errors = 0, squares = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = static_cast<double>(values[i]) - expected[i];
    errors += error * error;
    squares += static_cast<double>(expected[i]) * expected[i];
  }
  return errors / squares;
}

inline constexpr float kEps = 1e-3f;  // the norms' epsilon in these tests

// The rounding error of one float operation, relative to its result.
inline constexpr double kUlp = 0x1p-24;

}  // namespace tern::conform
