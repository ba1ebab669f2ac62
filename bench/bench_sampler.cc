// What choosing one token of a large vocabulary costs, with each of the sampler's steps.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "sample/sampler.h"

namespace tern {
namespace {

constexpr int kVocab = 150'000;

// As a language model's: a few large logits and a long tail of small ones.
std::vector<float> logits_of(uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<float> logits(kVocab);
  for (float& x : logits) x = -2 - 3 * std::log(random.uniform() + 1e-4f);
  return logits;
}

void BM_Sample(benchmark::State& state, Sampling options) {
  const std::vector<float> logits = logits_of(1);
  Sampler sampler(options, kVocab);
  for (int i = 0; i < 2000; ++i) sampler.accept_prompt((i * i) % 97);
  for (auto _ : state) sampler.accept(sampler.sample(logits));
}
BENCHMARK_CAPTURE(BM_Sample, greedy, {.temperature = 0});
BENCHMARK_CAPTURE(BM_Sample, default, {});
BENCHMARK_CAPTURE(BM_Sample, temperature, {.top_k = 0});
BENCHMARK_CAPTURE(BM_Sample, top_p, {.top_k = 0, .top_p = 0.95f});
BENCHMARK_CAPTURE(BM_Sample, top_k_and_repeat_penalty, {.repeat_penalty = 1.1f});
BENCHMARK_CAPTURE(BM_Sample, top_k_and_dry, {.dry_multiplier = 0.8f});
BENCHMARK_CAPTURE(BM_Sample, top_k_and_xtc, {.xtc_probability = 0.5f});
BENCHMARK_CAPTURE(BM_Sample, top_k_and_typical, {.typical_p = 0.9f});
BENCHMARK_CAPTURE(BM_Sample, typical, {.top_k = 0, .typical_p = 0.9f});
BENCHMARK_CAPTURE(BM_Sample, top_n_sigma, {.top_k = 0, .top_n_sigma = 1});
BENCHMARK_CAPTURE(BM_Sample, mirostat_1, {.mirostat = 1});
BENCHMARK_CAPTURE(BM_Sample, mirostat_2, {.mirostat = 2});

}  // namespace
}  // namespace tern
