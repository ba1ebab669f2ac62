#include "engine/context.h"

#include <algorithm>

#include "engine/not_finite.h"

namespace tern {

size_t Context::keep_common(std::span<const TokenId> prompt) {
  const auto common = std::ranges::mismatch(prompt.first(prompt.size() - 1), tokens_);
  tokens_.erase(common.in2, tokens_.end());
  return tokens_.size();
}

Result<std::span<const float>> Context::append(std::span<const TokenId> tokens, WantLogits logits, int n_best) {
  const Batch batch{.tokens = tokens, .first_pos = n_used(), .logits = logits, .n_best = n_best};
  TRY(const auto rows, executable_.run(*cache_, batch));
  if (logits != WantLogits::kNone)
    TRY_STATUS(check_logits(rows, logits == WantLogits::kAll ? tokens.size() : 1, tokens));
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  return rows;
}

Result<void> Context::check_logits(std::span<const float> rows, size_t n_rows, std::span<const TokenId> tokens) {
  const size_t width = rows.size() / n_rows;
  for (size_t i = 0; i < n_rows; ++i) {
    if (can_choose_by(rows.subspan(i * width, width))) continue;
    std::vector<TokenId> all = tokens_;
    all.insert(all.end(), tokens.begin(), tokens.end());
    return explain_not_finite(executable_, *cache_, all);
  }
  return {};
}

Result<std::unique_ptr<TokenStream>> Context::decode(TokenId token, int n_tokens, const DeviceSampling& sampling) {
  return executable_.decode(*cache_, token, n_used(), n_tokens, sampling);
}

}  // namespace tern
