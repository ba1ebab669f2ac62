// Calls between marks: the texts around what differs between calls with other names, ids and arguments.
#include <algorithm>

#include "text/chat/forms/call_probe.h"
#include "text/chat/forms/json_scanner.h"

namespace tern {
namespace {

using Kind = CallPiece::Kind;
using Values = MarkedCalls::Values;

// A notation of values is known by what the template writes around a string. The first that fits counts.
struct Notation {
  Values values;
  std::string_view before, after;
};
constexpr Notation kNotations[] = {
    {Values::kGemma, "<|\"|>", "<|\"|>"},
    {Values::kPython, "'", "'"},
    {Values::kPython, "\"", "\""},
    {Values::kText, "", ""},
};

constexpr std::string_view kOneArgument = R"({"tern_key": "tern_value"})";
constexpr std::string_view kTwoArguments = R"({"tern_key": "tern_value", "tern_more": "tern_rest"})";
constexpr std::string_view kTurnedArguments = R"({"tern_more": "tern_rest", "tern_key": "tern_value"})";
constexpr std::string_view kNumberArgumentText = R"({"tern_key": 271828})";
constexpr std::string_view kNestedArgument = R"({"tern_key": {"tern_more": ["tern_value", "tern_rest"]}})";
constexpr std::string_view kMarkup = "<tern_value>&\ntern_rest";
constexpr std::string_view kMarkupArgument = R"({"tern_key": "<tern_value>&\ntern_rest"})";

// Where a call's parts are in a rendered text.
struct Parts {
  size_t name = 0;
  size_t arguments = 0, arguments_end = 0;
};

class Learner {
 public:
  explicit Learner(const CallProbe& probe) : probe_(probe), one_(probe.calls({CallProbe::call(kOneArgument)})) {}

  std::optional<ToolCallFormat> learn() {
    if (!find_arguments()) return std::nullopt;
    const auto first = parts_of(one_, kProbeCall, kProbeValue, 0);
    if (!first) return std::nullopt;
    return with_calls(*first);
  }

 private:
  // Finds the notation of the arguments, and the marks of pairs. `open_` is the text between the name and the first.
  bool find_arguments() {
    const size_t name = one_.find(kProbeCall);
    if (name == one_.npos) return false;
    const std::string_view rest = std::string_view(one_).substr(name + kProbeCall.size());
    const size_t value = rest.find(kProbeValue);
    const size_t brace = rest.rfind('{', value);
    if (value == rest.npos) return false;
    const size_t end = brace == rest.npos ? brace : json_end(rest, brace);
    if (brace != rest.npos && end > brace &&
        compact_json(rest.substr(brace, end - brace)) == compact_json(kOneArgument)) {
      open_ = rest.substr(0, brace);
      return true;
    }
    return find_pairs(rest, value);
  }

  bool find_pairs(std::string_view rest, size_t value) {
    const size_t key = rest.find(kProbeKey);
    if (key == rest.npos || key > value) return false;
    const size_t key_end = key + kProbeKey.size();
    std::string_view before = rest.substr(key_end, value - key_end);
    std::string_view after = rest.substr(value + kProbeValue.size());
    for (const Notation& notation : kNotations) {
      if (!before.ends_with(notation.before) || !after.starts_with(notation.after)) continue;
      form_.values = notation.values;
      before.remove_suffix(notation.before.size());
      after.remove_prefix(notation.after.size());
      quote_ = notation.after;
      break;
    }
    form_.key_end = before;
    // From the text between two pairs follows what ends the first and begins the second.
    const std::string two = probe_.calls({CallProbe::call(kTwoArguments)});
    const size_t first_end = two.find(kProbeValue);
    const size_t other_key = two.find(kProbeOtherKey);
    if (first_end == two.npos || other_key == two.npos || other_key < first_end) return false;
    const size_t from = first_end + kProbeValue.size() + quote_.size();
    const std::string_view between = std::string_view(two).substr(from, other_key - from);
    std::string_view begin = common_end(rest.substr(0, key), between);
    begin.remove_prefix(std::min(begin.find_first_not_of(" \n"), begin.size()));
    form_.key_begin = begin;
    const std::string_view end = between.substr(0, between.size() - begin.size());
    form_.value_end = common_start(end, after);
    form_.pair_between = end.substr(form_.value_end.size());
    open_ = rest.substr(0, key - begin.size());
    const std::string turned = probe_.calls({CallProbe::call(kTurnedArguments)});
    form_.is_sorted = turned == two;
    if (!find_other_key_end()) return false;
    if (const size_t name = form_.value_end.find(kProbeKey); name != std::string::npos) {
      form_.value_end_name = form_.value_end.substr(name + kProbeKey.size());
      form_.value_end.resize(name);
      if (form_.value_end_name.empty() || !find_elements()) return false;
    }
    if (form_.values == Values::kText) find_text_marks();
    return !form_.key_end.empty() && (form_.values != Values::kText || !without_json_space(form_.value_end).empty());
  }

