#include "tern/build_info.h"

#include "backend/cpu/ops/cpu_target.h"
#include "base/text/format_text.h"
#include "engine/load/backends.h"

namespace tern {
namespace {

std::string compiler() {
#if defined(__clang__)
  return format_text("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return format_text("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "an unknown compiler";
#endif
}

}  // namespace

BuildInfo build_info() {
  const Result<void> choice = choose_cpu_target();
  BuildInfo info{.compiler = compiler(),
                 .targets = {},
                 .runnable = cpu::targets_that_run(),
                 .chosen = std::string(cpu::cpu_target().name),
                 .not_chosen = choice ? "" : choice.error().message,
                 .backends = {"cpu"}};
  for (const cpu::CpuTarget& target : cpu::cpu_targets()) info.targets.emplace_back(target.name);
#if TERN_HAVE_WEBGPU
  info.backends.emplace_back("webgpu");
#endif
  info.backends.emplace_back("ref");
  return info;
}

}  // namespace tern
