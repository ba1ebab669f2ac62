#include "quant/formats/i2_s.h"

#include <gtest/gtest.h>

#include "quant/quant_test_support.h"

namespace tern {
namespace {

using namespace quant_test;

// Byte and shift of value i, from the table in the layout's documentation, not from the loops under test.
constexpr int kShiftOfPlane[4] = {6, 4, 2, 0};

ByteVector all_zero_codes() { return repeated("55", kI2sBlockBytes); }

ByteVector with_code(ByteVector block, int i, int code) {
  const int shift = kShiftOfPlane[i / 32];
  std::byte& byte = block[i % 32];
  byte = (byte & ~static_cast<std::byte>(3 << shift)) | static_cast<std::byte>(code << shift);
  return block;
}

TEST(I2S, WorkedExample) {
  std::vector<int8_t> codes(128, 0);
  codes[0] = 1;
  codes[1] = -1;
  codes[32] = 1;
  codes[127] = -1;
  ByteVector tensor(64, std::byte{0xEE});
  encode_i2_s_tensor(codes, 1.5f, tensor);
  EXPECT_EQ(tensor, from_hex("a5 15") + repeated("55", 29) + from_hex("54 0000c03f") + repeated("00", 28));
  EXPECT_EQ(i2_s_scale(tensor), 1.5f);
  std::vector<int8_t> decoded(128);
  decode_i2_s_codes(Bytes(tensor).first(32), decoded);
  EXPECT_EQ(decoded, codes);
}

TEST(I2S, EveryPosition) {
  for (int i = 0; i < kI2sBlock; ++i) {
    for (const int value : {-1, 1}) {
      const ByteVector block = with_code(all_zero_codes(), i, value + 1);
      const std::vector<float> expected = one_hot(kI2sBlock, i, static_cast<float>(value));
      ASSERT_EQ(decode(Format::kI2_S, block), expected) << i;
      ASSERT_EQ(encode(Format::kI2_S, expected), block) << i;
    }
  }
}

TEST(I2S, RandomCodesSurviveTheRoundTrip) {
  const std::vector<float> values = Random(1).ternary(64 * kI2sBlock, 1.0f);
  EXPECT_EQ(decode(Format::kI2_S, encode(Format::kI2_S, values)), values);
  const std::vector<int8_t> codes(values.begin(), values.end());
  ByteVector blocks(codes.size() / 4);
  encode_i2_s_codes(codes, blocks);
  EXPECT_EQ(blocks, encode(Format::kI2_S, values));
  std::vector<int8_t> back(codes.size());
  decode_i2_s_codes(blocks, back);
  EXPECT_EQ(back, codes);
}

TEST(I2S, RowsEndInABlockThatIsFilledUp) {
  for (const uint32_t n : {1u, 31u, 32u, 33u, 64u, 100u, 127u, 129u, 200u, 320u}) {
    const std::vector<float> values = Random(n).ternary(static_cast<int>(n), 1.0f);
    ByteVector row(row_bytes(Format::kI2_S, static_cast<int64_t>(n)), std::byte{0xEE});
    encode_i2_s(values, row);
    std::vector<float> back(n);
    decode_i2_s(row, back);
    EXPECT_EQ(back, values) << n;
    std::vector<float> all(row.size() * 4);
    decode_i2_s(row, all);
    for (size_t i = n; i < all.size(); ++i) ASSERT_EQ(all[i], -1.0f) << "code 0 behind value " << n << " at " << i;
  }
}

// In a file the blocks run across rows.
TEST(I2S, CopiesCodesBetweenFlatBlocksAndRows) {
  constexpr size_t kRows = 7;
  for (const uint32_t cols : {4u, 32u, 36u, 64u, 96u, 100u, 128u, 160u, 324u}) {
    const std::vector<float> values = Random(cols).ternary(static_cast<int>(kRows * cols), 1.0f);
    ByteVector flat(i2_s_bytes(values.size())), again(flat.size());
    encode_i2_s(values, flat);
    const size_t stride = row_bytes(Format::kI2_S, static_cast<int64_t>(cols));
    for (size_t r = 0; r < kRows; ++r) {
      ByteVector row(stride), expected(stride);
      copy_i2_s_codes(flat, row, {.from_at = r * cols, .to_at = 0}, cols);
      encode_i2_s(std::span(values).subspan(r * cols, cols), expected);
      ASSERT_EQ(row, expected) << cols << " columns, row " << r;
      copy_i2_s_codes(row, again, {.from_at = 0, .to_at = r * cols}, cols);
    }
    EXPECT_EQ(again, flat) << cols;
  }
}

TEST(I2S, CopyingKeepsTheImpossibleCodeAndItsNeighbors) {
  ByteVector from = all_zero_codes(), to = repeated("aa", kI2sBlockBytes);
  from = with_code(from, 40, 3);
  copy_i2_s_codes(from, to, {.from_at = 40, .to_at = 99}, 1);
  EXPECT_EQ(to, with_code(repeated("aa", kI2sBlockBytes), 99, 3));
}

// Files may pad the tail with anything; only its first four bytes have a meaning.
TEST(I2S, ScaleIgnoresThePadding) {
  ByteVector tensor = all_zero_codes() + from_hex("0000003f") + repeated("ff", 28);
  EXPECT_EQ(i2_s_scale(tensor), 0.5f);
  EXPECT_EQ(find_i2_s_code3(tensor), -1);
}

TEST(I2S, FindsTheImpossibleCodeAnywhere) {
  const int n = 5 * kI2sBlock;
  for (int i = 0; i < n; ++i) {
    ByteVector tensor(n / 4 + kI2sTailBytes);
    encode_i2_s_tensor(std::vector<int8_t>(n, i % 2 ? 1 : -1), 1.0f, tensor);
    ASSERT_EQ(find_i2_s_code3(tensor), -1);
    const int offset = i / kI2sBlock * kI2sBlockBytes + i % 32;
    tensor[offset] |= static_cast<std::byte>(3 << kShiftOfPlane[i % kI2sBlock / 32]);
    ASSERT_EQ(find_i2_s_code3(tensor), offset) << i;
  }
}

TEST(I2S, FindsTheFirstOfSeveral) {
  ByteVector tensor(96, std::byte{0x55});
  tensor[40] = tensor[20] = tensor[21] = std::byte{0xFF};
  EXPECT_EQ(find_i2_s_code3(tensor), 20);
}

// A byte is found exactly if one of its codes is 3.
TEST(I2S, Code3OfEveryByte) {
  for (int byte = 0; byte < 256; ++byte) {
    bool has_three = false;
    for (int shift = 0; shift < 8; shift += 2) has_three |= (byte >> shift & 3) == 3;
    const ByteVector tensor(64, static_cast<std::byte>(byte));
    EXPECT_EQ(find_i2_s_code3(tensor), has_three ? 0 : -1) << byte;
  }
}

TEST(I2S, Code3ReadsAsTwo) {
  const ByteVector block = with_code(all_zero_codes(), 77, 3);
  EXPECT_EQ(decode(Format::kI2_S, block), one_hot(kI2sBlock, 77, 2.0f));
}

TEST(I2SDeathTest, EncodeWantsExactCodes) {
  std::vector<float> values(128, 0.0f);
  values[5] = 0.37f;
  EXPECT_DEATH(encode(Format::kI2_S, values), "value");
}

}  // namespace
}  // namespace tern
