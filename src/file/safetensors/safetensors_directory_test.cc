#include "file/safetensors/safetensors_directory.h"

#include <gtest/gtest.h>

#include "base/result_test_support.h"
#include "file/safetensors/safetensors_test_support.h"

namespace tern {
namespace {

using enum ErrorCode;
namespace fs = std::filesystem;

class SafetensorsDirectoryTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }

  void write(std::string_view name, std::string_view text) { std::ofstream(folder_ / name, std::ios::binary) << text; }
  // Two shards and their index: a and b in the first, c in the second.
  void write_sharded() {
    SafetensorsBytes().tensor("a", "U8", {2}, "aa").tensor("b", "U8", {1}, "b").write(folder_ / "s1.safetensors");
    SafetensorsBytes().tensor("c", "U8", {3}, "ccc").write(folder_ / "s2.safetensors");
    write_index(R"({"a":"s1.safetensors","b":"s1.safetensors","c":"s2.safetensors"})");
  }
  void write_index(std::string_view map) {
    write("model.safetensors.index.json", format_text(R"({{"metadata":{{"total_size":6}},"weight_map":{}}})", map));
  }
  void expect_refused(ErrorCode code, std::string_view part) const {
    expect_failure(SafetensorsDirectory::open(folder_), code, part, folder_.string());
  }

  const fs::path folder_ = fresh_folder("safetensors");
};

TEST_F(SafetensorsDirectoryTest, OneFile) {
  SafetensorsBytes().tensor("a", "U8", {2}, "aa").write(folder_ / "model.safetensors");
  const auto model = SafetensorsDirectory::open(folder_);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(as_text(model->find("a")->data), "aa");
  EXPECT_EQ(model->find("b"), nullptr);
  EXPECT_EQ(model->file_bytes(), fs::file_size(folder_ / "model.safetensors"));
}

TEST_F(SafetensorsDirectoryTest, Shards) {
  write_sharded();
  auto opened = SafetensorsDirectory::open(folder_);
  ASSERT_TRUE(opened) << opened.error().message;
  const SafetensorsTensor* const a = opened->find("a");
  const SafetensorsDirectory model = *std::move(opened);
  EXPECT_EQ(model.find("a"), a);
  ASSERT_EQ(model.tensors().size(), 3u);
  EXPECT_EQ(as_text(model.find("b")->data), "b");
  EXPECT_EQ(as_text(model.find("c")->data), "ccc");
  uint64_t done = 0, total = 0;
  model.populate([&](uint64_t d, uint64_t t) { done = d, total = t; });
  EXPECT_EQ(done, model.file_bytes());
  EXPECT_EQ(total, model.file_bytes());
}

TEST_F(SafetensorsDirectoryTest, AMissingShardIsNamed) {
  write_sharded();
  fs::remove(folder_ / "s2.safetensors");
  expect_refused(kNotFound, "file 's2.safetensors' is missing");
}

TEST_F(SafetensorsDirectoryTest, IndexAndShardsMustAgree) {
  write_sharded();
  write_index(R"({"a":"s1.safetensors","b":"s2.safetensors","c":"s2.safetensors"})");
  expect_refused(kCorruption, "s1.safetensors: tensor 'b' is in this file");
  write_index(R"({"a":"s1.safetensors","b":"s1.safetensors","c":"s2.safetensors","d":"s2.safetensors"})");
  expect_refused(kCorruption, "s2.safetensors: tensor 'd' is not in this file");
  write_sharded();
  SafetensorsBytes().tensor("a", "U8", {2}, "aa").tensor("b2", "U8", {1}, "b").write(folder_ / "s1.safetensors");
  expect_refused(kCorruption, "belong to different revisions");
  SafetensorsBytes().tensor("a", "U8", {2}, "aa").tensor("c", "U8", {3}, "ccc").write(folder_ / "s2.safetensors");
  write_sharded();
  SafetensorsBytes().tensor("c", "U8", {3}, "ccc").tensor("a", "U8", {2}, "aa").write(folder_ / "s2.safetensors");
  expect_refused(kCorruption, "s2.safetensors: tensor 'a' is in this file");
}

TEST_F(SafetensorsDirectoryTest, ACutOrEmptyShardIsRefused) {
  write_sharded();
  fs::resize_file(folder_ / "s2.safetensors", fs::file_size(folder_ / "s2.safetensors") - 1);
  expect_refused(kCorruption, "s2.safetensors: the tensors need 3 bytes");
  fs::resize_file(folder_ / "s2.safetensors", 0);
  expect_refused(kCorruption, "s2.safetensors: the file is empty");
}

TEST_F(SafetensorsDirectoryTest, TheIndexCannotNameFilesElsewhere) {
  for (const std::string_view name : {"../s1.safetensors", "/etc/passwd", "..", "", "a\\\\b", "x\\u0000"}) {
    write_index(format_text(R"({{"a":"{}"}})", name));
    expect_refused(kCorruption, "which is not a file name");
  }
  write_index(R"({"a":3})");
  expect_refused(kCorruption, "which is not a file name");
  write_index("{}");
  expect_refused(kCorruption, "no \"weight_map\"");
  write_index(R"({"a":"x","a":"y"})");
  expect_refused(kCorruption, "'a' twice");
  write("model.safetensors.index.json", "[]");
  expect_refused(kCorruption, "no \"weight_map\"");
}

TEST_F(SafetensorsDirectoryTest, SaysWhatIsThereInstead) {
  expect_refused(kNotFound, "download the model's safetensors files");
  write("pytorch_model.bin", "PK");
  expect_refused(kNotFound, "pickle");
  fs::remove(folder_ / "pytorch_model.bin");
  write("q.gguf", "GGUF");
  expect_refused(kNotFound, "it has GGUF files, so name one of them");
}

}  // namespace
}  // namespace tern
