// Compiles grammars one at a time, on a thread that gives way to others and pauses beside a model. Large schemas take
// up to seconds of a processor, and many at once would take it from the replies that are being written.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/result.h"
#include "tern/grammar.h"

namespace tern::server {

using GrammarPtr = std::shared_ptr<const Grammar>;

class GrammarCompiler {
 public:
  using Make = std::function<Result<GrammarPtr>()>;

  GrammarCompiler();
  ~GrammarCompiler();
  GrammarCompiler(const GrammarCompiler&) = delete;
  GrammarCompiler& operator=(const GrammarCompiler&) = delete;

  // Returns what `make` returns, after those asked for before it. `n_bytes`: of the grammar's text. Small ones are
  // compiled by the caller's thread, because they take less time than waiting.
  Result<GrammarPtr> compile(size_t n_bytes, const Make& make);

  // The one for all models of the program.
  static GrammarCompiler& shared();

 private:
  struct Job;
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job*> waiting_;
  std::jthread thread_;  // the last member: it uses the others. None, if the system refused it: callers compile then
};

}  // namespace tern::server
