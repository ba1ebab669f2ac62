#include "base/check.h"
#include "base/result.h"
#include "engine/engine_impl.h"
#include "tern/tools.h"

#ifdef TERN_HAVE_WEBGPU
#include "backend/gpu/webgpu_backend.h"
#endif

namespace tern {
namespace {

Result<void> check_backend(const Engine& engine) {
  if (engine.impl().backend == BackendKind::kWebGpu) return {};
  return fail(ErrorCode::kNotSupported, "{} has no layouts to choose from; use the webgpu backend",
              engine.impl().executable->description());
}

}  // namespace

Result<TuneResult> tune(Engine& engine, const TuneOptions& options) {
  TRY_STATUS(check_backend(engine));
#ifdef TERN_HAVE_WEBGPU
  return gpu::tune(*engine.impl().executable, options);
#else
  (void)options;
  CHECK(false);
#endif
}

Result<std::string> forget_tuning(Engine& engine) {
  TRY_STATUS(check_backend(engine));
#ifdef TERN_HAVE_WEBGPU
  return gpu::forget_tuning(*engine.impl().executable);
#else
  CHECK(false);
#endif
}

}  // namespace tern
