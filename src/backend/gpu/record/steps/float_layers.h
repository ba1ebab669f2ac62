// The layouts of the float layers' kernels on a device.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backend/gpu/kernels/float/float_linear.h"
#include "backend/gpu/kernels/float/float_matmul_matrix.h"
#include "backend/gpu/memory/weights/pack.h"
#include "backend/gpu/record/steps/recording.h"

namespace tern::gpu {

class FloatLayers {
 public:
  explicit FloatLayers(const Recording& recording) : r_(recording) {}

  // For one row. `norm`: the norm of what the kernel reads; null: none.
  FloatLinearConfig float_config(const Tensor& w, const WeightCoding& coding, const step::FloatNormOnRead* norm,
                                 const MatvecLayout& layout) const;
  // `config` for a few rows at a time if workgroup memory allows, otherwise with one column.
  FloatLinearConfig in_columns(FloatLinearConfig config, Rows rows) const;
  const MatvecLayout& layout(const Tensor& w) const;

  // For subgroup matrices; none if this device has no suitable ones.
  std::optional<FloatMatrixMatmulConfig> matrix_config(const Tensor& w, const WeightCoding& coding, uint32_t n_matrices,
                                                       const PromptTile& tile) const;
  std::vector<Tiled<FloatMatrixMatmulConfig>> matrix_configs(const Tensor& w, const WeightCoding& coding,
                                                             uint32_t n_matrices, uint32_t rows,
                                                             const When& when) const;
  // Tiles for few tokens, where tiles for many would leave most of the GPU idle: for `fewest` to `most` rows of x. Each
  // tile is for up to its own number of rows, the last one for all beyond.
  struct FewTokens {
    FloatMatrixMatmulConfig config;
    int fewest, most;
  };
  std::vector<FewTokens> few_tokens_configs(const Tensor& w, const WeightCoding& coding, uint32_t n_matrices,
                                            std::span<const Layouts::FewTile> wanted, int fewest, int most) const;
  // The runs in which a matrix is multiplied in tiles. If there are no kernels for several rows (in_columns): from
  // kMatmulTokens on. Otherwise from Layouts::few_tiles_from on if there are tiles for few tokens, else from
  // float_tiles_from on.
  When in_tiles(const Tensor& w, const WeightCoding& coding, const MatvecLayout& layout) const;

 private:
  const Recording& r_;
};

}  // namespace tern::gpu
