// Sampler::n_best: the logits that a backend may leave out.
#include <algorithm>

#include "sample/sample_test_support.h"

namespace tern {
namespace {

using namespace sample_test;

constexpr int kFewTokens = 60;

// Sets all logits below the n largest to −infinity, ignoring NaN.
Logits only_best(const Logits& logits, int n) {
  if (n == 0) return logits;
  Logits sorted;
  std::ranges::copy_if(logits, std::back_inserter(sorted), [](float x) { return !std::isnan(x); });
  std::ranges::sort(sorted, std::greater<>());
  const float least = sorted[std::min(sorted.size(), static_cast<size_t>(n)) - 1];
  Logits best = logits;
  for (float& x : best) x = x < least ? -kInf : x;
  return best;
}

TEST(NBest, TheRestDoesNotMatter) {
  SplitMix64 random(1);
  const auto below = [&](int n) { return static_cast<int>(random.uniform() * static_cast<float>(n)); };
  int n_limited = 0;
  for (int round = 0; round < 400; ++round) {
    const Sampling options{
        .temperature = below(3) == 0 ? 0.0f : 1.0f,
        .top_k = below(12),
        .top_p = below(2) == 0 ? 1.0f : 0.8f,
        .min_p = below(2) == 0 ? 0.0f : 0.05f,
        .repeat_penalty = std::array{1.0f, 1.3f, 4.0f, 0.7f}[static_cast<size_t>(below(4))],
        .repeat_last_n = std::array{-1, 0, 5, 40}[static_cast<size_t>(below(4))],
        .presence_penalty = std::array{0.0f, 0.0f, 2.0f, -1.0f}[static_cast<size_t>(below(4))],
        .frequency_penalty = std::array{0.0f, 0.0f, 0.5f, -1.0f}[static_cast<size_t>(below(4))],
        .dry_multiplier = below(6) == 0 ? 2.0f : 0.0f,
        .dry_allowed_length = below(3),
        .top_n_sigma = below(6) == 0 ? 1.5f : 0.0f,
        .typical_p = below(6) == 0 ? 0.7f : 1.0f,
        .xtc_probability = below(6) == 0 ? 0.5f : 0.0f,
        .mirostat = below(8) == 0 ? 1 + round % 2 : 0,
        .samplers = std::array{Sampling().samplers, Sampling().samplers, std::string("top_k;penalties;typ_p;dry;min_p"),
                               std::string("temperature;typ_p;top_k")}[static_cast<size_t>(below(4))],
        .seed = static_cast<uint64_t>(round)};
    std::vector<LogitBias> biases;
    for (int i = below(4); i > 0; --i) biases.push_back({below(kFewTokens), static_cast<float>(below(9) - 7)});
    Sampler full(options, kFewTokens, biases), best(options, kFewTokens, biases);
    for (int step = 0; step < 30; ++step) {
      Logits logits(kFewTokens);
      for (float& x : logits) x = static_cast<float>(below(40)) / 4 - 4;  // with ties and both signs
      if (below(4) == 0) logits[static_cast<size_t>(below(kFewTokens))] = kNan;
      ASSERT_EQ(best.n_best(), full.n_best());
      n_limited += best.n_best() > 0 ? 1 : 0;
      const TokenId expected = full.sample(logits);
      ASSERT_EQ(best.sample(only_best(logits, best.n_best())), expected) << "round " << round << ", step " << step;
      full.accept(expected);
      best.accept(expected);
    }
  }
  EXPECT_GT(n_limited, 2000);
}

TEST(NBest, CountsWhatAPenaltyLowers) {
  EXPECT_EQ(Sampler(plain(0), kFewTokens).n_best(), 1);
  EXPECT_EQ(Sampler({.temperature = 1, .top_k = 7}, kFewTokens).n_best(), 7);
  EXPECT_EQ(Sampler({.temperature = 1, .top_k = kFewTokens}, kFewTokens).n_best(), 0);
  EXPECT_EQ(Sampler(plain(1), kFewTokens).n_best(), 0);
  EXPECT_EQ(Sampler({.temperature = 0, .repeat_penalty = 0.9f}, kFewTokens).n_best(), 0);

  Sampler sampler({.temperature = 1, .top_k = 7, .repeat_penalty = 1.1f, .repeat_last_n = 3}, kFewTokens);
  EXPECT_EQ(sampler.n_best(), 7);
  for (const auto& [token, expected] : {std::pair{4, 8}, {4, 8}, {5, 9}, {6, 10}, {6, 9}, {6, 8}}) {
    sampler.accept(token);
    EXPECT_EQ(sampler.n_best(), expected) << token;
  }
  sampler.reset();
  EXPECT_EQ(sampler.n_best(), 7);

  Sampler reply({.temperature = 0, .frequency_penalty = 1}, kFewTokens, std::vector<LogitBias>{{3, -1.0f}});
  EXPECT_EQ(reply.n_best(), 2);
  reply.accept_prompt(4);
  EXPECT_EQ(reply.n_best(), 2);
  reply.accept(4);
  EXPECT_EQ(reply.n_best(), 3);
  EXPECT_EQ(reply.n_best(3), 9);
  Sampler dry({.temperature = 0, .dry_multiplier = 1, .dry_allowed_length = 2}, kFewTokens);
  for (const auto& [token, expected] : {std::pair{1, 1}, {2, 1}, {3, 1}, {1, 1}, {2, 2}, {4, 1}, {1, 1}, {2, 3}}) {
    dry.accept(token);
    EXPECT_EQ(dry.n_best(), expected) << token;  // 3, and then 4, too, would extend "1 2"
    EXPECT_EQ(dry.n_best(1), 0);
  }
  EXPECT_EQ(Sampler({.temperature = 0}, kFewTokens, std::vector<LogitBias>{{3, 0.5f}}).n_best(), 0);
  Sampler most({.temperature = 1, .top_k = 58, .repeat_penalty = 1.1f, .repeat_last_n = -1}, kFewTokens);
  most.accept(1);
  EXPECT_EQ(most.n_best(), 59);
  most.accept(2);
  EXPECT_EQ(most.n_best(), 0);
}

}  // namespace
}  // namespace tern
