// The head matrix of which a backend may make an int8 copy, to find the best logits with (docs/numerics.md).
#pragma once

#include <functional>

#include "backend/backend.h"
#include "base/result.h"
#include "model/source/weights.h"

namespace tern {

inline constexpr int kMostHeadCols = 32768;  // sums of bytes over a row stay below 2^31

// The matrix that computes the plan's logits from float inputs; null if the logits come from anything else.
const Tensor* float_head(const Plan& plan);

// True if the format, the scale (which must be 1) and the width allow a copy.
bool can_have_copy(const Tensor& w);

// A backend's answer about a head copy.
struct HeadCopyNeed {
  uint64_t bytes = 0;       // of the copy
  std::string cannot = {};  // why not, as the end of a sentence about the matrix; empty: there can be one
  bool pays = true;         // apart from the size, whether a copy would be faster
};

// The matrix to copy for `wanted`; null: make no copy. With kYes: kNotSupported if it cannot be copied, kOutOfMemory if
// the copy takes more than most_bytes.
Result<const Tensor*> head_to_copy(const Plan& plan, ExactHead wanted, uint64_t most_bytes,
                                   const std::function<HeadCopyNeed(const Tensor&)>& need_of);

}  // namespace tern
