// The int8 copy of a float head on the device, and what its best logits are found in (kernels/best_logits.h).
#pragma once

#include <memory>

#include "backend/exact_head.h"
#include "backend/gpu/kernels/best_logits.h"
#include "backend/gpu/memory/views.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/record/layouts.h"
#include "backend/gpu/weights/weight_store.h"

namespace tern::gpu {

// More than so many of a row's logits are not looked for this way.
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
  // Starts to compile what makes the copy, where there will be one: before weights are uploaded.
  static Result<void> begin(const Context& context);
  // Room for the copy that is wanted; null: none is. Takes the head from `weights`. kNotSupported, kOutOfMemory.
  static Result<std::unique_ptr<HeadCopy>> create(const Context& context, WeightStore& weights);
  // Makes it, once: before anything is run that reads it. By then what makes it should have been compiled.
  Result<void> fill(Device& device);

  // Device memory that it takes, where the plan's head can have one; else 0.
  static uint64_t bytes(const Plan& plan, int max_logit_rows);

  const Tensor& matrix() const { return *w_; }
  int most_rows() const { return most_rows_; }  // of logits, at a time
  // Read to find the logits of a row, beside the rows of the matrix that are computed.
  uint64_t bytes_per_token() const;

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
