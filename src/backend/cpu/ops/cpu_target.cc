#include "backend/cpu/ops/cpu_target.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "backend/cpu/ops/fetch_ahead.h"
#include "base/check.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__linux__) && defined(__aarch64__)
#include <sys/auxv.h>
#elif defined(__APPLE__) && defined(__aarch64__)
#include "base/platform/apple/system_number.h"
#endif

namespace tern::cpu {
namespace {

#if defined(HWY_COMPILE_ONLY_STATIC)
constexpr int64_t kCompiled = HWY_STATIC_TARGET;
#else
constexpr int64_t kCompiled = HWY_TARGETS;
#endif
// The plainest NEON target of this build.
constexpr int64_t kNeon = (kCompiled & HWY_NEON_WITHOUT_AES) != 0 ? HWY_NEON_WITHOUT_AES : HWY_NEON;

std::vector<CpuTarget> compiled_targets() {
  const CpuTarget all[] = {
      {.name = "scalar", .adds = "no vectors", .vectors = HWY_EMU128},
      {.name = "sse2", .adds = "128-bit vectors", .vectors = HWY_SSE2},
      {.name = "sse4", .adds = "byte shuffles and products", .vectors = HWY_SSE4},
      {.name = "avx2", .adds = "256-bit vectors", .vectors = HWY_AVX2},
      {.name = "avxvnni", .adds = "dot products of bytes", .vectors = HWY_AVX2, .avx_vnni = true},
      {.name = "avx512", .adds = "512-bit vectors", .vectors = HWY_AVX3},
      {.name = "avx512vnni", .adds = "dot products of bytes", .vectors = HWY_AVX3_DL},
      {.name = "amx", .adds = "tiles of bytes, for prompts", .vectors = HWY_AVX3_DL, .amx = true},
      {.name = "neon", .adds = "128-bit vectors", .vectors = kNeon},
      {.name = "neondot", .adds = "dot products of bytes", .vectors = kNeon, .neon_dot = true},
      {.name = "neoni8mm",
       .adds = "products of small matrices of bytes, for prompts",
       .vectors = kNeon,
       .neon_dot = true,
       .i8mm = true},
      {.name = "wasm", .adds = "128-bit vectors", .vectors = HWY_WASM},
  };
  std::vector<CpuTarget> targets;
  for (const CpuTarget& target : all) {
    if ((target.vectors & kCompiled) == 0) continue;
#if !defined(__linux__) || !defined(__x86_64__)
    if (target.amx) continue;
#endif
    targets.push_back(target);
  }
  CHECK(!targets.empty());
  return targets;
}

#if defined(__x86_64__)
bool find_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
}
#else
bool find_avx_vnni() { return false; }
#endif

// AMX's byte tiles, for which the operating system must first grant the tile state.
#if defined(__linux__) && defined(__x86_64__)
bool find_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d >> 24 & 1) == 0 || (d >> 25 & 1) == 0) return false;
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#else
bool find_amx() { return false; }
#endif

#if defined(__linux__) && defined(__aarch64__)
bool find_neon_dot() { return (getauxval(AT_HWCAP) >> 20 & 1) != 0; }  // HWCAP_ASIMDDP
bool find_i8mm() { return (getauxval(AT_HWCAP2) >> 13 & 1) != 0; }     // HWCAP2_I8MM
#elif defined(__APPLE__) && defined(__aarch64__)
bool find_neon_dot() { return platform::system_number("hw.optional.arm.FEAT_DotProd") != 0; }
bool find_i8mm() { return platform::system_number("hw.optional.arm.FEAT_I8MM") != 0; }
#else
bool find_neon_dot() { return false; }
bool find_i8mm() { return false; }
#endif

int64_t supported_vectors() {
#if defined(HWY_COMPILE_ONLY_STATIC)
  return HWY_STATIC_TARGET;
#else
  // Asked once, before any target is disabled. Any NEON target implies the plain one.
  static const int64_t supported = hwy::SupportedTargets();
  return (supported & HWY_ALL_NEON) != 0 ? supported | kNeon : supported;
#endif
}

