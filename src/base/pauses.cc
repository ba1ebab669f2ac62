#include "base/pauses.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/thread_pool.h"

namespace tern {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::duration kLongestTurn = std::chrono::microseconds(1250);
constexpr int kTimesATurn = 12;  // a model computes for so many turns' time before it gives the next one
// Work without a turn for so long takes one: a pass over a long prompt may last for seconds.
constexpr Clock::duration kLongestPause = std::chrono::milliseconds(200);

std::atomic<int> n_computing = 0, n_waiting = 0;
std::atomic<Clock::rep> last_pass = 0;  // when it began

bool all_compute() {
  const int n = n_computing.load(std::memory_order_relaxed);
  return n > 0 && n >= ThreadPool::available_cpus();  // which asks the system
}

struct Turn {
  Clock::duration length;
  bool is_given;  // by a pool, which waits for its end
};

// Gives turns to the threads that wait for one, one at a time.
class Turns {
 public:
  Turn wait() {
    std::unique_lock lock(mutex_);
    n_waiting.fetch_add(1, std::memory_order_relaxed);
    const bool is_given = changed_.wait_for(lock, kLongestPause, [&] { return offered_ > Clock::duration::zero(); });
    n_waiting.fetch_sub(1, std::memory_order_relaxed);
    return is_given ? Turn{std::exchange(offered_, {}), true} : Turn{kLongestTurn, false};
  }

  void end() {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }

  // Offers a turn, and returns at its end, or when it has lasted too long.
  void give(Clock::duration turn) {
    std::unique_lock lock(mutex_);
    if (Clock::now() < next_turn_ || offered_ > Clock::duration::zero()) return;
    offered_ = turn;
    is_over_ = false;
    changed_.notify_all();
    changed_.wait_for(lock, turn + turn / 2, [&] { return is_over_; });
    offered_ = {};
    next_turn_ = Clock::now() + kTimesATurn * turn;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::duration offered_ = {};  // the length of a turn that no thread has taken yet
  bool is_over_ = false;
  Clock::time_point next_turn_;
};

Turns& turns() {
  static Turns turns;
  return turns;
}

}  // namespace

Pauses::~Pauses() {
  if (has_turn_) turns().end();
  current = outer_;
}

void Pauses::look() {
  work_ = 0;
  const bool is_turn = Clock::now() < turn_ends_, all = all_compute();
  if (has_turn_ ? is_turn && !all : is_turn || !all) return;  // a pool that has waited too long computes
  if (has_turn_) turns().end();
  const Turn turn = turns().wait();
  has_turn_ = turn.is_given;
  turn_ends_ = Clock::now() + turn.length;
  ++n_pauses_;
}

Computing::Computing(int n_threads) : n_(n_threads) {
  const Clock::duration now = Clock::now().time_since_epoch();
  const Clock::duration since_last = now - Clock::duration(last_pass.exchange(now.count(), std::memory_order_relaxed));
  if (n_waiting.load(std::memory_order_relaxed) > 0 && n_threads >= ThreadPool::available_cpus())
    turns().give(std::min(kLongestTurn, since_last / 2));
  n_computing.fetch_add(n_, std::memory_order_relaxed);
}
Computing::~Computing() { n_computing.fetch_sub(n_, std::memory_order_relaxed); }

}  // namespace tern
