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
          .seed = options.seed};
}

}  // namespace tern
