// Conversion of KV blocks between a host's order (kv_layout.h) and the device's (kernels/kv_cache.h).
#pragma once

#include "backend/ops.h"
#include "base/bytes.h"

namespace tern::gpu {

// Bytes of one layer's block on the device. More than on a host if the scales do not fill whole words.
uint64_t device_block_bytes(const Config& config, int layer, KvType type);

// One layer's block: `device` has device_block_bytes() bytes, `host` has kv_layer_bytes() for kKvBlock tokens.
void to_host_order(const Config& config, int layer, KvType type, Bytes device, MutableBytes host);
void to_device_order(const Config& config, int layer, KvType type, Bytes host, MutableBytes device);

}  // namespace tern::gpu
