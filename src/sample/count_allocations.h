// For tests: how often this program has called operator new.
#pragma once

#include <cstddef>

namespace tern {
size_t allocations_so_far();
}  // namespace tern
