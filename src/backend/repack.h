// Ternary weights in layouts that the kernels do not read, brought into others when the model is loaded.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "base/result.h"
#include "plan/plan.h"

namespace tern {

struct Repacked {
  Tensor tensor;
  std::vector<std::byte> bytes;      // its data; or
  std::unique_ptr<ByteSource> made;  // what makes them, of a tensor that is not in memory
};

// Replaces every TQ1_0 and TQ2_0 matrix of a ternary step by an I2_S one. I2_S has one scale per tensor, so all blocks
// of a matrix must have the same (or be all zero), which holds for every file made from a BitNet checkpoint; otherwise
// kNotSupported. Returns what the plan's steps then point to; the plan's tensors must outlive it.
Result<std::deque<Repacked>> repack_ternary(Plan& plan);

// Replaces every TQ1_0 matrix, in memory, that is multiplied with int8 blocks by a TQ2_0 one of the same values: two
// bits are shifted and masked where five digits to a byte need multiplications.
std::deque<Repacked> repack_block_inputs(Plan& plan);

// Visits every matrix that is multiplied with int8 blocks, as often as the plan names it.
void for_block_matrices(Plan& plan, const std::function<void(const Tensor*&)>& visit);

}  // namespace tern
