// The matrix that a backend may make an int8 copy of, to find the best logits with (docs/numerics.md).
#pragma once

#include <functional>

#include "backend/backend.h"
#include "base/result.h"
#include "model/weights.h"

namespace tern {

inline constexpr int kMostHeadCols = 32768;  // sums of bytes over a row stay below 2^31

// The matrix that makes the plan's logits from floats; null where they are made from anything else.
const Tensor* float_head(const Plan& plan);

// Whether its format, its scale, which must be 1, and its width allow a copy.
bool can_have_copy(const Tensor& w);

// What a backend has to say about it.
struct HeadCopyNeed {
  uint64_t bytes = 0;       // of the copy
  std::string cannot = {};  // why there can be none, as the end of a sentence about the matrix; empty: there can
  bool pays = true;         // were it only for the bytes
};

// The matrix whose copy `wanted` asks for; null: none. kNotSupported, kOutOfMemory where there is more than most_bytes
// of it.
Result<const Tensor*> head_to_copy(const Plan& plan, ExactHead wanted, uint64_t most_bytes,
                                   const std::function<HeadCopyNeed(const Tensor&)>& need_of);

}  // namespace tern
