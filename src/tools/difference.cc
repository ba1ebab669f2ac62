#include "tools/difference.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace tern {

void Difference::add(std::span<const float> reference, std::span<const float> other) {
  CHECK(reference.size() == other.size());
  for (size_t i = 0; i < reference.size(); ++i) {
    const double a = reference[i];
    const double b = other[i];
    const double error = std::abs(b - a);
    error2_ += error * error;
    reference2_ += a * a;
    other2_ += b * b;
    product_ += a * b;
    if (error > max_abs_ || std::isnan(error)) max_abs_ = error;  // keeps a NaN: no comparison with it is true
  }
}

double Difference::nmse() const {
  if (reference2_ == 0) return error2_ == 0 ? 0 : error2_ * std::numeric_limits<double>::infinity();
  return error2_ / reference2_;
}

double Difference::cosine() const {
  if (reference2_ == 0 && other2_ == 0) return 1;
  if (reference2_ == 0 || other2_ == 0) return 0;
  return product_ / (std::sqrt(reference2_) * std::sqrt(other2_));
}

ptrdiff_t top1(std::span<const float> logits) {
  ptrdiff_t best = -1;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i])) return -1;
    if (best < 0 || logits[i] > logits[static_cast<size_t>(best)]) best = static_cast<ptrdiff_t>(i);
  }
  return best;
}

double top1_margin(std::span<const float> reference, std::span<const float> other) {
  CHECK(reference.size() == other.size());
  const ptrdiff_t expected = top1(reference);
  const ptrdiff_t found = top1(other);
  if (expected < 0 || found < 0) return std::numeric_limits<double>::infinity();
  if (expected == found) return 0;
  double mean = 0;
  for (const float logit : reference) mean += logit;
  mean /= static_cast<double>(reference.size());
  double variance = 0;
  for (const float logit : reference) variance += (logit - mean) * (logit - mean);
  variance /= static_cast<double>(reference.size());
  const double lead =
      static_cast<double>(reference[static_cast<size_t>(expected)]) - reference[static_cast<size_t>(found)];
  return lead == 0 ? 0 : lead / std::sqrt(variance);
}

}  // namespace tern
