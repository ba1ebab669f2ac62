// The CPU backend runs the plan's steps as SIMD kernels on a persistent team of threads.
#pragma once

#include "backend/backend.h"
#include "base/thread_pool.h"

namespace tern::cpu {

// Makes `plan` runnable on all threads of `pool`. `plan`, its weights and `pool` must outlive the executable.
// kNotSupported: a ternary matrix has several scales, or exact_head cannot be met; kOutOfMemory.
Result<std::unique_ptr<Executable>> compile(const Plan& plan, const CompileOptions& options, ThreadPool& pool);
Result<std::unique_ptr<Executable>> compile(const Plan&& plan, const CompileOptions& options,
                                            ThreadPool& pool) = delete;

}  // namespace tern::cpu
