// One call of Sampler::sample: greedy choice, softmax, filters. For the sampler's state see sampler_state_test.cc.
#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sample/sample_test_support.h"

namespace tern {
namespace {

using namespace sample_test;

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
    const Sampling options = {.temperature = 0, .top_k = 3, .top_p = 0.1f, .min_p = 0.9f, .seed = seed};
    EXPECT_EQ(sample_once(options, {1, 2, 2.001f, 1.999f, -8}), 2);
  }
}

// The search for the largest uses lanes and blocks; it must not miss a token in any of them.
TEST(Sampler, FindsTheBestAtEveryPosition) {
  Sampling top_1 = plain(1);
  top_1.top_k = 1;
  for (const int n_vocab : {1, 2, 15, 16, 17, 63, 64, 65, 150}) {
    for (TokenId best = 0; best < n_vocab; ++best) {
      Logits logits(n_vocab, -2.0f);
      logits[best] = -1.0f;
      ASSERT_EQ(sample_once(plain(0), logits), best) << n_vocab;
      ASSERT_EQ(sample_once(top_1, logits), best) << n_vocab;
    }
  }
}

TEST(Sampler, FollowsTheSoftmax) {
  const std::vector<double> p = {0.05, 0.4, 0.1, 0.15, 0.3};
  expect_distribution(histogram(plain(1), logits_of(p), 50000), p);
}

// p^(1/T), normalized.
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

TEST(TopK, KeepsTheBestAndRenormalizes) {
  const Logits logits = logits_of({0.05, 0.4, 0.1, 0.15, 0.3});
  Sampling options = plain(1);
  options.top_k = 2;
  expect_distribution(histogram(options, logits, 50000), {0, 4.0 / 7, 0, 0, 3.0 / 7});
  options.top_k = 3;
  expect_distribution(histogram(options, logits, 50000), {0, 8.0 / 17, 0, 3.0 / 17, 6.0 / 17});
}

TEST(TopK, Edges) {
  const Logits logits = logits_of({0.2, 0.1, 0.4, 0.3});
  for (const int k : {0, 4, 5, 1 << 30}) {
    Sampling options = plain(1);
    options.top_k = k;
    EXPECT_EQ(tokens_seen(options, logits).size(), 4u) << k;
  }
  Sampling one = plain(5);
  one.top_k = 1;
  EXPECT_EQ(tokens_seen(one, logits), (std::set<TokenId>{2}));
}

TEST(TopK, TiesKeepTheLowestIds) {
  Sampling options = plain(1);
  options.top_k = 3;
  EXPECT_EQ(tokens_seen(options, {1, 2, 1, 1, 2, 1}), (std::set<TokenId>{0, 1, 4}));
}

// Compared with a full sort, for every order of the tokens.
TEST(TopK, AgreesWithSorting) {
  constexpr int kVocab = 1000;
  SplitMix64 random(5);
  for (const int order : {-1, 0, 1}) {  // descending, random, ascending
    Logits logits(kVocab);
    for (float& x : logits) x = random.uniform();
    if (order != 0) std::ranges::sort(logits);
    if (order < 0) std::ranges::reverse(logits);
    std::vector<TokenId> ids(kVocab);
    std::iota(ids.begin(), ids.end(), 0);
    std::ranges::stable_sort(ids, [&](TokenId a, TokenId b) { return logits[a] > logits[b]; });
    Sampling options = plain(1000);  // flat, so that all candidates are drawn
    options.top_k = 20;
    const std::set<TokenId> expected(ids.begin(), ids.begin() + 20);
    EXPECT_EQ(tokens_seen(options, logits, 500), expected) << order;
  }
}

TEST(TopP, KeepsTheSmallestSetWithTheShare) {
  const Logits logits = logits_of({0.05, 0.4, 0.1, 0.15, 0.3});  // in order: 1, 4, 3, 2, 0
  const std::map<float, std::set<TokenId>> expected = {
      {0.001f, {1}},      {0.39f, {1}},          {0.41f, {1, 4}},          {0.69f, {1, 4}},
      {0.71f, {1, 3, 4}}, {0.86f, {1, 2, 3, 4}}, {0.96f, {0, 1, 2, 3, 4}}, {1.0f, {0, 1, 2, 3, 4}},
  };
  for (const auto& [p, ids] : expected) {
    Sampling options = plain(1);
    options.top_p = p;
    EXPECT_EQ(tokens_seen(options, logits), ids) << p;
  }
}

