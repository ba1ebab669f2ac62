#include "tools/memory_bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>

#include "tools/system_info.h"

namespace tern {
namespace {

constexpr int kPasses = 8;
constexpr double kMostSeconds = 1;  // and then no further pass
constexpr size_t kLanes = 64;       // accumulators: enough vector registers that additions never wait for each other

// The sum of n words, n a multiple of kLanes.
uint64_t sum_words(const uint64_t* words, size_t n) {
  uint64_t sums[kLanes] = {};
  for (size_t i = 0; i < n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += words[i + lane];
  }
  uint64_t sum = 0;
  for (const uint64_t lane_sum : sums) sum += lane_sum;
  return sum;
}

}  // namespace

uint64_t bandwidth_buffer_bytes() {
  constexpr uint64_t kWanted = uint64_t{512} << 20;
  const uint64_t available = read_memory_info().available_bytes;
  return available == 0 ? kWanted : std::min(kWanted, available / 4);
}

double measure_read_bandwidth(ThreadPool& pool, uint64_t bytes) {
  const auto workers = static_cast<size_t>(pool.size());
  const size_t n_each = bytes / sizeof(uint64_t) / workers / kLanes * kLanes;
  const std::unique_ptr<uint64_t[]> words(new (std::nothrow) uint64_t[n_each * workers]);
  if (!words || n_each == 0) return 0;
  // Each thread writes its part first, so that its pages exist and lie near the CPU that reads them.
  pool.run([&](int worker) {
    uint64_t* part = words.get() + static_cast<size_t>(worker) * n_each;
    std::fill(part, part + n_each, static_cast<uint64_t>(worker) + 1);
  });
  std::atomic<uint64_t> total = 0;  // used below, so that the reads cannot be optimised away
  double best = 0;
  double spent = 0;
  for (int pass = 0; pass < kPasses && spent < kMostSeconds; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    pool.run([&](int worker) { total += sum_words(words.get() + static_cast<size_t>(worker) * n_each, n_each); });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    spent += seconds;
    if (seconds > 0) best = std::max(best, static_cast<double>(n_each * workers * sizeof(uint64_t)) / seconds);
  }
  return total.load() == 0 ? 0 : best;
}

}  // namespace tern
