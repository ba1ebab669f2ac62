// Resource limits of a chat template. It is a program that comes with a model file, so everything that it does, from
// the first character that is read to the last that is written, is charged to one budget.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/result.h"

namespace tern {

// Thrown if a template is refused (kNotSupported) or raises an error (kInvalidArgument). ChatTemplate catches it, so it
// never gets further.
class TemplateFailure : public std::runtime_error {
 public:
  TemplateFailure(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// The template asks for something that conversations never need, or that Tern lacks.
template <class... Args>
[[noreturn]] void refuse_template(std::format_string<Args...> format, Args&&... args) {
  throw TemplateFailure(ErrorCode::kNotSupported, format_text(format, std::forward<Args>(args)...));
}

// The template cannot be rendered with this conversation.
template <class... Args>
[[noreturn]] void object(std::format_string<Args...> format, Args&&... args) {
  throw TemplateFailure(ErrorCode::kInvalidArgument, format_text(format, std::forward<Args>(args)...));
}

// Steps limit computation, bytes limit allocation. Neither is ever returned, so bytes bound the memory, and both bound
// the time. The deadline is for slow or busy machines. All functions throw TemplateFailure when the budget is used up.
class TemplateBudget {
 public:
  // `n_input`: bytes of the conversation. The limits grow with it: published templates copy it about three times.
  explicit TemplateBudget(size_t n_input);

  // Charges one operation.
  void step() { work(0); }
  // Charges for reading about `n` bytes or values, 32 per step.
  void work(size_t n) {
    n_steps_ += 1 + n / 32;
    if (n_steps_ >= next_check_) check();
  }
  // Must be called before `n` bytes are allocated.
  void take(size_t n);

 private:
  void check();

  uint64_t n_steps_ = 0;
  uint64_t next_check_ = 0;
  uint64_t n_bytes_ = 0;
  uint64_t most_steps_;
  uint64_t most_bytes_;
  std::chrono::steady_clock::time_point deadline_;
};

// Counts the nesting of calls as long as it lives. `reason`: the error if there are more than `most` levels.
class NestingGuard {
 public:
  NestingGuard(int& depth, int most, const char* reason) : depth_(depth) {
    if (depth_ >= most) refuse_template("{}", reason);
    ++depth_;
  }
  ~NestingGuard() { --depth_; }
  NestingGuard(const NestingGuard&) = delete;
  NestingGuard& operator=(const NestingGuard&) = delete;

 private:
  int& depth_;
};

}  // namespace tern
