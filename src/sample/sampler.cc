#include "sample/sampler.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/result.h"

namespace tern {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

TokenId sample_greedy(std::span<const float> logits) {
  const auto best = std::ranges::find(logits, greatest_of(logits));
  return best == logits.end() ? 0 : static_cast<TokenId>(best - logits.begin());
}

}  // namespace

Sampler::Sampler(const Sampling& options, int n_vocab, std::span<const LogitBias> biases, PieceOf piece_of)
    : options_(options), n_vocab_(n_vocab), random_(options.seed) {
  CHECK(check_sampling(options).has_value());
  CHECK(check_logit_bias(biases, n_vocab).has_value());
  CHECK(n_vocab >= 1);
  biases_.assign(biases.rbegin(), biases.rend());  // a token's last bias counts
  std::ranges::stable_sort(biases_, {}, &LogitBias::token);
  const auto repeated = std::ranges::unique(biases_, {}, &LogitBias::token);
  biases_.erase(repeated.begin(), repeated.end());
  read_steps();
  if (!is_greedy_) {
    const bool starts_with_top_k = !steps_.empty() && steps_.front() == SamplerStep::kTopK;
    candidates_.reserve(starts_with_top_k ? options_.top_k : n_vocab);
    if (options_.mirostat != 0) {
      mirostat_.emplace(options_.mirostat, options_.mirostat_tau, options_.mirostat_eta, n_vocab);
    }
  }
  if (penalizes_repetition_) window_ = RepetitionWindow(n_vocab, options_.repeat_last_n);
  if (penalizes_reply_) {
    reply_counts_.resize(n_vocab);
    reply_tokens_.reserve(n_vocab);
  }
  if (std::ranges::contains(first_, SamplerStep::kDry) || has(SamplerStep::kDry))
    dry_.emplace(options_, n_vocab, std::move(piece_of));
  if (changes_logits()) adjusted_.resize(n_vocab);
}

// True if a step that runs has an effect.
bool Sampler::is_active(SamplerStep step) const {
  const bool filters = options_.mirostat == 0;
  switch (step) {
    case SamplerStep::kPenalties:
      return penalizes_repetition_ || penalizes_reply_;
    case SamplerStep::kDry:
      return options_.dry_multiplier > 0 && options_.dry_penalty_last_n != 0;
    case SamplerStep::kTopNSigma:
      return filters && options_.top_n_sigma > 0;
    case SamplerStep::kTopK:
      return filters && options_.top_k > 0 && options_.top_k < n_vocab_;
    case SamplerStep::kTypicalP:
      return filters && options_.typical_p < 1;
    case SamplerStep::kTopP:
      return filters && options_.top_p < 1;
    case SamplerStep::kMinP:
      return filters && options_.min_p > 0;
    case SamplerStep::kXtc:
      return filters && options_.xtc_probability > 0;
    case SamplerStep::kTemperature:
      return options_.temperature != 1;
  }
  return false;
}

// Penalties and DRY that come before all filters change the logits of all tokens, at little cost; later ones only those
// of the remaining candidates.
void Sampler::read_steps() {
  std::vector<SamplerStep> listed = parse_samplers(options_.samplers).value();
  const auto runs = [&listed](SamplerStep step) { return std::ranges::contains(listed, step); };
  if (!runs(SamplerStep::kTopNSigma)) options_.top_n_sigma = 0;
  if (!runs(SamplerStep::kTopK)) options_.top_k = 0;
  if (!runs(SamplerStep::kTypicalP)) options_.typical_p = 1;
  if (!runs(SamplerStep::kTopP)) options_.top_p = 1;
  if (!runs(SamplerStep::kMinP)) options_.min_p = 0;
  if (!runs(SamplerStep::kXtc) || options_.xtc_threshold > 0.5f) options_.xtc_probability = 0;
  if (!runs(SamplerStep::kTemperature)) options_.temperature = 1;
  is_greedy_ = options_.temperature == 0;
  penalizes_repetition_ =
      runs(SamplerStep::kPenalties) && options_.repeat_penalty != 1.0f && options_.repeat_last_n != 0;
  penalizes_reply_ =
      runs(SamplerStep::kPenalties) && (options_.presence_penalty != 0 || options_.frequency_penalty != 0);
  std::erase_if(listed, [this](SamplerStep step) { return !is_active(step); });
  if (is_greedy_) {  // then only these steps matter
    std::erase_if(listed, [](SamplerStep s) { return s != SamplerStep::kPenalties && s != SamplerStep::kDry; });
  }
  const auto first_filter = std::ranges::find_if_not(
      listed, [](SamplerStep s) { return s == SamplerStep::kPenalties || s == SamplerStep::kDry; });
  first_.assign(listed.begin(), first_filter);
  steps_.assign(first_filter, listed.end());
}

bool Sampler::is_plain() const {
  constexpr SamplerStep kPlain[] = {SamplerStep::kTopNSigma,  SamplerStep::kTopK, SamplerStep::kTypicalP,
                                    SamplerStep::kTopP,       SamplerStep::kMinP, SamplerStep::kXtc,
                                    SamplerStep::kTemperature};
  if (mirostat_) return false;
  const auto* next = std::begin(kPlain);
  for (const SamplerStep step : steps_) {
    next = std::find(next, std::end(kPlain), step);
    if (next == std::end(kPlain)) return false;
  }
  return true;
}

void Sampler::forbid_before(int n_tokens, std::span<const TokenId> tokens) {
  forbidden_.clear();
  for (const TokenId token : tokens) {
    if (token >= 0 && token < n_vocab_) forbidden_.push_back(token);
  }
  n_forbid_before_ = n_tokens;
  if (forbids()) adjusted_.resize(n_vocab_);
}

