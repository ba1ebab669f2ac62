// Tests the formats against llama.cpp's own reader and writer, through tests/golden/quant_blocks.txt.
// make_quant_goldens.py writes that file and describes its lines.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "quant/quant_test_support.h"
#include "support/checkout.h"

namespace tern {
namespace {

using namespace quant_test;

struct Golden {
  std::string kind;
  const FormatInfo* format;
  ByteVector bytes;
  std::vector<float> values;
};

std::vector<float> values_from_hex(const std::string& text) {
  std::vector<float> values;
  for (size_t i = 0; i < text.size(); i += 8) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(std::stoul(text.substr(i, 8), nullptr, 16))));
  }
  return values;
}

std::vector<Golden> load_goldens() {
  std::ifstream file(source_path("tests/golden/quant_blocks.txt"));
  std::vector<Golden> goldens;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#") || line.starts_with("hash")) continue;
    std::istringstream words(line);
    std::string kind, format, first, second;
    words >> kind >> format >> first >> second;
    if (kind != "decode") std::swap(first, second);
    goldens.push_back({kind, find_format(format), from_hex(first), values_from_hex(second)});
  }
  return goldens;
}

std::vector<uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

double squared_error(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// Bit for bit, including the sign of zeros: a value of these formats is at most two correctly rounded products.
TEST(Golden, DecodesLikeLlamaCpp) {
  std::map<Format, int> seen;
  for (const Golden& golden : load_goldens()) {
    if (golden.kind != "decode") continue;
    ASSERT_NE(golden.format, nullptr);
    EXPECT_EQ(bits_of(decode(golden.format->format, golden.bytes)), bits_of(golden.values)) << golden.format->name;
    ++seen[golden.format->format];
  }
  EXPECT_EQ(seen.size(), 9u);  // F16, BF16, and seven block formats
}

// random_bytes() of make_quant_goldens.py.
ByteVector random_bytes(size_t n) {
  ByteVector bytes(n);
  uint64_t state = 1;
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

// hash_of() of make_quant_goldens.py.
uint64_t hash_of(const std::vector<float>& values) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const float value : values) {
    const uint32_t word = std::isnan(value) ? 0x7FC00000 : std::bit_cast<uint32_t>(value);
    hash = (hash ^ word) * 0x100000001B3u;
  }
  return hash;
}

// The same with random bytes: every code in every position, many scales and mins, also infinities and NaN.
TEST(Golden, DecodesRandomBytesLikeLlamaCpp) {
  std::ifstream file(source_path("tests/golden/quant_blocks.txt"));
  std::map<Format, int> seen;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, name;
    size_t n_blocks = 0;
    uint64_t hash = 0;
    words >> kind >> name >> n_blocks >> std::hex >> hash;
    const FormatInfo* format = kind == "hash" ? find_format(name) : nullptr;
    if (!format) continue;
    const ByteVector bytes = random_bytes(n_blocks * static_cast<size_t>(format->block_bytes));
    EXPECT_EQ(hash_of(decode(format->format, bytes)), hash) << name;
    ++seen[format->format];
  }
  // All formats except the floats, and except I2_S, PQ2_0, PTQ1_0 and STQ1_0, which llama.cpp does not have.
  EXPECT_EQ(seen.size(), formats().size() - 7);
}

TEST(Golden, EncodesLikeLlamaCpp) {
  std::map<Format, int> seen;
  for (const Golden& golden : load_goldens()) {
    if (golden.kind != "encode") continue;
    ASSERT_NE(golden.format, nullptr);
    EXPECT_EQ(encode(golden.format->format, golden.values), golden.bytes) << golden.format->name;
    ++seen[golden.format->format];
  }
  EXPECT_EQ(seen.size(), 7u);
}

// Another search finds other bytes. Tern minimizes the squared error itself, while some of llama.cpp's searches give
// large values more weight. So Tern's error may be smaller, but not notably larger.
TEST(Golden, SearchesAsWellAsLlamaCpp) {
  std::map<Format, int> seen;
  for (const Golden& golden : load_goldens()) {
    if (golden.kind != "search") continue;
    const Format format = golden.format->format;
    const double ours = squared_error(decode(format, encode(format, golden.values)), golden.values);
    const double theirs = squared_error(decode(format, golden.bytes), golden.values);
    EXPECT_LE(ours, 1.05 * theirs) << golden.format->name << ", row " << seen[format];
    ++seen[format];
  }
  EXPECT_EQ(seen.size(), 10u);
  for (const auto& [format, n] : seen) EXPECT_EQ(n, 6) << format_info(format).name;
}

}  // namespace
}  // namespace tern
