#include "grammar/rules/regex.h"

#include "grammar/grammar_test_support.h"

namespace tern {
namespace {

using namespace grammar_test;

std::string matches(std::string_view pattern, std::string_view text) { return taken(Grammar::regex(pattern), text); }

TEST(Regex, MatchesWholeTexts) {
  EXPECT_EQ(matches("(ab|c)+d?", "abcd"), "yes");
  EXPECT_EQ(matches("(ab|c)+d?", "abcdd"), "no");
  EXPECT_EQ(matches("a{2,3}", "a"), "more");
  EXPECT_EQ(matches("a{2,3}", "aaa"), "yes");
  EXPECT_EQ(matches("a{2,3}", "aaaa"), "no");
  EXPECT_EQ(matches("a{2,}", "aaaaaa"), "yes");
  EXPECT_EQ(matches("(?:a|)b*?", "bbb"), "yes");
  EXPECT_EQ(matches("(?<year>\\d{4})-\\d\\d", "2024-05"), "yes");
  EXPECT_EQ(matches("", ""), "yes");
  EXPECT_EQ(matches("", "a"), "no");
}

TEST(Regex, Classes) {
  EXPECT_EQ(matches("[a-c_\\d-]+", "ab_3-"), "yes");
  EXPECT_EQ(matches("[a-c_\\d-]+", "abd"), "no");
  EXPECT_EQ(matches("[^a-c]", "é"), "yes");
  EXPECT_EQ(matches("[^a-c]", "b"), "no");
  EXPECT_EQ(matches("\\w\\W\\s\\S\\D", "a- b."), "yes");
  EXPECT_EQ(matches("\\w", "é"), "no");
  EXPECT_EQ(matches(".", "\n"), "no");
  EXPECT_EQ(matches(".", "\xE2\x82\xAC"), "yes");
  EXPECT_EQ(matches("[\\s\\S]", "\n"), "yes");
  EXPECT_EQ(matches("[]", "a"),
            "the regular expression: no text of finite length is possible (the regular expression)");
  EXPECT_EQ(matches("\\x41\\u0042\\u{1F600}\\.\\/\\cA\\t\\0", std::string_view("AB\xF0\x9F\x98\x80./\x01\t\0", 11)),
            "yes");
  EXPECT_EQ(matches("\\ud83d\\ude00", "\xF0\x9F\x98\x80"), "yes");
}

TEST(Regex, Anchors) {
  EXPECT_EQ(matches("^ab$", "ab"), "yes");
  EXPECT_EQ(matches("a|^b|c$", "b"), "yes");
  EXPECT_EQ(matches("a^b", "ab"),
            "the regular expression: no text of finite length is possible (the regular expression)");
  EXPECT_EQ(matches("(^|x)a($|y)", "a"), "yes");
  EXPECT_EQ(matches("(^|x)a($|y)", "xay"), "yes");
  EXPECT_EQ(matches("(^|x)a($|y)", "xayy"), "no");
}

bool occurs(std::string_view pattern, std::u32string_view text) {
  return grammar::parse_regex(pattern, grammar::RegexMatch::kAnywhere).value().takes(text);
}

TEST(Regex, MatchesAnywhere) {
  EXPECT_TRUE(occurs("b+", U"aabba"));
  EXPECT_FALSE(occurs("b+", U"aaa"));
  EXPECT_TRUE(occurs("^a", U"ab"));
  EXPECT_FALSE(occurs("^b", U"ab"));
  EXPECT_TRUE(occurs("b$", U"ab"));
  EXPECT_FALSE(occurs("a$", U"ab"));
  EXPECT_TRUE(occurs("^$", U""));
  EXPECT_FALSE(occurs("^$", U"a"));
  EXPECT_TRUE(occurs("", U"anything\n"));
  EXPECT_TRUE(occurs("^a|c$", U"xc"));
  EXPECT_FALSE(occurs("^a|c$", U"xa"));
}

TEST(Regex, BothOfTwo) {
  const auto a = grammar::parse_regex("^[ab]+$", grammar::RegexMatch::kAnywhere).value();
  const auto b = grammar::parse_regex("ba", grammar::RegexMatch::kAnywhere).value();
  const auto both = a.common(b).common(grammar::CharAutomaton::repeated(grammar::CharSet::all(), 3, 4));
  EXPECT_TRUE(both.takes(U"aba"));
  EXPECT_TRUE(both.takes(U"bbba"));
  EXPECT_FALSE(both.takes(U"ba"));
  EXPECT_FALSE(both.takes(U"abab\n"));
  EXPECT_FALSE(both.takes(U"aab"));
  EXPECT_FALSE(both.takes(U"ababa"));
}

TEST(Regex, RefusesByNameWhatIsNotRegular) {
  const auto expect = [](std::string_view pattern, std::string_view message) {
    EXPECT_EQ(error_of(Grammar::regex(pattern)), std::string("the regular expression: ") + std::string(message));
  };
  expect("a(?=b)", "look-around at column 2 cannot be held to");
  expect("(?<!b)", "look-around at column 1 cannot be held to");
  expect("(a)\\1", "a back reference at column 4 cannot be held to");
  expect("\\bfoo", "a word boundary at column 1 cannot be held to");
  expect("\\p{L}", "a Unicode property at column 1 cannot be held to");
  expect("(?i)a", "a group with flags at column 1 cannot be held to");
  expect("a**", "a repeated repetition at column 3");
  expect("(a", "'(' without ')' at column 1");
  expect("a)", "')' without '(' at column 2");
  expect("[a", "'[' without ']' at column 1");
  expect("[z-a]", "a range that runs backwards at column 5");
  expect("a{3,1}", "a repetition with more at least than at most at column 6");
  expect("a{,1}", "a repetition without a number at column 3");
  expect("\\q", "an escape that means nothing at column 1");
  expect("\\ud800", "an escape of no character at column 7");
  expect("*", "a repetition of nothing at column 1");
  expect("\xFF", "invalid UTF-8 at byte 0");
}

TEST(Regex, BombsFailQuickly) {
  for (const char* bomb : {"((((a{100}){100}){100}){100}){100}", "(((((){50000}){50000}){50000}){50000}){50000}",
                           "(a?){50000}(a?){50000}", ".{50000}.{50000}", "a{99999999999999999999}"}) {
    EXPECT_NE(error_of(Grammar::regex(bomb)), "none") << bomb;
  }
  EXPECT_NE(error_of(Grammar::regex(std::string(10'000, '('))), "none");
  EXPECT_EQ(matches("(a*)*(a*)*b", std::string(3000, 'a')), "more");
  EXPECT_EQ(matches("(a|aa|aaa)*b", std::string(3000, 'a') + "b"), "yes");
  EXPECT_EQ(matches("[ab]*a[ab]{200}", std::string(300, 'a')), "yes");
}

}  // namespace
}  // namespace tern
