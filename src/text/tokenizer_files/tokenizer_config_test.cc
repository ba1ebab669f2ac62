#include "text/tokenizer_files/tokenizer_config.h"

#include <gtest/gtest.h>

#include "text/jinja/join_templates.h"
#include "text/tokenizer_files/stop_tokens.h"

namespace tern {
namespace {

using Ids = std::vector<TokenId>;

Result<TokenizerConfig> parse(std::string_view json) { return read_tokenizer_config(as_bytes(json), "c.json"); }
std::string error(std::string_view json) {
  const auto config = parse(json);
  return config ? "no error" : config.error().message;
}

Vocab small_vocab() {
  Vocab vocab;
  vocab.tokens = {"a", "<s>", "</s>", "<|end|>", "<|user|>", "<|assistant|>"};
  vocab.types = {TokenType::kNormal,  TokenType::kControl, TokenType::kUserDefined,
                 TokenType::kControl, TokenType::kControl, TokenType::kControl};
  return vocab;
}

TEST(TokenizerConfig, TokensAreStringsOrObjects) {
  const auto config =
      parse(R"({"bos_token": "<s>", "eos_token": {"content": "</s>", "special": true}, "pad_token": null})").value();
  EXPECT_EQ(config.bos, "<s>");
  EXPECT_EQ(config.eos, "</s>");
  EXPECT_EQ(config.pad, std::nullopt);
  EXPECT_EQ(error(R"({"bos_token": 5})"), "c.json: \"bos_token\" is neither a string nor an object with \"content\"");
}

TEST(TokenizerConfig, TheTemplateNamedDefault) {
  EXPECT_EQ(parse(R"({"chat_template": "x"})").value().chat_template, "x");
  // The template named "tool_use" is that for tools, "default" for all else.
  EXPECT_EQ(parse(R"({"chat_template": [{"name": "tool_use", "template": "t"}, {"name": "rag", "template": "r"},
                      {"name": "default", "template": "d"}]})")
                .value()
                .chat_template,
            join_chat_templates("t", "d"));
  EXPECT_EQ(parse(R"({"chat_template": [{"name": "tool_use", "template": "t"}]})").value().chat_template,
            join_chat_templates("t", "t"));
  EXPECT_EQ(parse(R"({"chat_template": [{"name": "rag", "template": "t"}]})").value().chat_template, std::nullopt);
  EXPECT_EQ(error(R"({"chat_template": 1})"), "c.json: \"chat_template\" is neither a string nor a list");
  EXPECT_EQ(error(R"({"chat_template": ["x"]})"), "c.json: \"chat_template\" lists something that is not an object");
}

TEST(TokenizerConfig, AddsWhatTheVocabularyLacks) {
  const auto config = parse(R"({"bos_token": "<s>", "eos_token": "<|x|>", "add_bos_token": true,
      "added_tokens_decoder": {"2": {"content": "</s>", "rstrip": true}, "8": {"content": "<|x|>", "special": true}}})")
                          .value();
  Vocab vocab = small_vocab();
  ASSERT_TRUE(apply_tokenizer_config(config, vocab, "c.json"));
  ASSERT_EQ(vocab.tokens.size(), 9u);
  EXPECT_EQ(vocab.tokens[8], "<|x|>");
  EXPECT_EQ(vocab.types[7], TokenType::kUnused);
  EXPECT_EQ(vocab.flags[2], kTokenRstrip);
  EXPECT_EQ(vocab.bos, 1);
  EXPECT_TRUE(vocab.add_bos);
  EXPECT_EQ(vocab.eos, 8);
  EXPECT_EQ(vocab.stop_tokens, (Ids{3, 5, 8}));

  const auto other = parse(R"({"added_tokens_decoder": {"2": {"content": "</S>"}}})").value();
  EXPECT_EQ(apply_tokenizer_config(other, vocab, "c.json").error().message,
            "c.json: token 2 is '</S>' here and '</s>' in the vocabulary");
  EXPECT_EQ(error(R"({"added_tokens_decoder": {"4194304": {"content": "</S>"}}})"),
            "c.json: added_tokens_decoder['4194304'] is not an id and a token with \"content\"");
  EXPECT_EQ(error(R"({"added_tokens_decoder": {"x": {"content": "</S>"}}})"),
            "c.json: added_tokens_decoder['x'] is not an id and a token with \"content\"");
}

