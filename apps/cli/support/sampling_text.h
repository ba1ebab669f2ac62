// Sampling parameters by their option names, and the source of each value.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "tern/options.h"

namespace tern::cli {

struct SamplingNumber {
  using Real = std::optional<float> SampleOptions::*;
  using Whole = std::optional<int> SampleOptions::*;

  const char* name;  // the option's name without "--"
  Real real;         // one of the two; the other is null
  Whole whole;
  bool is_basic = true;  // told even if neither the user nor the model sets it

  // "0.5"; "" if it is not set.
  std::string text_in(const SampleOptions& options) const;
};

inline constexpr SamplingNumber kTemperature = {"temp", &SampleOptions::temperature, nullptr};
inline constexpr SamplingNumber kTopK = {"top-k", nullptr, &SampleOptions::top_k};
inline constexpr SamplingNumber kTopP = {"top-p", &SampleOptions::top_p, nullptr};
inline constexpr SamplingNumber kMinP = {"min-p", &SampleOptions::min_p, nullptr};
inline constexpr SamplingNumber kRepeatPenalty = {"repeat-penalty", &SampleOptions::repeat_penalty, nullptr};
inline constexpr SamplingNumber kRepeatLastN = {"repeat-last-n", nullptr, &SampleOptions::repeat_last_n};
inline constexpr SamplingNumber kPresencePenalty = {"presence-penalty", &SampleOptions::presence_penalty, nullptr};
inline constexpr SamplingNumber kFrequencyPenalty = {"frequency-penalty", &SampleOptions::frequency_penalty, nullptr};
inline constexpr SamplingNumber kDryMultiplier = {"dry-multiplier", &SampleOptions::dry_multiplier, nullptr, false};
inline constexpr SamplingNumber kDryBase = {"dry-base", &SampleOptions::dry_base, nullptr, false};
inline constexpr SamplingNumber kDryAllowedLength = {"dry-allowed-length", nullptr, &SampleOptions::dry_allowed_length,
                                                     false};
inline constexpr SamplingNumber kDryPenaltyLastN = {"dry-penalty-last-n", nullptr, &SampleOptions::dry_penalty_last_n,
                                                    false};
inline constexpr SamplingNumber kTopNSigma = {"top-n-sigma", &SampleOptions::top_n_sigma, nullptr, false};
inline constexpr SamplingNumber kTypicalP = {"typical-p", &SampleOptions::typical_p, nullptr, false};
inline constexpr SamplingNumber kXtcProbability = {"xtc-probability", &SampleOptions::xtc_probability, nullptr, false};
inline constexpr SamplingNumber kXtcThreshold = {"xtc-threshold", &SampleOptions::xtc_threshold, nullptr, false};
inline constexpr SamplingNumber kMirostat = {"mirostat", nullptr, &SampleOptions::mirostat, false};
inline constexpr SamplingNumber kMirostatTau = {"mirostat-tau", &SampleOptions::mirostat_tau, nullptr, false};
inline constexpr SamplingNumber kMirostatEta = {"mirostat-eta", &SampleOptions::mirostat_eta, nullptr, false};
inline constexpr std::array kSamplingNumbers = {kTemperature,
                                                kTopK,
                                                kTopP,
                                                kMinP,
                                                kRepeatPenalty,
                                                kRepeatLastN,
                                                kPresencePenalty,
                                                kFrequencyPenalty,
                                                kDryMultiplier,
                                                kDryBase,
                                                kDryAllowedLength,
                                                kDryPenaltyLastN,
                                                kTopNSigma,
                                                kTypicalP,
                                                kXtcProbability,
                                                kXtcThreshold,
                                                kMirostat,
                                                kMirostatTau,
                                                kMirostatEta};

// Converts to options with every parameter set. all_given(Sampling{}) gives Tern's defaults, used where neither the
// user nor the model sets a value.
SampleOptions all_given(const Sampling& sampling);

// "temp 0.5, min-p 0.1": the parameters that are set.
std::string given_sampling(const SampleOptions& options);

// The values in effect and their sources: "temp 0.2 (asked for), min-p 0.1 (general.sampling), top-k 40, top-p 1, …
// (Tern's own)". Recommendations that Tern does not follow are listed at the end.
std::string describe_sampling(const SampleOptions& asked, const SamplingAdvice& advice);

// "not followed: xtc_probability 0.5"; "" if all are followed.
std::string not_followed_text(const SamplingAdvice& advice);

}  // namespace tern::cli
