// An int8 copy of a float matrix, with what is known about how far it is off: what BestLogits reads instead of the LM
// head. docs/numerics.md has the proof of what it is used for.
#pragma once

#include <cstdint>

#include "backend/exact_head.h"
#include "backend/host_memory.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "model/weights.h"

namespace tern::cpu {

inline constexpr int kHeadGroup = 16;  // rows that are estimated at a time: per-row arrays are whole groups long

// Row r of the matrix, w, is scale[r] · c + e: c are integers in −127 … 127, stored as c + 128 (unsigned, as the dot
// product instructions want one operand), and no more than its length is known of e. A row with values that are not
// finite, or of a length beyond 2^50, has scale 0 and an infinite error: nothing is known of it.
struct HeadCopy {
  const Tensor* w = nullptr;  // F16, BF16 or F32
  size_t stride = 0;          // bytes of a row: cols rounded up to 64; those past the columns are 0
  HostMemory memory;
  uint8_t* codes = nullptr;  // [rows, stride]
  float* scale = nullptr;    // [rows]
  float* error = nullptr;    // [rows] ≥ ‖e‖
  float* norm = nullptr;     // [rows] ≥ ‖w‖

  uint64_t bytes_per_token() const;  // read to estimate all logits
};

// ≥ √(a sum of n squares that was computed in floats as `sum`), in whatever order: such a sum is off by less than
// (n + 16)·2⁻²⁴ of itself, and by n·2⁻¹⁴⁹ where squares fall below the normal numbers.
double length_above(float sum, size_t n);

// ≥ x ≥ 0, with room for three more roundings of what is made from it.
float float_above(double x);

// Whether the matrix can have a copy (can_have_copy), and is in memory.
bool can_copy_head(const Tensor& w);

uint64_t head_copy_bytes(int rows, int cols);

// `w`, which can have one, must outlive its copy. kOutOfMemory.
Result<HeadCopy> copy_head(const Tensor& w, ThreadPool& pool);

// The copy that `wanted` asks for; without one, w is null. It takes at most most_bytes.
Result<HeadCopy> copy_head_of(const Plan& plan, ExactHead wanted, uint64_t most_bytes, ThreadPool& pool);

}  // namespace tern::cpu
