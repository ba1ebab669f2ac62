// A tab has one conversation, plus the few rows of its draft tokens. So the batch kernels for subgroup matrices, which
// browsers have only experimentally, are not part of the download.
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
