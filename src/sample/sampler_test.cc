#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "sample/count_allocations.h"

namespace tern {
namespace {

using Logits = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// Options with every filter off.
SampleOptions plain(float temperature) { return {.temperature = temperature, .top_k = 0}; }

Logits logits_of(const std::vector<double>& probabilities) {
  Logits logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)) + 3.0f);
  return logits;
}

TokenId sample_once(const SampleOptions& options, const Logits& logits) {
  return Sampler(options, static_cast<int>(logits.size())).sample(logits);
}

std::vector<int> histogram(const SampleOptions& options, const Logits& logits, int n) {
  Sampler sampler(options, static_cast<int>(logits.size()));
  std::vector<int> counts(logits.size());
  for (int i = 0; i < n; ++i) ++counts[sampler.sample(logits)];
  return counts;
}

std::set<TokenId> tokens_seen(const SampleOptions& options, const Logits& logits) {
  const std::vector<int> counts = histogram(options, logits, 3000);
  std::set<TokenId> seen;
  for (size_t id = 0; id < counts.size(); ++id) {
    if (counts[id] > 0) seen.insert(static_cast<TokenId>(id));
  }
  return seen;
}

// Σ (observed − expected)² / expected. Under the right distribution it has mean n − 1 and variance 2(n − 1); with the
// seed fixed the test cannot flicker, and a bound of mean + 4 standard deviations refuses all but tiny errors.
void expect_distribution(const std::vector<int>& counts, const std::vector<double>& probabilities) {
  const int n = std::accumulate(counts.begin(), counts.end(), 0);
  double chi_square = 0;
  int freedom = -1;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (probabilities[i] == 0) {
      EXPECT_EQ(counts[i], 0) << "token " << i;
      continue;
    }
    const double expected = probabilities[i] * n;
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
    ++freedom;
  }
  EXPECT_LT(chi_square, freedom + 4 * std::sqrt(2.0 * freedom));
}

TEST(Greedy, GreatestLogit) {
  EXPECT_EQ(sample_once(plain(0), {1, 5, 3}), 1);
  EXPECT_EQ(sample_once(plain(0), {-3, -2, -1}), 2);
  EXPECT_EQ(sample_once(plain(0), {7}), 0);
}

TEST(Greedy, LowestIdOnTies) {
  EXPECT_EQ(sample_once(plain(0), {1, 5, 5, 5}), 1);
  EXPECT_EQ(sample_once(plain(0), {0.0f, -0.0f}), 0);
  EXPECT_EQ(sample_once(plain(0), {-kInf, -kInf}), 0);
}

TEST(Greedy, NanIsNeverChosen) {
  EXPECT_EQ(sample_once(plain(0), {kNan, -4, kNan, -3, kNan}), 3);
  EXPECT_EQ(sample_once(plain(0), {kNan, -kInf}), 1);
  EXPECT_EQ(sample_once(plain(0), {kNan, kNan}), 0);
  EXPECT_EQ(sample_once(plain(0), {kNan, kInf, kInf}), 1);
}

TEST(Greedy, IgnoresTheSeedAndTheFilters) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const SampleOptions options = {.temperature = 0, .top_k = 3, .top_p = 0.1f, .min_p = 0.9f, .seed = seed};
    EXPECT_EQ(sample_once(options, {1, 2, 2.001f, 1.999f, -8}), 2);
  }
}

TEST(Sampler, FollowsTheSoftmax) {
  const std::vector<double> p = {0.05, 0.4, 0.1, 0.15, 0.3};
  expect_distribution(histogram(plain(1), logits_of(p), 50000), p);
}

// p^(1/T), normalised.
TEST(Sampler, TemperatureSharpensAndFlattens) {
  const std::vector<double> p = {0.05, 0.4, 0.1, 0.15, 0.3};
  for (const float temperature : {0.5f, 2.0f}) {
    std::vector<double> expected;
    for (const double x : p) expected.push_back(std::pow(x, 1.0 / temperature));
    const double total = std::accumulate(expected.begin(), expected.end(), 0.0);
    for (double& x : expected) x /= total;
    expect_distribution(histogram(plain(temperature), logits_of(p), 50000), expected);
  }
}

