// Compares Gemma 3's vocabulary as in GGUF files with Hugging Face's library reading the same one from a tokenizer.json
// (tests/golden/make_sentence_piece_goldens.py). And how Gemma 4's files differ.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files/mapped_file.h"
#include "model/gguf/vocab.h"
#include "model/tiny_gguf_test_support.h"
#include "support/checkout.h"
#include "text/chat/chat_template.h"
#include "text/tokenizer/sentence_piece_model.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

using Ids = std::vector<TokenId>;

const std::string kGoldens = source_path("tests/golden/tokenizer/");

class GemmaVocab : public testing::Test {
 protected:
  const GgufFile file_ = GgufFile::open(kGoldens + "gemma.gguf").value();
  const Vocab vocab_ = read_gguf_vocab(file_).value().value();
};

TEST_F(GemmaVocab, SaysHowTextsBeginAndRepliesEnd) {
  EXPECT_EQ(vocab_.kind, VocabKind::kSentencePiece);
  EXPECT_EQ(vocab_.space_rule, SpaceRule::kNone);
  EXPECT_FALSE(vocab_.decode_strips_space);
  EXPECT_TRUE(vocab_.add_bos);
  EXPECT_EQ(vocab_.bos, 2);
  EXPECT_EQ(vocab_.eos, 1);
  EXPECT_EQ(vocab_.unk, 3);
  EXPECT_EQ(vocab_.pad, 0);
  EXPECT_EQ(vocab_.final_token, std::nullopt);
  EXPECT_EQ(vocab_.stop_tokens, (Ids{1, 6}));  // <eos> and <end_of_turn>, but not </s>
}

// Ids may differ only for texts that contain U+2581 (docs/formats.md).
TEST_F(GemmaVocab, GivesTheIdsOfTheTokenizerJson) {
  const auto goldens = nlohmann::json::parse(read_text_file(kGoldens + "gemma.json").value());
  const auto tokenizer = make_tokenizer(vocab_).value();
  size_t n = 0;
  for (size_t i = 0; i < goldens.at("texts").size(); ++i) {
    const auto input = goldens.at("texts")[i].get<std::string>();
    if (input.contains(kSpaceMark)) continue;
    ++n;
    const auto& row = goldens.at("rows")[i];
    EXPECT_EQ(tokenizer->encode(input, {.add_bos = false}), row[0].get<Ids>()) << printable(input);
    Ids special = row[1].get<Ids>();
    EXPECT_EQ(tokenizer->decode(special), row[2].get<std::string>()) << printable(input);
    special.insert(special.begin(), 2);
    EXPECT_EQ(tokenizer->encode(input, {.parse_special = true}), special) << printable(input);
  }
  EXPECT_GE(n, 30u);
}

TEST_F(GemmaVocab, ReadsAConversationAsItsTokens) {
  const ChatTemplate chat(read_gguf_chat_template(file_).value().value(), "<bos>", "<eos>");
  const ChatMessage messages[] = {{"system", "be kind"}, {"user", " the cat "}};
  const std::string text = chat.render(messages).value().text;
  EXPECT_EQ(text, "<bos><start_of_turn>user\nbe kind\n\nthe cat<end_of_turn>\n<start_of_turn>model\n");
  const Ids ids = make_tokenizer(vocab_).value()->encode(text, {.add_bos = false, .parse_special = true});
  EXPECT_EQ(ids.front(), 2);
  EXPECT_EQ(std::ranges::count(ids, 5), 2);  // <start_of_turn>
  EXPECT_EQ(std::ranges::count(ids, 6), 1);
}

// Gemma 4's files: a name of their own, no space before a text, and types that are wrong.
TEST(Gemma4Vocab, HasANameAndTypesOfItsOwn) {
  TinyGguf file;
  file.strings = {{"tokenizer.ggml.model", "gemma4"}};
  file.string_lists = {
      {"tokenizer.ggml.tokens",
       {"<pad>", "<eos>", "<bos>", "<unk>", "\u2581", "a", "\u2581a", "<|tool_response>", "<turn|>", "</s>"}},
      {"tokenizer.ggml.merges", {"\u2581 a"}}};
  file.integer_lists = {{"tokenizer.ggml.token_type", {3, 1, 3, 2, 1, 1, 1, 4, 3, 3}}};
  file.token_ids = {
      {"tokenizer.ggml.bos_token_id", 2}, {"tokenizer.ggml.eos_token_id", 8}, {"tokenizer.ggml.unknown_token_id", 3}};
  const GgufFile gguf = GgufFile::open(file.write("vocab")).value();
  const auto read = read_gguf_vocab(gguf);
  ASSERT_TRUE(read) << read.error().message;
  const Vocab& vocab = **read;
  EXPECT_EQ(vocab.kind, VocabKind::kSentencePiece);
  EXPECT_EQ(vocab.stop_tokens, (std::vector<TokenId>{1, 7, 8}));
  EXPECT_EQ(vocab.type(7), TokenType::kControl);
  EXPECT_EQ(vocab.type(9), TokenType::kUserDefined);
  EXPECT_TRUE(vocab.add_bos);
  const auto made = make_tokenizer(vocab);
  ASSERT_TRUE(made) << made.error().message;
  const auto& tokenizer = *made;
  EXPECT_EQ(tokenizer->encode("a a"), (std::vector<TokenId>{2, 5, 6}));
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{6, 5}), " aa");
  file.string_lists.erase("tokenizer.ggml.merges");
  const GgufFile incomplete = GgufFile::open(file.write("incomplete")).value();
  const auto without = read_gguf_vocab(incomplete);
  ASSERT_FALSE(without);
  EXPECT_NE(without.error().message.find("tokenizer.ggml.merges is missing"), std::string::npos);
}

}  // namespace
}  // namespace tern
