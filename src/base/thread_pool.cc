#include "base/thread_pool.h"

#ifndef __EMSCRIPTEN__
#include <sched.h>
#endif

#include <algorithm>

#include "base/check.h"

namespace tern {
namespace {

inline void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// About 20–50 µs on current cores: longer than the imbalance of a matvec's last rows, shorter than a scheduler tick.
// WebAssembly has no pause, so a spin is several times shorter there.
#ifdef __EMSCRIPTEN__
constexpr int kSpins = 10'000;
#else
constexpr int kSpins = 1000;
#endif

#ifdef __EMSCRIPTEN_PTHREADS__

// Of the library, Emscripten's has no wait of its own and polls. Not on a page's main thread, which may not sleep.
void sleep_while(std::atomic<uint32_t>& value, uint32_t seen) {
  constexpr int64_t kForever = -1;
  __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&value), static_cast<int>(seen), kForever);
}
void wake_all(std::atomic<uint32_t>& value) {
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&value), UINT32_MAX);
}

#else

void sleep_while(std::atomic<uint32_t>& value, uint32_t seen) { value.wait(seen, std::memory_order_seq_cst); }
void wake_all(std::atomic<uint32_t>& value) { value.notify_all(); }

#endif

// A browser has as many threads ready as it has CPUs. One more would start only when the caller returns to the page,
// and the caller waits for it; in a build without threads the caller is alone.
int can_start(int n_threads) {
#ifdef __EMSCRIPTEN__
  return std::min(n_threads, ThreadPool::available_cpus());
#else
  return n_threads;
#endif
}

}  // namespace

void ThreadPool::Signal::wait_while(uint32_t seen) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != seen) return;
    pause_cpu();
  }
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while (value.load(std::memory_order_seq_cst) == seen) sleep_while(value, seen);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadPool::Signal::advance() {
  value.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0) wake_all(value);
}

ThreadPool::ThreadPool(int n_threads) : n_threads_(can_start(n_threads)) {
  CHECK(n_threads >= 1);
  threads_.reserve(static_cast<size_t>(n_threads_ - 1));
  for (int worker = 1; worker < n_threads_; ++worker) threads_.emplace_back([this, worker] { worker_loop(worker); });
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  start_.advance();
}

void ThreadPool::worker_loop(int worker) {
  for (uint32_t seen = 0;; ++seen) {
    start_.wait_while(seen);
    if (stopping_.load(std::memory_order_relaxed)) return;
    invoke_(context_, worker);
    barrier();
  }
}

void ThreadPool::run_erased(Invoke invoke, void* context) {
  if (n_threads_ == 1) return invoke(context, 0);
  invoke_ = invoke;
  context_ = context;
  start_.advance();
  invoke(context, 0);
  barrier();
}

void ThreadPool::barrier() {
  if (n_threads_ == 1) return;
  const uint32_t generation = barrier_.value.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == n_threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    barrier_.advance();
  } else {
    barrier_.wait_while(generation);
  }
}

int ThreadPool::available_cpus() {
#ifndef __EMSCRIPTEN__
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) > 0) return CPU_COUNT(&cpus);
#endif
  const unsigned n = std::thread::hardware_concurrency();
  return n > 0 ? static_cast<int>(n) : 1;
}

int ThreadPool::passing_cpus() {
#ifdef __EMSCRIPTEN__
  return 1;
#else
  return available_cpus();
#endif
}

}  // namespace tern
