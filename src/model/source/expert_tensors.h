// Tensors of mixtures that files keep in another way than Layer: [n, rows, cols], the experts one after another. They
// are not in memory, since they are most of a model, and backends keep copies in an order of their own.
#pragma once

#include <span>
#include <string>

#include "model/source/computed_tensors.h"

namespace tern {

// `first` and the tensors of the other experts, as one. kCorruption: their types or shapes differ.
Result<SourceTensor> stack_experts(SourceTensor first, std::span<const SourceTensor> others, ComputedTensors& made,
                                   const std::string& path);

// Half of the rows of each expert of [n, rows, cols]. Any other shape is returned unchanged.
SourceTensor half_of_experts(SourceTensor tensor, bool is_first, ComputedTensors& made);

}  // namespace tern
