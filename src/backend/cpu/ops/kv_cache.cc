// kv_append writes keys and values to the KV blocks, in the order of kv_layout.h.
#ifndef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/ops/kv_cache.cc"
#endif
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <type_traits>

#include "backend/cpu/ops/load_floats-inl.h"
#include "backend/cpu/ops/ops.h"
#include "backend/kv_layout.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

template <class T>
HWY_INLINE void StoreCached(VF values, T* at, size_t n) {
  const DF d;
  if constexpr (std::is_same_v<T, float>) {
    hn::StoreN(values, d, at, n);
  } else {
    const hn::Rebind<T, DF> dt;
    hn::StoreN(hn::DemoteTo(dt, values), dt, at, n);
  }
}

// The stored form of one head of one token: values of type T, and for q8_0 the scales.
template <class T>
struct StoredHead {
  HWY_ALIGN T values[kMostKvScales * kKvScaleGroup];
  uint16_t scales[kMostKvScales];
};

template <class T>
HWY_INLINE void MakeStored(const float* from, size_t dim, StoredHead<T>& to) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  if constexpr (!std::is_same_v<T, int8_t>) {
    for (size_t i = 0; i < dim; i += lanes) {
      const size_t n = std::min(lanes, dim - i);
      StoreCached(LoadFloats(from + i, n), to.values + i, n);
    }
  } else {
    const hn::Rebind<int8_t, DF> d8;
    const VF most_code = hn::Set(d, 127.0f);
    for (size_t g = 0; g < dim; g += kKvScaleGroup) {
      const size_t end = std::min(dim, g + kKvScaleGroup);
      VF most = hn::Zero(d);
      for (size_t i = g; i < end; i += lanes) {
        most = hn::Max(most, hn::Abs(LoadFloats(from + i, std::min(lanes, end - i))));
      }
      const Q8Scale scale = q8_scale(hn::ReduceMax(d, most));
      to.scales[g / kKvScaleGroup] = scale.bits;
      for (size_t i = g; i < end; i += lanes) {
        const size_t n = std::min(lanes, end - i);
        const VF scaled = hn::Mul(LoadFloats(from + i, n), hn::Set(d, scale.inverse));
        const auto codes = hn::NearestInt(hn::Clamp(scaled, hn::Neg(most_code), most_code));
        hn::StoreN(hn::DemoteTo(d8, codes), d8, to.values + i, n);
      }
    }
  }
}

template <class T>
void AppendTyped(const ops::KvAppend& op, WorkQueue& queue) {
  const ops::KvLayer& layer = op.cache;
  const int dim = layer.head_dim, n_heads = layer.n_kv_heads;
  queue.for_ranges(static_cast<int>(op.rows.size()) * n_heads, 1, [&](int begin, int end) HWY_ATTR {
    StoredHead<T> stored;
    for (int unit = begin; unit < end; ++unit) {
      const int head = unit % n_heads;
      const ops::KvRow& row = op.rows[static_cast<size_t>(unit / n_heads)];
      const size_t from = static_cast<size_t>(unit) * static_cast<size_t>(dim);
      std::byte* const keys = kv_block_of(row, row.pos) + layer.k_offset;
      std::byte* const values = kv_block_of(row, row.pos) + layer.v_offset;
      MakeStored(op.k + from, static_cast<size_t>(dim), stored);
      T* const key = reinterpret_cast<T*>(keys) + kv_key_at(layer, head, row.pos, 0);
      for (int i = 0; i < dim; ++i) key[i * kKvBlock] = stored.values[i];
      if constexpr (std::is_same_v<T, int8_t>) {
        auto* scales = reinterpret_cast<uint16_t*>(keys + kv_scale_offset(layer));
        for (int i = 0; i < dim; i += kKvScaleGroup) {
          scales[kv_key_scale_at(layer, head, row.pos, i)] = stored.scales[i / kKvScaleGroup];
        }
      }
      MakeStored(op.v + from, static_cast<size_t>(dim), stored);
      std::copy_n(stored.values, dim, reinterpret_cast<T*>(values) + kv_value_at(layer, head, row.pos, 0));
      if constexpr (std::is_same_v<T, int8_t>) {
        auto* scales = reinterpret_cast<uint16_t*>(values + kv_scale_offset(layer));
        std::copy_n(stored.scales, kv_scales_of(dim), scales + kv_value_scale_at(layer, head, row.pos, 0));
      }
    }
  });
}

void KvAppend(const ops::KvAppend& op, WorkQueue& queue) {
  if (op.cache.type == KvType::kF16) return AppendTyped<hwy::float16_t>(op, queue);
  if (op.cache.type == KvType::kQ8_0) return AppendTyped<int8_t>(op, queue);
  AppendTyped<float>(op, queue);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(KvAppend);
void kv_append(const ops::KvAppend& op, WorkQueue& queue) { HWY_DYNAMIC_DISPATCH(KvAppend)(op, queue); }

}  // namespace tern::cpu
#endif
