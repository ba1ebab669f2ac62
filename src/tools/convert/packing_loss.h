// Measures what weights lose when they are packed into another format.
#pragma once

#include <span>

#include "quant/format.h"

namespace tern {

// True if a block of this format contains only −d, 0 and +d (or only −d and +d): exact for ternary (binary) weights,
// destructive for others. This holds for every format below 2.5 bits per weight.
bool holds_only_codes(Format format);
// True for those formats that have no zero.
bool holds_only_signs(Format format);

// The allowed relative error of a packed weight, for weights that should fit such a format exactly: both files may have
// rounded the same scale.
double rounding_of_codes(Format from);

// The loss of one row or of several.
struct PackingLoss {
  double error = 0, total = 0;                    // Σ (packed − wanted)², Σ wanted²
  double weighted_error = 0, weighted_total = 0;  // the same, weighted by the importance of each column
  // Index of the first value whose error exceeds the allowed one or is not finite; −1: none.
  int misfit = -1;
  float wanted = 0, packed = 0;  // the values at `misfit`

  void add(const PackingLoss& row);  // `misfit` is not updated
  double nmse() const { return total > 0 ? error / total : 0; }
  double weighted_nmse() const { return weighted_total > 0 ? weighted_error / weighted_total : 0; }
};

// Measures one row. `importance`: of each column; empty: all equal. `most`: the allowed error relative to |wanted|;
// infinity: no limit.
PackingLoss measure_packing(std::span<const float> wanted, std::span<const float> packed,
                            std::span<const float> importance, double most);

}  // namespace tern
