// The scopes that a chat template runs in, with bounds on what it may use. For .cc files only: it is a heavy include.
//
// minja calls no hook while it renders, but nothing runs long, deep or large in it without naming something: loops and
// macros set their variables, macros and conditions look names up. So every scope counts. (The build takes care that
// minja makes its scopes with make_scope(); see CMakeLists.txt.)
#pragma once

#include <bounded_minja/minja.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tern {

// Thrown past minja's handlers, which catch std::exception and each add to its message.
struct TemplateStopped {
  std::string_view reason;
};

// What one rendering has used. The bounds grow with the conversation.
class TemplateBudget {
 public:
  // `n_input` and `n_template` are the bytes of the conversation and of the template.
  TemplateBudget(size_t n_input, size_t n_template);

  void count_step();
  void check_stack() const;
  // A value that is given a name. Its size counts once more every time, and so does the template's: that bounds what
  // the text of a loop's body can add up to.
  void count_value(const minja::Value& value);
  void check_value(const minja::Value& value) const;
  void check_size(size_t bytes) const;

 private:
  size_t measure(const minja::Value& value, size_t depth, size_t so_far) const;

  std::intptr_t base_;  // where the stack was when rendering began
  size_t n_steps_ = 0;
  size_t n_bytes_ = 0;
  size_t n_template_;
  size_t max_value_;
  size_t max_bytes_;
};

// The outermost scope: `values` before the functions that minja brings, with those of them that can make much out of
// little behind a check. A macro holds the scope that it is defined in, and the scope holds the macro: release()
// forgets both, which is what frees them.
class TemplateScope : public minja::Context {
 public:
  TemplateScope(minja::Value&& values, const std::shared_ptr<minja::Context>& parent,
                std::shared_ptr<TemplateBudget> budget, bool outermost)
      : Context(std::move(values), parent), budget_(std::move(budget)), outermost_(outermost) {}

  bool contains(const minja::Value& key) override;
  minja::Value& at(const minja::Value& key) override;
  minja::Value get(const minja::Value& key) override;
  void set(const minja::Value& key, const minja::Value& value) override;

  void release() { values_ = minja::Value(); }
  const std::shared_ptr<TemplateBudget>& budget() const { return budget_; }

 private:
  std::shared_ptr<TemplateBudget> budget_;
  bool outermost_;
};

std::shared_ptr<TemplateScope> make_outermost_scope(minja::Value&& values, std::shared_ptr<TemplateBudget> budget);

}  // namespace tern
