// What weights lose where they are packed into another format.
#pragma once

#include <span>

#include "quant/format.h"

namespace tern {

// Whether a block of this format holds nothing but −d, 0 and +d (or only −d and +d), so that it suits weights which are
// just that, and destroys all others. True of every format below 2.5 bits a weight.
bool holds_only_codes(Format format);
// Of these, those without a zero.
bool holds_only_signs(Format format);

// How far the packed value of a weight w may be from it, in |w|, where such a format is said to hold the weights: both
// files may have rounded the same scale.
double rounding_of_codes(Format from);

// What happened to a row, or to several.
struct PackingLoss {
  double error = 0, total = 0;                    // Σ (packed − wanted)², Σ wanted²
  double weighted_error = 0, weighted_total = 0;  // the same, each value times the importance of its column
  // The first value that is off by more than was allowed, or by a number that is not finite; −1: none.
  int misfit = -1;
  float wanted = 0, packed = 0;  // there

  void add(const PackingLoss& row);  // `misfit` stays the first row's
  double nmse() const { return total > 0 ? error / total : 0; }
  double weighted_nmse() const { return weighted_total > 0 ? weighted_error / weighted_total : 0; }
};

// Of one row. `importance`: of each column, or empty where all count alike. `most`: the error that is allowed, in
// |wanted|; infinity for any.
PackingLoss measure_packing(std::span<const float> wanted, std::span<const float> packed,
                            std::span<const float> importance, double most);

}  // namespace tern