TEST(Sampler, TinyTemperatureIsGreedy) {
  for (const float temperature : {1e-4f, 1e-30f, 1e-42f}) {
    EXPECT_EQ(tokens_seen(plain(temperature), {1, 3, 2.9f, -1}), (std::set<TokenId>{1})) << temperature;
  }
}

TEST(Sampler, SurvivesLargeLogits) {
  EXPECT_EQ(tokens_seen(plain(1), {3e38f, -3e38f, 0}), (std::set<TokenId>{0}));
  EXPECT_EQ(tokens_seen(plain(1), {1000, 1000, 0}), (std::set<TokenId>{0, 1}));
}

TEST(TopK, KeepsTheBestAndRenormalises) {
  const Logits logits = logits_of({0.05, 0.4, 0.1, 0.15, 0.3});
  SampleOptions options = plain(1);
  options.top_k = 2;
  expect_distribution(histogram(options, logits, 50000), {0, 4.0 / 7, 0, 0, 3.0 / 7});
  options.top_k = 3;
  expect_distribution(histogram(options, logits, 50000), {0, 8.0 / 17, 0, 3.0 / 17, 6.0 / 17});
}

TEST(TopK, Edges) {
  const Logits logits = logits_of({0.2, 0.1, 0.4, 0.3});
  for (const int k : {0, 4, 5, 1 << 30}) {
    SampleOptions options = plain(1);
    options.top_k = k;
    EXPECT_EQ(tokens_seen(options, logits).size(), 4u) << k;
  }
  SampleOptions one = plain(5);
  one.top_k = 1;
  EXPECT_EQ(tokens_seen(one, logits), (std::set<TokenId>{2}));
}

TEST(TopK, TiesKeepTheLowestIds) {
  SampleOptions options = plain(1);
  options.top_k = 3;
  EXPECT_EQ(tokens_seen(options, {1, 2, 1, 1, 2, 1}), (std::set<TokenId>{0, 1, 4}));
}

// Against a full sort, in every order of arrival.
TEST(TopK, AgreesWithSorting) {
  constexpr int kVocab = 5000;
  SplitMix64 random(5);
  for (const int order : {-1, 0, 1}) {  // falling, random, rising
    Logits logits(kVocab);
    for (float& x : logits) x = static_cast<float>(random.uniform());
    if (order != 0) std::ranges::sort(logits);
    if (order < 0) std::ranges::reverse(logits);
    std::vector<TokenId> ids(kVocab);
    std::iota(ids.begin(), ids.end(), 0);
    std::ranges::stable_sort(ids, [&](TokenId a, TokenId b) { return logits[a] > logits[b]; });
    SampleOptions options = plain(1000);  // flat: all of the candidates come up
    options.top_k = 50;
    const std::set<TokenId> expected(ids.begin(), ids.begin() + 50);
    EXPECT_EQ(tokens_seen(options, logits), expected) << order;
  }
}

TEST(TopP, KeepsTheSmallestSetWithTheShare) {
  const Logits logits = logits_of({0.05, 0.4, 0.1, 0.15, 0.3});  // in order: 1, 4, 3, 2, 0
  const std::map<float, std::set<TokenId>> expected = {
      {0.001f, {1}},      {0.39f, {1}},          {0.41f, {1, 4}},          {0.69f, {1, 4}},
      {0.71f, {1, 3, 4}}, {0.86f, {1, 2, 3, 4}}, {0.96f, {0, 1, 2, 3, 4}}, {1.0f, {0, 1, 2, 3, 4}},
  };
  for (const auto& [p, ids] : expected) {
    SampleOptions options = plain(1);
    options.top_p = p;
    EXPECT_EQ(tokens_seen(options, logits), ids) << p;
  }
}

TEST(TopP, RenormalisesWhatIsLeft) {
  SampleOptions options = plain(1);
  options.top_p = 0.6f;
  expect_distribution(histogram(options, logits_of({0.05, 0.4, 0.1, 0.15, 0.3}), 50000), {0, 4.0 / 7, 0, 0, 3.0 / 7});
}

