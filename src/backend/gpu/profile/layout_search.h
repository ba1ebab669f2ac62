// Which settings of layouts are fastest: one is changed at a time, and stays where that is faster.
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

// What is measured, and how.
struct LayoutTrials {
  // Milliseconds of a prompt or a token with these settings. kDeviceLost ends the search; another error means that
  // there is no room for such a layout.
  std::function<Result<double>(bool of_prompts, const LayoutSettings&)> measure;
  // Whether what is computed with them is right: kNotSupported where it is not.
  std::function<Result<void>(const LayoutSettings&)> check;
  std::function<bool()> is_late;  // no further setting is tried
};

// All but the device and the file. Errors: of the layouts that there were before, kDeviceLost, and those of `check`.
Result<TuneResult> search_layouts(std::span<const Knob> knobs, const LayoutTrials& trials,
                                  const std::function<void(const TuneTrial&)>& on_trial);

}  // namespace tern::gpu
