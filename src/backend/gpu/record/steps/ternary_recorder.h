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
  // The kernels of a layer that norms what it reads: for one token, and for several at a time.
  template <class K>
  struct NormedKernels {
    K (*one)(const TernaryConfig&, const NormConfig&);
    K (*columns)(const TernaryConfig&, const NormConfig&, const ColumnsConfig&);
  };
  template <class K, class Step>
  Result<void> normed(const Step& s, const NormedKernels<K>& kernels, const TernaryConfig& one, const auto& use,
                      const auto& tiles);
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
