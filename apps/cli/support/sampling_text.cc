#include "cli/support/sampling_text.h"

#include "cli/terminal/layout.h"

namespace tern::cli {
namespace {

void add_part(std::string& list, const std::string& part, std::string_view separator = ", ") {
  if (part.empty()) return;
  if (!list.empty()) list += separator;
  list += part;
}

// Lists the parameters that are set in `options` but not in `before`.
std::string given_beyond(const SampleOptions& options, const SampleOptions& before, bool only_basic = false) {
  std::string list;
  for (const SamplingNumber& number : kSamplingNumbers) {
    if (only_basic && !number.is_basic) continue;
    const std::string text = number.text_in(before).empty() ? number.text_in(options) : "";
    if (!text.empty()) add_part(list, format_text("{} {}", number.name, text));
  }
  if (only_basic) return list;
  if (options.dry_sequence_breakers && !before.dry_sequence_breakers) {
    add_part(list, format_text("{} DRY sequence breakers", options.dry_sequence_breakers->size()));
  }
  if (options.samplers && !before.samplers) add_part(list, format_text("samplers {}", one_line(*options.samplers)));
  return list;
}

SampleOptions first_given(SampleOptions first, const SampleOptions& second) {
  for (const SamplingNumber& number : kSamplingNumbers) {
    if (!number.text_in(first).empty()) continue;
    if (number.real) first.*number.real = second.*number.real;
    if (number.whole) first.*number.whole = second.*number.whole;
  }
  return first;
}

}  // namespace

std::string SamplingNumber::text_in(const SampleOptions& options) const {
  if (real) return options.*real ? format_text("{}", *(options.*real)) : "";
  return options.*whole ? format_text("{}", *(options.*whole)) : "";
}

SampleOptions all_given(const Sampling& s) {
  return {.temperature = s.temperature,
          .top_k = s.top_k,
          .top_p = s.top_p,
          .min_p = s.min_p,
          .repeat_penalty = s.repeat_penalty,
          .repeat_last_n = s.repeat_last_n,
          .presence_penalty = s.presence_penalty,
          .frequency_penalty = s.frequency_penalty,
          .dry_multiplier = s.dry_multiplier,
          .dry_base = s.dry_base,
          .dry_allowed_length = s.dry_allowed_length,
          .dry_penalty_last_n = s.dry_penalty_last_n,
          .dry_sequence_breakers = s.dry_sequence_breakers,
          .top_n_sigma = s.top_n_sigma,
          .typical_p = s.typical_p,
          .xtc_probability = s.xtc_probability,
          .xtc_threshold = s.xtc_threshold,
          .mirostat = s.mirostat,
          .mirostat_tau = s.mirostat_tau,
          .mirostat_eta = s.mirostat_eta,
          .samplers = s.samplers,
          .seed = s.seed};
}

std::string given_sampling(const SampleOptions& options) { return given_beyond(options, {}); }

std::string not_followed_text(const SamplingAdvice& advice) {
  std::string list;
  for (const std::string& each : advice.not_followed) add_part(list, one_line(each));
  return list.empty() ? "" : "not followed: " + list;
}

std::string describe_sampling(const SampleOptions& asked, const SamplingAdvice& advice) {
  const auto with_source = [](const std::string& list, std::string_view source) {
    return list.empty() ? "" : format_text("{} ({})", list, source);
  };
  std::string text = with_source(given_sampling(asked), "asked for");
  add_part(text, with_source(given_beyond(advice.values, asked), one_line(advice.source)));
  const SampleOptions taken = first_given(asked, advice.values);
  add_part(text, with_source(given_beyond(all_given({}), taken, /*only_basic=*/true), "Tern's own"));
  add_part(text, not_followed_text(advice), "; ");
  return text;
}

}  // namespace tern::cli
