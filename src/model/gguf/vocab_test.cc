#include "model/gguf/vocab.h"

#include <gtest/gtest.h>

#include "model/tiny_gguf_test_support.h"
#include "text/chat/chat_template.h"

namespace tern {
namespace {

// The official BitNet file's tokenizer, scaled down: no `pre`, a placeholder template, <|eot_id|> not declared.
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

TEST(GgufVocab, ListsOfEndsEndReplies) {
  for (const char* key : {"tokenizer.ggml.eos_token_ids", "tokenizer.ggml.eog_token_ids"}) {
    TinyGguf file = published_bitnet();
    file.integer_lists[key] = {7, 5};
    EXPECT_EQ(read_gguf_vocab(open(file)).value()->stop_tokens, (std::vector<TokenId>{5, 6, 7})) << key;
    file.integer_lists[key] = {8};
    const auto outside = read_gguf_vocab(open(file));
    ASSERT_FALSE(outside) << key;
    EXPECT_NE(outside.error().message.find(std::string(key) + " is 8, but the vocabulary has 8 tokens"),
              std::string::npos)
        << outside.error().message;
  }
}

TEST(GgufVocab, TheUnknownTokenHasTwoNames) {
  TinyGguf file = published_bitnet();
  file.token_ids["tokenizer.ggml.unk_token_id"] = 2;
  EXPECT_EQ(read_gguf_vocab(open(file)).value()->unk, 2);
  file.token_ids["tokenizer.ggml.unknown_token_id"] = 2;
  EXPECT_EQ(read_gguf_vocab(open(file)).value()->unk, 2);
  file.token_ids["tokenizer.ggml.unknown_token_id"] = 3;
  const auto both = read_gguf_vocab(open(file));
  ASSERT_FALSE(both);
  EXPECT_NE(both.error().message.find("unk_token_id is 2, but"), std::string::npos) << both.error().message;
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

// All other names that llama.cpp knows. Tern does not support their ways of splitting words.
TEST(GgufVocab, RefusesOtherPreTokenizersByName) {
  constexpr const char* kOthers[] = {"falcon-h1",
                                     "pixtral",
                                     "midm-2.0",
                                     "lfm2",
                                     "jina-v5-nano",
                                     "minicpm5",
                                     "deepseek-llm",
                                     "deepseek-coder",
                                     "deepseek-v3",
                                     "spark2_5",
                                     "youtu",
                                     "falcon",
                                     "mpt",
                                     "starcoder",
                                     "phi-2",
                                     "jina-es",
                                     "jina-de",
                                     "gigachat",
                                     "jina-v2-es",
                                     "jina-v2-de",
                                     "a.x-4.0",
                                     "mellum",
                                     "modern-bert",
                                     "jais-2",
                                     "gemma4",
                                     "granite-embed-multi-311m",
                                     "sarvam-moe",
                                     "jina-v1-en",
                                     "jina-v2-code",
                                     "roberta-bpe",
                                     "whitespace",
                                     "refact",
                                     "command-r",
                                     "kormo",
                                     "f2llmv2",
                                     "stablelm2",
                                     "olmo",
                                     "poro-chat",
                                     "glm4",
                                     "chatglm-bpe",
                                     "viking",
                                     "jais",
                                     "codeshell",
                                     "bloom",
                                     "gpt3-finnish",
                                     "exaone",
                                     "exaone4",
                                     "exaone-moe",
                                     "chameleon",
                                     "minerva-7b",
                                     "megrez",
                                     "llama4",
                                     "kanana2",
                                     "talkie",
                                     "granite-embed-multi-97m",
                                     "tiny_aya",
                                     "cohere2moe",
                                     "superbpe",
                                     "trillion",
                                     "granite-docling",
                                     "bailingmoe",
                                     "bailingmoe2",
                                     "llada-moe",
                                     "seed-coder",
                                     "hunyuan",
                                     "hy_v4",
                                     "joyai-llm",
                                     "kimi-k2",
                                     "ufakzeka",
                                     "grok-2",
                                     "afmoe",
                                     "laguna",
                                     "minimax-m2",
                                     "solar-open",
                                     "mellum2"};
  TinyGguf file = published_bitnet();
  for (const std::string name : kOthers) {
    file.strings["tokenizer.ggml.pre"] = name;
    const GgufFile gguf = open(file);
    const auto vocab = read_gguf_vocab(gguf);
    ASSERT_FALSE(vocab) << name;
    EXPECT_EQ(vocab.error().code, ErrorCode::kNotSupported);
    EXPECT_NE(
        vocab.error().message.find("tokenizer.ggml.pre is \"" + name + "\", a pre-tokenizer that Tern does not know"),
        std::string::npos)
        << vocab.error().message;
  }
}

TEST(GgufVocab, RefusesOtherKindsOfTokenizersByName) {
  TinyGguf file = published_bitnet();
  for (const std::string name : {"bert", "t5", "rwkv", "plamo2", "hybriddna", "whitespace"}) {
    file.strings["tokenizer.ggml.model"] = name;
    const GgufFile gguf = open(file);
    const auto vocab = read_gguf_vocab(gguf);
    ASSERT_FALSE(vocab) << name;
    EXPECT_EQ(vocab.error().code, ErrorCode::kNotSupported);
    EXPECT_NE(vocab.error().message.find("tokenizer.ggml.model is \"" + name + "\""), std::string::npos);
  }
}

// Missing keys get defaults that depend on the kind of vocabulary.
TEST(GgufVocab, BosAndEosWhereKeysAreMissing) {
  TinyGguf llama;
  llama.strings = {{"tokenizer.ggml.model", "llama"}};
  llama.string_lists = {{"tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "a"}}};
  llama.integer_lists = {{"tokenizer.ggml.token_type", {2, 3, 3, 1}}};
  llama.float_lists = {{"tokenizer.ggml.scores", {0, 0, 0, -1}}};
  const auto read = [](const TinyGguf& file) { return read_gguf_vocab(open(file)).value().value(); };
  EXPECT_EQ(read(llama).bos, 1);
  EXPECT_EQ(read(llama).eos, 2);
  EXPECT_TRUE(read(llama).add_bos);
  EXPECT_EQ(read(llama).final_token, std::nullopt);
  llama.bools["tokenizer.ggml.add_eos_token"] = true;
  llama.bools["tokenizer.ggml.add_sep_token"] = true;  // only for BERT
  llama.token_ids["tokenizer.ggml.seperator_token_id"] = 3;
  EXPECT_EQ(read(llama).final_token, 2);
  llama.bools["tokenizer.ggml.add_bos_token"] = false;
  EXPECT_FALSE(read(llama).add_bos);
  llama.string_lists["tokenizer.ggml.tokens"] = {"<unk>", "x", "y", "a"};  // without <s> there is no BOS
  EXPECT_EQ(read(llama).bos, std::nullopt);
  EXPECT_EQ(read(llama).eos, std::nullopt);

  TinyGguf byte_level = published_bitnet();
  byte_level.token_ids.clear();
  for (const char* pre : {"llama-bpe", "tekken", "qwen2", "gpt-2"}) {
    byte_level.strings["tokenizer.ggml.pre"] = pre;
    EXPECT_EQ(read(byte_level).bos, std::nullopt) << pre;  // llama.cpp uses token 11
    EXPECT_FALSE(read(byte_level).add_bos) << pre;
  }
}

TEST(GgufVocab, KnowsThePreTokenizersOfItsFamilies) {
  struct Row {
    const char* name;
    PreTokenizer pre;
    bool ignore_merges, add_bos;
  };
  constexpr Row kRows[] = {{"llama-bpe", PreTokenizer::kLlamaBpe, true, true},
                           {"llama3", PreTokenizer::kLlamaBpe, true, true},
                           {"falcon3", PreTokenizer::kLlamaBpe, true, true},
                           {"falcon_e", PreTokenizer::kLlamaBpe, true, true},
                           {"falcon-e", PreTokenizer::kLlamaBpe, true, true},
                           {"smaug-bpe", PreTokenizer::kLlamaBpe, false, false},
                           {"dbrx", PreTokenizer::kLlamaBpe, false, false},
                           {"hunyuan-dense", PreTokenizer::kHunyuan, false, false},
                           {"deepseek-r1-qwen", PreTokenizer::kQwen2, false, false},
                           {"qwen2", PreTokenizer::kQwen2, false, false},
                           {"gpt-2", PreTokenizer::kGpt2, false, false},
                           {"smollm", PreTokenizer::kSmolLm, false, false},
                           {"tekken", PreTokenizer::kTekken, true, true},
                           {"gpt-4o", PreTokenizer::kGpt4o, false, false},
                           {"qwen35", PreTokenizer::kQwen35, false, false}};
  TinyGguf file = published_bitnet();
  for (const Row& row : kRows) {
    file.strings["tokenizer.ggml.pre"] = row.name;
    const GgufFile gguf = open(file);
    const Vocab vocab = read_gguf_vocab(gguf).value().value();
    EXPECT_EQ(vocab.pre, row.pre) << row.name;
    EXPECT_EQ(vocab.ignore_merges, row.ignore_merges) << row.name;
    EXPECT_EQ(vocab.add_bos, row.add_bos) << row.name;
  }
}

// The name is missing, or is "default".
TEST(GgufVocab, TheFamilySaysWhatTheFileLeavesOut) {
  TinyGguf file = published_bitnet();
  const auto read = [&] { return read_gguf_vocab(open(file)); };
  for (const bool is_default : {false, true}) {
    if (is_default) file.strings["tokenizer.ggml.pre"] = "default";
    for (const char* architecture : {"qwen3", "qwen3moe"}) {
      file.architecture = architecture;
      EXPECT_EQ(read().value()->pre, PreTokenizer::kQwen2);
    }
    for (const char* architecture : {"qwen35", "qwen35moe"}) {
      file.architecture = architecture;
      EXPECT_EQ(read().value()->pre, PreTokenizer::kQwen35);
    }
    file.architecture = "gpt-oss";
    EXPECT_EQ(read().value()->pre, PreTokenizer::kGpt4o);
    file.architecture = "llama";
    EXPECT_EQ(read().value()->pre, PreTokenizer::kLlamaBpe);  // <|begin_of_text|>
  }
  file.string_lists["tokenizer.ggml.tokens"][4] = "<s>";
  EXPECT_NE(read().error().message.find("tokenizer.ggml.pre is \"default\", so nothing says"), std::string::npos);
  file.strings.erase("tokenizer.ggml.pre");
  EXPECT_NE(read().error().message.find("tokenizer.ggml.pre is missing, so nothing says"), std::string::npos);
  EXPECT_EQ(read().error().code, ErrorCode::kNotSupported);
}

// llama.cpp puts token 11 first if a file declares no BOS. transformers puts none, and so does Tern.
TEST(GgufVocab, NoBosWithoutItsId) {
  TinyGguf file = published_bitnet();
  file.strings["tokenizer.ggml.pre"] = "falcon3";
  file.token_ids.erase("tokenizer.ggml.bos_token_id");
  const GgufFile gguf = open(file);
  const Vocab vocab = read_gguf_vocab(gguf).value().value();
  EXPECT_FALSE(vocab.bos);
  EXPECT_FALSE(vocab.add_bos);
}

TEST(GgufVocab, FinalTokenOfModelsThatEmbed) {
  TinyGguf file = published_bitnet();
  EXPECT_FALSE(read_gguf_vocab(open(file)).value()->final_token);
  file.bools["tokenizer.ggml.add_eos_token"] = true;
  EXPECT_EQ(read_gguf_vocab(open(file)).value()->final_token, 5);
  file.bools["tokenizer.ggml.add_eos_token"] = false;
  EXPECT_FALSE(read_gguf_vocab(open(file)).value()->final_token);
}

TEST(GgufVocab, TokensThatEndATurnAreControlTokens) {
  TinyGguf file = published_bitnet();
  file.integer_lists["tokenizer.ggml.token_type"] = {1, 1, 1, 1, 3, 3, 4, 1};  // <|eot_id|> is user-defined
  const GgufFile gguf = open(file);
  const Vocab vocab = read_gguf_vocab(gguf).value().value();
  EXPECT_EQ(vocab.types[6], TokenType::kControl);
  EXPECT_EQ(vocab.stop_tokens, (std::vector<TokenId>{5, 6}));
  file.string_lists["tokenizer.ggml.tokens"][6] = "</s>";  // in Gemma this is HTML
  const GgufFile html = open(file);
  EXPECT_EQ(read_gguf_vocab(html).value()->types[6], TokenType::kUserDefined);
}

// A Phi-3 file as llama.cpp writes it, scaled down.
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

TEST(GgufVocab, SentencePieceOfOtherFamilies) {
  TinyGguf minicpm = phi3();
  minicpm.strings["tokenizer.ggml.pre"] = "minicpm";  // ignored: only byte-level vocabularies split words
  EXPECT_EQ(read_gguf_vocab(open(minicpm)).value()->space_rule, SpaceRule::kEverywhere);

  TinyGguf gemma = phi3();
  gemma.bools["tokenizer.ggml.add_space_prefix"] = false;
  EXPECT_EQ(read_gguf_vocab(open(gemma)).value()->space_rule, SpaceRule::kNone);
  EXPECT_FALSE(read_gguf_vocab(open(gemma)).value()->decode_strips_space);
}

TEST(GgufVocab, RefusesNormalizersOfSentencePiece) {
  TinyGguf changed = phi3();
  changed.bools["tokenizer.ggml.remove_extra_whitespaces"] = true;
  EXPECT_NE(read_gguf_vocab(open(changed)).error().message.find("remove_extra_whitespaces: this tokenizer changes"),
            std::string::npos);
  changed.bools["tokenizer.ggml.remove_extra_whitespaces"] = false;
  EXPECT_TRUE(read_gguf_vocab(open(changed)));
  changed.integer_lists["tokenizer.ggml.precompiled_charsmap"] = {1, 2};
  EXPECT_NE(read_gguf_vocab(open(changed)).error().message.find("precompiled_charsmap: this tokenizer changes"),
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
