#include "engine/load/backends.h"

#include "base/check.h"
#include "base/files/cache_folder.h"

// A build has one or both of these. In a web page, a module has only the backend that it uses.
#ifdef TERN_HAVE_CPU
#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/ops/cpu_target.h"
#include "backend/cpu/ops/ops.h"
#include "backend/cpu/ops/sum_words.h"
#include "backend/ref/ref_backend.h"
#endif
#ifdef TERN_HAVE_WEBGPU
#include "backend/gpu/device/choose_adapter.h"
#include "backend/gpu/run/memory_need.h"
#include "backend/gpu/run/webgpu_backend.h"
#endif

namespace tern {

namespace {

Result<std::unique_ptr<Executable>> compile_on_gpu([[maybe_unused]] const Plan& plan,
                                                   [[maybe_unused]] const CompileOptions& options,
                                                   [[maybe_unused]] ThreadPool& pool) {
#ifdef TERN_HAVE_WEBGPU
  CompileOptions with_cache = options;
  with_cache.pool = &pool;
  if (with_cache.gpu.megakernel == MegakernelUse::kAuto) with_cache.gpu.megakernel = with_cache.gpu.one_dispatch;
  if (with_cache.gpu.cache_dir.empty()) with_cache.gpu.cache_dir = default_pipeline_cache();
  return gpu::compile(plan, with_cache);
#else
  return fail(ErrorCode::kNotSupported, "the webgpu backend is not part of this build; use the cpu backend");
#endif
}

Result<std::unique_ptr<Executable>> compile_on_cpu([[maybe_unused]] BackendKind kind, [[maybe_unused]] const Plan& plan,
                                                   [[maybe_unused]] const CompileOptions& options,
                                                   [[maybe_unused]] ThreadPool& pool) {
#ifdef TERN_HAVE_CPU
  return kind == BackendKind::kRef ? ref::compile(plan, options) : cpu::compile(plan, options, pool);
#else
  return fail(ErrorCode::kNotSupported, "the cpu backend is not part of this build; use the webgpu backend");
#endif
}

}  // namespace

Fusions fusions_for(BackendKind backend) { return backend == BackendKind::kWebGpu ? Fusions::all() : Fusions::host(); }

Result<std::unique_ptr<Executable>> compile_on(BackendKind backend, const Plan& plan, const CompileOptions& options,
                                               ThreadPool& pool) {
  return backend == BackendKind::kWebGpu ? compile_on_gpu(plan, options, pool)
                                         : compile_on_cpu(backend, plan, options, pool);
}

bool may_have_gpu() {
#ifdef TERN_HAVE_WEBGPU
  return gpu::may_have_hardware();
#else
  return false;
#endif
}

Result<FoundGpu> find_gpu([[maybe_unused]] const std::string& wanted) {
#ifdef TERN_HAVE_WEBGPU
  TRY(const auto adapters, gpu::list_adapters());
  TRY(const size_t index, gpu::choose_adapter(adapters, wanted, /*only_hardware=*/wanted.empty()));
  const gpu::AdapterInfo& info = adapters[index];
  return FoundGpu{.name = info.name,
                  .driver = info.driver,
                  .is_discrete = info.type == gpu::AdapterType::kDiscrete,
                  .memory_bytes = info.memory_bytes};
#else
  return fail(ErrorCode::kNotFound, "the webgpu backend is not part of this build");
#endif
}

uint64_t gpu_bytes([[maybe_unused]] const Plan& plan, [[maybe_unused]] const CompileOptions& options,
                   [[maybe_unused]] int n_ctx) {
#ifdef TERN_HAVE_WEBGPU
  return gpu::memory_need(plan, options, n_ctx, KvType::kF16).total();
#else
  return 0;
#endif
}

std::string default_pipeline_cache() {
  const std::string folder = user_cache_folder();
  return folder.empty() ? "" : folder + "/pipelines";
}

#ifdef TERN_HAVE_CPU
Result<void> choose_cpu_target() { return cpu::choose_cpu_target_from_environment(); }

std::string cpu_target() { return std::string(cpu::cpu_target().name); }

std::string cpu_targets() { return cpu::targets_that_run(); }

uint64_t cpu_sum_words(std::span<const uint64_t> words) { return cpu::sum_words(words); }
#else
Result<void> choose_cpu_target() { return {}; }

std::string cpu_target() { return {}; }

std::string cpu_targets() { return {}; }

uint64_t cpu_sum_words(std::span<const uint64_t> /*words*/) { CHECK(false); }
#endif

}  // namespace tern
