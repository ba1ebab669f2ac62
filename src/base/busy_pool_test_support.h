#pragma once

#include <atomic>
#include <latch>
#include <thread>

#include "base/thread_pool.h"

namespace tern {

// Calls `use` while a pool of `n_threads` runs something.
template <class Use>
void beside_pool(int n_threads, const Use& use) {
  ThreadPool pool(n_threads);
  std::latch runs(1);
  std::atomic<bool> is_over = false;
  std::jthread caller([&] {
    pool.run([&](int worker) {
      if (worker == 0) runs.count_down();
      is_over.wait(false);
    });
  });
  runs.wait();
  use();
  is_over = true;
  is_over.notify_all();
}

}  // namespace tern
