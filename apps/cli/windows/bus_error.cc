#include "cli/bus_error.h"

#include <windows.h>

#include <atomic>
#include <string_view>

namespace tern::cli {
namespace {

std::atomic<bool> is_ending = false;

// All worker threads run into it; only one prints the message.
LONG WINAPI on_exception(EXCEPTION_POINTERS* exception) {
  if (exception->ExceptionRecord->ExceptionCode != static_cast<DWORD>(EXCEPTION_IN_PAGE_ERROR))
    return EXCEPTION_CONTINUE_SEARCH;
  if (is_ending.exchange(true)) ::Sleep(INFINITE);
  constexpr std::string_view kText =
      "tern: a file became shorter, or its disk failed, while it was in use; nothing may write to a model meanwhile\n";
  DWORD n = 0;
  ::WriteFile(::GetStdHandle(STD_ERROR_HANDLE), kText.data(), static_cast<DWORD>(kText.size()), &n, nullptr);
  ::TerminateProcess(::GetCurrentProcess(), 1);
  return EXCEPTION_CONTINUE_SEARCH;
}

}  // namespace

void explain_bus_errors() { ::AddVectoredExceptionHandler(/*first=*/1, on_exception); }

}  // namespace tern::cli
