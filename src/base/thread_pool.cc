#include "base/thread_pool.h"

#include <sched.h>

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
constexpr int kSpins = 1000;

}  // namespace

void ThreadPool::Signal::wait_while(uint32_t seen) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != seen) return;
    pause_cpu();
  }
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while (value.load(std::memory_order_seq_cst) == seen) value.wait(seen, std::memory_order_seq_cst);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadPool::Signal::advance() {
  value.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0) value.notify_all();
}

ThreadPool::ThreadPool(int n_threads) : n_threads_(n_threads) {
  CHECK(n_threads >= 1);
  threads_.reserve(static_cast<size_t>(n_threads - 1));
  for (int worker = 1; worker < n_threads; ++worker) threads_.emplace_back([this, worker] { worker_loop(worker); });
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
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) > 0) return CPU_COUNT(&cpus);
  const unsigned n = std::thread::hardware_concurrency();
  return n > 0 ? static_cast<int>(n) : 1;
}

}  // namespace tern
