// What is said of a GPU: what it has, what kernels use of it, and why not.
#pragma once

#include "backend/gpu/device/device.h"
#include "model/model.h"
#include "tern/tools.h"

namespace tern {

DeviceInfo gpu_device(const gpu::AdapterInfo& adapter);

// What the model needs there with its own context, and whether that fits: facts to add to the device's.
std::vector<std::pair<std::string, std::string>> gpu_needs(const gpu::AdapterInfo& adapter, const Model& model,
                                                           KvType kv_type);

// One entry per adapter, or one that says why there is none. With a model, what it needs on each.
std::vector<DeviceInfo> gpu_devices(const Model* model = nullptr, KvType kv_type = KvType::kF16);

}  // namespace tern
