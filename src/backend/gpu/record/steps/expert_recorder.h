// Mixtures of experts.
#pragma once

#include "backend/gpu/record/steps/float_layers.h"
#include "backend/gpu/record/steps/recording.h"

namespace tern::gpu {

class ExpertRecorder {
 public:
  explicit ExpertRecorder(Recording& recording) : r_(recording), layers_(recording) {}

  Result<void> record(const step::Route& s);
  Result<void> record(const step::ExpertGlu& s);
  Result<void> record(const step::ExpertLinear& s);
  Result<void> record(const step::MixExperts& s);

 private:
  // The layout for the matrices of one expert.
  ExpertLinearConfig config(const Tensor& w, const WeightCoding& coding, const ExpertConfig& experts,
                            const MatvecLayout& layout) const;
  Extent extent(const ExpertLinearConfig& config) const;

  Recording& r_;
  FloatLayers layers_;
};

}  // namespace tern::gpu
