#include "grammar/rules/lark.h"

#include "base/text/format_text.h"
#include "grammar/grammar_test_support.h"
#include "grammar/rules/rules_without.h"

namespace tern {
namespace {

using namespace grammar_test;

TEST(Lark, RulesTerminalsAndChoices) {
  const Made g = Grammar::lark(R"(
    // A comment.
    start: greeting " " name -> greeted   # another
         | "bye"
    ?greeting.2: "hello" | HI
    HI.-1: "hi" "!"?
    name: /[A-Z]/ LOWER*
    LOWER: "a".."z"
  )");
  for (const char* yes : {"hello Bob", "hi B", "hi! Bo", "bye"}) EXPECT_EQ(taken(g, yes), "yes") << yes;
  for (const char* no : {"hello bob", "hi!! B", "byes"}) EXPECT_EQ(taken(g, no), "no") << no;
  EXPECT_EQ(taken(g, "hell"), "more");
}

TEST(Lark, RepetitionsAndOptions) {
  const Made g = Grammar::lark("start: \"a\"* \"b\"+ \"c\"? (\"d\" \"e\")~2 [\"f\" | \"g\"] \"h\"~1..3");
  for (const char* yes : {"bdedeh", "aabbcdedefhhh", "bdedegh"}) EXPECT_EQ(taken(g, yes), "yes") << yes;
  for (const char* no : {"dedeh", "bdeh", "bdedefgh", "bdedehhhh"}) EXPECT_NE(taken(g, no), "yes") << no;
}

TEST(Lark, WhatIsIgnoredStandsBetweenTerminals) {
  const Made g = Grammar::lark(R"lark(
    start: INT ("+" INT)*
    %import common.INT
    %import common (WS, CPP_COMMENT)
    %ignore WS
    %ignore CPP_COMMENT
  )lark");
  for (const char* yes : {"1", " 12 + 3\n", "1//one\n+2", "1 + 2 // two"}) EXPECT_EQ(taken(g, yes), "yes") << yes;
  for (const char* no : {"1 2", "+1", "1 +"}) EXPECT_NE(taken(g, no), "yes") << no;
}

TEST(Lark, RulesMayBeginWithThemselves) {
  const Made g = Grammar::lark(R"lark(
    start: sum
    ?sum: product | sum "+" product -> add | sum "-" product -> sub
    ?product: atom
            | product "*" atom
    ?atom: NUMBER | "(" sum ")"
    %import common.NUMBER
  )lark");
  for (const char* yes : {"1", "1+2-3*4.5", "(1-2)*(3)", "((1e5))"}) EXPECT_EQ(taken(g, yes), "yes") << yes;
  for (const char* no : {"+1", "1++2", "(1", "1)"}) EXPECT_NE(taken(g, no), "yes") << no;
  EXPECT_TRUE(error_of(Grammar::lark("start: a\na: b \"x\" | \"y\"\nb: a \"z\"")).contains("left recursion"));
}

TEST(Lark, ExpressionsAreThoseOfPython) {
  EXPECT_EQ(taken(Grammar::lark("start: /a.b/"), "a\rb"), "yes");
  EXPECT_EQ(taken(Grammar::lark("start: /a.b/"), "a\nb"), "no");
  EXPECT_EQ(taken(Grammar::lark("start: /a.b/s"), "a\nb"), "yes");
  EXPECT_EQ(taken(Grammar::lark("start: /a[.]b\\./"), "a.b."), "yes");
  EXPECT_EQ(taken(Grammar::lark("start: /a[.]b\\./"), "axb."), "no");
  EXPECT_EQ(taken(Grammar::lark("start: /(?P<n>a\\/)+/"), "a/a/"), "yes");
  EXPECT_EQ(taken(Grammar::lark("start: /ab[c-e]/i \"fG\"i"), "AbDFg"), "yes");
  for (const char* no : {"a", "A", "b"}) EXPECT_EQ(taken(Grammar::lark("start: /[^aB]/i"), no), "no") << no;
  EXPECT_EQ(taken(Grammar::lark("start: /[^aB]/i"), "C"), "yes");
  EXPECT_EQ(taken(Grammar::lark("start: /[^]x[y]+/"), "ab"), "yes");
  for (const char* no : {"xy", "]", "[", "axy"}) EXPECT_EQ(taken(Grammar::lark("start: /[^]x[y]+/"), no), "no") << no;
  EXPECT_EQ(taken(Grammar::lark("start: /[].]+/"), "]."), "yes");
  EXPECT_EQ(taken(Grammar::lark("start: /[].]+/"), "x"), "no");
  EXPECT_EQ(taken(Grammar::lark("start: /a{,2}b{,}/"), "aabbb"), "yes");
  EXPECT_EQ(taken(Grammar::lark("start: /a{,2}/"), "aaa"), "no");
}

TEST(Lark, ClassesAreThoseOfPythonForText) {
  const auto one = [](const std::string& expression, std::string_view text) {
    return taken(Grammar::lark("start: \"<\" /" + expression + "/ \">\""), "<" + std::string(text) + ">");
  };
  for (const char* word : {"a", "_", "9", "é", "ß", "ж", "中", "𝔘", "²", "½", "Ⅷ", "٣", "ᧀ"}) {
    EXPECT_EQ(one("\\w", word), "yes") << word;
    EXPECT_EQ(one("\\W", word), "no") << word;
    EXPECT_EQ(one("[^\\W]", word), "yes") << word;
  }
  for (const char* other : {"-", " ", "\u0301", "€", "→", "\u200D", "😀"}) {
    EXPECT_EQ(one("\\w", other), "no") << other;
    EXPECT_EQ(one("\\W", other), "yes") << other;
  }
  for (const char* digit : {"0", "٣", "𝟗"}) {
    EXPECT_EQ(one("\\d", digit), "yes") << digit;
    EXPECT_EQ(one("\\D", digit), "no") << digit;
  }
  EXPECT_EQ(one("\\d", "²"), "no");
  for (const char* space : {" ", "\x1C", "\x1F", "\u0085", "\u00A0", "\u3000"}) {
    EXPECT_EQ(one("\\s", space), "yes") << space;
    EXPECT_EQ(one("\\S", space), "no") << space;
  }
  EXPECT_EQ(one("\\s", "\uFEFF"), "no");
  EXPECT_EQ(one("\\S", "\uFEFF"), "yes");
  EXPECT_EQ(one("\\a\\U0001F600", "\a😀"), "yes");
  EXPECT_TRUE(one("\\u{61}", "a").contains("hexadecimal"));
}

// Python finds more letters in another case than ASCII has.
TEST(Lark, ClassesWithoutRegardToCase) {
  const auto one = [](std::string_view text) { return taken(Grammar::lark("start: /[^k-sI]/i"), text); };
  for (const char* no : {"k", "K", "\u212A", "s", "\u017F", "i", "I", "\u0130", "\u0131"})
    EXPECT_EQ(one(no), "no") << no;
  EXPECT_EQ(one("j"), "yes");
  EXPECT_EQ(one("é"), "yes");
  EXPECT_TRUE(error_of(Grammar::lark("start: /[^é]/i"))
                  .contains("a class with ^ and characters beyond ASCII, in any case, at column 1"));
  EXPECT_EQ(taken(Grammar::lark("start: /[^\\W]/i"), "é"), "yes");
}

// Python's ^ and $ mean the ends of the whole text, wherever their terminal stands.
TEST(Lark, AnchorsAreRefusedUnlessATerminalIsTheText) {
  for (const char* whole : {"start: /^ab$/", "start: /^a/ -> one | /b$/", "start: a\na: A | \"c\"\nA: /^ab$/"})
    EXPECT_EQ(error_of(Grammar::lark(whole)), "none");
  EXPECT_EQ(taken(Grammar::lark("start: /^ab$/"), "ab"), "yes");
  for (const char* part : {"start: /^a/ \"b\"", "start: /a$/+", "start: /^a/\n%ignore \" \"", "start: A \"b\"\nA: /^a/",
                           "start: A | \"b\" A\nA: /^a/", "start: /^a/ | \"b\" start", "start: start \"b\" | /a$/"}) {
    const std::string error = error_of(Grammar::lark(part));
    EXPECT_TRUE(error.contains("an end of the whole text, at column")) << part << "\n" << error;
  }
  EXPECT_TRUE(error_of(Grammar::lark("start: /\\Aa/")).contains("'\\A' at column 1"));
}

TEST(Lark, LargeGrammarsAreRefusedInTime) {
  std::string chain = "start: T0\n", expressions = "start: a\n";
  for (int i = 0; i < 60'000; ++i) chain += format_text("T{}: T{}\n", i, i + 1);
  EXPECT_TRUE(error_of(Grammar::lark(chain + "T60000: \"x\"")).contains("too large"));
  EXPECT_TRUE(error_of(Grammar::lark(chain + "T60000: T9")).contains("contains itself"));
  for (int i = 0; i < 20'000; ++i) expressions += format_text("r{}: /a{{50000}}/\n", i);
  EXPECT_TRUE(error_of(Grammar::lark(expressions + "a: \"x\"")).contains("too large"));
  std::string nothing = "start:";
  for (int i = 0; i < 15'000; ++i) nothing += " /(){50000}(){50000}(){50000}(){50000}a/";
  EXPECT_EQ(error_of(Grammar::lark(nothing)), "none");
  std::string choice = "start: /a/";
  for (int i = 0; i < 50'000; ++i) choice += "|/a/";
  EXPECT_EQ(error_of(Grammar::lark(choice)), "none");
}

// Python's \w has 760 ranges, and a class with one more character is another set.
TEST(Lark, LargeClassesAreRefusedInTime) {
  const auto classes = [](size_t n) {
    std::string out = " /";
    for (size_t i = 0; i < n; ++i) out += format_text("[\\w\\U{:08X}]", 0x90000 + 2 * i);
    return out + "/i";
  };
  EXPECT_EQ(error_of(Grammar::lark("start:" + classes(100))), "none");
  EXPECT_TRUE(error_of(Grammar::lark("start:" + classes(1400))).contains("or 100000 ranges of characters"));
  std::string many = "start:", words = "start: /\\w/";
  for (int i = 0; i < 500; ++i) many += classes(100);
  EXPECT_TRUE(error_of(Grammar::lark(many)).contains("or 4000000 ranges of characters"));
  for (int i = 0; i < 5000; ++i) words += "|/\\w/";
  EXPECT_EQ(error_of(Grammar::lark(words)), "none");
}

TEST(Lark, CommonTerminals) {
  const auto one = [](const std::string& name, std::string_view text) {
    return taken(Grammar::lark("start: " + name + "\n%import common." + name), text);
  };
  EXPECT_EQ(one("ESCAPED_STRING", R"("a\"b\\")"), "yes");
  EXPECT_EQ(one("ESCAPED_STRING", R"("a"b")"), "no");
  EXPECT_EQ(one("SIGNED_NUMBER", "-1.5e+3"), "yes");
  EXPECT_EQ(one("FLOAT", "15"), "more");
  EXPECT_EQ(one("DECIMAL", "1."), "yes");
  EXPECT_EQ(one("C_COMMENT", "/* a **/"), "yes");
  EXPECT_EQ(one("C_COMMENT", "/* a */ b */"), "no");
  EXPECT_EQ(one("CNAME", "_a1"), "yes");
  EXPECT_EQ(one("NEWLINE", "\r\n\n"), "yes");
  EXPECT_EQ(taken(Grammar::lark("start: NL\n%import common.LF -> NL"), "\n"), "yes");
  EXPECT_EQ(taken(Grammar::lark("start: LF\n%import common.LF\n%import common (LF, WS)"), "\n"), "yes");
}

// The grammar of a client that sends patches.
constexpr const char* kPatch = R"lark(start: begin_patch hunk+ end_patch
begin_patch: "*** Begin" LF
end_patch: "*** End" LF?

hunk: add | change
add: "*** Add: " filename LF add_line+
change: "*** Update: " filename LF (("@@" | "@@ " /(.+)/) LF | change_line)+
filename: /(.+)/
add_line: "+" /(.*)/ LF -> line
change_line: ("+" | "-" | " ") /(.*)/ LF

%import common.LF
)lark";

TEST(Lark, PatchesOfFiles) {
  const Made g = Grammar::lark(kPatch);
  EXPECT_EQ(taken(g, "*** Begin\n*** Add: a.txt\n+one\n+\n*** Update: b\n@@ f\n-x\n+y\n z\n*** End"), "yes");
  EXPECT_EQ(taken(g, "*** Begin\n*** Add: a.txt\none"), "no");
  EXPECT_EQ(taken(g, "*** Begin\n*** End"), "no");
}

TEST(Lark, MistakesAreNamedWithTheirPlace) {
  const auto says = [](const char* text, std::string_view what) {
    const std::string error = error_of(Grammar::lark(text));
    EXPECT_TRUE(error.contains(what)) << text << "\n" << error;
  };
  says("a: \"b\"", "no rule 'start'");
  says("start: a", "line 1, column 8: there is no rule or terminal 'a'");
  says("start: \"a\n", "line 1, column 8: '\"' without its end");
  says("start: \"a\"\nstart: \"b\"", "line 2, column 1: 'start' is defined a second time");
  says("start: A\nA: b\nb: \"c\"", "line 2, column 4: the terminal 'A' cannot contain the rule 'b'");
  says("start: A\nA: B\nB: A", "contains itself");
  says("start: a{\"x\"}", "rules with parameters");
  says("start: \"a\"\n%declare B", "line 2, column 1: '%declare' is not supported");
  says("start: /a(?=b)/", "line 1, column 8: the expression: look-around at column");
  says("start: /a/x", "flag 'x'");
  says("%import python.NAME\nstart: NAME", "only terminals of 'common'");
  says("start: UP\n%import common.UP", "line 2, column 9: 'common' has no terminal 'UP'");
  says("%import common.INT -> A\n%import common.WS -> A\nstart: A", "line 2, column 9: 'A' is imported a second time");
  says("start: \"a\" )", "this belongs to no rule");
  says("start: (\"a\"", "'(' without ')'");
  says("start: <token>", "'<' is not supported here");
  says("start: \"a\"~3..2", "more repetitions at least");
  says("start: start \"a\"", "no text of finite length");
  says("start: \"\xFF\"", "invalid UTF-8");
}

std::string taken_without(const char* grammar, std::string_view mark, std::string_view text) {
  const auto rules = grammar::parse_lark(grammar);
  if (!rules) return rules.error().message;
  size_t work_left = grammar::kMostGrammarWork;
  const auto others = grammar::rules_without(*rules, mark, work_left);
  if (!others) return others.error().message;
  grammar::Automaton automaton(*others);
  grammar::PositionId at = automaton.start();
  for (const char c : text) at = automaton.step(at, static_cast<uint8_t>(c));
  if (at == grammar::kNowhere) return "no";
  return automaton.may_end(at) ? "yes" : "more";
}

// A mark is left out even where two terminals would make it.
TEST(Lark, RulesWithoutAMark) {
  const char* grammar = "start: (LETTER | \"<\" | \"/\" | \">\" | \"(\" start \")\")*\n%import common.LETTER";
  for (const char* yes : {"", "</a", "a<</ab>", "(</a)>", "(((<)/))a>"}) {
    EXPECT_EQ(taken_without(grammar, "</a>", yes), "yes") << yes;
  }
  for (const char* no : {"</a>", "x<</a>y", "((</a>))"}) EXPECT_EQ(taken_without(grammar, "</a>", no), "no") << no;
  EXPECT_EQ(taken_without(grammar, "a)(b", "(a)(b)"), "no");
  EXPECT_EQ(taken_without(grammar, "a)(b", "(a)(c)"), "yes");
  EXPECT_EQ(taken_without(kPatch, "</p>", "*** Begin\n*** Add: a\n+<p></q>\n*** End"), "yes");
  EXPECT_EQ(taken_without(kPatch, "</p>", "*** Begin\n*** Add: a\n+<p></p>\n*** End"), "no");
  EXPECT_EQ(taken_without(kPatch, "\n+", "*** Begin\n*** Add: a\n+"), "no");
}

// The grammars of one schema take no more time than one large one.
TEST(Lark, GrammarsOfASchemaAreLimitedTogether) {
  const auto calls = [](const std::string& grammar, int n) {
    std::string tools;
    for (int i = 0; i < n; ++i) {
      tools += format_text(R"({}{{"all": ["t{}", {{"pairs": {{"type": "object", "required": ["input"],
          "additionalProperties": false, "properties": {{"input": {{"type": "string", "$lark": "{}"}}}}}},
          "values": "text", "key_begin": "<p=", "key_end": ">", "value_end": "</p>"}}]}})",
                           i > 0 ? ", " : "", i, grammar);
    }
    return Grammar::tool_call(R"({"$calls": {"any": [)" + tools + R"(]}, "$defs": {}})", "");
  };
  const std::string small = R"(start: /[a-z<\\/>]+/)";
  EXPECT_EQ(taken(calls(small, 100), "t7<p=input>a</p</p>"), "yes");
  std::string large = R"(start: \"x\")";
  for (int i = 0; i < 7; ++i) large += format_text(R"(\na{}: /b{{50000}}/)", i);
  EXPECT_EQ(taken(calls(large, 1), "t0<p=input>x</p>"), "yes");
  const std::string error = error_of(calls(large, 1000));
  EXPECT_TRUE(error.contains("$lark': the grammar takes too many states where its texts end with a mark")) << error;
  std::string calls_itself = "start: r0\n";
  for (int i = 0; i < 20; ++i) {
    calls_itself += format_text("r{}: /[<\\/par]/", i);
    for (int k = 0; k < 10; ++k)
      calls_itself += format_text(" | /./s r{} /./s r{}", (7 * i + k) % 20, (3 * i + k) % 20);
    calls_itself += "\n";
  }
  for (size_t work_left : {grammar::kMostGrammarWork, size_t{1'000'000}}) {
    EXPECT_FALSE(grammar::rules_without(*grammar::parse_lark(calls_itself), "</parameter>", work_left));
    EXPECT_LT(work_left, size_t{5'000'000});
  }
}

}  // namespace
}  // namespace tern
