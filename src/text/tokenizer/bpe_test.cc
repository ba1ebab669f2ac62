#include "text/tokenizer/bpe.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "text/tokenizer/vocab_test_support.h"

namespace tern {
namespace {

using Ids = std::vector<TokenId>;

TEST(ByteAlphabet, IsAOneToOneMapOfAllBytes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    std::string back;
    ASSERT_TRUE(append_bytes_of(spell_byte(static_cast<uint8_t>(byte)), back));
    ASSERT_EQ(back, std::string(1, static_cast<char>(byte)));
  }
  EXPECT_EQ(spell_byte(' '), "Ġ");
  EXPECT_EQ(spell_byte('\n'), "Ċ");
  EXPECT_EQ(spell_byte('A'), "A");
  EXPECT_EQ(spell_byte(0xAD), "\u0143");      // the last character
  EXPECT_FALSE(append_bytes_of("a b", all));  // a plain space is not in the alphabet
  EXPECT_FALSE(append_bytes_of("\u0144", all));
  EXPECT_FALSE(append_bytes_of("\u2581", all));
  EXPECT_EQ(all, "");
}

TEST(Bpe, MergesByRankNotByLength) {
  TestVocab v;
  const TokenId bc = v.merge("b", "c");
  const TokenId ab = v.merge("a", "b");
  const TokenId abc = v.merge("ab", "c");
  const auto tokenizer = v.make();
  EXPECT_EQ(tokenizer->encode("abc"), (Ids{'a', bc}));  // b c merges first, so ab never forms
  EXPECT_EQ(tokenizer->encode("abab"), (Ids{ab, ab}));
  EXPECT_EQ(tokenizer->find("abc"), abc);
}

TEST(Bpe, IgnoreMergesTakesAWholeWord) {
  TestVocab v;
  const TokenId bc = v.merge("b", "c");
  v.merge("a", "b");
  const TokenId abc = v.merge("ab", "c");
  v.vocab.pre = PreTokenizer::kLlamaBpe;
  v.vocab.ignore_merges = true;
  const auto tokenizer = v.make();
  EXPECT_EQ(tokenizer->encode("abc"), (Ids{abc}));
  EXPECT_EQ(tokenizer->encode("abcbc"), (Ids{'a', bc, bc}));
}

TEST(Bpe, WordsAreNotMergedAcross) {
  TestVocab v;
  v.merge("a", "Ġ");
  const auto tokenizer = v.make();
  EXPECT_EQ(tokenizer->encode("a a"), (Ids{'a', ' ', 'a'}));
}

TEST(Bpe, ControlTokensOnlyWhenAskedUserDefinedAlways) {
  TestVocab v;
  const TokenId eot = v.add("<|eot|>", TokenType::kControl);
  const TokenId think = v.add("<think>", TokenType::kUserDefined);
  const auto tokenizer = v.make();
  EXPECT_EQ(tokenizer->encode("a<|eot|>", {.parse_special = true}), (Ids{'a', eot}));
  EXPECT_EQ(tokenizer->encode("a<|eot|>").size(), 8u);
  EXPECT_EQ(tokenizer->encode("<think>b"), (Ids{think, 'b'}));

  EXPECT_EQ(tokenizer->piece(eot), "");
  EXPECT_EQ(tokenizer->piece(eot, true), "<|eot|>");
  EXPECT_EQ(tokenizer->piece(think), "<think>");
  EXPECT_EQ(tokenizer->decode({'a', eot, 'b'}), "ab");
  EXPECT_EQ(tokenizer->decode({'a', eot, 'b'}, true), "a<|eot|>b");
  EXPECT_EQ(tokenizer->find("<|eot|>"), eot);
}

// Words go on across the ends of what is quoted.
TEST(Bpe, QuotedControlTokensAreText) {
  TestVocab v;
  const TokenId ab = v.merge("a", "b");
  const TokenId eot = v.add("<|eot|>", TokenType::kControl);
  const TokenId other = v.add("é<|", TokenType::kControl);
  v.vocab.flags.assign(v.vocab.tokens.size(), 0);
  v.vocab.flags.back() = kTokenNormalized;
  v.vocab.nfc = true;
  const auto encode = [&](std::string_view text, const std::vector<TextRange>& quoted) {
    return v.make()->encode(text, {.parse_special = true, .quoted = quoted});
  };
  EXPECT_EQ(encode("ab<|eot|>", {{1, 2}}), (Ids{ab, eot}));
  EXPECT_EQ(encode("<|eot|>a<|eot|>", {{0, 8}}).size(), 9u);
  EXPECT_EQ(encode("<|eot|>a<|eot|>", {{0, 8}}).back(), eot);
  EXPECT_EQ(encode("<|eot|>", {{0, 7}}), v.make()->encode("<|eot|>"));
  // A token that is looked for in normalized text, before and after one that normalization makes shorter.
  const std::string mark = "e\u0301<|";
  EXPECT_EQ(encode("e\u0301e\u0301e\u0301" + mark, {{0, 9}}).back(), other);
  EXPECT_EQ(encode(mark + "a" + mark, {}), (Ids{other, 'a', other}));
  EXPECT_EQ(encode(mark + "a" + mark, {{0, mark.size()}}).back(), other);
  EXPECT_EQ(encode(mark + "a" + mark, {{0, mark.size()}}).size(), 6u);
  EXPECT_EQ(encode(mark + "a" + mark, {{mark.size(), 2 * mark.size() + 1}}).front(), other);
  EXPECT_EQ(encode(mark + "a" + mark, {{mark.size(), 2 * mark.size() + 1}}).size(), 6u);
}

TEST(Bpe, TextNeverMergesIntoAControlToken) {
  TestVocab v;
  v.add("stop", TokenType::kControl);
  v.vocab.ignore_merges = true;
  const auto tokenizer = v.make();
  EXPECT_EQ(tokenizer->encode("stop"), (Ids{'s', 't', 'o', 'p'}));
  v.vocab.merges.push_back("s top");
  EXPECT_EQ(v.error(), "tokenizer: merge 0 's top' names the token 'top', which is not in the vocabulary");
}

TEST(Bpe, BosWhereAskedAndWanted) {
  TestVocab v;
  const TokenId bos = v.add("<s>", TokenType::kControl);
  v.vocab.bos = bos;
  EXPECT_EQ(v.make()->encode("a"), (Ids{'a'}));
  v.vocab.add_bos = true;
  EXPECT_EQ(v.make()->encode("a"), (Ids{bos, 'a'}));
  EXPECT_EQ(v.make()->encode(""), (Ids{bos}));
  EXPECT_EQ(v.make()->encode("a", {.add_bos = false}), (Ids{'a'}));
  EXPECT_EQ(v.make()->bos(), bos);
}

TEST(Bpe, IdsOutsideTheVocabularyHaveNoText) {
  const auto tokenizer = TestVocab().make();
  EXPECT_EQ(tokenizer->vocab_size(), 256);
  EXPECT_EQ(tokenizer->piece(-1), "");
  EXPECT_EQ(tokenizer->piece(256), "");
  EXPECT_EQ(tokenizer->find("nothing"), std::nullopt);
  EXPECT_EQ(tokenizer->find("\xFF"), std::nullopt);
}

TEST(Bpe, InvalidUtf8BecomesByteTokensAndComesBack) {
  TestVocab v;
  const TokenId ab = v.merge("a", "b");
  v.merge("\u00C3", "\u00A9");  // é
  const auto tokenizer = v.make();
  EXPECT_EQ(tokenizer->encode("ab\xFF"
                              "ab"),
            (Ids{ab, 0xFF, ab}));
  EXPECT_EQ(tokenizer->encode("\xC3"), (Ids{0xC3}));
  EXPECT_EQ(tokenizer->encode("é").size(), 1u);

  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text(random() % 64, '\0');
    for (char& c : text) c = static_cast<char>(random() % 2 ? random() : "ab \xC3\xA9"[random() % 5]);
    ASSERT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

TEST(Bpe, TheCacheDoesNotShow) {
  TestVocab v;
  v.merge("a", "b");
  v.merge("ab", "ab");
  v.merge("c", "d");
  const auto tokenizer = v.make();
  std::mt19937 random(5);
  std::vector<std::string> texts;
  std::string all;
  Ids expected;
  for (int i = 0; i < 5000; ++i) {
    std::string word = " ";
    for (size_t n = 1 + random() % 8; n > 0; --n) word += static_cast<char>('a' + random() % 4);
    const Ids ids = tokenizer->encode(word);  // too short for a cache
    expected.insert(expected.end(), ids.begin(), ids.end());
    all += word;
  }
  EXPECT_EQ(tokenizer->encode(all), expected);
}

TEST(Bpe, ThreadsMayShareIt) {
  TestVocab v;
  v.merge("a", "b");
  v.merge("Ġ", "ab");
  const auto tokenizer = v.make();
  std::string text;
  for (int i = 0; i < 2000; ++i) text += " abba" + std::to_string(i);
  const Ids expected = tokenizer->encode(text);
  std::vector<Ids> results(4);
  {
    std::vector<std::jthread> threads;
    for (Ids& result : results) threads.emplace_back([&] { result = tokenizer->encode(text); });
  }
  for (const Ids& result : results) EXPECT_EQ(result, expected);
}

TEST(Bpe, AMillionOfTheSameCharacter) {
  TestVocab v;
  std::string run = "a";
  for (int i = 0; i < 6; ++i, run += run) v.merge(run, run);
  std::string spaces = "Ġ";
  for (int i = 0; i < 4; ++i, spaces += spaces) v.merge(spaces, spaces);
  const auto tokenizer = v.make();
  for (const char c : {'a', ' ', '\n', '\xFF', '9'}) {
    const std::string text(1 << 20, c);
    ASSERT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
  EXPECT_EQ(tokenizer->encode(std::string(1 << 20, 'a')).size(), size_t{1} << 14);
}

TEST(BpeErrors, NameWhatIsWrong) {
  Vocab empty;
  EXPECT_EQ(make_bpe_tokenizer(empty).error().message, "tokenizer: the vocabulary has no tokens");

  TestVocab v;
  v.add("Ġx");
  v.add("Ġx");
  EXPECT_EQ(v.error(), "tokenizer: tokens 256 and 257 are both 'Ġx'");

  v = {};
  v.add("<x>", TokenType::kControl);
  v.add("<x>", TokenType::kUserDefined);
  EXPECT_EQ(v.error(), "tokenizer: tokens 256 and 257 are both '<x>'");

  v = {};
  v.add("<x>");
  v.add("<x>", TokenType::kControl);
  EXPECT_EQ(v.error(), "tokenizer: tokens 256 and 257 are both '<x>'");

  v = {};
  v.vocab.tokens[0x0A] = v.keep("Ċnot");
  EXPECT_EQ(v.error(), "tokenizer: no token for the byte 0x0A ('Ċ'), so this is not a byte-level BPE vocabulary");

  v = {};
  v.vocab.types.pop_back();
  EXPECT_EQ(v.error(), "tokenizer: 255 token types for 256 tokens");

  v = {};
  v.vocab.types[7] = static_cast<TokenType>(9);
  EXPECT_EQ(v.error(), "tokenizer: token 7 has the type 9, which does not exist");

  v = {};
  v.add("<0x0A>", TokenType::kByte);
  EXPECT_EQ(make_bpe_tokenizer(v.vocab).error().code, ErrorCode::kNotSupported);

  v = {};
  v.vocab.bos = 256;
  EXPECT_EQ(v.error(), "tokenizer: the BOS token is 256, but there are only 256 tokens");

  v = {};
  v.vocab.stop_tokens = {-1};
  EXPECT_EQ(v.error(), "tokenizer: the stop token -1 does not exist; there are 256 tokens");
}

TEST(BpeErrors, Merges) {
  for (const std::string bad : {"", " ", "a", "a ", " a"}) {
    TestVocab v;
    v.vocab.merges.push_back(v.keep(bad));
    EXPECT_EQ(v.error(), "tokenizer: merge 0 '" + bad + "' is not two tokens with a space between");
  }
  TestVocab v;
  v.vocab.merges = {"a b"};
  EXPECT_EQ(v.error(), "tokenizer: merge 0 'a b' names the token 'ab', which is not in the vocabulary");
  v.vocab.merges = {"a b c"};
  EXPECT_EQ(v.error(), "tokenizer: merge 0 'a b c' names the token 'b c', which is not in the vocabulary");
  v.vocab.merges = {"xy z"};
  EXPECT_EQ(v.error(), "tokenizer: merge 0 'xy z' names the token 'xy', which is not in the vocabulary");
}

}  // namespace
}  // namespace tern
