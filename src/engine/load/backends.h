// The backends of this build, and compiling a plan for one of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/backend.h"
#include "base/thread_pool.h"
#include "tern/options.h"

namespace tern {

// The fusions that a plan for this backend gets. None makes it slower.
Fusions fusions_for(BackendKind backend);

// kNotSupported: this build does not have the backend. kAuto means the CPU here: Engine::load tries the GPU first.
// `plan` and `pool` must outlive the executable.
Result<std::unique_ptr<Executable>> compile_on(BackendKind backend, const Plan& plan, const CompileOptions& options,
                                               ThreadPool& pool);

// True if trying to open a GPU is worthwhile; costs microseconds.
bool may_have_gpu();

// Finds the GPU that compile_on() would take: the one named by `wanted` (GpuOptions::adapter), or without a name the
// first one if it is hardware. Takes tenths of a second the first time. kNotFound.
struct FoundGpu {
  std::string name, driver;
  bool is_discrete = false;
  uint64_t memory_bytes = 0;  // 0: unknown
};
Result<FoundGpu> find_gpu(const std::string& wanted);

// Bytes that a plan takes on a GPU with keys and values of n_ctx tokens in f16. 0 in a build without the backend.
uint64_t gpu_bytes(const Plan& plan, const CompileOptions& options, int n_ctx);

// The folder of compiled pipelines, in the user's cache folder (base/files/cache_folder.h); empty: none.
std::string default_pipeline_cache();

// Makes the cpu backend use the target named by TERN_CPU_TARGET, once per process. kInvalidArgument, kNotSupported: as
// in backend/cpu/ops/cpu_target.h.
Result<void> choose_cpu_target();

// The instruction set of the cpu backend's kernels on this machine, as TERN_CPU_TARGET names it: "avx512vnni".
std::string cpu_target();

// The names of all targets that this machine can run, the most basic first: "sse2, sse4, avx2".
std::string cpu_targets();

// The sum of all words, by the cpu backend's fastest loop; measures the memory read bandwidth.
uint64_t cpu_sum_words(std::span<const uint64_t> words);

}  // namespace tern
