// The layouts that `tern tune` measured to be best, kept per adapter, driver and model shape, next to the compiled
// pipelines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/record/layouts.h"
#include "plan/plan.h"
#include "tern/options.h"

namespace tern::gpu {

// One line with everything that the best layouts depend on.
std::string tuning_key(const AdapterInfo& adapter, const Plan& plan);

// The settings (layout_settings.h) for a key in the text of such a file. Empty: none, or none that this version knows.
std::vector<std::string> kept_settings(std::string_view file, std::string_view key);

// The file's text with `settings` as the only ones for the key; empty settings remove the key.
std::string with_settings(std::string_view file, std::string_view key, const std::vector<std::string>& settings);

// The file's path in the folder of compiled pipelines.
std::string layouts_file(const std::string& folder);

// The layouts for a model: layouts_for with the kept settings, unless `options.without` contains "tuned".
Layouts tuned_layouts(const Device& device, const Plan& plan, const GpuOptions& options);

}  // namespace tern::gpu
