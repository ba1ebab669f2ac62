// Describes GPUs: their properties, what the kernels use of them, and why not.
#pragma once

#include "backend/gpu/device/device.h"
#include "model/model.h"
#include "tern/tools.h"

namespace tern {

DeviceInfo gpu_device(const gpu::AdapterInfo& adapter);

// The memory that the model needs there with its full context, and whether it fits: facts to add to the device's.
std::vector<std::pair<std::string, std::string>> gpu_needs(const gpu::AdapterInfo& adapter, const Model& model,
                                                           KvType kv_type);

// Returns one entry per adapter, or one that explains why there is none. With a model, also its needs on each.
std::vector<DeviceInfo> gpu_devices(const Model* model = nullptr, KvType kv_type = KvType::kF16);

}  // namespace tern
