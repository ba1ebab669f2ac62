#include "file/gguf/imatrix.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "file/gguf/gguf_test_support.h"

namespace tern {
namespace {

// Builds a file of the old format, byte by byte.
class DatBytes {
 public:
  DatBytes& number(int32_t value) { return raw(std::string_view(reinterpret_cast<const char*>(&value), sizeof value)); }
  DatBytes& raw(std::string_view bytes) {
    out_ += bytes;
    return *this;
  }
  DatBytes& entry(std::string_view name, int32_t calls, const std::vector<float>& values) {
    number(static_cast<int32_t>(name.size())).raw(name).number(calls).number(static_cast<int32_t>(values.size()));
    return raw(std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
  }
  const std::string& bytes() const { return out_; }

 private:
  std::string out_;
};

std::vector<float> means(const Imatrix& matrix, std::string_view weight) {
  const auto found = matrix.find(weight);
  return {found.begin(), found.end()};
}

DatBytes two_entries() {
  return DatBytes().number(2).entry("blk.0.attn_q.weight", 4, {4, 0, 10}).entry("output.weight", 0, {3});
}

TEST(Imatrix, OldFilesHoldSumsOverCalls) {
  for (const std::string& bytes :
       {two_entries().bytes(), two_entries().number(7).bytes(), two_entries().number(7).number(3).raw("txt").bytes()}) {
    const auto matrix = Imatrix::parse_dat(as_bytes(bytes), "a.dat");
    ASSERT_TRUE(matrix) << matrix.error().message;
    EXPECT_EQ(matrix->entries().size(), 2u);
    EXPECT_EQ(means(*matrix, "blk.0.attn_q.weight"), (std::vector<float>{1, 0, 2.5}));
    EXPECT_EQ(means(*matrix, "output.weight"), std::vector<float>{3});  // no calls: unchanged
    EXPECT_TRUE(matrix->find("token_embd.weight").empty());
  }
}

TEST(Imatrix, OldFilesThatEndAnywhereElseAreRefused) {
  const std::string whole = two_entries().number(7).number(3).raw("txt").bytes();
  const size_t entries_end = two_entries().bytes().size();
  for (size_t n = 0; n < whole.size(); ++n) {
    const auto matrix = Imatrix::parse_dat(as_bytes(std::string_view(whole).substr(0, n)), "a.dat");
    const bool is_complete = n == entries_end || n == entries_end + 4;
    EXPECT_EQ(matrix.has_value(), is_complete) << n;
    if (!matrix) {
      EXPECT_EQ(matrix.error().code, ErrorCode::kCorruption);
      EXPECT_TRUE(matrix.error().message.starts_with("a.dat: the file ends inside ")) << matrix.error().message;
    }
  }
}

TEST(Imatrix, OldFilesThatCannotBeTrueAreRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const struct {
    std::string bytes;
    const char* message;
  } cases[] = {
      {DatBytes().number(0).bytes(), "begins with 0 entries"},
      {DatBytes().number(-1).bytes(), "begins with -1 entries"},
      {DatBytes().number(1).number(-5).bytes(), "the length of an entry's name at byte 4 is -5"},
      {DatBytes().number(1).number(1 << 30).bytes(), "the length of an entry's name at byte 4 is 1073741824"},
      {DatBytes().number(1).entry("w", -1, {1}).bytes(), "'w' has -1 calls and 1 values"},
      {DatBytes().number(1).entry("w", 1, {}).bytes(), "'w' has 1 calls and 0 values"},
      {DatBytes().number(1).number(1).raw("w").number(1).number(2'000'000'000).bytes(), "inside an entry's values"},
      {DatBytes().number(1).entry("w", 1, {1, -2}).bytes(), "value 1 of 'w' is -2"},
      {DatBytes().number(1).entry("w", 1, {nan}).bytes(), "value 0 of 'w' is "},
      {DatBytes().number(2).entry("w", 1, {1}).entry("w", 1, {1}).bytes(), "two entries for 'w'"},
      {two_entries().number(7).number(3).raw("txt").raw("more").bytes(), "bytes after the end"},
  };
  for (const auto& c : cases) {
    const auto matrix = Imatrix::parse_dat(as_bytes(c.bytes), "a.dat");
    ASSERT_FALSE(matrix) << c.message;
    EXPECT_EQ(matrix.error().code, ErrorCode::kCorruption);
    EXPECT_NE(matrix.error().message.find(c.message), std::string::npos) << matrix.error().message;
  }
}

// Files of the new format.
class GgufImatrix : public testing::Test {
 protected:
  ~GgufImatrix() override { std::filesystem::remove(path_); }

  Result<Imatrix> open(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return Imatrix::open(path_);
  }
  static GgufBytes floats(GgufBytes bytes, std::initializer_list<float> values) {
    bytes.align();
    for (const float value : values) bytes.put(value);
    return bytes;
  }
  static GgufBytes header(uint64_t n_tensors, std::string_view type = "imatrix") {
    return GgufBytes(n_tensors, 1).string("general.type", type);
  }

  const std::string path_ = (std::filesystem::temp_directory_path() / "tern-imatrix-test.gguf").string();
};

TEST_F(GgufImatrix, HoldsSumsOverTokens) {
  GgufBytes bytes = header(5)
                        .tensor("blk.0.ffn_up.weight.in_sum2", {3}, 0, 0)
                        .tensor("blk.0.ffn_up.weight.counts", {1, 1}, 0, 32)
                        .tensor("blk.0.ffn_up.weight.in_sum", {3}, 0, 64)
                        .tensor("blk.1.ffn_up.weight.in_sum2", {2, 2}, 0, 96)
                        .tensor("blk.1.ffn_up.weight.counts", {1, 2}, 0, 128);
  bytes = floats(floats(floats(bytes, {8, 0, 2}), {4}), {-9, -9, -9});
  bytes = floats(floats(bytes, {6, 9, 5, 7}), {3, 0});
  const auto matrix = open(bytes.align().bytes());
  ASSERT_TRUE(matrix) << matrix.error().message;
  EXPECT_EQ(matrix->entries().size(), 2u);
  EXPECT_EQ(means(*matrix, "blk.0.ffn_up.weight"), (std::vector<float>{2, 0, 0.5f}));
  EXPECT_EQ(means(*matrix, "blk.1.ffn_up.weight"), (std::vector<float>{2, 3, 1, 1}));  // the second saw no tokens
}

TEST_F(GgufImatrix, Refusals) {
  const auto message = [&](const GgufBytes& bytes) {
    const auto matrix = open(GgufBytes(bytes).align().bytes());
    return matrix ? "nothing was wrong" : matrix.error().message;
  };
  EXPECT_NE(message(floats(header(1, "model").tensor("w.in_sum2", {1}, 0, 0), {1})).find("no imatrix"),
            std::string::npos);
  EXPECT_NE(message(floats(header(1).tensor("w.in_sum2", {1}, 0, 0), {1})).find("sums and counts of 'w' do not fit"),
            std::string::npos);
  EXPECT_NE(message(floats(header(1).tensor("w.other", {1}, 0, 0), {1})).find("no entries"), std::string::npos);
  EXPECT_NE(message(floats(floats(header(2).tensor("w.in_sum2", {1}, 0, 0).tensor("w.counts", {1}, 0, 32), {1}), {-2}))
                .find("value 0 of 'w' is -0.5"),
            std::string::npos);
  EXPECT_EQ(Imatrix::open("/does/not/exist").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace tern
