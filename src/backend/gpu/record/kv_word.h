// From the type of keys and values to that of the words that kernels take.
#pragma once

#include "backend/gpu/kernels/kv_cache.h"
#include "base/check.h"
#include "tern/options.h"

namespace tern::gpu {

// body.operator()<KvWord>(), with what kernels take for this type (kernels/kv_cache.h).
template <class Body>
auto with_kv_word(KvType type, Body&& body) {
  switch (type) {
    case KvType::kF32:
      return body.template operator()<wgsl::F32>();
    case KvType::kF16:
      return body.template operator()<wgsl::F16x2>();
    case KvType::kQ8_0:
      return body.template operator()<wgsl::I8x4>();
  }
  CHECK(false);
}

}  // namespace tern::gpu
