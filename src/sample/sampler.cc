#include "sample/sampler.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/result.h"

namespace tern {
namespace {

// The window is allocated up front, so it must not be a typing error's size.
constexpr int kMaxRepeatLastN = 1 << 20;

Result<void> check_range(const char* name, float value, bool is_inside, const char* range) {
  if (is_inside) return {};
  return fail(ErrorCode::kInvalidArgument, "sample option {} is {}: it must be {}", name, value, range);
}

}  // namespace

Result<void> check_sample_options(const SampleOptions& o) {
  const auto finite_from_0 = [](float x) { return std::isfinite(x) && x >= 0; };
  TRY_STATUS(check_range("temperature", o.temperature, finite_from_0(o.temperature), "a number from 0 up"));
  TRY_STATUS(check_range("top_p", o.top_p, o.top_p > 0 && o.top_p <= 1, "above 0 and at most 1"));
  TRY_STATUS(check_range("min_p", o.min_p, o.min_p >= 0 && o.min_p <= 1, "from 0 to 1"));
  const bool penalty_is_valid = std::isfinite(o.repeat_penalty) && o.repeat_penalty > 0;
  TRY_STATUS(check_range("repeat_penalty", o.repeat_penalty, penalty_is_valid, "a number above 0"));
  if (o.top_k < 0) {
    return fail(ErrorCode::kInvalidArgument, "sample option top_k is {}: it must be 0 (all tokens) or above", o.top_k);
  }
  if (o.repeat_last_n < -1 || o.repeat_last_n > kMaxRepeatLastN) {
    return fail(ErrorCode::kInvalidArgument,
                "sample option repeat_last_n is {}: it must be from 0 to {}, or -1 for all", o.repeat_last_n,
                kMaxRepeatLastN);
  }
  return {};
}

Sampler::Sampler(const SampleOptions& options, int n_vocab)
    : options_(options),
      n_vocab_(n_vocab),
      uses_penalty_(options.repeat_penalty != 1.0f && options.repeat_last_n != 0),
      random_(options.seed) {
  CHECK(check_sample_options(options).has_value());
  CHECK(n_vocab >= 1);
  if (options_.temperature > 0) {
    const bool is_limited = options_.top_k > 0 && options_.top_k < n_vocab;
    candidates_.reserve(is_limited ? options_.top_k : n_vocab);
  }
  if (uses_penalty_) {
    counts_.resize(n_vocab);
    if (options_.repeat_last_n > 0) window_.resize(options_.repeat_last_n);
  }
}

void Sampler::reset() {
  random_ = SplitMix64(options_.seed);
  std::ranges::fill(counts_, 0);
  window_next_ = 0;
  window_used_ = 0;
}

void Sampler::accept(TokenId token) {
  CHECK(token >= 0 && token < n_vocab_);
  if (!uses_penalty_) return;
  ++counts_[token];
  if (window_.empty()) return;
  if (window_used_ == window_.size()) {
    --counts_[window_[window_next_]];
  } else {
    ++window_used_;
  }
  window_[window_next_] = token;
  window_next_ = (window_next_ + 1) % window_.size();
}

float Sampler::penalised(TokenId id, float logit) const {
  if (!uses_penalty_ || counts_[id] == 0 || logit == 0) return logit;  // 0 stays 0, even where the power overflows
  const float factor = std::pow(options_.repeat_penalty, static_cast<float>(counts_[id]));
  return logit > 0 ? logit / factor : logit * factor;
}

TokenId Sampler::sample(std::span<const float> logits) {
  CHECK(logits.size() == static_cast<size_t>(n_vocab_));
  if (options_.temperature == 0) return sample_greedy(logits);
  collect(logits);
  if (candidates_.empty()) return 0;
  if (options_.top_p < 1) keep_top_p();
  if (options_.min_p > 0) keep_min_p();
  set_weights(options_.temperature);
  return draw();
}

TokenId Sampler::sample_greedy(std::span<const float> logits) const {
  TokenId best = -1;
  float best_logit = 0;
  for (TokenId id = 0; id < n_vocab_; ++id) {
    const float logit = penalised(id, logits[id]);
    // Comparing with NaN is false, so only the first candidate needs a look of its own.
    if (best < 0 ? !std::isnan(logit) : logit > best_logit) {
      best = id;
      best_logit = logit;
    }
  }
  return std::max(best, 0);
}

// The order of choice: greater logit, then lower id. As a heap's comparison it keeps the worst in front.
bool Sampler::is_better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

void Sampler::collect(std::span<const float> logits) {
  candidates_.clear();
  if (options_.top_k > 0 && options_.top_k < n_vocab_) {
    collect_top_k(logits);
  } else {
    for (TokenId id = 0; id < n_vocab_; ++id) {
      const float logit = penalised(id, logits[id]);
      if (!std::isnan(logit)) candidates_.push_back({logit, id, 0});
    }
  }
  if (!candidates_.empty()) greatest_ = std::ranges::min(candidates_, is_better).logit;
}

// A heap of the k best so far, the worst of them in front. Most tokens of a large vocabulary cost one comparison.
void Sampler::collect_top_k(std::span<const float> logits) {
  const auto k = static_cast<size_t>(options_.top_k);
  for (TokenId id = 0; id < n_vocab_; ++id) {
    const Candidate candidate = {penalised(id, logits[id]), id, 0};
    if (std::isnan(candidate.logit)) continue;
    if (candidates_.size() < k) {
      candidates_.push_back(candidate);
      std::ranges::push_heap(candidates_, is_better);
    } else if (is_better(candidate, candidates_.front())) {
      std::ranges::pop_heap(candidates_, is_better);
      candidates_.back() = candidate;
      std::ranges::push_heap(candidates_, is_better);
    }
  }
}

// exp((logit − greatest) / temperature). The greatest are 1 by definition, for the difference of two infinities is NaN.
void Sampler::set_weights(float temperature) {
  for (Candidate& c : candidates_) {
    c.weight = c.logit == greatest_ ? 1.0f : std::exp((c.logit - greatest_) / temperature);
  }
}

// Takes the best from a heap until they have their share, so that only as much gets sorted as is kept.
void Sampler::keep_top_p() {
  set_weights(1.0f);
  double total = 0;
  for (const Candidate& c : candidates_) total += c.weight;
  const auto is_worse = [](const Candidate& a, const Candidate& b) { return is_better(b, a); };
  std::ranges::make_heap(candidates_, is_worse);
  const double target = static_cast<double>(options_.top_p) * total;
  double share = 0;
  auto rest_end = candidates_.end();
  while (rest_end != candidates_.begin() && share < target) {
    std::ranges::pop_heap(candidates_.begin(), rest_end, is_worse);
    --rest_end;
    share += rest_end->weight;
  }
  candidates_.erase(candidates_.begin(), rest_end);
}

void Sampler::keep_min_p() {
  set_weights(1.0f);
  std::erase_if(candidates_, [this](const Candidate& c) { return c.weight < options_.min_p; });
}

TokenId Sampler::draw() {
  double total = 0;
  for (const Candidate& c : candidates_) total += c.weight;
  const double target = random_.uniform() * total;
  double sum = 0;
  TokenId last = 0;
  for (const Candidate& c : candidates_) {
    sum += c.weight;
    if (sum > target) return c.id;
    if (c.weight > 0) last = c.id;
  }
  return last;  // target was rounded up to the total
}

}  // namespace tern
