#include "model/gguf_vocab.h"

#include <gtest/gtest.h>

#include "model/tiny_gguf.h"
#include "text/chat_template.h"

namespace tern {
namespace {

// The official BitNet file's tokenizer in small: no `pre`, a placeholder template, <|eot_id|> not declared.
TinyGguf published_bitnet() {
  TinyGguf file;
  file.strings = {
      {"tokenizer.ggml.model", "gpt2"},
      {"tokenizer.chat_template",
       "{% for message in messages %}{% if loop.first %}{{ bos_token }}{% endif %}{% if message['role'] == 'user' %}"
       "{{ 'Human: ' + message['content'] + '\\n\\nBITNETAssistant: ' + eos_token }}{% endif %}{% endfor %}"}};
  file.string_lists = {
      {"tokenizer.ggml.tokens", {"a", "b", "c", "ab", "<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "d"}},
      {"tokenizer.ggml.merges", {"a b"}}};
  file.integer_lists = {{"tokenizer.ggml.token_type", {1, 1, 1, 1, 3, 3, 3, 1}}};
  file.token_ids = {{"tokenizer.ggml.bos_token_id", 4}, {"tokenizer.ggml.eos_token_id", 5}};
  return file;
}

GgufFile open(const TinyGguf& file) { return GgufFile::open(file.write("vocab")).value(); }

TEST(GgufVocab, RepairsThePublishedBitnetFile) {
  const GgufFile file = open(published_bitnet());
  const Vocab vocab = read_gguf_vocab(file).value().value();
  EXPECT_EQ(vocab.pre, PreTokenizer::kLlamaBpe);
  EXPECT_TRUE(vocab.ignore_merges);
  EXPECT_TRUE(vocab.add_bos);
  EXPECT_FALSE(vocab.nfc);
  EXPECT_EQ(vocab.bos, 4);
  EXPECT_EQ(vocab.stop_tokens, (std::vector<TokenId>{5, 6}));
  EXPECT_EQ(vocab.tokens[3], "ab");
  EXPECT_EQ(vocab.types[6], TokenType::kControl);
  EXPECT_EQ(read_gguf_chat_template(file).value().value(), bitnet_chat_template());
}

TEST(GgufVocab, KeepsATemplateThatIsNotThePlaceholder) {
  TinyGguf file = published_bitnet();
  file.strings["tokenizer.chat_template"] = "{{ messages[0]['content'] }}";
  EXPECT_EQ(read_gguf_chat_template(open(file)).value().value(), "{{ messages[0]['content'] }}");
  file.strings.erase("tokenizer.chat_template");
  EXPECT_FALSE(read_gguf_chat_template(open(file)).value().has_value());
}

TEST(GgufVocab, ReadsDeclaredPreTokenizers) {
  TinyGguf file = published_bitnet();
  file.strings["tokenizer.ggml.pre"] = "qwen2";
  const Vocab qwen = read_gguf_vocab(open(file)).value().value();
  EXPECT_EQ(qwen.pre, PreTokenizer::kQwen2);
  EXPECT_FALSE(qwen.ignore_merges);
  EXPECT_FALSE(qwen.add_bos);
  EXPECT_TRUE(qwen.nfc);
  file.strings["tokenizer.ggml.pre"] = "viking";
  EXPECT_NE(read_gguf_vocab(open(file)).error().message.find("\"viking\""), std::string::npos);
}

// A Phi-3 file as llama.cpp writes it, in small.
TinyGguf phi3() {
  TinyGguf file;
  file.strings = {{"tokenizer.ggml.model", "llama"}};
  file.string_lists = {{"tokenizer.ggml.tokens",
                        {"<unk>", "<s>", "</s>", "a", "<|endoftext|>", "<|assistant|>", "<|end|>", "<|user|>"}}};
  file.integer_lists = {{"tokenizer.ggml.token_type", {2, 3, 3, 1, 3, 3, 3, 3}}};
  file.float_lists = {{"tokenizer.ggml.scores", {0, 0, 0, -1, 0, 0, 0, 0}}};
  file.token_ids = {{"tokenizer.ggml.eos_token_id", 4}};
  return file;
}

TEST(GgufVocab, SentencePieceWithWhatPhi3NeedsBack) {
  const Vocab vocab = read_gguf_vocab(open(phi3())).value().value();
  EXPECT_EQ(vocab.kind, VocabKind::kSentencePiece);
  EXPECT_EQ(vocab.space_rule, SpaceRule::kEverywhere);
  EXPECT_TRUE(vocab.decode_strips_space);
  EXPECT_TRUE(vocab.add_bos);
  EXPECT_EQ(vocab.bos, 1);
  EXPECT_EQ(vocab.unk, 0);
  EXPECT_EQ(vocab.stop_tokens, (std::vector<TokenId>{2, 4, 5, 6}));
  EXPECT_EQ(vocab.flags, (std::vector<uint8_t>{0, 0, kTokenRstrip, 0, 0, kTokenRstrip, kTokenRstrip, kTokenRstrip}));

  TinyGguf llama = phi3();
  llama.string_lists["tokenizer.ggml.tokens"][7] = "<|other|>";
  EXPECT_EQ(read_gguf_vocab(open(llama)).value()->flags, std::vector<uint8_t>());

  TinyGguf incomplete = phi3();
  incomplete.float_lists.clear();
  EXPECT_NE(read_gguf_vocab(open(incomplete)).error().message.find("tokenizer.ggml.scores is missing"),
            std::string::npos);
}

TEST(GgufVocab, NoTokenizerIsNotAnError) { EXPECT_FALSE(read_gguf_vocab(open(TinyGguf())).value().has_value()); }

TEST(GgufVocab, RefusesIncompleteTokenizers) {
  const auto message = [](void (*spoil)(TinyGguf&)) {
    TinyGguf file = published_bitnet();
    spoil(file);
    const auto vocab = read_gguf_vocab(open(file));
    return vocab ? std::string() : vocab.error().message;
  };
  EXPECT_NE(message([](TinyGguf& f) { f.strings["tokenizer.ggml.model"] = "bert"; }).find("\"bert\""),
            std::string::npos);
  EXPECT_NE(message([](TinyGguf& f) { f.string_lists.erase("tokenizer.ggml.merges"); }).find("merges is missing"),
            std::string::npos);
  EXPECT_NE(
      message([](TinyGguf& f) { f.integer_lists["tokenizer.ggml.token_type"].pop_back(); }).find("7 entries for 8"),
      std::string::npos);
  EXPECT_NE(message([](TinyGguf& f) { f.integer_lists["tokenizer.ggml.token_type"][0] = 9; }).find("holds 9"),
            std::string::npos);
  EXPECT_NE(message([](TinyGguf& f) { f.token_ids["tokenizer.ggml.eos_token_id"] = 8; }).find("is 8, but"),
            std::string::npos);
}

}  // namespace
}  // namespace tern
