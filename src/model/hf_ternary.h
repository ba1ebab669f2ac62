// The ternary weights of Hugging Face checkpoints, as I2_S (quant/i2_s.h). All rows at once, on all threads.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "quant/format.h"

namespace tern {

// Packed codes: uint8 [rows/4, cols]. The two bits 2i+1 and 2i of byte (r, c) are the code, −1, 0, +1 as 0, 1, 2, of
// row i·rows/4 + r and column c: four blocks of rows lie on top of each other. rows is a multiple of 4, cols of 128.
// Writes [rows, cols] as I2_S with this scale. False: a byte has the impossible code 3.
//
// Example: rows 8, one column with +1, 0, −1, +1, 0, −1, +1, −1: bytes 92 09.
//
// Source: transformers, integrations/bitnet.py (pack_weights).
bool repack_hf_ternary(Bytes packed, int64_t rows, int64_t cols, float scale, MutableBytes i2_s, ThreadPool& pool);

// Latent weights [rows, cols] in a float format, made ternary as training does it: with m = max(mean|w|, 1e-5) over the
// whole matrix, code = round-half-even(w / m) clamped to ±1. The scale, m rounded to the weights' own format, goes into
// the I2_S tensor and is returned; it is not finite where the weights are not.
//
// Source: transformers, integrations/bitnet.py (WeightQuant).
float quantise_hf_ternary(Bytes weights, Format format, int64_t rows, int64_t cols, MutableBytes i2_s,
                          ThreadPool& pool);

}  // namespace tern
