// Converts real-valued (latent) weights to ternary codes.
#pragma once

#include <cstdint>
#include <span>

namespace tern {

// BitNet b1.58's absmean quantizer: scale = max(mean|w|, 1e-5), codes[i] = w[i] / scale rounded half to even and
// clamped to −1 … +1; a weight is then scale · code. It must see a whole tensor, as in training. Returns the scale,
// which is what I2_S stores. codes.size() must be w.size(). A NaN becomes code 0 but makes the scale NaN, so that the
// caller can detect it.
//
// Example: w = {0.9, −0.2, 0.1, −0.8}: scale 0.5, codes +1, 0, 0, −1.
//
// Source: huggingface/transformers, src/transformers/integrations/bitnet.py (WeightQuant).
float absmean_ternary(std::span<const float> w, std::span<int8_t> codes);

}  // namespace tern
