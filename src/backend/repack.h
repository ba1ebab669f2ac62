// Conversion of ternary weights at load time, from layouts that the kernels do not read to ones that they do.
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
  std::vector<std::byte> bytes;      // the tensor's data; or
  std::unique_ptr<ByteSource> made;  // what produces the data, for a tensor that is not in memory
};

// Calls `visit` on every matrix of a ternary step, once per mention in the plan, until a call fails.
Result<void> for_ternary_matrices(Plan& plan, const std::function<Result<void>(const Tensor*&)>& visit);

// Replaces every TQ1_0 (unless it is rearranged) and TQ2_0 matrix of a ternary step by an I2_S matrix. I2_S has one
// scale per tensor, so all blocks of a matrix must have the same scale (or be all zero), which holds for every file
// made from a BitNet checkpoint; otherwise kNotSupported. Returns the tensors that the plan's steps then point to; the
// plan's old tensors must outlive them.
Result<std::deque<Repacked>> repack_ternary(Plan& plan);

// Replaces every in-memory TQ1_0, STQ1_0 and PTQ1_0 matrix that is multiplied with int8 blocks by a TQ2_0 or PQ2_0
// matrix of the same values: two-bit codes need only shifts and masks, while five base-3 digits per byte need
// multiplications.
std::deque<Repacked> repack_block_inputs(Plan& plan);

// The same matrix in another format. Its rows are encoded each time they are read; any thread may read them if `w` is
// in memory. `w` must outlive it. kNotSupported where rows are not whole blocks of the format.
Result<Repacked> reencode(const Tensor& w, Format format);

// In-memory copies of weights that are read in pieces.
struct MaterializedTensors {
  std::deque<Tensor> tensors;
  std::deque<HostMemory> memory;
};

// Makes every such matrix of a host's plan resident and replaces it in the plan. kOutOfMemory; errors of making them.
Result<MaterializedTensors> make_resident(Plan& plan, ThreadPool& pool);

// True if weights of the plan are in a file outside memory. Then only the calling thread may read them.
bool has_weights_in_files(Plan& plan);

// Reads the weights that are not in memory, also those that are made from a file's, and replaces them in a host's plan,
// but those for which `stays` is true. kOutOfMemory, kIo; errors of making them.
Result<MaterializedTensors> bring_weights(Plan& plan, const std::function<bool(const Tensor*)>& stays);

// Calls `visit` on every matrix that is multiplied with int8 blocks, once per mention in the plan.
void for_block_matrices(Plan& plan, const std::function<void(const Tensor*&)>& visit);

}  // namespace tern
