// One layer of a KV cache on the host, in the order in which a device holds it.
#pragma once

#include <vector>

#include "backend/gpu/kernels/kv_cache.h"
#include "backend/ops.h"
#include "base/half.h"
#include "conform/gpu/gpu_bench.h"

namespace tern::conform {

// Keys, then values, [n_kv_heads][n_ctx][head_dim] each, poisoned.
struct KvData {
  KvData(const gpu::HeadShape& s, KvType kv_type)
      : type(kv_type), words(poisoned<uint32_t>(side_bytes(s, kv_type) * 2 / 4)) {
    auto* bytes = reinterpret_cast<std::byte*>(words.data());
    layer = {bytes,
             bytes + side_bytes(s, kv_type),
             kv_type,
             static_cast<int>(s.n_ctx),
             static_cast<int>(s.n_kv_heads),
             static_cast<int>(s.head_dim)};
  }
  KvData(const KvData&) = delete;
  KvData& operator=(const KvData&) = delete;

  static size_t side_bytes(const gpu::HeadShape& s, KvType type) {
    return size_t{s.n_kv_heads} * s.n_ctx * s.head_dim * (type == KvType::kF16 ? 2 : 4);
  }
  // All values as floats, keys first.
  std::vector<float> floats() const {
    std::vector<float> values;
    for (const uint32_t word : words) {
      if (type == KvType::kF32) {
        values.push_back(std::bit_cast<float>(word));
      } else {
        values.push_back(f16_to_f32(static_cast<uint16_t>(word)));
        values.push_back(f16_to_f32(static_cast<uint16_t>(word >> 16)));
      }
    }
    return values;
  }

  KvType type;
  std::vector<uint32_t> words;
  ops::KvLayer layer;
};

// What storing a value as f16 may add: pack2x16float may round either way, by one step of 11 bits.
inline double kv_error(KvType type, double value) {
  return type == KvType::kF16 ? std::abs(value) * 0x1p-10 + 0x1p-24 : 0;
}

}  // namespace tern::conform
