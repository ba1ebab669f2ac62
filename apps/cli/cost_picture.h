// What devices cost, as a picture.
#pragma once

#include <string>

#include "cli/cost_report.h"

namespace tern::cli {

// A prompt's tokens by its length, written tokens by how many are before them, and the whole job by its prompt, with
// the place where the best device changes. SVG.
std::string cost_picture(const CostReport& report);

// The same in a file. kIo.
Result<void> write_cost_picture(const CostReport& report, const std::string& path);

}  // namespace tern::cli
