// The model's own layer for draft tokens on the GPU: what it computes, and the replies with its draft tokens.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_cache.h"
#include "backend/ref/ref_backend.h"
#include "conform/agreeing_model.h"
#include "conform/values.h"
#include "engine/reply/block_drafter.h"
#include "engine/scheduler.h"
#include "engine/session_core.h"
#include "model/model.h"
#include "support/checkout.h"
#include "tern/engine.h"

namespace tern {
namespace {

using conform::nmse;

class GpuDraftBlock : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  }
  const std::string path_ = source_path("tests/golden/families/qwen35_predicts.gguf");
};

std::vector<float> copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

// In whatever passes: the last one has a single token, whose row the GPU does not copy for the logits.
TEST_F(GpuDraftBlock, ComputesWhatTheReferenceDoes) {
  const Model model = open_model(path_).value();
  const auto plans = [&](const Fusions& fusions) {
    return std::pair{make_plan(model.config, model.weights, {.fuse = fusions, .keeps_hidden = true}),
                     make_prediction_plan(*model.prediction, {.fuse = fusions, .keeps_hidden = true})};
  };
  const auto [ref_plan, ref_block_plan] = plans(Fusions::none());
  const auto [gpu_plan, gpu_block_plan] = plans(Fusions::all());
  const CompileOptions options{.max_batch = 32, .max_logit_rows = 32, .gpu = {.validation = true}};
  const auto ref = ref::compile(ref_plan, options).value(), ref_block = ref::compile(ref_block_plan, options).value();
  const auto gpu = gpu::compile(gpu_plan, options).value();
  auto made = gpu->compile_beside(gpu_block_plan, options);
  ASSERT_TRUE(made) << made.error().message;
  std::vector<TokenId> tokens;
  for (int i = 0; i < 24; ++i) tokens.push_back((i * 37 + 13) % model.config.n_vocab);
  const auto width = static_cast<size_t>(model.config.d_model);
  // The hidden rows of all tokens but the last, and the block's logits and rows with these.
  struct Values {
    std::vector<float> hidden, logits, own;
  };
  const auto values = [&](Executable& whole, Executable& block) {
    Values out;
    const auto cache = whole.new_cache(64, KvType::kF32).value(), of_block = block.new_cache(64, KvType::kF32).value();
    for (size_t at = 0; at < 23;) {
      const size_t n = at == 0 ? 14 : at == 22 ? 1 : 8;
      EXPECT_TRUE(whole.run(*cache, {.tokens = std::span(tokens).subspan(at, n), .first_pos = static_cast<int>(at)}));
      const auto rows = copy_of(whole.hidden());
      EXPECT_EQ(rows.size(), n * width);
      out.hidden.insert(out.hidden.end(), rows.begin(), rows.end());
      const auto logits = block.run(*of_block, {.tokens = std::span(tokens).subspan(at + 1, n),
                                                .first_pos = static_cast<int>(at),
                                                .logits = WantLogits::kAll,
                                                .hidden = rows});
      EXPECT_TRUE(logits) << logits.error().message;
      if (logits) out.logits.insert(out.logits.end(), logits->begin(), logits->end());
      const auto own = block.hidden();
      out.own.insert(out.own.end(), own.begin(), own.end());
      at += n;
    }
    return out;
  };
  const Values expected = values(*ref, *ref_block), got = values(*gpu, **made);
  EXPECT_LT(nmse(got.hidden, expected.hidden), 1e-6);
  EXPECT_LT(nmse(got.logits, expected.logits), 1e-6);
  EXPECT_LT(nmse(got.own, expected.own), 1e-6);
}

// The model and its block on one backend.
struct OnGpu {
  explicit OnGpu(const std::string& path) : model(open_model(path).value()) {
    model.config.n_ctx = model.prediction->config.n_ctx = 256;
    const PlanOptions options{.fuse = Fusions::all(), .keeps_hidden = true};
    plan = make_plan(model.config, model.weights, options);
    block_plan = make_prediction_plan(*model.prediction, options);
    whole = gpu::compile(plan, {.max_batch = 32, .max_logit_rows = 24, .gpu = {.validation = true}}).value();
    block = whole->compile_beside(block_plan, {.max_batch = 32, .max_logit_rows = 4}).value();
  }
  // A conversation of two replies, and a third one that begins with what is cached of it. A row costs `slope` of a
  // pass.
  std::vector<GenerateResult> replies(const GenerateOptions& options, bool drafts, double slope) {
    std::unique_ptr<Drafter> drafter;
    if (drafts) drafter = std::make_unique<BlockDrafter>(Sequence::alone(*block, 256, KvType::kF16).value());
    SessionCore core(Sequence::alone(*whole, 256, KvType::kF16).value(), nullptr, model.config.n_vocab, {},
                     PassTimes::fixed(slope), std::move(drafter));
    std::vector<TokenId> known = {0, 63, 7, 7, 28, 34, 33, 21, 60};
    std::vector<GenerateResult> replies;
    for (int i = 0; i < 3; ++i) {
      if (i == 2) core.reset();
      replies.push_back(core.generate(known, options, {}, {}).value());
      known.insert(known.end(), replies.back().tokens.begin(), replies.back().tokens.end());
      known.push_back(11);
    }
    return replies;
  }
  Model model;
  Plan plan, block_plan;
  std::unique_ptr<Executable> whole, block;
};

