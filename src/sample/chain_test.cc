// The order of the sampler's steps.
#include "sample/sample_test_support.h"

namespace tern {
namespace {

using namespace sample_test;

Sampling in_order(Sampling options, std::string samplers) {
  options.samplers = std::move(samplers);
  return options;
}

TEST(Samplers, AreReadByName) {
  using enum SamplerStep;
  const std::vector<SamplerStep> all = {kPenalties, kDry,  kTopNSigma, kTopK,       kTypicalP,
                                        kTopP,      kMinP, kXtc,       kTemperature};
  EXPECT_EQ(parse_samplers(Sampling().samplers).value(), all);
  EXPECT_EQ(parse_samplers("temp, typical_p,top_k;").value(), (std::vector{kTemperature, kTypicalP, kTopK}));
  EXPECT_EQ(parse_samplers("").value(), std::vector<SamplerStep>());
  EXPECT_EQ(parse_samplers("top_k;infill").error().message,
            "sample option samplers has 'infill', which is none of penalties, dry, top_n_sigma, top_k, typ_p, top_p, "
            "min_p, xtc, temperature");
  EXPECT_EQ(parse_samplers("top_k;temp;temperature").error().message, "sample option samplers has temperature twice");
  EXPECT_FALSE(parse_samplers("top_k;;temp"));
  EXPECT_FALSE(check_sampling(in_order({}, "top-k")));
}

TEST(Samplers, AStepThatIsNotListedDoesNotRun) {
  const Logits logits = logits_of({0.5, 0.3, 0.15, 0.05});
  const Sampling strict = {.temperature = 0.01f,
                           .top_k = 1,
                           .top_p = 0.1f,
                           .min_p = 1,
                           .repeat_penalty = 9,
                           .presence_penalty = 9,
                           .dry_multiplier = 9,
                           .top_n_sigma = 0.1f,
                           .typical_p = 0.1f,
                           .xtc_probability = 1,
                           .xtc_threshold = 0.01f};
  Sampling nothing = in_order(strict, "");
  Sampler sampler(nothing, 4);
  for (int i = 0; i < 50; ++i) sampler.accept(0);
  std::vector<int> counts(4);
  for (int i = 0; i < 20000; ++i) ++counts[static_cast<size_t>(sampler.sample(logits))];
  expect_distribution(counts, {0.5, 0.3, 0.15, 0.05});
  EXPECT_TRUE(sampler.is_plain());
  EXPECT_EQ(sampler.options().top_k, 0);
  EXPECT_EQ(sampler.options().temperature, 1);
  EXPECT_EQ(tokens_seen(in_order(strict, "top_k"), logits), std::set<TokenId>{0});
  nothing.temperature = 0;  // not listed either
  EXPECT_EQ(tokens_seen(nothing, logits).size(), 4u);
}

// Top-p 0.7 keeps the two of 0.5 and 0.3; at temperature 0.5 the shares are 0.69, 0.25, 0.06, 0.01.
TEST(Samplers, TheTemperatureCountsForWhatFollows) {
  const Logits logits = logits_of({0.5, 0.3, 0.15, 0.05});
  Sampling options = plain(0.5f);
  options.top_p = 0.68f;
  EXPECT_EQ(tokens_seen(options, logits), (std::set<TokenId>{0, 1}));
  EXPECT_EQ(tokens_seen(in_order(options, "temperature;top_p"), logits), std::set<TokenId>{0});
  const double a = 0.25, b = 0.09;  // squares
  expect_distribution(histogram(options, logits, 20000), {a / (a + b), b / (a + b), 0, 0});
}

TEST(Samplers, FiltersSeeWhatFiltersBeforeThemLeft) {
  const Logits logits = logits_of({0.4, 0.3, 0.2, 0.1});
  Sampling options = plain(1);
  options.xtc_probability = 1;
  options.xtc_threshold = 0.25f;
  options.min_p = 0.7f;
  EXPECT_EQ(tokens_seen(options, logits), std::set<TokenId>{1});                         // min-p keeps 0 and 1
  EXPECT_EQ(tokens_seen(in_order(options, "xtc;min_p"), logits), std::set<TokenId>{1});  // XTC keeps 1, 2 and 3
  options.min_p = 0.6f;                                                                  // of the best of those left
  EXPECT_EQ(tokens_seen(in_order(options, "xtc;min_p"), logits), (std::set<TokenId>{1, 2}));
  options.min_p = 0.5f;
  EXPECT_EQ(tokens_seen(in_order(options, "min_p;xtc"), logits), (std::set<TokenId>{1, 2}));
  EXPECT_EQ(tokens_seen(in_order(options, "xtc;min_p"), logits), (std::set<TokenId>{1, 2}));
  Sampling typical = plain(1);
  typical.typical_p = 0.25f;  // keeps 1 and 2
  typical.min_p = 0.39f;
  EXPECT_EQ(tokens_seen(in_order(typical, "typ_p;min_p"), logits_of({0.4, 0.16, 0.15, 0.15, 0.14})),
            (std::set<TokenId>{1, 2}));
  options.top_k = 2;
  EXPECT_EQ(tokens_seen(in_order(options, "xtc;top_k"), logits), (std::set<TokenId>{1, 2}));
  EXPECT_EQ(tokens_seen(in_order(options, "top_k;xtc"), logits), std::set<TokenId>{1});
}

TEST(Samplers, PenaltiesAfterAFilterChangeOnlyItsTokens) {
  Sampling options = plain(1);
  options.top_k = 2;
  options.repeat_penalty = 100;
  options.presence_penalty = 50;
  const Logits logits = {9, 8, 7};
  const auto seen_after_0 = [&](const std::string& samplers) {
    Sampler sampler(in_order(options, samplers), 3);
    sampler.accept(0);
    std::set<TokenId> seen;
    for (int i = 0; i < 300; ++i) seen.insert(sampler.sample(logits));
    return seen;
  };
  EXPECT_EQ(seen_after_0("penalties;top_k"), (std::set<TokenId>{1, 2}));
  EXPECT_EQ(seen_after_0("top_k;penalties"), std::set<TokenId>{1});
  options.repeat_penalty = 1;
  options.presence_penalty = 0;
  options.dry_multiplier = 50;
  options.dry_allowed_length = 0;  // only token 0 was there, behind nothing
  EXPECT_EQ(seen_after_0("top_k;dry"), (std::set<TokenId>{0, 1}));
}

TEST(Samplers, PenaltiesAfterTheTemperatureChangeLogitsThatItDivided) {
  Sampling options = in_order(plain(2), "temperature;penalties");
  options.presence_penalty = 0.7f;
  Sampler sampler(options, 2);
  sampler.accept(0);
  std::vector<int> counts(2);
  for (int i = 0; i < 20000; ++i) ++counts[static_cast<size_t>(sampler.sample(Logits{4, 3}))];
  const double a = std::exp(4 / 2.0 - 0.7), b = std::exp(3 / 2.0);
  expect_distribution(counts, {a / (a + b), b / (a + b)});
}

// (4 − 1) / 2 = 1.5 and 4 / 2 − 1 = 1 for a token that repeats itself.
TEST(Samplers, PenaltiesAndDryRunInTheirOrder) {
  Sampling options = plain(0);
  options.repeat_penalty = 2;
  options.repeat_last_n = 1;
  options.dry_multiplier = 1;
  options.dry_allowed_length = 1;
  for (const float other : {0.9f, 1.1f, 1.4f, 1.6f}) {
    Sampler usual(options, 2), changed(in_order(options, "dry;penalties;temperature"), 2);
    for (Sampler* sampler : {&usual, &changed}) {
      for (int i = 0; i < 2; ++i) sampler->accept(0);
    }
    EXPECT_EQ(usual.sample(Logits{4, other}), other > 1 ? 1 : 0);
    EXPECT_EQ(changed.sample(Logits{4, other}), other > 1.5f ? 1 : 0);
  }
}

TEST(Samplers, PlainOnesAreThoseOfTheUsualOrder) {
  const auto is_plain = [](const Sampling& options) { return Sampler(options, 100).is_plain(); };
  const Sampling all = {.top_k = 40, .top_p = 0.9f, .min_p = 0.1f, .top_n_sigma = 1};
  EXPECT_TRUE(is_plain(all));
  EXPECT_TRUE(is_plain(in_order(all, "top_k;min_p;temperature")));
  EXPECT_FALSE(is_plain(in_order(all, "temperature;top_k")));
  EXPECT_FALSE(is_plain(in_order(all, "top_k;top_n_sigma")));
  EXPECT_EQ(Sampler(in_order(all, "top_k"), 100).options().top_n_sigma, 0);
  EXPECT_FALSE(is_plain(in_order(all, "top_k;min_p;top_p;temperature")));
  for (const Sampling& options :
       {Sampling{.repeat_penalty = 2}, Sampling{.presence_penalty = 1}, Sampling{.dry_multiplier = 1}}) {
    EXPECT_TRUE(is_plain(options));
    EXPECT_TRUE(Sampler(options, 100).changes_logits());
    EXPECT_FALSE(is_plain(in_order(options, "temperature;penalties;dry")));
  }
  const Sampling dropping{.typical_p = 0.5f, .xtc_probability = 0.5f};
  EXPECT_TRUE(is_plain(dropping));
  EXPECT_FALSE(is_plain(in_order(dropping, "xtc;typ_p;temperature")));
  EXPECT_FALSE(is_plain(in_order(dropping, "temperature;xtc")));
  const Sampler without(in_order(dropping, "top_k;temperature"), 100);
  EXPECT_EQ(without.options().typical_p, 1);
  EXPECT_EQ(without.options().xtc_probability, 0);
  for (Sampling options : {Sampling{.mirostat = 1}, Sampling{.mirostat = 2}}) {
    EXPECT_FALSE(is_plain(options));
    options.temperature = 0;
    EXPECT_TRUE(is_plain(options));
  }
  // Values that only say how, and values that turn steps off.
  EXPECT_TRUE(is_plain({.dry_base = 3,
                        .dry_allowed_length = 7,
                        .top_n_sigma = 0,
                        .typical_p = 1,
                        .xtc_threshold = 0.3f,
                        .mirostat_tau = 1,
                        .mirostat_eta = 1}));
  EXPECT_TRUE(is_plain({.xtc_probability = 1, .xtc_threshold = 0.6f}));
}

TEST(Samplers, NumbersAreDrawnAsAnnounced) {
  for (const Sampling& options :
       {Sampling{.temperature = 0, .xtc_probability = 0.5f}, Sampling{.temperature = 1}, Sampling{.mirostat = 2},
        Sampling{.xtc_probability = 0.5f}, Sampling{.xtc_probability = 0.5f, .mirostat = 1}}) {
    Sampler sampler(options, 3);
    SplitMix64 random(options.seed);
    for (int i = 0; i < 20; ++i) sampler.sample(Logits{1, 2, 3});
    for (int i = 0; i < 20 * sampler.n_draws(); ++i) random.uniform();
    EXPECT_EQ(sampler.uniform(), random.uniform());
  }
}

// Where every token is a top choice, XTC keeps none that is forbidden.
TEST(Samplers, XtcWithoutAThresholdKeepsATokenThatIsPossible) {
  Sampling options = plain(1);
  options.xtc_probability = 1;
  options.xtc_threshold = 0;
  EXPECT_EQ(tokens_seen(options, {3, 2, 1, -kInf, -500}), std::set<TokenId>{2});
}

// The list of changes says what the sampler does itself.
TEST(ListedChanges, AreThoseOfTheSampler) {
  constexpr int kVocab = 12;
  const std::vector<LogitBias> biases = {{3, 1.5f}, {5, -kInf}, {11, -0.25f}};
  for (const char* order : {"penalties;dry;temperature", "dry;penalties;temperature"}) {
    for (const int last_n : {4, -1}) {
      Sampling options = in_order(plain(0), order);
      options.repeat_penalty = 1.7f;
      options.repeat_last_n = last_n;
      options.presence_penalty = 0.3f;
      options.frequency_penalty = -0.2f;
      options.dry_multiplier = 0.6f;
      options.dry_allowed_length = 1;
      options.dry_sequence_breakers = {};
      Sampler sampler(options, kVocab, biases), from_list(plain(0), kVocab);
      sampler.forbid_before(20, std::vector<TokenId>{7});
      SplitMix64 random(5);
      std::vector<LogitChange> changes;
      for (int i = 0; i < 300; ++i) {
        Logits logits(kVocab);
        for (float& logit : logits) logit = 6 * random.uniform() - 2;
        Logits listed = logits;
        sampler.list_changes(changes);
        for (const LogitChange& c : changes)
          listed[static_cast<size_t>(c.token)] = changed(listed[static_cast<size_t>(c.token)], c);
        const TokenId token = sampler.sample(logits);
        EXPECT_EQ(token, from_list.sample(listed)) << order << " token " << i;
        sampler.accept(token);
      }
    }
  }
}

TEST(ForbidBefore, HoldsUntilSoManyTokensAreAccepted) {
  Sampler sampler(plain(0), 4);
  sampler.forbid_before(2, std::vector<TokenId>{0, 2});
  EXPECT_TRUE(sampler.changes_logits());
  EXPECT_EQ(sampler.n_best(), 3);
  sampler.accept_prompt(3);  // does not count
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(sampler.sample(Logits{9, 1, 8, 2}), 3);
    sampler.accept(3);
  }
  EXPECT_EQ(sampler.sample(Logits{9, 1, 8, 2}), 0);
  EXPECT_FALSE(sampler.changes_logits());
  sampler.reset();
  EXPECT_EQ(sampler.sample(Logits{9, 1, 8, 2}), 3);
}

}  // namespace
}  // namespace tern
