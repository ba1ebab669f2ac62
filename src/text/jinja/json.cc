#include "text/jinja/json.h"

#include <nlohmann/json.hpp>

#include "text/unicode/utf8.h"

namespace tern {
namespace {

using Value = TemplateValue;

// A template puts these values into lists and dicts of a message, and may nest 64 levels in all.
constexpr size_t kMostJsonDepth = 48;

// Makes values during parsing, so that members stay in order and no intermediate tree is needed.
class ValueReader {
 public:
  ValueReader(std::string_view what, TemplateMemory& memory) : what_(what), memory_(memory) {}

  Value result() const { return result_; }

  bool null() { return add(None{}); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(int64_t value) { return add(value); }
  bool number_unsigned(uint64_t value) {
    if (value > INT64_MAX) refuse_number(std::to_string(value));
    return add(static_cast<int64_t>(value));
  }
  bool number_float(double value, const std::string& text) {
    if (text.find_first_of(".eE") == text.npos) refuse_number(text);
    return add(value);
  }
  bool string(std::string& text) { return add(memory_.keep(std::move(text))); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // does not occur in JSON
  bool start_object(size_t) { return open(); }
  bool start_array(size_t) { return open(); }
  bool key(std::string& text) {
    memory_.budget().take(2 * sizeof(Value));
    open_.back().keys.emplace_back(memory_.keep(std::move(text)));
    return true;
  }
  bool end_array() {
    return close([&](Open&& list) { return memory_.list(std::move(list.values)); });
  }
  bool end_object() {
    return close([&](Open&& dict) {
      std::vector<std::pair<Value, Value>> items;
      for (size_t i = 0; i < dict.keys.size(); ++i) items.emplace_back(dict.keys[i], dict.values[i]);
      return memory_.dict(std::move(items));
    });
  }
  template <class Exception>
  bool parse_error(size_t position, const std::string&, const Exception& error) {
    if (error.id == 406) refuse_request("{}: a number in the JSON is out of range", what_);
    refuse_request("{}: not valid JSON, at byte {}", what_, position);
  }

 private:
  struct Open {
    std::vector<Value> keys;  // if it is a dict
    std::vector<Value> values;
  };

  [[noreturn]] void refuse_number(std::string_view text) {
    refuse_request("{}: {} is too large for a whole number of 64 bits", what_, printable(text, 40));
  }

  bool add(Value value) {
    memory_.budget().take(2 * sizeof(Value));
    if (open_.empty()) {
      result_ = value;
    } else {
      open_.back().values.push_back(value);
    }
    return true;
  }
  bool open() {
    if (open_.size() == kMostJsonDepth) refuse_request("{}: JSON nested more than {} deep", what_, kMostJsonDepth);
    open_.emplace_back();
    return true;
  }
  template <class Make>
  bool close(const Make& make) {
    Open closed = std::move(open_.back());
    open_.pop_back();
    return add(make(std::move(closed)));
  }

  std::string_view what_;
  TemplateMemory& memory_;
  std::vector<Open> open_;
  Value result_;
};

}  // namespace

TemplateValue read_template_json(std::string_view text, std::string_view what, TemplateMemory& memory) {
  ValueReader reader(what, memory);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  return reader.result();
}

}  // namespace tern
