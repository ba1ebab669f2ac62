#include "tools/gpu_devices.h"

#include "base/format_text.h"

namespace tern {
namespace {

std::string_view type_text(gpu::AdapterType type) {
  switch (type) {
    case gpu::AdapterType::kDiscrete:
      return "discrete GPU";
    case gpu::AdapterType::kIntegrated:
      return "integrated GPU";
    case gpu::AdapterType::kSoftware:
      return "software, runs on the CPU: for trying things out, slower than -b cpu";
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

}  // namespace

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
  facts.emplace_back("largest binding", megabytes(limits.binding_bytes) + "; larger tensors are split");
  facts.emplace_back("workgroup", format_text("{} invocations, {} B of memory, {} storage buffers", limits.invocations,
                                              limits.workgroup_bytes, limits.storage_buffers));
  return device;
}

std::vector<DeviceInfo> gpu_devices() {
  const auto adapters = gpu::list_adapters();
  if (!adapters) return {{.backend = "webgpu", .name = "none", .facts = {{"reason", adapters.error().message}}}};
  std::vector<DeviceInfo> devices;
  for (const gpu::AdapterInfo& adapter : *adapters) devices.push_back(gpu_device(adapter));
  return devices;
}

}  // namespace tern
