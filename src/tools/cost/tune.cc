#include <filesystem>
#include <span>
#include <system_error>

#include "base/check.h"
#include "base/files/mapped_file.h"
#include "base/result.h"
#include "engine/engine_impl.h"
#include "file/output_file.h"
#include "tern/tools.h"

#ifdef TERN_HAVE_WEBGPU
#include "backend/gpu/record/tuned_layouts.h"
#include "backend/gpu/run/profile/tune.h"
#include "backend/gpu/run/webgpu_backend.h"
#endif

namespace tern {
namespace {

Result<void> check_backend(const Engine& engine) {
  if (EngineAccess::impl(engine).backend == BackendKind::kWebGpu) return {};
  return fail(ErrorCode::kNotSupported, "{} has no layouts to choose from; use the webgpu backend",
              EngineAccess::impl(engine).executable->description());
}

#ifdef TERN_HAVE_WEBGPU
// Writes the settings and returns the file's path; empty if there is none.
Result<std::string> keep(const Executable& executable, const std::vector<std::string>& settings) {
  const gpu::KeptTuning kept = gpu::kept_tuning(executable);
  if (kept.file.empty()) return kept.file;
  std::error_code error;  // creating the file reports it
  std::filesystem::create_directories(std::filesystem::path(kept.file).parent_path(), error);
  const std::string text = gpu::with_settings(read_text_file(kept.file).value_or(""), kept.key, settings);
  TRY(OutputFile file, OutputFile::create(kept.file));
  TRY_STATUS(file.write(std::as_bytes(std::span(text))));
  TRY_STATUS(file.finish());
  return kept.file;
}
#endif

}  // namespace

Result<TuneResult> tune(Engine& engine, [[maybe_unused]] const TuneOptions& options) {
  TRY_STATUS(check_backend(engine));
#ifdef TERN_HAVE_WEBGPU
  Executable& executable = *EngineAccess::impl(engine).executable;
  TRY(TuneResult result, gpu::tune(executable, options));
  const bool says_something = result.is_complete || !result.settings.empty();  // otherwise the time was too short
  if (options.keep && says_something) {
    TRY(result.path, keep(executable, result.settings));
  }
  return result;
#else
  CHECK(false);
#endif
}

Result<std::string> forget_tuning(Engine& engine) {
  TRY_STATUS(check_backend(engine));
#ifdef TERN_HAVE_WEBGPU
  gpu::forget_tuning(*EngineAccess::impl(engine).executable);
  return keep(*EngineAccess::impl(engine).executable, {});
#else
  CHECK(false);
#endif
}

}  // namespace tern
