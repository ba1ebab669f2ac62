#pragma once
// What those who read GGUF files and who write them agree on.

#include <cstddef>
#include <cstdint>

namespace tern {

inline constexpr uint32_t kGgufDefaultAlignment = 32;
inline constexpr uint32_t kGgufMostDimensions = 4;
inline constexpr size_t kGgufLongestName = 1024;  // llama.cpp cuts at 64; other writers exceed that
// Counts come from the file: memory for more entries than this is taken only as they turn out to be there.
inline constexpr uint64_t kGgufMostReserved = 4096;

}  // namespace tern