void Sampler::reset() {
  random_ = SplitMix64(options_.seed);
  window_.forget();
  if (dry_) dry_->forget();
  if (mirostat_) mirostat_->reset();
  std::ranges::fill(reply_counts_, 0);
  reply_tokens_.clear();
  n_accepted_ = 0;
}

void Sampler::accept_prompt(TokenId token) {
  CHECK(token >= 0 && token < n_vocab_);
  if (penalizes_repetition_) window_.add(token);
  if (dry_) dry_->add(token);
}

void Sampler::accept(TokenId token) {
  accept_prompt(token);
  ++n_accepted_;
  if (penalizes_reply_ && reply_counts_[token]++ == 0) reply_tokens_.push_back(token);
}

// If logits are only lowered: with n tokens lowered, the k best tokens afterwards are among the k + n best before, as
// at most n better ones dropped out. If a logit may rise, any token may become the best. An accepted token may lower
// two more logits by penalties, and any number by DRY.
int Sampler::n_best(int n_ahead) {
  const bool starts_with_top_k = !steps_.empty() && steps_.front() == SamplerStep::kTopK;
  const bool has_dry = std::ranges::contains(first_, SamplerStep::kDry);
  if ((has_dry && n_ahead > 0) || (!is_greedy_ && !starts_with_top_k)) return 0;
  if (penalizes_repetition_ && options_.repeat_penalty < 1) return 0;
  if (penalizes_reply_ && (options_.presence_penalty < 0 || options_.frequency_penalty < 0)) return 0;
  if (std::ranges::any_of(biases_, [](const LogitBias& bias) { return bias.bias > 0; })) return 0;
  if (has_dry) dry_->update();
  const size_t n_dry = has_dry ? dry_->penalized().size() : 0, n_forbidden = forbids() ? forbidden_.size() : 0;
  const auto n_lowered = static_cast<int64_t>(biases_.size() + n_forbidden + reply_tokens_.size() + n_dry) +
                         window_.n_seen() + int64_t{2} * n_ahead;
  const int64_t n = (is_greedy_ ? 1 : options_.top_k) + n_lowered;
  return n < n_vocab_ ? static_cast<int>(n) : 0;
}

// Applies biases and penalties. Tokens without a bit in `allowed` (unless it is empty) become −infinity.
void Sampler::adjust(std::span<const float> logits, std::span<const uint64_t> allowed) {
  std::ranges::copy(logits, adjusted_.begin());
  for (const LogitBias& bias : biases_) adjusted_[bias.token] += bias.bias;
  if (forbids()) {
    for (const TokenId token : forbidden_) adjusted_[token] = kImpossible;
  }
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
  for (const SamplerStep step : first_) {
    if (step == SamplerStep::kPenalties) {
      window_.for_each([this](TokenId id, int32_t n) { adjusted_[id] = penalized_repetition(adjusted_[id], n); });
      for (const TokenId id : reply_tokens_) adjusted_[id] -= reply_penalty(id);
    } else {
      dry_->update();
      for (const TokenId id : dry_->penalized()) adjusted_[id] -= dry_->penalty(id);
    }
  }
}

float Sampler::repetition_factor(int32_t n) const { return std::pow(options_.repeat_penalty, static_cast<float>(n)); }

float Sampler::penalized_repetition(float logit, int32_t n) const {
  if (logit == 0) return logit;  // 0 stays 0, even if the power overflows
  const float factor = repetition_factor(n);
  return logit > 0 ? logit / factor : logit * factor;
}

// The token is in the reply.
float Sampler::reply_penalty(TokenId token) const {
  return options_.presence_penalty + options_.frequency_penalty * static_cast<float>(reply_counts_[token]);
}

TokenId Sampler::sample(std::span<const float> logits) {
  CHECK(logits.size() == static_cast<size_t>(n_vocab_));
  if (!changes_logits()) return choose(logits);
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
  if (is_greedy_) return sample_greedy(logits);
  auto steps = std::span<const SamplerStep>(steps_);
  if (!steps.empty() && steps.front() == SamplerStep::kTopK) {
    candidates_.collect_top_k(logits, options_.top_k);
    steps = steps.subspan(1);
  } else {
    candidates_.collect(logits);
  }
  if (candidates_.is_empty()) return 0;
  for (const SamplerStep step : steps) apply(step);
  const float draw = uniform();
  return mirostat_ ? mirostat_->choose(candidates_, draw) : candidates_.draw(draw).token;
}

// For steps that adjust() has not done.
void Sampler::apply(SamplerStep step) {
  switch (step) {
    case SamplerStep::kPenalties:
      return candidates_.change_logits([this](TokenId id, float logit) {
        if (const int32_t n = window_.count(id); n > 0) logit = penalized_repetition(logit, n);
        return penalizes_reply_ && reply_counts_[id] > 0 ? logit - reply_penalty(id) : logit;
      });
    case SamplerStep::kDry:
      dry_->update();
      return candidates_.change_logits([this](TokenId id, float logit) { return logit - dry_->penalty(id); });
    case SamplerStep::kTopNSigma:
      return candidates_.keep_top_n_sigma(options_.top_n_sigma);
    case SamplerStep::kTopK:
      return candidates_.keep_top_k(static_cast<size_t>(options_.top_k));
    case SamplerStep::kTypicalP:
      return candidates_.keep_typical(options_.typical_p);
    case SamplerStep::kTopP:
      return candidates_.keep_top_p(options_.top_p);
    case SamplerStep::kMinP:
      return candidates_.keep_min_p(options_.min_p);
    case SamplerStep::kXtc:
      if (uniform() < options_.xtc_probability) candidates_.drop_top_choices(options_.xtc_threshold);
      return;
    case SamplerStep::kTemperature:
      return candidates_.set_temperature(options_.temperature);
  }
}

}  // namespace tern
