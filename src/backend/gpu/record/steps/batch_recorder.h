// The ternary layers of a batch on subgroup matrices: several tokens at a time, in fewer than tiles need.
#pragma once

#include <climits>

#include "backend/gpu/record/steps/norm_recorder.h"
#include "backend/gpu/record/steps/ternary_layers.h"

namespace tern::gpu {

// The base class records nothing. A tab has one conversation, plus the few rows of its draft tokens, and browsers have
// subgroup matrices only experimentally.
class BatchRecorder {
 public:
  virtual ~BatchRecorder() = default;

  // False if the device has no suitable matrices.
  virtual bool has(const step::TernaryLinearAdd&) const { return false; }
  virtual bool has(const step::TernaryGlu&) const { return false; }
  virtual bool has(const step::TernaryQkv&) const { return false; }

  // Records a step for the runs in batches. Returns the most tokens for which another kernel is needed. `one`: the
  // layout for one row.
  virtual Result<int> record(const step::TernaryLinearAdd&, const TernaryConfig& /*one*/, const NormViews&,
                             const NextViews&) {
    return INT_MAX;
  }
  virtual Result<int> record(const step::TernaryGlu&, const TernaryConfig& /*one*/, const NormViews&,
                             const NextViews&) {
    return INT_MAX;
  }
  virtual Result<int> record(const step::TernaryQkv&, const TernaryConfig& /*one*/, const NormViews&) {
    return INT_MAX;
  }
};

}  // namespace tern::gpu
