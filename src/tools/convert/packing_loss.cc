#include "tools/convert/packing_loss.h"

#include <cmath>

namespace tern {
namespace {

double bits_per_weight(Format format) {
  const FormatInfo& info = format_info(format);
  return 8.0 * info.block_bytes / info.block;
}

// The largest relative rounding error of the format's scale, or of its values for plain float formats.
double half_unit(Format format) {
  switch (format) {
    case Format::kF32:
      return 0x1p-24;
    case Format::kBF16:
      return 0x1p-8;
    default:
      return 0x1p-11;  // f16
  }
}

}  // namespace

bool holds_only_codes(Format format) { return bits_per_weight(format) < 2.5; }
bool holds_only_signs(Format format) { return bits_per_weight(format) < 1.5; }

// The last term covers the mean of 128 floats that Q1_0's encoder uses as the scale.
double rounding_of_codes(Format from) { return half_unit(from) + half_unit(Format::kF16) + 128 * 0x1p-24; }

void PackingLoss::add(const PackingLoss& row) {
  error += row.error;
  total += row.total;
  weighted_error += row.weighted_error;
  weighted_total += row.weighted_total;
}

PackingLoss measure_packing(std::span<const float> wanted, std::span<const float> packed,
                            std::span<const float> importance, double most) {
  PackingLoss loss;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double value = wanted[i], difference = static_cast<double>(packed[i]) - value;
    loss.error += difference * difference;
    loss.total += value * value;
    if (!importance.empty()) {
      loss.weighted_error += static_cast<double>(importance[i]) * difference * difference;
      loss.weighted_total += static_cast<double>(importance[i]) * value * value;
    }
    const bool fits =
        std::isfinite(difference) && (std::isinf(most) || std::fabs(difference) <= most * std::fabs(value));
    if (fits || loss.misfit >= 0) continue;
    loss.misfit = static_cast<int>(i);
    loss.wanted = wanted[i];
    loss.packed = packed[i];
  }
  return loss;
}

}  // namespace tern
