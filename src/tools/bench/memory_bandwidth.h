// Measures how fast this machine reads memory.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace tern {

// Returns the bytes per second that all threads of `pool` together read from a buffer of about `bytes`; each reads its
// own part front to back. The best of a few passes counts. 0: the buffer cannot be allocated. Buffers smaller than the
// caches measure those.
double measure_read_bandwidth(ThreadPool& pool, uint64_t bytes);

// 512 MB, beyond any cache; less on a machine with little free memory.
uint64_t bandwidth_buffer_bytes();

}  // namespace tern