// Also where rows are so dear that the device mostly chooses tokens itself, between passes that check drafts.
TEST_F(GpuDraftBlock, ChangesNoReply) {
  int n_reused = 0;
  for (const std::string& path : {path_, conform::agreeing_model()}) {
    OnGpu gpu(path);
    for (const float temperature : {0.0f, 0.8f}) {
      GenerateOptions options{.max_tokens = 75, .ignore_eos = true};
      options.sample = {.temperature = temperature, .seed = 3};
      const auto plain = gpu.replies(options, false, 0.001);
      for (const double slope : {0.001, 0.3}) {
        for (const int most : {1, 3, 7}) {
          options.speculate = most;
          const auto drafted = gpu.replies(options, true, slope);
          for (size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(drafted[i].tokens, plain[i].tokens) << i << " " << most;
            EXPECT_GT(drafted[i].stats.n_guessed, 0);
            if (i == 1) EXPECT_EQ(drafted[i].stats.n_reused, plain[i].stats.n_reused);
            if (i == 2) n_reused += drafted[i].stats.n_reused;
          }
        }
      }
    }
  }
  EXPECT_GT(n_reused, 0);
}

// A scheduler runs the block for all replies at once. Replies stop drafting and begin again at different times.
TEST_F(GpuDraftBlock, ChangesNoReplyOfABatch) {
  OnGpu gpu(conform::agreeing_model());
  const auto replies = [&](bool drafts, double slope, int max_blocks) {
    const auto blocks_for = [](Executable& executable, int most) {
      return std::make_shared<KvBlocks>(executable.new_kv_store(64, KvType::kF16).value(),
                                        KvBlocks::Options{.max_blocks = most});
    };
    const auto blocks = blocks_for(*gpu.whole, max_blocks), of_drafters = blocks_for(*gpu.block, 100);
    Scheduler::Impl::Model model{*gpu.whole, nullptr, gpu.plan.config.n_vocab, {}, PassTimes::fixed(slope)};
    if (drafts) {
      model.new_drafter = [&] {
        return std::make_unique<BlockDrafter>(
            std::make_unique<Sequence>(*gpu.block, of_drafters, 256, Sequence::kNotShared));
      };
    }
    Scheduler::Impl scheduler(model, blocks, 0, {.n_ctx = 256});
    std::vector<GenerateResult> results(6);
    for (size_t i = 0; i < results.size(); ++i) {
      std::vector<TokenId> prompt;
      for (size_t t = 0; t < 5 + i * 23; ++t) prompt.push_back(static_cast<TokenId>((t * 31 + i * 7) % 64));
      GenerateOptions options{.max_tokens = 30 + static_cast<int>(i) * 9, .ignore_eos = true};
      options.sample = {.temperature = i % 3 == 2 ? 0.8f : 0.0f, .seed = i};
      options.speculate = drafts ? 1 + static_cast<int>(i) : 0;
      EXPECT_TRUE(scheduler.submit(prompt, options, [&, i](const auto& step, const GenerateResult& so_far) {
        ASSERT_TRUE(step) << step.error().message;
        results[i] = so_far;
      }));
    }
    while (scheduler.step()) {
    }
    EXPECT_EQ(blocks->stats().n_used, 0);
    EXPECT_EQ(of_drafters->stats().n_used, 0);
    return std::pair{results, scheduler.stats()};
  };
  const auto plain = replies(false, 0.001, 100).first;
  for (const double slope : {0.001, 0.3}) {
    for (const int max_blocks : {100, 7}) {
      const auto [drafted, stats] = replies(true, slope, max_blocks);
      int n_right = 0;
      for (size_t i = 0; i < plain.size(); ++i) {
        EXPECT_EQ(drafted[i].tokens, plain[i].tokens) << i << " " << slope << " " << max_blocks;
        n_right += drafted[i].stats.n_guessed_right;
      }
      EXPECT_GT(n_right, 0);
      EXPECT_EQ(stats.preemptions > 0, max_blocks < 100);
    }
  }
}

TEST_F(GpuDraftBlock, AnEngineDraftsWithIt) {
  const Engine gpu = Engine::load({.model_path = path_, .backend = BackendKind::kWebGpu}).value();
  const std::vector<TokenId> prompt = {0, 63, 7, 7, 28, 34, 33, 21, 60};
  GenerateOptions options{.max_tokens = 40, .ignore_eos = true};
  options.sample = {.temperature = 0};
  const auto plain = gpu.new_session().value().generate(prompt, options).value();
  options.speculate = 5;
  auto session = gpu.new_session({.draft_block = true}).value();
  for (int i = 0; i < 2; ++i) {
    const auto drafted = session.generate(prompt, options).value();
    EXPECT_EQ(drafted.tokens, plain.tokens);
    EXPECT_GT(drafted.stats.n_guessed, 0);
  }
}

}  // namespace
}  // namespace tern
