#include "server/api/body.h"

#include "base/text/format_text.h"
#include "server/api/fields.h"

namespace tern::server {

ApiError body_too_large(size_t most) {
  return {.status = 413, .message = format_text("the body is larger than {} bytes", most)};
}

bool skip_body(const httplib::Request& request, const httplib::ContentReader& reader, size_t most) {
  size_t n_read = 0;
  const auto skip = [&](const char*, size_t n) { return (n_read += n) <= most; };
  if (!request.is_multipart_form_data()) return reader(skip);
  return reader([](const auto&) { return true; }, skip);
}

ApiResult<std::string> read_body(const httplib::Request& request, const httplib::ContentReader& reader, size_t most) {
  if (request.is_multipart_form_data()) {
    return std::unexpected(ApiError{.status = 415, .message = "the body must be JSON, and is a form with files"});
  }
  if (request.get_header_value_u64("Content-Length") > most) return std::unexpected(body_too_large(most));
  std::string body;
  bool fits = true;
  const bool is_whole = reader([&](const char* data, size_t n) {
    fits = n <= most - body.size();
    if (fits) body.append(data, n);
    return fits;
  });
  if (!fits) return std::unexpected(body_too_large(most));
  if (!is_whole) return refuse("the body broke off, or could not be unpacked");
  return body;
}

ApiResult<RequestBody> read_json(const httplib::Request& request, const httplib::ContentReader& reader, size_t most) {
  TRY(const std::string text, read_body(request, reader, most));
  RequestBody body{.json = {}, .n_bytes = text.size()};
  TRY(body.json, body.prepare([&] { return parse_body(text); }));
  return body;
}

}  // namespace tern::server
