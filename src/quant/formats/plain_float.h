// F32, F16 and BF16: consecutive little-endian numbers without blocks (ggml types 0, 1, 30).
//
//   F32   4 bytes, IEEE binary32
//   F16   2 bytes, IEEE binary16: sign 15, exponent 14:10 (bias 15), mantissa 9:0.     1.0 = 00 3c    −2.5 = 00 c1
//   BF16  2 bytes, the upper half of a binary32: sign 15, exponent 14:7, mantissa 6:0.  1.0 = 80 3f    −2.5 = 20 c0
//
// Decoding is exact, including subnormals. Encoding rounds to nearest even; a NaN stays a NaN, and a value beyond the
// range of F16 becomes infinity.
#pragma once

#include <span>

#include "base/bytes.h"

namespace tern {

void decode_f32(Bytes bytes, std::span<float> values);
void encode_f32(std::span<const float> values, MutableBytes bytes);
void decode_f16(Bytes bytes, std::span<float> values);
void encode_f16(std::span<const float> values, MutableBytes bytes);
void decode_bf16(Bytes bytes, std::span<float> values);
void encode_bf16(std::span<const float> values, MutableBytes bytes);

}  // namespace tern
