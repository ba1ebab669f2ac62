// Tests whole models: the default one, and one with a vocabulary as large as in published models.
#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/files/mapped_file.h"
#include "base/text/format_text.h"
#include "file/gguf/gguf_test_support.h"
#include "support/checkout.h"

namespace tern {
namespace {

std::optional<std::string> default_model() {
  for (const std::string& path :
       {source_path("models/tern-stories.gguf"), source_path("../shared/model/tern-stories.gguf")}) {
    if (std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

TEST(GgufModel, DefaultModel) {
  const auto path = default_model();
  if (!path) GTEST_SKIP() << "tern-stories.gguf is not in this checkout";
  const auto file = GgufFile::open(*path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->version(), 3u);
  EXPECT_EQ(file->tensors().size(), 112u);
  EXPECT_EQ(file->metadata().size(), 27u);
  EXPECT_EQ(file->get_string("general.architecture").value(), "bitnet-b1.58");
  EXPECT_EQ(file->get_int("bitnet-b1.58.embedding_length").value(), 512);
  EXPECT_EQ(file->get_float("bitnet-b1.58.rope.freq_base").value(), 10000.0);
  EXPECT_EQ(file->get_bool("tokenizer.ggml.add_bos_token").value(), true);
  const auto tokens = file->get_strings("tokenizer.ggml.tokens").value().value();
  ASSERT_EQ(tokens.size(), 8192u);
  EXPECT_EQ(tokens[0], "<|endoftext|>");
  EXPECT_EQ(tokens[1], "<|end|>");
  EXPECT_EQ(file->get_strings("tokenizer.ggml.merges").value().value().size(), 7931u);
  EXPECT_EQ(file->get_ints("tokenizer.ggml.token_type").value().value()[0], 3);

  const GgufTensor* down = file->find_tensor("blk.9.ffn_down.weight");
  ASSERT_NE(down, nullptr);
  EXPECT_EQ(down->type, GgmlType::kI2_S);
  EXPECT_EQ(down->shape, (std::vector<int64_t>{512, 1536}));
  EXPECT_EQ(down->data.size(), 512u * 1536 / 4 + 32);
  EXPECT_EQ(file->find_tensor("token_embd.weight")->shape, (std::vector<int64_t>{8192, 512}));
  EXPECT_EQ(file->find_tensor("output_norm.weight")->offset - file->find_tensor("token_embd.weight")->offset, 8388608u);
  EXPECT_GT(touch_everything(*file), 0u);
}

TEST(GgufModel, CutAnywhereTheDefaultModelIsRefused) {
  const auto path = default_model();
  if (!path) GTEST_SKIP() << "tern-stories.gguf is not in this checkout";
  const auto mapped = MappedFile::open(*path);
  ASSERT_TRUE(mapped);
  const Bytes bytes = mapped->bytes();
  for (size_t sixteenth = 0; sixteenth < 16; ++sixteenth) {
    expect_refused(GgufFile::parse(bytes.first(bytes.size() * sixteenth / 16), "t.gguf"), ErrorCode::kCorruption,
                   "the download may be incomplete");
  }
}

TEST(GgufModel, LargeVocabulariesLoadInMilliseconds) {
  constexpr size_t kTokens = 128256, kMerges = 280147;  // as in Llama 3 and BitNet 2B
  GgufBytes bytes(0, 3);
  bytes.array("tokens", 8, kTokens);
  for (size_t i = 0; i < kTokens; ++i) bytes.text(format_text("token{}", i));
  bytes.array("merges", 8, kMerges);
  for (size_t i = 0; i < kMerges; ++i) bytes.text(format_text("left{} right", i));
  bytes.array("types", 5, kTokens);
  for (size_t i = 0; i < kTokens; ++i) bytes.put<int32_t>(static_cast<int32_t>(i % 6));
  const auto begin = std::chrono::steady_clock::now();
  const auto file = bytes.parse();
  const auto tokens = file.value().get_strings("tokens").value().value();
  const auto merges = file->get_strings("merges").value().value();
  const auto types = file->get_ints("types").value().value();
  const auto taken = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(tokens[kTokens - 1], "token128255");
  EXPECT_EQ(merges[kMerges - 1], "left280146 right");
  EXPECT_EQ(types[kTokens - 1], (kTokens - 1) % 6);
  RecordProperty("microseconds",
                 static_cast<int>(std::chrono::duration_cast<std::chrono::microseconds>(taken).count()));
  EXPECT_LT(taken, std::chrono::seconds(1));  // 4 ms measured; the limit allows for sanitizers and busy machines
}

}  // namespace
}  // namespace tern
