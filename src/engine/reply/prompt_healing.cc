#include "engine/reply/prompt_healing.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sample/sampler.h"

namespace tern {
namespace {

constexpr uint64_t kOwnSeed = 0x6865616c;  // an arbitrary constant that seeds of users are unlikely to differ by
constexpr size_t kMostTokens = 4;          // more tokens are unlikely to become one token

bool begins_another(std::string_view text, TokenId own, const Tokenizer& tokenizer) {
  for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
    if (id != own && tokenizer.piece(id).starts_with(text)) return true;
  }
  return false;
}

}  // namespace

std::string spelling(std::span<const TokenId> tail, const Tokenizer& tokenizer) {
  std::string text;
  for (const TokenId token : tail) text += tokenizer.piece(token);
  return text;
}

size_t n_to_heal(std::span<const TokenId> prompt, const Tokenizer* tokenizer) {
  if (!tokenizer || prompt.empty()) return 0;
  for (size_t n = std::min(prompt.size() - 1, kMostTokens); n > 0; --n) {
    const auto tail = prompt.last(n);
    const bool all_have_text = std::ranges::none_of(tail, [&](TokenId id) { return tokenizer->piece(id).empty(); });
    if (all_have_text && begins_another(spelling(tail, *tokenizer), tail.back(), *tokenizer)) return n;
  }
  return 0;
}

TokenId choose_healed(std::span<const float> logits, std::span<const TokenId> tail, const Tokenizer& tokenizer,
                      const Sampling& sampling) {
  const std::string text = spelling(tail, tokenizer);
  std::vector<float> allowed(logits.size(), -std::numeric_limits<float>::infinity());
  const auto n = std::min(static_cast<TokenId>(logits.size()), tokenizer.vocab_size());
  const auto may_be = [&](TokenId id) { return id == tail.front() || tokenizer.piece(id).starts_with(text); };
  for (TokenId id = 0; id < n; ++id) {
    if (may_be(id)) allowed[static_cast<size_t>(id)] = logits[static_cast<size_t>(id)];
  }
  const Sampling own = {.temperature = sampling.temperature,
                        .top_k = sampling.top_k,
                        .top_p = sampling.top_p,
                        .min_p = sampling.min_p,
                        .samplers = sampling.samplers,
                        .seed = sampling.seed ^ kOwnSeed};
  const TokenId chosen = Sampler(own, static_cast<int>(logits.size())).sample(allowed);
  return may_be(chosen) ? chosen : tail.front();  // if no logit is finite, the sampler may return any token
}

}  // namespace tern
