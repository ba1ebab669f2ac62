// Prefetching of weights. Weights are read once and in order, and memory should never be idle, so the kernels for one
// token prefetch what they will read next.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tern::cpu {

inline constexpr size_t kCacheLine = 64;

// Prefetch distances in bytes; 0: no prefetch. A distant prefetch goes to the second-level cache, where a core can have
// three times as many lines in flight as in the first, and a near one brings them to the first. The best values depend
// on a processor's own prefetching (docs/measurements/cpu.md).
struct FetchAhead {
  size_t first_cache = 0;
  size_t second_cache = 0;
};
FetchAhead weights_ahead();  // for rows as in the file
FetchAhead blocks_ahead();   // for blocks with scales, most of them interleaved
FetchAhead reading_ahead();  // for a loop that only reads

// Prefetches the line at `at`, which may be any address: nothing is read, and an invalid address is ignored.
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
