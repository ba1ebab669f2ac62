#include "sample/logprobs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tern {

Logprobs log_probabilities(std::span<const float> logits, TokenId token, int n_top) {
  constexpr float kImpossible = -std::numeric_limits<float>::infinity();
  const auto logit_of = [&](TokenId id) {
    const float logit = logits[static_cast<size_t>(id)];
    return std::isnan(logit) ? kImpossible : logit;
  };
  std::vector<TokenId> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto is_better = [&](TokenId a, TokenId b) {
    return logit_of(a) != logit_of(b) ? logit_of(a) > logit_of(b) : a < b;
  };
  const size_t n_shown = std::min(ids.size(), static_cast<size_t>(std::max(n_top, 0)));
  const size_t n_sorted = std::max<size_t>(n_shown, 1);
  std::ranges::partial_sort(ids, ids.begin() + static_cast<std::ptrdiff_t>(n_sorted), is_better);
  const double greatest = logit_of(ids.front());
  double sum = 0;
  for (const float logit : logits) {
    if (!std::isnan(logit)) sum += logit == greatest ? 1.0 : std::exp(logit - greatest);
  }
  const auto logprob_of = [&](TokenId id) {
    const float logit = logit_of(id);
    return static_cast<float>((logit == greatest ? 0.0 : logit - greatest) - std::log(sum));
  };
  Logprobs result = {.chosen = logprob_of(token), .top = {}};
  for (const TokenId id : std::span(ids).first(n_shown)) {
    if (!std::isnan(logits[static_cast<size_t>(id)])) result.top.push_back({id, logprob_of(id)});
  }
  return result;
}

}  // namespace tern
