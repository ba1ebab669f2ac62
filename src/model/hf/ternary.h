// Converts ternary weights of Hugging Face checkpoints to I2_S (quant/formats/i2_s.h): any range of rows, on all
// threads.
#pragma once

#include <cstdint>
#include <memory>

#include "base/files/byte_source.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "model/source/computed_tensors.h"
#include "quant/format.h"

namespace tern {

// Packed codes: uint8 [rows/4, cols]. Byte (r, c) holds four rows: its bits 2i+1 and 2i are the code of row i·rows/4 +
// r and column c. Codes 0, 1, 2 stand for −1, 0, +1. rows is a multiple of 4, cols of 128.
//
// Example: rows 8, one column with +1, 0, −1, +1, 0, −1, +1, −1: bytes 92 09.
//
// Source: transformers, integrations/bitnet.py (pack_weights).
struct HfPacked {
  StoredBytes bytes;
  int64_t rows, cols;
};

// Writes these rows as I2_S blocks. False: a byte has the invalid code 3.
Result<bool> repack_hf_ternary(const HfPacked& packed, RowRange rows, MutableBytes i2_s, ThreadPool& pool);

// Latent weights [rows, cols] in a float format, quantized as in training: with m = max(mean|w|, 1e-5) over the whole
// matrix, code = round-half-even(w / m) clamped to ±1.
//
// Source: transformers, integrations/bitnet.py (WeightQuant).
struct HfLatent {
  StoredBytes weights;
  Format format;
  int64_t rows, cols;
};

struct HfTernaryScale {
  float scale;    // m rounded to the weights' own format; not finite if the weights are not
  float inverse;  // 1 / m
};

// Reads all weights.
Result<HfTernaryScale> hf_ternary_scale(const HfLatent& latent, ThreadPool& pool);

// Writes these rows as I2_S blocks.
Result<void> quantize_hf_ternary(const HfLatent& latent, const HfTernaryScale& scale, RowRange rows, MutableBytes i2_s,
                                 ThreadPool& pool);

// A whole I2_S tensor whose rows `make` fills in.
std::unique_ptr<MadeRows> i2_s_rows(int64_t rows, int64_t cols, float scale, MadeRows::Make make);

}  // namespace tern
