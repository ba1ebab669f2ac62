#pragma once
// Limits that the GGUF readers and the writer share.

#include <cstddef>
#include <cstdint>

namespace tern {

inline constexpr uint32_t kGgufDefaultAlignment = 32;
inline constexpr uint32_t kGgufMostDimensions = 4;
inline constexpr size_t kGgufLongestName = 1024;  // llama.cpp cuts at 64; other writers exceed that
// Counts come from the file. Memory for more entries than this is allocated only as they are read.
inline constexpr uint64_t kGgufMostReserved = 4096;

}  // namespace tern
