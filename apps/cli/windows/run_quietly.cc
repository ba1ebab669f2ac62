#include "cli/support/run_quietly.h"

#include <windows.h>

#include <chrono>
#include <system_error>

#include "base/platform/process.h"
#include "base/platform/windows/wide.h"
#include "base/result.h"

namespace tern::cli {
namespace {

// As the C library takes a command line apart: backslashes count double before a quotation mark only.
std::wstring quoted(std::wstring_view word) {
  std::wstring text = L"\"";
  size_t n_backslashes = 0;
  for (const wchar_t c : word) {
    if (c == L'"') text.append(n_backslashes + 1, L'\\');
    n_backslashes = c == L'\\' ? n_backslashes + 1 : 0;
    text += c;
  }
  text.append(n_backslashes, L'\\');
  return text + L"\"";
}

}  // namespace

Result<double> run_quietly(const std::string& program, const std::vector<std::string>& arguments) {
  const auto cannot = [&](const char* what) {
    const std::error_code error(static_cast<int>(::GetLastError()), std::system_category());
    return fail(ErrorCode::kIo, "{}: cannot be {}: {}", program, what, error.message());
  };
  std::wstring line;
  for (const std::string& argument : arguments) line += (line.empty() ? L"" : L" ") + quoted(platform::wide(argument));
  SECURITY_ATTRIBUTES inherited = {
      .nLength = sizeof(inherited), .lpSecurityDescriptor = nullptr, .bInheritHandle = TRUE};
  const HANDLE nothing = ::CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                       &inherited, OPEN_EXISTING, 0, nullptr);
  STARTUPINFOW start = {};
  start.cb = sizeof(start);
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = start.hStdOutput = start.hStdError = nothing;
  PROCESS_INFORMATION child = {};
  const auto begin = std::chrono::steady_clock::now();
  const bool started = ::CreateProcessW(platform::wide_path(program).c_str(), line.data(), nullptr, nullptr, TRUE, 0,
                                        nullptr, nullptr, &start, &child);
  ::CloseHandle(nothing);
  if (!started) return cannot("started");
  DWORD code = 1;
  const bool waited =
      ::WaitForSingleObject(child.hProcess, INFINITE) == WAIT_OBJECT_0 && ::GetExitCodeProcess(child.hProcess, &code);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ::CloseHandle(child.hThread);
  ::CloseHandle(child.hProcess);
  if (!waited) return cannot("waited for");
  if (code != 0) return fail(ErrorCode::kIo, "{}: it failed", program);
  return seconds;
}

Result<double> run_self_quietly(const std::vector<std::string>& arguments) {
  const std::string program = platform::module_file(reinterpret_cast<const void*>(&run_self_quietly));
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_quietly(program, words);
}

}  // namespace tern::cli
