#include "base/platform/windows/wide.h"

#include <windows.h>

namespace tern::platform {

std::wstring wide(std::string_view text) {
  const int n = ::MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), nullptr, 0);
  std::wstring result(static_cast<size_t>(n), L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), result.data(), n);
  return result;
}

std::string narrow(std::wstring_view text) {
  const int size = static_cast<int>(text.size());
  const int n = ::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, nullptr, 0, nullptr, nullptr);
  std::string result(static_cast<size_t>(n), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, result.data(), n, nullptr, nullptr);
  return result;
}

std::wstring wide_path(std::string_view path) {
  constexpr size_t kLimit = 248;  // that of folders; files may have 12 characters more
  std::wstring text = wide(path);
  if (text.size() < kLimit || text.starts_with(L"\\\\?\\")) return text;
  std::wstring whole(32'768, L'\0');
  const DWORD n = ::GetFullPathNameW(text.c_str(), static_cast<DWORD>(whole.size()), whole.data(), nullptr);
  if (n == 0 || n >= whole.size()) return text;
  whole.resize(n);
  if (whole.starts_with(L"\\\\")) return L"\\\\?\\UNC" + whole.substr(1);
  return L"\\\\?\\" + whole;
}

}  // namespace tern::platform
