// What this build of Tern is made of, and what of it this machine can use.
#pragma once

#include <string>
#include <vector>

namespace tern {

struct BuildInfo {
  std::string compiler;               // "GCC 16.2.0"
  std::vector<std::string> targets;   // instruction sets that the CPU kernels are compiled for, the plainest first: "avx2"
  std::string runnable;               // those that this machine can run: "sse2, sse4, avx2"
  std::string chosen;                 // the one that it runs; TERN_CPU_TARGET chooses
  std::string not_chosen;             // why what TERN_CPU_TARGET names is not; empty where it is
  std::vector<std::string> backends;  // "cpu", "webgpu", "ref"
};

// Looks at the processor and at no GPU: costs microseconds.
BuildInfo build_info();

}  // namespace tern
