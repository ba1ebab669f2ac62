#include "text/tokenizer/sentence_piece.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <random>

#include "text/unicode/utf8.h"

namespace tern {
namespace {

using Ids = std::vector<TokenId>;

// <unk> <s> </s>, the 256 bytes (3 to 258), then ▁ a b c d, then the tokens that a test adds, each with a score.
class SmallVocab {
 public:
  SmallVocab() {
    vocab.kind = VocabKind::kSentencePiece;
    vocab.space_rule = SpaceRule::kEverywhere;
    vocab.decode_strips_space = true;
    add("<unk>", 0, TokenType::kUnknown);
    add("<s>", 0, TokenType::kControl);
    add("</s>", 0, TokenType::kControl);
    for (int byte = 0; byte < 256; ++byte) {
      char spelling[8];
      std::snprintf(spelling, sizeof spelling, "<0x%02X>", static_cast<unsigned>(byte));
      add(spelling, 0, TokenType::kByte);
    }
    for (const char* c : {"▁", "a", "b", "c", "d"}) add(c, -100);
    vocab.unk = 0;
    vocab.bos = 1;
  }

  TokenId add(std::string spelling, float score, TokenType type = TokenType::kNormal, uint8_t flags = 0) {
    vocab.tokens.push_back(strings_.emplace_back(std::move(spelling)));
    vocab.types.push_back(type);
    vocab.scores.push_back(score);
    vocab.flags.push_back(flags);
    return static_cast<TokenId>(vocab.tokens.size() - 1);
  }

  std::unique_ptr<Tokenizer> make() const { return make_tokenizer(vocab).value(); }
  std::string error() const {
    const auto result = make_tokenizer(vocab);
    return result ? "no error" : result.error().message;
  }

  Vocab vocab;

