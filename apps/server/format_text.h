// std::format, compiled once: otherwise it costs 2 s for every file that calls it.
#pragma once

#include <format>
#include <string>
#include <string_view>

namespace tern::server {

std::string vformat_text(std::string_view format, std::format_args arguments);

// Gives the same text as std::format, with the same checks at compile time.
template <class... Args>
[[nodiscard]] std::string format_text(std::format_string<Args...> format, Args&&... args) {
  return vformat_text(format.get(), std::make_format_args(args...));
}

}  // namespace tern::server
