// Files read in pieces give the same contents and the same error messages.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "file/gguf/gguf_test_support.h"
#include "file/mlc/mlc.h"
#include "file/mlc/mlc_test_support.h"
#include "file/safetensors/safetensors_directory.h"
#include "file/safetensors/safetensors_test_support.h"

namespace tern {
namespace {

namespace fs = std::filesystem;

class Pieces : public testing::Test {
 protected:
  ~Pieces() override { fs::remove_all(folder_); }

  std::string write(std::string_view bytes) const {
    const fs::path path = folder_ / "t.file";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static std::string text_of(const StoredBytes& bytes) {
    Scratch scratch;
    return std::string(as_text(bytes.read_all(scratch).value()));
  }
  // Opens the file both ways and expects the same error.
  template <class File>
  static void expect_same_refusal(const std::string& path) {
    const auto in_memory = File::open(path), in_pieces = File::open(path, Access::kPieces);
    ASSERT_FALSE(in_memory) << path;
    ASSERT_FALSE(in_pieces) << path;
    EXPECT_EQ(in_pieces.error().code, in_memory.error().code);
    EXPECT_EQ(in_pieces.error().message, in_memory.error().message);
  }

  const fs::path folder_ = fresh_folder("pieces");
};

// The tensor list starts after 3 MB of strings and numbers.
std::string gguf_of_long_beginning() {
  GgufBytes bytes(2, 3);
  bytes.array("tokens", 8, 100'000);
  for (int i = 0; i < 100'000; ++i) bytes.text(format_text("token{}", i));
  bytes.array("scores", 6, 200'000);
  for (int i = 0; i < 200'000; ++i) bytes.put(static_cast<float>(i));
  bytes.string("last", "the end");
  bytes.tensor("a", {8}, 0, 0).tensor("b", {4}, 0, 32).align();
  return bytes.data(32, 'a').data(16, 'b').bytes();
}

TEST_F(Pieces, GgufReadsAsFarAsItMust) {
  const std::string bytes = gguf_of_long_beginning();
  ASSERT_GT(bytes.size(), 2u << 20);
  const auto file = GgufFile::open(write(bytes), Access::kPieces);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->file_bytes(), bytes.size());
  EXPECT_EQ(file->get_strings("tokens")->value().back(), "token99999");
  EXPECT_EQ(file->get_floats("scores")->value().back(), 199'999.0f);
  EXPECT_EQ(file->get_string("last")->value(), "the end");
  EXPECT_FALSE(file->find_tensor("a")->data.is_resident());
  EXPECT_EQ(text_of(file->find_tensor("a")->data), std::string(32, 'a'));
  EXPECT_EQ(text_of(file->find_tensor("b")->data), std::string(16, 'b'));
}

TEST_F(Pieces, GgufRefusesTheSame) {
  const std::string bytes = gguf_of_long_beginning();
  for (const size_t n : {3u, 10u, 30u, 1u << 20, (1u << 20) + 1, 1'500'000u, 2'000'000u}) {
    expect_same_refusal<GgufFile>(write(bytes.substr(0, n)));
  }
  for (const size_t missing : {1u, 20u, 49u, 60u, 130u}) {
    expect_same_refusal<GgufFile>(write(bytes.substr(0, bytes.size() - missing)));
  }
  expect_same_refusal<GgufFile>(write("{\"a\": 1}"));
  expect_same_refusal<GgufFile>(write(GgufBytes(1, 0).tensor("a", {8}, 99, 0).align().data(32).bytes()));
  expect_same_refusal<GgufFile>(folder_ / "none.gguf");
}

TEST_F(Pieces, SafetensorsReadTheSame) {
  const std::string bytes = SafetensorsBytes().tensor("x", "U8", {3}, "xyz").tensor("w", "F16", {2}, "abcd").bytes();
  const auto file = SafetensorsFile::open(write(bytes), Access::kPieces);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->file_bytes(), bytes.size());
  EXPECT_FALSE(file->find("w")->data.is_resident());
  EXPECT_EQ(text_of(file->find("w")->data), "abcd");
  for (const size_t n : {1u, 7u, 8u, 20u}) expect_same_refusal<SafetensorsFile>(write(bytes.substr(0, n)));
  expect_same_refusal<SafetensorsFile>(write(bytes.substr(0, bytes.size() - 1)));
  expect_same_refusal<SafetensorsFile>(write(bytes + "x"));
  for (const uint64_t length : {uint64_t{1} << 40, uint64_t{20} << 20}) {
    std::string wrong = bytes;
    std::memcpy(wrong.data(), &length, sizeof length);
    expect_same_refusal<SafetensorsFile>(write(wrong));
  }
}

TEST_F(Pieces, MlcShardsAreCheckedWithoutBeingInMemory) {
  const std::string long_data(9'000'001, 'l');  // more than is hashed in one step
  MlcBytes().tensor("a", "uint8", {2}, "aa").shard().tensor("b", "uint8", {9'000'001}, long_data).write(folder_);
  uint64_t done = 0;
  const auto tell = [&](uint64_t now, uint64_t) { done = now; };
  const auto model = MlcDirectory::open(folder_, {.n_threads = 3, .on_progress = tell}, Access::kPieces);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(done, 9'000'003u);
  EXPECT_FALSE(model->find("b")->data.is_resident());
  EXPECT_EQ(text_of(model->find("b")->data), long_data);
  std::fstream(folder_ / "params_shard_1.bin", std::ios::in | std::ios::out).seekp(8'999'999) << 'x';
  const auto in_memory = MlcDirectory::open(folder_, {}), in_pieces = MlcDirectory::open(folder_, {}, Access::kPieces);
  ASSERT_FALSE(in_pieces);
  EXPECT_NE(in_pieces.error().message.find("MD5"), std::string::npos);
  EXPECT_EQ(in_pieces.error().message, in_memory.error().message);
}

}  // namespace
}  // namespace tern
