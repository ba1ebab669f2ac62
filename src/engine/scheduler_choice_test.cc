// Passes with prompts whose tokens the device chooses.
#include <gtest/gtest.h>

#include "engine/scheduler_test_support.h"

namespace tern {
namespace {

using namespace engine_test;

constexpr std::string_view kText = "abcdefghijklmnopqrst";

// One reply, and two prompts that come while it decodes.
Replies three_replies(bool chooses) {
  return Replies(kText, {.n_vocab = 0, .next = {}, .max_batch = 8, .decodes = true, .chooses = chooses},
                 {.max_stall_ms = 0});
}

void run_three(Replies& r, const GenerateOptions& options) {
  r.submit("?", options);
  ASSERT_TRUE(r.scheduler->step());
  ASSERT_TRUE(r.scheduler->step());
  r.submit("?abc", options);
  r.submit("?ab", options);
  r.run();
}

GenerateOptions options_of(float temperature) {
  GenerateOptions options{.max_tokens = 9, .sample = {}, .stop = {}};
  options.sample.temperature = temperature;
  options.sample.seed = 5;
  return options;
}

TEST(SchedulerChoice, RepliesAreThoseOfTheHost) {
  for (const float temperature : {0.0f, 0.01f}) {
    const GenerateOptions options = options_of(temperature);
    Replies on_host = three_replies(false), on_device = three_replies(true);
    run_three(on_host, options);
    run_three(on_device, options);
    EXPECT_EQ(on_host.log.n_chosen, 0);
    EXPECT_GE(on_device.log.n_chosen, 3) << "the reply's token, and the first of both prompts";
    EXPECT_EQ(on_device.told, on_host.told);
    EXPECT_EQ(on_device.ended, on_host.ended);
    EXPECT_EQ(on_device.log.calls.size(), on_host.log.calls.size());
  }
}

TEST(SchedulerChoice, IsTheHostsIfOneReplyNeedsIt) {
  for (const auto& change : std::vector<std::function<void(GenerateOptions&)>>{
           [](GenerateOptions& o) { o.n_logprobs = 1; },
           [](GenerateOptions& o) { o.logit_bias = {{.token = 'z', .bias = -1}}; },
           [](GenerateOptions& o) { o.sample.repeat_penalty = 1.1f; },
       }) {
    GenerateOptions options = options_of(0.01f);
    Replies r = three_replies(true);
    change(options);
    run_three(r, options);
    EXPECT_EQ(r.log.n_chosen, 0);
    EXPECT_EQ(r.ended.size(), 3u);
  }
}

TEST(SchedulerChoice, APromptWhoseLogitsAreNoNumbersEndsItsReplyAlone) {
  Replies r(kText, {.n_vocab = 0, .next = {}, .max_batch = 16, .nan_at_pos = 5, .decodes = true, .chooses = true},
            {.max_stall_ms = 0});
  GenerateOptions options = options_of(0);
  options.max_tokens = 2;
  r.submit("?abcdefg", options);
  r.submit("?a", options);
  r.run();
  EXPECT_GE(r.log.n_chosen, 2);
  EXPECT_NE(r.ended["?abcdefg"].find("not finite"), std::string::npos) << r.ended["?abcdefg"];
  EXPECT_EQ(r.told["?abcdefg"], "");
  EXPECT_EQ(r.ended["?a"], "");
  EXPECT_EQ(r.told["?a"], "ab");
}

// To say which step it was, the model runs again, which must not change what others of the pass read.
TEST(SchedulerChoice, LogitsThatAreNoNumbersLeaveThoseBesideThemAsTheyWere) {
  Replies r(kText, {.n_vocab = 0, .next = {}, .max_batch = 16, .nan_at_pos = 5}, {.max_stall_ms = 0});
  GenerateOptions options = options_of(0);
  options.max_tokens = 3;
  r.submit("?abcd", options);
  r.submit("?a", options);
  r.run();
  EXPECT_NE(r.ended["?abcd"].find("not finite"), std::string::npos) << r.ended["?abcd"];
  EXPECT_EQ(r.ended["?a"], "");
  EXPECT_EQ(r.told["?a"], "abc");
}

TEST(SchedulerChoice, AFailureEndsTheReplies) {
  const GenerateOptions options = options_of(0);
  Replies r(kText, {.n_vocab = 0, .next = {}, .max_batch = 8, .fail_at_pos = 4, .decodes = true, .chooses = true},
            {.max_stall_ms = 0});
  r.submit("?a", options);
  r.submit("?abcdef", options);
  r.run();
  EXPECT_EQ(r.ended.size(), 2u);
  for (const auto& [prompt, error] : r.ended) EXPECT_NE(error, "") << prompt;
}

}  // namespace
}  // namespace tern
