#include "base/log.h"

#include <atomic>
#include <cstdio>

#include "tern/visible.h"

namespace tern {
namespace {

void print_to_stderr(std::string_view line) { std::fprintf(stderr, "tern: warning: %s\n", visible(line).c_str()); }

std::atomic<WarningSink> current_sink = print_to_stderr;

}  // namespace

void set_warning_sink(WarningSink sink) { current_sink = sink ? sink : print_to_stderr; }
void emit_warning(std::string_view line) { current_sink.load()(line); }

}  // namespace tern
