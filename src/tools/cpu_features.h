// Reports which of the processor's instruction sets the kernels use.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/system_info.h"

namespace tern {

// Returns one line per instruction set that matters to the kernels: found or not, used or not, and why. `target`: the
// set of kernels in use (engine/load/backends.h).
std::vector<std::pair<std::string, std::string>> feature_facts(const CpuInfo& cpu, std::string_view target,
                                                               bool is_arm);

}  // namespace tern
