// std::format, compiled once. The templates of std::format are instantiated and inlined in every file that calls it: 2
// s of compile time and 480 KB of object file each (GCC 16, -O3). Here the call only packs the arguments.
#pragma once

#include <format>
#include <string>
#include <string_view>

namespace tern {

std::string vformat_text(std::string_view format, std::format_args arguments);

// `format_text("{} of {}", i, n)`: the same output and compile-time checks as std::format.
template <class... Args>
[[nodiscard]] std::string format_text(std::format_string<Args...> format, Args&&... args) {
  return vformat_text(format.get(), std::make_format_args(args...));
}

}  // namespace tern