  // What stands before a value that is no string.
  bool find_other_key_end() {
    const std::string text = probe_.calls({CallProbe::call(kNumberArgumentText)});
    const size_t key = text.find(kProbeKey);
    const size_t number = text.find(kProbeNumber);
    if (key == text.npos || number == text.npos || number < key) return false;
    form_.key_end_other = text.substr(key + kProbeKey.size(), number - key - kProbeKey.size());
    constexpr std::string_view kString = "string", kNumber = "number";
    if (const size_t type = form_.key_end.find(kString); type != std::string::npos) {
      std::string typed = form_.key_end;
      if (typed.replace(type, kString.size(), kNumber) == form_.key_end_other) {
        form_.type_end = form_.key_end.substr(type + kString.size());
        form_.key_end.resize(type);
        form_.key_end_other.clear();
        return !form_.type_end.empty() && type > 0;
      }
    }
    return form_.key_end_other != form_.key_end || number == key + kProbeKey.size() + form_.key_end.size();
  }

  std::string pair_of(std::string_view key, std::string_view value) const {
    return form_.key_begin + std::string(key) + form_.key_end + std::string(value) + form_.value_end +
           std::string(key) + form_.value_end_name;
  }

  // True if lists and objects are pairs again.
  bool find_elements() {
    const std::string text = probe_.calls({CallProbe::call(kNestedArgument)});
    const std::string object = form_.key_begin + std::string(kProbeOtherKey) + form_.key_end;
    const size_t at = text.find(object);
    if (at == text.npos) return false;
    const std::string_view list = std::string_view(text).substr(at + object.size());
    const size_t end = list.find(form_.key_end, form_.key_begin.size());
    if (!list.starts_with(form_.key_begin) || end == list.npos) return false;
    form_.values = Values::kElements;
    form_.item = list.substr(form_.key_begin.size(), end - form_.key_begin.size());
    const std::string items = pair_of(form_.item, kProbeValue) + pair_of(form_.item, kProbeOtherValue);
    return !form_.item.empty() && form_.value_end.starts_with(form_.key_begin) && !form_.key_begin.empty() &&
           form_.pair_between.empty() && form_.type_end.empty() && form_.key_end_other == form_.key_end &&
           text.contains(pair_of(kProbeKey, pair_of(kProbeOtherKey, items)));
  }

  // What stands around a string that contains markup, if that is more than around others.
  void find_text_marks() {
    const std::string text = probe_.calls({CallProbe::call(kMarkupArgument)});
    const size_t key = text.find(kProbeKey), value = text.find(kMarkup);
    if (key == text.npos || value == text.npos || value < key) return;
    const std::string_view before =
        std::string_view(text).substr(key + kProbeKey.size(), value - key - kProbeKey.size());
    const std::string_view after = std::string_view(text).substr(value + kMarkup.size());
    const size_t end = after.find(form_.value_end);
    if (!before.starts_with(form_.key_end) || before.size() == form_.key_end.size() || end == 0 || end == after.npos)
      return;
    form_.text_begin = before.substr(form_.key_end.size());
    form_.text_end = after.substr(0, end);
  }

  // The parts of the call of `name` whose only value is `value`, from `from` on.
  std::optional<Parts> parts_of(std::string_view text, std::string_view name, std::string_view value, size_t from) {
    Parts parts = {.name = text.find(name, from)};
    if (parts.name == text.npos) return std::nullopt;
    const size_t value_at = text.find(value, parts.name);
    if (value_at == text.npos) return std::nullopt;
    if (form_.values == Values::kJson) {
      parts.arguments = text.rfind('{', value_at);
      parts.arguments_end = json_end(text, parts.arguments);
    } else {
      parts.arguments = text.rfind(kProbeKey, value_at) - form_.key_begin.size();
      parts.arguments_end = value_at + value.size() + quote_.size() + form_.value_end.size();
      if (!form_.value_end_name.empty()) parts.arguments_end += kProbeKey.size() + form_.value_end_name.size();
    }
    if (parts.arguments < parts.name + name.size() || parts.arguments_end > text.size()) return std::nullopt;
    return parts;
  }

