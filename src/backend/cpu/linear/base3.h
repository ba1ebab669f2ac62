// Ternary matrices at 1.6 bits per weight: ten base-3 digits in 16 bits, converted from TQ1_0 when a model is loaded.
//
// TQ1_0 packs five digits into a byte, and its 54-byte blocks suit vectors poorly. Here a row is base3_words(cols)
// little-endian words. Word j holds the digits t = 0 … 9, which are the codes of columns t · words + j, as a fraction:
// with v = Σ t-th digit · 3^(9 − t), 0 ≤ v < 3^10 = 59,049, the word is ceil(v · 65,536 / 59,049). Then
//
//   word · 9 >> 16          is its first two digits as one number, 0 … 8,
//   word · 9 mod 65,536     is the word without them,
//
// five times in a row. This takes one multiplication of 16-bit lanes for the upper half of the product and one for the
// lower; a byte shuffle looks up each digit of a pair. It stays exact: the fraction exceeds v/3^10 by less than 2^-16,
// and 59,049 times that is less than 1.
//
// A matrix has one scale (Tensor::scale), like I2_S, so the kernels for the two differ only in how they unpack.
#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "backend/host_memory.h"
#include "base/bytes.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "plan/plan.h"

namespace tern::cpu {

inline constexpr int kBase3Digits = 10;        // per word
inline constexpr size_t kBase3Alignment = 32;  // words; rows are padded to a multiple: 64 bytes

// The words of one row, including padding, and its bytes.
size_t base3_words(size_t cols);
inline size_t base3_row_bytes(size_t cols) { return base3_words(cols) * sizeof(uint16_t); }

// Encodes one row of codes 0, 1, 2. out.size() must be base3_row_bytes(codes.size()).
void base3_encode_row(std::span<const uint8_t> codes, MutableBytes out);

struct Base3Weights {
  HostMemory memory;
  std::deque<Tensor> tensors;  // views of `memory`, marked is_rearranged; a deque keeps their addresses valid
};

// Converts every TQ1_0 matrix of a ternary step, each once, and points the plan's steps to the copies. A gate and an up
// matrix of different formats stay as they are, because kernels need the same layout for both. kNotSupported if the
// blocks of a matrix have different scales; kOutOfMemory.
Result<Base3Weights> rearrange_base3(Plan& plan, ThreadPool& pool);

// The result of to_base3(), which converts one matrix on the calling thread.
struct Base3Matrix {
  HostMemory memory;
  Tensor tensor;
};
Result<Base3Matrix> to_base3(const Tensor& w);

}  // namespace tern::cpu
