// Tensors of mixtures that files keep in another way than Layer: [n, rows, cols], the experts one after another.
#pragma once

#include <span>
#include <string>

#include "model/source/computed_tensors.h"

namespace tern {

// `first` and the tensors of the other experts, as one. kCorruption: their types or shapes differ.
Result<SourceTensor> stack_experts(SourceTensor first, std::span<const SourceTensor> others, ComputedTensors& made,
                                   const std::string& path);

// Half of the rows of each expert of [n, rows, cols]. Any other shape is returned unchanged.
Result<SourceTensor> half_of_experts(SourceTensor tensor, bool is_first, ComputedTensors& made,
                                     const std::string& path);

}  // namespace tern
