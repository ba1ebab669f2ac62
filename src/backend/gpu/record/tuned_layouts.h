// Layouts that `tern tune` measured to be best: kept for each adapter, driver and shape of model, next to the compiled
// pipelines.
#pragma once

#include <string>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/record/layouts.h"
#include "plan/plan.h"
#include "tern/options.h"

namespace tern::gpu {

// What the best layouts depend on, on one line.
std::string tuning_key(const AdapterInfo& adapter, const Plan& plan);

// The settings (layout_settings.h) that are kept for a key; empty: none, or none that this version knows.
std::vector<std::string> kept_settings(const std::string& folder, const std::string& key);

// Keeps them, in place of those that were kept for the key; no settings: forgets those. Gives the file. kIo.
Result<std::string> keep_settings(const std::string& folder, const std::string& key,
                                  const std::vector<std::string>& settings);

// What a model gets by itself: layouts_for with the kept settings, which "tuned" in `options.without` leaves out.
Layouts tuned_layouts(const Device& device, const Plan& plan, const GpuOptions& options);

}  // namespace tern::gpu
