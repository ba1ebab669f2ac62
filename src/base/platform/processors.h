// The processors that a thread may run on.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tern::platform {

// Bit i of the whole is processor i.
using ProcessorMask = std::array<uint64_t, 16>;

// Those of the calling thread. None where the system does not tell, or has more of them.
std::optional<ProcessorMask> thread_processors();
// If the process has lost all of them, the thread stays where it is.
void set_thread_processors(const ProcessorMask& mask);

// Lets the calling thread run after others that want a processor: 0 to 19, as nice() counts; for good.
void give_way(int nice);

// The numbers of the processors of the calling thread; empty where they are not known.
std::vector<int> allowed_processors();
// The same, fast ones first.
std::vector<int> fast_processors_first();

// How fast these processors are beside each other, in any unit; empty where they are alike or the system does not tell.
std::vector<int> processor_speeds(const std::vector<int>& processors);

// How many of them are fast: at least three fifths of the fastest. Threads with equal shares of a product wait for the
// slowest of them.
int count_fast(std::span<const int> speeds);

// True in browsers, where only a measurement tells.
#ifdef __EMSCRIPTEN__
inline constexpr bool kMeasuresSpeeds = true;
#else
inline constexpr bool kMeasuresSpeeds = false;
#endif
// The speed of the calling thread's processor, in any unit: what it computes until then.
int measure_speed(std::chrono::steady_clock::time_point end);

// How many processors of the calling thread are fast; 0 where processors are alike or the system does not tell.
int fast_processors();

}  // namespace tern::platform
