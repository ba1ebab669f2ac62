// The Vulkan drivers that a toolchain of ./setup brings along, for machines that have none of their own.
#pragma once

#include <span>
#include <string>

namespace tern::gpu {

// The files of `own` (a folder of *_icd.json) that a loader shall read too, joined by ':'. Left out is the driver of a
// GPU that one of the folders `system` already has a driver for; the software driver always counts, as an old system's
// may be too old. Empty: none, or there is no such folder.
std::string drivers_to_add(const std::string& own, std::span<const std::string> system);

// Has the Vulkan loader of this process find them, unless the environment names the drivers. Does nothing in builds
// with the system's libraries.
void add_own_drivers();

}  // namespace tern::gpu
