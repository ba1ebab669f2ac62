// What Linux says of processors that are not alike.
#pragma once

#include <string>
#include <vector>

namespace tern::platform {

// By `folder`, which is /sys/devices: what the kernel's scheduler counts with (cpu_capacity, on ARM and newer x86), or
// Intel's two kinds of cores. Empty if they are alike or unknown.
std::vector<int> speeds_in(const std::string& folder, const std::vector<int>& processors);

}  // namespace tern::platform
