// The values of a chat template, as Python has them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/template_budget.h"

namespace tern {

struct TemplateList;
struct TemplateDict;
struct TemplateNamespace;
struct TemplateLoop;
struct TemplateFunction;

struct Undefined {
  std::string_view name;  // for messages: what was looked for
};
struct None {};

// Cheap to copy: what is larger lives in a TemplateMemory, and texts may also be parts of the template or of the
// conversation. Lists and dicts do not change once they are made, so they contain neither themselves nor anything
// endless; only namespaces change, and nothing looks into those on its own.
using TemplateValue = std::variant<Undefined, None, bool, int64_t, double, std::string_view, const TemplateList*,
                                   const TemplateDict*, TemplateNamespace*, TemplateLoop*, const TemplateFunction*>;

struct TemplateList {
  std::vector<TemplateValue> items;
  bool is_tuple = false;
  int depth = 1;  // of lists in lists
};

struct TemplateDict {
  std::vector<std::pair<TemplateValue, TemplateValue>> items;  // in the order in which they were written
  int depth = 1;
};

struct TemplateNamespace {
  std::vector<std::pair<std::string_view, TemplateValue>> items;
};

// `loop`, inside one.
struct TemplateLoop {
  const std::vector<TemplateValue>* items = nullptr;
  size_t index = 0;
  int depth = 1;
  std::vector<TemplateValue> last_seen = {};  // by loop.changed()
};

// Everything that one rendering makes, until it ends: what refers to what needs no counting.
class TemplateMemory {
 public:
  explicit TemplateMemory(TemplateBudget& budget) : budget_(budget) {}

  TemplateBudget& budget() { return budget_; }

  std::string_view keep(std::string&& text);
  TemplateValue list(std::vector<TemplateValue>&& items, bool is_tuple = false);
  TemplateValue dict(std::vector<std::pair<TemplateValue, TemplateValue>>&& items);

  // Any other object that lives as long.
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
  std::deque<std::string> texts_;
  std::deque<TemplateList> lists_;
  std::deque<TemplateDict> dicts_;
  std::vector<std::unique_ptr<Any>> others_;
};

// Python's bool(x).
bool is_true(const TemplateValue& value);
// "int", "str" …; for messages.
std::string_view type_name(const TemplateValue& value);
// Numbers and booleans.
bool is_number(const TemplateValue& value);
double to_double(const TemplateValue& value);

// a == b.
bool equal(const TemplateValue& a, const TemplateValue& b, TemplateBudget& budget);
// a < b of numbers, texts or lists; objects to anything else.
bool less(const TemplateValue& a, const TemplateValue& b, TemplateBudget& budget);

// What is found under the key; null: nothing.
const TemplateValue* find(const TemplateDict& dict, const TemplateValue& key, TemplateBudget& budget);
const TemplateValue* find(const TemplateNamespace& of, std::string_view name, TemplateBudget& budget);

// What a loop over the value goes through: items, keys, characters; objects to values that have none.
std::vector<TemplateValue> items_of(const TemplateValue& value, TemplateBudget& budget);

// Appends str(x) as Python and Jinja print it; a text as it is.
void append_text(const TemplateValue& value, std::string& out, TemplateBudget& budget);
std::string to_text(const TemplateValue& value, TemplateBudget& budget);
// Appends json.dumps(x, ensure_ascii=False); `indent` < 0: on one line.
void append_json(const TemplateValue& value, int indent, std::string& out, TemplateBudget& budget);

}  // namespace tern
