// A reply is the same, token for token and logprob for logprob, alone and in a batch. Sanitizer builds use shorter
// prompts.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "conform/delta_model.h"
#include "conform/expert_model.h"
#include "conform/float_model.h"
#include "engine/scheduler.h"
#include "model/model.h"
#include "support/checkout.h"

namespace tern {
namespace {

struct Request {
  std::vector<TokenId> prompt;
  GenerateOptions options;
};

struct Reply {
  std::vector<TokenId> tokens;
  std::vector<Logprobs> logprobs;
  GenerateStats stats = {};
  bool operator==(const Reply& other) const {
    return tokens == other.tokens &&
           std::ranges::equal(logprobs, other.logprobs, {}, &Logprobs::chosen, &Logprobs::chosen);
  }
};

// Every way to sample that a host has, in turns.
SampleOptions other_sampling(int i, SampleOptions sample) {
  switch (i % 7) {
    case 1:
      sample.mirostat = 1 + i / 7 % 2;
      sample.mirostat_tau = 3;
      break;
    case 2:
      sample.dry_multiplier = 0.8f;
      sample.dry_sequence_breakers.emplace();  // there is no tokenizer
      break;
    case 3:
      sample.xtc_probability = 0.5f;
      sample.xtc_threshold = 0.02f;
      break;
    case 4:
      sample.typical_p = 0.8f;
      sample.top_n_sigma = 2;
      break;
    case 5:
      sample.samplers = "top_k;penalties;temperature;min_p";
      sample.min_p = 0.05f;
      break;
    default:
      break;
  }
  return sample;
}

// Greedy and sampled requests, with and without penalties. Prompts have 1 to `longest` tokens; some share a prefix.
std::vector<Request> mixed_requests(int n_vocab, int longest) {
  std::vector<Request> requests;
  for (int i = 0; i < 32; ++i) {
    Request r;
    const int length = i < 8 ? i + 1 : i == 31 ? longest : 1 + (i * i * 97) % longest;
    for (int t = 0; t < length; ++t) {
      const int same_start = i % 3 == 0 && t < 150 ? 0 : i;
      r.prompt.push_back((t * 7919 + same_start * 131 + 17) % n_vocab);
    }
    if (i % 8 == 6) {  // a short repeated sequence, which yields draft tokens
      for (size_t t = 4; t < r.prompt.size(); ++t) r.prompt[t] = r.prompt[t - 4];
    }
    r.options.max_tokens = i % 8 == 6 ? 32 : 6 + i % 7;
    r.options.ignore_eos = true;
    r.options.n_logprobs = i % 4 == 0 ? 2 : -1;
    r.options.sample = {.temperature = i % 2 == 0 ? 0.0f : 1.0f, .top_k = 40, .seed = static_cast<uint64_t>(i)};
    if (i % 5 == 0) r.options.sample.repeat_penalty = 1.3f;
    if (i % 8 == 6) {  // peaked, so that draft tokens are right
      if (i > 6) r.options.sample.temperature = 0.05f;
      r.options.sample = other_sampling(i / 8, r.options.sample);
    } else if (i >= 8) {
      r.options.sample = other_sampling(i, r.options.sample);
    }
    requests.push_back(std::move(r));
  }
  return requests;
}

// The same requests, most of them with speculative decoding.
std::vector<Request> guessing(std::vector<Request> requests) {
  for (size_t i = 0; i < requests.size(); ++i) requests[i].options.speculate = i % 6 == 5 ? 0 : static_cast<int>(i % 9);
  return requests;
}

#ifdef TERN_SANITIZED
constexpr int kShorter = 4;
#else
constexpr int kShorter = 1;
#endif

class Batches : public testing::Test {
 protected:
  static void expect_same_alone_and_together(const Plan& plan, KvType type, int n_ctx, int longest) {
    ThreadPool pool(2);
    const auto executable = cpu::compile(plan, {.max_batch = 96, .max_logit_rows = 32}, pool).value();
    const int n_vocab = plan.config.n_vocab;
    const auto requests = mixed_requests(n_vocab, longest);
    const auto alone = replies(*executable, n_vocab, requests, {.n_ctx = n_ctx, .kv_type = type, .max_replies = 1});
    const auto together = replies(*executable, n_vocab, requests, {.n_ctx = n_ctx, .kv_type = type});
    // Memory for only some of the requests, and small prefill batches.
    SchedulerOptions tight{.n_ctx = n_ctx, .kv_type = type, .max_batch_tokens = 37};
    tight.max_kv_tokens = 2 * n_ctx;
    const auto in_turns = replies(*executable, n_vocab, requests, tight);
    const auto with_guesses = guessing(requests);
    const auto guessed = replies(*executable, n_vocab, with_guesses, {.n_ctx = n_ctx, .kv_type = type});
    const auto guessed_in_turns = replies(*executable, n_vocab, with_guesses, tight);
    int n_guessed = 0, n_right = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      EXPECT_TRUE(guessed[i] == alone[i]) << "request " << i;
      EXPECT_TRUE(guessed_in_turns[i] == alone[i]) << "request " << i;
      n_guessed += guessed[i].stats.n_guessed;
      n_right += guessed[i].stats.n_guessed_right;
      ASSERT_FALSE(alone[i].tokens.empty());
      EXPECT_TRUE(together[i] == alone[i]) << "request " << i;
      EXPECT_TRUE(in_turns[i] == alone[i]) << "request " << i;
    }
    EXPECT_GT(n_right, 0);
    EXPECT_GT(n_guessed, n_right);  // some draft tokens were rejected
  }

