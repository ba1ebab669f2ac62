#include "text/special_tokens.h"

#include <gtest/gtest.h>

#include <string>

namespace tern {
namespace {

std::string found(const SpecialTokens& tokens, std::string_view text) {
  std::string out;
  size_t at = 0;
  while (const auto match = tokens.find(text, at)) {
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
  EXPECT_EQ(found(tokens, "xb<a>"), "1:4 ");  // b< comes first, and then there is no <a> left
  EXPECT_EQ(found(tokens, "<<a<a>"), "3:1 ");
  EXPECT_EQ(found(tokens, "\U0001F600"), "0:5 ");
  EXPECT_EQ(found(tokens, "<A> <a"), "");
  EXPECT_EQ(found(tokens, ""), "");
}

TEST(SpecialTokens, NoTokensAndEmptySpellingsMatchNothing) {
  EXPECT_EQ(found(SpecialTokens(), "abc"), "");
  EXPECT_EQ(found(SpecialTokens({{"", 1}}), "abc"), "");
}

}  // namespace
}  // namespace tern
