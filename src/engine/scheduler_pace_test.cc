// How many tokens of prompts a pass takes beside replies that decode.
#include <gtest/gtest.h>

#include "engine/scheduler_test_support.h"

namespace tern {
namespace {

using namespace engine_test;

TEST(Scheduler, PromptsAreReadInSmallPiecesBesideReplies) {
  Replies r("????????????????????????", {.n_vocab = 0, .next = {}, .max_batch = 64}, {.max_stall_ms = 1e-9f});
  r.submit("ab", {.max_tokens = 4, .sample = {}, .stop = {}});
  ASSERT_TRUE(r.scheduler->step());
  r.submit(std::string(40, 'x'), {.max_tokens = 1, .sample = {}, .stop = {}});
  r.run();
  const auto piece = [](size_t n) { return std::string(n, 'x'); };
  EXPECT_EQ(slices_of(r.log, 1), "?@2 " + piece(8) + "@0");  // the minimum piece, since every pass exceeds this limit
  EXPECT_EQ(slices_of(r.log, 2), "?@3 " + piece(8) + "@8");
  EXPECT_EQ(slices_of(r.log, 3), "?@4 " + piece(8) + "@16");
  EXPECT_EQ(slices_of(r.log, 4), piece(16) + "@24");  // no reply is decoding any more
}

TEST(Scheduler, NoMoreRunThanFitIntoAPass) {
  Replies r("abcdef", {.n_vocab = 0, .next = {}, .max_batch = 64, .max_slices = 2}, {.max_replies = 8});
  for (const char* prompt : {"?a", "?b", "?c"}) r.submit(prompt, {.max_tokens = 3, .sample = {}, .stop = {}});
  ASSERT_TRUE(r.scheduler->step());
  EXPECT_EQ(r.scheduler->n_running(), 2);
  EXPECT_EQ(r.scheduler->n_waiting(), 1);
  r.run();
  EXPECT_EQ(r.ended.size(), 3u);
}

TEST(Scheduler, PiecesGrowWhileAFirstTokenIsLate) {
  for (const float target : {0.0f, 10.0f}) {
    Replies r("????????????????????????", {.n_vocab = 0, .next = {}, .max_batch = 64},
              {.max_stall_ms = 5.2f, .target_ttft_ms = target});
    r.submit("ab", {.max_tokens = 6, .sample = {}, .stop = {}});
    ASSERT_TRUE(r.scheduler->step());  // two tokens in a millisecond: 10 in 5.2 ms
    r.submit(std::string(50, 'x'), {.max_tokens = 1, .sample = {}, .stop = {}});
    ASSERT_TRUE(r.scheduler->step());
    EXPECT_EQ(slices_of(r.log, 1), "?@2 " + std::string(10, 'x') + "@0");  // not late yet
    // 50 tokens take 15 ms alone, by the mean of both passes. So the first token is due after 40 ms.
    r.seconds += 0.08;
    ASSERT_TRUE(r.scheduler->step());
    const size_t n = target > 0 ? 36 : 17;  // 5.2 ms, or twice as long
    EXPECT_EQ(slices_of(r.log, 2), "?@3 " + std::string(n, 'x') + "@10");
  }
}

TEST(Scheduler, PiecesGrowEightfoldAtMostAndOnlyBeforeTheFirstToken) {
  Replies r("????????????????????????", {.n_vocab = 0, .next = {}, .max_batch = 64},
            {.max_stall_ms = 1, .target_ttft_ms = 10});
  r.submit("abcdefgh", {.max_tokens = 6, .sample = {}, .stop = {}});
  ASSERT_TRUE(r.scheduler->step());  // 8 tokens in a millisecond
  r.seconds += 100;                  // the first reply is old, but it has a token
  r.submit(std::string(40, 'x'), {.max_tokens = 1, .sample = {}, .stop = {}});
  ASSERT_TRUE(r.scheduler->step());
  EXPECT_EQ(slices_of(r.log, 1), "?@8 " + std::string(8, 'x') + "@0");
  r.submit(std::string(64, 'y'), {.max_tokens = 1, .sample = {}, .stop = {}});
  r.seconds += 100;
  ASSERT_TRUE(r.scheduler->step());
  size_t n_prompt = 0;
  for (const auto& call : r.log.calls) {
    if (call.batch == 2 && call.tokens.size() > 1) n_prompt += call.tokens.size();
  }
  EXPECT_EQ(n_prompt, 63u);  // eight times as many as in a millisecond are 64, and a token of the reply is one
}

}  // namespace
}  // namespace tern
