#include "sample/mirostat.h"

#include <cmath>

namespace tern {

// The number of tokens at which a text by Zipf's law has the surprise `limit_`. Far from this law the formula has no
// value or an infinite one: then all tokens are kept.
size_t Mirostat::n_kept(double zipf_exponent) const {
  const double epsilon = zipf_exponent - 1, n = n_vocab_, most = std::exp2(static_cast<double>(limit_));
  const double ratio = epsilon == 0 ? most / std::log(n) : epsilon * most / (1 - std::pow(n, -epsilon));
  const double kept = std::pow(ratio, 1 / zipf_exponent);
  if (!(kept < n)) return static_cast<size_t>(n_vocab_);
  return kept < 1 ? 1 : static_cast<size_t>(kept);
}

TokenId Mirostat::choose(Candidates& candidates, float uniform) {
  if (version_ == 1) {
    candidates.keep_top_k(n_kept(candidates.zipf_exponent()));
  } else {
    candidates.limit_surprise(limit_);
  }
  const auto [token, probability] = candidates.draw(uniform);
  limit_ -= rate_ * (static_cast<float>(-std::log2(probability)) - target_);
  return token;
}

}  // namespace tern
