// The certificates that a download trusts.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace tern::hub {

// Where distributions keep their certificates. libcurl knows only the path of the system it was built for.
std::span<const char* const> known_certificate_files();

// The file that the environment names, as behind a company's proxy; else the first readable one of `files`; else "",
// for libcurl's default.
std::string certificate_file(const std::function<const char*(const char*)>& variable,
                             std::span<const char* const> files = known_certificate_files());

}  // namespace tern::hub
