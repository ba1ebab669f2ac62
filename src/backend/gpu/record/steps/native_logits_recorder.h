// The head in tiles, and with its int8 copy.
#pragma once

#include <span>

#include "backend/gpu/kernels/head/best_logits.h"
#include "backend/gpu/record/steps/float_layers.h"
#include "backend/gpu/record/steps/logits_recorder.h"

namespace tern::gpu {

class NativeLogitsRecorder final : public LogitsRecorder {
 public:
  NativeLogitsRecorder(Recording& recording, FloatInputs& inputs, const FloatLayers& layers)
      : r_(recording), inputs_(inputs), layers_(layers) {}

  Result<bool> in_tiles(const FloatMatrix& matrix, const Tensor& w, SlotId in, const step::FloatNormOnRead& norm,
                        SlotId out) override;
  Result<void> best_logits(const step::FloatLinear& s) override;

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
