// The loops of block_linear.cc for records (interleave.h) of formats with blocks of 256 values.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear/block_k_record_rows.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "backend/cpu/linear/block_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace block {

std::optional<Kernel> LargeRecordKernel(Format format) { return RecordKernel<true>(format, BlockFormats()); }

}  // namespace block
}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();
