#include <filesystem>
#include <fstream>

#include "base/result_test_support.h"
#include "base/text/format_text.h"
#include "file/gguf/gguf_test_support.h"
#include "file/safetensors/safetensors_test_support.h"

namespace tern {
namespace {

using enum ErrorCode;
namespace fs = std::filesystem;

// Three parts: metadata only, tensors a and b, tensor c.
class GgufSplitTest : public testing::Test {
 protected:
  GgufSplitTest() {
    write(1, head(0, 1).string("general.architecture", "qwen3"));
    write(2, head(1, 0, 2).tensor("a", {8}, 0, 0).tensor("b", {4}, 0, 32).align().data(32, 'a').data(16, 'b'));
    write(3, head(2, 0, 1).tensor("c", {8}, 0, 0).align().data(32, 'c'));
  }
  ~GgufSplitTest() override { fs::remove_all(folder_); }

  // The beginning of part `number` (from 0), with room for `n_metadata` more keys.
  static GgufBytes head(uint16_t number, uint64_t n_metadata, uint64_t n_tensors = 0, uint16_t count = 3,
                        int32_t all_tensors = 3) {
    GgufBytes bytes(n_tensors, 3 + n_metadata);
    return bytes.scalar<uint16_t>("split.no", 2, number)
        .scalar<uint16_t>("split.count", 2, count)
        .scalar<int32_t>("split.tensors.count", 5, all_tensors);
  }
  std::string path(int number) const {
    return (folder_ / format_text("my-model-{:05}-of-00003.gguf", number)).string();
  }
  void write(int number, const GgufBytes& bytes) const {
    std::ofstream(path(number), std::ios::binary) << bytes.bytes();
  }
  void expect_refused(ErrorCode code, std::string_view part) const {
    expect_failure(GgufFile::open(path(1)), code, part, folder_.string());
  }

  const fs::path folder_ = fresh_folder("gguf_split");
};

TEST_F(GgufSplitTest, AnyPartOpensAll) {
  for (const int number : {1, 2, 3}) {
    const auto file = GgufFile::open(path(number));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->path(), path(1));
    EXPECT_EQ(file->n_parts(), 3u);
    EXPECT_EQ(file->get_string("general.architecture").value(), "qwen3");
    ASSERT_EQ(file->tensors().size(), 3u);
    EXPECT_EQ(as_text(file->find_tensor("a")->data), std::string(32, 'a'));
    EXPECT_EQ(as_text(file->find_tensor("b")->data), std::string(16, 'b'));
    EXPECT_EQ(as_text(file->find_tensor("c")->data), std::string(32, 'c'));
    EXPECT_EQ(file->find_tensor("c")->part, 2u);
    EXPECT_EQ(file->file_bytes(), fs::file_size(path(1)) + fs::file_size(path(2)) + fs::file_size(path(3)));
    uint64_t done = 0;
    file->populate([&](uint64_t d, uint64_t) { done = d; });
    EXPECT_EQ(done, file->file_bytes());
  }
}

TEST_F(GgufSplitTest, TwoPartsAreAModelToo) {
  const auto pair_at = [&](int number) { return (folder_ / format_text("pair-{:05}-of-00002.gguf", number)).string(); };
  const GgufBytes first = head(0, 0, 1, 2, 2).tensor("a", {8}, 0, 0).align().data(32, 'a');
  std::ofstream(pair_at(1), std::ios::binary) << first.bytes();
  std::ofstream(pair_at(2), std::ios::binary)
      << head(1, 0, 1, 2, 2).tensor("b", {8}, 0, 0).align().data(32, 'b').bytes();
  const auto file = GgufFile::open(pair_at(1));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->n_parts(), 2u);
  EXPECT_EQ(as_text(file->find_tensor("b")->data), std::string(32, 'b'));
  const auto alone = GgufFile::parse(as_bytes(first.bytes()), "memory");
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("one part of a model split into 2 files"), std::string::npos);
}

TEST_F(GgufSplitTest, AMissingPartIsNamed) {
  fs::remove(path(2));
  expect_refused(kNotFound, "my-model-00002-of-00003.gguf: this part of a model split into 3 files is missing");
}

TEST_F(GgufSplitTest, ExchangedPartsAreRefused) {
  fs::rename(path(2), path(4));
  fs::rename(path(3), path(2));
  fs::rename(path(4), path(3));
  expect_refused(kCorruption, "00002-of-00003.gguf: the file says that it is part 3 of 3");
}

TEST_F(GgufSplitTest, PartsOfAnotherModelAreRefused) {
  const GgufBytes good = head(2, 0, 1).tensor("c", {8}, 0, 0).align().data(32, 'c');
  write(3, head(2, 0, 1, 3, 4).tensor("c", {8}, 0, 0).align().data(32));
  expect_refused(kCorruption, "part 3 of 3, of 4 tensors");
  write(3, head(2, 0, 1, 4).tensor("c", {8}, 0, 0).align().data(32));
  expect_refused(kCorruption, "part 3 of 4");
  write(3, head(2, 0, 1).tensor("b", {8}, 0, 0).align().data(32));
  expect_refused(kCorruption, "00003-of-00003.gguf: tensor 'b' is in an earlier part too");
  write(3, head(2, 0, 0));
  expect_refused(kCorruption, "the 3 parts have 2 tensors, not 3");
  write(3, head(2, 1, 1).string("general.architecture", "llama").tensor("c", {8}, 0, 0).align().data(32));
  expect_refused(kCorruption, "metadata 'general.architecture' differs from that of ");
  // The same bytes as a value of another type.
  write(1, head(0, 2).string("general.architecture", "qwen3").scalar<int32_t>("general.n", 5, 7));
  write(3, head(2, 1, 1).scalar<uint32_t>("general.n", 4, 7).tensor("c", {8}, 0, 0).align().data(32, 'c'));
  expect_refused(kCorruption, "metadata 'general.n' differs from that of ");
  write(1, head(0, 1).string("general.architecture", "qwen3"));
  write(3, GgufBytes(1, 0).tensor("c", {8}, 0, 0).align().data(32));
  expect_refused(kCorruption, "metadata key split.count is missing");
  write(3, good);
  EXPECT_TRUE(GgufFile::open(path(1)));
}

TEST_F(GgufSplitTest, ARenamedPartIsRefused) {
  for (const std::string_view name :
       {"first.gguf", "my-model-00002-of-00003.gguf", "m-00001-of-00002.gguf", "m-0001-of-0003.gguf"}) {
    const fs::path other = folder_ / "other" / name;
    fs::create_directories(other.parent_path());
    fs::copy_file(path(1), other);
    const auto file = GgufFile::open(other);
    ASSERT_FALSE(file);
    EXPECT_NE(file.error().message.find("whose name should end in -00001-of-00003.gguf"), std::string::npos)
        << file.error().message;
    fs::remove(other);
  }
}

TEST_F(GgufSplitTest, HugeCountsAreSurvived) {
  write(1, head(0, 0, 0, 65535));
  expect_refused(kCorruption, "should end in -00001-of-65535.gguf");
  GgufBytes negative(0, 2);
  negative.scalar<int64_t>("split.count", 11, int64_t{1} << 62).scalar<int64_t>("split.no", 11, -1);
  write(1, negative);
  expect_refused(kCorruption, "this is part 0 of a model split into 4611686018427387904 files");
}

}  // namespace
}  // namespace tern
