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
inline constexpr std::array kSamplingNumbers = {
    kTemperature, kTopK, kTopP, kMinP, kRepeatPenalty, kRepeatLastN, kPresencePenalty, kFrequencyPenalty};

// Converts to options with every number set. all_given(Sampling{}) gives Tern's defaults, used where neither the user
// nor the model sets a value.
SampleOptions all_given(const Sampling& sampling);

// "temp 0.5, min-p 0.1": the parameters that are set.
std::string given_sampling(const SampleOptions& options);

// The values in effect and their sources: "temp 0.2 (asked for), min-p 0.1 (general.sampling), top-k 40, top-p 1, …
// (Tern's own)". Recommendations that Tern does not follow are listed at the end.
std::string describe_sampling(const SampleOptions& asked, const SamplingAdvice& advice);

// "not followed: xtc_probability 0.5"; "" if all are followed.
std::string not_followed_text(const SamplingAdvice& advice);

}  // namespace tern::cli
