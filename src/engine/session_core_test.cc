// The generate loop on a scripted backend.
#include "engine/session_core.h"

#include <gtest/gtest.h>

#include "engine/kv/fit_context.h"
#include "engine/session_core_test_support.h"

namespace tern {
namespace {

using namespace engine_test;

TEST(SessionCore, StreamsUntilTheStopToken) {
  Fixture f("cde");
  const auto result = f.generate("ab").value();
  EXPECT_EQ(result.text, "cde");
  EXPECT_EQ(f.shown, "cde");
  EXPECT_EQ(result.reason, FinishReason::kStopToken);
  EXPECT_EQ(result.tokens, (std::vector<TokenId>{'c', 'd', 'e', kStop}));
  EXPECT_EQ(result.stats.n_prompt, 2);
  EXPECT_EQ(result.stats.n_generated, 4);
}

TEST(SessionCore, MaxTokensIgnoreEosAndStopStrings) {
  Fixture limited("cdefgh");
  EXPECT_EQ(limited.generate("ab", {.max_tokens = 3, .sample = {}, .stop = {}}).value().text, "cde");
  EXPECT_EQ(limited.generate("ab", {.max_tokens = 0, .sample = {}, .stop = {}}).value().text, "");

  Fixture past_end("c");
  const auto result = past_end.generate("ab", {.max_tokens = 5, .sample = {}, .stop = {}, .ignore_eos = true}).value();
  EXPECT_EQ(result.reason, FinishReason::kMaxTokens);
  EXPECT_EQ(result.tokens.size(), 5u);

  Fixture stopped("cdefgh");
  const auto cut = stopped.generate("ab", {.sample = {}, .stop = {"fg"}}).value();
  EXPECT_EQ(cut.reason, FinishReason::kStopString);
  EXPECT_EQ(cut.text, "cde");
  EXPECT_EQ(stopped.shown, "cde");
}

TEST(SessionCore, StopsWhereTheContextIsFull) {
  Fixture f("cdefghijkl", 6);
  const auto result = f.generate("ab").value();
  EXPECT_EQ(result.reason, FinishReason::kContextFull);
  EXPECT_EQ(result.text, "cdefg");  // four tokens fit after the prompt, and the last prediction needs no room
  EXPECT_EQ(f.core->n_used(), 6);

  Fixture full("c", 2);
  EXPECT_EQ(full.generate("ab").value().reason, FinishReason::kContextFull);
}

TEST(SessionCore, RefusesBadPrompts) {
  Fixture f("c", 4);
  EXPECT_EQ(f.generate("").error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(f.generate("abcde").error().message.find("5 tokens, but the context holds 4"), std::string::npos);
  const std::vector<TokenId> outside = {1, kVocab};
  const auto result = f.core->generate(outside, {}, {}, {});
  EXPECT_NE(result.error().message.find("128"), std::string::npos);
  const std::vector<TokenId> negative = {-1};
  EXPECT_EQ(f.core->generate(negative, {}, {}, {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(f.log.calls.empty());
}

TEST(SessionCore, PromptsAreBatchedAndOnlyTheLastAsksForLogits) {
  Fixture f("zzzzzzzzk");
  f.generate("abcdefghi", {.max_tokens = 1, .sample = {}, .stop = {}}).value();
  ASSERT_EQ(f.log.calls.size(), 3u);  // 4 + 4 + 1
  EXPECT_EQ(f.log.calls[0].tokens, ids("abcd"));
  EXPECT_EQ(f.log.calls[0].logits, WantLogits::kNone);
  EXPECT_EQ(f.log.calls[1].first_pos, 4);
  EXPECT_EQ(f.log.calls[2].tokens, ids("i"));
  EXPECT_EQ(f.log.calls[2].logits, WantLogits::kLast);
  EXPECT_EQ(f.log.calls[2].n_best, 1);  // greedy
}

TEST(SessionCore, AConversationIsNotComputedTwice) {
  Fixture f("cde");
  f.generate("ab").value();  // the cache holds "abcde"
  f.log.calls.clear();
  const auto second = f.generate("abcdX", {.max_tokens = 1, .sample = {}, .stop = {}}).value();
  EXPECT_EQ(second.stats.n_reused, 4);
  ASSERT_EQ(f.log.calls.size(), 1u);
  EXPECT_EQ(f.log.calls[0].tokens, ids("X"));
  EXPECT_EQ(f.log.calls[0].first_pos, 4);

  f.log.calls.clear();
  f.generate("abcdX", {.max_tokens = 1, .sample = {}, .stop = {}}).value();  // same prompt: runs only its last token
  EXPECT_EQ(f.log.calls[0].tokens, ids("X"));

  f.core->reset();
  EXPECT_EQ(f.generate("abc", {.max_tokens = 1, .sample = {}, .stop = {}}).value().stats.n_reused, 0);
}

TEST(SessionCore, StopsOnRequestAndKeepsWhatItHas) {
  Fixture before("cde");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(before.generate("ab", {}, stop.get_token()).value().reason, FinishReason::kCancelled);

  Fixture during("cdefgh");
  std::stop_source later;
  std::string shown;
  GenerateOptions options;
  options.sample.temperature = 0;
  const auto result = during.core->generate(
      ids("ab"), options,
      [&](std::string_view text) {
        shown += text;
        if (shown == "cd") later.request_stop();
      },
      later.get_token());
  EXPECT_EQ(result.value().reason, FinishReason::kCancelled);
  EXPECT_EQ(result.value().text, "cd");
}

TEST(SessionCore, ALostDeviceIsAnErrorAndTheTextSoFarWasShown) {
  Fixture f("cdefgh", 64, {.n_vocab = 0, .next = {}, .fail_at_pos = 4});
  EXPECT_EQ(f.generate("ab").error().code, ErrorCode::kDeviceLost);
  EXPECT_EQ(f.shown, "cde");
}

// Text held back as a possible stop string is output on an error.
TEST(SessionCore, AnErrorLosesNoTextThatWasHeldBack) {
  Fixture f("cdefgh", 64, {.n_vocab = 0, .next = {}, .fail_at_pos = 4});
  EXPECT_EQ(f.generate("ab", {.sample = {}, .stop = {"def"}}).error().code, ErrorCode::kDeviceLost);
  EXPECT_EQ(f.shown, "cde");
  EXPECT_EQ(f.core->n_used(), 4);  // the prompt and what ran before
}

TEST(SessionCore, LogitsComeRowByRow) {
  Fixture f("cde");
  std::vector<size_t> rows;
  const auto done = f.core->logits(ids("abcde"), [&](size_t i, std::span<const float> logits) {
    EXPECT_EQ(logits.size(), static_cast<size_t>(kVocab));
    rows.push_back(i);
    return Result<void>();
  });
  ASSERT_TRUE(done);
  EXPECT_EQ(rows, (std::vector<size_t>{0, 1, 2, 3, 4}));
  const auto failing = f.core->logits(ids("abcde"), [](size_t, std::span<const float>) -> Result<void> {
    return std::unexpected(Error{ErrorCode::kIo, "full"});
  });
  EXPECT_EQ(failing.error().message, "full");
}

// Ten tokens of context: the first two are kept, and the later half of the others.
TEST(SessionCore, GoesOnPastTheContextWhereItMay) {
  for (const bool decodes : {false, true}) {
    Fixture f("cdefghijklmnopqrstuvwxyz", 10, {.n_vocab = 0, .next = {}, .decodes = decodes});
    const auto result = f.generate("ab", {.max_tokens = 14, .sample = {}, .keep_past_context = 2}).value();
    EXPECT_EQ(result.reason, FinishReason::kMaxTokens);
    EXPECT_EQ(result.stats.n_generated, 14);
    // "abcdefghij" and then 'k', which does not fit: the model continues from "ab" and "hijk".
    std::string read;
    for (const auto& call : f.log.calls) {
      if (call.tokens.size() > 1)
        read += std::string(call.tokens.begin(), call.tokens.end()) + "@" + std::to_string(call.first_pos) + " ";
    }
    EXPECT_EQ(read.substr(0, 5), "ab@0 ");
    EXPECT_NE(read.find(" hijk@2 "), std::string::npos) << read;
    EXPECT_LE(f.core->n_used(), 10);
  }
  Fixture f("cdef", 10);
  EXPECT_EQ(f.generate("ab", {.sample = {}, .keep_past_context = 6}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(f.generate("ab", {.sample = {}, .keep_past_context = -2}).error().code, ErrorCode::kInvalidArgument);
}

TEST(FitContext, TakesWhatThereIsMemoryFor) {
  fake::Log log;
  const auto n_ctx = [&](int trained, int most) {
    const auto executable = fake::make_executable({.n_vocab = 8, .next = {1}, .most_ctx = most}, log);
    const auto create = [&](int n) { return Sequence::alone(*executable, n, KvType::kF16); };
    const auto sequence = new_largest_sequence(create, trained);
    return sequence ? (*sequence)->n_ctx() : 0;
  };
  EXPECT_EQ(n_ctx(65536, 100000), 65536);
  EXPECT_EQ(n_ctx(65536, 65535), 32768);
  EXPECT_EQ(n_ctx(65536, 5000), 4096);
  EXPECT_EQ(n_ctx(3000, 2500), 2048);
  EXPECT_EQ(n_ctx(65536, 2047), 0);
  EXPECT_EQ(n_ctx(512, 511), 0);  // below the minimum: all or nothing
}

}  // namespace
}  // namespace tern
