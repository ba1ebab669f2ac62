// A search for the parts of a block that come closest to given values. It is the encoder of all formats that also round
// scales and mins.
#pragma once

#include <span>

#include "quant/coding.h"

namespace tern {

// For each group, the search first finds the real scale (and min) of least squared error: it codes the values with
// several scales around the smallest one that covers them, and fits the best line to each set of codes. The scale of
// largest magnitude then becomes the largest integer, the others are rounded to multiples of d, and the values are
// coded again with the stored scales. Deterministic. x.size() is the format's block; NaN counts as 0. `weights`, one
// per value, multiply the squared errors; empty means equal weights.
//
// Other encoders may choose other bytes for the same values.
BlockParts fit_parts(const Coding& coding, std::span<const float> x, std::span<const float> weights = {});

// Scales a group's weights to a mean of 1, so that no sum of products overflows or underflows; only their ratios
// matter. If no weight is positive, all become 1, so values of unknown importance are not lost.
void even_out(std::span<const float> given, float* weights);

}  // namespace tern
