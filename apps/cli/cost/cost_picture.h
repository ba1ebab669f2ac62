// The costs of devices as a picture.
#pragma once

#include <string>

#include "cli/cost/cost_report.h"

namespace tern::cli {

// Returns an SVG: the cost of prompt tokens by prompt length, of generated tokens by their position, and of the whole
// job by prompt length, with the points where the best device changes.
std::string cost_picture(const CostReport& report);

// Writes it to a file. kIo.
Result<void> write_cost_picture(const CostReport& report, const std::string& path);

}  // namespace tern::cli
