#include "model/hf/ternary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/half.h"
#include "quant/formats/i2_s.h"
#include "support/checkout.h"

namespace tern {
namespace {

// Packs like transformers' pack_weights: the four quarters of the rows share bytes.
std::vector<std::byte> pack(const std::vector<int8_t>& codes, int64_t rows, int64_t cols) {
  std::vector<std::byte> packed(static_cast<size_t>(rows / 4 * cols));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const int code = codes[static_cast<size_t>(r * cols + c)] + 1;
      packed[static_cast<size_t>(r % (rows / 4) * cols + c)] |= static_cast<std::byte>(code << 2 * (r / (rows / 4)));
    }
  }
  return packed;
}

std::vector<int8_t> codes_of(Bytes i2_s) {
  std::vector<int8_t> codes((i2_s.size() - kI2sTailBytes) * 4);
  decode_i2_s_codes(i2_s.first(i2_s.size() - kI2sTailBytes), codes);
  return codes;
}

// A whole tensor at once.
bool repack(const StoredBytes& packed, int64_t rows, int64_t cols, float scale, MutableBytes i2_s, ThreadPool& pool) {
  bool is_good = false;
  const auto make = [&](uint64_t first, uint64_t n, MutableBytes out) -> Result<void> {
    TRY(is_good,
        repack_hf_ternary({packed, rows, cols}, {static_cast<int64_t>(first), static_cast<int64_t>(n)}, out, pool));
    return {};
  };
  EXPECT_TRUE(i2_s_rows(rows, cols, scale, make)->read(0, i2_s));
  return is_good;
}

float quantize(const HfLatent& latent, MutableBytes i2_s, ThreadPool& pool) {
  const HfTernaryScale scale = hf_ternary_scale(latent, pool).value();
  const auto make = [&](uint64_t first, uint64_t n, MutableBytes out) {
    return quantize_hf_ternary(latent, scale, {static_cast<int64_t>(first), static_cast<int64_t>(n)}, out, pool);
  };
  EXPECT_TRUE(i2_s_rows(latent.rows, latent.cols, scale.scale, make)->read(0, i2_s));
  return scale.scale;
}

TEST(HfTernary, WorkedExample) {
  std::vector<std::byte> packed(2 * 128, std::byte{0x92});
  std::fill(packed.begin() + 128, packed.end(), std::byte{0x09});
  std::vector<std::byte> i2_s(8 * 128 / 4 + kI2sTailBytes, std::byte{0xEE});
  ThreadPool pool(1);
  ASSERT_TRUE(repack(packed, 8, 128, 1.5f, i2_s, pool));
  const std::vector<int8_t> codes = codes_of(i2_s);
  const int8_t rows[] = {+1, 0, -1, +1, 0, -1, +1, -1};
  for (size_t i = 0; i < codes.size(); ++i) ASSERT_EQ(codes[i], rows[i / 128]) << i;
  EXPECT_EQ(i2_s_scale(i2_s), 1.5f);
}

TEST(HfTernary, EveryCodeFindsItsPlace) {
  constexpr int64_t kRows = 20, kCols = 384;
  std::mt19937 random(3);
  std::vector<int8_t> codes(kRows * kCols);
  for (int8_t& code : codes) code = static_cast<int8_t>(random() % 3) - 1;
  const auto packed = pack(codes, kRows, kCols);
  for (const int n_threads : {1, 3, 8}) {
    ThreadPool pool(n_threads);
    std::vector<std::byte> i2_s(kRows * kCols / 4 + kI2sTailBytes);
    ASSERT_TRUE(repack(packed, kRows, kCols, 1.0f, i2_s, pool));
    EXPECT_EQ(codes_of(i2_s), codes);
  }
}

