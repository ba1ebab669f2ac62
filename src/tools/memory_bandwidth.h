// How fast this machine reads memory.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace tern {

// Bytes per second that all threads of `pool` together read from a buffer of about `bytes`, front to back, each its own
// part: the best of a few passes. 0 where the buffer cannot be had. Below the size of the caches it measures those.
double measure_read_bandwidth(ThreadPool& pool, uint64_t bytes);

// 512 MB, beyond any cache, or less on a machine that has little memory to spare.
uint64_t bandwidth_buffer_bytes();

}  // namespace tern
