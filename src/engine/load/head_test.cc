// LoadOptions::head on the default model.
#include "engine/load/head.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/checkout.h"
#include "tern/engine.h"

namespace tern {
namespace {

const std::string kStoriesModel = source_path("models/tern-stories.gguf");
constexpr uint64_t kHeadBytes = 8192 * 512 * 2;

Engine load(HeadKind head, int n_threads = 2, BackendKind backend = BackendKind::kCpu) {
  return Engine::load({.model_path = kStoriesModel, .backend = backend, .n_threads = n_threads, .head = head}).value();
}

std::vector<TokenId> tokens_of(const Engine& engine, const SampleOptions& sample) {
  Session session = engine.new_session().value();
  const auto prompt = engine.tokenizer().encode("Once upon a time");
  return session.generate(prompt, {.max_tokens = 32, .sample = sample, .stop = {}, .ignore_eos = true}).value().tokens;
}

std::vector<float> logits_of(const Engine& engine) {
  Session session = engine.new_session().value();
  std::vector<float> all;
  EXPECT_TRUE(
      session.logits(engine.tokenizer().encode("Once upon a time there"), [&](size_t, std::span<const float> row) {
        all.insert(all.end(), row.begin(), row.end());
        return Result<void>();
      }));
  return all;
}

TEST(Head, TellsWhatItIs) {
  const ModelInfo file = load(HeadKind::kFile).info(), exact = load(HeadKind::kExact).info(),
                  q8 = load(HeadKind::kQ8_0).info(), q6 = load(HeadKind::kQ6_K).info();
  EXPECT_EQ(file.head, "F16");
  EXPECT_EQ(load(HeadKind::kAuto).info().head, "F16");  // too small for an int8 copy to pay off
  EXPECT_EQ(exact.head, "exact (int8 + F16)");
  EXPECT_EQ(q8.head, "Q8_0 (file: F16)");
  EXPECT_EQ(q6.head, "Q6_K (file: F16)");
  const uint64_t rest = file.bytes_per_token - kHeadBytes;
  EXPECT_EQ(exact.bytes_per_token - rest, 8192u * (512 + 3 * 4));
  EXPECT_EQ(q8.bytes_per_token - rest, 8192u * 512 / 32 * 34);
  EXPECT_EQ(q6.bytes_per_token - rest, 8192u * 512 / 512 * 448);  // 420 in a file; see cpu/linear/interleave.h
  EXPECT_EQ(q8.n_params, file.n_params);
}

TEST(Head, ExactWritesTheSameText) {
  const Engine file = load(HeadKind::kFile), exact = load(HeadKind::kExact), alone = load(HeadKind::kExact, 1),
               three = load(HeadKind::kExact, 3);
  std::vector<SampleOptions> all = {
      {.temperature = 0},
      {.temperature = 0, .repeat_penalty = 1.2f},
      {.temperature = 0, .repeat_penalty = 0.9f},
      {.temperature = 0.8f, .top_k = 40, .seed = 1},
      {.temperature = 0.8f, .top_k = 0, .seed = 1},
      {.temperature = 1.0f, .top_k = 1, .seed = 2},
      {.temperature = 1.5f, .top_k = 300, .top_p = 0.9f, .seed = 3},
      {.temperature = 1.0f, .top_k = 40, .min_p = 0.02f, .repeat_penalty = 1.3f, .repeat_last_n = -1, .seed = 4},
      {.temperature = 1.0f, .top_k = 5000, .seed = 5},
  };
  for (uint64_t seed = 10; seed < 14; ++seed) all.push_back({.temperature = 1.0f, .top_k = 20, .seed = seed});
  for (const SampleOptions& sample : all) {
    const std::vector<TokenId> expected = tokens_of(file, sample);
    for (const Engine* engine : {&exact, &alone, &three}) {
      ASSERT_EQ(tokens_of(*engine, sample), expected)
          << "top_k " << sample.top_k.value_or(-1) << ", seed " << sample.seed;
    }
  }
}

TEST(Head, ExactGivesAllLogitsWhereTheyAreAskedFor) {
  EXPECT_EQ(logits_of(load(HeadKind::kExact)), logits_of(load(HeadKind::kFile)));
}

// The logits differ slightly, as the matrix is re-encoded, but all backends use the same matrix.
TEST(Head, EncodedAnew) {
  const std::vector<float> file = logits_of(load(HeadKind::kFile));
  double power = 0;
  for (const float y : file) power += static_cast<double>(y) * y;
  for (const auto& [kind, most] : {std::pair{HeadKind::kQ8_0, 1e-4}, {HeadKind::kQ6_K, 1e-3}}) {
    const std::vector<float> cpu = logits_of(load(kind)), ref = logits_of(load(kind, 1, BackendKind::kRef));
    double off_file = 0, off_ref = 0;
    for (size_t i = 0; i < cpu.size(); ++i) {
      off_file += std::pow(static_cast<double>(cpu[i]) - file[i], 2);
      off_ref += std::pow(static_cast<double>(cpu[i]) - ref[i], 2);
    }
    EXPECT_GT(off_file / power, 0);
    EXPECT_LT(off_file / power, most);
    EXPECT_LT(off_ref / power, 1e-4);  // activations may round to a neighboring step, as in any layer
    EXPECT_EQ(logits_of(load(kind, 1)), cpu);
  }
}

TEST(Head, RefusesWhatCannotBe) {
  const auto on_ref =
      Engine::load({.model_path = kStoriesModel, .backend = BackendKind::kRef, .head = HeadKind::kExact});
  ASSERT_FALSE(on_ref);
  EXPECT_EQ(on_ref.error().code, ErrorCode::kNotSupported);
  EXPECT_NE(on_ref.error().message.find("use the cpu backend"), std::string::npos) << on_ref.error().message;
  for (const BackendKind backend : {BackendKind::kCpu, BackendKind::kWebGpu}) {
    EXPECT_EQ(exact_head_for(backend, HeadKind::kExact), ExactHead::kYes);
    EXPECT_EQ(exact_head_for(backend, HeadKind::kAuto), ExactHead::kWherePays);
    EXPECT_EQ(exact_head_for(backend, HeadKind::kFile), ExactHead::kNo);
  }
  EXPECT_EQ(exact_head_for(BackendKind::kRef, HeadKind::kAuto), ExactHead::kNo);

  const std::string packed = source_path("tests/golden/packed/qwen3_q4_0.gguf");
  const auto none = Engine::load({.model_path = packed, .backend = BackendKind::kCpu, .head = HeadKind::kExact});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotSupported);
  EXPECT_NE(none.error().message.find("qwen3_q4_0.gguf"), std::string::npos);
  EXPECT_NE(none.error().message.find("use the file's head"), std::string::npos) << none.error().message;
  EXPECT_TRUE(Engine::load({.model_path = packed, .backend = BackendKind::kCpu}));
}

}  // namespace
}  // namespace tern
