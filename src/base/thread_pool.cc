#include "base/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/check.h"
#include "base/pauses.h"
#include "base/platform/processors.h"

namespace tern {
namespace {

// A browser keeps one thread per CPU ready. Another one would start only after the caller returns to the page, while
// the caller waits for it. A build without threads has only the caller.
int can_start(int n_threads) {
#ifdef __EMSCRIPTEN__
  return std::min(n_threads, ThreadPool::available_cpus());
#else
  return n_threads;
#endif
}

// Binds the calling thread.
void bind_to(int cpu) {
  platform::ProcessorMask mask = {};
  mask[static_cast<size_t>(cpu) / 64] = uint64_t{1} << (cpu % 64);
  platform::set_thread_processors(mask);
}

// Binds a thread that the pool does not own, for the lifetime of this object.
class BoundWhileItLives {
 public:
  explicit BoundWhileItLives(int cpu) : before_(platform::thread_processors()) {
    if (before_) bind_to(cpu);
  }
  ~BoundWhileItLives() {
    if (before_) platform::set_thread_processors(*before_);
  }
  BoundWhileItLives(const BoundWhileItLives&) = delete;
  BoundWhileItLives& operator=(const BoundWhileItLives&) = delete;

 private:
  const std::optional<platform::ProcessorMask> before_;
};

}  // namespace

ThreadPool::ThreadPool(const Options& options) {
  CHECK(options.n_threads >= 1);
  const int wanted = can_start(options.n_threads);
  if (options.pin) cpus_ = platform::fast_processors_first();
  threads_.reserve(static_cast<size_t>(wanted - 1));
  try {
    for (; n_threads_ < wanted; ++n_threads_)
      threads_.emplace_back([this, worker = n_threads_] { worker_loop(worker); });
  } catch (const std::system_error&) {  // a limit on threads of a user or container
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  start_.add(1);
}

void ThreadPool::pin_worker(int worker) const {
  if (!cpus_.empty()) bind_to(cpus_[static_cast<size_t>(worker) % cpus_.size()]);
}

void ThreadPool::worker_loop(int worker) {
  pin_worker(worker);
  uint32_t last_run = 0;
  for (uint32_t seen = 0;;) {
    seen = start_.wait_while(seen);
    if (stopping_.load(std::memory_order_relaxed) || worker >= n_threads_) return;
    if (!gate_.add_one_where(kOpen)) continue;
    // A worker that was late for one run and joined the next is woken again for the latter; it must not run it twice.
    if (run_ != last_run) {
      last_run = run_;
      task_.invoke(task_.context, worker);
      finished_.add(1);
    }
    gate_.add(-1);
  }
}

void ThreadPool::keep(int n) {
  CHECK(n >= 1);
  if (n >= n_threads_) return;
  n_threads_ = n;
  start_.add(1);
  threads_.resize(static_cast<size_t>(n - 1));  // waits for the others' ends
}

void ThreadPool::keep_fast() {
  // Other processes slow some threads down in each round, but hardly as many in all.
  constexpr size_t kRounds = 8;
  constexpr auto kRoundTime = std::chrono::milliseconds(3);
  if (n_threads_ <= 2 || !platform::kMeasuresSpeeds) return;
  const auto n = static_cast<size_t>(n_threads_);
  std::vector<int> speeds(kRounds * n);
  for (size_t round = 0; round < kRounds; ++round) {
    std::chrono::steady_clock::time_point end;
    run([&](int worker) {
      barrier();  // all are awake
      if (worker == 0) end = std::chrono::steady_clock::now() + kRoundTime;
      barrier();
      speeds[round * n + static_cast<size_t>(worker)] = platform::measure_speed(end);
    });
  }
  const int fastest = std::ranges::max(speeds);
  int n_fast = 2;
  for (size_t round = 0; round < kRounds; ++round) {
    std::vector<int> beside(speeds.data() + round * n, speeds.data() + (round + 1) * n);
    beside.push_back(fastest);
    n_fast = std::max(n_fast, platform::count_fast(beside) - 1);
  }
  keep(n_fast);
}

void ThreadPool::run_erased(Task task, Wait wait) {
  const Computing computing(n_threads_);
  std::optional<BoundWhileItLives> bound;
  if (!cpus_.empty()) bound.emplace(cpus_[0]);
  if (n_threads_ == 1) return task.invoke(task.context, 0);
  task_ = task;
  ++run_;
  finished_.set(0);
  gate_.set(kOpen);
  start_.add(1);
  task.invoke(task.context, 0);
  if (wait == Wait::kForAll) finished_.wait_for(static_cast<uint32_t>(n_threads_ - 1));
  gate_.add(kOpen);  // adding 2^31 again clears the bit
  gate_.wait_for(0);
}

void ThreadPool::barrier() {
  if (n_threads_ == 1) return;
  const uint32_t generation = barrier_.value();
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == n_threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    barrier_.add(1);
  } else {
    barrier_.wait_while(generation);
  }
}

int ThreadPool::available_cpus() {
  if (const size_t n = platform::allowed_processors().size(); n > 0) return static_cast<int>(n);
  const unsigned n = std::thread::hardware_concurrency();
  return n > 0 ? static_cast<int>(n) : 1;
}

int ThreadPool::threads_for(int n) {
  if (n > 0) return std::min(n, available_cpus());
  const int n_fast = platform::fast_processors();
  return n_fast > 0 ? n_fast : available_cpus();
}

int ThreadPool::load_time_cpus() {
#ifdef __EMSCRIPTEN__
  return 1;
#else
  return available_cpus();
#endif
}

}  // namespace tern
