// The values of a chat template, as in Python.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/jinja/budget.h"
#include "text/jinja/template_text.h"

namespace tern {

struct TemplateList;
struct TemplateDict;
struct TemplateNamespace;
struct TemplateLoop;
struct TemplateFunction;

struct Undefined {
  std::string_view name;  // the missing name, for messages
};
struct None {};

// Cheap to copy: large values live in a TemplateMemory, and texts may also be parts of the template or the
// conversation. Lists and dicts are immutable, so they cannot contain themselves or anything endless. Only namespaces
// change, and no function descends into them.
using TemplateValue = std::variant<Undefined, None, bool, int64_t, double, std::string_view, const TemplateList*,
                                   const TemplateDict*, TemplateNamespace*, TemplateLoop*, const TemplateFunction*>;

struct TemplateList {
  std::vector<TemplateValue> items;
  bool is_tuple = false;
  bool is_group = false;  // of groupby(): its two items are `grouper` and `list`
  int depth = 1;          // nesting depth of lists
};

struct TemplateDict {
  std::vector<std::pair<TemplateValue, TemplateValue>> items;  // in the order of writing
  int depth = 1;
};

struct TemplateNamespace {
  std::vector<std::pair<std::string_view, TemplateValue>> items;
};

// The `loop` variable inside a loop.
struct TemplateLoop {
  const std::vector<TemplateValue>* items = nullptr;
  size_t index = 0;
  std::vector<TemplateValue> last_seen = {};  // by loop.changed()
};

// Owns everything that a rendering makes until it ends, so references need not be counted.
class TemplateMemory {
 public:
  explicit TemplateMemory(TemplateBudget& budget) : budget_(budget) {}

  TemplateBudget& budget() { return budget_; }

  // Text of the conversation; keep_own(): of the template. A TemplateText keeps the origins of its parts.
  std::string_view keep(std::string&& text);
  std::string_view keep_own(std::string&& text);
  std::string_view keep(TemplateText&& text);
  // `text` is the template's, and stays in place.
  void own(std::string_view text) { origins_.add(text); }
  bool is_own(std::string_view text) const { return origins_.is_own(text); }
  // Jinja marks what `safe` and `escape` return. A text that + adds to it is escaped, and the sum is marked.
  std::string_view as_safe(std::string_view text);
  bool is_safe(std::string_view text) const;
  std::string_view escaped(std::string_view text);
  TemplateText new_text() { return {origins_, budget_}; }
  TemplateValue list(std::vector<TemplateValue>&& items, bool is_tuple = false);
  TemplateValue group(const TemplateValue& grouper, const TemplateValue& list);
  TemplateValue dict(std::vector<std::pair<TemplateValue, TemplateValue>>&& items);

  // Any other object, with the same lifetime.
  template <class T>
    requires(!std::is_reference_v<T>)
  T* make(T&& object) {
    budget_.take(sizeof(T) + kOverhead);
    auto box = std::make_unique<Box<T>>(std::forward<T>(object));
    T* made = &box->object;
    others_.push_back(std::move(box));
    return made;
  }

 private:
  static constexpr size_t kOverhead = 64;
  struct Any {
    virtual ~Any() = default;
  };
  template <class T>
  struct Box final : Any {
    explicit Box(T&& from) : object(std::move(from)) {}
    T object;
  };

  TemplateBudget& budget_;
  TextOrigins origins_;
  std::deque<std::string> texts_;
  std::map<const char*, size_t, std::less<>> safe_;  // begin → size
  std::deque<TemplateList> lists_;
  std::deque<TemplateDict> dicts_;
  std::vector<std::unique_ptr<Any>> others_;
};

// Python's bool(x).
bool is_true(const TemplateValue& value);
// "int", "str" …; for messages.
std::string_view type_name(const TemplateValue& value);
// True for numbers and booleans.
bool is_number(const TemplateValue& value);
double to_double(const TemplateValue& value);

// a == b.
bool equal(const TemplateValue& a, const TemplateValue& b, TemplateBudget& budget);
// a < b for numbers, texts or lists; raises an error for anything else.
bool less(const TemplateValue& a, const TemplateValue& b, TemplateBudget& budget);

// The value of the key; null: there is none.
const TemplateValue* find(const TemplateDict& dict, const TemplateValue& key, TemplateBudget& budget);
const TemplateValue* find(const TemplateNamespace& of, std::string_view name, TemplateBudget& budget);

// The values that a loop visits: items, keys or characters; raises an error for other values.
std::vector<TemplateValue> items_of(const TemplateValue& value, TemplateBudget& budget);

// Appends str(x) as Python and Jinja print it; texts unchanged. What is no text counts as the conversation's.
void append_text(const TemplateValue& value, TemplateText& out);
std::string to_text(const TemplateValue& value, TemplateBudget& budget);
// How json.dumps() writes.
struct JsonStyle {
  int indent = -1;  // < 0: on one line
  std::string_view item_separator = ", ", key_separator = ": ";
  bool is_ascii = false;  // other characters are escaped
  bool sorts_keys = false;
};
// Appends json.dumps(x).
void append_json(const TemplateValue& value, const JsonStyle& style, std::string& out, TemplateBudget& budget);

}  // namespace tern
