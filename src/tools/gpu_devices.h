// What is said of a GPU: what it has, what kernels use of it, and why not.
#pragma once

#include "backend/gpu/device.h"
#include "tern/tools.h"

namespace tern {

DeviceInfo gpu_device(const gpu::AdapterInfo& adapter);

// One entry per adapter, or one that says why there is none.
std::vector<DeviceInfo> gpu_devices();

}  // namespace tern