TEST(TokenizerConfig, FinalToken) {
  Vocab vocab = small_vocab();
  ASSERT_TRUE(apply_tokenizer_config(parse(R"({"eos_token": "</s>"})").value(), vocab, "c.json"));
  EXPECT_EQ(vocab.final_token, std::nullopt);
  ASSERT_TRUE(
      apply_tokenizer_config(parse(R"({"eos_token": "<|end|>", "add_eos_token": true})").value(), vocab, "c.json"));
  EXPECT_EQ(vocab.final_token, vocab.eos);
  vocab.final_token = 2;  // as in its tokenizer.json
  ASSERT_TRUE(apply_tokenizer_config(parse(R"({"add_eos_token": true})").value(), vocab, "c.json"));
  EXPECT_EQ(vocab.final_token, 2);
  ASSERT_TRUE(apply_tokenizer_config(parse(R"({"add_eos_token": false})").value(), vocab, "c.json"));
  EXPECT_EQ(vocab.final_token, std::nullopt);
}

TEST(TokenizerConfig, EosTokenIds) {
  const auto ids = [](std::string_view json) { return read_eos_token_ids(as_bytes(json), "g.json"); };
  EXPECT_EQ(ids(R"({"eos_token_id": 7})").value(), (Ids{7}));
  EXPECT_EQ(ids(R"({"eos_token_id": [32000, 32001, 32007]})").value(), (Ids{32000, 32001, 32007}));
  EXPECT_EQ(ids(R"({"eos_token_id": null})").value(), Ids{});
  EXPECT_EQ(ids("{}").value(), Ids{});
  EXPECT_EQ(ids(R"({"text_config": {"eos_token_id": 7}})").value(), (Ids{7}));
  EXPECT_EQ(ids(R"({"eos_token_id": 8, "text_config": {"eos_token_id": 7}})").value(), (Ids{8}));
  EXPECT_EQ(ids(R"({"text_config": {}})").value(), Ids{});
  for (const char* bad : {R"({"eos_token_id": "x"})", R"({"eos_token_id": -1})", R"({"eos_token_id": [1, 2.5]})",
                          R"({"eos_token_id": 99999999999})"}) {
    EXPECT_EQ(ids(bad).error().message, "g.json: \"eos_token_id\" is neither a token id nor a list of them");
  }
  EXPECT_EQ(ids("[1]").error().message, "g.json: not a JSON object");
}

TEST(StopTokens, KnownOnesAndPhi3sAssistant) {
  Vocab vocab = small_vocab();
  add_known_stop_tokens(vocab);
  EXPECT_EQ(vocab.stop_tokens, (Ids{3, 5}));
  vocab.tokens[3] = "<|other|>";
  vocab.stop_tokens.clear();
  add_known_stop_tokens(vocab);
  EXPECT_EQ(vocab.stop_tokens, Ids{});  // without <|end|>, <|assistant|> begins a turn, as in Falcon 3
}

TEST(StopTokens, TheEndOfAMessageOfGptOssIsNone) {
  Vocab vocab;
  vocab.tokens = {"<|endoftext|>", "<|return|>", "<|end|>", "<|message|>", "<|channel|>", "<|call|>"};
  vocab.types.assign(vocab.tokens.size(), TokenType::kControl);
  add_known_stop_tokens(vocab);
  EXPECT_EQ(vocab.stop_tokens, (Ids{0, 1, 5}));
  vocab.tokens[4] = "<|other|>";
  vocab.stop_tokens.clear();
  add_known_stop_tokens(vocab);
  EXPECT_EQ(vocab.stop_tokens, (Ids{0, 2}));
}

}  // namespace
}  // namespace tern
