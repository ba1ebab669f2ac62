// How this Tern was built, and which parts of it this machine can use.
#pragma once

#include <string>
#include <vector>

namespace tern {

struct BuildInfo {
  std::string compiler;  // "GCC 16.2.0"
  std::vector<std::string>
      targets;             // instruction sets that the CPU kernels are compiled for, the plainest first: "avx2"
  std::string runnable;    // those of them that this machine can run: "sse2, sse4, avx2"
  std::string chosen;      // the one in use; TERN_CPU_TARGET chooses it
  std::string not_chosen;  // why the one that TERN_CPU_TARGET names is not used; empty if it is
  std::vector<std::string> backends;  // "cpu", "webgpu", "ref"
};

// Looks only at the processor, not at GPUs: costs microseconds.
BuildInfo build_info();

}  // namespace tern
