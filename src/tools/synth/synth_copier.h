// A model that copies: if the last twelve tokens, or most of them, occurred before, it repeats the token that followed.
// It is not trained. An induction circuit is written into the first two layers of an otherwise idle BitNet model. This
// makes it possible to measure anything that depends on repetitive texts, on a model of any size, without a download.
//
// Every token has a code of 128 signs. In layer 0, heads 0 to 11 look one to twelve positions back by means of RoPE,
// and write parts of the codes found there into the stream. In layer 1, head 0 compares the codes of the last twelve
// tokens with those of the twelve before every position, in pairs of dimensions that RoPE hardly turns. It adds the
// code of the token at the best match, whose logit becomes the largest. The output of the other layers is multiplied by
// almost zero, but takes the same time.
#pragma once

#include <span>

#include "tools/synth/synth_presets.h"
#include "tools/synth/synth_tensors.h"

namespace tern {

// Turns the tensors of a shape with `copies` into those of a copier.
void make_copier(const SynthShape& shape, std::span<SynthTensor> tensors);

// Makes row `row` of a tensor that has a part in it. In linear layers the values are −1, 0 and +1, to be multiplied by
// the tensor's scale.
void make_copier_row(const SynthTensor& tensor, int row, std::span<float> values);

}  // namespace tern
