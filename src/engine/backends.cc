#include "engine/backends.h"

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/cpu_target.h"
#include "backend/cpu/ops.h"
#include "backend/cpu/sum_words.h"
#include "backend/ref/ref_backend.h"
#include "base/cache_folder.h"
#include "base/check.h"

#ifdef TERN_HAVE_WEBGPU
#include "backend/gpu/choose_adapter.h"
#include "backend/gpu/webgpu_backend.h"
#endif

namespace tern {

namespace {

Result<std::unique_ptr<Executable>> compile_on_gpu([[maybe_unused]] const Plan& plan,
                                                   [[maybe_unused]] const CompileOptions& options) {
#ifdef TERN_HAVE_WEBGPU
  CompileOptions with_cache = options;
  if (with_cache.gpu.cache_dir.empty()) with_cache.gpu.cache_dir = default_pipeline_cache();
  return gpu::compile(plan, with_cache);
#else
  return fail(ErrorCode::kNotSupported, "the webgpu backend is not part of this build; use the cpu backend");
#endif
}

}  // namespace

Fusions fusions_for(BackendKind backend) { return backend == BackendKind::kWebGpu ? Fusions::all() : Fusions::host(); }

Result<std::unique_ptr<Executable>> compile_on(BackendKind backend, const Plan& plan, const CompileOptions& options,
                                               ThreadPool& pool) {
  switch (backend) {
    case BackendKind::kAuto:
    case BackendKind::kCpu:
      return cpu::compile(plan, options, pool);
    case BackendKind::kRef:
      return ref::compile(plan, options);
    case BackendKind::kWebGpu:
      return compile_on_gpu(plan, options);
  }
  CHECK(false);
}

bool may_have_gpu() {
#ifdef TERN_HAVE_WEBGPU
  return gpu::may_have_hardware();
#else
  return false;
#endif
}

std::string default_pipeline_cache() {
  const std::string folder = user_cache_folder();
  return folder.empty() ? "" : folder + "/pipelines";
}

Result<void> choose_cpu_target() { return cpu::choose_cpu_target_from_environment(); }

std::string cpu_target() { return std::string(cpu::cpu_target().name); }

std::string cpu_targets() { return cpu::targets_that_run(); }

uint64_t cpu_sum_words(std::span<const uint64_t> words) { return cpu::sum_words(words); }

}  // namespace tern
