#include "mcp/result_text.h"

#include <gtest/gtest.h>

namespace tern::mcp {
namespace {

// One token per byte, and <e> as a control token.
class Bytes final : public Tokenizer {
 public:
  int vocab_size() const override { return 257; }
  std::vector<TokenId> encode(std::string_view text, const TokenizeOptions& options) const override {
    std::vector<TokenId> ids;
    while (!text.empty()) {
      const bool is_end = options.parse_special && text.starts_with("<e>");
      ids.push_back(is_end ? 256 : static_cast<unsigned char>(text[0]));
      text.remove_prefix(is_end ? 3 : 1);
    }
    return ids;
  }
  std::string_view piece(TokenId id, bool special) const override {
    if (id == 256) return special ? "<e>" : "";
    bytes_[static_cast<size_t>(id)] = static_cast<char>(id);
    return std::string_view(bytes_).substr(static_cast<size_t>(id), 1);
  }
  std::optional<TokenId> bos() const override { return std::nullopt; }
  const std::vector<TokenId>& stop_tokens() const override { return none_; }
  std::optional<TokenId> find(std::string_view) const override { return std::nullopt; }

 private:
  mutable std::string bytes_ = std::string(256, 0);
  std::vector<TokenId> none_;
};

TEST(McpResultText, ShortOnesStay) {
  EXPECT_EQ(text_for_model(Bytes(), "short", 5), "short");
  EXPECT_EQ(text_for_model(Bytes(), "", 5), "");
}

TEST(McpResultText, LongOnesAreCutAtACharacter) {
  EXPECT_EQ(text_for_model(Bytes(), "longer", 4), "long\n[cut here: 2 bytes more]");
  EXPECT_EQ(text_for_model(Bytes(), "lon\u00e9x", 4), "lon\n[cut here: 3 bytes more]");
  EXPECT_EQ(text_for_model(Bytes(), std::string(1'000'000, 'x'), 3), "xxx\n[cut here: 999997 bytes more]");
}

TEST(McpResultText, ControlTokensAreTakenApart) {
  EXPECT_EQ(text_for_model(Bytes(), "a<e>b<e><e", 20), "a< e>b< e><e");
}

}  // namespace
}  // namespace tern::mcp
