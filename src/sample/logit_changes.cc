// The changes of logits as a list, for devices that sample.
#include <cmath>
#include <limits>

#include "sample/sampler.h"

namespace tern {

// Presence and frequency penalties come after the repetition penalty, so they are always `second`. DRY is `first` or
// `third`.
void Sampler::list_changes(std::vector<LogitChange>& changes) {
  changes.clear();
  if (places_.empty()) places_.resize(static_cast<size_t>(n_vocab_), -1);
  const auto of = [&](TokenId token) -> LogitChange& {
    int32_t& place = places_[token];
    if (place < 0) {
      place = static_cast<int32_t>(changes.size());
      changes.push_back({.token = token});
    }
    return changes[place];
  };
  for (const LogitBias& bias : biases_) of(bias.token).bias = bias.bias;
  if (forbids()) {
    for (const TokenId token : forbidden_) of(token).bias = -std::numeric_limits<float>::infinity();
  }
  bool is_penalized = false;
  for (const SamplerStep step : first_) {
    if (step == SamplerStep::kPenalties) {
      window_.for_each([&](TokenId token, int32_t n) { of(token).factor = repetition_factor(n); });
      for (const TokenId token : reply_tokens_) of(token).second = reply_penalty(token);
      is_penalized = true;
    } else {
      dry_->update();
      for (const TokenId token : dry_->penalized()) {
        LogitChange& change = of(token);
        (is_penalized ? change.third : change.first) = dry_->penalty(token);
      }
    }
  }
  for (const LogitChange& change : changes) places_[change.token] = -1;
}

}  // namespace tern