// Rows that end inside a block of I2_S.
TEST(HfTernary, RowsNeedNotBeWholeBlocks) {
  constexpr int64_t kRows = 12;
  for (const int64_t cols : {36, 64, 160, 300}) {
    std::mt19937 random(5);
    std::vector<int8_t> codes(static_cast<size_t>(kRows * cols));
    for (int8_t& code : codes) code = static_cast<int8_t>(random() % 3) - 1;
    const uint64_t stride = row_bytes(Format::kI2_S, cols);
    ThreadPool pool(2);
    std::vector<std::byte> i2_s(kRows * stride + kI2sTailBytes, std::byte{0xEE}), latent_i2_s = i2_s;
    ASSERT_TRUE(repack(pack(codes, kRows, cols), kRows, cols, 1.0f, i2_s, pool));
    const std::vector<float> latent(codes.begin(), codes.end());
    quantize({std::as_bytes(std::span(latent)), Format::kF32, kRows, cols}, latent_i2_s, pool);
    for (uint64_t r = 0; r < kRows; ++r) {
      std::vector<std::byte> expected(stride);
      encode_i2_s_codes(std::span(codes).subspan(r * static_cast<uint64_t>(cols), static_cast<size_t>(cols)), expected);
      ASSERT_TRUE(std::ranges::equal(std::span(i2_s).subspan(r * stride, stride), expected)) << cols << ", row " << r;
      ASSERT_TRUE(std::ranges::equal(std::span(latent_i2_s).subspan(r * stride, stride), expected)) << cols;
    }
  }
}

TEST(HfTernary, TheImpossibleCodeIsSeenAnywhere) {
  ThreadPool pool(2);
  std::vector<std::byte> i2_s(16 * 128 / 4 + kI2sTailBytes);
  for (const size_t at : {0u, 100u, 511u}) {
    for (const int shift : {0, 2, 4, 6}) {
      std::vector<std::byte> packed(4 * 128, std::byte{0x92});
      packed[at] = static_cast<std::byte>(3 << shift);
      EXPECT_FALSE(repack(packed, 16, 128, 1.0f, i2_s, pool)) << at << " " << shift;
      packed[at] = static_cast<std::byte>(2 << shift | 1 << (shift ^ 2));
      EXPECT_TRUE(repack(packed, 16, 128, 1.0f, i2_s, pool)) << at << " " << shift;
    }
  }
}

// Pairs of lines from transformers' WeightQuant (tests/golden/make_container_goldens.py).
TEST(HfTernary, LatentWeightsAsTransformersQuantizesThem) {
  std::ifstream file(source_path("tests/golden/containers/weight_quant.txt"));
  const auto read_line = [&] {
    std::string line;
    std::getline(file, line);
    std::vector<uint16_t> values;
    for (size_t i = 0; i + 4 <= line.size(); i += 4) {  // little-endian bytes
      const auto byte = [&](size_t at) { return std::stoi(line.substr(at, 2), nullptr, 16); };
      values.push_back(static_cast<uint16_t>(byte(i) | byte(i + 2) << 8));
    }
    return values;
  };
  for (int n = 0; n < 4; ++n) {
    const std::vector<uint16_t> latent = read_line(), expected = read_line();
    ASSERT_EQ(latent.size(), 512u);
    ASSERT_EQ(expected.size(), 512u);
    for (const int n_threads : {1, 3}) {
      ThreadPool pool(n_threads);
      std::vector<std::byte> i2_s(512 / 4 + kI2sTailBytes);
      const float scale = quantize({std::as_bytes(std::span(latent)), Format::kBF16, 4, 128}, i2_s, pool);
      EXPECT_EQ(i2_s_scale(i2_s), scale);
      const std::vector<int8_t> codes = codes_of(i2_s);
      for (size_t i = 0; i < 512; ++i) {
        ASSERT_EQ(static_cast<float>(codes[i]) * scale, bf16_to_f32(expected[i])) << n << " at " << i;
      }
    }
  }
}

TEST(HfTernary, OtherFormatsAndNoNumbers) {
  ThreadPool pool(2);
  std::vector<std::byte> i2_s(4 * 128 / 4 + kI2sTailBytes);
  std::vector<float> w(512, -0.25f);
  w[0] = 0.1f;
  w[1] = 0.13f;  // just above half the mean
  w[511] = 0.75f;
  const float mean = (510 * 0.25f - 0.25f + 0.1f + 0.13f + 0.75f) / 512;
  const float scale = quantize({std::as_bytes(std::span(w)), Format::kF32, 4, 128}, i2_s, pool);
  EXPECT_NEAR(scale, mean, 1e-7f);
  const std::vector<int8_t> codes = codes_of(i2_s);
  EXPECT_EQ(codes[0], 0);
  EXPECT_EQ(codes[1], 1);
  EXPECT_EQ(codes[2], -1);
  EXPECT_EQ(codes[511], 1);
  w[77] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(quantize({std::as_bytes(std::span(w)), Format::kF32, 4, 128}, i2_s, pool)));
  w[77] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(std::isfinite(quantize({std::as_bytes(std::span(w)), Format::kF32, 4, 128}, i2_s, pool)));
}

}  // namespace
}  // namespace tern
