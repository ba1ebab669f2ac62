// For tests: the number of calls of operator new in this program.
#pragma once

#include <cstddef>

namespace tern {
size_t allocations_so_far();
}  // namespace tern
