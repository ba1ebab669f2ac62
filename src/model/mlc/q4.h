// Converts MLC's q4f16_1 and q4f32_1 to Q4_0 (quant/formats/q4_0.h).
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/thread_pool.h"

namespace tern {

enum class MlcScales {
  kF16,   // q4f16_1
  kBF16,  // q4f32_1, whose scales are float32 in memory and their upper 16 bits in files
};

// codes: u32 [rows, cols/8], value i of the eight at bits 4i. scales: 16 bits each, [rows, cols/32]. A code c from 0 to
// 14 means (c − 7) · s. Q4_0's code q means (q − 8) · d, so q = c + 1 and d = s give the same numbers. Only the order
// differs: a byte holds adjacent values in MLC, but values j and j + 16 in Q4_0. cols is a multiple of 32.
//
// An f16 holds a bfloat16 from 2^-17 to 65504 exactly; smaller ones are rounded, by 2^-25 at most.
//
// Writes rows · cols/32 blocks of Q4_0. False: a code of 15, which MLC's quantizer never writes, or a scale that is not
// finite in f16.
//
// Example: s = 0.5 and w = −3.5, −1, 0, 0.5, 3.5, 1, −0.5, 2 are the codes 0, 5, 7, 8, 14, 9, 6, 11: 0xB69E8750.
//
// Source: mlc-ai/mlc-llm, python/mlc_llm/quantization/group_quantization.py.
bool repack_mlc_q4(Bytes codes, Bytes scales, MlcScales kind, int64_t rows, int64_t cols, MutableBytes q4_0,
                   ThreadPool& pool);

}  // namespace tern
