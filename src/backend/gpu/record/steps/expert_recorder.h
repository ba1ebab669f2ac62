// Mixtures of experts.
#pragma once

#include "backend/gpu/record/steps/float_inputs.h"
#include "backend/gpu/record/steps/float_layers.h"
#include "backend/gpu/record/steps/recording.h"

namespace tern::gpu {

class ExpertRecorder {
 public:
  ExpertRecorder(Recording& recording, NormRecorder& norms)
      : r_(recording), layers_(recording), inputs_(recording, norms) {}

  Result<void> record(const step::Route& s);
  Result<void> record(const step::ExpertGlu& s);
  Result<void> record(const step::ExpertLinear& s);
  Result<void> record(const step::MixExperts& s) { return mix(s, s.out, Store::kSet); }
  Result<void> record(const step::MixExpertsAdd& s) { return mix(s.mix, s.x, Store::kAdd); }

 private:
  using TilesPhase = Phase<ExpertPhase>;

  // A step's Config, with the layout of one expert's matrices.
  template <class Linear>
  OfExperts<Linear> of_experts(const Linear& linear, const step::ExpertGlu& s) const;
  template <class Linear>
  OfExperts<Linear> of_experts(const Linear& linear, const step::ExpertLinear& s) const;

  std::vector<Layouts::FewTile> tiles() const;  // those that fit
  std::vector<TilesPhase> phases(const ExpertConfig& experts) const;
  Result<void> list_tiles(const step::Route& s, const TilesPhase& phase);
  Result<View<wgsl::U32>> tile_list() const;
  // The rows of `in` as f16, normed if there is a norm, with their factors behind the tiles. per_token: rows that each
  // token has.
  Result<View<wgsl::Vec4<wgsl::F16>>> halves(SlotId in, const step::FloatNormOnRead& norm, uint32_t per_token,
                                             const When& when);
  // On subgroup matrices; none if the device has no suitable ones. `w`: one expert's.
  std::optional<FloatMatrixMatmulConfig> on_matrices(const Tensor& w, const WeightCoding& coding, uint32_t n_matrices,
                                                     const TilesPhase& phase) const;

  Result<void> glu_few(const step::ExpertGlu& s, const WeightStore::Glu& parts, View<wgsl::F32> bias, const When& when);
  Result<void> glu_in_tiles(const step::ExpertGlu& s, const WeightStore::Glu& parts, View<wgsl::F32> bias,
                            const TilesPhase& phase);
  Result<void> linear_few(const step::ExpertLinear& s, const FloatMatrix::Part& part, View<wgsl::F32> bias,
                          const When& when);
  Result<void> linear_in_tiles(const step::ExpertLinear& s, const FloatMatrix::Part& part, View<wgsl::F32> bias,
                               const TilesPhase& phase);
  Result<void> mix(const step::MixExperts& s, SlotId out, Store store);
  Extent few_extent(const ExpertLinearConfig& config, const When& when) const;

  Recording& r_;
  FloatLayers layers_;
  FloatInputs inputs_;
};

}  // namespace tern::gpu
