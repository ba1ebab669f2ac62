// Adds command-line flags to the library's error messages, which describe remedies in words.
#pragma once

#include <string>
#include <string_view>

namespace tern::cli {

// Turns "…; use the cpu backend" into "…; use the cpu backend (-b cpu)". A message that already names the flag is
// returned unchanged.
std::string with_flags(std::string_view message);

}  // namespace tern::cli
