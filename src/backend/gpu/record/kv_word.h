// Maps the type of keys and values to the word type of the kernels.
#pragma once

#include "backend/gpu/kernels/kv_cache.h"
#include "base/check.h"
#include "tern/options.h"

namespace tern::gpu {

// Calls body.operator()<KvWord>() with the kernels' word type for `type` (kernels/kv_cache.h).
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
