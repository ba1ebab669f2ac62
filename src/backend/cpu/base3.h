// Ternary matrices at 1.6 bits a weight: ten digits of base 3 in 16 bits, made from TQ1_0 when a model is loaded.
//
// TQ1_0 packs five digits into a byte and its blocks are 54 bytes, of which vectors make a poor show. Here a row is
// base3_words(cols) little-endian words. Word j holds digits t = 0 … 9, the codes of columns t · words + j, as a
// fraction: with v = Σ t-th digit · 3^(9 − t), 0 ≤ v < 3^10 = 59,049, the word is ceil(v · 65,536 / 59,049). Then
//
//   word · 9 >> 16          are its first two digits, 0 … 8,
//   word · 9 mod 65,536     is the word with these taken off,
//
// five times over: one multiplication of 16-bit lanes for the upper and one for the lower half of the product, and a
// byte shuffle looks each digit of a pair up. It stays exact: the fraction is above v/3^10 by less than 2^-16, 59,049
// times which is less than 1.
//
// A matrix has one scale (Tensor::scale), as I2_S has, so kernels for both differ only in how they unpack.
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

inline constexpr int kBase3Digits = 10;        // in a word
inline constexpr size_t kBase3Alignment = 32;  // words that a row is a multiple of: 64 bytes

// Words of one row, and its bytes.
size_t base3_words(size_t cols);
inline size_t base3_row_bytes(size_t cols) { return base3_words(cols) * sizeof(uint16_t); }

// One row: codes 0, 1, 2, and out.size() = base3_row_bytes(codes.size()).
void base3_encode_row(std::span<const uint8_t> codes, MutableBytes out);

struct Base3Weights {
  HostMemory memory;
  std::deque<Tensor> tensors;  // views of it, marked is_rearranged; a deque: addresses stay
};

// Replaces every TQ1_0 matrix of a ternary step, each once, by a rearranged one, which the plan's steps then point to.
// A gate and an up matrix of different formats stay: kernels take the two alike. kNotSupported where its blocks have
// different scales; kOutOfMemory.
Result<Base3Weights> rearrange_base3(Plan& plan, ThreadPool& pool);

// The same for one matrix, on this thread.
struct Base3Matrix {
  HostMemory memory;
  Tensor tensor;
};
Result<Base3Matrix> to_base3(const Tensor& w);

}  // namespace tern::cpu
