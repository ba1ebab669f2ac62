// Masks agree with what the matcher takes, whichever shortcut computes them.
#include "grammar/matcher.h"

#include "grammar/grammar_test_support.h"

namespace tern {
namespace {

using namespace grammar_test;

// A token for every byte, and words that are plain, special, or end inside a character.
class WordTokenizer final : public Tokenizer {
 public:
  WordTokenizer() {
    words_ = {"",         "ab",
              "abc",      " ab",
              "é",        "a\xC3",
              "\xA9z",    "\":",
              "\",",      "\"}",
              "x\"",      "\\n",
              "\n ",      ", ",
              "12",       "-1",
              "true",     "{\"",
              "€é",       " ",
              "  ",       "abcdefghijklmnopqrstuvwxyz",
              "[[",       "]]",
              "\\u00",    "\xF0\x9F",
              "\x98\x80", "}"};
    for (int byte = 0; byte < 256; ++byte) words_.emplace_back(1, static_cast<char>(byte));
  }
  int vocab_size() const override { return static_cast<int>(words_.size()); }
  std::vector<TokenId> encode(std::string_view, const TokenizeOptions&) const override { return {}; }
  std::string_view piece(TokenId id, bool) const override { return words_[static_cast<size_t>(id)]; }
  std::optional<TokenId> bos() const override { return std::nullopt; }
  const std::vector<TokenId>& stop_tokens() const override { return none_; }
  std::optional<TokenId> find(std::string_view) const override { return std::nullopt; }

