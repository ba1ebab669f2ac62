#include "base/platform/process.h"

#include <windows.h>
// After windows.h.
#include <psapi.h>

#include <array>
#include <vector>

#include "base/platform/windows/wide.h"

namespace tern::platform {
namespace {

std::string variable(const wchar_t* name) {
  std::wstring value(32'768, L'\0');
  const DWORD n = ::GetEnvironmentVariableW(name, value.data(), static_cast<DWORD>(value.size()));
  return n < value.size() ? narrow(std::wstring_view(value).substr(0, n)) : "";
}

}  // namespace

int process_id() { return static_cast<int>(::GetCurrentProcessId()); }

std::string host_name() {
  std::array<wchar_t, 256> name = {};
  auto n = static_cast<DWORD>(name.size());
  if (!::GetComputerNameExW(ComputerNameDnsHostname, name.data(), &n)) return "host";
  return narrow({name.data(), n});
}

uint64_t peak_memory_bytes() {
  PROCESS_MEMORY_COUNTERS counters = {};
  ::K32GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof(counters));
  return counters.PeakWorkingSetSize;
}

std::optional<uint64_t> address_space_limit() { return std::nullopt; }

void allow_open_files(unsigned /*most*/) {}  // there is no such limit

std::string module_file(const void* address) {
  HMODULE module = nullptr;
  constexpr DWORD kFlags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (!::GetModuleHandleExW(kFlags, static_cast<LPCWSTR>(address), &module)) return "";
  std::wstring path(32'768, L'\0');
  const DWORD n = ::GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size()));
  return n < path.size() ? narrow(std::wstring_view(path).substr(0, n)) : "";
}

std::string user_cache_folder() {
  // What is set for all systems alike goes first, as in tests.
  if (std::string folder = variable(L"XDG_CACHE_HOME"); !folder.empty()) return folder;
  return variable(L"LOCALAPPDATA");
}

std::string user_state_folder() { return variable(L"LOCALAPPDATA"); }

std::string user_home_folder() { return variable(L"USERPROFILE"); }

std::tm local_time(std::time_t time) {
  std::tm parts{};
  ::localtime_s(&parts, &time);
  return parts;
}

std::tm utc_time(std::time_t time) {
  std::tm parts{};
  ::gmtime_s(&parts, &time);
  return parts;
}

// By the algorithm of Knuth, Morris and Pratt: the C library has no memmem.
size_t find_bytes(std::string_view text, std::string_view what) {
  std::vector<size_t> border(what.size(), 0);  // of each prefix: the length of the longest one that also ends it
  for (size_t i = 1, n = 0; i < what.size(); ++i) {
    while (n > 0 && what[i] != what[n]) n = border[n - 1];
    if (what[i] == what[n]) ++n;
    border[i] = n;
  }
  for (size_t i = 0, n = 0; i < text.size(); ++i) {
    while (n > 0 && text[i] != what[n]) n = border[n - 1];
    if (text[i] == what[n]) ++n;
    if (n == what.size()) return i + 1 - n;
  }
  return text.npos;
}

}  // namespace tern::platform
