#include "sample/logprobs.h"

#include <cmath>

#include "sample/sample_test_support.h"

namespace tern {
namespace {

using namespace sample_test;

std::vector<TokenId> ids_of(const std::vector<TokenLogprob>& top) {
  std::vector<TokenId> ids;
  for (const TokenLogprob& one : top) ids.push_back(one.token);
  return ids;
}

TEST(Logprobs, AreLogarithmsOfProbabilities) {
  const Logprobs got = log_probabilities(logits_of({0.1, 0.6, 0.05, 0.25}), 3, 2);
  EXPECT_NEAR(got.chosen, std::log(0.25), 1e-6);
  ASSERT_EQ(ids_of(got.top), (std::vector<TokenId>{1, 3}));
  EXPECT_NEAR(got.top[0].logprob, std::log(0.6), 1e-6);
  EXPECT_EQ(got.top[1].logprob, got.chosen);
}

TEST(Logprobs, TheChosenOneNeedNotBeAmongTheBest) {
  const Logits logits = logits_of({0.1, 0.6, 0.05, 0.25});
  EXPECT_TRUE(log_probabilities(logits, 2, 0).top.empty());
  EXPECT_NEAR(log_probabilities(logits, 2, 0).chosen, std::log(0.05), 1e-6);
  EXPECT_EQ(log_probabilities(logits, 2, 99).top.size(), 4u);
}

TEST(Logprobs, LargeLogitsTiesAndWhatIsNoNumber) {
  const Logprobs got = log_probabilities(Logits{kNan, 1e30f, 1e30f, -kInf}, 2, 4);
  EXPECT_NEAR(got.chosen, std::log(0.5), 1e-6);
  EXPECT_EQ(ids_of(got.top), (std::vector<TokenId>{1, 2, 3}));
  EXPECT_EQ(got.top[2].logprob, -kInf);
  EXPECT_EQ(log_probabilities(Logits{kNan, 0}, 0, 0).chosen, -kInf);
}

}  // namespace
}  // namespace tern