 private:
  std::vector<std::string> words_;
  std::vector<TokenId> none_;
};

const WordTokenizer& words() {
  static const WordTokenizer kWords;
  return kWords;
}

constexpr int kPadding = 7;  // ids that the model has but the tokenizer lacks

// At every byte of `document`, checks each token's bit against a copy of the matcher.
void expect_true_masks(const Made& made, std::string_view document, bool strips_space = false) {
  ASSERT_TRUE(made) << error_of(made);
  GrammarCache cache;
  const int n_vocab = words().vocab_size() + kPadding;
  GrammarMatcher matcher = cache.matcher(*made, words(), n_vocab, strips_space);
  for (size_t i = 0;; ++i) {
    const auto allowed = matcher.allowed().value();
    for (TokenId token = 0; token < n_vocab; ++token) {
      GrammarMatcher copy = matcher;
      const bool is_text = token < words().vocab_size() && !words().piece(token, false).empty();
      const bool adds_nothing = strips_space && i == 0 && is_text && words().piece(token, false) == " ";
      const bool expected = is_text && !adds_nothing && copy.accept(token);
      ASSERT_EQ(grammar::is_in(*allowed.tokens, token), expected)
          << document.substr(0, i) << "|" << (is_text ? words().piece(token, false) : "");
    }
    EXPECT_EQ(allowed.end, i == document.size()) << i;
    if (i == document.size()) break;
    const TokenId byte = words().vocab_size() - 256 + static_cast<unsigned char>(document[i]);
    ASSERT_TRUE(matcher.accept(byte)) << i;
  }
  EXPECT_TRUE(matcher.is_complete());
}

TEST(Matcher, MasksOfStringsThatAreFreeCountedOrMatched) {
  const std::string document = "\"abé\\n€xy\"";
  for (const char* schema :
       {R"({"type":"string"})", R"({"type":"string","maxLength":7})", R"({"type":"string","minLength":7})",
        R"({"type":"string","minLength":3,"maxLength":9})", R"({"type":"string","pattern":"^[^0-9]*$"})",
        R"({"type":"string","pattern":"é"})", R"({"type":"string","pattern":"y$","maxLength":8})",
        R"({"anyOf":[{"type":"string","maxLength":7},{"type":"string","pattern":"^a"}]})"}) {
    expect_true_masks(Grammar::json_schema(schema), document);
  }
}

TEST(Matcher, MasksWherePlainCharactersPartAfterAFew) {
  expect_true_masks(Grammar::json_schema(R"({"type":"string","pattern":"^[^][^][a-z]+$"})"), "\"é€abcz\"");
}

TEST(Matcher, MasksOfDocuments) {
  expect_true_masks(Grammar::json_object(),
                    "{\"abc\": [12, -1.5e3, true, {\"é\": \"\xF0\x9F\x98\x80\"}],\n \"x\": \"\\u00e9\"}");
  expect_true_masks(
      Grammar::json_schema(R"({"type":"object","properties":{"ab":{"type":"integer"}},"additionalProperties":true})"),
      R"({"ab":12,"abc":"x","a":[[]]})");
}

TEST(Matcher, AFirstSpaceThatIsNotOfTheText) {
  const Made made = Grammar::json_schema(R"({"enum":["abc",true]})");
  expect_true_masks(made, "true", /*strips_space=*/true);
  expect_true_masks(Grammar::gbnf("root ::= \" \"? \"ab\" \"!\""), "ab!", /*strips_space=*/true);
}

TEST(Matcher, CopiesGoTheirOwnWays) {
  GrammarCache cache;
  const Made made = Grammar::gbnf("root ::= \"ab\" (\"c\" | \"}\")");
  GrammarMatcher one = cache.matcher(*made, words(), words().vocab_size(), false);
  EXPECT_TRUE(one.accept(1));  // ab
  GrammarMatcher other = one;
  EXPECT_TRUE(one.accept(words().vocab_size() - 256 + 'c'));
  EXPECT_TRUE(one.is_complete());
  EXPECT_FALSE(one.accept(27));
  EXPECT_FALSE(other.is_complete());
  EXPECT_TRUE(other.accept(27));  // }
}

TEST(Matcher, WhatIsForgottenIsFoundAgain) {
  const Made made = Grammar::gbnf("root ::= \"(\" root \")\" | \"ab\" root | \"c\"");
  grammar::Automaton automaton(*(*made)->impl().rules);
  grammar::PositionId places[] = {automaton.start(), automaton.start()};
  for (const char c : std::string_view("((ab(")) places[1] = automaton.step(places[1], static_cast<uint8_t>(c));
  const size_t n_before = automaton.n_positions();
  automaton.forget_all_but(places);
  EXPECT_LT(automaton.n_positions(), n_before);
  EXPECT_EQ(places[0], automaton.start());
  for (const char c : std::string_view("c)))")) {
    EXPECT_FALSE(automaton.may_end(places[1]));
    places[1] = automaton.step(places[1], static_cast<uint8_t>(c));
  }
  EXPECT_TRUE(automaton.may_end(places[1]));
  EXPECT_EQ(automaton.step(places[1], ')'), grammar::kNowhere);
}

TEST(Matcher, TooManyWaysToReadATextIsAnError) {
  // A run of any length may begin at every character, so each character adds more ways.
  std::string gbnf = "root ::= [a-z]* (r0";
  for (int i = 1; i < 20; ++i) gbnf += " | r" + std::to_string(i);
  gbnf += ") \"!\"\n";
  for (int i = 0; i < 20; ++i) gbnf += "r" + std::to_string(i) + " ::= [a-z]{" + std::to_string(2000 + i) + "}\n";
  const Made made = Grammar::gbnf(gbnf);
  ASSERT_TRUE(made) << error_of(made);
  GrammarCache cache;
  GrammarMatcher matcher = cache.matcher(*made, words(), words().vocab_size(), false);
  int n_taken = 0;
  while (n_taken < 2'000 && matcher.accept(words().vocab_size() - 256 + 'a')) ++n_taken;
  EXPECT_LT(n_taken, 2'000);
  const auto allowed = matcher.allowed();
  ASSERT_FALSE(allowed);
  EXPECT_TRUE(allowed.error().message.contains("ways at once")) << allowed.error().message;
}

}  // namespace
}  // namespace tern