  std::optional<ToolCallFormat> with_calls(const Parts& first) {
    const std::string_view one = one_;
    ToolCallFormat format;
    std::string_view begin = one.substr(0, first.name);
    begin.remove_prefix(std::min(begin.find_first_not_of(" \n"), begin.size()));
    std::string call_begin(begin), call_end = end_mark(one.substr(first.arguments_end), probe_.turn_end());
    const std::string both = probe_.calls({CallProbe::call(kOneArgument), CallProbe::other_call()});
    const auto a = parts_of(both, kProbeCall, kProbeValue, 0);
    const auto b = a ? parts_of(both, kProbeOtherCall, kProbeOtherValue, a->arguments_end) : std::nullopt;
    std::string index;
    if (b) {
      const std::string_view text = both;
      const std::string between = without_ids(text.substr(a->arguments_end, b->name - a->arguments_end));
      const std::string after = without_ids(text.substr(b->arguments_end));
      const std::string before = without_ids(begin);
      std::string_view own = common_end(between, before);
      own.remove_prefix(std::min(own.find_first_not_of(" \n"), own.size()));
      const std::string_view end =
          common_start(std::string_view(between).substr(0, between.size() - own.size()), after);
      call_begin = own;
      call_end = end;
      form_.between = between.substr(end.size(), between.size() - own.size() - end.size());
      format.begin = before.substr(0, before.size() - own.size());
      if (!format.begin.empty()) format.end = end_mark(std::string_view(after).substr(end.size()), probe_.turn_end());
      if (!format.begin.empty() && format.end.empty()) return std::nullopt;
      index = index_in(open_,
                       text.substr(b->name + kProbeOtherCall.size(), b->arguments - b->name - kProbeOtherCall.size()));
    }
    // The space before a word belongs to it.
    if (!call_begin.empty() && one_.starts_with(' ') && call_begin.find_first_of("<[ ") == std::string::npos) {
      call_begin.insert(0, " ");
      if (form_.between.ends_with(' ')) form_.between.pop_back();
    }
    add_text(b ? call_begin : without_ids(call_begin));
    form_.pieces.push_back({.kind = Kind::kName});
    add_open(index);
    form_.pieces.push_back({.kind = Kind::kArguments});
    add_text(call_end);
    if (form_.values != Values::kJson && form_.pieces.back().kind != Kind::kText) return std::nullopt;
    format.marked = std::move(form_);
    return format;
  }

  // Ids differ from call to call; kIdMark stands for them.
  static std::string without_ids(std::string_view text) {
    std::string out(text);
    for (const std::string_view id : {kProbeId, kProbeOtherId}) {
      for (size_t at = out.find(id); at != out.npos; at = out.find(id, at)) out.replace(at, id.size(), 1, kIdMark);
    }
    return out;
  }

  // The digit of the first call's index, if the second has the next one at its place.
  static std::string index_in(std::string_view first, std::string_view second) {
    for (const char digit : {'0', '1'}) {
      const size_t at = first.find(digit);
      if (at == first.npos || second.size() <= at || second[at] != digit + 1) continue;
      if (first.substr(0, at) == second.substr(0, at)) return {digit};
    }
    return {};
  }

  void add_open(std::string_view index) {
    std::string open = without_ids(open_);
    for (size_t name = open.find(kProbeCall); name != open.npos; name = open.find(kProbeCall)) {
      open.replace(name, kProbeCall.size(), 1, kNameMark);
    }
    const size_t at = index.empty() ? open.npos : open.find(index);
    if (at == open.npos) return add_text(open);
    add_text(open.substr(0, at));
    form_.pieces.push_back({.kind = Kind::kIndex});
    add_text(open.substr(at + index.size()));
  }

  void add_text(std::string_view text) {
    while (!text.empty()) {
      const size_t at = std::min(text.find_first_of(kMarks), text.size());
      if (at > 0) form_.pieces.push_back({.kind = Kind::kText, .text = std::string(text.substr(0, at))});
      if (at < text.size()) form_.pieces.push_back({.kind = text[at] == kIdMark ? Kind::kId : Kind::kName});
      text.remove_prefix(std::min(at + 1, text.size()));
    }
  }

  static constexpr char kIdMark = '\x01', kNameMark = '\x02';
  static constexpr std::string_view kMarks = "\x01\x02";

  const CallProbe& probe_;
  const std::string one_;  // a call with one argument
  MarkedCalls form_;
  std::string open_;        // between the name and the arguments
  std::string_view quote_;  // behind a string
};

}  // namespace

std::optional<ToolCallFormat> learn_marked_calls(const CallProbe& probe) { return Learner(probe).learn(); }

}  // namespace tern
