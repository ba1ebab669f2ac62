// The connection to Dawn, and the adapters it finds.
#pragma once

#include <dawn/native/DawnNative.h>
#include <webgpu/webgpu_cpp.h>

#include <memory>
#include <vector>

#include "backend/gpu/device/device.h"

namespace tern::gpu {

struct Instance {
  std::unique_ptr<dawn::native::Instance> native;  // owns the adapters
  wgpu::Instance api;                              // the same instance, for waiting
};

struct Adapter {
  wgpu::Adapter handle;
  AdapterInfo info;
};

std::shared_ptr<const Instance> new_instance();

// Sorted best first; `info.index` counts from 0.
std::vector<Adapter> find_adapters(const Instance& instance, wgpu::BackendType backend);

Limits to_limits(const wgpu::Limits& limits);

// Explains why there is no adapter, and what to install.
Error no_adapter_error();

}  // namespace tern::gpu
