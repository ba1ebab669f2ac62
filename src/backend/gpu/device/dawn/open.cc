// Choosing an adapter, and opening it with the features, limits and toggles that Tern wants.
#include <algorithm>
#include <atomic>

#include "backend/gpu/device/choose_adapter.h"
#include "backend/gpu/device/dawn/device.h"
#include "backend/gpu/device/device_checks.h"
#include "base/platform/process.h"
#include "base/start_thread.h"
#include "base/text/format_text.h"
#include "base/thread_pool.h"

namespace tern::gpu {
namespace {

#if defined(__APPLE__)
constexpr wgpu::BackendType kBackend = wgpu::BackendType::Metal;
#elif defined(_WIN32)
constexpr wgpu::BackendType kBackend = wgpu::BackendType::D3D12;
#else
constexpr wgpu::BackendType kBackend = wgpu::BackendType::Vulkan;
#endif
constexpr int kOwnThreads = 20;  // Dawn's: at most 16 that compile, and few others
constexpr uint64_t kLeastAddresses = uint64_t{4} << 30;

Result<Adapter> choose(std::vector<Adapter> adapters, const DeviceOptions& options) {
  if (adapters.empty()) return std::unexpected(no_adapter_error());
  std::vector<AdapterInfo> infos;
  for (const Adapter& adapter : adapters) infos.push_back(adapter.info);
  TRY(const size_t chosen, choose_adapter(infos, options.adapter, options.only_hardware));
  return std::move(adapters[chosen]);
}

struct Toggles {
  std::vector<const char*> on, off;
};

// These are Dawn's names. Dawn ignores toggles that it does not know.
Toggles device_toggles(const DeviceOptions& options) {
  Toggles toggles;
  toggles.off.push_back("timestamp_quantization");                   // rounds times to 100 µs
  toggles.on.push_back("disable_polyfills_on_integer_div_and_mod");  // kernels divide by constants and by sizes > 0
  if (!options.validation) toggles.on.push_back("skip_validation");
  if (!options.robustness) toggles.on.push_back("disable_robustness");
  return toggles;
}

// Makes Dawn keep its blobs in `cache`, which must live as long as the device. `next`: the next chained descriptor.
WGPUDawnCacheDeviceDescriptor cache_descriptor(BlobCache& cache, wgpu::ChainedStruct* next) {
  WGPUDawnCacheDeviceDescriptor descriptor = WGPU_DAWN_CACHE_DEVICE_DESCRIPTOR_INIT;
  descriptor.chain.next = reinterpret_cast<WGPUChainedStruct*>(next);
  descriptor.dawnLoadCacheDataCallbackInfo.userdata1 = &cache;
  descriptor.dawnLoadCacheDataCallbackInfo.callback = [](size_t key_bytes, const uint8_t* key, size_t value_bytes,
                                                         uint8_t* value, void* userdata, void*) {
    return static_cast<BlobCache*>(userdata)->load({reinterpret_cast<const std::byte*>(key), key_bytes},
                                                   {reinterpret_cast<std::byte*>(value), value_bytes});
  };
  descriptor.dawnStoreCacheDataCallbackInfo.userdata1 = &cache;
  descriptor.dawnStoreCacheDataCallbackInfo.callback = [](size_t key_bytes, const uint8_t* key, size_t value_bytes,
                                                          const uint8_t* value, void* userdata, void*) {
    static_cast<BlobCache*>(userdata)->store({reinterpret_cast<const std::byte*>(key), key_bytes},
                                             {reinterpret_cast<const std::byte*>(value), value_bytes});
  };
  return descriptor;
}

}  // namespace

void DawnDevice::choose_features(const DeviceSetup& setup) {
  const Restrictions& without = setup.options.without;
  opened_.features = restricted(opened_.info.features, without);
  if (without.memory_bytes > 0) opened_.info.memory_bytes = without.memory_bytes;
}

std::vector<wgpu::FeatureName> DawnDevice::wanted_features(const DeviceSetup& setup) const {
  std::vector<wgpu::FeatureName> wanted;
  if (setup.only_validates) {
    wgpu::SupportedFeatures all;
    setup.adapter.handle.GetFeatures(&all);
    wanted.assign(all.features, all.features + all.featureCount);
    return wanted;
  }
  const auto want = [&](bool use, wgpu::FeatureName name) {
    if (use && setup.adapter.handle.HasFeature(name)) wanted.push_back(name);
  };
  want(opened_.features.f16, wgpu::FeatureName::ShaderF16);
  want(opened_.features.subgroups, wgpu::FeatureName::Subgroups);
  want(!opened_.features.matrices.empty(), wgpu::FeatureName::ChromiumExperimentalSubgroupMatrix);
  want(opened_.features.timestamps, wgpu::FeatureName::TimestampQuery);
  want(opened_.features.timestamps, wgpu::FeatureName::ChromiumExperimentalTimestampQueryInsidePasses);
  return wanted;
}

Result<void> DawnDevice::create(const DeviceSetup& setup) {
  choose_features(setup);
  const std::vector<wgpu::FeatureName> features = wanted_features(setup);
  const Toggles toggles = device_toggles(setup.options);
  wgpu::DawnTogglesDescriptor toggles_descriptor;
  toggles_descriptor.enabledToggleCount = toggles.on.size();
  toggles_descriptor.enabledToggles = toggles.on.data();
  toggles_descriptor.disabledToggleCount = toggles.off.size();
  toggles_descriptor.disabledToggles = toggles.off.data();

  wgpu::Limits limits;
  setup.adapter.handle.GetLimits(&limits);
  wgpu::DeviceDescriptor descriptor;
  descriptor.requiredFeatureCount = features.size();
  descriptor.requiredFeatures = features.data();
  descriptor.requiredLimits = setup.options.without.default_limits ? nullptr : &limits;
  descriptor.nextInChain = &toggles_descriptor;
  WGPUDawnCacheDeviceDescriptor caching;
  if (!setup.options.cache_dir.empty()) {
    caching = cache_descriptor(cache_.emplace(setup.options.cache_dir), &toggles_descriptor);
    descriptor.nextInChain = reinterpret_cast<wgpu::ChainedStruct*>(&caching.chain);
  }
  descriptor.SetUncapturedErrorCallback([](const wgpu::Device&, wgpu::ErrorType type, wgpu::StringView message,
                                           ErrorState* errors) { errors->record(to_error(type, message)); },
                                        &errors_);
  descriptor.SetDeviceLostCallback(
      wgpu::CallbackMode::AllowSpontaneous,
      [](const wgpu::Device&, wgpu::DeviceLostReason, wgpu::StringView message, DawnDevice* self) {
        self->errors_.record_loss(format_text("the GPU {} was lost: {}", self->opened_.info.name, first_line(message)));
      },
      this);
  device_ = setup.adapter.handle.CreateDevice(&descriptor);
  TRY_STATUS(errors_.take());
  if (device_ == nullptr) return fail(ErrorCode::kNotSupported, "the GPU {} cannot be opened", opened_.info.name);
  device_.SetLoggingCallback([](wgpu::LoggingType, wgpu::StringView) {});
  queue_ = device_.GetQueue();
  modes_.timestamps_inside_passes =
      device_.HasFeature(wgpu::FeatureName::ChromiumExperimentalTimestampQueryInsidePasses);
  wgpu::Limits granted;
  device_.GetLimits(&granted);
  opened_.limits = to_limits(granted);
  return {};
}

Result<std::unique_ptr<DawnDevice>> DawnDevice::open(DeviceSetup setup) {
  std::unique_ptr<DawnDevice> device(new DawnDevice(setup));
  TRY_STATUS(device->create(setup));
  return device;
}

namespace {

// Dawn ends the program where it cannot start a thread, and drivers crash or wait forever where memory is refused.
Result<void> check_limits() {
  const std::optional<uint64_t> limit = platform::address_space_limit();
  if (limit && *limit < kLeastAddresses) {
    return fail(ErrorCode::kOutOfMemory,
                "a GPU's driver needs {} GB of addresses, and the limit on memory ('ulimit -v') is {} MB; raise it, or "
                "use the cpu backend",
                kLeastAddresses >> 30, *limit >> 20);
  }
  // Mesa's software driver has a thread for each CPU, up to 32.
  const auto n_threads = static_cast<size_t>(kOwnThreads + std::min(ThreadPool::available_cpus(), 32));
  return check_threads(n_threads, "the GPU's driver");
}

// Each load of a driver takes resources that it never gives back: a process can load NVIDIA's driver only about ten
// times. So from the second call on, an instance that is never destroyed keeps the driver loaded. (A first device has
// its own instance and takes everything with it when it closes.)
void keep_driver_loaded() {
  static std::atomic<int> calls = 0;
  if (calls++ != 1) return;
  static const auto* const kept = new std::shared_ptr<const Instance>(new_instance());
  find_adapters(**kept, kBackend);
}

}  // namespace

Result<std::vector<AdapterInfo>> list_adapters() {
  keep_driver_loaded();
  const auto instance = new_instance();
  std::vector<AdapterInfo> infos;
  for (Adapter& adapter : find_adapters(*instance, kBackend)) infos.push_back(std::move(adapter.info));
  if (infos.empty()) return std::unexpected(no_adapter_error());
  return infos;
}

Result<std::unique_ptr<Device>> open_device(const DeviceOptions& options) {
  TRY_STATUS(check_limits());
  keep_driver_loaded();
  auto instance = new_instance();
  TRY(Adapter adapter, choose(find_adapters(*instance, kBackend), options));
  return DawnDevice::open({.instance = std::move(instance), .adapter = std::move(adapter), .options = options});
}

Result<std::unique_ptr<Device>> open_validation_device(bool validation) {
  auto instance = new_instance();
  TRY(Adapter adapter, choose(find_adapters(*instance, wgpu::BackendType::Null), {}));
  const DeviceOptions options = {.validation = validation, .robustness = true};
  return DawnDevice::open(
      {.instance = std::move(instance), .adapter = std::move(adapter), .options = options, .only_validates = true});
}

}  // namespace tern::gpu
