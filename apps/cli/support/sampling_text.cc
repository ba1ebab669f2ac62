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
std::string given_beyond(const SampleOptions& options, const SampleOptions& before) {
  std::string list;
  for (const SamplingNumber& number : kSamplingNumbers) {
    const std::string text = number.text_in(before).empty() ? number.text_in(options) : "";
    if (!text.empty()) add_part(list, format_text("{} {}", number.name, text));
  }
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
  add_part(text, with_source(given_beyond(all_given({}), taken), "Tern's own"));
  add_part(text, not_followed_text(advice), "; ");
  return text;
}

}  // namespace tern::cli
