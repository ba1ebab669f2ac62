#include "sample/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/result.h"

namespace tern {
namespace {

// The window is allocated up front, so a typing error must not make it huge.
constexpr int kMaxRepeatLastN = 1 << 20;

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

Result<void> check_range(const char* name, float value, bool is_inside, const char* range) {
  if (is_inside) return {};
  return fail(ErrorCode::kInvalidArgument, "sample option {} is {}: it must be {}", name, value, range);
}

// The largest of `logits`, ignoring NaN; −infinity if there is none. Uses independent lanes, since the compiler may not
// reorder the comparisons of a single chain.
float greatest_of(std::span<const float> logits) {
  constexpr size_t kLanes = 16;
  float lanes[kLanes];
  std::ranges::fill(lanes, -std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = logits[i + lane] > lanes[lane] ? logits[i + lane] : lanes[lane];
  }
  for (; i < logits.size(); ++i) lanes[0] = logits[i] > lanes[0] ? logits[i] : lanes[0];
  return *std::ranges::max_element(lanes);
}

TokenId sample_greedy(std::span<const float> logits) {
  const auto best = std::ranges::find(logits, greatest_of(logits));
  return best == logits.end() ? 0 : static_cast<TokenId>(best - logits.begin());
}

}  // namespace

Result<void> check_sampling(const Sampling& o) {
  const auto finite_from_0 = [](float x) { return std::isfinite(x) && x >= 0; };
  TRY_STATUS(check_range("temperature", o.temperature, finite_from_0(o.temperature), "a number from 0 up"));
  TRY_STATUS(check_range("top_p", o.top_p, o.top_p > 0 && o.top_p <= 1, "above 0 and at most 1"));
  TRY_STATUS(check_range("min_p", o.min_p, o.min_p >= 0 && o.min_p <= 1, "from 0 to 1"));
  const bool penalty_is_valid = std::isfinite(o.repeat_penalty) && o.repeat_penalty > 0;
  TRY_STATUS(check_range("repeat_penalty", o.repeat_penalty, penalty_is_valid, "a number above 0"));
  TRY_STATUS(check_range("presence_penalty", o.presence_penalty, std::isfinite(o.presence_penalty), "a number"));
  TRY_STATUS(check_range("frequency_penalty", o.frequency_penalty, std::isfinite(o.frequency_penalty), "a number"));
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

Result<void> check_logit_bias(std::span<const LogitBias> biases, int n_vocab) {
  for (const auto& [token, bias] : biases) {
    if (token < 0 || token >= n_vocab) {
      return fail(ErrorCode::kInvalidArgument, "logit bias of token {}: the vocabulary has ids 0 to {}", token,
                  n_vocab - 1);
    }
    if (std::isnan(bias) || bias == std::numeric_limits<float>::infinity()) {
      return fail(ErrorCode::kInvalidArgument, "logit bias of token {} is {}: it must be a number, or -infinity", token,
                  bias);
    }
  }
  return {};
}

Sampler::Sampler(const Sampling& options, int n_vocab, std::span<const LogitBias> biases)
    : options_(options),
      n_vocab_(n_vocab),
      penalizes_repetition_(options.repeat_penalty != 1.0f && options.repeat_last_n != 0),
      penalizes_reply_(options.presence_penalty != 0 || options.frequency_penalty != 0),
      random_(options.seed) {
  CHECK(check_sampling(options).has_value());
  CHECK(check_logit_bias(biases, n_vocab).has_value());
  CHECK(n_vocab >= 1);
  for (const LogitBias& bias : biases) {
    std::erase_if(biases_, [&](const LogitBias& earlier) { return earlier.token == bias.token; });
    biases_.push_back(bias);
  }
  if (options_.temperature > 0) {
    const bool is_limited = options_.top_k > 0 && options_.top_k < n_vocab;
    candidates_.reserve(is_limited ? options_.top_k : n_vocab);
  }
  if (penalizes_repetition_) window_ = RepetitionWindow(n_vocab, options_.repeat_last_n);
  if (penalizes_reply_) {
    reply_counts_.resize(n_vocab);
    reply_tokens_.reserve(n_vocab);
  }
  if (adjusts_logits()) adjusted_.resize(n_vocab);
}

void Sampler::reset() {
  random_ = SplitMix64(options_.seed);
  window_.forget();
  std::ranges::fill(reply_counts_, 0);
  reply_tokens_.clear();
}

void Sampler::accept_prompt(TokenId token) {
  CHECK(token >= 0 && token < n_vocab_);
  if (penalizes_repetition_) window_.add(token);
}

void Sampler::accept(TokenId token) {
  accept_prompt(token);
  if (penalizes_reply_ && reply_counts_[token]++ == 0) reply_tokens_.push_back(token);
}

// If logits are only lowered: with n tokens lowered, the k best tokens afterwards are among the k + n best before, as
// at most n better ones dropped out. If a logit may rise, any token may become the best.
int Sampler::n_best() const {
  const bool is_greedy = options_.temperature == 0;
  if (!is_greedy && (options_.top_k == 0 || options_.top_k >= n_vocab_)) return 0;
  if (penalizes_repetition_ && options_.repeat_penalty < 1) return 0;
  if (options_.presence_penalty < 0 || options_.frequency_penalty < 0) return 0;
  if (std::ranges::any_of(biases_, [](const LogitBias& bias) { return bias.bias > 0; })) return 0;
  const auto n_lowered = static_cast<int64_t>(biases_.size() + reply_tokens_.size()) + window_.n_seen();
  const int64_t n = (is_greedy ? 1 : options_.top_k) + n_lowered;
  return n < n_vocab_ ? static_cast<int>(n) : 0;
}

// Applies biases and penalties. Tokens without a bit in `allowed` (unless it is empty) become −infinity.
void Sampler::adjust(std::span<const float> logits, std::span<const uint64_t> allowed) {
  std::ranges::copy(logits, adjusted_.begin());
  for (const LogitBias& bias : biases_) adjusted_[bias.token] += bias.bias;
  for (size_t word = 0; word < allowed.size(); ++word) {
    const size_t first = word * 64, n = std::min<size_t>(adjusted_.size() - first, 64);
    if (allowed[word] == 0) {
      std::fill_n(adjusted_.begin() + static_cast<std::ptrdiff_t>(first), n, kImpossible);
    } else if (allowed[word] != ~uint64_t{0}) {
      for (size_t i = 0; i < n; ++i) {
        if (((allowed[word] >> i) & 1) == 0) adjusted_[first + i] = kImpossible;
      }
    }
  }
  if (penalizes_repetition_) penalize_repetition();
  if (penalizes_reply_) penalize_reply();
}

void Sampler::penalize_repetition() {
  window_.for_each([this](TokenId id, int32_t n) {
    float& logit = adjusted_[id];
    if (logit == 0) return;  // 0 stays 0, even if the power overflows
    const float factor = std::pow(options_.repeat_penalty, static_cast<float>(n));
    logit = logit > 0 ? logit / factor : logit * factor;
  });
}

void Sampler::penalize_reply() {
  for (const TokenId id : reply_tokens_) {
    adjusted_[id] -= options_.presence_penalty + options_.frequency_penalty * static_cast<float>(reply_counts_[id]);
  }
}

TokenId Sampler::sample(std::span<const float> logits) {
  CHECK(logits.size() == static_cast<size_t>(n_vocab_));
  if (!adjusts_logits()) return choose(logits);
  adjust(logits, {});
  return choose(adjusted_);
}

TokenId Sampler::sample(std::span<const float> logits, std::span<const uint64_t> allowed) {
  CHECK(logits.size() == static_cast<size_t>(n_vocab_));
  CHECK(allowed.size() == (logits.size() + 63) / 64);
  adjusted_.resize(logits.size());
  adjust(logits, allowed);
  return choose(adjusted_);
}

TokenId Sampler::choose(std::span<const float> logits) {
  if (options_.temperature == 0) return sample_greedy(logits);
  greatest_ = greatest_of(logits);
  collect(logits);
  if (candidates_.empty()) return 0;
  if (options_.top_p < 1) keep_top_p();
  if (options_.min_p > 0) keep_min_p();
  set_weights(options_.temperature);
  return draw();
}

// Order of preference: larger logit, then lower id. As a heap's comparison it puts the worst in front.
bool Sampler::is_better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

void Sampler::collect(std::span<const float> logits) {
  candidates_.clear();
  if (options_.top_k > 0 && options_.top_k < n_vocab_) return collect_top_k(logits);
  for (TokenId id = 0; id < n_vocab_; ++id) {
    if (!std::isnan(logits[id])) candidates_.push_back({logits[id], id, 0});
  }
}

// A heap of the k best so far, with the worst in front. Ids ascend, so a later token needs a larger logit than the
// worst. Most blocks of a large vocabulary have none; they cost only the search for their maximum.
void Sampler::collect_top_k(std::span<const float> logits) {
  constexpr TokenId kBlock = 64;
  const auto k = static_cast<size_t>(options_.top_k);
  for (TokenId first = 0; first < n_vocab_; first += kBlock) {
    const TokenId end = std::min(first + kBlock, n_vocab_);
    const bool is_full = candidates_.size() == k;
    if (is_full && greatest_of(logits.subspan(first, end - first)) <= candidates_.front().logit) continue;
    for (TokenId id = first; id < end; ++id) {
      if (!std::isnan(logits[id])) offer({logits[id], id, 0}, k);
    }
  }
}

void Sampler::offer(const Candidate& candidate, size_t k) {
  if (candidates_.size() == k) {
    if (!is_better(candidate, candidates_.front())) return;
    std::ranges::pop_heap(candidates_, is_better);
    candidates_.pop_back();
  }
  candidates_.push_back(candidate);
  std::ranges::push_heap(candidates_, is_better);
}

// exp((logit − greatest) / temperature). The largest get 1 by definition, because the difference of two infinities is
// NaN.
void Sampler::set_weights(float temperature) {
  for (Candidate& c : candidates_) {
    c.weight = c.logit == greatest_ ? 1.0f : std::exp((c.logit - greatest_) / temperature);
  }
}

// Pops the best from a heap until they have their share, so that only the kept tokens are sorted.
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
  // Top-k and top-p leave the candidates in heap order.
  if (!std::ranges::is_sorted(candidates_, {}, &Candidate::id)) std::ranges::sort(candidates_, {}, &Candidate::id);
  double total = 0;
  for (const Candidate& c : candidates_) total += c.weight;
  const double target = static_cast<double>(uniform()) * total;
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
