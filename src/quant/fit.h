// A search for the parts of a block that come closest to given values: the encoder of all formats whose scales and mins
// are rounded too.
#pragma once

#include <span>

#include "quant/coding.h"

namespace tern {

// Each group first looks for the real scale, and min, of least squared error: values are coded with a number of scales
// around the one that just covers them, and each set of codes is met by the best line. The greatest scale then becomes
// the greatest whole number, the others are rounded to multiples of d, and the values are coded once more with what is
// stored. Deterministic. x.size() is the format's block; NaN counts as 0. `weights`, one for each value, multiply the
// squared errors that the search sums; empty where all count alike.
//
// Encoders that search differ in bytes and not in meaning.
BlockParts fit_parts(const Coding& coding, std::span<const float> x, std::span<const float> weights = {});

// A group's weights with a mean of 1, so that no sum of products over- or underflows: only their ratios count. All 1
// where none is positive: what is not known to matter is not to be lost.
void even_out(std::span<const float> given, float* weights);

}  // namespace tern
