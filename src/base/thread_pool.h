// A persistent team of threads that runs one function on all of them.
//
// A token is hundreds of short phases, so a phase must not cost a lock, an allocation or a system call: threads that
// wait spin for a short while and only then sleep (wait_counter.h). The sleep matters where there are more threads than
// free cores; there the thread that others wait for needs the core that a spinning thread would burn.
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
    int n_threads = 1;  // ≥ 1, the calling thread among them
    // Binds worker i to the i-th CPU that the process may use (to the first again after the last). The caller of run is
    // bound only while it runs, and gets back what it had. Not in a browser.
    bool pin = false;
  };

  // ThreadPool(1) starts no thread. In a browser there are at most available_cpus(). Where the system starts no more
  // threads the pool has fewer.
  explicit ThreadPool(int n_threads) : ThreadPool(Options{.n_threads = n_threads}) {}
  explicit ThreadPool(const Options& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return n_threads_; }

  // Calls body(worker) once for each worker in [0, size()); worker 0 is the caller. Returns when all have returned.
  // Not reentrant: one run at a time, and body must not call run.
  template <class Body>
  void run(Body&& body) {
    run_erased(Task::of(body), Wait::kForAll);
  }

  // Calls body(0), and meanwhile body(worker) for every other worker that gets a CPU: perhaps none, none twice. Returns
  // when all that came have left. Whatever has to be done is done by those who are there, so a thread that the system
  // does not run holds nobody up. Otherwise as run.
  template <class Body>
  void run_with_available(Body&& body) {
    run_erased(Task::of(body), Wait::kForAvailable);
  }

  // Calls body(first, count) with ranges of `at_once`, the last perhaps of fewer, that cover [0, n) once: whoever comes
  // first has the next one. Returns when all are done. Otherwise as run_with_available.
  template <class Body>
  void share_out(size_t n, size_t at_once, Body&& body) {
    std::atomic<size_t> next = 0;
    run_with_available([&](int) {
      for (size_t first = next.fetch_add(at_once); first < n; first = next.fetch_add(at_once)) {
        body(first, std::min(at_once, n - first));
      }
    });
  }

  // Inside run, not inside run_with_available: waits until every worker has called barrier() as often as this one.
  // Writes before it are visible after it.
  void barrier();

  // The number of CPUs that this process may use; 1 in a browser without threads.
  static int available_cpus();

  // The same for a pool that is gone before another begins, while a model is loaded. 1 in a browser: threads that ended
  // are ready again only when the caller has returned to the page, and the pool that computes would lack them.
  static int passing_cpus();

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

  // Of gate_: workers may come in. The other bits count those inside.
  static constexpr uint32_t kOpen = 1u << 31;

  int n_threads_ = 1;
  std::vector<int> cpus_;  // to bind workers to; empty: they are not bound
  WaitCounter start_;      // advanced once per run, and to stop
  WaitCounter gate_;
  WaitCounter finished_;  // workers other than 0 that have run the task
  WaitCounter barrier_;   // advanced when the last worker arrives
  alignas(64) std::atomic<int> arrived_ = 0;
  std::atomic<bool> stopping_ = false;
  // Of this run; read only inside the gate.
  Task task_;
  uint32_t run_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace tern
