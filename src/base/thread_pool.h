// A persistent team of threads that runs one function on all of them, with a barrier between its phases.
//
// A token is hundreds of short phases, so a phase must not cost a lock, an allocation or a system call: threads spin
// for a short while at a barrier and only then sleep. The sleep matters where there are more threads than free cores;
// there the thread that others wait for needs the core that a spinning thread would burn.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace tern {

class ThreadPool {
 public:
  // n_threads ≥ 1 counts the calling thread: ThreadPool(1) starts no thread and its barrier is free. In a browser there
  // are at most available_cpus().
  explicit ThreadPool(int n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return n_threads_; }

  // Calls body(worker) once for each worker in [0, size()); worker 0 is the caller. Returns when all have returned.
  // Not reentrant: one run at a time, and body must not call run.
  template <class Body>
  void run(Body&& body) {
    using BodyType = std::remove_reference_t<Body>;
    run_erased([](void* context, int worker) { (*static_cast<BodyType*>(context))(worker); },
               const_cast<void*>(static_cast<const void*>(&body)));
  }

  // Inside run: waits until every worker has called barrier() as often as this one. Writes before it are visible after
  // it.
  void barrier();

  // The number of CPUs that this process may use; 1 in a browser without threads.
  static int available_cpus();

  // The same for a pool that is gone before another begins, while a model is loaded. 1 in a browser: threads that ended
  // are ready again only when the caller has returned to the page, and the pool that computes would lack them.
  static int passing_cpus();

 private:
  using Invoke = void (*)(void* context, int worker);
  void run_erased(Invoke invoke, void* context);
  void worker_loop(int worker);

  // A counter that threads wait on: spin first, then sleep.
  struct alignas(64) Signal {
    std::atomic<uint32_t> value = 0;
    std::atomic<uint32_t> sleepers = 0;
    void wait_while(uint32_t seen);
    void advance();
  };

  const int n_threads_;
  Signal start_;    // advanced once per run, and to stop
  Signal barrier_;  // advanced when the last worker arrives
  alignas(64) std::atomic<int> arrived_ = 0;
  std::atomic<bool> stopping_ = false;
  Invoke invoke_ = nullptr;
  void* context_ = nullptr;
  std::vector<std::jthread> threads_;
};

}  // namespace tern
