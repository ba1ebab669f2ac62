// The web build has no megakernel: browsers do not say how many workgroups run at the same time. So its code is not
// part of the download.
#include "backend/gpu/record/one_dispatch.h"

#include "backend/gpu/trust/try_one_dispatch.h"
#include "base/check.h"

namespace tern::gpu {

Result<LayersInOne> layers_in_one(const Device&, const Plan&, bool) {
  return fail(ErrorCode::kNotSupported, "pages compute the layers of a token step by step");
}

Result<std::unique_ptr<OneDispatch>> OneDispatch::create(Device&, KernelLibrary&, WeightStore&, LayersInOne) {
  CHECK(false);
}
Result<const Pipeline*> OneDispatch::pipeline(KernelLibrary&, const LayersInOne&) { CHECK(false); }
Result<RecordedDispatch> OneDispatch::record(const BufferView&, const BufferView&, const BufferView&, const GpuKvStore&,
                                             const When&) const {
  CHECK(false);
}
Result<std::unique_ptr<OneDispatch>> OneDispatch::for_rows(int, int) const { CHECK(false); }
Result<void> OneDispatch::ready(uint32_t, int, int) { CHECK(false); }
Result<void> OneDispatch::reset(Patience) { CHECK(false); }
bool OneDispatch::has_failed(Bytes) { CHECK(false); }

Result<OneDispatchTrial> try_one_dispatch(Device&, const Plan&, const Program&, const WorkBuffers&, OneDispatch&, int) {
  CHECK(false);
}

}  // namespace tern::gpu
