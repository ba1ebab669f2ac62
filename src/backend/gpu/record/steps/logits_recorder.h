// The head for several rows of logits, in tiles; and with its int8 copy, which gives only the best logits of a few
// rows.
#pragma once

#include <algorithm>
#include <span>

#include "backend/gpu/kernels/head/best_logits.h"
#include "backend/gpu/record/steps/float_inputs.h"
#include "backend/gpu/record/steps/float_layers.h"

namespace tern::gpu {

class LogitsRecorder {
 public:
  LogitsRecorder(Recording& recording, FloatInputs& inputs, const FloatLayers& layers)
      : r_(recording), inputs_(inputs), layers_(layers) {}

  // The rows of logits from which the head is computed in tiles.
  int products_from(const Tensor& w) const {
    return std::max(2, w.format == Format::kF16 ? r_.layouts().head_matrices_from : r_.layouts().head_tiles_from);
  }
  // The head in tiles; false if this device or format has no such kernel.
  Result<bool> in_tiles(const FloatMatrix& matrix, const Tensor& w, SlotId in, const step::FloatNormOnRead& norm,
                        SlotId out);
  // The best logits, found with the head's copy.
  Result<void> best_logits(const step::FloatLinear& s);

 private:
  Result<bool> f16_in_tiles(const FloatMatrix& matrix, const Tensor& w, SlotId in, const step::FloatNormOnRead& norm,
                            SlotId out);
  Result<bool> packed_in_tiles(const FloatMatrix& matrix, const Tensor& w, SlotId in, const step::FloatNormOnRead& norm,
                               SlotId out);
  Result<void> estimates(const Tensor& w, std::span<const FloatRead> reads);
  Result<void> best_of_estimates(const step::FloatLinear& s, const FloatRead& read);
  EstimateConfig estimate_config(const Tensor& w, uint32_t columns) const;

  Recording& r_;
  FloatInputs& inputs_;
  const FloatLayers& layers_;
};

}  // namespace tern::gpu
