// If a model's results are not finite, the error names the step where that begins.
#include "engine/kv/not_finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "engine/session_core_test_support.h"
#include "file/gguf/gguf.h"
#include "support/checkout.h"
#include "tern/engine.h"

namespace tern {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(NotFinite, TokensAreChosenByNumbers) {
  EXPECT_TRUE(can_choose_by(std::vector{1.0f, -kInfinity, -3e38f}));  // -infinity: not among the best
  EXPECT_TRUE(can_choose_by(std::vector<float>(1000, 0.0f)));
  EXPECT_FALSE(can_choose_by(std::vector{1.0f, kInfinity}));
  EXPECT_FALSE(can_choose_by(std::vector<float>(9, -kInfinity)));
  for (const size_t at : {0, 1, 500, 999}) {
    std::vector<float> logits(1000, 1.0f);
    logits[at] = NAN;
    EXPECT_FALSE(can_choose_by(logits)) << at;
  }
}

TEST(NotFinite, EndsAReplyAfterTheTextSoFar) {
  engine_test::Fixture f("story", 64, {.next = {}, .nan_at_pos = 3});
  const auto result = f.generate("ab");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCorruption);
  EXPECT_TRUE(result.error().message.starts_with("the model's logits are not finite numbers at position 3; "))
      << result.error().message;
  EXPECT_EQ(f.shown, "st");
}

// The default model with a few bytes of one tensor replaced by NaN.
class SpoiledModel : public testing::Test {
 protected:
  void spoil(const char* tensor, uint64_t first_byte, size_t n_bytes) {
    std::filesystem::copy_file(kStories, path_, std::filesystem::copy_options::overwrite_existing);
    const auto file = GgufFile::open(kStories).value();
    std::fstream spoiled(path_, std::ios::binary | std::ios::in | std::ios::out);
    spoiled.seekp(static_cast<std::streamoff>(file.find_tensor(tensor)->offset + first_byte));
    spoiled << std::string(n_bytes, '\xff');  // NaN in any format of floats
  }
  ~SpoiledModel() override { std::filesystem::remove(path_); }

  std::string message(BackendKind backend, bool fuse) const {
    const Engine engine = Engine::load({.model_path = path_, .backend = backend, .n_threads = 1, .fuse = fuse}).value();
    Session session = engine.new_session().value();
    const std::vector<TokenId> tokens = {5, 6, 7, 8};
    const auto result = session.generate(tokens, {.max_tokens = 4});
    if (result) return "none";
    EXPECT_EQ(result.error().code, ErrorCode::kCorruption);
    EXPECT_FALSE(session.logits(tokens, [](size_t, std::span<const float>) { return Result<void>(); }));
    return result.error().message;
  }

  const std::string kStories = source_path("models/tern-stories.gguf");
  const std::string path_ = testing::TempDir() + "tern_spoiled.gguf";
};

TEST_F(SpoiledModel, NamesTheFirstStepAndThePosition) {
  using enum BackendKind;
  for (const auto& [backend, fuse] : {std::pair(kCpu, true), std::pair(kCpu, false), std::pair(kRef, true)}) {
    spoil("output_norm.weight", 0, 4);
    const std::string norm = message(backend, fuse);
    EXPECT_TRUE(norm.starts_with("output_norm: ")) << norm;
    spoil("token_embd.weight", 8 * 512 * 2, 2);  // of token 8
    const std::string embedding = message(backend, fuse);
    EXPECT_TRUE(embedding.starts_with("token_embd: ")) << embedding;
    EXPECT_TRUE(embedding.contains("at position 3;")) << embedding;
  }
}

// One NaN in front of a ternary layer, whose int8 activations cannot represent NaN.
TEST_F(SpoiledModel, NothingGetsLostInIntegers) {
  using enum BackendKind;
  for (const char* gain : {"attn_norm", "attn_sub_norm", "ffn_norm", "ffn_sub_norm"}) {
    spoil(("blk.3." + std::string(gain) + ".weight").c_str(), 77 * 4, 4);
    for (const auto& [backend, fuse] : {std::pair(kCpu, true), std::pair(kCpu, false), std::pair(kRef, true)}) {
      const std::string norm = message(backend, fuse);
      EXPECT_TRUE(norm.starts_with("blk.3." + std::string(gain))) << norm;
      EXPECT_TRUE(norm.contains("at position 0;")) << norm;
    }
  }
}

}  // namespace
}  // namespace tern
