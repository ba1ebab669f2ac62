// The ternary layers: matrix × vector kernels for a few tokens, with norms inside; matrix × matrix kernels for many.
#pragma once

#include <memory>

#include "backend/gpu/record/steps/batch_recorder.h"
#include "backend/gpu/record/steps/norm_recorder.h"
#include "backend/gpu/record/steps/ternary_layers.h"

namespace tern::gpu {

class TernaryRecorder {
 public:
  TernaryRecorder(Recording& recording, NormRecorder& norms);

  Result<void> record(const step::TernaryLinear& s);
  Result<void> record(const step::TernaryLinearAdd& s);
  Result<void> record(const step::TernaryGlu& s);

  // One matrix, for the runs of a phase; `in` is an int8 slot.
  Result<void> linear_few(SlotId in, const Tensor& w, SlotId out, Store store, const When& when);
  Result<void> linear_many(SlotId in, const Tensor& w, SlotId out, Store store, const When& when);

  const TernaryLayers& layers() const { return layers_; }
  BatchRecorder& batches() { return *batches_; }

 private:
  int most_few() const;
  Result<void> linear(SlotId in, const Tensor& w, SlotId out, Store store);
  Result<void> normed_linear(SlotId in, const step::TernaryLinearAdd& s);
  Result<void> glu_few(SlotId in, const step::TernaryGlu& s, const When& when);
  Result<void> glu_many(SlotId in, const step::TernaryGlu& s, const When& when);
  Result<void> normed_glu(SlotId in, const step::TernaryGlu& s);

  Recording& r_;
  NormRecorder& norms_;
  TernaryLayers layers_;
  std::unique_ptr<BatchRecorder> batches_;
};

}  // namespace tern::gpu
