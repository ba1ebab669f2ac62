#include "server/api/replies/fill_in.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tern::server {
namespace {

// Bytes are tokens; further ids are the marks.
class ByteTokenizer final : public Tokenizer {
 public:
  explicit ByteTokenizer(std::vector<std::string> marks) : marks_(std::move(marks)) {}

  int vocab_size() const override { return 256 + static_cast<int>(marks_.size()); }
  std::vector<TokenId> encode(std::string_view text, const TokenizeOptions& options) const override {
    std::vector<TokenId> tokens;
    if (options.add_bos) tokens.push_back(1);
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    return tokens;
  }
  std::string_view piece(TokenId, bool) const override { return {}; }
  std::optional<TokenId> bos() const override { return 1; }
  const std::vector<TokenId>& stop_tokens() const override { return none_; }
  std::optional<TokenId> find(std::string_view token) const override {
    const auto it = std::ranges::find(marks_, token);
    if (it == marks_.end()) return std::nullopt;
    return 256 + static_cast<TokenId>(it - marks_.begin());
  }

 private:
  std::vector<std::string> marks_;
  std::vector<TokenId> none_;
};

TEST(FillIn, TheMissingTextFollowsBothOthers) {
  const std::vector<std::vector<std::string>> all = {{"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"},
                                                     {"<fim_prefix>", "<fim_suffix>", "<fim_middle>"}};
  for (const auto& marks : all) {
    const ByteTokenizer tokenizer(marks);
    EXPECT_TRUE(can_fill_in(tokenizer));
    const auto tokens = fill_in_prompt(tokenizer, "ab", "c", "suffix");
    ASSERT_TRUE(tokens);
    EXPECT_EQ(*tokens, (std::vector<TokenId>{1, 256, 'a', 'b', 257, 'c', 258}));
  }
}

TEST(FillIn, OtherModelsAreRefused) {
  const ByteTokenizer tokenizer({"<|fim_prefix|>", "<|fim_suffix|>", "<fim_middle>"});
  EXPECT_FALSE(can_fill_in(tokenizer));
  const auto tokens = fill_in_prompt(tokenizer, "ab", "c", "suffix");
  ASSERT_FALSE(tokens);
  EXPECT_EQ(tokens.error().status, 400);
  EXPECT_EQ(tokens.error().param, "suffix");
}

}  // namespace
}  // namespace tern::server
