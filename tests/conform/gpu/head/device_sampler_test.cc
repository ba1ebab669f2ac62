// Tokens chosen by the device compared with Sampler's, on any adapter.
#include "device_sampler_test_support.h"

namespace tern::gpu {
namespace {

// No limit falls between two of a few hundred ties, because the host would distinguish 180.000007 of them from 180.
const Sampling kEveryFilter[] = {
    {.temperature = 0.8f, .top_k = 0, .seed = 1},
    {.temperature = 0.8f, .top_k = 40, .seed = 2},
    {.temperature = 1.3f, .top_k = 1, .seed = 3},
    {.temperature = 1.0f, .top_k = 0, .top_p = 0.9f, .seed = 4},
    {.temperature = 0.7f, .top_k = 40, .top_p = 0.95f, .seed = 5},
    {.temperature = 1.5f, .top_k = 0, .min_p = 0.05f, .seed = 6},
    {.temperature = 1.5f, .top_k = 300, .top_p = 0.6017f, .min_p = 0.1f, .seed = 7},
    {.temperature = 0.05f, .top_k = 100000, .top_p = 0.9993f, .seed = 8},
    {.temperature = 5.0f, .top_k = 3, .top_p = 0.0001f, .seed = 9},
    {.temperature = 9.0f, .top_k = 0, .top_n_sigma = 1.03f, .seed = 10},
    {.temperature = 2.0f, .top_k = 200, .top_n_sigma = 2.01f, .seed = 11},
    {.temperature = 2.0f, .top_k = 0, .top_p = 0.7013f, .min_p = 0.01f, .top_n_sigma = 0.73f, .seed = 12},
    {.temperature = 1.0f, .top_k = 90, .top_p = 0.8017f, .top_n_sigma = 1.49f, .seed = 13},
};

TEST_F(DeviceSamplerTest, DrawsAsTheHostDoes) {
  for (const size_t n : {1u, 2u, 257u, 5000u}) {
    for (const float spread : {0.01f, 2.0f}) {
      const Logits logits = random_logits(n, n + 17, spread);
      Draws draws(*device, logits);
      for (const Sampling& options : kEveryFilter) expect_same(draws, logits, options);
    }
  }
}

// One program for rows with different filters, or greedy rows: each row gets its own tokens.
TEST_F(DeviceSamplerTest, RowsHaveOptionsAndNumbersOfTheirOwn) {
  constexpr size_t kWidth = 1500;
  const auto expect_rows = [&](const std::vector<Sampling>& rows) {
    Logits all;
    std::vector<Logits> logits;
    for (size_t row = 0; row < rows.size(); ++row) {
      logits.push_back(random_logits(kWidth, row + 40, row % 2 == 0 ? 2.0f : 0.02f));
      if (row % 3 == 0) logits.back()[row * 7 + 5] = kNan;
      all.insert(all.end(), logits.back().begin(), logits.back().end());
    }
    Draws draws(*device, all, true, rows.size());
    const auto found = draws.sampled(rows, 8);
    for (size_t row = 0; row < rows.size(); ++row) {
      Sampler host(rows[row], static_cast<int>(kWidth));
      for (size_t i = 0; i < found[row].size(); ++i) {
        EXPECT_EQ(found[row][i], host.sample(logits[row])) << "row " << row << " of " << rows.size() << " step " << i;
      }
    }
  };
  std::vector<Sampling> every(std::begin(kEveryFilter), std::end(kEveryFilter));
  const size_t n_random = every.size();
  every.push_back({.temperature = 0});
  every.push_back({.temperature = 0, .top_k = 7, .top_p = 0.5f, .min_p = 0.3f});
  expect_rows(every);
  expect_rows({every[0], every[3], every[5]});          // no row has a top-k
  expect_rows({every[1], every[0], every[2]});          // no row has a top-p
  expect_rows({every[0], every[5]});                    // neither
  expect_rows({every[n_random], every[n_random + 1]});  // only greedy rows
}

// Where thousands of tokens have nearly the same probability, the last bits of exp and of sums occasionally decide
// between neighbors.
TEST_F(DeviceSamplerTest, DrawsFromALargeVocabulary) {
  const Logits logits = random_logits(151'936, 5, 2.0f);
  Draws draws(*device, logits);
  for (const Sampling& options : kEveryFilter) expect_same(draws, logits, options, 8, 1);
}

TEST_F(DeviceSamplerTest, TiesGoToTheLowerId) {
  Logits logits(3000);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>((i * 7) % 5);
  Draws draws(*device, logits);
  for (const Sampling& options : kEveryFilter) expect_same(draws, logits, options);
  Logits flat(1000, -2.5f);
  Draws from_flat(*device, flat);
  for (const Sampling& options : kEveryFilter) expect_same(from_flat, flat, options);
  // Only the hundred lowest ids are kept.
  for (const TokenId token : from_flat.sampled({.temperature = 1, .top_k = 100, .seed = 3}, 64)) EXPECT_LT(token, 100);
  for (const TokenId token : from_flat.sampled({.temperature = 1, .top_k = 0, .top_p = 0.1f, .seed = 3}, 64)) {
    EXPECT_LE(token, 100);
  }
}

TEST_F(DeviceSamplerTest, MinusZeroIsZero) {
  Logits logits(200, -0.0f);
  for (size_t i = 100; i < 200; ++i) logits[i] = 0.0f;
  expect_same(logits, {.temperature = 1, .top_k = 30, .seed = 1});
}

TEST_F(DeviceSamplerTest, NeverChoosesNan) {
  Logits logits = random_logits(2000, 3, 2.0f);
  for (size_t i = 0; i < logits.size(); i += 3) logits[i] = i % 2 == 0 ? kNan : -kNan;
  for (size_t i = 1; i < logits.size(); i += 9) logits[i] = -kInf;
  Draws draws(*device, logits);
  for (const Sampling& options : kEveryFilter) expect_same(draws, logits, options);
  for (const TokenId token : draws.sampled({.temperature = 9, .top_k = 0, .seed = 4}, 64)) {
    EXPECT_FALSE(std::isnan(logits[static_cast<size_t>(token)]));
  }
}

TEST_F(DeviceSamplerTest, LogitsWithoutAnyFiniteOne) {
  for (const float all : {kNan, kInf, -kInf}) {
    Logits logits(300, all);
    Draws draws(*device, logits);
    for (const Sampling& options : kEveryFilter) expect_same(draws, logits, options);
  }
  Logits few = random_logits(300, 9, 1.0f);
  few[20] = few[77] = few[250] = kInf;
  Draws draws(*device, few);
  for (const Sampling& options : kEveryFilter) expect_same(draws, few, options);
}

TEST_F(DeviceSamplerTest, PeakedLogits) {
  Logits logits = random_logits(4000, 8, 1.0f);
  logits[3999] = 60;
  logits[1234] = 59.5f;
  Draws draws(*device, logits);
  for (const Sampling& options : kEveryFilter) expect_same(draws, logits, options);
}

TEST_F(DeviceSamplerTest, MinPIsAShareOfTheGreatest) {
  const Logits logits = random_logits(4000, 8, 0.01f);
  for (const size_t at : {0u, 2000u, 3999u}) {  // in the first, middle and last part of the vocabulary
    Logits peaked = logits;
    peaked[at] += 2;
    Draws draws(*device, peaked);
    EXPECT_EQ(draws.sampled({.temperature = 5, .top_k = 0, .min_p = 0.2f, .seed = 1}, 8),
              std::vector<TokenId>(8, static_cast<TokenId>(at)));
  }
}

TEST_F(DeviceSamplerTest, EveryTopK) {
  const Logits logits = random_logits(300, 21, 1.0f);
  Draws draws(*device, logits);
  for (int k = 1; k <= 302; k += 43) {
    expect_same(draws, logits, {.temperature = 2, .top_k = k, .seed = static_cast<uint64_t>(k)}, 8);
    expect_same(draws, logits, {.temperature = 2, .top_k = k, .top_p = 0.8f, .seed = static_cast<uint64_t>(k)}, 8);
  }
}

TEST_F(DeviceSamplerTest, SameWithoutSubgroups) {
  open({.validation = true, .without = {.subgroups = true, .default_limits = true}});
  const Logits logits = random_logits(5000, 4, 2.0f);
  Draws draws(*device, logits, false);
  for (const Sampling& options : kEveryFilter) expect_same(draws, logits, options, 4);
}

// Frequencies follow the softmax, over all tokens and over those that top-k keeps.
TEST_F(DeviceSamplerTest, FrequenciesAreTheProbabilities) {
  const std::vector<double> p = {0.3, 0.25, 0.05, 0.15, 0.2, 0.05};
  const Logits logits = sample_test::logits_of(p);
  Draws draws(*device, logits);
  const auto counts = [&](const Sampling& options) {
    std::vector<int> seen(p.size());
    for (const TokenId token : draws.sampled(options, 1000)) ++seen[static_cast<size_t>(token)];
    return seen;
  };
  sample_test::expect_distribution(counts({.temperature = 1, .top_k = 0, .seed = 11}), p);
  sample_test::expect_distribution(counts({.temperature = 1, .top_k = 3, .seed = 12}),
                                   {0.3 / 0.75, 0.25 / 0.75, 0, 0, 0.2 / 0.75, 0});
}

TEST_F(DeviceSamplerTest, GreedyIsTheGreatest) {
  for (const size_t n : {1u, 300u, 5000u}) {
    Logits logits = random_logits(n, n, 1.0f);
    if (n > 2) logits[n / 2] = logits[n - 1] = 100;
    const TokenId expected = Sampler({.temperature = 0}, static_cast<int>(n)).sample(logits);
    EXPECT_EQ(Draws(*device, logits).greedy(3), (std::vector<TokenId>(3, expected)));
  }
}

// It leaves large vocabularies to the host, and software drivers leave all but the greatest logit to it.
TEST_F(DeviceSamplerTest, LeavesToTheHostWhatItDoesBetter) {
  Draws draws(*device, Logits(10));
  KernelLibrary kernels(*device);
  const auto buffer = words({0}), tokens = words({0}), params = words({0});
  const auto chooses = [&](uint32_t n_vocab, bool serial, const DeviceSampling& sampling) {
    const auto sampler = DeviceSampler::create({.device = *device,
                                                .kernels = kernels,
                                                .caps = {},
                                                .n_vocab = n_vocab,
                                                .max_rows = 1,
                                                .logits = {buffer.get()},
                                                .tokens = *tokens,
                                                .params = *params,
                                                .serial = serial});
    EXPECT_TRUE(sampler) << sampler.error().message;
    return (*sampler)->choosing({&sampling, 1}).value() != nullptr;
  };
  const DeviceSampling greedy, by_chance{.temperature = 1};
  DeviceSampling changed;
  changed.changes = [](std::vector<LogitChange>&) {};
  EXPECT_TRUE(chooses(10, false, by_chance));
  EXPECT_FALSE(chooses(kMaxSampleVocab + 1, false, by_chance));
  EXPECT_TRUE(chooses(kMaxSampleVocab + 1, false, changed));
  EXPECT_TRUE(chooses(10, true, greedy));
  EXPECT_FALSE(chooses(10, true, by_chance));
  EXPECT_FALSE(chooses(10, true, changed));
}

}  // namespace
}  // namespace tern::gpu
