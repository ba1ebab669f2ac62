// The instruction set of the kernels: the best one that this processor has, or the one named by TERN_CPU_TARGET.
//
// Highway dispatches among vector targets. Instructions that it has no target for (byte dot products in AVX2's
// encoding, AMX tiles) are extensions of a vector target: flags that the kernels of that target check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tern::cpu {

struct CpuTarget {
  std::string_view name;  // "avx2", as in TERN_CPU_TARGET
  std::string_view adds;  // what it adds to the target before it: "256-bit vectors"
  int64_t vectors;        // Highway's target bit
  bool avx_vnni = false;  // vpdpbusd on 256-bit vectors
  bool amx = false;       // tiles of bytes, for prefill
  bool neon_dot = false;  // sdot
  bool i8mm = false;      // smmla, for prefill
};

// The targets that this build has kernels for, from the plainest to the best.
std::span<const CpuTarget> cpu_targets();

// True if this processor can run the target and, for AMX, the operating system allows it.
bool can_run(const CpuTarget& target);

// The target whose kernels run: the chosen one, otherwise the last of cpu_targets() that this machine can run.
const CpuTarget& cpu_target();

// The names of all targets that this machine can run: "sse2, sse4, avx2".
std::string targets_that_run();

// Chooses the target for the whole process. Must not be called while kernels run.
void choose_cpu_target(const CpuTarget& target);

// Chooses a target by name; "" is the best one. kInvalidArgument: no target has this name. kNotSupported: this machine
// cannot run it. Both messages list the targets that run.
Result<void> choose_cpu_target(std::string_view name);

// Chooses the target named by the environment's TERN_CPU_TARGET, once per process: later calls return the first result.
Result<void> choose_cpu_target_from_environment();

}  // namespace tern::cpu
