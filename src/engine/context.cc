#include "engine/context.h"

#include <algorithm>

namespace tern {

size_t Context::keep_common(std::span<const TokenId> prompt) {
  const auto common = std::ranges::mismatch(prompt.first(prompt.size() - 1), tokens_);
  tokens_.erase(common.in2, tokens_.end());
  return tokens_.size();
}

Result<std::span<const float>> Context::append(std::span<const TokenId> tokens, WantLogits logits, int n_best) {
  const Batch batch{.tokens = tokens, .first_pos = n_used(), .logits = logits, .n_best = n_best};
  TRY(const auto rows, executable_.run(*cache_, batch));
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  return rows;
}

Result<std::unique_ptr<TokenStream>> Context::decode(TokenId token, int n_tokens, const DeviceSampling& sampling) {
  return executable_.decode(*cache_, token, n_used(), n_tokens, sampling);
}

}  // namespace tern
