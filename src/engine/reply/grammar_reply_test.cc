// Replies constrained by a grammar.
#include <gtest/gtest.h>

#include "engine/scheduler.h"
#include "engine/session_core_test_support.h"
#include "tern/grammar.h"

namespace tern {
namespace {

using namespace engine_test;

GenerateOptions held_to(std::string_view gbnf) { return {.grammar = Grammar::gbnf(gbnf).value()}; }

TEST(GrammarReply, HasOnlyWhatIsAllowed) {
  Fixture f("xyz");  // the model prefers "xyz", else the allowed token with the lowest id
  const auto result = f.generate("ab", held_to("root ::= \"x\" [b-d] \"z\" \"!\"")).value();
  EXPECT_EQ(result.text, "xbz!");
  EXPECT_EQ(f.shown, "xbz!");
  EXPECT_EQ(result.reason, FinishReason::kStopToken);
  EXPECT_EQ(result.stats.n_generated, 4);  // only the end is possible, so no stop token is awaited
}

TEST(GrammarReply, StopTokensAreAllowedWhereItMayEnd) {
  Fixture ends("xx");
  EXPECT_EQ(ends.generate("ab", held_to("root ::= \"x\"+")).value().text, "xx");
  Fixture must_go_on("xx");
  EXPECT_EQ(must_go_on.generate("ab", held_to("root ::= \"x\"{5}")).value().text, "xxxxx");
  Fixture ignores("xx");
  auto options = held_to("root ::= \"x\"{1,4}");
  options.ignore_eos = true;
  const auto result = ignores.generate("ab", options).value();
  EXPECT_EQ(result.text, "xxxx");
  EXPECT_EQ(result.reason, FinishReason::kStopToken);
}

TEST(GrammarReply, AnEmptyTextMayBeAllThereIs) {
  Fixture f("xx");
  const auto result = f.generate("ab", held_to("root ::= \"\"")).value();
  EXPECT_EQ(result.text, "");
  EXPECT_EQ(result.reason, FinishReason::kStopToken);
}

TEST(GrammarReply, IsCutByMaxTokensAsEver) {
  Fixture f("xxxx");
  auto options = held_to("root ::= \"x\"{3}");
  options.max_tokens = 2;
  const auto cut = f.generate("ab", options).value();
  EXPECT_EQ(cut.text, "xx");
  EXPECT_EQ(cut.reason, FinishReason::kMaxTokens);
  options.max_tokens = 3;  // the text is complete with the last allowed token
  EXPECT_EQ(f.generate("ab", options).value().reason, FinishReason::kStopToken);
}

TEST(GrammarReply, ATextThatTheVocabularyLacksIsAnError) {
  Fixture f("xx");
  const auto result = f.generate("ab", held_to("root ::= \"x\" \"é\""));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(result.error().message, "the vocabulary has no token that the grammar allows after the reply so far");
  EXPECT_EQ(f.shown, "x");
}

TEST(GrammarReply, BiasesThatForbidAllIsAnError) {
  Fixture f("xx");
  auto options = held_to("root ::= \"q\"");
  options.logit_bias = {{'q', -std::numeric_limits<float>::infinity()}};
  EXPECT_EQ(f.generate("ab", options).error().message,
            "the logit biases forbid every token that the grammar allows after the reply so far");
}

TEST(GrammarReply, NothingIsGuessed) {
  Fixture f("xyxyxyxy", 64, {.next = {}, .max_batch = 8, .max_logit_rows = 8});
  auto options = held_to("root ::= [a-z]{6}");
  options.speculate = 4;
  const auto result = f.generate("xyxyxyxyab", options).value();
  EXPECT_EQ(result.stats.n_guessed, 0);
  EXPECT_EQ(result.text.size(), 6u);
}

TEST(GrammarReply, TheHostChoosesWhereADeviceCould) {
  Fixture f("xyz", 64, {.next = {}, .decodes = true});
  EXPECT_EQ(f.generate("ab", held_to("root ::= \"x\" [b-d] \"z\"")).value().text, "xbz");
  EXPECT_TRUE(f.log.streams.empty());
}

TEST(GrammarReply, GoesOnAfterWhatThereIsOfIt) {
  Fixture f("xyz");
  auto options = held_to("root ::= \"xq\" [0-9] \"!\"");
  options.reply_so_far = {'x', 'q'};
  EXPECT_EQ(f.generate("ab", options).value().text, "xq0!");
  options.reply_so_far = {'x', 'y'};
  EXPECT_EQ(f.generate("ab", options).error().message, "reply_so_far is not the beginning of a text of the grammar");
  options.reply_so_far = {'x', 'q', '7', '!'};
  EXPECT_EQ(f.generate("ab", options).value().reason, FinishReason::kStopToken);
}

TEST(GrammarReply, ThePromptsLastWordStaysAsItIs) {
  Fixture f("xyz");
  auto options = held_to("root ::= \"xyz\"");
  options.heal_prompt = true;
  EXPECT_EQ(f.generate("ab", options).value().text, "xyz");
}

TEST(GrammarReply, NeedsATokenizer) {
  fake::Log log;
  auto executable = fake::make_executable({.n_vocab = kVocab, .next = {1}}, log);
  SessionCore core(Sequence::alone(*executable, 64, KvType::kF16).value(), nullptr, kVocab);
  EXPECT_EQ(core.generate(ids("ab"), held_to("root ::= \"x\""), {}, {}).error().message,
            "a grammar is about text, and the model file holds no tokenizer");
}

TEST(GrammarReply, DoesNotEndBeforeTheLeastNumberOfTokensIfItMayGoOn) {
  Fixture f("xy");
  auto options = held_to("root ::= [a-z]+");
  options.min_tokens = 5;
  EXPECT_EQ(f.generate("ab", options).value().text.size(), 5u);
  Fixture over("xy");
  options = held_to("root ::= [a-z]{3}");
  options.min_tokens = 5;
  EXPECT_EQ(over.generate("ab", options).value().text.size(), 3u);
}

}  // namespace
}  // namespace tern
