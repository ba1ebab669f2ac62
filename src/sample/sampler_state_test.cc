// The state of a Sampler between tokens: the window of the repetition penalty, the random numbers, allocations.
#include <gtest/gtest.h>

#include "sample/count_allocations_test_support.h"
#include "sample/sample_test_support.h"
#include "sample/sampler.h"

namespace tern {
namespace {

using namespace sample_test;

TEST(RepeatPenalty, DividesPositiveAndMultipliesNegativeLogits) {
  Sampling options = plain(0);
  options.repeat_penalty = 2.0f;
  Sampler positive(options, 2);
  positive.accept(0);
  EXPECT_EQ(positive.sample(Logits{4.0f, 2.1f}), 1);  // 4 / 2 < 2.1
  EXPECT_EQ(positive.sample(Logits{4.0f, 1.9f}), 0);
  Sampler negative(options, 2);
  negative.accept(0);
  EXPECT_EQ(negative.sample(Logits{-1.0f, -1.9f}), 1);  // −1 · 2 < −1.9
  EXPECT_EQ(negative.sample(Logits{-1.0f, -2.1f}), 0);
}

TEST(RepeatPenalty, CountsOccurrences) {
  Sampling options = plain(0);
  options.repeat_penalty = 2.0f;
  Sampler sampler(options, 3);
  sampler.accept(0);
  EXPECT_EQ(sampler.sample(Logits{16.0f, 7.9f, 0}), 0);  // 8
  sampler.accept(0);
  EXPECT_EQ(sampler.sample(Logits{16.0f, 4.1f, 0}), 1);  // 4
  EXPECT_EQ(sampler.sample(Logits{16.0f, 3.9f, 0}), 0);
  sampler.accept(0);
  EXPECT_EQ(sampler.sample(Logits{16.0f, 2.1f, 0}), 1);  // 2
  EXPECT_EQ(sampler.sample(Logits{16.0f, 1.9f, 0}), 0);
}

TEST(RepeatPenalty, TheWindowForgets) {
  Sampling options = plain(0);
  options.repeat_penalty = 2.0f;
  options.repeat_last_n = 3;
  Sampler sampler(options, 3);
  const Logits logits = {4.0f, 2.1f, 0.0f};
  sampler.accept(0);
  for (int i = 0; i < 2; ++i) {
    sampler.accept(2);
    EXPECT_EQ(sampler.sample(logits), 1) << i;  // token 0 still counts
  }
  sampler.accept(2);
  EXPECT_EQ(sampler.sample(logits), 0);
  for (const TokenId id : {0, 0, 2, 0, 2, 2}) sampler.accept(id);  // the last three: 0 once
  EXPECT_EQ(sampler.sample(Logits{4.0f, 1.9f, -1.0f}), 0);
  EXPECT_EQ(sampler.sample(Logits{4.0f, 2.1f, -1.0f}), 1);
}

TEST(RepeatPenalty, MinusOneRemembersEverythingAndZeroNothing) {
  Sampling options = plain(0);
  options.repeat_penalty = 2.0f;
  for (const int last_n : {-1, 0}) {
    options.repeat_last_n = last_n;
    Sampler sampler(options, 3);
    sampler.accept(0);
    for (int i = 0; i < 1000; ++i) sampler.accept(2);
    EXPECT_EQ(sampler.sample(Logits{4.0f, 2.1f, 0.0f}), last_n == -1 ? 1 : 0);
  }
}

// The power overflows to infinity: a logit of 0 must not become NaN, and no token may become more likely.
TEST(RepeatPenalty, ManyOccurrences) {
  Sampling options = plain(0);
  options.repeat_penalty = 10.0f;
  options.repeat_last_n = -1;
  Sampler sampler(options, 2);
  for (int i = 0; i < 1000; ++i) sampler.accept(0);
  EXPECT_EQ(sampler.sample(Logits{5.0f, 0.1f}), 1);
  EXPECT_EQ(sampler.sample(Logits{-0.1f, -50.0f}), 1);
  EXPECT_EQ(sampler.sample(Logits{0.0f, -1.0f}), 0);
}

// The penalty comes first, so it changes which tokens are among the top k; and it shifts probabilities by the right
// amount.
TEST(RepeatPenalty, AppliesBeforeTopK) {
  Sampling options = plain(1);
  options.top_k = 2;
  options.repeat_penalty = 2.0f;
  Sampler sampler(options, 3);
  sampler.accept(0);
  std::vector<int> counts(3);
  for (int i = 0; i < 50000; ++i) ++counts[sampler.sample(Logits{3.0f, 2.0f, 1.8f})];  // after the penalty: 1.5, 2, 1.8
  const double total = std::exp(2.0) + std::exp(1.8);
  expect_distribution(counts, {0, std::exp(2.0) / total, std::exp(1.8) / total});
}

// OpenAI's formula: logit − presence − n · frequency, for n occurrences in the reply.
TEST(ReplyPenalties, CountWhatTheReplyHas) {
  Sampling options = plain(0);
  options.presence_penalty = 1;
  options.frequency_penalty = 0.5f;
  Sampler sampler(options, 3);
  sampler.accept_prompt(0);
  EXPECT_EQ(sampler.sample(Logits{1.0f, 0.9f, 0.0f}), 0);  // the prompt does not count
  sampler.accept(0);
  EXPECT_EQ(sampler.sample(Logits{2.0f, 0.4f, 0.0f}), 0);  // 2 − 1.5 = 0.5
  EXPECT_EQ(sampler.sample(Logits{2.0f, 0.6f, 0.0f}), 1);
  sampler.accept(0);
  EXPECT_EQ(sampler.sample(Logits{2.0f, 0.1f, 0.0f}), 1);  // 2 − 2 = 0
  sampler.reset();
  EXPECT_EQ(sampler.sample(Logits{2.0f, 0.6f, 0.0f}), 0);
  sampler.accept(1);
  EXPECT_EQ(sampler.sample(Logits{1.0f, 2.2f, 0.0f}), 0);  // 2.2 − 1.5; the other has not been in this reply
}

TEST(LogitBiases, AreAddedFirst) {
  const std::vector<LogitBias> biases = {{0, 5.0f}, {0, -kInf}, {2, 1.5f}};  // a token's last bias counts
  Sampler sampler(plain(0), 3, biases);
  EXPECT_EQ(sampler.sample(Logits{100.0f, 1.0f, 0.0f}), 2);
  EXPECT_EQ(sampler.sample(Logits{100.0f, 2.0f, 0.0f}), 1);

  Sampling halved = plain(0);
  halved.repeat_penalty = 2;
  Sampler both(halved, 2, std::vector<LogitBias>{{0, 3.0f}});
  both.accept(0);
  EXPECT_EQ(both.sample(Logits{1.0f, 2.1f}), 1);  // (1 + 3) / 2, not 1 / 2 + 3
}

TEST(LogitBiases, AreChecked) {
  EXPECT_FALSE(check_logit_bias(std::vector<LogitBias>{{3, 1.0f}}, 3));
  EXPECT_FALSE(check_logit_bias(std::vector<LogitBias>{{-1, 1.0f}}, 3));
  EXPECT_FALSE(check_logit_bias(std::vector<LogitBias>{{0, kInf}}, 3));
  EXPECT_FALSE(check_logit_bias(std::vector<LogitBias>{{0, kNan}}, 3));
  EXPECT_TRUE(check_logit_bias(std::vector<LogitBias>{{2, -kInf}}, 3));
}

std::vector<TokenId> generate(Sampler& sampler, int n) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < n; ++i) {
    Logits logits(300);
    for (int id = 0; id < 300; ++id) logits[id] = static_cast<float>((id * 37 + i * 11) % 100) / 20.0f;
    tokens.push_back(sampler.sample(logits));
    sampler.accept(tokens.back());
  }
  return tokens;
}

