// An int8 copy of a float matrix, with bounds on its errors. BestLogits reads it instead of the LM head.
// docs/numerics.md proves that the result is exact.
#pragma once

#include <cstdint>

#include "backend/exact_head.h"
#include "backend/host_memory.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "model/source/weights.h"

namespace tern::cpu {

inline constexpr int kHeadGroup = 16;  // rows estimated at a time; per-row arrays are padded to whole groups

// Row r of the matrix w is scale[r] · c + e. The c are integers in −127 … 127, stored as c + 128 (unsigned, because the
// dot product instructions need one unsigned operand). Of e only a bound on its length is known. A row with values that
// are not finite, or with a length beyond 2^50, has scale 0 and an infinite error.
struct HeadCopy {
  const Tensor* w = nullptr;  // F16, BF16 or F32
  size_t stride = 0;          // bytes per row: cols rounded up to 64; the padding is 0
  HostMemory memory;
  uint8_t* codes = nullptr;  // [rows, stride]
  float* scale = nullptr;    // [rows]
  float* error = nullptr;    // [rows] ≥ ‖e‖
  float* norm = nullptr;     // [rows] ≥ ‖w‖

  uint64_t bytes_per_token() const;  // read to estimate all logits
};

// An upper bound of √s, where `sum` is the f32 result of adding n squares whose exact sum is s, in any order. Such a
// sum is off by less than (n + 16)·2⁻²⁴ of itself, and by n·2⁻¹⁴⁹ if squares are below the normal numbers.
double length_above(float sum, size_t n);

// A float ≥ x ≥ 0, with room for three more roundings of values computed from it.
float float_above(double x);

// True if the matrix can have a copy (can_have_copy) and is in memory.
bool can_copy_head(const Tensor& w);

uint64_t head_copy_bytes(int rows, int cols);

// Copies `w`, which must satisfy can_copy_head() and outlive the copy. kOutOfMemory.
Result<HeadCopy> copy_head(const Tensor& w, ThreadPool& pool);

// The copy that `wanted` asks for, of at most most_bytes; if there is none, its w is null.
Result<HeadCopy> copy_head_of(const Plan& plan, ExactHead wanted, uint64_t most_bytes, ThreadPool& pool);

}  // namespace tern::cpu
