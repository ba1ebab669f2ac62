// Which backends this build has, and how a plan gets onto one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/backend.h"
#include "base/thread_pool.h"
#include "tern/options.h"

namespace tern {

// What the backend has kernels for, or at least runs no slower.
Fusions fusions_for(BackendKind backend);

// kNotSupported where the build lacks the backend. kAuto is the CPU here: Engine::load tries the GPU first. `plan` and
// `pool` must outlive the executable.
Result<std::unique_ptr<Executable>> compile_on(BackendKind backend, const Plan& plan, const CompileOptions& options,
                                               ThreadPool& pool);

// Whether it is worth trying to open a GPU: costs microseconds.
bool may_have_gpu();

// The GPU that compile_on() would take: the one that is `wanted` (GpuOptions::adapter), or without a name the first if
// that is hardware. Takes tenths of a second the first time. kNotFound.
struct FoundGpu {
  std::string name, driver;
  bool is_discrete = false;
};
Result<FoundGpu> find_gpu(const std::string& wanted);

// Where compiled pipelines are kept between runs: in the user's cache folder (base/cache_folder.h); empty: nowhere.
std::string default_pipeline_cache();

// Makes the cpu backend use what TERN_CPU_TARGET names, once per process. kInvalidArgument, kNotSupported as
// backend/cpu/cpu_target.h has them.
Result<void> choose_cpu_target();

// The instruction set whose kernels the cpu backend runs on this machine, as TERN_CPU_TARGET names it: "avx512vnni".
std::string cpu_target();

// The names of all that this machine can run, the plainest first: "sse2, sse4, avx2".
std::string cpu_targets();

// The sum of all words, by the cpu backend's fastest loop: for measuring how fast this machine reads memory.
uint64_t cpu_sum_words(std::span<const uint64_t> words);

}  // namespace tern
