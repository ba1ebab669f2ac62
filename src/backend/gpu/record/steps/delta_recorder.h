// Recurrent layers, the gate of attention, and rotations.
#pragma once

#include "backend/gpu/kernels/delta.h"
#include "backend/gpu/record/steps/recording.h"

namespace tern::gpu {

class DeltaRecorder {
 public:
  explicit DeltaRecorder(Recording& recording) : r_(recording) {}

  Result<void> record(const step::SplitHeads& s);
  Result<void> record(const step::SigmoidMul& s);
  Result<void> record(const step::CausalConv& s);
  Result<void> record(const step::DeltaRule& s);
  Result<void> record(const step::GatedNorm& s);
  Result<void> record(const step::Rotate& s);

 private:
  DeltaShape shape() const;
  View<wgsl::U32> sequences() const { return {{&r_.work().sequences(), 0, 0}}; }
  View<wgsl::F32> state(int layer) const { return {r_.store().states(layer)}; }

  Recording& r_;
};

}  // namespace tern::gpu
