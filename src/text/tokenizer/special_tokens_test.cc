#include "text/tokenizer/special_tokens.h"

#include <gtest/gtest.h>

#include <string>

#include "text/tokenizer/vocab.h"

namespace tern {
namespace {

std::string found(const SpecialTokens& tokens, std::string_view text) {
  std::string out;
  size_t at = 0;
  while (const auto match = tokens.find(text, at, {.parse = true})) {
    out += std::to_string(match->begin) + ":" + std::to_string(match->id) + " ";
    at = match->begin + match->length;
  }
  return out;
}

TEST(SpecialTokens, TakesTheLeftmostAndThenTheLongest) {
  const SpecialTokens tokens({{"<a>", 1}, {"<a>b", 2}, {"<a>bcd", 3}, {"b<", 4}, {"\xF0\x9F\x98\x80", 5}});
  EXPECT_EQ(found(tokens, "<a>"), "0:1 ");
  EXPECT_EQ(found(tokens, "<a>bc"), "0:2 ");
  EXPECT_EQ(found(tokens, "<a>bcd<a>bcx"), "0:3 6:2 ");
  EXPECT_EQ(found(tokens, "xb<a>"), "1:4 ");  // b< comes first and uses up the <
  EXPECT_EQ(found(tokens, "<<a<a>"), "3:1 ");
  EXPECT_EQ(found(tokens, "\U0001F600"), "0:5 ");
  EXPECT_EQ(found(tokens, "<A> <a"), "");
  EXPECT_EQ(found(tokens, ""), "");
}

TEST(SpecialTokens, NoTokensAndEmptySpellingsMatchNothing) {
  EXPECT_EQ(found(SpecialTokens(), "abc"), "");
  EXPECT_EQ(found(SpecialTokens({{"", 1}}), "abc"), "");
}

// The results are those of Hugging Face's library for the same texts and added tokens.
TEST(SpecialTokens, Flags) {
  const auto spans = [](uint8_t flags, std::string_view text) {
    const SpecialTokens tokens({{"<a>", 1, false, flags}});
    std::string out;
    for (size_t at = 0; const auto match = tokens.find(text, at, {}); at = match->begin + match->length) {
      out += std::to_string(match->begin) + "+" + std::to_string(match->length) + " ";
    }
    return out;
  };
  EXPECT_EQ(spans(0, "  <a>  "), "2+3 ");
  EXPECT_EQ(spans(kTokenLstrip, " x \u3000\n<a>  "), "2+8 ");
  EXPECT_EQ(spans(kTokenRstrip, "  <a> \u3000\n x"), "2+9 ");
  EXPECT_EQ(spans(kTokenLstrip | kTokenRstrip, " <a>  <a> "), "0+6 6+4 ");
  EXPECT_EQ(spans(kTokenSingleWord, "<a> x<a> <a>x \u00E9<a> <a>1 <a>_ .<a>."), "0+3 31+3 ");
  EXPECT_EQ(spans(kTokenSingleWord | kTokenLstrip, "x <a>"), "1+4 ");
  EXPECT_EQ(spans(kTokenRstrip, "<a>\xE3\x80"), "0+3 ");  // an incomplete character
}

TEST(SpecialTokens, NothingIsFoundInsideAControlTokenThatIsText) {
  const SpecialTokens tokens({{"<|x|>", 1, true, 0}, {"x", 2, false, 0}});
  EXPECT_EQ(tokens.find("<|x|>", 0, {.parse = true})->id, 1);
  EXPECT_FALSE(tokens.find("<|x|>", 0, {}));
  EXPECT_EQ(tokens.find("<|x|>x", 0, {})->begin, 5u);
}

// `quoted`: where in the text.
std::string found_beside(std::string_view text, const std::vector<TextRange>& quoted) {
  const SpecialTokens tokens({{"<|x|>", 1, true, 0}, {"x", 2, false, 0}, {"<", 3, true, 0}});
  std::string out;
  for (size_t at = 0; const auto match = tokens.find(text, at, {true, quoted}); at = match->begin + match->length) {
    out += std::to_string(match->begin) + ":" + std::to_string(match->id) + " ";
  }
  return out;
}

TEST(SpecialTokens, QuotedControlTokensAreText) {
  EXPECT_EQ(found_beside("<|x|><|x|><|x|>", {}), "0:1 5:1 10:1 ");
  EXPECT_EQ(found_beside("<|x|><|x|><|x|>", {{5, 10}}), "0:1 10:1 ");
  EXPECT_EQ(found_beside("<|x|>x<|x|>", {{0, 5}, {6, 11}}), "5:2 ");
  EXPECT_EQ(found_beside("<|x|>x", {{0, 6}}), "5:2 ");  // other special tokens are found everywhere
  // A token of which a part is quoted is none, and does not hide those within it.
  EXPECT_EQ(found_beside("<|x|>", {{0, 1}}), "2:2 ");
  EXPECT_EQ(found_beside("<|x|>", {{4, 5}}), "2:2 ");
  EXPECT_EQ(found_beside("<<|x|>", {{0, 1}}), "1:1 ");
}

}  // namespace
}  // namespace tern
