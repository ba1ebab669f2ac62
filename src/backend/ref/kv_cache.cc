#include <algorithm>
#include <cmath>

#include "backend/kv_layout.h"
#include "backend/ref/ops.h"
#include "base/half.h"

namespace tern::ref {
namespace {

using Place = size_t (*)(const ops::KvLayer& layer, int kv_head, int pos, int i);

void store_q8(const ops::KvLayer& layer, std::byte* side, Place at, Place scale_at, int kv_head, int pos,
              const float* head) {
  auto* codes = reinterpret_cast<int8_t*>(side);
  auto* scales = reinterpret_cast<uint16_t*>(side + kv_scale_offset(layer));
  for (int g = 0; g < layer.head_dim; g += kKvScaleGroup) {
    const int end = std::min(layer.head_dim, g + kKvScaleGroup);
    float most = 0;
    for (int i = g; i < end; ++i) most = std::max(most, std::abs(head[i]));
    const Q8Scale scale = q8_scale(most);
    scales[scale_at(layer, kv_head, pos, g)] = scale.bits;
    for (int i = g; i < end; ++i) {
      const float code = std::clamp(std::nearbyint(head[i] * scale.inverse), -127.0f, 127.0f);
      codes[at(layer, kv_head, pos, i)] = static_cast<int8_t>(code);
    }
  }
}

void store(const ops::KvLayer& layer, std::byte* side, Place at, int kv_head, int pos, const float* head) {
  for (int i = 0; i < layer.head_dim; ++i) {
    if (layer.type == KvType::kF16) {
      reinterpret_cast<uint16_t*>(side)[at(layer, kv_head, pos, i)] = f32_to_f16(head[i]);
    } else {
      reinterpret_cast<float*>(side)[at(layer, kv_head, pos, i)] = head[i];
    }
  }
}

}  // namespace

void kv_append(const ops::KvAppend& op) {
  const ops::KvLayer& layer = op.cache;
  size_t from = 0;
  for (const ops::KvRow& row : op.rows) {
    std::byte* const block = kv_block_of(row, row.pos);
    for (int h = 0; h < layer.n_kv_heads; ++h, from += static_cast<size_t>(layer.head_dim)) {
      if (layer.type == KvType::kQ8_0) {
        store_q8(layer, block + layer.k_offset, kv_key_at, kv_key_scale_at, h, row.pos, op.k + from);
        store_q8(layer, block + layer.v_offset, kv_value_at, kv_value_scale_at, h, row.pos, op.v + from);
      } else {
        store(layer, block + layer.k_offset, kv_key_at, h, row.pos, op.k + from);
        store(layer, block + layer.v_offset, kv_value_at, h, row.pos, op.v + from);
      }
    }
  }
}

}  // namespace tern::ref
