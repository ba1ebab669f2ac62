// Which instruction set the kernels use: the best that this processor has, or the one that TERN_CPU_TARGET names.
//
// Highway dispatches among sets of vectors. What it has no vectors for (dot products of bytes in AVX2's encoding, AMX's
// tiles) are extensions of such a set: switches that kernels of the set look at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tern::cpu {

struct CpuTarget {
  std::string_view name;  // "avx2", as TERN_CPU_TARGET takes it
  std::string_view adds;  // beyond the target before: "256-bit vectors"
  int64_t vectors;        // Highway's bit for it
  bool avx_vnni = false;  // vpdpbusd on 256-bit vectors
  bool amx = false;       // tiles of bytes, for prompts
  bool neon_dot = false;  // sdot
};

// That this build has kernels for, the plainest first.
std::span<const CpuTarget> cpu_targets();

// Whether this processor, and the system where it has a say, can run it.
bool can_run(const CpuTarget& target);

// The target whose kernels run. Unless one was chosen, the last of cpu_targets() that this machine can run.
const CpuTarget& cpu_target();

// The names of all that this machine can run: "sse2, sse4, avx2".
std::string targets_that_run();

// From now on, everywhere in the process. Not while kernels run.
void choose_cpu_target(const CpuTarget& target);

// By name, "" being the best. kInvalidArgument where there is none of this name, kNotSupported where this machine
// cannot run it; both say what there is.
Result<void> choose_cpu_target(std::string_view name);

// What the environment's TERN_CPU_TARGET says, once per process: later calls give the first one's result.
Result<void> choose_cpu_target_from_environment();

}  // namespace tern::cpu
