#include "backend/gpu/memory/kv_order.h"

#include <algorithm>

#include "backend/gpu/kernels/kv_cache.h"
#include "backend/kv_layout.h"
#include "base/check.h"

namespace tern::gpu {

static_assert(kBlockPositions == kKvBlock && kScaleGroup == kKvScaleGroup);

namespace {

size_t device_row_bytes(int head_dim, KvType type) {
  const auto dim = static_cast<uint32_t>(head_dim);
  switch (type) {
    case KvType::kF32:
      return 4 * kv_row_words<wgsl::F32>(dim);
    case KvType::kF16:
      return 4 * kv_row_words<wgsl::F16x2>(dim);
    case KvType::kQ8_0:
      return 4 * kv_row_words<wgsl::I8x4>(dim);
  }
  CHECK(false);
}

// Calls body(offset in a host's block, offset in a device's block, bytes) for every value and every scale.
template <class Body>
void for_places(const Config& config, int layer, KvType type, const Body& body) {
  const int dim = config.layer(layer).head_dim, n_heads = config.layer(layer).n_kv_heads;
  const ops::KvLayer host{.type = type, .n_kv_heads = n_heads, .head_dim = dim, .k_offset = 0, .v_offset = 0};
  const auto heads = static_cast<size_t>(n_heads);
  const size_t value_bytes = type == KvType::kQ8_0 ? 1 : kv_head_bytes(1, type);
  const size_t side_bytes = heads * kKvBlock * kv_head_bytes(dim, type), row_bytes = device_row_bytes(dim, type);
  const size_t scale_words = kv_scale_words(static_cast<uint32_t>(dim));
  for (size_t side = 0; side < 2; ++side) {
    const auto at = side == 0 ? kv_key_at : kv_value_at, scale_at = side == 0 ? kv_key_scale_at : kv_value_scale_at;
    for (size_t head = 0; head < heads; ++head) {
      for (int pos = 0; pos < kKvBlock; ++pos) {
        const int kv_head = static_cast<int>(head);
        const size_t row = ((side * heads + head) * kKvBlock + static_cast<size_t>(pos)) * row_bytes;
        for (int i = 0; i < dim; ++i) {
          body(side * side_bytes + at(host, kv_head, pos, i) * value_bytes, row + static_cast<size_t>(i) * value_bytes,
               value_bytes);
        }
        if (type != KvType::kQ8_0) continue;
        for (int i = 0; i < dim; i += kKvScaleGroup) {
          const auto group = static_cast<size_t>(i / kKvScaleGroup);
          const size_t half = 2 * (group % scale_words) + group / scale_words;
          body(side * side_bytes + kv_scale_offset(host) + 2 * scale_at(host, kv_head, pos, i),
               row + static_cast<size_t>(dim) + 2 * half, 2);
        }
      }
    }
  }
}

}  // namespace

uint64_t device_block_bytes(const Config& config, int layer, KvType type) {
  if (config.layer(layer).is_recurrent || !config.has_own_kv(layer)) return 0;
  return uint64_t{2} * static_cast<uint64_t>(config.layer(layer).n_kv_heads) * kKvBlock *
         device_row_bytes(config.layer(layer).head_dim, type);
}

void to_host_order(const Config& config, int layer, KvType type, Bytes device, MutableBytes host) {
  for_places(config, layer, type, [&](size_t at_host, size_t at_device, size_t n) {
    std::copy_n(device.data() + at_device, n, host.data() + at_host);
  });
}

void to_device_order(const Config& config, int layer, KvType type, Bytes host, MutableBytes device) {
  std::ranges::fill(device, std::byte{0});
  for_places(config, layer, type, [&](size_t at_host, size_t at_device, size_t n) {
    std::copy_n(host.data() + at_host, n, device.data() + at_device);
  });
}

}  // namespace tern::gpu
