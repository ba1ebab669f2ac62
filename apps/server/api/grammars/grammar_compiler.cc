#include "server/api/grammars/grammar_compiler.h"

#include <optional>
#include <utility>

#include "base/pauses.h"
#include "base/platform/processors.h"
#include "base/start_thread.h"
#include "server/connections/preparation.h"

namespace tern::server {
namespace {

constexpr size_t kSmall = 2048;  // bytes: compiled in about a millisecond
constexpr int kNice = 19;  // with 10, a stream that shares two cores with a compilation loses 8 % more of its speed

}  // namespace

struct GrammarCompiler::Job {
  const Make& make;
  std::optional<Result<GrammarPtr>> made = {};
};

GrammarCompiler::GrammarCompiler() {
  if (auto thread = start_thread("grammars", [this](const std::stop_token& stop) { run(stop); }))
    thread_ = *std::move(thread);
}
GrammarCompiler::~GrammarCompiler() = default;

Result<GrammarPtr> GrammarCompiler::compile(size_t n_bytes, const Make& make) {
  if (n_bytes <= kSmall || !thread_.joinable()) return make();
  const Preparation::Pause pause;  // other requests can be read meanwhile
  Job job{.make = make};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&job);
  changed_.notify_all();
  changed_.wait(lock, [&] { return job.made.has_value(); });
  return *std::move(job.made);
}

void GrammarCompiler::run(const std::stop_token& stop) {
  platform::give_way(kNice);
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !waiting_.empty(); })) {
    Job& job = *waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    Result<GrammarPtr> made = [&] {
      const Pauses pauses;  // a turn ends with its work
      return job.make();
    }();
    lock.lock();
    job.made = std::move(made);
    changed_.notify_all();
  }
}

GrammarCompiler& GrammarCompiler::shared() {
  static GrammarCompiler compiler;
  return compiler;
}

}  // namespace tern::server
