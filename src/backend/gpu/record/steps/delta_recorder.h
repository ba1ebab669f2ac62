// Recurrent layers, the gate of attention, and rotations.
#pragma once

#include "backend/gpu/kernels/delta/delta.h"
#include "backend/gpu/record/steps/float_layers.h"
#include "backend/gpu/record/steps/recording.h"

namespace tern::gpu {

class DeltaRecorder {
 public:
  explicit DeltaRecorder(Recording& recording) : r_(recording), layers_(recording) {}

  Result<void> record(const step::SplitHeads& s);
  Result<void> record(const step::SigmoidMul& s);
  Result<void> record(const step::CausalConv& s);
  Result<void> record(const step::DeltaRule& s);
  Result<void> record(const step::GatedNorm& s);
  Result<void> record(const step::GatedDelta& s);
  Result<void> record(const step::Rotate& s);

 private:
  Result<void> rotate(const step::Rotate& s, SlotId in, const When& when);
  DeltaShape shape(bool are_side_by_side) const;
  GatedNormConfig norm_config(const step::GatedNorm& s, const DeltaShape& shape) const;
  // The inputs of a recurrent layer's steps, and the runs that they are for.
  struct Inputs {
    DeltaShape shape;
    SlotId conv, gate, alpha, beta;
    When when;
  };
  Result<void> conv(const step::CausalConv& s, const Inputs& in);
  Result<void> rule(const step::DeltaRule& s, const Inputs& in);
  Result<void> normed(const step::GatedNorm& s, const Inputs& in);
  // Records all steps as one dispatch for runs that move states. False if the device is too small.
  Result<bool> at_once(const step::GatedDelta& s, const DeltaShape& shape);
  View<wgsl::U32> sequences() const { return {{&r_.work().sequences(), 0, 0}}; }
  View<wgsl::F32> state(int layer) const { return {r_.store().states(layer)}; }

  Recording& r_;
  FloatLayers layers_;
};

}  // namespace tern::gpu
