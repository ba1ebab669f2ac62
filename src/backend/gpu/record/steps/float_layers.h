// The layouts of the float layers' kernels on a device.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backend/gpu/kernels/float/float_linear.h"
#include "backend/gpu/kernels/float/float_matmul_few.h"
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
  // The layout of rows that are int8; null if this device or these weights do not take them.
  const Layouts::Int8Rows* int8_rows(const Tensor& w, const WeightCoding& coding) const;
  // The most rows that are int8; 0: none. Kernels for a few tokens do without.
  int most_int8_rows(const Tensor& w, const WeightCoding& coding) const;
  // The rows from which they are; none if they never are.
  std::optional<int> int8_from(const Tensor& w, const WeightCoding& coding) const;
  // What the step that is being recorded should leave of `slot`, in at most `most_rows` rows, for the next step that
  // uses the slot; none if that is no product that reads rows as int8.
  Result<std::optional<LeftInt8>> left_for_next(SlotId slot, int most_rows) const;
  // For such rows, this many at a time.
  FloatLinearConfig int8_config(const Tensor& w, const WeightCoding& coding, uint32_t columns, bool is_glu) const;

  // For subgroup matrices; none if this device has no suitable ones.
  std::optional<FloatMatrixMatmulConfig> matrix_config(const Tensor& w, const WeightCoding& coding, uint32_t n_matrices,
                                                       const PromptTile& tile) const;
  std::vector<Tiled<FloatMatrixMatmulConfig>> matrix_configs(const Tensor& w, const WeightCoding& coding,
                                                             uint32_t n_matrices, uint32_t rows,
                                                             const When& when) const;
  // Kernels for batches of decode, by tokens; none if this device or these weights have none. `rows`: of each matrix.
  std::vector<Tiled<FloatMatmulFewConfig>> few_tokens_configs(const Tensor& w, const WeightCoding& coding,
                                                              uint32_t n_matrices, uint32_t rows,
                                                              const When& when) const;
  // Tiles for few tokens (TilePhase::kFew), as far as they fit, and the tokens of each.
  struct FewTiles {
    std::vector<FloatMatrixMatmulConfig> configs;
    std::vector<uint32_t> tokens;
  };
  FewTiles few_tiles(const Tensor& w, const WeightCoding& coding, uint32_t n_matrices,
                     std::span<const Layouts::FewTile> wanted) const;
  // `rows`: those of the layer's input. `layout`: for one row.
  std::vector<Phase<FloatPhase>> phases(const Tensor& w, const WeightCoding& coding, Rows rows,
                                        const MatvecLayout& layout) const;

 private:
  bool takes_int8(const Tensor& w, const WeightCoding& coding) const;

  const Recording& r_;
};

}  // namespace tern::gpu
