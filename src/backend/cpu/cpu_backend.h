// The CPU backend: the plan's steps as SIMD kernels on a persistent team of threads.
#pragma once

#include "backend/backend.h"
#include "base/thread_pool.h"

namespace tern::cpu {

// `plan`, its weights and `pool` must outlive the executable. Uses all threads of the pool.
Result<std::unique_ptr<Executable>> compile(const Plan& plan, const CompileOptions& options, ThreadPool& pool);

}  // namespace tern::cpu
