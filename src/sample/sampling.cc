#include "sample/sampling.h"

namespace tern {

SampleOptions merged(const SampleOptions& asked, const SampleOptions& advised) {
  const auto first = [](const auto& a, const auto& b) { return a ? a : b; };
  return {.temperature = first(asked.temperature, advised.temperature),
          .top_k = first(asked.top_k, advised.top_k),
          .top_p = first(asked.top_p, advised.top_p),
          .min_p = first(asked.min_p, advised.min_p),
          .repeat_penalty = first(asked.repeat_penalty, advised.repeat_penalty),
          .repeat_last_n = first(asked.repeat_last_n, advised.repeat_last_n),
          .presence_penalty = first(asked.presence_penalty, advised.presence_penalty),
          .frequency_penalty = first(asked.frequency_penalty, advised.frequency_penalty),
          .dry_multiplier = first(asked.dry_multiplier, advised.dry_multiplier),
          .dry_base = first(asked.dry_base, advised.dry_base),
          .dry_allowed_length = first(asked.dry_allowed_length, advised.dry_allowed_length),
          .dry_penalty_last_n = first(asked.dry_penalty_last_n, advised.dry_penalty_last_n),
          .dry_sequence_breakers = first(asked.dry_sequence_breakers, advised.dry_sequence_breakers),
          .top_n_sigma = first(asked.top_n_sigma, advised.top_n_sigma),
          .typical_p = first(asked.typical_p, advised.typical_p),
          .xtc_probability = first(asked.xtc_probability, advised.xtc_probability),
          .xtc_threshold = first(asked.xtc_threshold, advised.xtc_threshold),
          .mirostat = first(asked.mirostat, advised.mirostat),
          .mirostat_tau = first(asked.mirostat_tau, advised.mirostat_tau),
          .mirostat_eta = first(asked.mirostat_eta, advised.mirostat_eta),
          .samplers = first(asked.samplers, advised.samplers),
          .seed = asked.seed};
}

Sampling sampling_of(const SampleOptions& options) {
  const Sampling own;
  return {.temperature = options.temperature.value_or(own.temperature),
          .top_k = options.top_k.value_or(own.top_k),
          .top_p = options.top_p.value_or(own.top_p),
          .min_p = options.min_p.value_or(own.min_p),
          .repeat_penalty = options.repeat_penalty.value_or(own.repeat_penalty),
          .repeat_last_n = options.repeat_last_n.value_or(own.repeat_last_n),
          .presence_penalty = options.presence_penalty.value_or(own.presence_penalty),
          .frequency_penalty = options.frequency_penalty.value_or(own.frequency_penalty),
          .dry_multiplier = options.dry_multiplier.value_or(own.dry_multiplier),
          .dry_base = options.dry_base.value_or(own.dry_base),
          .dry_allowed_length = options.dry_allowed_length.value_or(own.dry_allowed_length),
          .dry_penalty_last_n = options.dry_penalty_last_n.value_or(own.dry_penalty_last_n),
          .dry_sequence_breakers = options.dry_sequence_breakers.value_or(own.dry_sequence_breakers),
          .top_n_sigma = options.top_n_sigma.value_or(own.top_n_sigma),
          .typical_p = options.typical_p.value_or(own.typical_p),
          .xtc_probability = options.xtc_probability.value_or(own.xtc_probability),
          .xtc_threshold = options.xtc_threshold.value_or(own.xtc_threshold),
          .mirostat = options.mirostat.value_or(own.mirostat),
          .mirostat_tau = options.mirostat_tau.value_or(own.mirostat_tau),
          .mirostat_eta = options.mirostat_eta.value_or(own.mirostat_eta),
          .samplers = options.samplers.value_or(own.samplers),
          .seed = options.seed};
}

}  // namespace tern
