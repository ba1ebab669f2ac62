#include <cmath>
#include <limits>

#include "base/result.h"
#include "sample/sampler.h"

namespace tern {
namespace {

// The window is allocated up front, so a typing error must not make it huge.
constexpr int kMaxRepeatLastN = 1 << 20;
constexpr size_t kMostBreakers = 64, kMostBreakerBytes = 256;

Result<void> check_range(const char* name, float value, bool is_inside, const char* range) {
  if (is_inside) return {};
  return fail(ErrorCode::kInvalidArgument, "sample option {} is {}: it must be {}", name, value, range);
}

Result<void> check_last_n(const char* name, int value) {
  if (value >= -1 && value <= kMaxRepeatLastN) return {};
  return fail(ErrorCode::kInvalidArgument, "sample option {} is {}: it must be from 0 to {}, or -1 for all", name,
              value, kMaxRepeatLastN);
}

bool is_share(float x) { return x >= 0 && x <= 1; }
bool is_finite_from_0(float x) { return std::isfinite(x) && x >= 0; }

Result<void> check_dry(const Sampling& o) {
  TRY_STATUS(check_range("dry_multiplier", o.dry_multiplier, is_finite_from_0(o.dry_multiplier), "a number from 0 up"));
  const bool base_is_valid = std::isfinite(o.dry_base) && o.dry_base >= 1;
  TRY_STATUS(check_range("dry_base", o.dry_base, base_is_valid, "a number from 1 up"));
  if (o.dry_allowed_length < 0) {
    return fail(ErrorCode::kInvalidArgument, "sample option dry_allowed_length is {}: it must be 0 or above",
                o.dry_allowed_length);
  }
  TRY_STATUS(check_last_n("dry_penalty_last_n", o.dry_penalty_last_n));
  if (o.dry_sequence_breakers.size() > kMostBreakers) {
    return fail(ErrorCode::kInvalidArgument,
                "sample option dry_sequence_breakers has {} texts: it must have at most {}",
                o.dry_sequence_breakers.size(), kMostBreakers);
  }
  for (const std::string& text : o.dry_sequence_breakers) {
    if (!text.empty() && text.size() <= kMostBreakerBytes) continue;
    return fail(ErrorCode::kInvalidArgument,
                "sample option dry_sequence_breakers has a text of {} bytes: it must have 1 to {}", text.size(),
                kMostBreakerBytes);
  }
  return {};
}

Result<void> check_mirostat(const Sampling& o) {
  if (o.mirostat < 0 || o.mirostat > 2) {
    return fail(ErrorCode::kInvalidArgument, "sample option mirostat is {}: it must be 0 (off), 1 or 2", o.mirostat);
  }
  TRY_STATUS(check_range("mirostat_tau", o.mirostat_tau, is_finite_from_0(o.mirostat_tau), "a number from 0 up"));
  return check_range("mirostat_eta", o.mirostat_eta, is_share(o.mirostat_eta), "from 0 to 1");
}

}  // namespace

Result<void> check_sampling(const Sampling& o) {
  TRY_STATUS(check_range("temperature", o.temperature, is_finite_from_0(o.temperature), "a number from 0 up"));
  TRY_STATUS(check_range("top_p", o.top_p, o.top_p > 0 && o.top_p <= 1, "above 0 and at most 1"));
  TRY_STATUS(check_range("min_p", o.min_p, is_share(o.min_p), "from 0 to 1"));
  const bool penalty_is_valid = std::isfinite(o.repeat_penalty) && o.repeat_penalty > 0;
  TRY_STATUS(check_range("repeat_penalty", o.repeat_penalty, penalty_is_valid, "a number above 0"));
  TRY_STATUS(check_range("presence_penalty", o.presence_penalty, std::isfinite(o.presence_penalty), "a number"));
  TRY_STATUS(check_range("frequency_penalty", o.frequency_penalty, std::isfinite(o.frequency_penalty), "a number"));
  if (o.top_k < 0) {
    return fail(ErrorCode::kInvalidArgument, "sample option top_k is {}: it must be 0 (all tokens) or above", o.top_k);
  }
  TRY_STATUS(check_last_n("repeat_last_n", o.repeat_last_n));
  TRY_STATUS(check_dry(o));
  TRY_STATUS(check_range("top_n_sigma", o.top_n_sigma, std::isfinite(o.top_n_sigma), "a number"));
  TRY_STATUS(check_range("typical_p", o.typical_p, o.typical_p > 0 && o.typical_p <= 1, "above 0 and at most 1"));
  TRY_STATUS(check_range("xtc_probability", o.xtc_probability, is_share(o.xtc_probability), "from 0 to 1"));
  TRY_STATUS(check_range("xtc_threshold", o.xtc_threshold, is_share(o.xtc_threshold), "from 0 to 1"));
  TRY_STATUS(check_mirostat(o));
  TRY_STATUS(parse_samplers(o.samplers));
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

}  // namespace tern
