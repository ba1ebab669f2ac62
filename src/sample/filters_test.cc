// Each filter against its definition, computed here from sorted probabilities in double precision.
#include <algorithm>

#include "sample/candidates.h"
#include "sample/mirostat.h"
#include "sample/sample_test_support.h"

namespace tern {
namespace {

using namespace sample_test;

struct Likely {
  TokenId id;
  double p;
};

// The probabilities of logits / temperature, most probable first.
std::vector<Likely> likely(const Logits& logits, double temperature = 1) {
  std::vector<Likely> all;
  double total = 0;
  for (size_t id = 0; id < logits.size(); ++id) {
    all.push_back({static_cast<TokenId>(id), std::exp(static_cast<double>(logits[id]) / temperature)});
    total += all.back().p;
  }
  for (Likely& one : all) one.p /= total;
  std::ranges::sort(all, std::greater<>(), &Likely::p);
  return all;
}

std::set<TokenId> ids_of(const std::vector<Likely>& all, size_t first, size_t end) {
  std::set<TokenId> ids;
  for (size_t i = first; i < end; ++i) ids.insert(all[i].id);
  return ids;
}

Logits random_logits(SplitMix64& random, size_t n, float spread) {
  Logits logits(n);
  for (float& x : logits) x = (random.uniform() + random.uniform() - 1) * spread;
  return logits;
}

// The tokens that a filter keeps.
template <class Filter>
std::set<TokenId> kept(const Logits& logits, const Filter& filter, float temperature = 1) {
  Candidates candidates;
  candidates.collect(logits);
  candidates.set_temperature(temperature);
  filter(candidates);
  std::set<TokenId> ids;
  candidates.change_logits([&](TokenId id, float logit) {
    ids.insert(id);
    return logit;
  });
  return ids;
}

// Runs `check` on random logits, flat ones and steep ones.
template <class Check>
void for_random_logits(const Check& check) {
  SplitMix64 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto n = 2 + static_cast<size_t>(random.uniform() * 60);
    const float spread = std::array{0.5f, 3.0f, 12.0f}[static_cast<size_t>(round % 3)];
    check(random_logits(random, n, spread), random.uniform());
    if (testing::Test::HasFailure()) FAIL() << "round " << round;
  }
}

TEST(TopNSigma, KeepsLogitsNearTheGreatest) {
  for_random_logits([](const Logits& logits, float share) {
    double mean = 0, variance = 0;
    for (const float x : logits) mean += x / static_cast<double>(logits.size());
    for (const float x : logits) variance += (x - mean) * (x - mean) / static_cast<double>(logits.size());
    const float n = 2 * share;
    std::set<TokenId> expected;
    for (size_t id = 0; id < logits.size(); ++id) {
      if (logits[id] >= *std::ranges::max_element(logits) - n * std::sqrt(variance)) {
        expected.insert(static_cast<TokenId>(id));
      }
    }
    EXPECT_EQ(kept(logits, [n](Candidates& c) { c.keep_top_n_sigma(n); }), expected);
  });
}

TEST(TopNSigma, ImpossibleTokensDoNotCount) {
  const Logits logits = {4, 3, 0, 1, -kInf, -kInf};  // of the four: mean 2, deviation √2.5
  EXPECT_EQ(kept(logits, [](Candidates& c) { c.keep_top_n_sigma(1.0f); }), (std::set<TokenId>{0, 1}));
  EXPECT_EQ(kept(logits, [](Candidates& c) { c.keep_top_n_sigma(2.0f); }), (std::set<TokenId>{0, 1, 3}));
  EXPECT_EQ(kept({1, kInf, 0, kInf}, [](Candidates& c) { c.keep_top_n_sigma(2.0f); }), (std::set<TokenId>{1, 3}));
}

TEST(Typical, KeepsTokensWhoseSurpriseIsNearTheEntropy) {
  for_random_logits([](const Logits& logits, float p) {
    if (p == 0) return;
    std::vector<Likely> all = likely(logits);
    double entropy = 0;
    for (const Likely& one : all) entropy -= one.p * std::log(one.p);
    std::ranges::sort(all, {}, [&](const Likely& one) { return std::abs(-std::log(one.p) - entropy); });
    double share = 0;
    size_t n = 0;
    while (n < all.size() && share < p) share += all[n++].p;
    EXPECT_EQ(kept(logits, [p](Candidates& c) { c.keep_typical(p); }), ids_of(all, 0, n));
  });
}

TEST(Typical, MayDropTheMostProbable) {
  const Logits logits = logits_of({0.6, 0.1, 0.1, 0.1, 0.1});  // entropy 1.23; surprises 0.51 and 2.30
  EXPECT_EQ(kept(logits, [](Candidates& c) { c.keep_typical(0.3f); }), std::set<TokenId>{0});
  const Logits others = logits_of({0.5, 0.26, 0.12, 0.12});  // entropy 1.21; surprises 0.69, 1.35, 2.12
  EXPECT_EQ(kept(others, [](Candidates& c) { c.keep_typical(0.2f); }), std::set<TokenId>{1});
}

TEST(Xtc, KeepsOnlyTheLeastProbableOfTheTopChoices) {
  for_random_logits([](const Logits& logits, float share) {
    const std::vector<Likely> all = likely(logits);
    const float threshold = share / 4;
    size_t n_top = 0;
    while (n_top < all.size() && all[n_top].p >= threshold) ++n_top;
    const std::set<TokenId> expected = ids_of(all, n_top < 2 ? 0 : n_top - 1, all.size());
    EXPECT_EQ(kept(logits, [=](Candidates& c) { c.drop_top_choices(threshold); }), expected);
  });
}

TEST(Xtc, RunsWithItsProbability) {
  Sampling options = plain(1);
  options.xtc_threshold = 0.2f;
  options.xtc_probability = 0.25f;
  const std::vector<int> counts = histogram(options, logits_of({0.44, 0.26, 0.22, 0.08}), 40000);
  const double alone = 0.25 / 0.3;  // the other times all four are there
  expect_distribution(counts, {0.75 * 0.44, 0.75 * 0.26, (0.75 + alone) * 0.22, (0.75 + alone) * 0.08});
  options.xtc_probability = 1;
  EXPECT_EQ(tokens_seen(options, logits_of({0.44, 0.26, 0.22, 0.08})), (std::set<TokenId>{2, 3}));
}

TEST(LimitOfSurprise, DropsWhatIsMoreSurprising) {
  for_random_logits([](const Logits& logits, float share) {
    const std::vector<Likely> all = likely(logits);
    const float bits = 8 * share;
    size_t n = 1;
    while (n < all.size() && -std::log2(all[n].p) <= bits) ++n;
    EXPECT_EQ(kept(logits, [bits](Candidates& c) { c.limit_surprise(bits); }), ids_of(all, 0, n));
  });
}

TEST(Filters, UseTheTemperature) {
  const Logits logits = logits_of({0.5, 0.25, 0.125, 0.125});
  EXPECT_EQ(kept(logits, [](Candidates& c) { c.drop_top_choices(0.3f); }), (std::set<TokenId>{0, 1, 2, 3}));
  // At temperature 2 the shares are those of the square roots: 0.37, 0.26, 0.18, 0.18.
  EXPECT_EQ(kept(logits, [](Candidates& c) { c.drop_top_choices(0.2f); }, 2), (std::set<TokenId>{1, 2, 3}));
}

// The least useful logits and the strictest values: a candidate always stays, and the best one where filters say so.
TEST(Filters, NeverDropTheLastCandidate) {
  const std::vector<Logits> all = {
      {0}, {0, 0, 0}, {kInf, kInf, 1}, {-kInf, -kInf}, {-kInf, 2, -kInf}, {3e38f, -3e38f, 0}, {kInf, -kInf}, {5, kNan}};
  for (const Logits& logits : all) {
    EXPECT_FALSE(kept(logits, [](Candidates& c) { c.keep_top_n_sigma(1e-30f); }).empty());
    EXPECT_FALSE(kept(logits, [](Candidates& c) { c.keep_typical(1e-30f); }).empty());
    EXPECT_FALSE(kept(logits, [](Candidates& c) { c.drop_top_choices(0); }).empty());
    EXPECT_FALSE(kept(logits, [](Candidates& c) { c.limit_surprise(-1e30f); }).empty());
    EXPECT_FALSE(kept(logits, [](Candidates& c) { c.keep_top_p(1e-30f), c.keep_min_p(1), c.keep_top_k(1); }).empty());
    for (const int version : {1, 2}) {
      Sampling options = plain(1);
      options.mirostat = version;
      options.mirostat_tau = 0;
      Sampler sampler(options, static_cast<int>(logits.size()));
      for (int i = 0; i < 20; ++i) EXPECT_FALSE(std::isnan(logits[static_cast<size_t>(sampler.sample(logits))]));
    }
  }
}

// One step of Mirostat as its paper has it. Draws as the sampler does, in the order of ids.
TokenId mirostat_step(int version, const Logits& logits, double tau, double eta, double uniform, double& mu) {
  std::vector<Likely> all = likely(logits);
  size_t n = 1;
  if (version == 1) {
    double products = 0, squares = 0;
    for (size_t i = 0; i + 1 < std::min<size_t>(all.size(), 100); ++i) {
      const double t = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
      products += t * std::log(all[i].p / all[i + 1].p);
      squares += t * t;
    }
    const double s = products / squares, e = s - 1, size = static_cast<double>(all.size());
    const double k = std::pow(e * std::pow(2, mu) / (1 - std::pow(size, -e)), 1 / s);
    n = static_cast<size_t>(std::clamp(k, 1.0, size));
  } else {
    while (n < all.size() && -std::log2(all[n].p) <= mu) ++n;
  }
  all.resize(n);
  double total = 0, sum = 0;
  for (const Likely& one : all) total += one.p;
  std::ranges::sort(all, {}, &Likely::id);
  for (const Likely& one : all) {
    sum += one.p / total;
    if (sum <= uniform) continue;
    mu -= eta * (-std::log2(one.p / total) - tau);
    return one.id;
  }
  return -1;
}

TEST(Mirostat, ChoosesWhatItsDefinitionSays) {
  for (const int version : {1, 2}) {
    const Sampling options = {.temperature = 1,
                              .top_k = 3,
                              .top_p = 0.1f,
                              .mirostat = version,
                              .mirostat_tau = 3,
                              .mirostat_eta = 0.2f,
                              .seed = 5};  // filters do not run
    constexpr int kManyTokens = 500;
    Sampler sampler(options, kManyTokens);
    SplitMix64 random(1), draws(options.seed);
    double mu = 6;
    for (int step = 0; step < 300; ++step) {
      const Logits logits = random_logits(random, kManyTokens, 10);
      const TokenId expected = mirostat_step(version, logits, 3, 0.2f, draws.uniform(), mu);
      ASSERT_EQ(sampler.sample(logits), expected) << version << ", step " << step;
      sampler.accept(expected);
    }
    EXPECT_EQ(sampler.uniform(), draws.uniform());
  }
}

// With the same logits again and again, the limit settles, and the average surprise is the entropy of the tokens.
TEST(Mirostat, KeepsTheSurpriseNearTheTarget) {
  constexpr int kManyTokens = 2000, kSteps = 5000;
  Logits zipf;
  for (int id = 0; id < kManyTokens; ++id) zipf.push_back(-1.1f * std::log(static_cast<float>(id + 1)));
  for (const int version : {1, 2}) {
    for (const float target : {2.0f, 3.0f, 4.0f}) {
      Sampling options = plain(1);
      options.mirostat = version;
      options.mirostat_tau = target;
      double entropy = 0;
      for (const int n : histogram(options, zipf, kSteps)) {
        const double share = static_cast<double>(n) / kSteps;
        if (n > 0) entropy -= share * std::log2(share);
      }
      EXPECT_NEAR(entropy, target, 0.15) << version;
    }
  }
}

TEST(Mirostat, ResetStartsAgain) {
  Sampling options = plain(1);
  options.mirostat = 2;
  Sampler sampler(options, 200);
  SplitMix64 random(2);
  const Logits logits = random_logits(random, 200, 8);
  const auto tokens = [&] {
    std::vector<TokenId> all(50);
    for (TokenId& token : all) token = sampler.sample(logits);
    return all;
  };
  const std::vector<TokenId> first = tokens();
  sampler.reset();
  EXPECT_EQ(tokens(), first);
}

}  // namespace
}  // namespace tern
