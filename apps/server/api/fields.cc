#include "server/api/fields.h"

#include <cmath>

#include "base/pauses.h"
#include "base/text/format_text.h"

namespace tern::server {
namespace {

constexpr int kMostNesting = 256;

// Checked before parsing, since destroying a deeply nested value is a problem, too.
bool is_nested_too_deeply(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMostNesting) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

std::string_view kind_of(const Json& value) {
  if (value.is_string()) return "a string";
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  if (value.is_boolean()) return "true or false";
  return value.is_number_integer() ? "a whole number" : "a number";
}

std::string in_words(double number) {
  return std::floor(number) == number && std::fabs(number) < 1e15 ? format_text("{:.0f}", number)
                                                                  : format_text("{}", number);
}

// Goes through a text that may be long.
class PausingIterator {
 public:
  // NOLINTBEGIN(readability-identifier-naming): std::iterator_traits has these names.
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  // NOLINTEND(readability-identifier-naming)

  explicit PausingIterator(const char* at) : at_(at) {}
  const char& operator*() const { return *at_; }
  PausingIterator& operator++() {
    Pauses::check_point();
    ++at_;
    return *this;
  }
  bool operator==(const PausingIterator& other) const = default;

 private:
  const char* at_;
};

}  // namespace

ApiResult<Json> parse_body(std::string_view body) {
  if (is_nested_too_deeply(body)) {
    return refuse(format_text("the body is nested more than {} levels deep", kMostNesting));
  }
  try {
    Json json = Json::parse(PausingIterator(body.data()), PausingIterator(body.data() + body.size()));
    if (!json.is_object()) return refuse("the body must be a JSON object");
    return json;
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    std::string_view what = error.what();
    if (const size_t end = what.find("] "); end != what.npos) what.remove_prefix(end + 2);
    return refuse(format_text("the body is not JSON: {}", what));
  }
}

const Json* Fields::find(std::string_view name) const {
  if (error_) return nullptr;
  const auto it = object_.find(name);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

void Fields::fail(std::string_view name, std::string_view what) {
  if (error_) return;
  const std::string path = path_of(name);
  error_ = ApiError{.message = format_text("{}: {}", path, what), .param = path};
}

void Fields::refuse(std::span<const std::string_view> names, std::string_view what) {
  for (const std::string_view name : names) {
    const Json* found = find(name);
    if (found && !(found->is_structured() && found->empty())) fail(name, what);
  }
}

ApiResult<void> Fields::check() const {
  if (error_) return std::unexpected(*error_);
  return {};
}

void Fields::read(std::string_view name, bool& value) {
  const Json* found = find(name);
  if (!found) return;
  if (!found->is_boolean()) return fail(name, format_text("must be true or false, and is {}", kind_of(*found)));
  value = found->get<bool>();
}

void Fields::read(std::string_view name, int64_t& value, Range range) {
  const Json* found = find(name);
  if (!found) return;
  // Some clients write whole numbers as 5.0.
  const double number = found->is_number() ? found->get<double>() : 0;
  if (!found->is_number() || std::floor(number) != number) {
    return fail(name, format_text("must be a whole number, and is {}", kind_of(*found)));
  }
  if (number < range.least || number > range.most) {
    return fail(name, format_text("must be from {} to {}, and is {}", in_words(range.least), in_words(range.most),
                                  in_words(number)));
  }
  value = found->is_number_float() ? static_cast<int64_t>(number) : found->get<int64_t>();
}

void Fields::read(std::string_view name, int& value, Range range) {
  int64_t wide = value;
  read(name, wide, range);
  if (!error_) value = static_cast<int>(wide);
}

void Fields::read(std::string_view name, float& value, Range range) {
  const Json* found = find(name);
  if (!found) return;
  if (!found->is_number()) return fail(name, format_text("must be a number, and is {}", kind_of(*found)));
  const auto number = found->get<double>();
  if (number < range.least || number > range.most) {
    return fail(name, format_text("must be from {} to {}, and is {}", in_words(range.least), in_words(range.most),
                                  in_words(number)));
  }
  value = static_cast<float>(number);
}

void Fields::read(std::string_view name, std::string& value) {
  const Json* found = find(name);
  if (!found) return;
  if (!found->is_string()) return fail(name, format_text("must be a string, and is {}", kind_of(*found)));
  value = found->get<std::string>();
}

void Fields::read_texts(std::string_view name, std::vector<std::string>& texts, size_t most) {
  const Json* found = find(name);
  if (!found) return;
  texts.clear();
  if (found->is_string()) return texts.push_back(found->get<std::string>());
  if (!found->is_array()) {
    return fail(name, format_text("must be a string or a list of strings, and is {}", kind_of(*found)));
  }
  if (found->size() > most) {
    return fail(name, format_text("has {} strings; at most {} are possible", found->size(), most));
  }
  for (size_t i = 0; i < found->size(); ++i) {
    if (!(*found)[i].is_string()) {
      return fail(format_text("{}[{}]", name, i), format_text("must be a string, and is {}", kind_of((*found)[i])));
    }
    texts.push_back((*found)[i].get<std::string>());
  }
}

void Fields::within(std::string_view name, const std::function<void(Fields&)>& read_it) {
  if (const Json* found = find(name)) within_value(*found, std::string(name), read_it);
}

void Fields::within_element(std::string_view name, size_t index, const std::function<void(Fields&)>& read_it) {
  const Json* found = find(name);
  if (found && index < found->size()) within_value((*found)[index], format_text("{}[{}]", name, index), read_it);
}

void Fields::within_value(const Json& value, const std::string& name, const std::function<void(Fields&)>& read_it) {
  if (!value.is_object()) return fail(name, format_text("must be an object, and is {}", kind_of(value)));
  Fields inner(value, path_of(name) + ".");
  read_it(inner);
  error_ = inner.error_;
}

}  // namespace tern::server
