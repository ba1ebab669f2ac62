#include "file/gguf/gguf_q2_0.h"

#include "file/gguf/gguf_test_support.h"

namespace tern {
namespace {

using enum ErrorCode;

constexpr uint64_t kAlignment = 32;

TensorRoom room(uint64_t n_values, uint64_t bytes, bool is_last = false, uint64_t row = 256) {
  return {.n_values = n_values, .row = row, .bytes = bytes, .is_last = is_last};
}
std::optional<GgmlType> layout(std::initializer_list<TensorRoom> rooms) {
  return q2_0_layout(std::span(rooms.begin(), rooms.size()), kAlignment);
}

TEST(GgufQ2_0, EveryTensorHasASay) {
  // 4096 values: 1152 bytes in groups of 64, 1088 in groups of 128. 512 values: 144 and 136, both padded to 160.
  EXPECT_EQ(layout({room(4096, 1152)}), GgmlType::kQ2_0);
  EXPECT_EQ(layout({room(4096, 1088)}), GgmlType::kPQ2_0);
  EXPECT_EQ(layout({room(512, 160), room(4096, 1152)}), GgmlType::kQ2_0);
  EXPECT_EQ(layout({room(4096, 1088), room(512, 160)}), GgmlType::kPQ2_0);
  EXPECT_EQ(layout({room(4096, 1088), room(4096, 1152)}), std::nullopt);  // one program writes a whole file
  EXPECT_EQ(layout({room(4096, 672)}), GgmlType::kSTQ1_0);
  EXPECT_EQ(layout({room(4096, 672, false, 128)}), std::nullopt);  // rows that are not whole blocks of 256
  EXPECT_EQ(layout({room(4096, 672), room(4096, 1152)}), std::nullopt);
  EXPECT_EQ(layout({room(4096, 1120)}), std::nullopt);
  EXPECT_EQ(layout({room(512, 160)}), std::nullopt);
  EXPECT_EQ(layout({room(512, 160, false, 64)}), GgmlType::kQ2_0);  // rows that are not whole groups of 128
}

TEST(GgufQ2_0, TheLastTensorMayLackItsPadding) {
  EXPECT_EQ(layout({room(512, 144, true)}), GgmlType::kQ2_0);
  EXPECT_EQ(layout({room(512, 136, true)}), GgmlType::kPQ2_0);
  EXPECT_EQ(layout({room(512, 84, true)}), GgmlType::kSTQ1_0);
  EXPECT_EQ(layout({room(512, 160, true)}), std::nullopt);
  EXPECT_EQ(layout({room(4096, 9999, true)}), std::nullopt);
  // The other tensors decide, whatever the end of the file looks like.
  EXPECT_EQ(layout({room(4096, 1152), room(4096, 9999, true)}), GgmlType::kQ2_0);
  EXPECT_EQ(layout({room(4096, 1088), room(4096, 100, true)}), GgmlType::kPQ2_0);
}

TEST(GgufQ2_0, TensorsGetTheTypeOfTheirLayout) {
  for (const auto& [bytes_each, type] :
       {std::pair(1152, GgmlType::kQ2_0), {1088, GgmlType::kPQ2_0}, {672, GgmlType::kSTQ1_0}}) {
    GgufBytes bytes(3, 0);
    bytes.tensor("b", {256, 16}, 42, static_cast<uint64_t>(bytes_each)).tensor("a", {256, 16}, 42, 0);
    bytes.tensor("norm", {8}, 0, static_cast<uint64_t>(2 * bytes_each)).align();
    bytes.data(static_cast<size_t>(bytes_each), 'a').data(static_cast<size_t>(bytes_each), 'b').data(32);
    const auto file = bytes.parse();
    ASSERT_TRUE(file) << file.error().message;
    for (const std::string_view name : {"a", "b"}) {
      EXPECT_EQ(file->find_tensor(name)->type, type);
      EXPECT_EQ(as_text(file->find_tensor(name)->data), std::string(static_cast<size_t>(bytes_each), name[0]));
    }
  }
}

TEST(GgufQ2_0, ACutFileIsCut) {
  GgufBytes bytes(1, 0);
  bytes.tensor("a", {128, 32}, 42, 0).align().data(1000);
  expect_refused(bytes.parse(), kCorruption, "(152 are missing)");
}

TEST(GgufQ2_0, RefusesWhatFitsNeither) {
  GgufBytes bytes(2, 0);
  bytes.tensor("a", {128, 32}, 42, 0).tensor("norm", {8}, 0, 2048).align().data(4096);
  expect_refused(bytes.parse(), kNotSupported,
                 "groups of 64 or of 128, or STQ1_0, and the 2048 bytes that it takes fit none");
  GgufBytes nowhere(1, 0);
  nowhere.tensor("a", {128, 32}, 42, 0ull - 32).align().data(4096);
  expect_refused(nowhere.parse(), kCorruption, "beyond any file");
}

// ik_llama.cpp's IQ2_TN has 2 bits per value and 4 bytes per row; IQ1_TN has 13 bytes per 64 values and 2 per row.
TEST(GgufQ2_0, RefusesTheNamesakesOfPrismTypes) {
  const auto file = [](uint32_t type, uint64_t bytes) {
    GgufBytes made(2, 0);
    made.tensor("a", {512, 32}, type, 0).tensor("norm", {8}, 0, bytes).align().data(bytes).data(32);
    return made.parse();
  };
  EXPECT_TRUE(file(142, 4352));
  EXPECT_TRUE(file(143, 3584));
  expect_refused(file(142, 4224), kNotSupported,
                 "has type 142 and takes 4224 bytes, not the 4352 of PQ2_0: it may be IQ2_TN");
  expect_refused(file(143, 3392), kNotSupported,
                 "has type 143 and takes 3392 bytes, not the 3584 of PTQ1_0: it may be IQ1_TN");
}

}  // namespace
}  // namespace tern
