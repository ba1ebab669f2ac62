#include "tools/bench/memory_bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>

#include "backend/host_memory.h"
#include "base/files/system_info.h"
#include "engine/load/backends.h"

namespace tern {
namespace {

constexpr int kPasses = 8;
constexpr double kMostSeconds = 1;  // after which no further pass starts
constexpr size_t kGranule = 4096;   // words; parts are multiples of this

}  // namespace

uint64_t bandwidth_buffer_bytes() {
  constexpr uint64_t kWanted = uint64_t{512} << 20;
  const uint64_t available = read_memory_info().available_bytes;
  return available == 0 ? kWanted : std::min(kWanted, available / 4);
}

double measure_read_bandwidth(ThreadPool& pool, uint64_t bytes) {
  const auto workers = static_cast<size_t>(pool.size());
  const size_t n_each = bytes / sizeof(uint64_t) / workers / kGranule * kGranule;
  const auto memory = HostMemory::allocate(n_each * workers * sizeof(uint64_t), "the measurement");
  if (!memory || n_each == 0) return 0;
  memory->advise_huge_pages();
  const auto part = [&](int worker) {
    return std::span(reinterpret_cast<uint64_t*>(memory->data()) + static_cast<size_t>(worker) * n_each, n_each);
  };
  // Each thread writes its part first, so that its pages exist and lie near the CPU that reads them.
  pool.run([&](int worker) { std::ranges::fill(part(worker), static_cast<uint64_t>(worker) + 1); });
  std::atomic<uint64_t> total = 0;  // used below, which prevents the compiler from removing the reads
  double best = 0;
  double spent = 0;
  for (int pass = 0; pass < kPasses && spent < kMostSeconds; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    pool.run([&](int worker) { total += cpu_sum_words(part(worker)); });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    spent += seconds;
    if (seconds > 0) best = std::max(best, static_cast<double>(n_each * workers * sizeof(uint64_t)) / seconds);
  }
  return total.load() == 0 ? 0 : best;
}

}  // namespace tern
