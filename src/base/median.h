#pragma once

#include <algorithm>
#include <span>

namespace tern {

// Sorts the values. Of an even number of them it is the greater of the two in the middle; 0 if there are none.
inline double median(std::span<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

}  // namespace tern
