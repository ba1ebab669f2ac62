// Which of the machine's adapters to use.
#pragma once

#include <span>
#include <string>

#include "backend/gpu/device/device.h"

namespace tern::gpu {

// Whether this machine can have a GPU at all, from the files in `dev` that drivers put there (render nodes, NVIDIA's
// and Windows' devices): looking costs microseconds, loading Vulkan and its drivers tenths of a second. True where
// drivers leave no such files.
bool may_have_hardware(const std::string& dev = "/dev");

// The index in `adapters`, which are sorted best first, of the one that is `wanted`: part of its name (any case) or its
// number. Empty: the first; with `only_hardware` it has to be discrete or integrated. kNotFound, listing what there is.
Result<size_t> choose_adapter(std::span<const AdapterInfo> adapters, std::string_view wanted, bool only_hardware);

}  // namespace tern::gpu
