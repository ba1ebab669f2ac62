// The layouts of the ternary layers' kernels on a device, and views of the layers' weights.
#pragma once

#include <optional>
#include <vector>

#include "backend/gpu/kernels/ternary/ternary_columns.h"
#include "backend/gpu/kernels/ternary/ternary_matmul_matrix.h"
#include "backend/gpu/kernels/ternary/ternary_qkv.h"
#include "backend/gpu/record/steps/recording.h"

namespace tern::gpu {

struct LinearViews {
  View<TernaryWeights> w;
  View<WeightScales> scale;
};
struct GluViews {
  View<TernaryWeights> gate, up;
  View<WeightScales> scale;
};
struct QkvViews {
  View<TernaryWeights> w;
  View<WeightScales> scale;
  View<wgsl::Vec2<wgsl::F32>> angles;
};

// A kernel for several tokens at a time, and the runs it is for.
struct InColumns {
  TernaryConfig layout;
  ColumnsConfig columns;
  Extent extent;
};

class TernaryLayers {
 public:
  explicit TernaryLayers(Recording& recording) : r_(recording) {}

  // For one token.
  TernaryConfig linear_config(const Tensor& w, Store store) const;
  TernaryConfig glu_config(const step::TernaryGlu& s) const;
  TernaryQkvConfig qkv_config(const step::TernaryQkv& s) const;
  Extent per_rows(const TernaryConfig& config, const When& when) const;

  TernaryPhases phases() const { return ternary_phases(r_.phase_limits(), {}); }
  // Those of a layer that norms what it reads. `one`: its layout for one token. `batches`: it has some.
  TernaryPhases normed_phases(const TernaryConfig& one, bool batches) const;
  // For the runs of a phase kColumns.
  InColumns in_columns(const TernaryConfig& one, const Phase<TernaryPhase>& phase) const;
  // The number of tokens at a time, at most `wanted`, for which `one` can be laid out; 1: only one.
  uint32_t fitting_columns(const TernaryConfig& one, uint32_t wanted) const;

  // For subgroup matrices; none if this device has no suitable ones.
  std::vector<Tiled<TernaryMatrixMatmulConfig>> matrix_configs(const Tensor& w, uint32_t rows, uint32_t n_matrices,
                                                               const When& when) const;

  Result<LinearViews> linear_views(const Tensor& w) const;
  Result<GluViews> glu_views(const step::TernaryGlu& s) const;
  Result<QkvViews> qkv_views(const step::TernaryQkv& s) const;

  // For layers that norm what they read; INT_MAX while it is not known.
  int most_few() const { return most_few_; }
  void set_most_few(int most) { most_few_ = most; }

 private:
  TernaryConfig ternary_config(const Tensor& w, const MatvecLayout& layout) const;
  TernaryConfig columns_layout(const TernaryConfig& one) const;
  std::optional<TernaryMatrixMatmulConfig> matrix_config(const Tensor& w, uint32_t n_matrices,
                                                         const PromptTile& tile) const;
  Result<View<WeightScales>> scales(float a, float b = 0, float c = 0) const;

  Recording& r_;
  int most_few_ = INT_MAX;
};

}  // namespace tern::gpu
