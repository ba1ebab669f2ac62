// Iterates over the tokens of a chat template.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "text/jinja/lexer.h"
#include "text/unicode/utf8.h"

namespace tern {

class TemplateCursor {
 public:
  explicit TemplateCursor(std::vector<TemplateToken> tokens) : tokens_(std::move(tokens)) {}

  const TemplateToken& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  TemplateToken next() {
    const TemplateToken token = peek();
    if (token.kind != TemplateTokenKind::kEnd) ++at_;
    return token;
  }

  bool is(TemplateTokenKind kind) const { return peek().kind == kind; }
  bool is_operator(std::string_view text) const { return is(TemplateTokenKind::kOperator) && peek().text == text; }
  bool is_name(std::string_view text) const { return is(TemplateTokenKind::kName) && peek().text == text; }

  bool skip_operator(std::string_view text) { return is_operator(text) && (++at_, true); }
  bool skip_name(std::string_view text) { return is_name(text) && (++at_, true); }

  std::string_view expect_name() {
    if (!is(TemplateTokenKind::kName)) refuse_here();
    return next().text;
  }
  void expect_operator(std::string_view text) {
    if (!skip_operator(text)) refuse_here(text);
  }
  void expect(TemplateTokenKind kind, std::string_view text) {
    if (!is(kind)) refuse_here(text);
    next();
  }

  [[noreturn]] void refuse_here(std::string_view expected = {}) const {
    const TemplateToken& token = peek();
    const std::string found = token.kind == TemplateTokenKind::kEnd ? "the end" : "'" + printable(token.text) + "'";
    if (expected.empty()) refuse_template("line {}: unexpected {}", token.line, found);
    refuse_template("line {}: '{}' expected before {}", token.line, expected, found);
  }

 private:
  std::vector<TemplateToken> tokens_;
  size_t at_ = 0;
};

}  // namespace tern
