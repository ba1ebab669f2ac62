// Summary of repeated measurements.
#pragma once

#include <vector>

#include "tern/tools.h"

namespace tern {

// Median (for an even count the mean of the middle two), minimum and maximum; zeros if `values` is empty.
Spread spread_of(std::vector<double> values);

}  // namespace tern
