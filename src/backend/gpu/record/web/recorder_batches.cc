// A tab has one conversation, plus the few rows of its draft tokens. So the batch kernels for subgroup matrices, which
// browsers have only experimentally, are not part of the download.
#include "backend/gpu/record/steps/batch_recorder.h"
#include "backend/gpu/record/steps/logits_recorder.h"

namespace tern::gpu {

bool BatchRecorder::has(const step::TernaryLinearAdd&) const { return false; }
bool BatchRecorder::has(const step::TernaryGlu&) const { return false; }
bool BatchRecorder::has(const step::TernaryQkv&) const { return false; }

Result<int> BatchRecorder::record(const step::TernaryLinearAdd&, const TernaryConfig&, const NormViews&,
                                  const NextViews&) {
  return layers_.most_few();
}
Result<int> BatchRecorder::record(const step::TernaryGlu&, const TernaryConfig&, const NormViews&, const NextViews&) {
  return layers_.most_few();
}
Result<int> BatchRecorder::record(const step::TernaryQkv&, const TernaryConfig&, const NormViews&) {
  return layers_.most_few();
}

Result<bool> LogitsRecorder::in_tiles(const FloatMatrix&, const Tensor&, SlotId, const step::FloatNormOnRead&, SlotId) {
  return false;
}

}  // namespace tern::gpu
