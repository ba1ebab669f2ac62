#include "cli/sudden_end.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "base/files/unfinished_files.h"

namespace tern::cli {
namespace {

// There may be no memory left: this must not ask for any.
[[noreturn]] void end_with(const char* what, const char* why, const char* remedy) {
  std::fprintf(stderr, "tern: %s%s%s; %s\n", what, *why ? ": " : "", why, remedy);
  std::_Exit(1);
}

[[noreturn]] void on_uncaught() {
  remove_unfinished_files();
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_with("out of memory", "", "end other programs, or raise the limit on memory ('ulimit -v', or the container's)");
  } catch (const std::system_error& error) {
    end_with("the system refused what the program needs", error.what(),
             "end other programs, or raise the limit on processes, memory or files ('ulimit -u', '-v', '-n')");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tern: internal error: %s\n", error.what());
  } catch (...) {
    std::fputs("tern: internal error\n", stderr);
  }
  std::abort();
}

}  // namespace

Result<void> prepare_for_sudden_ends() {
  std::set_terminate(on_uncaught);
  handle_end_signals();
  return widen_stack();
}

}  // namespace tern::cli