TEST(TopP, TiesKeepTheLowestIds) {
  SampleOptions options = plain(1);
  options.top_p = 0.39f;
  EXPECT_EQ(tokens_seen(options, {2, 2, 2, 2, 2}), (std::set<TokenId>{0, 1}));
}

// After top-k the shares are those among the k: 0.4 of 0.7 is 0.57.
TEST(TopP, LooksAtSharesAmongTheTopK) {
  const Logits logits = logits_of({0.05, 0.4, 0.1, 0.15, 0.3});
  SampleOptions options = plain(1);
  options.top_k = 2;
  options.top_p = 0.5f;
  EXPECT_EQ(tokens_seen(options, logits), (std::set<TokenId>{1}));
  options.top_p = 0.6f;
  EXPECT_EQ(tokens_seen(options, logits), (std::set<TokenId>{1, 4}));
}

TEST(MinP, DropsBelowTheFractionOfTheBest) {
  const Logits logits = logits_of({0.05, 0.4, 0.1, 0.15, 0.3});  // of the best: 0.125, 1, 0.25, 0.375, 0.75
  const std::map<float, std::set<TokenId>> expected = {
      {0.0f, {0, 1, 2, 3, 4}},
      {0.12f, {0, 1, 2, 3, 4}},
      {0.13f, {1, 2, 3, 4}},
      {0.26f, {1, 3, 4}},
      {0.7f, {1, 4}},
      {0.8f, {1}},
      {1.0f, {1}},
  };
  for (const auto& [p, ids] : expected) {
    SampleOptions options = plain(1);
    options.min_p = p;
    EXPECT_EQ(tokens_seen(options, logits), ids) << p;
  }
}

TEST(MinP, OneKeepsAllOfTheBest) {
  SampleOptions options = plain(1);
  options.min_p = 1.0f;
  EXPECT_EQ(tokens_seen(options, {1, 2, 2, -3}), (std::set<TokenId>{1, 2}));
}

// The filters look at temperature 1: a high temperature does not bring dropped tokens back.
TEST(Sampler, TemperatureDoesNotChangeTheCandidates) {
  const Logits logits = logits_of({0.05, 0.4, 0.1, 0.15, 0.3});
  for (const float temperature : {0.9f, 50.0f}) {
    SampleOptions top_p = plain(temperature);
    top_p.top_p = 0.6f;
    EXPECT_EQ(tokens_seen(top_p, logits), (std::set<TokenId>{1, 4}));
    SampleOptions min_p = plain(temperature);
    min_p.min_p = 0.5f;
    EXPECT_EQ(tokens_seen(min_p, logits), (std::set<TokenId>{1, 4}));
  }
}

TEST(Sampler, NanAndInfinities) {
  for (const int k : {0, 2}) {
    SampleOptions options = plain(1);
    options.top_k = k;
    EXPECT_EQ(tokens_seen(options, {kNan, 1, kNan, 1.1f}), (std::set<TokenId>{1, 3}));
    EXPECT_EQ(tokens_seen(options, {kNan, kNan, kNan}), (std::set<TokenId>{0}));
    EXPECT_EQ(tokens_seen(options, {0, kInf, 5, -kInf}), (std::set<TokenId>{1}));
    EXPECT_EQ(tokens_seen(options, {0, kInf, 5, kInf}), (std::set<TokenId>{1, 3}));
    EXPECT_EQ(tokens_seen(options, {-kInf, 0, -kInf, 0.5f}), (std::set<TokenId>{1, 3}));
    EXPECT_EQ(tokens_seen(options, {-kInf, -kInf, kNan}), (std::set<TokenId>{0, 1}));
    options.top_p = 0.9f;
    options.min_p = 0.01f;
    EXPECT_EQ(tokens_seen(options, {0, kInf, 5, -kInf}), (std::set<TokenId>{1}));
    EXPECT_EQ(tokens_seen(options, {kNan, -kInf, 2, kNan}), (std::set<TokenId>{2}));
  }
}

