// Summary of repeated measurements.
#pragma once

#include <vector>

#include "tern/tools.h"

namespace tern {

// Median (of an even number: the mean of the middle two), least and greatest; zeros where there are none.
Spread spread_of(std::vector<double> values);

}  // namespace tern
