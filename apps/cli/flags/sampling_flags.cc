#include "cli/flags/sampling_flags.h"

#include <limits>

#include "cli/terminal/help.h"
#include "tern/sampling.h"

namespace tern::cli {
namespace {

constexpr double kMostN = std::numeric_limits<int>::max();
constexpr int kMostLastN = 1 << 20;

constexpr auto kSampling = std::to_array<SamplingOption>({
    {kTemperature, 0, 100, "Temperature; 0 always takes the most likely token (else 0.7)"},
    {kTopK, 0, kMostN, "Choose among the N most likely tokens; 0 means all (else 40)"},
    {kTopP, 1e-6, 1, "Choose among the most likely tokens that together have this probability (else 1)"},
    {kMinP, 0, 1, "Drop tokens less likely than this fraction of the most likely one (else 0)"},
    {kRepeatPenalty, 0.01, 100, "Make tokens that were seen before less likely; 1 turns it off (else 1)"},
    {kRepeatLastN, -1, kMostN, "How many of the latest tokens count as seen; -1 means all (else 64)"},
    {kPresencePenalty, -100, 100, "Subtract this from the logits of tokens that are already in the reply (else 0)"},
    {kFrequencyPenalty, -100, 100, "Subtract this from a token's logit for each time that it is in the reply (else 0)"},
    {kDryMultiplier, 0, 100,
     "DRY: subtract X * base^(n - allowed length) from the logit of a token that would extend "
     "a repetition of n tokens; 0 turns it off (else 0)"},
    {kDryBase, 1, 100, "DRY's base (else 1.75)"},
    {kDryAllowedLength, 0, kMostN, "DRY: shorter repetitions cost nothing (else 2)"},
    {kDryPenaltyLastN, -1, kMostLastN, "DRY: how many of the latest tokens are compared; -1 means all (else -1)"},
    {kTopNSigma, -1, 100, "Drop logits more than X standard deviations below the greatest; 0 or less: off (else -1)"},
    {kTypicalP, 1e-6, 1,
     "Locally typical: choose among tokens near the expected surprise that together have this "
     "probability; 1: off (else 1)"},
    {kXtcProbability, 0, 1, "XTC: how often all but the least likely of the top choices are dropped (else 0)"},
    {kXtcThreshold, 0, 1, "XTC: the least probability of a top choice (else 0.1)"},
    {kMirostat, 0, 2, "Mirostat 1 or 2 in place of the filters; 0: off (else 0)"},
    {kMirostatTau, 0, 100, "Mirostat: the average surprise of a token, in bits (else 5)"},
    {kMirostatEta, 0, 1, "Mirostat: how fast it adapts (else 0.1)"},
});

}  // namespace

std::span<const SamplingOption> sampling_options() { return kSampling; }

void add_sampling(CLI::App& app, SampleOptions& sample) {
  for (const SamplingOption& s : kSampling) {
    const std::string name = std::string("--") + s.number.name;
    CLI::Option* option = s.is_whole() ? app.add_option(name, sample.*s.number.whole, s.help)
                                       : app.add_option(name, sample.*s.number.real, s.help);
    option->type_name(s.is_whole() ? "N" : "X")->check(in_range(s.low, s.high, s.is_whole()))->group(kSamplingGroup);
  }
  app.add_option_function<std::vector<std::string>>(
         "--dry-sequence-breaker",
         [&sample](const std::vector<std::string>& texts) {
           std::vector<std::string>& breakers = sample.dry_sequence_breakers.emplace();
           for (const std::string& text : texts) {
             if (text != "none") breakers.push_back(text);
           }
         },
         "DRY: a text that ends repetitions; may be given several times; 'none' for none (else line break, : \" and *)")
      ->type_name("TEXT")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->group(kSamplingGroup);
  app.add_option("--samplers", sample.samplers,
                 "The steps that run, in this order (else penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;"
                 "temperature)")
      ->type_name("LIST")
      ->check(
          [](const std::string& list) {
            const Result<void> is_valid = check_sampling({.samplers = list});
            return is_valid ? "" : is_valid.error().message;
          },
          "")
      ->group(kSamplingGroup);
}

}  // namespace tern::cli
