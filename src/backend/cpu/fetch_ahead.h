// Weights are read once and in order, and memory is to be busy all the while: the kernels of one token ask for what
// comes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tern::cpu {

inline constexpr size_t kCacheLine = 64;

// How many bytes ahead; 0: not. Into the second cache from far away, where a core can wait for three times as many
// lines as for its first, and from there into the first. What is best depends on a processor's own prefetching
// (docs/performance.md).
struct FetchAhead {
  size_t first_cache = 0;
  size_t second_cache = 0;
};
FetchAhead weights_ahead();  // of rows as they lie in a file
FetchAhead blocks_ahead();   // of blocks with scales, most of them interleaved
FetchAhead reading_ahead();  // of a loop that only reads

// Asks for one line. `at` may be anywhere: nothing is read, and what is no memory is ignored.
// Asks for the line at `at`.
inline void fetch_line([[maybe_unused]] const void* at) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(at, 0, 3);
#endif
}

inline void fetch_ahead([[maybe_unused]] const void* at, [[maybe_unused]] FetchAhead ahead) {
#if defined(__GNUC__) || defined(__clang__)
  const auto address = reinterpret_cast<uintptr_t>(at);
  if (ahead.second_cache != 0) __builtin_prefetch(reinterpret_cast<const void*>(address + ahead.second_cache), 0, 2);
  if (ahead.first_cache != 0) __builtin_prefetch(reinterpret_cast<const void*>(address + ahead.first_cache), 0, 3);
#endif
}

}  // namespace tern::cpu
