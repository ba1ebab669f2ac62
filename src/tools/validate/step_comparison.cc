#include "tools/validate/step_comparison.h"

#include "base/check.h"

namespace tern {
namespace {

// Decodes the output to floats: int8 rows are divided by their scales.
std::vector<float> values_of(const StepOutput& output) {
  std::vector<float> values(output.values.begin(), output.values.end());
  if (output.scales.empty()) return values;
  const size_t width = values.size() / output.scales.size();
  for (size_t i = 0; i < values.size(); ++i) values[i] /= output.scales[i / width];
  return values;
}

}  // namespace

StepObserver StepRecord::observer() {
  return [this](const StepOutput& output) { values_.push_back(values_of(output)); };
}

StepObserver StepDifferences::observer() {
  return [this](const StepOutput& output) {
    CHECK(n_compared_ < record_.values().size());
    if (n_compared_ == entries_.size()) entries_.push_back({.step = output.step->name, .difference = {}});
    CHECK(entries_[n_compared_].step == output.step->name);
    entries_[n_compared_].difference.add(record_.values()[n_compared_], values_of(output));
    ++n_compared_;
  };
}

}  // namespace tern
