// The statistics of a GPU, for `--stats`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tern/gpu_stats.h"

namespace tern::cli {

// Name and value of each line. Values that were not measured are left out.
std::vector<std::pair<std::string, std::string>> gpu_stats_lines(const GpuStats& stats);

}  // namespace tern::cli
