#include "engine/reply/reply.h"

#include <gtest/gtest.h>

#include "text/tokenizer/vocab.h"

namespace tern {
namespace {

// <unk> <s> a ▁ ▁a
std::unique_ptr<Tokenizer> tokenizer(bool strips_space) {
  Vocab vocab;
  vocab.kind = VocabKind::kSentencePiece;
  vocab.tokens = {"<unk>", "<s>", "a", "▁", "▁a"};
  vocab.types = {TokenType::kUnknown, TokenType::kControl, TokenType::kNormal, TokenType::kNormal, TokenType::kNormal};
  vocab.scores = {0, 0, -1, -1, -2};
  vocab.unk = 0;
  vocab.decode_strips_space = strips_space;
  return make_tokenizer(vocab).value();
}

std::string text_after(TokenId last, bool strips_space) {
  const auto with = tokenizer(strips_space);
  const GenerateOptions options;
  Reply reply(with.get(), options, last);
  for (const TokenId token : {1, 4, 4, 2}) reply.add(token);
  reply.finish(FinishReason::kMaxTokens);
  return reply.result.text;
}

// "▁a" after "<|assistant|>" is the word "a"; after other text it is " a".
TEST(Reply, TheTokenizersOwnSpaceIsNotPartOfAReply) {
  EXPECT_EQ(text_after(1, true), "a aa");
  EXPECT_EQ(text_after(2, true), " a aa");
  EXPECT_EQ(text_after(1, false), " a aa");
  EXPECT_EQ(text_after(-1, true), " a aa");
}

// A control token has text only if it is listed in shown_tokens.
TEST(Reply, ShowsTheControlTokensThatAreAskedFor) {
  const auto with = tokenizer(true);
  const auto text = [&](const GenerateOptions& options) {
    Reply reply(with.get(), options);
    for (const TokenId token : {2, 1, 2}) reply.add(token);
    return reply.result.text;
  };
  EXPECT_EQ(text({}), "aa");
  EXPECT_EQ(text({.shown_tokens = {1}}), "a<s>a");
}

}  // namespace
}  // namespace tern
