#include "sample/sampling.h"

#include <gtest/gtest.h>

namespace tern {
namespace {

TEST(SamplingOf, TakesWhatIsAskedThenWhatIsAdvisedThenTernsOwn) {
  const SampleOptions asked = {.temperature = 0, .min_p = 0.0f, .seed = 7};
  const SampleOptions advised = {.temperature = 0.5f, .top_k = 20, .min_p = 0.1f, .seed = 9};
  const Sampling all = sampling_of(merged(asked, advised));
  EXPECT_EQ(all.temperature, 0);  // 0 is a value, not a missing one
  EXPECT_EQ(all.min_p, 0);
  EXPECT_EQ(all.top_k, 20);
  EXPECT_EQ(all.top_p, 1);
  EXPECT_EQ(all.repeat_penalty, 1);
  EXPECT_EQ(all.repeat_last_n, 64);
  EXPECT_EQ(all.seed, 7u);
}

TEST(SamplingOf, PassesEveryNumberOn) {
  const SampleOptions every = {.temperature = 0.9f,
                               .top_k = 5,
                               .top_p = 0.8f,
                               .min_p = 0.2f,
                               .repeat_penalty = 1.3f,
                               .repeat_last_n = -1,
                               .presence_penalty = 0.1f,
                               .frequency_penalty = 0.2f,
                               .dry_multiplier = 0.3f,
                               .dry_base = 2,
                               .dry_allowed_length = 3,
                               .dry_penalty_last_n = 4,
                               .dry_sequence_breakers = std::vector<std::string>{"."},
                               .top_n_sigma = 1.5f,
                               .typical_p = 0.6f,
                               .xtc_probability = 0.4f,
                               .xtc_threshold = 0.15f,
                               .mirostat = 2,
                               .mirostat_tau = 4,
                               .mirostat_eta = 0.2f,
                               .samplers = "top_k",
                               .seed = 3};
  for (const Sampling& all : {sampling_of(every), sampling_of(merged({.seed = 3}, every))}) {
    EXPECT_EQ(all.temperature, 0.9f);
    EXPECT_EQ(all.top_k, 5);
    EXPECT_EQ(all.top_p, 0.8f);
    EXPECT_EQ(all.min_p, 0.2f);
    EXPECT_EQ(all.repeat_penalty, 1.3f);
    EXPECT_EQ(all.repeat_last_n, -1);
    EXPECT_EQ(all.presence_penalty, 0.1f);
    EXPECT_EQ(all.frequency_penalty, 0.2f);
    EXPECT_EQ(all.dry_multiplier, 0.3f);
    EXPECT_EQ(all.dry_base, 2);
    EXPECT_EQ(all.dry_allowed_length, 3);
    EXPECT_EQ(all.dry_penalty_last_n, 4);
    EXPECT_EQ(all.dry_sequence_breakers, std::vector<std::string>{"."});
    EXPECT_EQ(all.top_n_sigma, 1.5f);
    EXPECT_EQ(all.typical_p, 0.6f);
    EXPECT_EQ(all.xtc_probability, 0.4f);
    EXPECT_EQ(all.xtc_threshold, 0.15f);
    EXPECT_EQ(all.mirostat, 2);
    EXPECT_EQ(all.mirostat_tau, 4);
    EXPECT_EQ(all.mirostat_eta, 0.2f);
    EXPECT_EQ(all.samplers, "top_k");
    EXPECT_EQ(all.seed, 3u);
  }
}

}  // namespace
}  // namespace tern
