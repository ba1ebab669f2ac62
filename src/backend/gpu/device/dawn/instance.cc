#include "backend/gpu/device/dawn/instance.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <optional>

#include "backend/gpu/device/dawn/driver_files.h"
#include "base/text/format_text.h"

namespace tern::gpu {
namespace {

std::string text_of(wgpu::StringView text) { return std::string(std::string_view(text)); }

std::string api_name(wgpu::BackendType type) {
  switch (type) {
    case wgpu::BackendType::Vulkan:
      return "Vulkan";
    case wgpu::BackendType::Metal:
      return "Metal";
    case wgpu::BackendType::D3D12:
      return "Direct3D 12";
    case wgpu::BackendType::Null:
      return "Null";
    default:
      return "other";
  }
}

AdapterType to_type(wgpu::AdapterType type) {
  switch (type) {
    case wgpu::AdapterType::DiscreteGPU:
      return AdapterType::kDiscrete;
    case wgpu::AdapterType::IntegratedGPU:
      return AdapterType::kIntegrated;
    case wgpu::AdapterType::CPU:
      return AdapterType::kSoftware;
    default:
      return AdapterType::kUnknown;
  }
}

// The sort order: discrete, integrated, unknown, software.
int rank(AdapterType type) {
  switch (type) {
    case AdapterType::kDiscrete:
      return 0;
    case AdapterType::kIntegrated:
      return 1;
    case AdapterType::kUnknown:
      return 2;
    case AdapterType::kSoftware:
      return 3;
  }
  return 4;
}

std::optional<wgsl::MatrixTypes> to_types(const wgpu::SubgroupMatrixConfig& config) {
  using Component = wgpu::SubgroupMatrixComponentType;
  const Component from = config.componentType, to = config.resultComponentType;
  if (from == Component::I8 && to == Component::I32) return wgsl::MatrixTypes::kI8ToI32;
  if (from == Component::F16 && to == Component::F32) return wgsl::MatrixTypes::kF16ToF32;
  if (from == Component::F16 && to == Component::F16) return wgsl::MatrixTypes::kF16ToF16;
  if (from == Component::F32 && to == Component::F32) return wgsl::MatrixTypes::kF32ToF32;
  return std::nullopt;
}

uint64_t largest_local_heap(const wgpu::AdapterPropertiesMemoryHeaps& heaps) {
  uint64_t largest = 0;
  for (size_t i = 0; i < heaps.heapCount; ++i) {
    const wgpu::MemoryHeapInfo& heap = heaps.heapInfo[i];
    if ((heap.properties & wgpu::HeapProperty::DeviceLocal) != wgpu::HeapProperty::None)
      largest = std::max(largest, heap.size);
  }
  return largest;
}

AdapterInfo describe(const Instance& instance, const wgpu::Adapter& adapter) {
  AdapterInfo info;
  Features& features = info.features;
  features.f16 = adapter.HasFeature(wgpu::FeatureName::ShaderF16);
  features.subgroups = adapter.HasFeature(wgpu::FeatureName::Subgroups);
  features.timestamps = adapter.HasFeature(wgpu::FeatureName::TimestampQuery);
  features.packed_dot = instance.api.HasWGSLLanguageFeature(wgpu::WGSLLanguageFeatureName::Packed4x8IntegerDotProduct);

  wgpu::AdapterInfo found;
  wgpu::AdapterPropertiesSubgroupMatrixConfigs matrices;
  wgpu::AdapterPropertiesMemoryHeaps heaps;
  const auto chain = [&](bool has, auto& properties) {
    if (!has) return;
    properties.nextInChain = found.nextInChain;
    found.nextInChain = &properties;
  };
  chain(adapter.HasFeature(wgpu::FeatureName::ChromiumExperimentalSubgroupMatrix), matrices);
  chain(adapter.HasFeature(wgpu::FeatureName::AdapterPropertiesMemoryHeaps), heaps);
  if (adapter.GetInfo(&found) == wgpu::Status::Success) {
    info.name = text_of(found.device);
    info.vendor = text_of(found.vendor);
    info.driver = text_of(found.description);
    info.api = api_name(found.backendType);
    info.type = to_type(found.adapterType);
    info.memory_bytes = largest_local_heap(heaps);
    if (features.subgroups) {
      features.subgroup_min = found.subgroupMinSize;
      features.subgroup_max = found.subgroupMaxSize;
    }
    for (size_t i = 0; i < matrices.configCount; ++i) {
      const wgpu::SubgroupMatrixConfig& config = matrices.configs[i];
      if (const auto types = to_types(config)) features.matrices.push_back({*types, config.M, config.N, config.K});
    }
  }
  wgpu::Limits limits;
  if (adapter.GetLimits(&limits) == wgpu::Status::Success) info.limits = to_limits(limits);
  return info;
}

}  // namespace

std::shared_ptr<const Instance> new_instance() {
  add_own_drivers();
  // Dawn's log messages are dropped: everything that matters is returned as an error.
  dawn::native::DawnInstanceDescriptor native;
  native.SetLoggingCallback([](wgpu::LoggingType, wgpu::StringView) {});

  // Dawn treats subgroup matrices, timestamps inside passes and f16 on NVIDIA as unsafe.
  constexpr std::array kEnabled = {"allow_unsafe_apis"};
  wgpu::DawnTogglesDescriptor toggles;
  toggles.enabledToggleCount = kEnabled.size();
  toggles.enabledToggles = kEnabled.data();
  toggles.nextInChain = &native;

  constexpr std::array kFeatures = {wgpu::InstanceFeatureName::TimedWaitAny};
  wgpu::InstanceDescriptor descriptor;
  descriptor.requiredFeatureCount = kFeatures.size();
  descriptor.requiredFeatures = kFeatures.data();
  descriptor.nextInChain = &toggles;

  auto instance = std::make_shared<Instance>();
  instance->native = std::make_unique<dawn::native::Instance>(&descriptor);
  instance->api = wgpu::Instance(instance->native->Get());
  return instance;
}

std::vector<Adapter> find_adapters(const Instance& instance, wgpu::BackendType backend) {
  constexpr std::array kEnabled = {"vulkan_enable_f16_on_nvidia", "use_vulkan_memory_model"};
  wgpu::DawnTogglesDescriptor toggles;
  toggles.enabledToggleCount = kEnabled.size();
  toggles.enabledToggles = kEnabled.data();
  wgpu::RequestAdapterOptions options;
  options.backendType = backend;
  options.nextInChain = &toggles;

  std::vector<Adapter> adapters;
  for (const dawn::native::Adapter& found : instance.native->EnumerateAdapters(&options)) {
    wgpu::Adapter handle(found.Get());
    AdapterInfo info = describe(instance, handle);
    adapters.push_back({std::move(handle), std::move(info)});
  }
  std::ranges::stable_sort(adapters, {}, [](const Adapter& adapter) { return rank(adapter.info.type); });
  for (size_t i = 0; i < adapters.size(); ++i) adapters[i].info.index = static_cast<int>(i);
  return adapters;
}

Limits to_limits(const wgpu::Limits& limits) {
  return {
      .binding_bytes = limits.maxStorageBufferBindingSize,
      .uniform_bytes = limits.maxUniformBufferBindingSize,
      .buffer_bytes = limits.maxBufferSize,
      .offset_alignment = std::max(limits.minStorageBufferOffsetAlignment, limits.minUniformBufferOffsetAlignment),
      .workgroups = limits.maxComputeWorkgroupsPerDimension,
      .invocations = limits.maxComputeInvocationsPerWorkgroup,
      .workgroup_bytes = limits.maxComputeWorkgroupStorageSize,
      .storage_buffers = limits.maxStorageBuffersPerShaderStage,
      .immediate_bytes = limits.maxImmediateSize,
  };
}

Error no_adapter_error() {
#if defined(__linux__)
  void* loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (loader == nullptr)
    return {ErrorCode::kNotFound,
            "no GPU: the Vulkan loader libvulkan.so.1 is not installed; install it (Debian: libvulkan1) and the "
            "Vulkan driver of your GPU, or mesa-vulkan-drivers, which can also compute without a GPU"};
  dlclose(loader);
#endif
  return {ErrorCode::kNotFound,
          "no GPU: no Vulkan driver found an adapter; install the Vulkan driver of your GPU, or mesa-vulkan-drivers, "
          "which can also compute without a GPU (VK_DRIVER_FILES and VK_ICD_FILENAMES, where set, name the drivers)"};
}

}  // namespace tern::gpu
