#include "text/tokenizer/pre_tokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tern {
namespace {

using Words = std::vector<std::string>;

Words words(PreTokenizer kind, std::string_view text) {
  const WordSplitter splitter = WordSplitter::make(kind).value();
  WordSplitter::Cursor cursor(splitter, text);
  Words out;
  for (auto word = cursor.next(); !word.empty(); word = cursor.next()) out.emplace_back(word);
  return out;
}

TEST(WordSplitter, LlamaBpe) {
  const auto split = [](std::string_view text) { return words(PreTokenizer::kLlamaBpe, text); };
  EXPECT_EQ(split("Hello, world's 12345!"), (Words{"Hello", ",", " world", "'s", " ", "123", "45", "!"}));
  EXPECT_EQ(split("I'LL he'Ve"), (Words{"I", "'LL", " he", "'Ve"}));
  EXPECT_EQ(split("it'\u017F"), (Words{"it", "'\u017F"}));  // long s is a case variant of s
  EXPECT_EQ(split("a   b"), (Words{"a", "  ", " b"}));
  EXPECT_EQ(split("a  \n\n  b"), (Words{"a", "  \n\n", " ", " b"}));
  EXPECT_EQ(split("x \r\n"), (Words{"x", " \r\n"}));
  EXPECT_EQ(split("f(x);\n\n}"), (Words{"f", "(x", ");\n\n", "}"}));
  EXPECT_EQ(split("trailing  "), (Words{"trailing", "  "}));
  EXPECT_EQ(split(""), Words{});
}

TEST(WordSplitter, Qwen2TakesDigitsOneByOne) {
  EXPECT_EQ(words(PreTokenizer::kQwen2, "in 2024"), (Words{"in", " ", "2", "0", "2", "4"}));
}

TEST(WordSplitter, MarksAreLettersInQwen35) {
  const std::string_view hindi = "\u0939\u093F\u0928\u094D\u0926\u0940 12";  // with vowel signs and a virama
  EXPECT_EQ(words(PreTokenizer::kQwen35, hindi), (Words{"\u0939\u093F\u0928\u094D\u0926\u0940", " ", "1", "2"}));
  EXPECT_EQ(words(PreTokenizer::kQwen2, hindi),
            (Words{"\u0939", "\u093F\u0928", "\u094D\u0926", "\u0940", " ", "1", "2"}));
  EXPECT_EQ(words(PreTokenizer::kQwen35, "!\u0301 ?"), (Words{"!\u0301", " ?"}));
}

TEST(WordSplitter, Gpt2) {
  const auto split = [](std::string_view text) { return words(PreTokenizer::kGpt2, text); };
  EXPECT_EQ(split("I'll I'LL 2024\n\nx"), (Words{"I", "'ll", " I", "'", "LL", " 2024", "\n", "\n", "x"}));
}

TEST(WordSplitter, SmolLmTakesDigitsFirst) {
  const auto split = [](std::string_view text) { return words(PreTokenizer::kSmolLm, text); };
  EXPECT_EQ(split("in 2024 I'll"), (Words{"in", " ", "2", "0", "2", "4", " I", "'ll"}));
  EXPECT_EQ(split("a   1   b"), (Words{"a", "   ", "1", "  ", " b"}));  // white space before a digit counts as at the
                                                                        // end
}

TEST(WordSplitter, ByCase) {
  const std::string_view text = "HTMLParser isn't/\n fooBAR's 1234";
  EXPECT_EQ(words(PreTokenizer::kTekken, text),
            (Words{"HTMLParser", " isn", "'t", "/\n", " foo", "BAR", "'s", " ", "1", "2", "3", "4"}));
  EXPECT_EQ(words(PreTokenizer::kGpt4o, text),
            (Words{"HTMLParser", " isn't", "/\n", " foo", "BAR's", " ", "123", "4"}));
}

TEST(WordSplitter, SpaceIsUnicodesWhiteSpace) {
  // U+180E has not been a space since Unicode 6.3: it does not join a run of spaces, and it becomes a separate word
  // before the next one instead of its first character.
  const auto split = [](std::string_view text) { return words(PreTokenizer::kGpt2, text); };
  for (const std::string space :
       {"\t", "\v", "\f", "\u0085", "\u00A0", "\u1680", "\u2003", "\u2028", "\u202F", "\u3000"}) {
    EXPECT_EQ(split("a" + space + space + "b"), (Words{"a", space, space, "b"}));
  }
  for (const std::string other : {"\u180E", "\u200B", "\u2060", "\uFEFF", "\x1C", "\x1F"}) {
    EXPECT_EQ(split("a" + other + other + "b"), (Words{"a", other + other, "b"}));
  }
}

// Together the words are the whole text, for any text. Long runs need neither stack nor quadratic time.
TEST(WordSplitter, LongRunsLoseNothing) {
  for (const auto kind : kPreTokenizers) {
    for (const std::string unit :
         {"a", "A", " ", "\n", " \n", "7", "!", "é", "日", "'", "\t ", "a ", "\u0301", "aA", "/"}) {
      std::string text;
      while (text.size() < (256u << 10)) text += unit;
      text += "x";
      std::string joined;
      const WordSplitter splitter = WordSplitter::make(kind).value();
      WordSplitter::Cursor cursor(splitter, text);
      for (auto word = cursor.next(); !word.empty(); word = cursor.next()) joined += word;
      ASSERT_EQ(joined, text) << unit;
    }
  }
}

}  // namespace
}  // namespace tern
