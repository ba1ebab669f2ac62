// A tab has one conversation, and the few rows that a guess adds to it. So what batches take on subgroup matrices,
// which browsers have only as an experiment, is not part of the download.
#include "backend/gpu/record/recorder.h"

namespace tern::gpu {

bool Recorder::has_batches(const step::TernaryLinearAdd&) const { return false; }
bool Recorder::has_batches(const step::TernaryGlu&) const { return false; }
bool Recorder::has_batches(const step::TernaryQkv&) const { return false; }

Result<int> Recorder::in_batches(const step::TernaryLinearAdd&, const TernaryConfig&, const NormViews&,
                                 const NextViews&) {
  return most_few_;
}
Result<int> Recorder::in_batches(const step::TernaryGlu&, const TernaryConfig&, const NormViews&, const NextViews&) {
  return most_few_;
}
Result<int> Recorder::in_batches(const step::TernaryQkv&, const TernaryConfig&, const NormViews&) { return most_few_; }

Result<bool> Recorder::head_matmul(const FloatMatrix&, const Tensor&, SlotId, const step::FloatNormOnRead&, SlotId) {
  return false;
}

}  // namespace tern::gpu