TEST(TopP, RenormalizesWhatIsLeft) {
  Sampling options = plain(1);
  options.top_p = 0.6f;
  expect_distribution(histogram(options, logits_of({0.05, 0.4, 0.1, 0.15, 0.3}), 50000), {0, 4.0 / 7, 0, 0, 3.0 / 7});
}

TEST(TopP, TiesKeepTheLowestIds) {
  Sampling options = plain(1);
  options.top_p = 0.39f;
  EXPECT_EQ(tokens_seen(options, {2, 2, 2, 2, 2}), (std::set<TokenId>{0, 1}));
}

// After top-k, shares are relative to the k tokens: 0.4 of 0.7 is 0.57.
TEST(TopP, LooksAtSharesAmongTheTopK) {
  const Logits logits = logits_of({0.05, 0.4, 0.1, 0.15, 0.3});
  Sampling options = plain(1);
  options.top_k = 2;
  options.top_p = 0.5f;
  EXPECT_EQ(tokens_seen(options, logits), (std::set<TokenId>{1}));
  options.top_p = 0.6f;
  EXPECT_EQ(tokens_seen(options, logits), (std::set<TokenId>{1, 4}));
}

TEST(MinP, DropsBelowTheFractionOfTheBest) {
  const Logits logits = logits_of({0.05, 0.4, 0.1, 0.15, 0.3});  // relative to the best: 0.125, 1, 0.25, 0.375, 0.75
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
    Sampling options = plain(1);
    options.min_p = p;
    EXPECT_EQ(tokens_seen(options, logits), ids) << p;
  }
}

TEST(MinP, OneKeepsAllOfTheBest) {
  Sampling options = plain(1);
  options.min_p = 1.0f;
  EXPECT_EQ(tokens_seen(options, {1, 2, 2, -3}), (std::set<TokenId>{1, 2}));
}

// The filters use temperature 1: a high temperature does not bring dropped tokens back.
TEST(Sampler, TemperatureDoesNotChangeTheCandidates) {
  const Logits logits = logits_of({0.05, 0.4, 0.1, 0.15, 0.3});
  for (const float temperature : {0.9f, 50.0f}) {
    Sampling top_p = plain(temperature);
    top_p.top_p = 0.6f;
    EXPECT_EQ(tokens_seen(top_p, logits), (std::set<TokenId>{1, 4}));
    Sampling min_p = plain(temperature);
    min_p.min_p = 0.5f;
    EXPECT_EQ(tokens_seen(min_p, logits), (std::set<TokenId>{1, 4}));
  }
}

TEST(Sampler, NanAndInfinities) {
  for (const int k : {0, 2}) {
    Sampling options = plain(1);
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

// Masks of several words, of which the last is not whole, beside a bias.
TEST(Greedy, TheGreatestOfTheTokensThatAreAllowed) {
  SplitMix64 random(7);
  for (const int n_vocab : {40, 64, 130, 200}) {
    const std::vector<LogitBias> biases = {{n_vocab / 2, 0.25f}, {n_vocab - 1, 0.5f}};
    Sampler sampler(plain(0), n_vocab, biases);
    for (int round = 0; round < 50; ++round) {
      std::vector<float> logits;
      for (int i = 0; i < n_vocab; ++i) logits.push_back(static_cast<float>(random.next() % 1000) / 1000);
      std::vector<uint64_t> allowed(static_cast<size_t>(n_vocab + 63) / 64);
      for (size_t word = 0; word < allowed.size(); ++word)
        allowed[word] = round % 7 == 0 && word == 0 ? 0 : round % 5 == 0 && word == 1 ? ~uint64_t{0} : random.next();
      TokenId best = -1;
      float most = -kInf;
      for (int i = 0; i < n_vocab; ++i) {
        float logit = logits[static_cast<size_t>(i)];
        for (const LogitBias& bias : biases) logit += bias.token == i ? bias.bias : 0;
        if ((allowed[static_cast<size_t>(i) / 64] >> (i % 64) & 1) != 0 && logit > most) most = logit, best = i;
      }
      if (best >= 0) EXPECT_EQ(sampler.sample(logits, allowed), best) << n_vocab << " tokens, round " << round;
    }
  }
}

}  // namespace
}  // namespace tern
