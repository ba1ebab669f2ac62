// Decoding on the GPU step by step, with other work and queries of a token's kernels in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "backend/gpu/device/device.h"
#include "support/checkout.h"
#include "tern/engine.h"
#include "tern/scheduler.h"

namespace tern {
namespace {

// Two layers of random weights: CPU drivers take a third of a second per token of the default model, which has ten.
const std::string kModel = source_path("tests/golden/bitnet/a_v2_tokenizer.gguf");
const std::string kRecurrent = source_path("tests/golden/families/qwen35.gguf");

class GpuToken : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  }

  // Without "serial", software drivers sample tokens on the device, as GPUs do.
  static Engine engine(std::vector<std::string> without = {}, const std::string& model = kModel) {
    without.emplace_back("serial");
    auto loaded = Engine::load({.model_path = model,
                                .backend = BackendKind::kWebGpu,
                                .n_threads = 1,
                                .gpu = {.validation = true, .without = std::move(without)}});
    EXPECT_TRUE(loaded) << loaded.error().message;
    return std::move(*loaded);
  }

  static std::vector<TokenId> prompt(const Engine& engine, std::string_view text) {
    return engine.tokenizer().encode(text);
  }
};

// Greedy and sampled tokens. The device chooses the first three, the last of them among changed logits, and the host
// the fourth.
const std::vector<SampleOptions> kWays = {{.temperature = 0},
                                          {.temperature = 0.9f, .seed = 7},
                                          {.temperature = 0.9f,
                                           .repeat_penalty = 1.1f,
                                           .dry_multiplier = 0.8f,
                                           .dry_allowed_length = 1,
                                           .dry_sequence_breakers = std::vector<std::string>(),
                                           .seed = 7},
                                          {.temperature = 0.9f, .samplers = "temperature;top_k", .seed = 7}};

GenerateOptions in_way(const SampleOptions& sample, int max_tokens) {
  return {.max_tokens = max_tokens, .sample = sample, .stop = {}, .ignore_eos = true};
}

// Takes one step. Returns true while there are more.
bool step(Generation& generation) {
  const auto done = generation.next();
  EXPECT_TRUE(done) << done.error().message;
  return done && !done->finish;
}

TEST_F(GpuToken, TwoSessionsTakeTurns) {
  const Engine gpu = engine();
  const auto a = prompt(gpu, "Once upon a time"), b = prompt(gpu, "The old bear was very");
  const auto &greedy = kWays[0], &by_chance = kWays[1], &changed = kWays[2], &on_host = kWays[3];
  for (const auto& [way_of_a, way_of_b] : {std::pair(by_chance, greedy),
                                           {by_chance, by_chance},
                                           {greedy, on_host},
                                           {changed, greedy},
                                           {by_chance, changed},
                                           {changed, changed}}) {
    const GenerateOptions options_a = in_way(way_of_a, 9), options_b = in_way(way_of_b, 6);
    const auto alone_a = gpu.new_session().value().generate(a, options_a).value();
    const auto alone_b = gpu.new_session().value().generate(b, options_b).value();
    Session session_a = gpu.new_session().value(), session_b = gpu.new_session({.n_ctx = 64}).value();
    Generation turns_a = session_a.begin(a, options_a).value(), turns_b = session_b.begin(b, options_b).value();
    for (int turn = 1; step(turns_a); ++turn) {
      if (turn % 2 == 0) step(turns_b);
    }
    while (step(turns_b)) {
    }
    EXPECT_EQ(turns_a.result().tokens, alone_a.tokens);
    EXPECT_EQ(turns_b.result().tokens, alone_b.tokens);
  }
}

// Replies of several lengths begin and end. Each is the same as alone, in whatever way its tokens are chosen.
TEST_F(GpuToken, RepliesTogetherAreAsTheyAreAlone) {
  const Engine gpu = engine();
  const std::vector<std::string_view> texts = {"Once upon a time", "The old bear was very", "One", "Tim and"};
  for (const bool host_chooses : {false, true}) {
    Scheduler scheduler = gpu.new_scheduler({.n_ctx = 64}).value();
    std::vector<std::vector<TokenId>> together(texts.size()), alone;
    const auto submit = [&](size_t i) {
      const GenerateOptions options = in_way(kWays[host_chooses && i == 1 ? 3 : i % 3], 8 + 3 * static_cast<int>(i));
      alone.push_back(gpu.new_session().value().generate(prompt(gpu, texts[i]), options).value().tokens);
      const auto keep = [&together, i](const Result<GenerationStep>& step, const GenerateResult& so_far) {
        ASSERT_TRUE(step) << step.error().message;
        together[i] = so_far.tokens;
      };
      ASSERT_TRUE(scheduler.submit(prompt(gpu, texts[i]), options, keep));
    };
    for (size_t i = 0; i < 3; ++i) submit(i);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(scheduler.step());
    submit(3);
    while (scheduler.step()) {
    }
    EXPECT_EQ(together, alone) << host_chooses;
  }
}

