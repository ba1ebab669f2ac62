// The largest of several values and its index. NaN never wins; among equal values, the lowest index wins.
#pragma once

#include "backend/gpu/kernels/common.h"

namespace tern::gpu::greatest {

using namespace wgsl;

// Below every logit. If there are only NaNs and −∞ to choose from, the index is kNone and the token is 0.
inline constexpr float kLowest = -3.4e38f;
inline constexpr uint32_t kNone = 0xFFFFFFFF;

// Reduces (value, index) over the workgroup. Afterwards the winner is in entry 0 of both arrays.
inline void reduce_greatest(const Shared<F32>& values, const Shared<U32>& indices, const LocalIndex& tid,
                            uint32_t workgroup) {
  for (uint32_t s = workgroup / 2; s > 0; s /= 2) {
    workgroupBarrier();
    when(tid < s, [&] {
      auto a = let("a", values[tid]);
      auto b = let("b", values[tid + s]);
      auto at_a = let("at_a", indices[tid]);
      auto at_b = let("at_b", indices[tid + s]);
      when(b > a || (b == a && at_b < at_a), [&] {
        values[tid] = b;
        indices[tid] = at_b;
      });
    });
  }
  workgroupBarrier();
}

// The greatest value that an invocation has seen, and its index.
struct Greatest {
  Var<F32> value = var("value", kLowest);
  Var<U32> index = var("index", kNone);

  void see(const Name<F32>& other, const Name<U32>& at) const {
    when(other > value || (other == value && at < index), [&] {
      value = other;
      index = at;
    });
  }
};

// The same for what each invocation has seen.
struct Best {
  Shared<F32> values;
  Shared<U32> indices;
};
inline Best best_of_workgroup(const Greatest& mine, const LocalIndex& tid, uint32_t workgroup) {
  const Best best{shared<F32>("best", workgroup), shared<U32>("best_at", workgroup)};
  best.values[tid] = mine.value;
  best.indices[tid] = mine.index;
  reduce_greatest(best.values, best.indices, tid, workgroup);
  return best;
}

}  // namespace tern::gpu::greatest
