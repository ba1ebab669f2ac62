#include "cli/terminal/layout.h"

#include <gtest/gtest.h>

namespace tern::cli {
namespace {

TEST(Layout, Numbers) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(812), "812 B");
  EXPECT_EQ(human_bytes(999'499), "999 kB");
  EXPECT_EQ(human_bytes(999'500), "1.00 MB");
  EXPECT_EQ(human_bytes(12'345'678), "12.3 MB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "18446744 TB");
  EXPECT_EQ(human_count(24'540'000), "24.5 M");
  EXPECT_EQ(human_number(0), "0.0000");
  EXPECT_EQ(human_number(98.766), "98.77");
  EXPECT_EQ(human_number(123.45), "123.5");
  EXPECT_EQ(human_number(0.000012), "1.20e-05");
}

TEST(Layout, Seconds) {
  EXPECT_EQ(human_seconds(0.0012), "1.2 ms");
  EXPECT_EQ(human_seconds(0.035), "35 ms");
  EXPECT_EQ(human_seconds(1.25), "1.25 s");
  EXPECT_EQ(human_seconds(200), "3 min 20 s");
  EXPECT_EQ(human_seconds(7260), "2 h 1 min");
}

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
