#include "base/files/byte_source.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

namespace tern {
namespace {

// Byte i of row r is 16 · r + i. Records which rows were made.
struct Counted {
  static constexpr uint64_t kRowBytes = 8, kRows = 5;
  std::string made;

  MadeRows rows() {
    const auto make = [this](uint64_t first, uint64_t n, MutableBytes out) -> Result<void> {
      made += std::to_string(first) + "+" + std::to_string(n) + " ";
      if (first == 4) return fail(ErrorCode::kCorruption, "row 4 is bad");
      for (uint64_t i = 0; i < n * kRowBytes; ++i) {
        out[i] = static_cast<std::byte>(16 * (first + i / kRowBytes) + i % kRowBytes);
      }
      return {};
    };
    return {kRowBytes, kRows, make, std::vector(2, std::byte{0xEE})};
  }
};

TEST(MadeRows, MakesOnlyWhatIsRead) {
  Counted counted;
  const MadeRows rows = counted.rows();
  ASSERT_EQ(rows.size(), 42u);
  EXPECT_TRUE(rows.resident().empty());
  std::vector<std::byte> bytes(13);
  ASSERT_TRUE(rows.read(14, bytes));  // from the end of row 1 to the start of row 3
  EXPECT_EQ(counted.made, "1+1 2+1 3+1 ");
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(bytes[i], static_cast<std::byte>(16 * ((14 + i) / 8) + (14 + i) % 8)) << i;
  }
  counted.made.clear();
  bytes.resize(24);
  ASSERT_TRUE(rows.read(8, bytes));
  EXPECT_EQ(counted.made, "1+3 ");  // whole rows in one call
  bytes.resize(2);
  ASSERT_TRUE(rows.read(40, bytes));
  EXPECT_EQ(bytes[1], std::byte{0xEE});
  EXPECT_EQ(counted.made, "1+3 ");
  bytes.resize(4);
  EXPECT_EQ(rows.read(38, bytes).error().message, "row 4 is bad");
}

TEST(StoredBytes, AreInMemoryOrRead) {
  Counted counted;
  const MadeRows rows = counted.rows();
  std::vector<std::byte> memory(32);
  ASSERT_TRUE(rows.read(0, memory));
  const StoredBytes in_memory = memory, in_source(rows, 0, memory.size());
  EXPECT_TRUE(in_memory.is_resident());
  EXPECT_FALSE(in_source.is_resident());
  Scratch scratch;
  for (const StoredBytes& bytes : {in_memory, in_source}) {
    const StoredBytes part = bytes.subspan(3).first(20).last(9);  // from byte 14 on
    EXPECT_EQ(part.size(), 9u);
    const auto read = part.read(2, 4, scratch);
    ASSERT_TRUE(read);
    EXPECT_TRUE(std::ranges::equal(*read, std::span(memory).subspan(16, 4)));
    EXPECT_EQ(bytes.first(0).identity(), bytes.identity());
    EXPECT_NE(part.identity(), bytes.identity());
    EXPECT_EQ(part.identity(), bytes.subspan(14).identity());
  }
  const Bytes same = in_memory.subspan(8);  // no copy
  EXPECT_EQ(same.data(), memory.data() + 8);
  EXPECT_EQ(scratch.bytes(), 4u);
}

TEST(ScratchTest, KeepsItsMemoryAndRefusesWhatCannotBe) {
  Scratch scratch;
  const auto first = scratch.take(100).value();
  EXPECT_EQ(scratch.take(50).value().data(), first.data());
  EXPECT_EQ(scratch.bytes(), 100u);
  EXPECT_EQ(scratch.take(UINT64_MAX).error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(scratch.take(10)->size(), 10u);
}

}  // namespace
}  // namespace tern
