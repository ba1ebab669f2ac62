#include "quant/formats/plain_float.h"

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {

void decode_f32(Bytes bytes, std::span<float> values) {
  CHECK(bytes.size() == values.size_bytes());
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
}

void encode_f32(std::span<const float> values, MutableBytes bytes) {
  CHECK(bytes.size() == values.size_bytes());
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
}

void decode_f16(Bytes bytes, std::span<float> values) {
  decode_blocks<uint16_t, 1>(bytes, values, [](uint16_t bits, float* out) { *out = f16_to_f32(bits); });
}

void encode_f16(std::span<const float> values, MutableBytes bytes) {
  encode_blocks<uint16_t, 1>(values, bytes, [](const float* x) { return f32_to_f16(*x); });
}

void decode_bf16(Bytes bytes, std::span<float> values) {
  decode_blocks<uint16_t, 1>(bytes, values, [](uint16_t bits, float* out) { *out = bf16_to_f32(bits); });
}

void encode_bf16(std::span<const float> values, MutableBytes bytes) {
  encode_blocks<uint16_t, 1>(values, bytes, [](const float* x) { return f32_to_bf16(*x); });
}

}  // namespace tern
