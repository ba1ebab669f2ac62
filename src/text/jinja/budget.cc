#include "text/jinja/budget.h"

#include <algorithm>

namespace tern {
namespace {

// About 0.4 seconds natively. A message needs about 100 steps, and templates may read all messages for each one.
constexpr uint64_t kMostSteps = 16'000'000;
constexpr uint64_t kStepsPerByte = 1;
constexpr uint64_t kMostBytes = 32 << 20;
constexpr uint64_t kBytesPerByte = 64;
constexpr uint64_t kMostBytesOfAll = 512 << 20;
constexpr uint64_t kStepsPerLookAtTheClock = 4096;
constexpr auto kDeadline = std::chrono::seconds(2);

}  // namespace

TemplateBudget::TemplateBudget(size_t n_input)
    : most_steps_(kMostSteps + kStepsPerByte * n_input),
      most_bytes_(std::min(kMostBytes + kBytesPerByte * n_input, kMostBytesOfAll)),
      deadline_(std::chrono::steady_clock::now() + kDeadline) {}

void TemplateBudget::check() {
  next_check_ = n_steps_ + kStepsPerLookAtTheClock;
  if (n_steps_ > most_steps_ || std::chrono::steady_clock::now() > deadline_) refuse_template("it runs for too long");
}

void TemplateBudget::take(size_t n) {
  if (n > most_bytes_ - n_bytes_) refuse_template("it makes too much out of the conversation");
  n_bytes_ += n;
  work(n);
}

}  // namespace tern
