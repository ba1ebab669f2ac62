// The library names what to do about an error in words; on the command line it has a flag.
#pragma once

#include <string>
#include <string_view>

namespace tern::cli {

// "…; use the cpu backend" becomes "…; use the cpu backend (-b cpu)". A message that names the flag already stays as it
// is.
std::string with_flags(std::string_view message);

}  // namespace tern::cli
