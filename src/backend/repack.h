// Ternary weights in layouts that the kernels do not read, brought into others when the model is loaded.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "backend/host_memory.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "plan/plan.h"

namespace tern {

struct Repacked {
  Tensor tensor;
  std::vector<std::byte> bytes;      // its data; or
  std::unique_ptr<ByteSource> made;  // what makes them, of a tensor that is not in memory
};

// Visits every matrix of a ternary step, as often as the plan names it, until a visit fails.
Result<void> for_ternary_matrices(Plan& plan, const std::function<Result<void>(const Tensor*&)>& visit);

// Replaces every TQ1_0 (unless it is rearranged) and TQ2_0 matrix of a ternary step by an I2_S one. I2_S has one scale
// per tensor, so all blocks of a matrix must have the same (or be all zero), which holds for every file made from a
// BitNet checkpoint; otherwise kNotSupported. Returns what the plan's steps then point to; the plan's tensors must
// outlive it.
Result<std::deque<Repacked>> repack_ternary(Plan& plan);

// Replaces every TQ1_0 and PTQ1_0 matrix, in memory, that is multiplied with int8 blocks by a TQ2_0 or PQ2_0 one of the
// same values: two bits are shifted and masked where five digits to a byte need multiplications.
std::deque<Repacked> repack_block_inputs(Plan& plan);

// The same matrix in another format: its rows are encoded each time that they are read, from any thread where `w` lies
// in memory. `w` must outlive it. kNotSupported where rows are not whole blocks of the format.
Result<Repacked> reencode(const Tensor& w, Format format);

// Matrices of float layers that were made to be read in pieces, in memory.
struct MadeResident {
  std::deque<Tensor> tensors;
  std::deque<HostMemory> memory;
};

// Replaces every one that a plan for the host has. kOutOfMemory; errors of making them.
Result<MadeResident> make_resident(Plan& plan, ThreadPool& pool);

// Visits every matrix that is multiplied with int8 blocks, as often as the plan names it.
void for_block_matrices(Plan& plan, const std::function<void(const Tensor*&)>& visit);

}  // namespace tern