 private:
  std::deque<std::string> strings_;
};

constexpr TokenId kSpace = 259, kA = 260, kB = 261, kC = 262;
constexpr TokenId byte_id(int byte) { return 3 + byte; }

TEST(SentencePiece, MergesTheHighestScoreFirstAndTheLeftmostOfEquals) {
  SmallVocab v;
  const TokenId ab = v.add("ab", -2);
  const TokenId bc = v.add("bc", -1);
  const TokenId aa = v.add("aa", -3);
  const TokenId space_a = v.add("▁a", -4);
  const auto tokenizer = v.make();
  EXPECT_EQ(tokenizer->encode("abc"), (Ids{space_a, bc}));
  EXPECT_EQ(tokenizer->encode("ab"), (Ids{kSpace, ab}));
  EXPECT_EQ(tokenizer->encode("caaa"), (Ids{kSpace, kC, aa, kA}));
  EXPECT_EQ(tokenizer->encode(""), Ids{});
  EXPECT_EQ(tokenizer->find("▁a"), space_a);
  EXPECT_EQ(tokenizer->find("<0x41>"), byte_id(0x41));
}

TEST(SentencePiece, EqualScoresAreMergedFromTheLeft) {
  SmallVocab v;
  const TokenId ab = v.add("ab", -1);
  v.add("ba", -1);
  const TokenId cb = v.add("cb", -1);
  const auto tokenizer = v.make();
  EXPECT_EQ(tokenizer->encode("aba"), (Ids{kSpace, ab, kA}));
  EXPECT_EQ(tokenizer->encode("cba"), (Ids{kSpace, cb, kA}));
}

TEST(SentencePiece, ListedMergesComeInTheirOrder) {
  SmallVocab v;
  const TokenId ab = v.add("ab", 0);
  const TokenId bc = v.add("bc", 0);
  v.vocab.merges = {"b c", "a b"};
  EXPECT_EQ(v.make()->encode("abc"), (Ids{kSpace, kA, bc}));
  v.vocab.merges = {"a b", "b c"};
  EXPECT_EQ(v.make()->encode("abc"), (Ids{kSpace, ab, kC}));
}

TEST(SentencePiece, WhatIsNoTokenBecomesBytes) {
  SmallVocab v;
  const auto tokenizer = v.make();
  EXPECT_EQ(tokenizer->encode("é"), (Ids{kSpace, byte_id(0xC3), byte_id(0xA9)}));
  EXPECT_EQ(tokenizer->encode("a\xFFz"), (Ids{kSpace, kA, byte_id(0xFF), byte_id('z')}));
  EXPECT_EQ(tokenizer->decode({byte_id(0xC3)}), "\xC3");
}

TEST(SentencePiece, SpacesInFront) {
  SmallVocab v;
  const auto plain = v.make();
  EXPECT_EQ(plain->encode(" a"), (Ids{kSpace, kSpace, kA}));
  EXPECT_EQ(plain->encode("▁a"), (Ids{kSpace, kSpace, kA}));
  EXPECT_EQ(plain->encode("a<s>b", {.parse_special = true}), (Ids{kSpace, kA, 1, kSpace, kB}));
  EXPECT_EQ(plain->decode(plain->encode(" a")), " a");
  EXPECT_TRUE(plain->strips_leading_space());
  EXPECT_EQ(plain->piece(kSpace), " ");
  v.vocab.space_rule = SpaceRule::kFirstIfMissing;
  EXPECT_EQ(v.make()->encode("a<s>b", {.parse_special = true}), (Ids{kSpace, kA, 1, kB}));
  EXPECT_EQ(v.make()->encode("<s>b", {.parse_special = true}), (Ids{1, kB}));
  EXPECT_EQ(v.make()->encode(" a"), (Ids{kSpace, kA}));
  v.vocab.space_rule = SpaceRule::kNone;
  EXPECT_EQ(v.make()->encode("a"), (Ids{kA}));
}

TEST(SentencePiece, QuotedControlTokensAreText) {
  SmallVocab v;
  const TokenId end = v.add("<end>", 0, TokenType::kControl, kTokenNormalized);  // spelled with a space
  const auto tokenizer = v.make();
  const auto encode = [&](std::string_view text, const std::vector<TextRange>& quoted) {
    return tokenizer->encode(text, {.parse_special = true, .quoted = quoted});
  };
  EXPECT_EQ(encode("a<s>b", {}), (Ids{kSpace, kA, 1, kSpace, kB}));
  EXPECT_EQ(encode("a<s>b", {{0, 5}}), tokenizer->encode("a<s>b"));
  EXPECT_EQ(encode("a▁<end>b▁<end>", {}), (Ids{kSpace, kA, end, kB, end}));
  const Ids later = encode("a▁<end>b▁<end>", {{0, 10}});
  EXPECT_EQ(later.back(), end);
  EXPECT_EQ(std::ranges::count(later, end), 1);
  EXPECT_EQ(encode("<end>b", {{5, 6}}), (Ids{end, kB}));
  const Ids earlier = encode("a▁<end>b▁<end>", {{10, 18}});
  EXPECT_EQ(earlier[2], end);
  EXPECT_EQ(std::ranges::count(earlier, end), 1);
}

TEST(SentencePiece, SpecialTokensSwallowWhiteSpace) {
  SmallVocab v;
  const TokenId user = v.add("<|user|>", 0, TokenType::kControl, kTokenRstrip);
  const TokenId end = v.add("<|end|>", 0, TokenType::kControl, kTokenRstrip);
  const auto tokenizer = v.make();
  EXPECT_EQ(tokenizer->encode("<|user|>\na<|end|>\n\u3000<|user|>", {.parse_special = true}),
            (Ids{user, kSpace, kA, end, user}));
  EXPECT_EQ(tokenizer->encode("<|user|>")[0], kSpace);
}

TEST(SentencePiece, TextNeverMergesIntoAControlToken) {
  SmallVocab v;
  v.add("ab", 5, TokenType::kControl);
  v.add("ab2", 5, TokenType::kUnused);
  EXPECT_EQ(v.make()->encode("ab"), (Ids{kSpace, kA, kB}));
  v.vocab.merges = {"a b"};
  EXPECT_EQ(v.error(), "tokenizer: merge 0 'a b' is not two tokens with a space between that make a third");
}

TEST(SentencePiece, EveryByteStringComesBack) {
  SmallVocab v;
  for (const char* token : {"▁▁", "▁a", "ab", "ba", "▁ab", "abab", "b▁"})
    v.add(token, -static_cast<float>(v.vocab.tokens.size()));
  std::mt19937 random(3);
  for (const bool split : {false, true}) {
    v.vocab.split_at_spaces = split;
    const auto tokenizer = v.make();
    for (int round = 0; round < 3000; ++round) {
      std::string text(random() % 400, '\0');
      for (char& c : text) c = static_cast<char>(random() % 8 ? "ab \n\xC3\xA9"[random() % 6] : random());
      ASSERT_EQ(tokenizer->decode(tokenizer->encode(text)), text) << printable(text);
    }
  }
}

// Merging words independently must not change ids: tested without and with a token that spans words.
TEST(SentencePiece, WordsAreOnlyAShortCut) {
  SmallVocab v;
  for (const char* token : {"▁▁", "▁a", "ab", "ba", "▁ab", "abab", "▁▁a", "▁▁▁▁"})
    v.add(token, -static_cast<float>(v.vocab.tokens.size()));
  const auto apart = v.make();
  v.add("cd▁d", -1000);  // never made: no split of it has two tokens
  v.add("d▁", -999);
  const auto whole = v.make();
  std::mt19937 random(4);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 600, '\0');
    for (char& c : text) c = "ab  "[random() % 4];
    ASSERT_EQ(apart->encode(text), whole->encode(text)) << text;
  }
}

