// The web build always computes all logits: a tab has no memory for a second copy of the head. So the code for it is
// not part of the download.
#include "backend/gpu/record/head_copy.h"

#include "backend/gpu/record/steps/logits_recorder.h"
#include "base/check.h"

namespace tern::gpu {

Result<void> HeadCopy::begin(const Context&) { return {}; }
Result<std::unique_ptr<HeadCopy>> HeadCopy::create(const Context&, WeightStore&) { return nullptr; }
Result<void> HeadCopy::fill(Device&) { CHECK(false); }
uint64_t HeadCopy::bytes(const Plan&, int) { return 0; }
uint64_t HeadCopy::bytes_per_token() const { CHECK(false); }

Result<void> LogitsRecorder::best_logits(const step::FloatLinear&) { CHECK(false); }

}  // namespace tern::gpu