  static std::vector<Reply> replies(Executable& executable, int n_vocab, const std::vector<Request>& requests,
                                    const SchedulerOptions& options) {
    auto store = executable.new_kv_store(executable.kv_block_tokens(options.n_ctx), options.kv_type).value();
    KvBlocks::Options kv;
    if (options.max_kv_tokens > 0) kv.max_blocks = static_cast<int>(options.max_kv_tokens) / store->block_tokens();
    if (options.max_replies == 1) kv.max_cached = 0;  // no prefix cache
    auto blocks = std::make_shared<KvBlocks>(std::move(store), kv);
    // Rows cost almost nothing here, so draft tokens are verified wherever there are any.
    Scheduler::Impl scheduler({executable, nullptr, n_vocab, {}, PassTimes::fixed(0.001)}, blocks, 0, options);
    std::vector<Reply> replies(requests.size());
    for (size_t i = 0; i < requests.size(); ++i) {
      const auto keep = [&replies, i](const Result<GenerationStep>& step, const GenerateResult& so_far) {
        ASSERT_TRUE(step) << step.error().message;
        if (step->finish) replies[i] = {so_far.tokens, so_far.logprobs, so_far.stats};
      };
      EXPECT_TRUE(scheduler.submit(requests[i].prompt, requests[i].options, keep));
    }
    while (scheduler.step()) {
    }
    EXPECT_EQ(blocks->stats().n_used, 0);
    return replies;
  }
};

TEST_F(Batches, ARepliesRestIsTheSameAfterItsBeginning) {
  const Model model = open_model(source_path("models/tern-stories.gguf")).value();
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::host()});
  ThreadPool pool(2);
  const auto executable = cpu::compile(plan, {.max_batch = 96, .max_logit_rows = 32}, pool).value();
  auto requests = mixed_requests(plan.config.n_vocab, 60);
  for (Request& r : requests) {
    r.options.n_logprobs = -1;
    r.options.sample.mirostat = 0;  // has a state that depends on the logits
  }
  const auto whole = replies(*executable, plan.config.n_vocab, requests, {.n_ctx = 128});
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto& tokens = whole[i].tokens;
    requests[i].options.reply_so_far.assign(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(1 + i % 4));
  }
  const auto resumed = replies(*executable, plan.config.n_vocab, requests, {.n_ctx = 128});
  for (size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(resumed[i].tokens, whole[i].tokens) << "request " << i;
}

TEST_F(Batches, TernaryModel) {
  const Model model = open_model(source_path("models/tern-stories.gguf")).value();
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::host()});
  expect_same_alone_and_together(plan, KvType::kF16, 512, 480 / kShorter);
}

TEST_F(Batches, FloatModelWithLongPrompts) {
  conform::FloatModel model;
  model.config.n_ctx = 2048;
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::host()});
  expect_same_alone_and_together(plan, KvType::kF16, 2048, 2000 / kShorter);
  expect_same_alone_and_together(plan, KvType::kQ8_0, 512, 400 / kShorter);
}

TEST_F(Batches, RecurrentLayers) {
  conform::DeltaModel model;
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::host()});
  expect_same_alone_and_together(plan, KvType::kF16, 512, 400 / kShorter);
}

TEST_F(Batches, Experts) {
  conform::ExpertModel model;
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::host()});
  expect_same_alone_and_together(plan, KvType::kF16, 512, 400 / kShorter);
}

}  // namespace
}  // namespace tern
