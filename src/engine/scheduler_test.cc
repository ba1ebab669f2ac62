// Many replies at once, on a scripted backend.
#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include "engine/scheduler_test_support.h"
#include "sample/sampler.h"
#include "sample/sampling.h"
#include "tern/grammar.h"

namespace tern {
namespace {

using namespace engine_test;

TEST(Scheduler, RunsATokenOfEachInOnePass) {
  Replies r("cdefgh", {.n_vocab = 0, .next = {}, .max_batch = 8});
  r.submit("ab");
  r.submit("xy");
  r.submit("z");
  r.run();
  EXPECT_EQ(slices_of(r.log, 0), "z@0 xy@0 ab@0");  // a one-token prompt is treated like decode
  EXPECT_EQ(slices_of(r.log, 1), "c@2 c@2 ?@1");    // each continues at its own position
  EXPECT_EQ(r.told["ab"], "cdefgh");
  EXPECT_EQ(r.told["xy"], "cdefgh");
  EXPECT_EQ(r.told["z"], "?cdefgh");
  EXPECT_EQ(r.reasons["ab"], FinishReason::kStopToken);
  EXPECT_EQ(r.results["ab"].stats.n_prompt, 2);
  EXPECT_EQ(r.blocks->stats().n_used, 0);
}

TEST(Scheduler, PromptsComeInPiecesAndLeaveRoomForReplies) {
  Replies r("????????????????????????", {.n_vocab = 0, .next = {}, .max_batch = 6});
  r.submit("ab", {.max_tokens = 4, .sample = {}, .stop = {}});
  ASSERT_TRUE(r.scheduler->step());
  r.submit("0123456789", {.max_tokens = 2, .sample = {}, .stop = {}});
  r.run();
  EXPECT_EQ(slices_of(r.log, 0), "ab@0");
  EXPECT_EQ(slices_of(r.log, 1), "?@2 01234@0");
  EXPECT_EQ(slices_of(r.log, 2), "?@3 56789@5");
  EXPECT_EQ(slices_of(r.log, 3), "?@4 ?@10");
}

TEST(Scheduler, AShortPromptDoesNotWaitForALongOne) {
  Replies r("????????????????????????", {.n_vocab = 0, .next = {}, .max_batch = 6});
  r.submit("0123456789abcdef", {.max_tokens = 1, .sample = {}, .stop = {}});
  r.submit("xyz", {.max_tokens = 1, .sample = {}, .stop = {}});
  r.submit("st", {.max_tokens = 1, .sample = {}, .stop = {}});
  r.run();
  EXPECT_EQ(slices_of(r.log, 0), "st@0 x@0 012@0");  // half for the shortest, half for the earliest
  EXPECT_EQ(slices_of(r.log, 1), "yz@1 3456@3");
  EXPECT_EQ(slices_of(r.log, 2), "789abc@7");
}

TEST(Scheduler, OfAShortPromptTheEarliestLeavesTheRest) {
  Replies r("????????????????????????", {.n_vocab = 0, .next = {}, .max_batch = 6});
  r.submit("0", {.max_tokens = 1, .sample = {}, .stop = {}});
  r.submit("ab", {.max_tokens = 1, .sample = {}, .stop = {}});
  r.submit("xyzw", {.max_tokens = 1, .sample = {}, .stop = {}});
  r.submit("stuvq", {.max_tokens = 1, .sample = {}, .stop = {}});
  r.run();
  EXPECT_EQ(slices_of(r.log, 0), "0@0 xyz@0 ab@0");
}

TEST(Scheduler, OnlySoManyRunTheOthersWait) {
  Replies r("cdef", {.n_vocab = 0, .next = {}, .max_batch = 8}, {.max_replies = 2});
  for (const char* prompt : {"ab", "xy", "zw"}) r.submit(prompt);
  ASSERT_TRUE(r.scheduler->step());
  EXPECT_EQ(r.scheduler->n_running(), 2);
  EXPECT_EQ(r.scheduler->n_waiting(), 1);
  r.run();
  EXPECT_EQ(r.told.size(), 3u);
  EXPECT_EQ(r.told["zw"], "cdef");
}

TEST(Scheduler, SharesPromptsThatBeginAlike) {
  Replies r("???????????", {.n_vocab = 0, .next = {}, .max_batch = 32});
  r.submit("01234567890a", {.max_tokens = 1, .sample = {}, .stop = {}});
  r.run();
  r.submit("01234567890b", {.max_tokens = 1, .sample = {}, .stop = {}});
  r.run();
  EXPECT_EQ(slices_of(r.log, 1), "890b@8");
  EXPECT_EQ(r.results["01234567890b"].stats.n_reused, 8);
  EXPECT_EQ(r.scheduler->stats().tokens_reused, 8u);
}

// There are blocks for 24 tokens, and three replies that need 16 each.
TEST(Scheduler, WithoutMemoryTheLatestWaitsAndIsComputedAgain) {
  const std::string reply = "bcdefghijklmno";
  Replies r(reply, {.n_vocab = 0, .next = {}, .max_batch = 16}, {}, {.max_blocks = 6});
  for (const char* prompt : {"1", "2", "3"}) r.submit(prompt);
  while (r.scheduler->stats().preemptions == 0) ASSERT_TRUE(r.scheduler->step());
  const auto n_run = static_cast<int>(r.told["1"].size());  // of each of the two that continue: all but the last token
  EXPECT_EQ(r.blocks->stats().n_used, 2 * ((n_run + 3) / 4));  // the third has no blocks left
  r.run();
  for (const char* prompt : {"1", "2", "3"}) EXPECT_EQ(r.told[prompt], "?" + reply) << prompt;
  EXPECT_EQ(r.blocks->stats().n_used, 0);
}

TEST(Scheduler, AReplyThatDoesNotFitAloneSaysSo) {
  Replies r("bcdefghijklmno", {.n_vocab = 0, .next = {}, .max_batch = 16}, {}, {.max_blocks = 2});
  r.submit("1");
  r.submit("2", {.max_tokens = 3, .sample = {}, .stop = {}});
  r.run();
  EXPECT_EQ(r.told["1"], "?bcdefgh");
  EXPECT_NE(r.ended["1"].find("blocks of keys and values"), std::string::npos);
  EXPECT_EQ(r.told["2"], "?bc");
  EXPECT_EQ(r.ended["2"], "");
}

TEST(Scheduler, IsCancelledInEveryPhase) {
  Replies r("cdefgh", {.n_vocab = 0, .next = {}, .max_batch = 4}, {.max_replies = 2});
  const auto writing = r.submit("ab");
  ASSERT_TRUE(r.scheduler->step());
  const auto reading = r.submit("0123456789");
  ASSERT_TRUE(r.scheduler->step());
  const auto waiting = r.submit("xy");
  ASSERT_TRUE(r.scheduler->step());
  for (const auto id : {writing, reading, waiting}) r.scheduler->cancel(id);
  r.scheduler->cancel(12345);  // no such reply
  r.run();
  for (const char* prompt : {"ab", "0123456789", "xy"}) EXPECT_EQ(r.reasons.at(prompt), FinishReason::kCancelled);
  EXPECT_EQ(r.told["ab"], "cde");
  EXPECT_EQ(r.told["xy"], "");
  EXPECT_EQ(r.blocks->stats().n_used, 0);
  r.submit("again");
  r.run();
  EXPECT_EQ(r.log.n_blocks, r.blocks->stats().n_kept);
}

TEST(Scheduler, ALostDeviceEndsAllWithTheirTextAndTheyGoOnOnAnother) {
  Replies r("cdefghij", {.n_vocab = 0, .next = {}, .max_batch = 64, .fail_at_pos = 5});
  std::vector<std::string> prompts;
  for (char c = 'a'; c < 'a' + 16; ++c) prompts.push_back(std::string(2, c));
  for (const auto& prompt : prompts) r.submit(prompt);
  r.run();
  Replies reloaded("cdefghij", {.n_vocab = 0, .next = {}, .max_batch = 64});
  for (const auto& prompt : prompts) {
    EXPECT_EQ(r.told[prompt], "cdef");
    EXPECT_NE(r.ended[prompt].find("lost at position 5"), std::string::npos);
    EXPECT_EQ(r.results[prompt].text, "cdef");
    GenerateOptions options{.sample = {}, .stop = {}};
    options.reply_so_far = r.results[prompt].tokens;
    reloaded.submit(prompt, options);
  }
  reloaded.run();
  for (const auto& prompt : prompts) {
    EXPECT_EQ(reloaded.told[prompt], "ghij");
    EXPECT_EQ(reloaded.results[prompt].text, "cdefghij");
    EXPECT_EQ(reloaded.reasons[prompt], FinishReason::kStopToken);
  }
}

TEST(Scheduler, AReplyThatWasOverEndsAtOnce) {
  Replies r("cdefghij", {.n_vocab = 0, .next = {}, .max_batch = 64});
  GenerateOptions options{.max_tokens = 3, .sample = {}, .stop = {}};
  options.reply_so_far = ids("cde");
  r.submit("ab", options);
  options.max_tokens = -1;
  options.stop = {"de"};
  r.submit("xy", options);
  options.reply_so_far = {-1};
  EXPECT_EQ(r.scheduler->submit(ids("zz"), options, [](const auto&, const auto&) {}).error().code,
            ErrorCode::kInvalidArgument);
  r.run();
  EXPECT_EQ(r.told["ab"], "");
  EXPECT_EQ(r.reasons["ab"], FinishReason::kMaxTokens);
  EXPECT_EQ(r.results["ab"].text, "cde");
  EXPECT_EQ(r.reasons["xy"], FinishReason::kStopString);
  EXPECT_EQ(r.results["xy"].text, "c");
  EXPECT_TRUE(r.log.calls.empty());
}

TEST(Scheduler, OneWhoseLogitsAreNoNumbersEndsAlone) {
  Replies r("cdefghij", {.n_vocab = 0, .next = {}, .max_batch = 64, .nan_at_pos = 6});
  r.submit("ab");
  r.submit("x", {.max_tokens = 2, .sample = {}, .stop = {}});
  r.run();
  EXPECT_NE(r.ended["ab"].find("not finite"), std::string::npos);
  EXPECT_EQ(r.told["x"], "?c");
}

// A single reply uses the device's stream; when another arrives, both use passes.
TEST(Scheduler, ALoneReplyHasTheDevicesStream) {
  Replies r("cdefghijklmnop", {.n_vocab = 0, .next = {}, .max_batch = 16, .decodes = true, .runs_ahead = 2});
  r.submit("ab");
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(r.scheduler->step());
  EXPECT_EQ(r.log.n_live_streams, 1);
  r.submit("xy");
  ASSERT_TRUE(r.scheduler->step());
  EXPECT_EQ(r.log.n_live_streams, 0);
  r.run();
  EXPECT_EQ(r.told["ab"], "cdefghijklmnop");
  EXPECT_EQ(r.told["xy"], "cdefghijklmnop");
  EXPECT_GE(r.log.streams.size(), 2u);  // the last one is alone again
}

fake::Script with_streams() { return {.n_vocab = 0, .next = {}, .max_batch = 16, .decodes = true, .runs_ahead = 2}; }

TEST(Scheduler, SeveralRepliesHaveOneStream) {
  Replies r("cdefghijkl", with_streams());
  r.submit("ab");
  r.submit("xy", {.max_tokens = 5, .sample = {}, .stop = {}});
  r.submit("z");
  ASSERT_TRUE(r.scheduler->step());  // the prompts
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(r.scheduler->step());
  ASSERT_EQ(r.log.streams.size(), 3u);
  EXPECT_EQ(r.log.n_live_streams, 1);
  for (const auto& stream : r.log.streams) {
    EXPECT_EQ(stream.together, 3);
    EXPECT_EQ(stream.n_tokens, 4);  // the rest of "xy"
    EXPECT_EQ(stream.n_taken, 2);
  }
  EXPECT_EQ(r.log.n_batches, 1);
  EXPECT_EQ(r.scheduler->stats().steps, 3u);
  EXPECT_EQ(r.scheduler->stats().tokens_run, 5u + 6u);
  r.run();
  EXPECT_EQ(r.log.n_batches, 1);
  EXPECT_EQ(r.log.n_live_streams, 0);
  EXPECT_EQ(r.told["ab"], "cdefghijkl");
  EXPECT_EQ(r.told["xy"], "cdefg");
  EXPECT_EQ(r.told["z"], "?cdefghijkl");
  EXPECT_EQ(r.blocks->stats().n_used, 0);
}

TEST(Scheduler, AStreamEndsForThoseWhoComeAndGo) {
  Replies r("cdefghijklmnop", with_streams());
  const auto first = r.submit("ab");
  r.submit("xy");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(r.scheduler->step());
  EXPECT_EQ(r.log.n_live_streams, 1);
  r.submit("01");
  ASSERT_TRUE(r.scheduler->step());
  EXPECT_EQ(r.log.n_live_streams, 0);
  EXPECT_EQ(slices_of(r.log, 1), "e@4 e@4 01@0");  // tokens that the stream did not deliver are run again
  ASSERT_TRUE(r.scheduler->step());
  EXPECT_EQ(r.log.streams.back().together, 3);
  r.scheduler->cancel(first);
  ASSERT_TRUE(r.scheduler->step());
  EXPECT_EQ(r.log.streams.back().together, 2);
  EXPECT_EQ(r.log.n_live_streams, 1);
  r.run();
  EXPECT_EQ(r.told["ab"], "cdefg");
  EXPECT_EQ(r.told["xy"], "cdefghijklmnop");
  EXPECT_EQ(r.told["01"], "cdefghijklmnop");
}

// With XTC, a token takes two numbers.
TEST(Scheduler, NumbersThatAStreamDrewAheadComeAgain) {
  for (const float xtc : {0.0f, 0.5f}) {
    Replies r("cdefghijklmnop", with_streams());
    const GenerateOptions by_chance{
        .max_tokens = 10, .sample = {.temperature = 0.5f, .top_k = 1, .xtc_probability = xtc, .seed = 5}, .stop = {}};
    r.submit("ab", by_chance);
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(r.scheduler->step());
    r.submit("xy");  // greedy, at the same time
    r.run();
    Sampler sampler(sampling_of(by_chance.sample), kVocab);
    const int n_each = xtc > 0 ? 2 : 1;
    std::vector<float> used, expected;
    const auto skip_token = [&] {
      for (int i = 0; i < n_each; ++i) sampler.uniform();
    };
    skip_token();  // the first one, which the host chose
    for (const auto& stream : r.log.streams) {
      if (stream.sampling.temperature == 0) continue;
      if (!used.empty()) skip_token();  // in the pass with the other prompt
      for (int i = 0; i < stream.n_taken * n_each; ++i) {
        used.push_back(stream.random.at(static_cast<size_t>(i)));
        expected.push_back(sampler.uniform());
      }
    }
    EXPECT_EQ(std::ssize(used), 8 * n_each);
    EXPECT_EQ(used, expected);
    EXPECT_EQ(r.told["ab"], "cdefghijkl");
  }
}

TEST(Scheduler, TheHostChoosesForAllWhereItMustForOne) {
  Replies r("cdefghijkl", with_streams());
  r.submit("ab");
  r.submit("xy", {.max_tokens = 3, .sample = {.temperature = 0.01f, .mirostat = 1}, .stop = {}});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(r.scheduler->step());
  EXPECT_TRUE(r.log.streams.empty());
  r.run();
  EXPECT_EQ(r.log.streams.at(0).together, 1);  // alone again
  EXPECT_EQ(r.told["ab"], "cdefghijkl");
}

TEST(Scheduler, WithoutTheDevicesChoiceForSoMany) {
  fake::Script script = with_streams();
  script.most_streamed = 1;
  Replies r("cdefgh", script);
  r.submit("ab");
  r.submit("xy");
  r.run();
  EXPECT_TRUE(r.log.streams.empty());
  EXPECT_EQ(r.told["ab"], "cdefgh");
  EXPECT_EQ(r.told["xy"], "cdefgh");
}

// There are blocks for 24 tokens: streams get shorter as memory runs short, and finally one reply waits.
TEST(Scheduler, StreamsTakeTheMemoryThatThereIs) {
  const std::string reply = "bcdefghijklmno";
  Replies r(reply, with_streams(), {}, {.max_blocks = 6});
  for (const char* prompt : {"1", "2", "3"}) r.submit(prompt);
  r.run();
  for (const char* prompt : {"1", "2", "3"}) EXPECT_EQ(r.told[prompt], "?" + reply) << prompt;
  EXPECT_EQ(r.log.streams.at(0).together, 3);
  EXPECT_LT(r.log.streams.at(0).n_tokens, 15);
  EXPECT_GT(r.scheduler->stats().preemptions, 0u);
  EXPECT_EQ(r.blocks->stats().n_used, 0);
}

TEST(Scheduler, AStreamThatFailsEndsAllWithTheirText) {
  fake::Script script = with_streams();
  script.fail_at_pos = 5;
  Replies r("cdefghij", script);
  r.submit("ab");
  r.submit("xy");
  r.run();
  for (const char* prompt : {"ab", "xy"}) {
    EXPECT_EQ(r.told[prompt], "cdef");
    EXPECT_NE(r.ended[prompt].find("lost at position 5"), std::string::npos);
  }
  EXPECT_EQ(r.log.n_live_streams, 0);
}

// Draft tokens are more rows of a reply's slice; all texts stay the same.
TEST(Scheduler, GuessesAreRowsOfTheBatch) {
  const std::string reply = "abcdabcdabcdabcdabcdabcdabcdabcd";
  const fake::Script script{.n_vocab = 0, .next = {}, .max_batch = 16};
  Replies plain(reply, script), r(reply, script);
  for (Replies* each : {&plain, &r}) {
    const int most = each == &r ? 5 : 0;
    each->submit("xy", {.sample = {}, .stop = {}, .speculate = most});
    each->submit("zw", {.sample = {}, .stop = {}});
    each->submit("uvw", {.max_tokens = 11, .sample = {}, .stop = {}, .speculate = most});
    each->run();
  }
  EXPECT_EQ(r.told, plain.told);
  EXPECT_EQ(r.reasons, plain.reasons);
  EXPECT_EQ(r.results["xy"].tokens, plain.results["xy"].tokens);
  EXPECT_GT(r.results["xy"].stats.n_guessed_right, 10);
  EXPECT_EQ(r.results["zw"].stats.n_guessed, 0);
  EXPECT_EQ(r.scheduler->stats().steps, plain.scheduler->stats().steps);  // "zw" needs the same number of steps
  size_t widest = 0;
  for (const auto& call : r.log.calls) widest = std::max(widest, call.tokens.size());
  EXPECT_GT(widest, 3u);
  EXPECT_EQ(r.blocks->stats().n_used, 0);
}

TEST(Scheduler, GuessesLeaveRoomForOthersAndForPrompts) {
  const std::string reply = "abababababababababababababababab";
  Replies r(reply, {.n_vocab = 0, .next = {}, .max_batch = 8});  // also 8 rows of logits
  const auto submit = [&](const char* prompt) { r.submit(prompt, {.sample = {}, .stop = {}, .speculate = 7}); };
  for (const char* prompt : {"pq", "rs", "tu"}) submit(prompt);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(r.scheduler->step());
  r.submit("0123456789", {.max_tokens = 1, .sample = {}, .stop = {}});
  std::map<int, size_t> n_slices, n_tokens;
  const int before = r.log.calls.back().batch;
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(r.scheduler->step());
  for (const auto& call : r.log.calls) {
    ++n_slices[call.batch];
    n_tokens[call.batch] += call.tokens.size();
  }
  for (int batch = 1; batch <= before; ++batch) EXPECT_EQ(n_slices[batch], 3u) << batch;
  for (int batch = before + 1; batch <= before + 3; ++batch) {
    EXPECT_EQ(n_slices[batch], 4u) << batch;  // all three replies and the prompt
    EXPECT_LE(n_tokens[batch], 8u) << batch;
  }
  r.run();
  EXPECT_EQ(r.told["pq"], reply);
  EXPECT_EQ(r.told["tu"], reply);
  EXPECT_GT(r.results["pq"].stats.n_guessed_right, 0);
}

// When blocks run out, drafts are given up before any reply has to wait: only a certain token takes a block from a
// later reply.
TEST(Scheduler, NobodyGivesWayToGuesses) {
  const std::string reply = "abababababababababababababababab";
  int n_given_way = 0;
  for (int n_blocks = 9; n_blocks <= 14; ++n_blocks) {
    Replies r(reply, {.n_vocab = 0, .next = {}, .max_batch = 16}, {}, {.max_blocks = n_blocks, .max_cached = 0});
    r.submit("xy", {.sample = {}, .stop = {}, .speculate = 7});
    r.submit("0123456789abcd", {.sample = {}, .stop = {}});
    uint64_t before = 0;
    for (bool more = true; more;) {
      const size_t n_run = 2 + r.told["xy"].size() - 1;
      const bool needs_block = n_run % 4 == 0;
      more = r.scheduler->step();
      const uint64_t preemptions = r.scheduler->stats().preemptions;
      EXPECT_TRUE(needs_block || preemptions == before) << n_blocks << ", " << n_run;
      n_given_way += preemptions > before;
      before = preemptions;
    }
    EXPECT_EQ(r.told["xy"], reply);
    EXPECT_EQ(r.told["0123456789abcd"], reply.substr(12));
    EXPECT_GT(r.results["xy"].stats.n_guessed_right, 0);
  }
  EXPECT_GT(n_given_way, 0);
}

TEST(Scheduler, NoTokensWanted) {
  Replies r("cdef", {.n_vocab = 0, .next = {}, .max_batch = 8});
  r.submit("ab", {.max_tokens = 0, .sample = {}, .stop = {}});
  r.run();
  EXPECT_EQ(r.reasons.at("ab"), FinishReason::kMaxTokens);
  EXPECT_EQ(r.told["ab"], "");
}

TEST(Scheduler, BadRequestsAreRefused) {
  Replies r("cdef");
  const auto refused = [&](std::vector<TokenId> prompt, GenerateOptions options) {
    return r.scheduler->submit(prompt, options, {}).error().code;
  };
  EXPECT_EQ(refused({}, {}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused({kVocab}, {}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused(std::vector<TokenId>(65, 1), {}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused({1}, {.sample = {.temperature = -1.0f}, .stop = {}}), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(r.scheduler->step());
}

TEST(Scheduler, RepliesHaveGrammarsOfTheirOwn) {
  Replies r("xyzxyz", {.next = {}, .decodes = true});
  const GenerateOptions digits = {.max_tokens = 3, .grammar = Grammar::gbnf("root ::= [4-9]{3}").value()};
  r.submit("ab", digits);
  r.submit("cd", {.max_tokens = 3});
  r.submit("ef", digits);
  r.run();
  EXPECT_EQ(r.told["ab"], "444");
  EXPECT_EQ(r.told["cd"], "xyz");
  EXPECT_EQ(r.told["ef"], "444");
}

}  // namespace
}  // namespace tern