// A stream runs ahead of the tokens that are taken, and a state cannot forget tokens.
TEST_F(GpuToken, RecurrentLayersGoOnFromTheTokensTaken) {
  const Engine gpu = engine({}, kRecurrent);
  const std::vector<TokenId> prompt = {5, 60, 3, 41, 7};
  const auto alone = [&](std::span<const TokenId> tokens, const SampleOptions& way, int n) {
    return gpu.new_session().value().generate(tokens, in_way(way, n)).value().tokens;
  };
  for (const SampleOptions& way : kWays) {
    for (const int n : {1, 2, 5, 70}) {
      Session session = gpu.new_session().value();
      std::vector<TokenId> known = prompt;
      const auto first = session.generate(known, in_way(way, n)).value().tokens;
      ASSERT_EQ(std::ssize(first), n);
      known.insert(known.end(), first.begin(), first.end());
      known.push_back(11);
      const auto second = session.generate(known, in_way(way, 9)).value();
      EXPECT_EQ(second.stats.n_reused, std::ssize(known) - 2) << n;  // the reply's last token has not run
      EXPECT_EQ(second.tokens, alone(known, way, 9)) << n;
    }
  }
  Scheduler scheduler = gpu.new_scheduler({.n_ctx = 128}).value();
  std::vector<std::vector<TokenId>> together(4), apart;
  for (size_t i = 0; i < together.size(); ++i) {
    const std::vector<TokenId> text = {static_cast<TokenId>(i + 20), 3, 41, 7};
    const int n = 8 + 3 * static_cast<int>(i);
    apart.push_back(alone(text, kWays[i % 3], n));
    const auto keep = [&together, i](const Result<GenerationStep>& step, const GenerateResult& so_far) {
      ASSERT_TRUE(step) << step.error().message;
      together[i] = so_far.tokens;
    };
    ASSERT_TRUE(scheduler.submit(text, in_way(kWays[i % 3], n), keep));
  }
  while (scheduler.step()) {
  }
  EXPECT_EQ(together, apart);
}

// The second text's blocks are not in the prefix cache, because equal ones of the first are.
TEST_F(GpuToken, ConversationsWithRecurrentLayersMayBeAlike) {
  const Engine gpu = engine({}, kRecurrent);
  const std::vector<TokenId> prompt = {5, 60, 3, 41, 7};
  std::vector<Session> sessions;
  std::vector<std::vector<TokenId>> replies;
  for (int i = 0; i < 2; ++i) {
    sessions.push_back(gpu.new_session().value());
    replies.push_back(sessions.back().generate(prompt, in_way(kWays[0], 80)).value().tokens);
  }
  EXPECT_EQ(replies[0], replies[1]);
}

void look(const Engine& engine) {
  EXPECT_FALSE(engine.gpu_kernels().value().empty());
  EXPECT_TRUE(engine.gpu_stats());
}

TEST_F(GpuToken, ALookAtTheKernelsChangesNothing) {
  const Engine gpu = engine();
  const auto start = prompt(gpu, "Once upon a time");
  for (size_t i = 0; i < kWays.size(); ++i) {
    const SessionOptions options{.n_ctx = i == 0 ? static_cast<int>(start.size()) + 7 : 64};  // the first gets full
    std::vector<TokenId> plain, looked_at;
    for (const bool looks : {false, true}) {
      Session session = gpu.new_session(options).value();
      auto& tokens = looks ? looked_at : plain;
      tokens = start;
      for (const int n : {5, 7}) {
        Generation generation = session.begin(tokens, in_way(kWays[i], n)).value();
        for (int at = 0; step(generation); ++at) {
          if (looks && at == 2) look(gpu);
        }
        if (looks) look(gpu);
        tokens.insert(tokens.end(), generation.result().tokens.begin(), generation.result().tokens.end());
      }
    }
    EXPECT_EQ(looked_at, plain) << "way " << i;
  }
}

