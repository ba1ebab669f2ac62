// Prompts that end inside a word, and log probabilities, with scripted logits.
#include "engine/reply/prompt_healing.h"

#include <gtest/gtest.h>

#include "engine/session_core_test_support.h"

namespace tern {
namespace {

using namespace engine_test;

// A few tokens of several lengths; 0 is a stop token.
class WordTokenizer final : public Tokenizer {
 public:
  int vocab_size() const override { return static_cast<int>(kPieces.size()); }
  std::vector<TokenId> encode(std::string_view, const TokenizeOptions&) const override { return {}; }
  std::string_view piece(TokenId id, bool) const override { return kPieces.at(static_cast<size_t>(id)); }
  std::optional<TokenId> bos() const override { return std::nullopt; }
  const std::vector<TokenId>& stop_tokens() const override { return stops_; }
  std::optional<TokenId> find(std::string_view) const override { return std::nullopt; }

  static constexpr std::array<std::string_view, 9> kPieces = {"",    "The",   " cap", " capital", " city",
                                                              " of", " caps", " c",   "a"};

 private:
  std::vector<TokenId> stops_ = {0};
};
enum : TokenId { kThe = 1, kCap, kCapital, kCity, kOf, kCaps, kC, kA };

struct Healing {
  // `next[i]` is the most probable token after position i.
  explicit Healing(std::vector<TokenId> next, bool decodes = false) {
    fake::Script script{.n_vocab = tokenizer.vocab_size(), .next = std::move(next), .decodes = decodes};
    executable = fake::make_executable(std::move(script), log);
    core = std::make_unique<SessionCore>(Sequence::alone(*executable, 64, KvType::kF16).value(), &tokenizer,
                                         tokenizer.vocab_size());
  }
  GenerateResult generate(std::vector<TokenId> prompt, GenerateOptions options = {}) {
    options.sample.temperature = 0;
    options.heal_prompt = true;
    return core->generate(prompt, options, [&](std::string_view text) { shown += text; }, {}).value();
  }
  WordTokenizer tokenizer;
  fake::Log log;
  std::unique_ptr<Executable> executable;
  std::unique_ptr<SessionCore> core;
  std::string shown;
};

TEST(PromptHealing, TheLastTokenMayBecomeALongerOne) {
  for (const bool decodes : {false, true}) {
    Healing h({kCapital, kOf, 0}, decodes);
    const auto result = h.generate({kThe, kCap});
    EXPECT_EQ(result.text, "ital of");
    EXPECT_EQ(h.shown, result.text);
    EXPECT_EQ(result.tokens, (std::vector<TokenId>{kOf, 0}));  // the token that replaces kCap is not part of it
    EXPECT_EQ(result.stats.n_prompt, 2);
    ASSERT_GE(h.log.calls.size(), 2u);
    EXPECT_EQ(h.log.calls[0].tokens, (std::vector<TokenId>{kThe}));
    EXPECT_EQ(h.log.calls[0].n_best, 0);  // a token with this prefix need not be among the best
    EXPECT_EQ(h.log.calls[1].tokens, (std::vector<TokenId>{kCapital}));
  }
}

TEST(PromptHealing, OnlyAmongThoseThatBeginAsItDoes) {
  Healing h({kCity, kOf, 0});
  EXPECT_EQ(h.generate({kThe, kCap}).text, " of");  // the three logits are equal, so the lowest id wins: itself
  EXPECT_EQ(h.log.calls[1].tokens, (std::vector<TokenId>{kCap}));
}

TEST(PromptHealing, WhatCannotGoOnIsLeftAlone) {
  Healing whole({kCity, kOf, 0});
  EXPECT_EQ(whole.generate({kThe, kCity}).text, " of");
  EXPECT_EQ(whole.log.calls[0].tokens, (std::vector<TokenId>{kThe, kCity}));
  Healing alone({kCity, 0});
  EXPECT_EQ(alone.generate({kCap}).text, " city");                            // no token before it
  EXPECT_EQ(n_to_heal(std::vector<TokenId>{kThe, 0}, &whole.tokenizer), 0u);  // a control token
  EXPECT_EQ(n_to_heal(std::vector<TokenId>{kThe, kCap}, nullptr), 0u);
  EXPECT_EQ(n_to_heal(std::vector<TokenId>{kThe, kCap}, &whole.tokenizer), 1u);
  EXPECT_EQ(n_to_heal(std::vector<TokenId>{kCap}, &whole.tokenizer), 0u);
  EXPECT_EQ(n_to_heal(std::vector<TokenId>{}, &whole.tokenizer), 0u);
  Healing nothing({kCapital, kOf, 0});
  EXPECT_EQ(nothing.generate({kThe, kCap}, {.max_tokens = 0}).text, "");
}

// " c" and "a" spell " ca", which only " cap", " capital" and " caps" begin with.
TEST(PromptHealing, SeveralTokensMayBecomeOne) {
  Healing h({kCapital, kOf, 0});
  EXPECT_EQ(n_to_heal(std::vector<TokenId>{kThe, kC, kA}, &h.tokenizer), 2u);
  EXPECT_EQ(h.generate({kThe, kC, kA}).text, "pital of");
  EXPECT_EQ(h.log.calls[0].tokens, (std::vector<TokenId>{kThe}));
  EXPECT_EQ(h.log.calls[1].tokens, (std::vector<TokenId>{kCapital}));

  Healing as_it_was({kC, kOf, 0});
  EXPECT_EQ(as_it_was.generate({kThe, kC, kA}).text, "");
  EXPECT_EQ(as_it_was.log.calls[1].tokens, (std::vector<TokenId>{kC}));
  EXPECT_EQ(as_it_was.log.calls[2].tokens, (std::vector<TokenId>{kA}));
}

TEST(PromptHealing, TheSamePromptAgainReadsLittle) {
  Healing h({kOf, kCapital, kOf, 0});
  EXPECT_EQ(h.generate({kThe, kOf, kCap}).text, "ital of");
  const auto again = h.generate({kThe, kOf, kCap});
  EXPECT_EQ(again.text, "ital of");
  EXPECT_EQ(again.stats.n_reused, 1);
}

// With the same seed the text is the same with and without healing, if the last token stays the same.
TEST(PromptHealing, TheRepliesRandomNumbersStayTheSame) {
  int n_same = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto reply = [&](bool heals, Healing& h) {
      const GenerateOptions options{
          .max_tokens = 8, .sample = {.temperature = 5.0f, .seed = seed}, .ignore_eos = true, .heal_prompt = heals};
      return h.core->generate(std::vector<TokenId>{kThe, kCap}, options, {}, {}).value().tokens;
    };
    Healing healed({kCap, kOf, kCity}), plain({kCap, kOf, kCity});
    const auto tokens = reply(true, healed);
    if (healed.log.calls[1].tokens != std::vector<TokenId>{kCap}) continue;
    ++n_same;
    EXPECT_EQ(tokens, reply(false, plain)) << seed;
  }
  EXPECT_GT(n_same, 3);
  EXPECT_LT(n_same, 20);
}

TEST(GenerationLogprobs, OneForEachTokenAndTheSameTokens) {
  for (const bool decodes : {false, true}) {
    Healing h({kThe, kCity, kOf, 0}, decodes);
    const auto plain = h.generate({kThe, kThe, kThe});
    const auto told = h.generate({kThe, kThe, kThe}, {.n_logprobs = 2});
    EXPECT_EQ(told.tokens, plain.tokens);
    EXPECT_TRUE(plain.logprobs.empty());
    ASSERT_EQ(told.logprobs.size(), told.tokens.size());
    for (size_t i = 0; i < told.tokens.size(); ++i) {
      ASSERT_EQ(told.logprobs[i].top.size(), 2u);
      EXPECT_EQ(told.logprobs[i].top[0].token, told.tokens[i]);
      EXPECT_EQ(told.logprobs[i].top[0].logprob, told.logprobs[i].chosen);
      EXPECT_LT(told.logprobs[i].top[1].logprob, told.logprobs[i].chosen);
    }
  }
}

TEST(GenerationBias, IsAppliedWhereADeviceWouldChoose) {
  Healing h({kThe, kCity, kOf, 0}, /*decodes=*/true);
  const float never = -std::numeric_limits<float>::infinity();
  const auto result = h.generate({kThe, kThe, kThe}, {.max_tokens = 2, .logit_bias = {{kOf, never}, {0, never}}});
  EXPECT_EQ(result.tokens, (std::vector<TokenId>{kThe, kThe}));
  EXPECT_EQ(h.log.streams.size(), 1u);
  GenerateOptions outside{.logit_bias = {{99, 1.0f}}};
  EXPECT_EQ(h.core->begin(std::vector<TokenId>{kThe}, outside).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace tern
