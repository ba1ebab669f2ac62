// Values as Python prints them and as JSON.
#include <charconv>
#include <cmath>

#include "text/template_value.h"
#include "text/utf8.h"

namespace tern {
namespace {

// repr(x): the shortest digits that read back as x, as a whole number or fraction where it is of ordinary size.
std::string float_text(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  const double size = std::abs(x);
  const bool is_ordinary = size == 0 || (size >= 1e-4 && size < 1e16);
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, x,
                                 is_ordinary ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  std::string out(digits, end);
  if (is_ordinary && !out.contains('.')) out += ".0";
  return out;
}

void append(std::string& out, std::string_view text, TemplateBudget& budget) {
  budget.take(2 * text.size());
  out += text;
}

// repr() of a text.
void append_quoted(std::string_view text, std::string& out, TemplateBudget& budget) {
  const char quote = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  budget.take(8 * text.size());
  out += quote;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == quote || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += format_text("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += quote;
}

void append_json_text(std::string_view text, std::string& out, TemplateBudget& budget) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
  constexpr std::string_view kNames = "\"\\bfnrt";
  budget.take(8 * text.size());
  out += '"';
  for (const char c : text) {
    if (const size_t which = kEscaped.find(c); which != kEscaped.npos) {
      out += {'\\', kNames[which]};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += format_text("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

// The parts that both ways of writing share: what stands between brackets.
class Printer {
 public:
  Printer(std::string& out, TemplateBudget& budget) : out_(out), budget_(budget) {}

  void print(const TemplateValue& value) {
    budget_.take(32);
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      append_quoted(*text, out_, budget_);
    } else if (const auto* list = std::get_if<const TemplateList*>(&value)) {
      print_list(**list);
    } else if (const auto* dict = std::get_if<const TemplateDict*>(&value)) {
      out_ += '{';
      const char* separator = "";
      for (const auto& [key, item] : (*dict)->items) {
        out_ += separator;
        print(key);
        out_ += ": ";
        print(item);
        separator = ", ";
      }
      out_ += '}';
    } else {
      append_text(value, out_, budget_);
    }
  }

 private:
  void print_list(const TemplateList& list) {
    out_ += list.is_tuple ? '(' : '[';
    const char* separator = "";
    for (const TemplateValue& item : list.items) {
      out_ += separator;
      print(item);
      separator = ", ";
    }
    if (list.is_tuple && list.items.size() == 1) out_ += ',';
    out_ += list.is_tuple ? ')' : ']';
  }

  std::string& out_;
  TemplateBudget& budget_;
};

class JsonPrinter {
 public:
  JsonPrinter(int indent, std::string& out, TemplateBudget& budget) : indent_(indent), out_(out), budget_(budget) {}

  void print(const TemplateValue& value, size_t depth) {
    budget_.take(32);
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      append_json_text(*text, out_, budget_);
    } else if (const auto* list = std::get_if<const TemplateList*>(&value)) {
      print_items('[', (*list)->items, ']', depth, [&](const TemplateValue& item) { print(item, depth + 1); });
    } else if (const auto* dict = std::get_if<const TemplateDict*>(&value)) {
      print_items('{', (*dict)->items, '}', depth, [&](const auto& item) {
        append_json_text(to_text(item.first, budget_), out_, budget_);
        out_ += ": ";
        print(item.second, depth + 1);
      });
    } else if (std::holds_alternative<None>(value)) {
      out_ += "null";
    } else if (const auto* b = std::get_if<bool>(&value)) {
      out_ += *b ? "true" : "false";
    } else if (is_number(value)) {
      append_text(value, out_, budget_);
    } else {
      object("a {} has no form in JSON", type_name(value));
    }
  }

 private:
  void new_line(size_t depth) {
    if (indent_ < 0) return;
    const size_t width = static_cast<size_t>(indent_) * depth;
    budget_.take(2 * width);
    out_ += '\n';
    out_.append(width, ' ');
  }

  template <class Items, class PrintItem>
  void print_items(char open, const Items& items, char close, size_t depth, const PrintItem& print_item) {
    out_ += open;
    bool is_first = true;
    for (const auto& item : items) {
      if (!is_first) out_ += indent_ < 0 ? ", " : ",";
      is_first = false;
      new_line(depth + 1);
      print_item(item);
    }
    if (!items.empty()) new_line(depth);
    out_ += close;
  }

  int indent_;
  std::string& out_;
  TemplateBudget& budget_;
};

}  // namespace

void append_text(const TemplateValue& value, std::string& out, TemplateBudget& budget) {
  budget.step();
  if (std::holds_alternative<Undefined>(value)) return;
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    append(out, *text, budget);
  } else if (const auto* b = std::get_if<bool>(&value)) {
    append(out, *b ? "True" : "False", budget);
  } else if (const auto* i = std::get_if<int64_t>(&value)) {
    append(out, std::to_string(*i), budget);
  } else if (const auto* d = std::get_if<double>(&value)) {
    append(out, float_text(*d), budget);
  } else if (std::holds_alternative<None>(value)) {
    append(out, "None", budget);
  } else if (std::holds_alternative<const TemplateList*>(value) || std::holds_alternative<const TemplateDict*>(value)) {
    Printer(out, budget).print(value);
  } else {
    append(out, format_text("<{}>", type_name(value)), budget);
  }
}

std::string to_text(const TemplateValue& value, TemplateBudget& budget) {
  std::string out;
  append_text(value, out, budget);
  return out;
}

void append_json(const TemplateValue& value, int indent, std::string& out, TemplateBudget& budget) {
  JsonPrinter(indent, out, budget).print(value, 0);
}

}  // namespace tern
