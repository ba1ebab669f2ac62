#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/checkout.h"
#include "tools/tools_test_support.h"

namespace tern {
namespace {

constexpr std::string_view kPassage =
    "Once upon a time, there was a little girl named Lily. She loved to play outside in the park with her dog. One "
    "day, she saw a big red ball in the grass.";

Engine load_or_die(const std::string& path, HeadKind head = HeadKind::kFile) {
  return Engine::load({.model_path = path, .backend = BackendKind::kCpu, .n_threads = 1, .head = head}).value();
}

TEST(EvalAgainst, AModelDoesNotDifferFromItself) {
  const Engine engine = load_or_die(kDefaultModel), again = load_or_die(kDefaultModel);
  const auto found = eval_against(engine, again, kPassage, {.n_ctx = 16});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->kl_mean, 0);
  EXPECT_EQ(found->kl_max, 0);
  EXPECT_EQ(found->same_top1, 1);
  const auto alone = eval(engine, kPassage, {.n_ctx = 16}).value();
  EXPECT_EQ(found->model.perplexity, alone.perplexity);
  EXPECT_EQ(found->reference.perplexity, alone.perplexity);
  EXPECT_EQ(found->model.n_tokens, alone.n_tokens);
}

// Checks the definition on a text of less than a window. The two models differ in their heads.
TEST(EvalAgainst, IsTheDivergenceFromTheReference) {
  const Engine packed = load_or_die(kDefaultModel, HeadKind::kQ6_K), own = load_or_die(kDefaultModel);
  const std::vector<TokenId> tokens = own.tokenizer().encode(kPassage);
  const auto p = probabilities(own, tokens, KvType::kF32), q = probabilities(packed, tokens, KvType::kF32);
  std::vector<double> divergences;
  double sum = 0, n_same = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    double divergence = 0;
    for (size_t token = 0; token < p[i].size(); ++token)
      divergence += p[i][token] * std::log(p[i][token] / q[i][token]);
    divergences.push_back(divergence);
    sum += divergence;
    n_same += std::ranges::max_element(p[i]) - p[i].begin() == std::ranges::max_element(q[i]) - q[i].begin() ? 1 : 0;
  }
  std::ranges::sort(divergences);
  const auto n = static_cast<double>(divergences.size());
  const auto found = eval_against(packed, own, kPassage, {.kv_type = KvType::kF32});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_GT(found->kl_mean, 1e-6);
  EXPECT_NEAR(found->kl_mean, sum / n, 1e-9);
  EXPECT_NEAR(found->kl_median, divergences[(divergences.size() + 1) / 2 - 1], 1e-9);
  EXPECT_NEAR(found->kl_99, divergences[static_cast<size_t>(std::ceil(0.99 * n)) - 1], 1e-9);
  EXPECT_NEAR(found->kl_max, divergences.back(), 1e-9);
  EXPECT_NEAR(found->same_top1, n_same / n, 1e-12);
  EXPECT_EQ(found->model.n_tokens, divergences.size());
  EXPECT_NE(found->model.perplexity, found->reference.perplexity);
  // The divergence is not symmetric: with the roles swapped it differs.
  const auto reversed = eval_against(own, packed, kPassage, {.kv_type = KvType::kF32}).value();
  EXPECT_NE(reversed.kl_mean, found->kl_mean);
  EXPECT_EQ(reversed.model.perplexity, found->reference.perplexity);
}

std::string refusal(const std::string& path, const EvalOptions& options = {}) {
  const auto found = eval_against(load_or_die(kDefaultModel), load_or_die(path), kPassage, options);
  EXPECT_FALSE(found);
  return found ? "" : found.error().message;
}

TEST(EvalAgainst, RefusesOtherVocabularies) {
  const std::string one("\1\0\0\0\0\0\0\0", 8);  // a string's length field
  const ChangedModel swapped(one + "!" + one + "\"", one + "\"" + one + "!");
  EXPECT_NE(refusal(swapped.str()).find("token 5 is '!' in "), std::string::npos) << refusal(swapped.str());
  EXPECT_NE(refusal(swapped.str()).find("but '\"' in " + swapped.str()), std::string::npos);
  const std::string key = "add_bos_token";
  const ChangedModel without_bos(key + std::string("\7\0\0\0\1", 5), key + std::string("\7\0\0\0\0", 5));
  EXPECT_NE(refusal(without_bos.str()).find("do not begin a text with the same token"), std::string::npos);
  const std::string other = source_path("tests/golden/bitnet/a_v2_tokenizer.gguf");
  EXPECT_NE(refusal(other, {.n_ctx = 16}).find("has 8192 tokens and 8192 logits, but " + other + " has "),
            std::string::npos)
      << refusal(other, {.n_ctx = 16});
}

TEST(EvalAgainst, Refusals) {
  const Engine engine = load_or_die(kDefaultModel);
  EXPECT_EQ(eval_against(engine, engine, "", {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(eval_against(engine, engine, kPassage, {.n_ctx = 3}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(eval_against(engine, engine, kPassage, {.n_ctx = 100000}).error().code, ErrorCode::kInvalidArgument);
  const SynthModel file;
  const Engine without_text = load_or_die(file.str());
  EXPECT_EQ(eval_against(without_text, engine, kPassage, {}).error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(eval_against(engine, without_text, kPassage, {}).error().code, ErrorCode::kNotSupported);
}

}  // namespace
}  // namespace tern
