#include "text/template_guard.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "base/format_text.h"

namespace tern {
namespace {

constexpr size_t kMaxBytes = 64 << 10;
constexpr size_t kMaxJoins = 200;   // of texts, in one block
constexpr size_t kMaxReplaces = 4;  // in one block, each of which
constexpr size_t kMaxGrowth = 4;    // may make so many characters out of one
constexpr size_t kMaxBlanks = 1024;
constexpr size_t kMaxCode = 4000;  // characters of one block, string literals not counted
constexpr size_t kMaxDepth = 64;

template <class... Args>
std::unexpected<Error> refuse(std::format_string<Args...> format, Args&&... args) {
  return fail(ErrorCode::kNotSupported, "chat template: {}", format_text(format, std::forward<Args>(args)...));
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool has_long_blank_run(std::string_view source) {
  size_t run = 0;
  for (const char c : source) {
    run = is_blank(c) ? run + 1 : 0;
    if (run > kMaxBlanks) return true;
  }
  return false;
}

std::string empty_comments(std::string_view source) {
  std::string out;
  while (true) {
    const size_t open = source.find("{#");
    const size_t close = open == source.npos ? source.npos : source.find("#}", open + 2);
    if (close == source.npos) return out.append(source);
    const std::string_view content = source.substr(open + 2, close - open - 2);
    out.append(source.substr(0, open + 2));
    if (content.starts_with('-')) out += '-';  // strips the blanks before the comment
    if (content.size() > 1 && content.ends_with('-')) out += '-';
    out += "#}";
    source.remove_prefix(close + 2);
  }
}

// Reads the code of one {{ … }} or {% … %}.
class BlockScanner {
 public:
  BlockScanner(std::string_view source, size_t begin, char end) : source_(source), at_(begin), end_(end) {}

  // The position behind the block. A block that does not end is left for the parser to report.
  Result<size_t> scan() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\'' || c == '"') {
        skip_string(c);
        continue;
      }
      if (brackets_.empty() && c == end_ && peek(1) == '}') return at_ + 2;
      if (++n_code_ > kMaxCode) return refuse("more than {} characters of code in one block", kMaxCode);
      if (!is_blank(c)) code_ += c;
      if (c == '*') return refuse("a multiplication");
      if ((c == '+' || c == '~') && ++n_joins_ > kMaxJoins)
        return refuse("more than {} additions in one block", kMaxJoins);
      if (c == '(') TRY_STATUS(check_call());
      if (c == '(' || c == '[' || c == '{') TRY_STATUS(open_bracket());
      if (c == ')' || c == ']' || c == '}') TRY_STATUS(close_bracket());
      if (c == ':' && !brackets_.empty()) ++brackets_.back().colons;
      if (c == '/' || c == '%') TRY_STATUS(check_divisor());
      if (is_blank(c) && !code_.empty() && code_.back() != ' ') code_ += ' ';
      ++at_;
    }
    return at_;
  }

  // The block's code: literals left out, blanks single.
  std::string_view code() const { return code_; }

 private:
  struct Bracket {
    size_t code_begin;  // in code_, behind the bracket
    size_t colons = 0;
  };

  char peek(size_t ahead) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void skip_string(char quote) {
    for (++at_; at_ < source_.size() && source_[at_] != quote; ++at_) {
      if (source_[at_] == '\\') ++at_;
    }
    ++at_;
    code_ += '"';
  }

  Result<void> open_bracket() {
    if (brackets_.size() == kMaxDepth) return refuse("brackets nested more than {} deep", kMaxDepth);
    brackets_.push_back({code_.size()});
    return {};
  }

  Result<void> close_bracket() {
    if (brackets_.empty()) return {};  // the parser will object
    const Bracket bracket = brackets_.back();
    brackets_.pop_back();
    if (source_[at_] != ']' || bracket.colons < 2) return {};
    std::string slice = code_.substr(bracket.code_begin, code_.size() - bracket.code_begin - 1);
    std::erase(slice, ' ');
    if (slice != "::-1") return refuse("a slice with a step other than [::-1]");
    return {};
  }

