// From a model's tensors to the planes that the float kernels read (kernels/packed_weights.h): on the host, once, while
// weights are uploaded.
#pragma once

#include <span>
#include <vector>

#include "backend/gpu/kernels/packed_weights.h"
#include "model/weights.h"

namespace tern::gpu {

// The planes that hold exactly what the tensor's format and scale stand for. kF32 without a group can hold anything.
WeightCoding coding_of(const Tensor& tensor);

// Bytes of a row in the plane of words, and of n rows in the plane of scales (whole words, at least one).
uint64_t unit_row_bytes(const WeightCoding& coding, int cols);
uint64_t scale_bytes(const WeightCoding& coding, uint64_t rows, int cols);

// Whether the plane of words is what the tensor's bytes are as they lie in the file.
bool is_plain_copy(const Tensor& tensor, const WeightCoding& coding);

// `rows`, the bytes of whole rows of the tensor, as `coding`, which is coding_of(tensor) or plain kF32. `units` gets
// their words; `scales`, where the coding has any, scales_of_row() numbers a row: floats, or with mins the bits of
// words.
void pack_rows(const Tensor& tensor, const WeightCoding& coding, Bytes rows, std::span<uint32_t> units,
               std::span<float> scales);

// The plane of so many scales: how many words it has, and what they are. Two halves share a word; behind the last of an
// odd number is 0.
size_t words_of_scales(const WeightCoding& coding, size_t n_scales);
void pack_scales(const WeightCoding& coding, std::span<const float> scales, std::span<uint32_t> words);

}  // namespace tern::gpu
