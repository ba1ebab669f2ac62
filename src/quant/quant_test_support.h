// Helpers of the tests of the weight formats.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "quant/format.h"

namespace tern::quant_test {

using ByteVector = std::vector<std::byte>;

// Converts hex digits to bytes ("a5 15"); spaces and '|' are separators.
inline ByteVector from_hex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  ByteVector bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ' || text[i] == '|') continue;
    bytes.push_back(static_cast<std::byte>(digit(text[i]) * 16 + digit(text[i + 1])));
    ++i;
  }
  return bytes;
}

// `pattern` repeated until there are n bytes.
inline ByteVector repeated(std::string_view pattern, size_t n) {
  const ByteVector once = from_hex(pattern);
  ByteVector bytes;
  for (size_t i = 0; i < n; ++i) bytes.push_back(once[i % once.size()]);
  return bytes;
}

inline ByteVector operator+(ByteVector a, const ByteVector& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline std::vector<float> decode(Format format, Bytes blocks) {
  const FormatInfo& info = format_info(format);
  std::vector<float> values(blocks.size() / info.block_bytes * info.block);
  info.decode(blocks, values);
  return values;
}

inline ByteVector encode(Format format, std::span<const float> values) {
  const FormatInfo& info = format_info(format);
  ByteVector blocks(values.size() / info.block * info.block_bytes);
  info.encode(values, blocks);
  return blocks;
}

// All zeros except one value.
inline std::vector<float> one_hot(int n, int i, float value) {
  std::vector<float> values(n, 0.0f);
  values[i] = value;
  return values;
}

// The ternary example in the documentation of several formats: ((j mod 3) − 1) / 2.
inline std::vector<float> ternary_example(int n) {
  std::vector<float> values(n);
  for (int j = 0; j < n; ++j) values[j] = 0.5f * static_cast<float>(j % 3 - 1);
  return values;
}

// The real-valued example in the documentation: ((7j) mod 31 − 15) / 15, from −1 to +1.
inline std::vector<float> real_example(int n) {
  std::vector<float> values(n);
  for (int j = 0; j < n; ++j) values[j] = static_cast<float>(7 * j % 31 - 15) / 15.0f;
  return values;
}

// Gives the same numbers on every platform, unlike std::uniform_*_distribution.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<uint32_t>(n)); }
  // In [−1, 1).
  float uniform() { return static_cast<float>(engine_() >> 8) * 0x1p-23f - 1.0f; }
  // Roughly normal, variance 1: the sum of twelve uniforms.
  float normal() {
    float sum = 0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum * 0.5f;
  }
  std::vector<float> normals(int n, float scale) {
    std::vector<float> values(n);
    for (float& value : values) value = normal() * scale;
    return values;
  }
  std::vector<float> ternary(int n, float scale) {
    std::vector<float> values(n);
    for (float& value : values) value = scale * static_cast<float>(below(3) - 1);
    return values;
  }

 private:
  std::mt19937 engine_;
};

}  // namespace tern::quant_test
