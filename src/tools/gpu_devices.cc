#include "tools/gpu_devices.h"

#include <algorithm>

#include "backend/gpu/memory/kv_order.h"
#include "backend/gpu/memory/weights/upload.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_layout.h"
#include "backend/state_layout.h"
#include "base/text/format_text.h"
#include "engine/load/backends.h"
#include "tools/type_names.h"

namespace tern {
namespace {

std::string_view type_text(gpu::AdapterType type) {
  switch (type) {
    case gpu::AdapterType::kDiscrete:
      return "discrete GPU";
    case gpu::AdapterType::kIntegrated:
      return "integrated GPU";
    case gpu::AdapterType::kSoftware:
      return "software, runs on the CPU: for trying things out, slower than the cpu backend";
    case gpu::AdapterType::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view types_text(wgsl::MatrixTypes types) {
  switch (types) {
    case wgsl::MatrixTypes::kI8ToI32:
      return "i8 to i32";
    case wgsl::MatrixTypes::kF16ToF32:
      return "f16 to f32";
    case wgsl::MatrixTypes::kF16ToF16:
      return "f16 to f16";
    case wgsl::MatrixTypes::kF32ToF32:
      return "f32 to f32";
  }
  return "?";
}

std::string feature_text(bool found, std::string_view use, std::string_view without) {
  return found ? format_text("found: {}", use) : format_text("not found: {}", without);
}

std::string matrices_text(const gpu::Features& features) {
  if (features.matrices.empty()) return "not found: prompts are computed without matrix units";
  std::string text = "found: ";
  for (const wgsl::MatrixShape& shape : features.matrices) {
    if (!text.ends_with(": ")) text += ", ";
    text += format_text("{} {}x{}x{}", types_text(shape.types), shape.m, shape.n, shape.k);
  }
  return text;
}

std::string subgroups_text(const gpu::Features& features) {
  if (!features.subgroups) return "not found: sums go through workgroup memory";
  if (features.subgroup_min == features.subgroup_max) return format_text("found: of {}", features.subgroup_min);
  return format_text("found: of {} to {}", features.subgroup_min, features.subgroup_max);
}

std::string megabytes(uint64_t bytes) { return format_text("{} MiB", bytes >> 20); }

// Data that must fit into one binding.
struct Part {
  std::string name;
  uint64_t bytes = 0;
};

// Float matrices are split if too large. Query, key and value matrices share a binding if one step computes them.
Part largest_part(const Plan& plan, const CompileOptions& options, KvType kv_type) {
  const Config& c = plan.config;
  Part largest;
  const auto offer = [&](const std::string& name, uint64_t bytes) {
    if (bytes > largest.bytes) largest = {name, bytes};
  };
  const auto n_blocks = static_cast<uint64_t>(kv_blocks_for(c.n_ctx)) + 1;  // plus the spare block
  for (int i = 0; i < c.n_layers; ++i) {
    offer("the KV cache of a layer", n_blocks * gpu::device_block_bytes(c, i, kv_type));
    offer("the states of a layer", 3 * StateLayout(c).layer(i).n_kept * sizeof(float));
  }
  for (const Step& step : plan.steps) {
    const bool is_one = std::holds_alternative<step::TernaryQkv>(step.body);
    uint64_t together = 0;
    for_each_weight(step.body, [&](const Tensor* w, WeightRole role) {
      if (role != WeightRole::kTernary) return;
      const uint64_t bytes = gpu::weight_bytes(*w, role);
      together = is_one ? together + bytes : std::max(together, bytes);
    });
    offer(step.name, together);
  }
  for (const auto& buffer : plan.buffers) {
    offer("the activations of a batch", gpu::device_bytes(buffer, options.max_batch, options.max_logit_rows));
  }
  return largest;
}

std::string fits_text(const gpu::AdapterInfo& adapter, uint64_t need, const Part& largest) {
  if (largest.bytes > adapter.limits.binding_bytes) {
    return format_text("no: {} takes {}, but one binding may have at most {}", largest.name, megabytes(largest.bytes),
                       megabytes(adapter.limits.binding_bytes));
  }
  if (adapter.memory_bytes == 0) return "unknown: the GPU does not tell how much memory it has";
  if (need > adapter.memory_bytes) return format_text("no: the GPU has {}", megabytes(adapter.memory_bytes));
  return "yes";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> gpu_needs(const gpu::AdapterInfo& adapter, const Model& model,
                                                           KvType kv_type) {
  const Config& config = model.config;
  const Plan plan = make_plan(config, model.weights, {.fuse = fusions_for(BackendKind::kWebGpu)});
  CompileOptions options;
  options.max_batch = std::min(options.max_batch, config.n_ctx);
  const gpu::MemoryNeed need = gpu::memory_need(plan, options, config.n_ctx, kv_type);
  const Part largest = largest_part(plan, options, kv_type);
  std::vector<std::pair<std::string, std::string>> needs = {
      {"model weights", megabytes(need.weights)},
      {"activations", format_text("{} for {} tokens at once", megabytes(need.activations), options.max_batch)},
      {"KV cache", format_text("{} for {} tokens of context, in {}", megabytes(need.kv_cache), config.n_ctx,
                               kv_type_name(kv_type))}};
  if (need.states > 0) needs.emplace_back("states", format_text("{} for one conversation", megabytes(need.states)));
  needs.emplace_back("in all", megabytes(need.total()));
  needs.emplace_back("fits", fits_text(adapter, need.total(), largest));
  return needs;
}

DeviceInfo gpu_device(const gpu::AdapterInfo& adapter) {
  const gpu::Features& features = adapter.features;
  const gpu::Limits& limits = adapter.limits;
  DeviceInfo device{.backend = "webgpu", .name = adapter.name, .facts = {}};
  auto& facts = device.facts;
  facts.emplace_back("index", std::to_string(adapter.index));
  facts.emplace_back("type", type_text(adapter.type));
  facts.emplace_back("API", adapter.api);
  facts.emplace_back("driver", adapter.driver.empty() ? "unknown" : adapter.driver);
  facts.emplace_back("memory", adapter.memory_bytes == 0 ? "unknown" : megabytes(adapter.memory_bytes));
  facts.emplace_back("shader-f16", feature_text(features.f16, "16-bit floats", "floats are computed in 32 bits"));
  facts.emplace_back("subgroups", subgroups_text(features));
  facts.emplace_back("subgroup-matrix", matrices_text(features));
  facts.emplace_back("packed dot", feature_text(features.packed_dot, "8-bit dot products in one instruction or few",
                                                "8-bit dot products are taken apart"));
  facts.emplace_back("timestamps",
                     feature_text(features.timestamps, "kernels can be timed", "kernels cannot be timed"));
  facts.emplace_back("largest buffer", megabytes(limits.buffer_bytes));
  facts.emplace_back("largest binding", megabytes(limits.binding_bytes) + "; larger float matrices are split");
  facts.emplace_back("workgroup", format_text("{} invocations, {} B of memory, {} storage buffers", limits.invocations,
                                              limits.workgroup_bytes, limits.storage_buffers));
  return device;
}

std::vector<DeviceInfo> gpu_devices(const Model* model, KvType kv_type) {
  const auto adapters = gpu::list_adapters();
  if (!adapters) return {{.backend = "webgpu", .name = "none", .facts = {{"reason", adapters.error().message}}}};
  std::vector<DeviceInfo> devices;
  for (const gpu::AdapterInfo& adapter : *adapters) {
    devices.push_back(gpu_device(adapter));
    if (model) devices.back().facts.append_range(gpu_needs(adapter, *model, kv_type));
  }
  return devices;
}

}  // namespace tern
