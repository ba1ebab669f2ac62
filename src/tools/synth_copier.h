// A model that copies: where the last twelve tokens, or most of them, occurred before, what came after them comes
// again. It is no product of training but an induction circuit, written into the first two layers of an otherwise idle
// BitNet model, so that whatever depends on texts that repeat themselves can be measured on a model of any size without
// a download.
//
// Every token has a code of 128 signs. In layer 0, heads 0 to 11 look one to twelve positions back, which RoPE tells
// them, and write parts of the codes found there into the stream. In layer 1, head 0 compares the codes of the last
// twelve tokens with those of the twelve before every position, in pairs of dimensions that RoPE hardly turns, and adds
// the code of the token at the place that fits best, whose logit is then the greatest. What the other layers compute is
// multiplied by next to nothing; it takes the same time.
#pragma once

#include <span>

#include "tools/synth_presets.h"
#include "tools/synth_tensors.h"

namespace tern {

// Makes the tensors of a shape with `copies` those of a copier.
void make_copier(const SynthShape& shape, std::span<SynthTensor> tensors);

// Row `row` of a tensor with a part in it; in linear layers of −1, 0 and +1, to be multiplied by the tensor's scale.
void make_copier_row(const SynthTensor& tensor, int row, std::span<float> values);

}  // namespace tern
