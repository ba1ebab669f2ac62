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

class HeadCopy {
 public:
  struct Context {
    Device& device;
    KernelLibrary& kernels;
    const Plan& plan;
    const Layouts& layouts;
    ExactHead wanted;
    int max_logit_rows;
  };
  // Starts compiling the kernel that makes the copy, if there will be one. Called before weights are uploaded.
  static Result<void> begin(const Context& context);
  // Allocates the copy; null: none is wanted. Takes the head from `weights`. kNotSupported, kOutOfMemory.
  static Result<std::unique_ptr<HeadCopy>> create(const Context& context, WeightStore& weights);
  // Makes the copy, once, before the first run that reads it. Its kernel should have been compiled by then.
  Result<void> fill(Device& device);

  // Device memory for a copy of the plan's head; 0 if it cannot have one.
  static uint64_t bytes(const Plan& plan, int max_logit_rows);

  const Tensor& matrix() const { return *w_; }
  int most_rows() const { return most_rows_; }  // of logits, in one run
  // Bytes read to find a row's best logits, in addition to the matrix rows that are computed exactly.
  uint64_t bytes_per_token() const;

  // What the kernels of best_logits.h read and write.
  View<HeadCodes> codes() const { return {{codes_.get(), 0, 0}}; }
  View<HeadErrors> errors() const { return {{errors_.get(), 0, 0}}; }
  View<HeadCodes> parts() const { return {{parts_.get(), 0, 0}}; }
  View<HeadErrors> bounds() const { return {{bounds_.get(), 0, 0}}; }
  View<wgsl::F32> upper() const { return {{upper_.get(), 0, 0}}; }
  View<wgsl::Atomic<wgsl::U32>> greatest() const { return {{greatest_.get(), 0, 0}}; }

 private:
  HeadCopy() = default;
  Result<void> allocate(Device& device, uint32_t rows);
  Result<void> record_fill(const Context& context, const FloatMatrix& matrix);

  const Tensor* w_ = nullptr;
  int most_rows_ = 0;
  Program fill_;
  bool is_filled_ = false;
  std::unique_ptr<Buffer> codes_, errors_, parts_, bounds_, upper_, greatest_;
};

}  // namespace tern::gpu
