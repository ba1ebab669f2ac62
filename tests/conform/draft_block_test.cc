// Draft tokens from the model's own layer: replies of a scheduler are the same with and without them.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "conform/agreeing_model.h"
#include "engine/scheduler.h"
#include "model/model.h"
#include "support/checkout.h"

namespace tern {
namespace {

struct Compiled {
  explicit Compiled(const std::string& path) : model(open_model(path).value()) {
    model.config.n_ctx = model.prediction->config.n_ctx = kContext;
    plan = make_plan(model.config, model.weights, {.fuse = Fusions::host(), .keeps_hidden = true});
    block_plan = make_prediction_plan(*model.prediction, {.fuse = Fusions::host(), .keeps_hidden = true});
    whole = cpu::compile(plan, {.max_batch = 96, .max_logit_rows = 32}, pool).value();
    block = cpu::compile(block_plan, {.max_batch = 40, .max_logit_rows = 5}, pool).value();
  }
  static constexpr int kContext = 512;
  Model model;
  ThreadPool pool{2};
  Plan plan, block_plan;
  std::unique_ptr<Executable> whole, block;
};

struct Request {
  std::vector<TokenId> prompt;
  GenerateOptions options;
};

// Greedy and sampled; some prompts begin alike, so that they continue cached prefixes.
std::vector<Request> requests(int n_vocab, float temperature) {
  std::vector<Request> requests;
  for (int i = 0; i < 24; ++i) {
    Request r;
    const int length = i < 4 ? i + 1 : 1 + i * i * 97 % 300;
    for (int t = 0; t < length; ++t)
      r.prompt.push_back((t * 7919 + (i % 3 == 0 && t < 150 ? 0 : i) * 131 + 17) % n_vocab);
    r.options.max_tokens = 1 + i * 5 % 40;
    r.options.ignore_eos = true;
    r.options.sample = {.temperature = i % 2 == 0 ? 0 : temperature, .top_k = 40, .seed = static_cast<uint64_t>(i)};
    if (i % 5 == 0) r.options.sample.repeat_penalty = 1.3f;
    if (i % 7 == 3) r.options.n_logprobs = 1;  // without drafts
    requests.push_back(std::move(r));
  }
  return requests;
}

struct Outcome {
  std::vector<GenerateResult> replies;
  Scheduler::Stats stats;
  int n_guessed = 0, n_right = 0;
  uint64_t n_block_passes = 0, n_block_rows = 0;
};

struct Way {
  SchedulerOptions options = {};
  bool drafts = true;
  int max_draft_blocks = INT_MAX;
  std::shared_ptr<PassTimes> times = PassTimes::fixed(0.001);
  int cancelled = -1;  // this request is canceled in its third token
};

Outcome run(Compiled& c, std::vector<Request> requests, const Way& way) {
  Outcome outcome;
  const auto blocks_for = [](Executable& executable, KvBlocks::Options options) {
    return std::make_shared<KvBlocks>(executable.new_kv_store(64, KvType::kF16).value(), options);
  };
  KvBlocks::Options kv;
  if (way.options.max_kv_tokens > 0) kv.max_blocks = static_cast<int>(way.options.max_kv_tokens / 64);
  const auto blocks = blocks_for(*c.whole, kv);
  const auto draft_blocks = blocks_for(*c.block, {.max_blocks = way.max_draft_blocks, .max_cached = 0});
  c.block->observe([&](const StepOutput& output) {
    if (!std::holds_alternative<step::Embed>(output.step->body)) return;
    ++outcome.n_block_passes;
    outcome.n_block_rows += static_cast<uint64_t>(output.rows);
  });
  Scheduler::Impl::Model model{*c.whole, nullptr, c.plan.config.n_vocab, {}, way.times};
  if (way.drafts) {
    model.new_drafter = [&] {
      return std::make_unique<BlockDrafter>(
          std::make_unique<Sequence>(*c.block, draft_blocks, Compiled::kContext, Sequence::kNotShared));
    };
  }
  SchedulerOptions options = way.options;
  options.n_ctx = Compiled::kContext;
  {
    Scheduler::Impl scheduler(model, blocks, 0, options);
    outcome.replies.resize(requests.size());
    for (size_t i = 0; i < requests.size(); ++i) {
      if (way.drafts) requests[i].options.speculate = static_cast<int>((i + 1) % 6);
      const auto keep = [&, i](const Result<GenerationStep>& step, const GenerateResult& so_far) {
        ASSERT_TRUE(step) << step.error().message;
        if (static_cast<int>(i) == way.cancelled && so_far.tokens.size() == 3) scheduler.cancel(i + 1);
        if (step->finish) outcome.replies[i] = so_far;
      };
      EXPECT_TRUE(scheduler.submit(requests[i].prompt, requests[i].options, keep));
    }
    while (scheduler.step()) {
    }
    outcome.stats = scheduler.stats();
  }
  c.block->observe({});
  EXPECT_EQ(blocks->stats().n_used, 0);
  EXPECT_EQ(draft_blocks->stats().n_used, 0);
  for (const GenerateResult& reply : outcome.replies) {
    outcome.n_guessed += reply.stats.n_guessed;
    outcome.n_right += reply.stats.n_guessed_right;
  }
  return outcome;
}

void expect_same(const Outcome& outcome, const Outcome& plain) {
  for (size_t i = 0; i < plain.replies.size(); ++i) {
    EXPECT_EQ(outcome.replies[i].tokens, plain.replies[i].tokens) << "request " << i;
  }
}

TEST(DraftBlock, ChangesNoReply) {
  for (const std::string& path :
       {source_path("tests/golden/families/qwen35_predicts.gguf"), conform::agreeing_model()}) {
    Compiled c(path);
    const auto all = requests(c.plan.config.n_vocab, 0.8f);
    const Outcome plain = run(c, all, {.options = {.max_replies = 6}, .drafts = false});
    EXPECT_EQ(plain.n_guessed, 0);
    EXPECT_GT(plain.stats.tokens_reused, 0u);
    const Outcome together = run(c, all, {.options = {.max_replies = 6}});
    expect_same(together, plain);
    EXPECT_GT(together.stats.tokens_reused, 0u);
    EXPECT_GT(together.n_guessed, 50);
    EXPECT_GT(together.n_right, 0);
    EXPECT_GT(together.n_guessed, together.n_right);
    // With memory for only some of the replies, in small passes; with few replies; with little memory for the drafters.
    const Outcome tight = run(c, all, {.options = {.max_batch_tokens = 37, .max_kv_tokens = 1024}});
    expect_same(tight, plain);
    EXPECT_GT(tight.stats.preemptions, 0u);
    EXPECT_GT(tight.n_guessed, 20);
    expect_same(run(c, all, {.options = {.max_replies = 1}}), plain);
    const Outcome starved = run(c, all, {.max_draft_blocks = 2});
    expect_same(starved, plain);
    EXPECT_GT(starved.n_guessed, 0);
  }
}

TEST(DraftBlock, OneReplyIsCanceledAmongOthers) {
  Compiled c(conform::agreeing_model());
  const auto all = requests(c.plan.config.n_vocab, 0);
  const Outcome plain = run(c, all, {.drafts = false});
  constexpr int kCanceled = 11;
  Outcome outcome = run(c, all, {.cancelled = kCanceled});
  EXPECT_EQ(outcome.replies[kCanceled].reason, FinishReason::kCancelled);
  EXPECT_GE(outcome.replies[kCanceled].tokens.size(), 3u);
  outcome.replies[kCanceled] = plain.replies[kCanceled];
  expect_same(outcome, plain);
}

TEST(DraftBlock, RightDraftsSavePasses) {
  Compiled c(conform::agreeing_model());
  auto all = requests(c.plan.config.n_vocab, 0);
  all.erase(all.begin());  // without drafts
  all.resize(5);
  for (Request& r : all) {
    r.options = {.max_tokens = 100, .ignore_eos = true};
    r.options.sample = {.temperature = 0};
  }
  const Outcome plain = run(c, all, {.drafts = false}), drafted = run(c, all, {});
  const Outcome alone = run(c, all, {.options = {.max_replies = 1}});
  expect_same(drafted, plain);
  EXPECT_GT(drafted.n_right, 200);
  EXPECT_LT(4 * drafted.stats.steps, 3 * plain.stats.steps);
  EXPECT_GT(drafted.n_block_rows, 3 * drafted.n_block_passes);  // the five run together
  // Each drafter gets the hidden rows of its own reply.
  EXPECT_NEAR(drafted.n_right, alone.n_right, alone.n_right / 10);
}

TEST(DraftBlock, IsAskedSeldomIfItIsMostlyWrong) {
  Compiled c(source_path("tests/golden/families/qwen35_predicts.gguf"));
  auto all = requests(c.plan.config.n_vocab, 1);
  for (Request& r : all) r.options.max_tokens = 120;
  const Outcome outcome = run(c, all, {.times = PassTimes::fixed(0.2)});
  EXPECT_GT(outcome.n_guessed, 0);
  EXPECT_LT(outcome.n_guessed, 24 * 120 / 8);
}

}  // namespace
}  // namespace tern