TEST(Determinism, TheSeedDecides) {
  const Sampling options = {.temperature = 1, .repeat_penalty = 1.1f, .seed = 17};
  Sampler first(options, 300);
  Sampler second(options, 300);
  Sampling changed = options;
  changed.seed = 18;
  Sampler other(changed, 300);
  const std::vector<TokenId> tokens = generate(first, 100);
  EXPECT_EQ(tokens, generate(second, 100));
  EXPECT_NE(tokens, generate(other, 100));
}

TEST(Determinism, ResetStartsAgain) {
  Sampler sampler({.temperature = 1, .repeat_penalty = 1.5f, .repeat_last_n = 10}, 300);
  const std::vector<TokenId> tokens = generate(sampler, 100);
  EXPECT_NE(tokens, generate(sampler, 100));
  sampler.reset();
  EXPECT_EQ(tokens, generate(sampler, 100));
}

// Pinned: a change of the random numbers or of the draw changes all users' seeded texts, so it must be deliberate.
TEST(Determinism, TheSameOnEveryPlatform) {
  Sampler sampler({.temperature = 1, .top_k = 0, .seed = 42}, 16);
  std::vector<TokenId> tokens;
  for (int i = 0; i < 12; ++i) tokens.push_back(sampler.sample(Logits(16, 0.0f)));  // floor(16 · uniform)
  SplitMix64 random(42);
  for (const TokenId token : tokens) EXPECT_EQ(token, static_cast<TokenId>(random.uniform() * 16));
  EXPECT_EQ(tokens, (std::vector<TokenId>{11, 2, 4, 5, 0, 13, 3, 12, 5, 9, 3, 7}));
}

