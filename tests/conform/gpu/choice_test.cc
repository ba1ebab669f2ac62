// Tokens that the device chooses after a batch with prompts, against a sampler on the host that gets the logits of the
// same batch.
#include <gtest/gtest.h>

#include <algorithm>

#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_store.h"
#include "model/model.h"
#include "sample/sampler.h"
#include "sample/sampling.h"
#include "support/checkout.h"

namespace tern {
namespace {

// Three replies that decode, a piece of a prompt without its end, and the last pieces of two prompts.
struct Part {
  int begin, n_before, n;  // of the text; run earlier; in the batch
  WantLogits logits;
};
constexpr Part kParts[] = {{0, 9, 1, WantLogits::kLast},   {20, 30, 1, WantLogits::kLast},
                           {3, 4, 7, WantLogits::kNone},   {40, 0, 12, WantLogits::kLast},
                           {60, 70, 1, WantLogits::kLast}, {90, 5, 3, WantLogits::kLast}};

class GpuChoice : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
    model_ = open_model(source_path("models/tern-stories.gguf")).value();
    model_.weights.layers.resize(2);
    model_.config.n_layers = 2;
    for (int i = 0; i < 200; ++i) text_.push_back((i * 37 + 11) % model_.config.n_vocab);
    plan_ = make_plan(model_.config, model_.weights);
    auto compiled = gpu::compile(
        plan_, {.max_batch = 128, .max_logit_rows = 16, .gpu = {.validation = true, .without = {"serial"}}});
    ASSERT_TRUE(compiled) << compiled.error().message;
    gpu_ = *std::move(compiled);
    store_ = gpu_->new_kv_store(gpu_->kv_block_tokens(512), KvType::kF16).value();
    for (KvBlockId block = 0; block < 12; ++block) ASSERT_TRUE(store_->allocate(block));
    KvBlockId block = 11;
    for (const Part& part : kParts) {
      blocks_.push_back({block, block - 1});
      block -= 2;
      const Slice before{
          .tokens = std::span(text_).subspan(part.begin, part.n_before), .blocks = blocks_.back(), .n_ctx = 512};
      if (part.n_before > 0) ASSERT_TRUE(gpu_->run(*store_, {&before, 1}));
    }
    for (size_t i = 0; i < std::size(kParts); ++i) {
      const Part& part = kParts[i];
      batch_.push_back({.tokens = std::span(text_).subspan(part.begin + part.n_before, part.n),
                        .first_pos = part.n_before,
                        .logits = part.logits,
                        .blocks = blocks_[i],
                        .n_ctx = 512});
    }
  }

  // Expects the host's choices with these options, one for each row of logits.
  void expect_choices(std::span<const Sampling> options) {
    const auto logits = gpu_->run(*store_, batch_);
    ASSERT_TRUE(logits) << logits.error().message;
    const auto n_vocab = static_cast<size_t>(model_.config.n_vocab);
    ASSERT_EQ(logits->size(), options.size() * n_vocab);
    std::vector<Sampler> samplers;
    std::vector<DeviceSampling> sampling;
    std::vector<TokenId> expected;
    for (size_t row = 0; row < options.size(); ++row) {
      expected.push_back(Sampler(options[row], model_.config.n_vocab).sample(logits->subspan(row * n_vocab, n_vocab)));
      samplers.emplace_back(options[row], model_.config.n_vocab);
    }
    for (size_t row = 0; row < options.size(); ++row) {
      const Sampling& o = options[row];
      sampling.push_back({.temperature = o.temperature,
                          .top_k = o.top_k,
                          .top_p = o.top_p,
                          .min_p = o.min_p,
                          .xtc_probability = o.xtc_probability,
                          .xtc_threshold = o.xtc_threshold,
                          .uniform = [&sampler = samplers[row]] { return sampler.uniform(); }});
    }
    // The prompts' rows are the third and the last; a filter must not have changed them.
    std::vector<float> of_prompts;
    for (const size_t row : {2u, 4u}) {
      const auto one = logits->subspan(row * n_vocab, n_vocab);
      of_prompts.insert(of_prompts.end(), one.begin(), one.end());
    }
    const auto chosen = gpu_->run_and_choose(*store_, batch_, sampling);
    ASSERT_TRUE(chosen) << chosen.error().message;
    ASSERT_TRUE(*chosen);
    EXPECT_EQ(std::vector<TokenId>((*chosen)->tokens.begin(), (*chosen)->tokens.end()), expected);
    EXPECT_TRUE(std::ranges::equal((*chosen)->logits, of_prompts));
  }

  Model model_;
  std::vector<TokenId> text_;
  Plan plan_;
  std::unique_ptr<Executable> gpu_;
  std::unique_ptr<KvStore> store_;
  std::vector<std::vector<KvBlockId>> blocks_;
  std::vector<Slice> batch_;
};

Sampling with_seed(Sampling options, uint64_t seed) {
  options.seed = seed;
  return options;
}

TEST_F(GpuChoice, GreedyTokensAreTheHosts) {
  const std::vector<Sampling> options(5, {.temperature = 0});
  expect_choices(options);
}

TEST_F(GpuChoice, RowsHaveOptionsOfTheirOwn) {
  for (uint64_t seed = 1; seed < 5; ++seed) {
    const std::vector<Sampling> options = {
        with_seed({.temperature = 1, .top_k = 40}, seed), with_seed({.temperature = 0}, seed),
        with_seed({.temperature = 0.7f, .top_p = 0.9f}, seed + 10),
        with_seed({.temperature = 2, .min_p = 0.05f}, seed + 20),
        with_seed({.temperature = 1, .xtc_probability = 0.5f, .xtc_threshold = 0.01f}, seed + 30)};
    expect_choices(options);
  }
}

TEST_F(GpuChoice, IsDeclinedForSingleTokens) {
  const DeviceSampling greedy;
  const auto chosen = gpu_->run_and_choose(*store_, {batch_.data(), 1}, {&greedy, 1});
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_FALSE(*chosen);
}

}  // namespace
}  // namespace tern
