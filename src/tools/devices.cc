// Reports what this machine has and what of it the kernels use.
#include <algorithm>
#include <array>

#include "backend/kv_layout.h"
#include "backend/state_layout.h"
#include "base/files/system_info.h"
#include "base/platform/memory.h"
#include "base/text/format_text.h"
#include "base/thread_pool.h"
#include "engine/load/backends.h"
#include "model/model.h"
#include "tern/tools.h"
#include "tools/cpu_features.h"
#include "tools/type_names.h"
#if TERN_HAVE_WEBGPU
#include "tools/gpu_devices.h"
#endif

namespace tern {
namespace {

// The targets of the CPU kernels (backend/cpu/ops/cpu_target.h), grouped by the features they use.
constexpr std::array kAvx2Targets = {"avx2", "avxvnni", "avx512", "avx512vnni", "amx"};
constexpr std::array kAvxVnniTargets = {"avxvnni"};
constexpr std::array kAvx512Targets = {"avx512", "avx512vnni", "amx"};
constexpr std::array kVnniTargets = {"avx512vnni", "amx"};
constexpr std::array kAmxTargets = {"amx"};
constexpr std::array kNeonTargets = {"neon", "neondot", "neoni8mm"};
constexpr std::array kNeonDotTargets = {"neondot", "neoni8mm"};
constexpr std::array kI8mmTargets = {"neoni8mm"};

struct Feature {
  std::string_view name;  // the operating system kernel's spelling
  bool is_arm;
  std::span<const char* const> targets;  // CPU targets that use it
  std::string_view use;                  // its use, or why it is not used
};
constexpr Feature kFeatures[] = {
    {"avx2", false, kAvx2Targets, "256-bit vectors"},
    {"avx512f", false, kAvx512Targets, "512-bit vectors"},
    {"avx512_vnni", false, kVnniTargets, "8-bit dot products of the ternary layers"},
    {"avx_vnni", false, kAvxVnniTargets, "8-bit dot products of the ternary layers, without AVX-512"},
    {"avx512_bf16", false, {}, "no kernel needs it: float layers are computed in f32"},
    {"avx512_fp16", false, {}, "no kernel needs it: float layers are computed in f32"},
    {"amx_int8", false, kAmxTargets, "8-bit tiles of the ternary layers, for prompts"},
    {"asimd", true, kNeonTargets, "128-bit vectors"},
    {"asimddp", true, kNeonDotTargets, "8-bit dot products of the ternary layers"},
    {"i8mm", true, kI8mmTargets, "8-bit matrices of the ternary layers, for prompts"},
    {"sve", true, {}, "the kernels need vectors whose length is known when they are compiled"},
};

std::string feature_text(const Feature& feature, bool found, std::string_view target) {
  if (!found) return "not found";
  if (feature.targets.empty()) return format_text("found, not used: {}", feature.use);
  if (std::ranges::find(feature.targets, target) != feature.targets.end())
    return format_text("found, used: {}", feature.use);
  return "found, not used: the kernels that use it need other features that this machine lacks";
}

std::string gigabytes(uint64_t bytes) {
  return bytes == 0 ? "unknown" : format_text("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

bool is_arm_machine() {
#if defined(__aarch64__) || defined(__arm__)
  return true;
#else
  return false;
#endif
}

DeviceInfo cpu_device() {
  const CpuInfo cpu = read_cpu_info();
  const MemoryInfo memory = read_memory_info();
  const auto chosen = choose_cpu_target();
  const std::string target = cpu_target();
  DeviceInfo device{.backend = "cpu", .name = cpu.name.empty() ? "unknown processor" : cpu.name, .facts = {}};
  const int cpus = ThreadPool::available_cpus(), n_fast = ThreadPool::threads_for(0);
  const std::string fast =
      n_fast < cpus ? format_text("; {} of them are fast, and compute unless told otherwise", n_fast) : "";
  device.facts.emplace_back("CPUs", format_text("{} that this process may use{}", cpus, fast));
  device.facts.emplace_back("kernels", format_text("{}; TERN_CPU_TARGET chooses from {}", target, cpu_targets()));
  if (!chosen) device.facts.emplace_back("not used", chosen.error().message);
  for (auto& fact : feature_facts(cpu, target, is_arm_machine())) device.facts.push_back(std::move(fact));
  device.facts.emplace_back("memory", format_text("{}, of which {} are available", gigabytes(memory.total_bytes),
                                                  gigabytes(memory.available_bytes)));
  device.facts.emplace_back("page size", format_text("{} B", platform::page_size()));
  return device;
}

// Weights stay in the mapped file, so the file and the KV cache must fit in memory.
void add_cpu_needs(const Model& model, KvType kv_type, DeviceInfo& cpu) {
  const Config& c = model.config;
  const uint64_t file = model.source->file_bytes();
  const uint64_t kv_cache = kv_bytes(c, c.n_ctx, kv_type), state = StateLayout(c).bytes();
  const uint64_t need = file + kv_cache + state;
  const uint64_t available = read_memory_info().available_bytes;
  cpu.facts.emplace_back("model file", format_text("{} MiB", file >> 20));
  cpu.facts.emplace_back("KV cache", format_text("{} MiB for {} tokens of context, in {}", kv_cache >> 20, c.n_ctx,
                                                 kv_type_name(kv_type)));
  if (state > 0) cpu.facts.emplace_back("states", format_text("{} MiB for each conversation", state >> 20));
  cpu.facts.emplace_back("in all", format_text("{} MiB", need >> 20));
  cpu.facts.emplace_back("fits", available == 0      ? "unknown"
                                 : need <= available ? "yes"
                                                     : format_text("no: {} MiB are available", available >> 20));
}

std::vector<DeviceInfo> devices_for(const Model* model, KvType kv_type) {
  std::vector<DeviceInfo> devices = {cpu_device()};
  if (model) add_cpu_needs(*model, kv_type, devices.front());
#if TERN_HAVE_WEBGPU
  devices.append_range(gpu_devices(model, kv_type));
#else
  devices.push_back({.backend = "webgpu", .name = "not part of this build", .facts = {}});
#endif
  return devices;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> feature_facts(const CpuInfo& cpu, std::string_view target,
                                                               bool is_arm) {
  std::vector<std::pair<std::string, std::string>> facts;
  if (cpu.features.empty()) return {{"features", "unknown: this system has no /proc/cpuinfo that lists them"}};
  for (const Feature& feature : kFeatures) {
    if (feature.is_arm != is_arm) continue;
    facts.emplace_back(feature.name, feature_text(feature, cpu.has(feature.name), target));
  }
  return facts;
}

std::vector<DeviceInfo> list_devices() { return devices_for(nullptr, KvType::kF16); }

Result<std::vector<DeviceInfo>> list_devices_for(const std::string& model_path, KvType kv_type,
                                                 const MetadataChanges& changes) {
  TRY(const Model model, open_model(model_path, {}, Access::kResident, changes));
  warn_of_ignored_keys(model);
  return devices_for(&model, kv_type);
}

}  // namespace tern
