// Reads a request's JSON field by field, with errors that name the field.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/api/api_error.h"

namespace tern::server {

// Parses a request's body. 400: it is not a JSON object, is nested too deeply, or is not UTF-8.
ApiResult<Json> parse_body(std::string_view body);

// An object's fields. If a field is absent or null, the value is unchanged. The first field of a wrong type or out of
// range is the error, after which nothing more is read. Unknown fields are ignored, as at OpenAI.
class Fields {
 public:
  // `path` precedes the names in messages: "stream_options."
  explicit Fields(const Json& object, std::string path = {}) : object_(object), path_(std::move(path)) {}

  struct Range {
    double least, most;
  };
  void read(std::string_view name, bool& value);
  void read(std::string_view name, int& value, Range range);
  void read(std::string_view name, int64_t& value, Range range);
  void read(std::string_view name, float& value, Range range);
  void read(std::string_view name, std::string& value);
  template <class T, class... More>
  void read(std::string_view name, std::optional<T>& value, const More&... more) {
    if (!find(name)) return;
    T read_value = {};
    read(name, read_value, more...);
    if (!error_) value = read_value;
  }

  // The field; null if it is absent, is null, or there was an error.
  const Json* find(std::string_view name) const;
  std::string path_of(std::string_view name) const { return path_ + std::string(name); }
  // Reads a text, or a list of at most `most` texts.
  void read_texts(std::string_view name, std::vector<std::string>& texts, size_t most);
  // Reads an object inside this one; does nothing if it is absent.
  void within(std::string_view name, const std::function<void(Fields&)>& read);

  // Reads an object in a list inside this one.
  void within_element(std::string_view name, size_t index, const std::function<void(Fields&)>& read);

  void fail(std::string_view name, std::string_view what);  // "NAME: WHAT"
  // Fails if any of these is there: `what` about it.
  void refuse(std::span<const std::string_view> names, std::string_view what);
  ApiResult<void> check() const;

 private:
  void within_value(const Json& value, const std::string& name, const std::function<void(Fields&)>& read);

  const Json& object_;
  std::string path_;
  std::optional<ApiError> error_;
};

}  // namespace tern::server
