// The module being written. Tracing a kernel sets `writer` and calls the kernel's C++ code once.
//
// Mistakes that C++ types cannot catch stop the program with a message. They are bugs in a kernel, found the first time
// it is traced.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/gpu/wgsl/module.h"

namespace tern::wgsl {

// Part of a module's text: a literal, or the result of `cat`. The strings are kept until the kernel has been traced, so
// that expressions are plain values; otherwise the kernels' code would mostly be moves and destructors of strings.
class Text : public std::string_view {
 public:
  constexpr Text() = default;
  template <size_t N>
  constexpr Text(const char (&literal)[N]) : std::string_view(literal, N - 1) {}  // NOLINT(google-explicit-constructor)

 private:
  friend Text keep(std::string text);
  explicit Text(const std::string& kept) : std::string_view(kept) {}
};
Text keep(std::string text);
void forget_texts();  // frees every text that this thread has kept

Text put_together(std::initializer_list<std::string_view> parts);
template <class... S>
Text cat(const S&... parts) {
  return put_together({std::string_view(parts)...});
}

class Writer {
 public:
  explicit Writer(std::string name);

  void line(std::string_view text);  // one statement, indented
  void open(std::string_view head);  // "if (…) {"
  void close();
  void reopen(std::string_view between);                              // "} else {"
  void declare(std::string_view text);                                // at module scope
  void declare_once(std::string_view text);                           // unless the same text was declared before
  void builtin(std::string_view parameter);                           // adds a parameter to the entry point
  void bind(BindingDecl binding, std::string_view declaration_tail);  // "@group(0) @binding(n) var…"

  // An unused name: `base`, or base_1, base_2, … Rejects WGSL's own names.
  Text fresh(std::string_view base);
  // Reserves exactly this name. Rejects one that is taken.
  void claim(std::string_view name);

  // Function bodies are collected separately and written at module scope.
  void begin_function();
  void end_function(std::string_view head);
  // A call is an expression, written where it is used. So a function must not contain side effects or read memory that
  // can change.
  void refuse_in_function(std::string_view what) const;

  // Counts writes to anything that a pending expression may have read (see Expression::epoch).
  int epoch() const { return epoch_; }
  void wrote() { ++epoch_; }

  void workgroup_memory(uint32_t bytes) {
    module_.needs.workgroup_bytes += (bytes + 15) / 16 * 16;
    has_odd_memory_ = has_odd_memory_ || bytes % 16 != 0;
  }
  Requirements& needs() { return module_.needs; }
  void diagnostic_off(std::string_view rule) { diagnostics_.insert(std::string(rule)); }

  Module finish(uint32_t workgroup_size);
  const std::string& name() const { return module_.name; }

 private:
  Module module_;
  std::string declarations_, body_, builtins_;
  std::vector<std::string> outer_bodies_;
  std::set<std::string> names_, declared_, diagnostics_;
  int indent_ = 1;
  int epoch_ = 1;
  bool has_odd_memory_ = false;  // some workgroup array's size is not a multiple of 16 bytes
};

inline thread_local Writer* writer = nullptr;  // set during a trace

// Stops the program with a message that names the kernel being traced. The mistake is in its C++ code.
[[noreturn]] void trace_error(std::string_view what);

// names.cc
bool is_wgsl_reserved(std::string_view name);  // keywords and reserved words
bool is_wgsl_name(std::string_view name);      // those, and the builtin types and functions
bool is_identifier(std::string_view name);

}  // namespace tern::wgsl
