// Layouts that `tern tune` measured to be best: kept for each adapter, driver and shape of model, next to the compiled
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

// What the best layouts depend on, on one line.
std::string tuning_key(const AdapterInfo& adapter, const Plan& plan);

// The file is text. Its settings (layout_settings.h) for a key; empty: none, or none that this version knows.
std::vector<std::string> kept_settings(std::string_view file, std::string_view key);

// The file with these settings in place of those that it had for the key; no settings: with none for it.
std::string with_settings(std::string_view file, std::string_view key, const std::vector<std::string>& settings);

// In the folder of compiled pipelines.
std::string layouts_file(const std::string& folder);

// What a model gets by itself: layouts_for with the kept settings, which "tuned" in `options.without` leaves out.
Layouts tuned_layouts(const Device& device, const Plan& plan, const GpuOptions& options);

}  // namespace tern::gpu
