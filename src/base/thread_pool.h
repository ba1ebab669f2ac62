// A persistent team of threads that runs one function on all of them.
//
// A token takes hundreds of short phases, so a phase must not cost a lock, an allocation or a system call. Waiting
// threads spin briefly and only then sleep (wait_counter.h). Sleeping matters if there are more threads than free
// cores: a spinning thread would occupy the core that the thread it waits for needs.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "base/wait_counter.h"

namespace tern {

class ThreadPool {
 public:
  struct Options {
    int n_threads = 1;  // ≥ 1, including the calling thread
    // Binds worker i to the i-th CPU that the process may use, fast ones first (wrapping around). The caller of run is
    // bound only during the run and gets its old binding back. Ignored in a browser.
    bool pin = false;
  };

  // ThreadPool(1) starts no thread. In a browser there are at most available_cpus(). If the system refuses to start
  // more threads, the pool is smaller.
  explicit ThreadPool(int n_threads) : ThreadPool(Options{.n_threads = n_threads}) {}
  explicit ThreadPool(const Options& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return n_threads_; }

  // Calls body(worker) once for each worker in [0, size()); worker 0 is the caller. Returns when all are done. Not
  // reentrant: one run at a time, and body must not call run.
  template <class Body>
  void run(Body&& body) {
    run_erased(Task::of(body), Wait::kForAll);
  }

  // Calls body(0), and meanwhile body(worker) for each other worker that gets a CPU in time: possibly none, and each at
  // most once. Returns when all that started are done. The workers that run must do all the work, so a thread that is
  // not scheduled delays nothing. Otherwise like run.
  template <class Body>
  void run_elastic(Body&& body) {
    run_erased(Task::of(body), Wait::kForAvailable);
  }

  // Covers [0, n) once with calls of body(first, count). Each range has `at_once` items, the last perhaps fewer; the
  // next free worker takes the next range. Returns when all are done. Otherwise like run_elastic.
  template <class Body>
  void parallel_for(size_t n, size_t at_once, Body&& body) {
    std::atomic<size_t> next = 0;
    run_elastic([&](int) {
      for (size_t first = next.fetch_add(at_once); first < n; first = next.fetch_add(at_once)) {
        body(first, std::min(at_once, n - first));
      }
    });
  }

  // Ends the threads from number n on, for good. Not during a run.
  void keep(int n);

  // Ends as many threads as have no fast processor while all compute, but leaves two. Does nothing where the system
  // tells how fast processors are; a browser does not, so there it takes some milliseconds to find out.
  void keep_fast();

  // Waits until every worker has called barrier() equally often. Only inside run, not inside run_elastic. Writes
  // before it are visible after it.
  void barrier();

  // The number of CPUs that this process may use; 1 in a browser without threads.
  static int available_cpus();

  // How many threads a pool gets where `n` are wanted: at most one per CPU, as more would only compete. 0: one for each
  // fast CPU that this process may use.
  static int threads_for(int n);

  // Number of threads for a pool that ends before the next one starts, used while a model is loaded. 1 in a browser:
  // ended threads become available only after the caller returns to the page, so the compute pool would lack them.
  static int load_time_cpus();

 private:
  struct Task {
    void (*invoke)(void* context, int worker) = nullptr;
    void* context = nullptr;

    template <class Body>
    static Task of(Body& body) {
      return {[](void* context, int worker) { (*static_cast<Body*>(context))(worker); },
              const_cast<void*>(static_cast<const void*>(&body))};
    }
  };
  enum class Wait { kForAll, kForAvailable };
  void run_erased(Task task, Wait wait);
  void worker_loop(int worker);
  void pin_worker(int worker) const;

  // Bit of gate_: workers may enter. The other bits count the workers inside.
  static constexpr uint32_t kOpen = 1u << 31;

  int n_threads_ = 1;
  std::vector<int> cpus_;  // to bind workers to; empty: no binding
  WaitCounter start_;      // incremented for each run, and to stop
  WaitCounter gate_;
  WaitCounter finished_;  // number of workers other than 0 that ran the task
  WaitCounter barrier_;   // incremented when the last worker arrives
  alignas(64) std::atomic<int> arrived_ = 0;
  std::atomic<bool> stopping_ = false;
  // The current run; read only inside the gate.
  Task task_;
  uint32_t run_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace tern
