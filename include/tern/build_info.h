// How this Tern was built, and which of its parts this machine can use.
#pragma once

#include <string>
#include <vector>

namespace tern {

struct BuildInfo {
  std::string compiler;  // "GCC 16.2.0"
  std::vector<std::string>
      targets;             // instruction sets that the CPU kernels are compiled for, the most basic first: "avx2"
  std::string runnable;    // the targets that this machine can run: "sse2, sse4, avx2"
  std::string chosen;      // the target in use; TERN_CPU_TARGET selects it
  std::string not_chosen;  // why the target named by TERN_CPU_TARGET is not used; empty if it is
  std::vector<std::string> backends;  // "cpu", "webgpu", "ref"
};

// Looks only at the processor, not at GPUs, so it costs microseconds.
BuildInfo build_info();

}  // namespace tern