TEST(RepeatPenalty, DividesPositiveAndMultipliesNegativeLogits) {
  SampleOptions options = plain(0);
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
  SampleOptions options = plain(0);
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
  SampleOptions options = plain(0);
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
  SampleOptions options = plain(0);
  options.repeat_penalty = 2.0f;
  for (const int last_n : {-1, 0}) {
    options.repeat_last_n = last_n;
    Sampler sampler(options, 3);
    sampler.accept(0);
    for (int i = 0; i < 1000; ++i) sampler.accept(2);
    EXPECT_EQ(sampler.sample(Logits{4.0f, 2.1f, 0.0f}), last_n == -1 ? 1 : 0);
  }
}

// The power overflows to infinity: a logit of 0 must not become NaN, and none may become more likely.
TEST(RepeatPenalty, ManyOccurrences) {
  SampleOptions options = plain(0);
  options.repeat_penalty = 10.0f;
  options.repeat_last_n = -1;
  Sampler sampler(options, 2);
  for (int i = 0; i < 1000; ++i) sampler.accept(0);
  EXPECT_EQ(sampler.sample(Logits{5.0f, 0.1f}), 1);
  EXPECT_EQ(sampler.sample(Logits{-0.1f, -50.0f}), 1);
  EXPECT_EQ(sampler.sample(Logits{0.0f, -1.0f}), 0);
}

// The penalty comes first, so it decides who is among the top k; and it shifts probabilities by the right amount.
TEST(RepeatPenalty, AppliesBeforeTopK) {
  SampleOptions options = plain(1);
  options.top_k = 2;
  options.repeat_penalty = 2.0f;
  Sampler sampler(options, 3);
  sampler.accept(0);
  std::vector<int> counts(3);
  for (int i = 0; i < 50000; ++i) ++counts[sampler.sample(Logits{3.0f, 2.0f, 1.8f})];  // penalised: 1.5, 2, 1.8
  const double total = std::exp(2.0) + std::exp(1.8);
  expect_distribution(counts, {0, std::exp(2.0) / total, std::exp(1.8) / total});
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
  const SampleOptions options = {.temperature = 1, .repeat_penalty = 1.1f, .seed = 17};
  Sampler first(options, 300);
  Sampler second(options, 300);
  SampleOptions changed = options;
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

// Pinned: a change of the random numbers or of the drawing changes everybody's seeded texts, and must be on purpose.
TEST(Determinism, TheSameOnEveryPlatform) {
  Sampler sampler({.temperature = 1, .top_k = 0, .seed = 42}, 16);
  std::vector<TokenId> tokens;
  for (int i = 0; i < 12; ++i) tokens.push_back(sampler.sample(Logits(16, 0.0f)));  // floor(16 · uniform)
  SplitMix64 random(42);
  for (const TokenId token : tokens) EXPECT_EQ(token, static_cast<TokenId>(random.uniform() * 16));
  EXPECT_EQ(tokens, (std::vector<TokenId>{11, 2, 4, 5, 0, 13, 3, 12, 5, 9, 3, 7}));
}

TEST(Sampler, NothingIsAllocatedAfterConstruction) {
  constexpr int kVocab = 5000;
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
                         .repeat_last_n = last_n},
                        kVocab);
        const size_t before = allocations_so_far();
        for (int i = 0; i < 200; ++i) sampler.accept(sampler.sample(logits));
        sampler.reset();
        EXPECT_EQ(allocations_so_far(), before);
      }
    }
  }
  EXPECT_GT(allocations_so_far(), 0u);  // the counter counts
}

TEST(SamplerDeathTest, RefusesOtherSizes) {
  Sampler sampler({}, 4);
  EXPECT_DEATH(sampler.sample(Logits(3)), "logits");
  EXPECT_DEATH(sampler.accept(4), "token");
  EXPECT_DEATH(Sampler({.top_p = 2}, 4), "check_sample_options");
}

}  // namespace
}  // namespace tern
