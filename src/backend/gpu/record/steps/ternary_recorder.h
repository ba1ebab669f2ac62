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

  // One matrix; `in` is an int8 slot.
  Result<void> linear_few(SlotId in, const Tensor& w, SlotId out, Store store);
  Result<void> linear_many(SlotId in, const Tensor& w, SlotId out, Store store, const When& when = kManyTokens);

  const TernaryLayers& layers() const { return layers_; }
  BatchRecorder& batches() { return *batches_; }

 private:
  int most_in_columns() const;
  Result<void> normed_linear(const step::TernaryLinearAdd& s);
  Result<void> glu_few(SlotId in, const step::TernaryGlu& s);
  Result<void> glu_many(SlotId in, const step::TernaryGlu& s, const When& when);

  Recording& r_;
  NormRecorder& norms_;
  TernaryLayers layers_;
  std::unique_ptr<BatchRecorder> batches_;
};

}  // namespace tern::gpu
