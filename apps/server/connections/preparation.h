// Reads large requests on threads that give way to others, a few at a time: JSON, conversation, schemas, tokens. A
// hundred kB take 10 ms of a processor, and many at once would take the model's threads from the replies that are being
// written.
#pragma once

#include <functional>
#include <semaphore>

namespace tern::server {

class Preparation {
 public:
  // `n_at_once` ≥ 1: more wait for their turn. As many above 1 MiB have a turn of their own, so that others do not wait
  // seconds for them.
  explicit Preparation(int n_at_once) : turns_(n_at_once), long_turns_(n_at_once) {}
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;

  // Calls `work`, and returns or throws as it does. `n_bytes`: of the request. A small one is read by the caller's
  // thread, because it takes less time than waiting.
  void run(size_t n_bytes, const std::function<void()>& work);

  // While one exists, the thread's turn is another's. Without effect on a thread that has none.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    std::counting_semaphore<>* const paused_;
  };

  // The one for all models of the program.
  static Preparation& shared();

 private:
  std::counting_semaphore<> turns_, long_turns_;
};

}  // namespace tern::server
