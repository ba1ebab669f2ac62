// Finds the fastest settings of layouts: changes one at a time and keeps each change that is faster.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backend/gpu/record/layout_settings.h"
#include "base/result.h"
#include "tern/tools.h"

namespace tern::gpu {

using LayoutSettings = std::vector<std::string>;

// How settings are measured.
struct LayoutTrials {
  // Milliseconds of a prompt or of a token with these settings. kDeviceLost ends the search; any other error means that
  // the device has no room for such a layout.
  std::function<Result<double>(bool of_prompts, const LayoutSettings&)> measure;
  // Checks that results with these settings are right: kNotSupported if not.
  std::function<Result<void>(const LayoutSettings&)> check;
  std::function<bool()> is_late;  // true: try no further setting
};

// The part of `tern tune` that needs neither device nor file. Errors: of measuring the initial layouts, kDeviceLost,
// and those of `check`.
Result<TuneResult> search_layouts(std::span<const Knob> knobs, const LayoutTrials& trials,
                                  const std::function<void(const TuneTrial&)>& on_trial);

}  // namespace tern::gpu
