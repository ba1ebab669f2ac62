#include "sample/dry.h"

#include <array>

#include "sample/sample_test_support.h"

namespace tern {
namespace {

using namespace sample_test;

constexpr std::array<std::string_view, 7> kPieces = {"a", "b", "c", "\n", "x", "y", "xy"};
constexpr int kDryTokens = static_cast<int>(kPieces.size());

std::string_view piece_of(TokenId token) { return kPieces[static_cast<size_t>(token)]; }

Sampling dry(float multiplier, int allowed_length, int last_n, std::vector<std::string> breakers) {
  Sampling options = plain(0);
  options.dry_multiplier = multiplier;
  options.dry_base = 2;
  options.dry_allowed_length = allowed_length;
  options.dry_penalty_last_n = last_n;
  options.dry_sequence_breakers = std::move(breakers);
  return options;
}

DryPenalty after(const Sampling& options, const std::vector<TokenId>& tokens) {
  DryPenalty penalty(options, kDryTokens, piece_of);
  for (const TokenId token : tokens) penalty.add(token);
  penalty.update();
  return penalty;
}

// The definition: compares the end of the tokens with the tokens before each place.
float expected_penalty(const Sampling& options, const std::vector<TokenId>& all, TokenId next) {
  std::string text;
  std::vector<size_t> ends;
  for (const TokenId token : all) ends.push_back((text += piece_of(token)).size());
  size_t unbroken_from = 0;  // tokens after the last breaker
  for (const std::string& breaker : options.dry_sequence_breakers) {
    if (piece_of(next).contains(breaker)) return 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t begin = i == 0 ? 0 : ends[i - 1];
      const size_t at = text.substr(0, ends[i]).rfind(breaker);
      if (at != text.npos && at + breaker.size() > begin) unbroken_from = std::max(unbroken_from, i + 1);
    }
  }
  const size_t n = options.dry_penalty_last_n < 0
                       ? all.size()
                       : std::min(all.size(), static_cast<size_t>(options.dry_penalty_last_n));
  const std::vector<TokenId> window(all.end() - static_cast<std::ptrdiff_t>(n), all.end());
  const size_t limit = std::min(n, all.size() - unbroken_from);
  int longest = -1;
  for (size_t place = 0; place < n; ++place) {
    if (window[place] != next) continue;
    size_t length = 0;
    while (length < std::min(place, limit) && window[place - 1 - length] == window[n - 1 - length]) ++length;
    longest = std::max(longest, static_cast<int>(length));
  }
  // The first place has no token before it, so it extends nothing.
  if (n > 0 && longest == 0 && window[0] == next && std::count(window.begin() + 1, window.end(), next) == 0) return 0;
  if (longest < options.dry_allowed_length || static_cast<int>(limit) < options.dry_allowed_length) return 0;
  return options.dry_multiplier * static_cast<float>(std::pow(options.dry_base, longest - options.dry_allowed_length));
}

TEST(Dry, IsItsDefinition) {
  SplitMix64 random(3);
  const auto below = [&](size_t n) { return static_cast<size_t>(random.uniform() * static_cast<float>(n)); };
  int n_penalized = 0;
  for (int round = 0; round < 400; ++round) {
    const std::vector<std::vector<std::string>> breakers = {{}, {"\n"}, {"\n", "xy"}, {"cx"}};
    const Sampling options =
        dry(0.5f, static_cast<int>(below(4)), std::array{-1, 5, 20, 100}[below(4)], breakers[below(breakers.size())]);
    const size_t n_different = 2 + below(kDryTokens - 1);
    std::vector<TokenId> tokens(below(40));
    for (TokenId& token : tokens) token = static_cast<TokenId>(below(n_different));
    const DryPenalty penalty = after(options, tokens);
    for (TokenId next = 0; next < kDryTokens; ++next) {
      EXPECT_EQ(penalty.penalty(next), expected_penalty(options, tokens, next)) << "round " << round << ": " << next;
      n_penalized += penalty.penalty(next) > 0 ? 1 : 0;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(n_penalized, 400);
}

// a b c c b c y a b c: c would make 4 of 3, b 2 of 1, and y 3 of 2.
TEST(Dry, TheLongestRepetitionCounts) {
  const std::vector<TokenId> tokens = {0, 1, 2, 2, 1, 2, 5, 0, 1, 2};
  const DryPenalty penalty = after(dry(1, 2, -1, {}), tokens);
  EXPECT_EQ(penalty.penalty(2), 2);  // 2^(3 − 2)
  EXPECT_EQ(penalty.penalty(5), 1);
  EXPECT_EQ(penalty.penalty(1), 0);  // shorter than 2
  EXPECT_EQ(after(dry(1, 1, -1, {}), tokens).penalty(1), 1);
}

TEST(Dry, NoRepetitionReachesAcrossABreaker) {
  const std::vector<TokenId> tokens = {0, 1, 3, 2, 5, 0, 1, 3, 2};  // a b \n c y a b \n c
  EXPECT_EQ(after(dry(1, 1, -1, {}), tokens).penalty(5), 8);
  EXPECT_EQ(after(dry(1, 1, -1, {"\n"}), tokens).penalty(5), 1);  // only c
  EXPECT_EQ(after(dry(1, 2, -1, {"\n"}), tokens).penalty(5), 0);
  // x y is a breaker, whether it is one token or two.
  EXPECT_EQ(after(dry(1, 2, -1, {"xy"}), {0, 6, 0, 1, 5, 0, 4, 5, 0, 1}).penalty(5), 1);
  EXPECT_EQ(after(dry(1, 2, -1, {"xy"}), {4, 0, 1, 5, 4, 0, 1}).penalty(5), 2);
}

TEST(Dry, ABreakerIsNeverPenalized) {
  const std::vector<TokenId> tokens = {0, 1, 3, 0, 1};
  EXPECT_EQ(after(dry(1, 2, -1, {}), tokens).penalty(3), 1);
  EXPECT_EQ(after(dry(1, 2, -1, {"\n"}), tokens).penalty(3), 0);
}

TEST(Dry, LongRepetitionsStayFinite) {
  Sampling options = dry(3e38f, 1, -1, {});
  options.dry_base = 1000;
  EXPECT_EQ(after(options, std::vector<TokenId>(5000, 1)).penalty(1), std::numeric_limits<float>::max());
  Sampler sampler(options, 3);
  for (int i = 0; i < 100; ++i) sampler.accept(1);
  EXPECT_EQ(sampler.sample(Logits{0, kInf, 1}), 1);
}

TEST(Dry, PromptAndReplyCount) {
  Sampler sampler(dry(1, 2, -1, {"\n"}), kDryTokens, {}, piece_of);
  const Logits logits = {0, 0, 2.1f, 0, 0, 2.0f, 0};
  for (const TokenId token : {0, 1, 2, 5}) sampler.accept_prompt(token);
  EXPECT_EQ(sampler.sample(logits), 2);
  for (const TokenId token : {0, 1}) sampler.accept(token);
  EXPECT_EQ(sampler.sample(logits), 5);  // after a b there was c
  sampler.accept(3);
  EXPECT_EQ(sampler.sample(logits), 2);
  for (const TokenId token : {0, 1}) sampler.accept(token);
  EXPECT_EQ(sampler.sample(logits), 5);
  sampler.reset();
  for (const TokenId token : {0, 1}) sampler.accept(token);
  EXPECT_EQ(sampler.sample(logits), 2);
}

TEST(Dry, AWindowOfNoTokensPenalizesNothing) {
  EXPECT_TRUE(after(dry(1, 1, 0, {}), {0, 1, 0}).penalized().empty());
  EXPECT_FALSE(after(dry(1, 1, 3, {}), {0, 1, 0}).penalized().empty());
}

TEST(Dry, WhatWasPenalizedIsForgotten) {
  DryPenalty penalty = after(dry(1, 1, -1, {}), {0, 1, 0});
  EXPECT_EQ(penalty.penalty(1), 1);
  penalty.add(2);
  penalty.update();
  EXPECT_EQ(penalty.penalty(1), 0);
  EXPECT_TRUE(penalty.penalized().empty());
  for (const TokenId token : {0, 1, 2}) penalty.add(token);
  penalty.update();
  EXPECT_EQ(penalty.penalty(0), 1);
}

TEST(Dry, OffChangesNothing) {
  for (const Sampling& options : {dry(0, 2, -1, {}), dry(1, 2, 0, {})}) {
    Sampler sampler(options, 3);
    EXPECT_FALSE(sampler.changes_logits());
    EXPECT_EQ(sampler.n_best(), 1);
  }
  Sampler on(dry(1, 2, -1, {}), 3);
  EXPECT_TRUE(on.changes_logits());
  EXPECT_EQ(on.n_best(), 1);
}

}  // namespace
}  // namespace tern