  // Of a method whose name stands before the bracket at the current position.
  Result<void> check_call() {
    std::string_view name(code_);
    name.remove_suffix(1);  // the bracket
    if (name.ends_with(' ')) name.remove_suffix(1);
    for (const std::string_view method : {"append", "insert", "pop", "update", "extend", "clear", "setdefault"}) {
      if (is_method(name, method)) return refuse("a call of {}(), which changes what it is given", method);
    }
    if (is_method(name, "split") || is_method(name, "rsplit")) {
      size_t at = at_ + 1;
      if (literal_length(at) == 0) return refuse("split() by something other than a text in quotes");
    }
    if (is_method(name, "replace")) {
      size_t at = at_ + 1;
      const size_t from = literal_length(at);
      while (is_blank(peek(at - at_)) || peek(at - at_) == ',') ++at;
      const bool has_literal = peek(at - at_) == '\'' || peek(at - at_) == '"';
      const size_t to = literal_length(at);
      if (from == 0 || !has_literal || to > kMaxGrowth * from || ++n_replaced_ > kMaxReplaces) {
        return refuse("replace() by something other than a short text in quotes, or too many of them");
      }
    }
    return {};
  }

  static bool is_method(std::string_view code, std::string_view name) {
    if (!code.ends_with(name)) return false;
    code.remove_suffix(name.size());
    if (code.ends_with(' ')) code.remove_suffix(1);
    return code.ends_with('.') || code.ends_with('|');
  }

  // The length of the text in quotes at `at` or behind blanks there, and `at` moved behind it; 0 if there is none.
  size_t literal_length(size_t& at) const {
    while (at < source_.size() && is_blank(source_[at])) ++at;
    if (at >= source_.size() || (source_[at] != '\'' && source_[at] != '"')) return 0;
    const char quote = source_[at++];
    size_t length = 0;
    for (; at < source_.size() && source_[at] != quote; ++at, ++length) {
      if (source_[at] == '\\') ++at;
    }
    ++at;
    return length;
  }

  Result<void> check_divisor() {
    size_t ahead = 1;
    if (source_[at_] == '/' && peek(1) == '/') ++ahead;
    while (is_blank(peek(ahead))) ++ahead;
    const char first = peek(ahead);
    if (first < '1' || first > '9') return refuse("a division by something other than a positive number");
    at_ += ahead - 1;
    return {};
  }

  std::string_view source_;
  size_t at_;
  char end_;  // of "}}" or "%}", the first
  size_t n_code_ = 0;
  size_t n_joins_ = 0;
  size_t n_replaced_ = 0;
  std::string code_;
  std::vector<Bracket> brackets_;
};

bool has_word(std::string_view code, std::string_view word) {
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = code.find(word); at != code.npos; at = code.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_name(code[at - 1])) && (end == code.size() || !is_name(code[end]))) return true;
  }
  return false;
}

// Follows the statements of a template into blocks and out of them.
class Nesting {
 public:
  Result<void> see(std::string_view code) {
    code.remove_prefix(std::min(code.find_first_not_of("-+~ "), code.size()));
    if (code.starts_with("end")) {
      if (!open_.empty()) open_.pop_back();
      return {};
    }
    for (const std::string_view opener : {"if", "for", "macro", "filter", "call", "generation", "set"}) {
      if (!code.starts_with(opener) || (opener == "set" && code.contains('='))) continue;
      const bool holds_scope = opener == "macro" || opener == "call";
      const auto makes_scope = [](std::string_view block) { return block == "for" || block == "macro"; };
      if (holds_scope && std::ranges::any_of(open_, makes_scope)) {
        return refuse("a {} block inside a loop or a macro", opener);
      }
      if (open_.size() == kMaxDepth) return refuse("blocks nested more than {} deep", kMaxDepth);
      open_.push_back(opener);
      break;
    }
    if (has_word(code, "recursive")) return refuse("a recursive loop");
    return {};
  }

 private:
  std::vector<std::string_view> open_;
};

Result<void> check_blocks(std::string_view source) {
  Nesting nesting;
  for (size_t at = 0; (at = source.find('{', at)) != source.npos;) {
    const char kind = at + 1 < source.size() ? source[at + 1] : '\0';
    if (kind != '{' && kind != '%') {
      at += kind == '#' ? 2 : 1;
      continue;
    }
    BlockScanner block(source, at + 2, kind == '{' ? '}' : '%');
    TRY(at, block.scan());
    if (kind == '%') TRY_STATUS(nesting.see(block.code()));
  }
  return {};
}

}  // namespace

Result<std::string> guard_template(std::string source) {
  if (source.size() > kMaxBytes) return refuse("{} bytes; at most {} are accepted", source.size(), kMaxBytes);
  source = empty_comments(source);
  if (has_long_blank_run(source)) return refuse("a run of more than {} blanks", kMaxBlanks);
  TRY_STATUS(check_blocks(source));
  return source;
}

}  // namespace tern
