// Step-by-step generation on a scripted backend, with tokens chosen by the host or by the device.
#include "engine/reply/generation.h"

#include <gtest/gtest.h>

#include "engine/session_core_test_support.h"

namespace tern {
namespace {

using namespace engine_test;

GenerateOptions at_most(int max_tokens) { return {.max_tokens = max_tokens, .sample = {}, .stop = {}}; }

// The results of `n` steps, one letter each: '.' for a piece of the prompt, else the token; '!' after the end.
std::string steps(Generation::Impl& generation, int n) {
  std::string did;
  for (int i = 0; i < n; ++i) {
    const auto step = generation.next().value();
    did += step.token ? (*step.token == kStop ? '0' : static_cast<char>(*step.token)) : '.';
    if (step.finish) return did + '!';
  }
  return did;
}

class GenerationSteps : public testing::TestWithParam<bool> {
 protected:
  fake::Script script(int fail_at_pos = -1) const {
    return {.n_vocab = 0, .next = {}, .fail_at_pos = fail_at_pos, .decodes = GetParam(), .runs_ahead = 2};
  }
  // Number of runs on the fake backend, including those of prompts.
  static size_t n_run(const Fixture& f) {
    size_t n = f.log.calls.size();
    for (const auto& stream : f.log.streams) n += static_cast<size_t>(stream.n_taken);
    return n;
  }
};

INSTANTIATE_TEST_SUITE_P(Choice, GenerationSteps, testing::Bool(),
                         [](const auto& chosen) { return chosen.param ? "OnTheDevice" : "OnTheHost"; });

TEST_P(GenerationSteps, EachDoesOneBatchOfThePromptOrOneToken) {
  Fixture f("???????xyz", 64, script());  // batches of 4
  const auto generation = f.begin("abcdefghi");
  const auto& result = generation->result();
  EXPECT_EQ(n_run(f), 0u);
  EXPECT_EQ(result.stats.n_prompt, 9);
  for (const size_t n_read : {4u, 8u}) {
    const auto step = generation->next().value();
    EXPECT_FALSE(step.token || step.finish);
    EXPECT_EQ(step.text, "");
    EXPECT_EQ(static_cast<size_t>(f.core->n_used()), n_read);
  }
  size_t n = 2;
  for (const char expected : {'x', 'y', 'z'}) {  // 'x' comes with the prompt's last piece
    const auto step = generation->next().value();
    EXPECT_EQ(n_run(f), ++n);
    EXPECT_EQ(step.token, expected);
    EXPECT_EQ(step.text, std::string(1, expected));
    EXPECT_FALSE(step.finish || generation->done());
  }
  EXPECT_EQ(result.text, "xyz");
  const auto last = generation->next().value();
  EXPECT_EQ(last.token, kStop);
  EXPECT_EQ(last.finish, FinishReason::kStopToken);
  EXPECT_TRUE(generation->done());
  EXPECT_EQ(f.log.n_live_streams, 0);
  EXPECT_EQ(result.reason, FinishReason::kStopToken);
  EXPECT_EQ(result.stats.n_generated, 4);
  n = n_run(f);
  const auto again = generation->next().value();
  EXPECT_EQ(again.finish, FinishReason::kStopToken);
  EXPECT_FALSE(again.token);
  EXPECT_EQ(again.text, "");
  EXPECT_EQ(n_run(f), n);
}

TEST_P(GenerationSteps, TellWhatGenerateTells) {
  for (const int max_tokens : {-1, 0, 1, 3}) {
    for (const char* stop : {"", "ef", "fgh", "z"}) {
      const GenerateOptions options{.max_tokens = max_tokens, .sample = {}, .stop = {stop}};
      Fixture whole("cdefgh", 64, script()), stepped("cdefgh", 64, script());
      const auto expected = whole.generate("ab", options).value();
      const auto generation = stepped.begin("ab", options);
      std::string text;
      std::vector<TokenId> tokens;
      for (std::optional<FinishReason> finish; !finish;) {
        const auto step = generation->next().value();
        text += step.text;
        if (step.token) tokens.push_back(*step.token);
        finish = step.finish;
      }
      EXPECT_EQ(text, expected.text) << max_tokens << " '" << stop << "'";
      EXPECT_EQ(text, whole.shown);
      EXPECT_EQ(tokens, expected.tokens);
      EXPECT_EQ(generation->result().reason, expected.reason);
      EXPECT_EQ(stepped.core->n_used(), whole.core->n_used());
    }
  }
}

TEST_P(GenerationSteps, ARepetitionPenaltyCountsTheReply) {
  Fixture f("cdef", 64, script());
  EXPECT_EQ(steps(*f.begin("ab", {.sample = {.repeat_penalty = 1.1f}, .stop = {}}), 10), "cdef0!");
  // A logit of 1 is not enough for a third time.
  Fixture again("cccc", 64, script());
  const GenerateOptions twice{.max_tokens = 3, .sample = {.frequency_penalty = 0.6f}, .stop = {}};
  const auto result = again.generate("ab", twice).value();
  EXPECT_EQ(result.tokens, (std::vector<TokenId>{'c', 'c', 0}));
}

TEST_P(GenerationSteps, CancelEndsItAtOnceAndGivesTheTextThatWasHeldBack) {
  Fixture f("cdefgh", 64, script());
  const auto generation = f.begin("ab", {.sample = {}, .stop = {"def"}});
  EXPECT_EQ(steps(*generation, 2), "cd");
  EXPECT_EQ(generation->result().text, "c");
  const size_t n = n_run(f);
  generation->cancel();
  EXPECT_TRUE(generation->done());
  EXPECT_EQ(f.log.n_live_streams, 0);
  const auto step = generation->next().value();
  EXPECT_EQ(step.finish, FinishReason::kCancelled);
  EXPECT_FALSE(step.token);
  EXPECT_EQ(step.text, "d");
  EXPECT_EQ(generation->result().text, "cd");
  EXPECT_EQ(n_run(f), n);
  generation->cancel();
  EXPECT_EQ(generation->next().value().text, "");

  const auto ended = f.begin("X", at_most(1));
  ended->next().value();
  ended->cancel();  // too late
  EXPECT_EQ(ended->next().value().finish, FinishReason::kMaxTokens);
}

TEST_P(GenerationSteps, ThePromptCanBeCancelledToo) {
  Fixture f("????????x", 64, script());
  const auto generation = f.begin("abcdefghi");
  EXPECT_EQ(steps(*generation, 1), ".");
  generation->cancel();
  EXPECT_EQ(generation->next().value().finish, FinishReason::kCancelled);
  EXPECT_EQ(f.core->n_used(), 4);
  EXPECT_EQ(f.generate("abcdefghi", at_most(1)).value().stats.n_reused, 4);
}

TEST_P(GenerationSteps, DroppedMidwayLeavesWhatWasRun) {
  Fixture f("cdefghijkl", 64, script());
  {
    const auto generation = f.begin("ab");
    EXPECT_EQ(steps(*generation, 3), "cde");
  }
  EXPECT_EQ(f.core->n_used(), 4);  // "abcd"
  EXPECT_EQ(f.log.n_live_streams, 0);
  f.log.calls.clear();
  const auto second = f.generate("abcdeX", at_most(2)).value();
  EXPECT_EQ(second.stats.n_reused, 4);
  ASSERT_FALSE(f.log.calls.empty());
  EXPECT_EQ(f.log.calls[0].tokens, ids("eX"));
  EXPECT_EQ(f.log.calls[0].first_pos, 4);
  EXPECT_EQ(second.text, "gh");
}

TEST_P(GenerationSteps, AnotherOneOfTheSessionCancelsIt) {
  Fixture f("cdefghijkl", 64, script());
  const auto first = f.begin("ab");
  EXPECT_EQ(steps(*first, 2), "cd");
  EXPECT_FALSE(f.core->begin({}, {}));  // rejected, so nothing changes
  EXPECT_EQ(steps(*first, 1), "e");
  auto second = f.begin("abcX");
  EXPECT_EQ(first->next().value().finish, FinishReason::kCancelled);
  EXPECT_EQ(second->result().stats.n_reused, 3);
  EXPECT_EQ(steps(*second, 2), "ef");
  EXPECT_EQ(steps(*first, 1), ".!");

  f.core->reset();
  EXPECT_EQ(second->next().value().finish, FinishReason::kCancelled);
  EXPECT_EQ(f.core->n_used(), 0);

  second = f.begin("ab");
  ASSERT_TRUE(f.core->logits(ids("ab"), [](size_t, std::span<const float>) { return Result<void>(); }));
  EXPECT_EQ(second->next().value().finish, FinishReason::kCancelled);
}

TEST_P(GenerationSteps, TheEndOfTheSessionCancelsIt) {
  Fixture f("cdefgh", 64, script());
  const auto generation = f.begin("ab");
  EXPECT_EQ(steps(*generation, 2), "cd");
  f.core.reset();
  EXPECT_EQ(generation->next().value().finish, FinishReason::kCancelled);
  EXPECT_EQ(f.log.n_live_streams, 0);
  EXPECT_EQ(generation->result().text, "cd");
}

TEST_P(GenerationSteps, AnErrorEndsItAndIsGivenAgain) {
  Fixture f("cdefgh", 64, script(4));
  const auto generation = f.begin("ab", {.sample = {}, .stop = {"def"}});
  EXPECT_EQ(steps(*generation, 3), "cde");
  EXPECT_EQ(generation->result().text, "c");
  const auto error = generation->next();
  EXPECT_EQ(error.error().code, ErrorCode::kDeviceLost);
  EXPECT_TRUE(generation->done());
  EXPECT_EQ(f.log.n_live_streams, 0);
  EXPECT_EQ(generation->result().text, "cde");
  generation->cancel();
  EXPECT_EQ(generation->next().error().message, error.error().message);
  EXPECT_EQ(f.core->n_used(), 4);
}

TEST_P(GenerationSteps, NothingEndsAReplyBeforeItsLeastNumberOfTokens) {
  for (const int n_least : {0, 1, 2, 3, 5}) {
    Fixture f("cd", 64, script());
    const auto result = f.generate("ab", {.min_tokens = n_least, .sample = {}, .stop = {}}).value();
    EXPECT_EQ(result.reason, FinishReason::kStopToken);
    EXPECT_EQ(result.tokens.size(), static_cast<size_t>(std::max(n_least, 2) + 1));
    EXPECT_EQ(std::ranges::count(result.tokens, kStop), 1);
    EXPECT_TRUE(f.shown.starts_with("cd"));
  }
  const auto text = [&](int n_least, const char* stop) {
    Fixture f("cdefcde", 64, script());
    return f.generate("ab", {.min_tokens = n_least, .sample = {}, .stop = {stop}}).value().text;
  };
  EXPECT_EQ(text(0, "de"), "c");
  EXPECT_EQ(text(2, "de"), "c");  // its end is the third token
  EXPECT_EQ(text(3, "de"), "cdefc");
  EXPECT_EQ(text(6, "de"), "cdefc");
  Fixture ends("cd", 64, script());
  EXPECT_EQ(ends.generate("ab", {.max_tokens = 4, .min_tokens = 4, .sample = {}, .stop = {}}).value().reason,
            FinishReason::kMaxTokens);
  Fixture goes_on("cd", 64, script());
  const auto result =
      goes_on.generate("ab", {.max_tokens = 4, .min_tokens = 4, .sample = {}, .stop = {}, .ignore_eos = true}).value();
  EXPECT_EQ(result.tokens, (std::vector<TokenId>{'c', 'd', kStop, kStop}));
}

TEST(GenerationChecks, NameTheOption) {
  Fixture f("cd");
  const auto message = [&](const GenerateOptions& options) { return f.generate("ab", options).error().message; };
  EXPECT_TRUE(message({.min_tokens = -1, .sample = {}, .stop = {}}).starts_with("min_tokens is -1"));
  EXPECT_TRUE(message({.max_tokens = 3, .min_tokens = 4, .sample = {}, .stop = {}}).ends_with("maximum of tokens, 3"));
  EXPECT_TRUE(message({.sample = {.samplers = "top_q"}, .stop = {}}).contains("'top_q'"));
  EXPECT_TRUE(message({.sample = {.mirostat = 1}, .stop = {}, .reply_so_far = {'c'}}).contains("with mirostat 1"));
  fake::Log log;
  auto executable = fake::make_executable({.n_vocab = kVocab, .next = {1}}, log);
  SessionCore core(Sequence::alone(*executable, 64, KvType::kF16).value(), nullptr, kVocab);
  const GenerateOptions dry = {.sample = {.dry_multiplier = 1}, .stop = {}};
  EXPECT_TRUE(core.generate(ids("ab"), dry, {}, {}).error().message.starts_with("dry_sequence_breakers are texts"));
}

}  // namespace
}  // namespace tern
