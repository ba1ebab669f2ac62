// Sampling parameters as JSON. Only for .cc files, because it includes the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/support/sampling_text.h"

namespace tern::cli {

// {"temp": 0.5, "min-p": 0.1}: only those that are set, with as many digits as their floats have.
inline nlohmann::ordered_json sampling_json(const SampleOptions& options) {
  auto object = nlohmann::ordered_json::object();
  for (const SamplingNumber& number : kSamplingNumbers) {
    const std::string text = number.text_in(options);
    if (!text.empty()) object[number.name] = nlohmann::ordered_json::parse(text);
  }
  if (options.dry_sequence_breakers) object["dry-sequence-breakers"] = *options.dry_sequence_breakers;
  if (options.samplers) object["samplers"] = *options.samplers;
  return object;
}

}  // namespace tern::cli