TEST(SentencePiece, AMillionOfTheSameCharacter) {
  SmallVocab v;
  std::string run = "a";
  std::string spaces = "▁";
  for (int i = 0; i < 4; ++i, run += run, spaces += spaces) {
    v.add(run + run, -static_cast<float>(i));
    v.add(spaces + spaces, -static_cast<float>(i));
  }
  const auto tokenizer = v.make();
  for (const char c : {'a', ' ', '\n', '\xFF'}) {
    const std::string text(1 << 20, c);
    ASSERT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
  EXPECT_EQ(tokenizer->encode(std::string(1 << 20, 'a')).size(), (size_t{1} << 16) + 1);
}

TEST(SentencePiece, WithoutByteTokensTheUnknownToken) {
  SmallVocab v;
  for (size_t i = 3; i < 259; ++i) v.vocab.types[i] = TokenType::kUnused;
  EXPECT_EQ(v.make()->encode("aéxa"), (Ids{kSpace, kA, 0, kA}));
  v.vocab.unk.reset();
  EXPECT_EQ(v.error(), "tokenizer: neither tokens for bytes nor an unknown token, so some text has no ids");
}

TEST(SentencePieceErrors, NameWhatIsWrong) {
  SmallVocab v;
  v.add("a", 0);
  EXPECT_EQ(v.error(), "tokenizer: tokens 260 and 264 are both 'a'");
  v = {};
  v.add("<s>", 0, TokenType::kUserDefined);
  EXPECT_EQ(v.error(), "tokenizer: tokens 1 and 264 are both '<s>'");
  v = {};
  v.add("<0x41>", 0, TokenType::kByte);
  EXPECT_EQ(v.error(), "tokenizer: tokens 68 and 264 are both '<0x41>'");
  v = {};
  v.add("<0xG1>", 0, TokenType::kByte);
  EXPECT_EQ(v.error(), "tokenizer: token 264 '<0xG1>' is declared a byte, but is not spelled <0x00> to <0xFF>");
  v = {};
  v.vocab.types[byte_id(0x0A)] = TokenType::kNormal;
  EXPECT_EQ(v.error(), "tokenizer: 255 of the 256 byte tokens exist, and <0x0A> does not");
  v = {};
  v.add("ab", std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(v.error(), "tokenizer: token 264 'ab' has a score that is not a number");
  v = {};
  v.add(std::string(1000, 'a'), 0);
  EXPECT_TRUE(v.error().ends_with("has 1000 bytes; at most 512 are accepted")) << v.error();
  v = {};
  v.vocab.scores.pop_back();
  EXPECT_EQ(v.error(), "tokenizer: 263 token scores for 264 tokens");
  v = {};
  v.vocab.merges = {"a"};
  EXPECT_EQ(v.error(), "tokenizer: merge 0 'a' is not two tokens with a space between that make a third");
}

}  // namespace
}  // namespace tern
