// Reads a request's body as it arrives.
#pragma once

#include <httplib.h>

#include <optional>
#include <string>
#include <utility>

#include "server/api/api_error.h"
#include "server/connections/preparation.h"

namespace tern::server {

// 413 past `most` bytes, 415 for a multipart form, 400 if it breaks off. The library's own reader takes at most 8 kB of
// a body that is labeled as a form, as curl labels everything.
ApiResult<std::string> read_body(const httplib::Request& request, const httplib::ContentReader& reader, size_t most);

struct RequestBody {
  Json json;
  size_t n_bytes = 0;
  std::string key = {};  // the API key of the request, if keys are in use

  // Calls `read`, and returns what it returns. See Preparation.
  template <class Read>
  auto prepare(const Read& read) const {
    std::optional<decltype(read())> value;
    Preparation::shared().run(n_bytes, [&] { value.emplace(read()); });
    return *std::move(value);
  }
};
// Reads the body as parse_body() does, with the same errors.
ApiResult<RequestBody> read_json(const httplib::Request& request, const httplib::ContentReader& reader, size_t most);

// Reads and discards the body, form or not. False: it breaks off, or is longer than `most`.
bool skip_body(const httplib::Request& request, const httplib::ContentReader& reader, size_t most);

ApiError body_too_large(size_t most);

}  // namespace tern::server