TEST_F(GpuToken, KernelsAreThoseOfTheTokenThatWasDecodedLast) {
  const Engine gpu = engine();
  EXPECT_TRUE(gpu.gpu_kernels().value().empty());
  const auto& features = gpu.info().adapter.value().features;
  const bool is_timed = std::ranges::contains(features, "timestamps");
  {
    Session session = gpu.new_session().value();
    for (const SampleOptions& way : kWays) {
      session.generate(prompt(gpu, "Once upon a time"), in_way(way, 5)).value();
      const auto kernels = gpu.gpu_kernels().value();
      std::set<std::string> texts;
      int dispatches = 0;
      for (const GpuKernel& kernel : kernels) {
        EXPECT_NE(kernel.wgsl.find("fn " + kernel.name), std::string::npos) << kernel.name;
        EXPECT_GE(kernel.dispatches, 1);
        EXPECT_EQ(kernel.us > 0, is_timed) << kernel.name;
        texts.insert(kernel.wgsl);
        dispatches += kernel.dispatches;
      }
      EXPECT_EQ(texts.size(), kernels.size());
      EXPECT_EQ(dispatches, gpu.gpu_stats().value().dispatches_per_token);
      const auto is_sampling = [](const GpuKernel& kernel) { return kernel.name.starts_with("sample"); };
      EXPECT_EQ(std::ranges::any_of(kernels, is_sampling), way.temperature > 0 && !way.samplers);
      // All layers use the same kernels.
      EXPECT_TRUE(std::ranges::any_of(kernels, [](const GpuKernel& kernel) { return kernel.dispatches >= 2; }));
    }
  }
  EXPECT_FALSE(gpu.gpu_kernels().value().empty());  // does not need the session, which is gone
}

// Log probabilities make the host choose. So it does for samplers that the device does not have.
TEST_F(GpuToken, TheDeviceChoosesAsTheHostDoes) {
  const Engine gpu = engine();
  const auto tokens_of = [&](const SampleOptions& way, bool on_device, bool with_logprobs = false) {
    GenerateOptions options = in_way(way, 24);
    if (with_logprobs) options.n_logprobs = 0;
    if (way.repeat_penalty) options.logit_bias = {{40, 2.5f}, {41, -1}};
    auto tokens = gpu.new_session().value().generate(prompt(gpu, "Once upon a time"), options).value().tokens;
    const auto kernels = gpu.gpu_kernels().value();
    const bool is_sampled = std::ranges::any_of(kernels, [](const GpuKernel& k) { return k.name == "sample_next"; });
    EXPECT_EQ(is_sampled, on_device);
    return tokens;
  };
  std::vector<SampleOptions> ways = {
      {.temperature = 0.9f, .top_p = 0.9f, .min_p = 0.01f},
      {.temperature = 2.0f, .top_k = 0, .top_n_sigma = 1.37f},
      {.temperature = 1.5f, .top_k = 9, .top_n_sigma = 2.03f},
      {.temperature = 0.6f, .repeat_penalty = 1.4f},
      {.temperature = 0.5f, .top_k = 5, .frequency_penalty = 0.7f},
      {.temperature = 0.4f, .top_k = 3, .dry_multiplier = 2, .dry_base = 2, .dry_allowed_length = 1},
      {.temperature = 1, .typical_p = 0.503f},
      {.temperature = 1.2f, .top_k = 30, .top_p = 0.97f, .xtc_probability = 0.5f, .xtc_threshold = 0.051f},
      {.frequency_penalty = 0.4f, .typical_p = 0.907f, .xtc_probability = 0.5f, .xtc_threshold = 0.021f}};
  for (size_t i = 0; i < ways.size(); ++i) {
    ways[i].seed = 11;
    EXPECT_EQ(tokens_of(ways[i], /*on_device=*/true), tokens_of(ways[i], /*on_device=*/false, /*with_logprobs=*/true))
        << "way " << i;
  }
  for (const SampleOptions& way : std::vector<SampleOptions>{{.temperature = 1, .mirostat = 1},
                                                             {.temperature = 1, .mirostat = 2},
                                                             {.temperature = 0.9f, .samplers = "temperature;top_k"}}) {
    EXPECT_EQ(tokens_of(way, /*on_device=*/false).size(), 24u);
  }
}

TEST_F(GpuToken, WhatComputesIsToldByFeature) {
  const Engine plain = engine({"f16", "subgroups", "subgroup-matrix", "dot4", "timestamps"});
  const GpuAdapter adapter = plain.info().adapter.value();
  EXPECT_FALSE(adapter.name.empty());
  EXPECT_TRUE(adapter.features.empty());
  EXPECT_EQ(plain.info().n_threads, 0);
  Session session = plain.new_session().value();
  session.generate(prompt(plain, "Once"), in_way({.temperature = 0}, 3)).value();
  for (const GpuKernel& kernel : plain.gpu_kernels().value()) EXPECT_EQ(kernel.us, 0) << kernel.name;

  const Engine cpu = Engine::load({.model_path = kModel, .backend = BackendKind::kCpu, .n_threads = 2}).value();
  EXPECT_FALSE(cpu.info().adapter);
  EXPECT_EQ(cpu.info().n_threads, 2);
  EXPECT_TRUE(cpu.gpu_kernels().value().empty());
}

}  // namespace
}  // namespace tern
