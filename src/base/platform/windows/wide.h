// Tern's text is UTF-8; Windows' calls take UTF-16.
#pragma once

#include <string>
#include <string_view>

namespace tern::platform {

std::wstring wide(std::string_view text);
std::string narrow(std::wstring_view text);

// For calls that open files. A path of more than 247 characters is made absolute and gets the prefix that lifts
// Windows' limit.
std::wstring wide_path(std::string_view path);

}  // namespace tern::platform
