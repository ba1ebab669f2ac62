// Sleeping until a number in memory changes.
#pragma once

#include <atomic>
#include <cstdint>

namespace tern::platform {

// Returns at once if the value is not `seen`; else after wake_all(), or earlier.
void sleep_while(std::atomic<uint32_t>& value, uint32_t seen);
void wake_all(std::atomic<uint32_t>& value);

}  // namespace tern::platform
