// The int8 copy of a float head on the device, and the buffers for finding the best logits
// (kernels/head/best_logits.h).
#pragma once

#include <memory>

#include "backend/exact_head.h"
#include "backend/gpu/kernels/head/best_logits.h"
#include "backend/gpu/memory/views.h"
#include "backend/gpu/memory/weights/weight_store.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/record/layouts.h"

namespace tern::gpu {

// The copy is not used to find more than this many of a row's best logits.
inline constexpr int kMostBestLogits = 128;

struct HeadCopyContext {
  Device& device;
  KernelLibrary& kernels;
  const Plan& plan;
  const Layouts& layouts;
  ExactHead wanted;
  int max_logit_rows;
};

class HeadCopy {
 public:
  virtual ~HeadCopy() = default;
  // Makes the copy, once, before the first run that reads it. Its kernel should have been compiled by then.
  virtual Result<void> fill(Device& device) = 0;

  virtual const Tensor& matrix() const = 0;
  virtual int most_rows() const = 0;  // of logits, in one run
  // Bytes read to find a row's best logits, in addition to the matrix rows that are computed exactly.
  virtual uint64_t bytes_per_token() const = 0;

  // What the kernels of best_logits.h read and write.
  struct Views {
    View<HeadCodes> codes;
    View<HeadErrors> errors;
    View<HeadCodes> parts;
    View<HeadErrors> bounds;
    View<wgsl::F32> upper;
    View<wgsl::Atomic<wgsl::U32>> greatest;
  };
  virtual Views views() const = 0;
};

// For NativeParts (steps/native_parts.h), which says what they do.
uint64_t head_copy_bytes(const Plan& plan, int max_logit_rows);
Result<void> begin_head_copy(const HeadCopyContext& context);
Result<std::unique_ptr<HeadCopy>> make_head_copy(const HeadCopyContext& context, WeightStore& weights);

}  // namespace tern::gpu
