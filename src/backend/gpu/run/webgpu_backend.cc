#include "backend/gpu/run/webgpu_backend.h"

#include <algorithm>
#include <atomic>

#include "backend/gpu/record/steps/native_parts.h"
#include "backend/gpu/run/executable.h"
#include "backend/gpu/run/memory_need.h"
#include "base/log.h"
#include "base/text/format_text.h"

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
    } else if (name != "serial" && name != "tuned" && name != "expert-tiles") {  // layouts (record/layouts.h)
      return fail(ErrorCode::kInvalidArgument,
                  "unknown GPU feature '{}'; known are f16, subgroups, subgroup-matrix, dot4, timestamps, limits, "
                  "serial, tuned, expert-tiles",
                  name);
    }
  }
  return without;
}

std::string gigabytes(uint64_t bytes) { return format_text("{:.1f} GB", static_cast<double>(bytes) / 1e9); }

// Called before anything is uploaded. If the device does not report its memory, try anyway.
Result<void> check_memory(const AdapterInfo& adapter, const Plan& plan, const CompileOptions& options) {
  const uint64_t need = memory_need(plan, options, 0, KvType::kF16).total();
  if (adapter.memory_bytes == 0 || need <= adapter.memory_bytes) return {};
  return fail(ErrorCode::kOutOfMemory,
              "the model needs {} without its context, but the GPU {} has {}; use the cpu backend", gigabytes(need),
              adapter.name, gigabytes(adapter.memory_bytes));
}

// Tokens per batch. A discrete GPU takes as many as need only a small part of its memory. If its memory is shared with
// the processor, or of unknown size, somewhat more than the minimum.
int batch_for(const Device& device, const Plan& plan, const CompileOptions& options) {
  constexpr int kMostOfShared = 512;
  constexpr uint64_t kPartOfMemory = 32;
  const AdapterInfo& adapter = device.adapter();
  if (adapter.type != AdapterType::kDiscrete && adapter.type != AdapterType::kIntegrated) return options.max_batch;
  const bool is_own = adapter.type == AdapterType::kDiscrete && adapter.memory_bytes > 0;
  const uint64_t copy =
      options.exact_head == ExactHead::kNo ? 0 : native_parts().head_copy_bytes(plan, options.max_logit_rows);
  const uint64_t weights = memory_need(plan, options, 0, KvType::kF16).weights + copy;
  const auto has_room = [&](int n) {
    // With subgroup matrices, ternary prompts hold their queries, keys and values twice.
    const uint64_t twice = plan.config.int8_activations ? qkv_rows_bytes(plan, n) : 0;
    const uint64_t bytes = activation_bytes(plan, n, options.max_logit_rows) + twice;
    const bool fits = adapter.memory_bytes == 0 || weights + bytes <= adapter.memory_bytes;
    // The number of logit rows does not depend on the number of tokens.
    const uint64_t of_tokens = activation_bytes(plan, n, 1) + twice;
    return fits && (!is_own || of_tokens <= adapter.memory_bytes / kPartOfMemory) &&
           std::ranges::all_of(plan.buffers, [&](const auto& buffer) {
             return device_bytes(buffer, n, options.max_logit_rows) <= device.limits().binding_bytes;
           });
  };
  int n = is_own ? options.preferred_max_batch : std::min(options.preferred_max_batch, kMostOfShared);
  while (n > options.max_batch && !has_room(n)) n /= 2;
  return std::max(n, options.max_batch);
}

// An optional copy of the head is left out if there is no memory for it beside a conversation.
ExactHead exact_head_on(const AdapterInfo& adapter, const Plan& plan, const CompileOptions& options) {
  constexpr int kConversation = 16384;
  const uint64_t need = memory_need(plan, options, std::min(plan.config.n_ctx, kConversation), KvType::kF16).total();
  const bool has_room = adapter.memory_bytes == 0 || need <= adapter.memory_bytes;
  return options.exact_head == ExactHead::kWherePays && !has_room ? ExactHead::kNo : options.exact_head;
}

Result<std::unique_ptr<GpuExecutable>> put_on(std::unique_ptr<Device> device, const Plan& plan,
                                              CompileOptions options) {
  options.exact_head = exact_head_on(device->adapter(), plan, options);
  TRY_STATUS(check_memory(device->adapter(), plan, options));
  options.max_batch = batch_for(*device, plan, options);
  return GpuExecutable::create(std::move(device), plan, options);
}

Result<std::unique_ptr<GpuExecutable>> compile_tested(const Plan& plan, const CompileOptions& options,
                                                      DeviceOptions device_options, const OpenDevice& open) {
  TRY(auto trusted, open_trusted(device_options, open));
  options.end_phase("GPU");
  static std::atomic_flag has_warned;  // warns once per process, not per model
  if (trusted.device->adapter().type == AdapterType::kSoftware && options.gpu.adapter.empty() &&
      !has_warned.test_and_set()) {
    warn("no GPU found: {} draws on the CPU, far slower than the cpu backend", trusted.device->adapter().name);
  }
  const bool has_matrices = !trusted.device->features().matrices.empty();
  TRY(auto made, put_on(std::move(trusted.device), plan, options));
  if (const auto right = made->check(); !right) {
    // Products of prompts may use subgroup matrices, for which the device's self-test has no kernel.
    if (right.error().code != ErrorCode::kNotSupported || !has_matrices) return std::unexpected(right.error());
    made.reset();
    device_options.without.subgroup_matrix = true;
    TRY(trusted.device,
        open_trusted(device_options, open).transform([](TrustedDevice t) { return std::move(t.device); }));
    options.end_phase("GPU");
    TRY(made, put_on(std::move(trusted.device), plan, options));
    TRY_STATUS(made->check());
    trusted.findings.push_back("subgroup-matrix: " + right.error().message);
  }
  made->note_failed_tests(std::move(trusted.findings));
  return made;
}

}  // namespace

Result<std::unique_ptr<Executable>> compile(const Plan& plan, const CompileOptions& options, const OpenDevice& open) {
  // External WGSL needs validation: without it a wrong binding or entry point crashes.
  const bool validation = options.gpu.validation || !options.gpu.wgsl_dir.empty();
  DeviceOptions device_options{.adapter = options.gpu.adapter,
                               .only_hardware = options.only_hardware_gpu,
                               .validation = validation,
                               .robustness = options.gpu.robustness,
                               .cache_dir = options.gpu.cache_dir};
  TRY(device_options.without, parse_restrictions(options.gpu.without));
  TRY(auto made, compile_tested(plan, options, device_options, open));
  if (options.gpu.megakernel == MegakernelUse::kOn && !made->layer_path().refusal().empty())
    warn("{}; each step of a token is a dispatch", made->layer_path().refusal());
  return made;
}

Result<std::unique_ptr<Executable>> compile_on(std::unique_ptr<Device> device, const Plan& plan,
                                               const CompileOptions& options) {
  TRY(auto executable, put_on(std::move(device), plan, options));
  return executable;
}

}  // namespace tern::gpu
