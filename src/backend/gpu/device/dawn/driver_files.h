// The Vulkan drivers that a toolchain of ./setup includes, for machines without drivers.
#pragma once

#include <span>
#include <string>

namespace tern::gpu {

// The files in `own` (a folder of *_icd.json) that the loader should read as well, joined by ':'. Leaves out drivers of
// GPUs for which one of the folders `system` already has a driver. Always includes the software driver, since the
// system's may be too old. Empty: no files, or no such folder.
std::string drivers_to_add(const std::string& own, std::span<const std::string> system);

// Makes this process's Vulkan loader find them, unless environment variables name the drivers. Does nothing in builds
// with the system's libraries.
void add_own_drivers();

}  // namespace tern::gpu
