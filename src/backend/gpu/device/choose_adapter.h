// Chooses one of the machine's adapters.
#pragma once

#include <span>
#include <string>

#include "backend/gpu/device/device.h"

namespace tern::gpu {

// False if this machine cannot have a GPU, judging by the files that drivers create in `dev` (render nodes, NVIDIA's
// and Windows' devices). This check takes microseconds; loading Vulkan and its drivers takes tenths of a second. Always
// true on systems where drivers create no such files.
bool may_have_hardware(const std::string& dev = "/dev");

// The index in `adapters` (sorted best first) of the `wanted` one: part of its name (any case) or its number. Empty:
// the first; with `only_hardware` it must be discrete or integrated. kNotFound, with a list of the adapters.
Result<size_t> choose_adapter(std::span<const AdapterInfo> adapters, std::string_view wanted, bool only_hardware);

}  // namespace tern::gpu
