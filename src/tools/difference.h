// How far two computations of the same numbers are apart.
#pragma once

#include <cstddef>
#include <span>

namespace tern {

// Gathers pairs of numbers over many calls. A NaN on either side makes every measure NaN.
class Difference {
 public:
  // Spans of the same size.
  void add(std::span<const float> reference, std::span<const float> other);

  double max_abs() const { return max_abs_; }
  double nmse() const;    // Σ(other − reference)² / Σ reference²; 0 where both are all zero
  double cosine() const;  // 1 where both are all zero

 private:
  double error2_ = 0;
  double reference2_ = 0;
  double other2_ = 0;
  double product_ = 0;
  double max_abs_ = 0;
};

// The index of the greatest value, the lowest on a tie; −1 where a value is NaN or there is none.
ptrdiff_t top1(std::span<const float> logits);

// How far ahead of `other`'s top 1 the reference sees its own, in units of the RMS of its logits around their mean. 0
// where both choose one token; infinity where a value is NaN.
double top1_margin(std::span<const float> reference, std::span<const float> other);

}  // namespace tern
