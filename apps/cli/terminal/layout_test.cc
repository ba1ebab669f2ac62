#include "cli/terminal/layout.h"

#include <gtest/gtest.h>

namespace tern::cli {
namespace {

TEST(Layout, WidthCountsCharactersNotBytes) {
  EXPECT_EQ(display_width("Größe"), 5u);
  EXPECT_EQ(pad("ä", 3), "ä  ");
  EXPECT_EQ(pad_left("ä", 3), "  ä");
  EXPECT_EQ(shorten("äöüß", 4), "äöüß");
  EXPECT_EQ(shorten("äöüß", 3), "äö…");
}

TEST(Layout, WrapsBetweenWords) {
  EXPECT_EQ(wrap_words("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap_words("incomprehensible x", 4), (std::vector<std::string>{"incomprehensible", "x"}));
  EXPECT_TRUE(wrap_words("", 4).empty());
}

TEST(Layout, OneLineHasNoControlCharacters) {
  EXPECT_EQ(one_line("a\nb\x1b[31mc\t"), "a b [31mc");
  EXPECT_EQ(one_line("a\u009b31mb\u202ec"), "a\\u009b31mb\\u202ec");
}

TEST(Layout, NearestToleratesTypos) {
  const std::vector<std::string> commands = {"run", "chat", "tokenize", "detokenize", "bench"};
  EXPECT_EQ(nearest("tokenize", commands), "tokenize");
  EXPECT_EQ(nearest("rnu", commands), "run");
  EXPECT_EQ(nearest("tok", commands), "tokenize");
  EXPECT_EQ(nearest("frobnicate", commands), "");
  EXPECT_EQ(nearest("rm", commands), "");  // any two-letter words are close
  EXPECT_EQ(nearest("model", commands), "");
  EXPECT_EQ(nearest("abc", {"abd", "abe"}), "");  // ambiguous
}

}  // namespace
}  // namespace tern::cli
