// Measures how much two computations of the same numbers differ.
#pragma once

#include <cstddef>
#include <span>

namespace tern {

// Accumulates pairs of numbers over many calls. A NaN on either side makes every measure NaN.
class Difference {
 public:
  // Both spans have the same size.
  void add(std::span<const float> reference, std::span<const float> other);

  double max_abs() const { return max_abs_; }
  double nmse() const;    // Σ(other − reference)² / Σ reference²; 0 if both are all zero
  double cosine() const;  // 1 if both are all zero

 private:
  double error2_ = 0;
  double reference2_ = 0;
  double other2_ = 0;
  double product_ = 0;
  double max_abs_ = 0;
};

// The index of the largest value, the lowest index on a tie; −1 if a value is NaN or `logits` is empty.
ptrdiff_t top1(std::span<const float> logits);

// The lead of the reference's own top token over `other`'s top token in the reference's logits, in units of their RMS
// around the mean. 0 if both choose the same token; infinity if a value is NaN.
double top1_margin(std::span<const float> reference, std::span<const float> other);

}  // namespace tern
