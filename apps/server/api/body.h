// A request's body, as it comes.
#pragma once

#include <httplib.h>

#include <string>

#include "server/api/api_error.h"

namespace tern::server {

// 413 past `most` bytes, 415 for a form with files, 400 where it breaks off. The library's own way reads no more than
// 8 kB of what calls itself a form, as curl does of everything.
ApiResult<std::string> read_body(const httplib::Request& request, const httplib::ContentReader& reader, size_t most);

// Reads it, form or not, for nothing. False: it breaks off, or is longer than that.
bool skip_body(const httplib::Request& request, const httplib::ContentReader& reader, size_t most);

ApiError body_too_large(size_t most);

}  // namespace tern::server
