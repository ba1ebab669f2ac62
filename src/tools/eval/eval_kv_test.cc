#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tools/tools_test_support.h"

namespace tern {
namespace {

constexpr std::string_view kLilysDay =
    "Once upon a time, there was a little girl named Lily. She loved to play outside in the park with her dog. One "
    "day, she saw a big red ball in the grass. ";

Engine load_on_one_thread(const std::string& path) {
  return Engine::load({.model_path = path, .backend = BackendKind::kCpu, .n_threads = 1}).value();
}

// A text of about 37 tokens per repetition.
std::string passages(int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += kLilysDay;
  return text;
}

// The default model with another trained context in its metadata.
ChangedModel trained_for(int n_ctx) {
  const std::string key = "bitnet-b1.58.context_length" + std::string("\4\0\0\0", 4);
  const auto value = [](int n) {
    return std::string{static_cast<char>(n & 255), static_cast<char>(n >> 8), '\0', '\0'};
  };
  return {key + value(1024), key + value(n_ctx)};
}

std::vector<int> contexts_of(const KvDivergence& found) {
  std::vector<int> contexts;
  for (const auto& at : found.contexts) contexts.push_back(at.n_ctx);
  return contexts;
}

std::vector<std::string> left_out_of(const KvDivergence& found) {
  std::vector<std::string> left_out;
  for (const auto& [n_ctx, reason] : found.left_out) left_out.push_back(std::to_string(n_ctx) + ": " + reason);
  return left_out;
}

// Two engines, each with one cache type, have the same logits as one engine that alternates between both.
TEST(EvalKv, ComparesTheModelWithItself) {
  const Engine engine = load_on_one_thread(kDefaultModel);
  const std::string text = passages(3);
  const auto found = eval_kv(engine, text, KvType::kF16, {.n_ctx = 32, .kv_type = KvType::kQ8_0});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(contexts_of(*found), std::vector{32});
  EXPECT_TRUE(found->left_out.empty());
  const Divergence& divergence = found->contexts[0].divergence;
  const auto packed = eval(engine, text, {.n_ctx = 32, .kv_type = KvType::kQ8_0}).value();
  const auto halves = eval(engine, text, {.n_ctx = 32, .kv_type = KvType::kF16}).value();
  EXPECT_EQ(divergence.model.perplexity, packed.perplexity);
  EXPECT_EQ(divergence.reference.perplexity, halves.perplexity);
  EXPECT_EQ(divergence.model.n_tokens, packed.n_tokens);
  EXPECT_NE(packed.perplexity, halves.perplexity);
}

// Checks the definition on a text of less than a window.
TEST(EvalKv, IsTheDivergenceFromTheReference) {
  const Engine engine = load_on_one_thread(kDefaultModel);
  const std::vector<TokenId> tokens = engine.tokenizer().encode(kLilysDay);
  const auto p = probabilities(engine, tokens, KvType::kF32), q = probabilities(engine, tokens, KvType::kQ8_0);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    for (size_t token = 0; token < p[i].size(); ++token) sum += p[i][token] * std::log(p[i][token] / q[i][token]);
  }
  const auto found = eval_kv(engine, kLilysDay, KvType::kF32, {.n_ctx = 512, .kv_type = KvType::kQ8_0});
  ASSERT_TRUE(found) << found.error().message;
  const Divergence& divergence = found->contexts[0].divergence;
  EXPECT_GT(divergence.kl_mean, 1e-7);
  EXPECT_NEAR(divergence.kl_mean, sum / static_cast<double>(p.size()), 1e-9);
}

TEST(EvalKv, TakesTheContextsThatModelAndTextAllow) {
  const std::string text = passages(17);  // between 600 and 1,000 tokens
  const ChangedModel shorter = trained_for(512);
  const auto found = eval_kv(load_on_one_thread(shorter.str()), text, KvType::kF16, {.kv_type = KvType::kQ8_0});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(contexts_of(*found), std::vector{512});
  EXPECT_EQ(left_out_of(*found), std::vector<std::string>{"4096: the model was trained for 512 tokens"});

  const ChangedModel longer = trained_for(600);
  const auto both = eval_kv(load_on_one_thread(longer.str()), text, KvType::kF16, {.kv_type = KvType::kQ8_0});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(contexts_of(*both), (std::vector{512, 600}));
  EXPECT_EQ(left_out_of(*both), std::vector<std::string>{"4096: the model was trained for 600 tokens"});

  const ChangedModel long_one = trained_for(4096 + 512);
  const Engine engine = load_on_one_thread(long_one.str());
  const auto some = eval_kv(engine, text, KvType::kF16, {.kv_type = KvType::kQ8_0});
  ASSERT_TRUE(some) << some.error().message;
  const std::string n = std::to_string(engine.tokenizer().encode(text, {.add_bos = true}).size());
  EXPECT_EQ(contexts_of(*some), std::vector{512});
  EXPECT_EQ(left_out_of(*some),
            (std::vector<std::string>{"4096: the text has " + n + " tokens", "4608: the text has " + n + " tokens"}));
}

TEST(EvalKv, Refusals) {
  const Engine engine = load_on_one_thread(kDefaultModel);
  const auto refusal = [&](std::string_view text, int n_ctx) {
    return eval_kv(engine, text, KvType::kF16, {.n_ctx = n_ctx, .kv_type = KvType::kQ8_0}).error();
  };
  EXPECT_EQ(refusal(kLilysDay, 0).code, ErrorCode::kInvalidArgument);
  EXPECT_NE(refusal(kLilysDay, 0).message.find("no window of 512 tokens or more"), std::string::npos)
      << refusal(kLilysDay, 0).message;
  EXPECT_EQ(refusal(kLilysDay, 3).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(kLilysDay, 1025).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal("", 16).code, ErrorCode::kInvalidArgument);
  const SynthModel file;
  const auto found = eval_kv(load_on_one_thread(file.str()), kLilysDay, KvType::kF16, {.kv_type = KvType::kQ8_0});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNotSupported);
}

}  // namespace
}  // namespace tern