// A device draws in the same order, so the same random numbers give the same text.
TEST(Sampler, DrawsInTheOrderOfIds) {
  const Logits logits = logits_of({0.05, 0.4, 0.15, 0.1, 0.3});
  Sampling top_k = plain(1), top_p = plain(1);
  top_k.top_k = 3;     // 1, 2 and 4 with 0.4, 0.15 and 0.3 of 0.85
  top_p.top_p = 0.8f;  // the same
  for (const Sampling& options : {top_k, top_p}) {
    Sampler sampler(options, 5);
    SplitMix64 random(options.seed);
    for (int i = 0; i < 200; ++i) {
      const double share = random.uniform() * 0.85;
      EXPECT_EQ(sampler.sample(logits), share < 0.4 ? 1 : share < 0.55 ? 2 : 4) << share;
    }
  }
}

TEST(Sampler, TakesOneRandomNumberPerToken) {
  Sampler sampler({.temperature = 1, .top_p = 0.9f, .min_p = 0.1f, .seed = 3}, 4),
      greedy({.temperature = 0, .seed = 3}, 4);
  SplitMix64 random(3);
  sampler.sample(Logits{1, 2, 3, 4});
  greedy.sample(Logits{1, 2, 3, 4});
  const float first = random.uniform();
  EXPECT_EQ(greedy.uniform(), first);
  EXPECT_EQ(sampler.uniform(), random.uniform());
}

TEST(Sampler, NothingIsAllocatedAfterConstruction) {
  constexpr int kVocab = 1000;
  Logits logits(kVocab);
  for (int id = 0; id < kVocab; ++id) logits[id] = static_cast<float>(id * 7919 % 1000) / 100.0f;
  for (const float temperature : {0.0f, 0.8f}) {
    for (const int top_k : {0, 40}) {
      for (const int last_n : {-1, 64}) {
        Sampler sampler({.temperature = temperature,
                         .top_k = top_k,
                         .top_p = 0.95f,
                         .min_p = 0.05f,
                         .repeat_penalty = 1.1f,
                         .repeat_last_n = last_n,
                         .frequency_penalty = 0.1f},
                        kVocab);
        const size_t before = allocations_so_far();
        for (int i = 0; i < 100; ++i) sampler.accept(sampler.sample(logits));
        sampler.reset();
        EXPECT_EQ(allocations_so_far(), before);
      }
    }
  }
  EXPECT_GT(allocations_so_far(), 0u);  // checks that the counter works
}

TEST(SamplerDeathTest, RefusesOtherSizes) {
  Sampler sampler({}, 4);
  EXPECT_DEATH(sampler.sample(Logits(3)), "logits");
  EXPECT_DEATH(sampler.accept(4), "token");
  EXPECT_DEATH(Sampler({.top_p = 2}, 4), "check_sampling");
}

}  // namespace
}  // namespace tern
