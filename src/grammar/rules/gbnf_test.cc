#include "grammar/grammar_test_support.h"

namespace tern {
namespace {

using namespace grammar_test;

TEST(Gbnf, AByteOrderMarkIsNoPartOfIt) { EXPECT_EQ(taken(Grammar::gbnf("\xEF\xBB\xBFroot ::= \"ab\""), "ab"), "yes"); }

TEST(Gbnf, LiteralsChoicesAndNames) {
  const Made g =
      Grammar::gbnf("root ::= greeting \" \" name\ngreeting ::= \"hello\" | \"hi\"\nname ::= [A-Z] [a-z]*\n");
  EXPECT_EQ(taken(g, "hello Bob"), "yes");
  EXPECT_EQ(taken(g, "hi B"), "yes");
  EXPECT_EQ(taken(g, "hi "), "more");
  EXPECT_EQ(taken(g, "hello bob"), "no");
  EXPECT_EQ(taken(g, "hell Bob"), "no");
}

TEST(Gbnf, Repetitions) {
  const Made g = Grammar::gbnf(R"(root ::= "a"* "b"+ "c"? ("d" "e"){2} [f]{1,3} "g"{2,} "h"{0,1})");
  EXPECT_EQ(taken(g, "aaabbcdedefgg"), "yes");
  EXPECT_EQ(taken(g, "bdedefffgggggh"), "yes");
  EXPECT_EQ(taken(g, "bdedeffffgg"), "no");
  EXPECT_EQ(taken(g, "bdefgg"), "no");
  EXPECT_EQ(taken(g, "bdedefg"), "more");
  EXPECT_EQ(taken(g, "adedefgg"), "no");
  EXPECT_EQ(taken(g, "bdedefgghh"), "no");
}

TEST(Gbnf, RecursionOfAnyDepth) {
  const Made g = Grammar::gbnf("root ::= \"(\" root \")\" | \"\"");
  const std::string open(500, '('), close(500, ')');
  EXPECT_EQ(taken(g, open + close), "yes");
  EXPECT_EQ(taken(g, open + close + ")"), "no");
  EXPECT_EQ(taken(g, open), "more");
}

TEST(Gbnf, AmbiguityTakesNoExponentialMemory) {
  const Made g = Grammar::gbnf("root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"a\" root root \"c\" | \"d\"");
  EXPECT_EQ(taken(g, std::string(60, 'a') + "d" + std::string(60, 'b')), "yes");
  EXPECT_EQ(taken(g, std::string(60, 'a') + "d" + std::string(61, 'b')), "no");
}

TEST(Gbnf, LinesCommentsAndEscapes) {
  const Made g = Grammar::gbnf(
      "# a comment\r\nroot ::= # another\n  (\"\\x41\"  # one\n   | \"\\u00e9\" |\n   \"\\n\\\"\\\\\" )\n  | "
      "[^\\]a-z-] |\n \"q\"\n\n");
  for (const char* yes : {"A", "é", "\n\"\\", "q", "\xF0\x9F\x98\x80", "^"}) EXPECT_EQ(taken(g, yes), "yes") << yes;
  for (const char* no : {"]", "b", "\x80", "\xC0\x80"}) EXPECT_EQ(taken(g, no), "no") << no;
  EXPECT_EQ(taken(g, "\xF0\x9F"), "more");
}

TEST(Gbnf, EmptyRulesWithinOthers) {
  const Made g =
      Grammar::gbnf("root ::= ws item ws\nws ::= \" \"?\nitem ::= ws \"x\" (ws \",\" ws item)? end\nend ::= \"\"");
  for (const char* yes : {"x", " x", "  x ", "x,x", " x , x , x "}) EXPECT_EQ(taken(g, yes), "yes") << yes;
  EXPECT_EQ(taken(g, "   x"), "no");
  EXPECT_EQ(taken(g, "x,"), "more");
}

TEST(Gbnf, ErrorsNameThePlace) {
  const auto expect = [](std::string_view text, std::string_view message) {
    EXPECT_EQ(error_of(Grammar::gbnf(text)), std::string("the grammar: ") + std::string(message)) << text;
  };
  expect("root ::= \"a\"\n  b ::= c\n", "line 2, column 9: there is no rule 'c'");
  expect("", "the grammar has no rule 'root', which is where a text begins");
  expect("root ::= \"a", "line 1, column 10: '\"' without its end");
  expect("root ::= (\"a\"", "line 1, column 10: '(' without ')'");
  expect("root ::= [a", "line 1, column 10: '[' without ']'");
  expect("root ::= [z-a]", "line 1, column 14: a range that runs backwards");
  expect("root ::= \"a\"{3,2}", "line 1, column 18: more repetitions at least than at most");
  expect("root ::= \"a\"{3000000}", "line 1, column 19: more than 100000 repetitions");
  expect("root = \"a\"", "line 1, column 6: '::=' was expected behind a rule's name");
  expect("root ::= \"a\"\nroot ::= \"b\"", "line 2, column 1: rule 'root' is defined a second time");
  expect("root ::= <[7]>", "line 1, column 10: tokens by their number or name");
  expect("root ::= \"\\q\"", "line 1, column 11: an escape that means nothing");
  expect("root ::= a\na ::= b? root \"x\" | \"y\"\nb ::= \"b\"",
         "rule 'a' calls itself before it has taken anything (left recursion): put what repeats behind, as in "
         "list ::= item list?");
  expect("root ::= \"a\" root", "no text of finite length is possible (root)");
}

TEST(Gbnf, HostileTextsFailQuickly) {
  EXPECT_NE(error_of(Grammar::gbnf("root ::= " + std::string(10'000, '(') + "\"a\"")), "none");
  EXPECT_NE(error_of(Grammar::gbnf("root ::= \"a\"{90000} \"b\"{90000} \"c\"{90000} \"d\"{90000} \"e\"{90000}")),
            "none");
  EXPECT_NE(error_of(Grammar::gbnf("root ::= ((((\"a\"{100}){100}){100}){100}){100000} root")), "none");
  std::string deep = "root ::= r0\n";
  for (int i = 0; i < 60; ++i) {
    const std::string next = "r" + std::to_string(i + 1);
    deep += "r" + std::to_string(i) + " ::= " + next + " " + next + "\n";
  }
  EXPECT_EQ(taken(Grammar::gbnf(deep + "r60 ::= \"a\""), "aaaa"), "more");  // 2^60 characters
}

}  // namespace
}  // namespace tern