// The best target; the plainest one if this machine can run none.
const CpuTarget* best_target() {
  const CpuTarget* best = &cpu_targets().front();
  for (const CpuTarget& target : cpu_targets()) {
    if (can_run(target)) best = &target;
  }
  return best;
}

// Fails if this machine can run none of the build's targets: a native build has kernels for one machine only.
Result<void> need_a_target() {
  if (std::ranges::any_of(cpu_targets(), can_run)) return {};
  return fail(
      ErrorCode::kNotSupported,
      "this tern has kernels for {} only, which this processor does not have; build it on this machine, or with "
      "-DTERN_CPU_SETS=all",
      cpu_targets().front().name);
}

const CpuTarget*& chosen() {
  static const CpuTarget* target = best_target();
  return target;
}

}  // namespace

std::span<const CpuTarget> cpu_targets() {
  static const std::vector<CpuTarget> targets = compiled_targets();
  return targets;
}

bool can_run(const CpuTarget& target) {
  static const bool has_avx_vnni = find_avx_vnni(), has_amx = find_amx();
  static const bool has_neon_dot = find_neon_dot(), has_i8mm = find_i8mm();
  if ((target.vectors & supported_vectors()) == 0) return false;
  return (!target.avx_vnni || has_avx_vnni) && (!target.amx || has_amx) && (!target.neon_dot || has_neon_dot) &&
         (!target.i8mm || has_i8mm);
}

std::string targets_that_run() {
  std::string names;
  for (const CpuTarget& target : cpu_targets()) {
    if (can_run(target)) names += (names.empty() ? "" : ", ") + std::string(target.name);
  }
  return names;
}

const CpuTarget& cpu_target() { return *chosen(); }

void choose_cpu_target(const CpuTarget& target) {
  CHECK(can_run(target));
  chosen() = &target;
#if !defined(HWY_COMPILE_ONLY_STATIC)
  supported_vectors();
  // Dispatch takes the best target that is still enabled. Better targets have lower bits.
  const int64_t better = target.vectors - 1;
  hwy::DisableTargets(better);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
#endif
}

Result<void> choose_cpu_target(std::string_view name) {
  if (name.empty()) {
    choose_cpu_target(*best_target());
    return {};
  }
  for (const CpuTarget& target : cpu_targets()) {
    if (target.name != name) continue;
    if (!can_run(target)) {
      return fail(ErrorCode::kNotSupported, "TERN_CPU_TARGET={}: this machine cannot run it; it runs {}", name,
                  targets_that_run());
    }
    choose_cpu_target(target);
    return {};
  }
  return fail(ErrorCode::kInvalidArgument, "TERN_CPU_TARGET={}: there is no such target; this machine runs {}", name,
              targets_that_run());
}

namespace {
bool is_intel() {
#if HWY_ARCH_X86
  static const bool is = __builtin_cpu_is("intel") != 0;
  return is;
#else
  return false;
#endif
}
}  // namespace

FetchAhead weights_ahead() {
  if (is_intel()) return {.first_cache = 2048, .second_cache = 8192};
  return HWY_ARCH_X86 ? FetchAhead{.second_cache = 8192} : FetchAhead{.first_cache = 512};
}

FetchAhead blocks_ahead() { return is_intel() ? weights_ahead() : FetchAhead{.first_cache = 512}; }

FetchAhead reading_ahead() { return is_intel() ? FetchAhead{.second_cache = 4096} : FetchAhead{}; }

Result<void> choose_cpu_target_from_environment() {
  static const Result<void> result = []() -> Result<void> {
    TRY_STATUS(need_a_target());
    const char* name = std::getenv("TERN_CPU_TARGET");
    if (name == nullptr) return {};
    return choose_cpu_target(std::string_view(name));
  }();
  return result;
}

}  // namespace tern::cpu
