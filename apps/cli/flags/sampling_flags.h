// The options of sampling.
#pragma once

#include <CLI/CLI.hpp>
#include <span>

#include "cli/support/sampling_text.h"
#include "tern/options.h"

namespace tern::cli {

inline constexpr const char* kSamplingGroup =
    "Sampling (default: what the model's makers recommend, else the value in brackets)";

// A sampling parameter, as an option of a command and as a setting of a chat.
struct SamplingOption {
  SamplingNumber number;
  double low, high;
  const char* help;

  bool is_whole() const { return number.whole != nullptr; }
};
std::span<const SamplingOption> sampling_options();

// Adds --temp, --top-k and the other sampling options.
void add_sampling(CLI::App& app, SampleOptions& sample);

}  // namespace tern::cli
