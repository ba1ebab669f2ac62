#include "engine/backends.h"

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/ops.h"
#include "backend/cpu/sum_words.h"
#include "backend/ref/ref_backend.h"
#include "base/check.h"

#ifdef TERN_HAVE_WEBGPU
#include "backend/gpu/webgpu_backend.h"
#endif

namespace tern {

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
#ifdef TERN_HAVE_WEBGPU
      return gpu::compile(plan, options);
#else
      return fail(ErrorCode::kNotSupported, "the webgpu backend is not part of this build; use -b cpu");
#endif
  }
  CHECK(false);
}

std::string cpu_target() { return cpu::target_name(); }

uint64_t cpu_sum_words(std::span<const uint64_t> words) { return cpu::sum_words(words); }

}  // namespace tern
