// The ternary layers of a batch on subgroup matrices: several tokens at a time, in fewer than tiles need.
#pragma once

#include "backend/gpu/record/steps/norm_recorder.h"
#include "backend/gpu/record/steps/ternary_layers.h"

namespace tern::gpu {

// The base class records nothing. A tab has one conversation, plus the few rows of its draft tokens, and browsers have
// subgroup matrices only experimentally.
class BatchRecorder {
 public:
  virtual ~BatchRecorder() = default;

  // True if a layer has batches where they are for up to `most_few` tokens.
  virtual bool has(const step::TernaryLinearAdd&, int /*most_few*/) const { return false; }
  virtual bool has(const step::TernaryGlu&, int /*most_few*/) const { return false; }
  virtual bool has(const step::TernaryQkv&, int /*most_few*/) const { return false; }

  // Records the phases kBatch of a layer. `one`: the layout for one row.
  virtual Result<void> record(const step::TernaryLinearAdd&, const TernaryConfig& /*one*/, const NormViews&,
                              const NextViews&, const TernaryPhases&) {
    return {};
  }
  virtual Result<void> record(const step::TernaryGlu&, const TernaryConfig& /*one*/, const NormViews&, const NextViews&,
                              const TernaryPhases&) {
    return {};
  }
  virtual Result<void> record(const step::TernaryQkv&, const TernaryConfig& /*one*/, const NormViews&,
                              const TernaryPhases&) {
    return {};
  }
};

}  // namespace tern::gpu
