// Prints how long something took: the mean, shares of all times, and the longest.
#pragma once

#include <algorithm>
#include <cstdio>
#include <vector>

namespace tern {

// In microseconds; prints nothing if there are none.
inline void print_times(const char* name, std::vector<double> times) {
  if (times.empty()) return;
  std::ranges::sort(times);
  const auto at = [&](double share) {
    return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
  };
  double sum = 0;
  for (const double time : times) sum += time;
  std::printf("%-10s %7zu times  mean %8.1f  p50 %8.1f  p90 %8.1f  p99 %8.1f  most %8.1f us\n", name, times.size(),
              sum / static_cast<double>(times.size()), at(0.5), at(0.9), at(0.99), times.back());
}

}  // namespace tern
