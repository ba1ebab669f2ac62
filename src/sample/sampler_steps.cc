#include "sample/sampler_steps.h"

#include <algorithm>
#include <string>

#include "base/result.h"

namespace tern {
namespace {

struct StepName {
  std::string_view name;
  SamplerStep step;
};
constexpr StepName kStepNames[] = {
    {"penalties", SamplerStep::kPenalties},
    {"dry", SamplerStep::kDry},
    {"top_n_sigma", SamplerStep::kTopNSigma},
    {"top_k", SamplerStep::kTopK},
    {"typ_p", SamplerStep::kTypicalP},
    {"top_p", SamplerStep::kTopP},
    {"min_p", SamplerStep::kMinP},
    {"xtc", SamplerStep::kXtc},
    {"temperature", SamplerStep::kTemperature},
    {"typical_p", SamplerStep::kTypicalP},  // second names
    {"temp", SamplerStep::kTemperature},
};
constexpr size_t kFirstNames = 9;

std::string known_names() {
  std::string names;
  for (size_t i = 0; i < kFirstNames; ++i) names += (i > 0 ? ", " : "") + std::string(kStepNames[i].name);
  return names;
}

}  // namespace

Result<std::vector<SamplerStep>> parse_samplers(std::string_view text) {
  std::vector<SamplerStep> steps;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(";,"), text.size());
    std::string_view name = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    const auto* const found = std::ranges::find(kStepNames, name, &StepName::name);
    if (found == std::end(kStepNames)) {
      return fail(ErrorCode::kInvalidArgument, "sample option samplers has '{}', which is none of {}",
                  name.substr(0, 40), known_names());
    }
    if (std::ranges::contains(steps, found->step)) {
      return fail(ErrorCode::kInvalidArgument, "sample option samplers has {} twice", name);
    }
    steps.push_back(found->step);
  }
  return steps;
}

}  // namespace tern
