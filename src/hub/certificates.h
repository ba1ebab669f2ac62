// Whom a download trusts.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace tern::hub {

// Where distributions keep their bundle of certificates. libcurl knows only that of the system it was built for.
std::span<const char* const> known_certificate_files();

// The file that the environment names, as behind a company's proxy; else the first of `files` that can be read; else
// "", which leaves it to libcurl.
std::string certificate_file(const std::function<const char*(const char*)>& variable,
                             std::span<const char* const> files = known_certificate_files());

}  // namespace tern::hub
