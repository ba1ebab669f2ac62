#include "backend/gpu/webgpu_backend.h"

#include <algorithm>
#include <atomic>

#include "backend/gpu/executable.h"
#include "backend/kv_layout.h"
#include "base/format_text.h"
#include "base/log.h"

namespace tern::gpu {
namespace {

Result<Restrictions> parse_restrictions(const std::vector<std::string>& names) {
  Restrictions without;
  for (const std::string& name : names) {
    if (name == "f16") {
      without.f16 = true;
    } else if (name == "subgroups") {
      without.subgroups = true;
    } else if (name == "subgroup-matrix") {
      without.subgroup_matrix = true;
    } else if (name == "dot4") {
      without.packed_dot = true;
    } else if (name == "timestamps") {
      without.timestamps = true;
    } else if (name == "limits") {
      without.default_limits = true;
    } else if (name != "serial") {  // a way to lay out kernels (recorder.h), no feature of the device
      return fail(
          ErrorCode::kInvalidArgument,
          "unknown GPU feature '{}'; known are f16, subgroups, subgroup-matrix, dot4, timestamps, limits, serial",
          name);
    }
  }
  return without;
}

std::string gigabytes(uint64_t bytes) { return format_text("{:.1f} GB", static_cast<double>(bytes) / 1e9); }

// Before anything is uploaded. A device that does not tell how much it has gets its chance.
Result<void> check_memory(const AdapterInfo& adapter, const Plan& plan, const CompileOptions& options) {
  const uint64_t need = memory_need(plan, options, 0, KvType::kF16).total();
  if (adapter.memory_bytes == 0 || need <= adapter.memory_bytes) return {};
  return fail(ErrorCode::kOutOfMemory,
              "the model needs {} without its context, but the GPU {} has {}; use the cpu backend", gigabytes(need),
              adapter.name, gigabytes(adapter.memory_bytes));
}

}  // namespace

Result<std::unique_ptr<Executable>> compile(const Plan& plan, const CompileOptions& options) {
  // Texts from outside need the checks: without them a wrong binding or entry point crashes.
  const bool validation = options.gpu.validation || !options.gpu.wgsl_dir.empty();
  DeviceOptions device_options{.adapter = options.gpu.adapter,
                               .only_hardware = options.only_hardware_gpu,
                               .validation = validation,
                               .robustness = options.gpu.robustness,
                               .cache_dir = options.gpu.cache_dir};
  TRY(device_options.without, parse_restrictions(options.gpu.without));
  TRY(auto device, open_device(device_options));
  static std::atomic_flag has_warned;  // once for all models of a process
  if (device->adapter().type == AdapterType::kSoftware && options.gpu.adapter.empty() && !has_warned.test_and_set()) {
    warn("no GPU found: {} draws on the CPU, far slower than the cpu backend", device->adapter().name);
  }
  return compile_on(std::move(device), plan, options);
}

Result<std::unique_ptr<Executable>> compile_on(std::unique_ptr<Device> device, const Plan& plan,
                                               const CompileOptions& options) {
  TRY_STATUS(check_memory(device->adapter(), plan, options));
  TRY(auto executable, GpuExecutable::create(std::move(device), plan, options));
  return executable;
}

MemoryNeed memory_need(const Plan& plan, const CompileOptions& options, int n_ctx, KvType type) {
  MemoryNeed need;
  std::vector<StoredBytes::Identity> seen;  // by their bytes: the head is often the embedding under another name
  for (const Step& step : plan.steps) {
    for (const WeightUse& use : weight_uses(step.body)) {
      if (std::ranges::contains(seen, use.tensor->data.identity())) continue;
      seen.push_back(use.tensor->data.identity());
      need.weights += use.bytes();
    }
  }
  for (const auto& buffer : plan.buffers) {
    need.activations += device_bytes(buffer, options.max_batch, options.max_logit_rows);
  }
  const Config& c = plan.config;
  if (!c.int8_activations) need.activations += halves_bytes(plan, options.max_batch);
  need.activations += c.ropes.size() * rope_bytes(c, n_ctx);
  need.kv_cache = kv_bytes(c, n_ctx, type);
  return need;
}

}  // namespace tern::gpu
