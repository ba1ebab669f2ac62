// The CPU for which the software driver compiles kernels in test programs (driver_cpu.cc).
#pragma once

#include <string_view>

namespace tern {

int times_driver_asked_for_cpu();

// The CPU name that the driver gets if LLVM has detected `name`.
std::string_view cpu_for_driver(std::string_view name);

}  // namespace tern
