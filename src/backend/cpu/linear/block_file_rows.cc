// The loops of block_linear.cc for blocks in the file's order.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear/block_file_rows.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "backend/cpu/linear/block_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace block {

std::optional<Kernel> FileKernel(Format format) {
  switch (format) {
    case Format::kQ1_0:
      return MakeKernel<Q1>();
    case Format::kQ2_0:
      return MakeKernel<Q2<kQ2_0Block>>();
    case Format::kPQ2_0:
      return MakeKernel<Q2<kPq2_0Block>>();
    case Format::kQ4_0:
      return MakeKernel<Q4>();
    case Format::kQ8_0:
      return MakeKernel<Q8>();
    case Format::kTQ2_0:
      return MakeKernel<Tq2>();
    case Format::kQ6_K:
      return MakeKernel<Q6>();
    default:
      return std::nullopt;
  }
}

}  // namespace block
}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();
