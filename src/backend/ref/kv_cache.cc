#include "backend/kv_layout.h"
#include "backend/ref/ops.h"
#include "base/half.h"

namespace tern::ref {
namespace {

void store_value(void* base, KvType type, size_t index, float value) {
  if (type == KvType::kF16) {
    static_cast<uint16_t*>(base)[index] = f32_to_f16(value);
  } else {
    static_cast<float*>(base)[index] = value;
  }
}

}  // namespace

void kv_append(const ops::KvAppend& op) {
  const int d = op.cache.head_dim;
  size_t from = 0;
  for (int r = 0; r < op.n; ++r) {
    for (int h = 0; h < op.cache.n_kv_heads; ++h) {
      const size_t to = kv_offset(op.cache, h, op.first_pos + r);
      for (int i = 0; i < d; ++i, ++from) {
        store_value(op.cache.k, op.cache.type, to + static_cast<size_t>(i), op.k[from]);
        store_value(op.cache.v, op.cache.type, to + static_cast<size_t>(i), op.v[from]);
      }
    }
  }
}

}  // namespace tern::ref
