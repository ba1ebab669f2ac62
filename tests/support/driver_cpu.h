// The CPU for which the software driver compiles kernels in test programs (driver_cpu.cc).
#pragma once

#include <string_view>

namespace tern {

int times_driver_asked_for_cpu();

// What the driver is told where LLVM has found this CPU.
std::string_view cpu_for_driver(std::string_view name);

}  // namespace tern
