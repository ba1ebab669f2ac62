// The experts of gpt-oss in checkpoints: the rows of gates and of their other factors take turns, and matrices are
// either transposed, [n, n_in, n_out], or in MXFP4, with blocks [n, n_out, n_in / 32, 16] and scales [n, n_out, n_in /
// 32].
#pragma once

#include "model/families/family.h"
#include "model/source/computed_tensors.h"

namespace tern {

// The rows that `change` names, as [n, rows, n_in], or as floats [n, rows] of a bias. `scales`: those of a tensor of
// blocks. Any other shape is returned unchanged. kCorruption: the scales do not fit the blocks.
Result<SourceTensor> make_gpt_oss_experts(HfChange change, SourceTensor tensor, const SourceTensor* scales,
                                          ComputedTensors& made, const std::string& path);

}  // namespace tern
