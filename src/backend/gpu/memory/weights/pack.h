// Packs a model's tensors into the planes that the float kernels read (kernels/packed_weights.h): on the host, once,
// during the upload.
#pragma once

#include <span>
#include <vector>

#include "backend/gpu/kernels/packed_weights.h"
#include "model/source/weights.h"

namespace tern::gpu {

// The planes that represent the tensor's format and scale exactly. kF32 without a group can represent anything.
WeightCoding coding_of(const Tensor& tensor);

// Bytes of a row in the plane of units, and of `rows` rows in the plane of scales (whole words, at least one).
uint64_t unit_row_bytes(const WeightCoding& coding, int cols);
uint64_t scale_bytes(const WeightCoding& coding, uint64_t rows, int cols);

// True if the plane of units equals the tensor's bytes in the file.
bool is_plain_copy(const Tensor& tensor, const WeightCoding& coding);

// Packs `rows` (the bytes of whole rows of the tensor) as `coding`, which is coding_of(tensor) or plain kF32. `units`
// receives the packed words. `scales`, if the coding has any, receives scales_of_row() numbers per row: floats, or with
// mins the bits of words.
void pack_rows(const Tensor& tensor, const WeightCoding& coding, Bytes rows, std::span<uint32_t> units,
               std::span<float> scales);

// The plane of n_scales scales: its size in words, and its contents. Two f16 scales share a word; an odd number is
// padded with 0.
size_t words_of_scales(const WeightCoding& coding, size_t n_scales);
void pack_scales(const WeightCoding& coding, std::span<const float> scales, std::span<uint32_t> words);

}  // namespace tern::gpu
