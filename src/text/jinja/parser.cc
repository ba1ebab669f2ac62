#include "text/jinja/parser.h"

#include "text/jinja/expr_parser.h"

namespace tern {
namespace {

constexpr int kMostBlocks = 64;  // nested in each other

using Token = TemplateTokenKind;
using Statement = TemplateStatement;
using StatementKind = TemplateStatementKind;

class TemplateParser {
 public:
  TemplateParser(std::vector<TemplateToken> tokens, TemplateMemory& memory)
      : cursor_(std::move(tokens)), exprs_(cursor_, memory), memory_(memory) {}

  TemplateBody parse() {
    TemplateBody all = body();
    if (!cursor_.is(Token::kEnd)) refuse_tag();
    return all;
  }

 private:
  // Parses up to the end, or to a tag that ends or divides a block.
  TemplateBody body() {
    TemplateBody out;
    while (!cursor_.is(Token::kEnd) && !is_divider()) {
      memory_.budget().take(2 * sizeof(Statement));
      out.push_back(statement());
    }
    return out;
  }

  bool is_divider() const {
    if (!cursor_.is(Token::kBlockBegin) || cursor_.peek(1).kind != Token::kName) return false;
    const std::string_view word = cursor_.peek(1).text;
    return word.starts_with("end") || word == "else" || word == "elif";
  }

  [[noreturn]] void refuse_tag() {
    cursor_.next();
    cursor_.refuse_here();
  }

  Statement statement() {
    if (cursor_.is(Token::kText)) return {.kind = StatementKind::kText, .text = cursor_.next().text};
    if (cursor_.is(Token::kOutputBegin)) {
      cursor_.next();
      Statement made{.kind = StatementKind::kOutput, .expr = exprs_.expressions()};
      cursor_.expect(Token::kOutputEnd, "}}");
      return made;
    }
    const NestingGuard guard(depth_, kMostBlocks, "blocks nested more than 64 deep");
    cursor_.expect(Token::kBlockBegin, "{%");
    if (cursor_.skip_name("if")) return condition();
    if (cursor_.skip_name("for")) return loop();
    if (cursor_.skip_name("set")) return assignment();
    if (cursor_.skip_name("macro")) return macro();
    if (cursor_.skip_name("call")) return call_block();
    if (cursor_.skip_name("filter")) return filter_block();
    if (cursor_.skip_name("with")) return with_block();
    if (cursor_.skip_name("generation")) return {.kind = StatementKind::kScope, .branches = {rest("endgeneration")}};
    if (cursor_.is_name("break") || cursor_.is_name("continue")) return jump();
    cursor_.refuse_here();
  }

  void end_tag() { cursor_.expect(Token::kBlockEnd, "%}"); }

  // The word of the tag that ends or divides a block.
  std::string_view divider() {
    cursor_.expect(Token::kBlockBegin, "{% end … %}");
    return cursor_.expect_name();
  }

  // Parses the end of the opening tag, the body of the block, and its closing tag.
  TemplateBranch rest(std::string_view last) {
    end_tag();
    TemplateBranch branch{.body = body()};
    if (!is_divider()) cursor_.refuse_here(last);
    cursor_.next();
    if (!cursor_.skip_name(last)) cursor_.refuse_here(last);
    if (last == "endmacro" && cursor_.is(Token::kName)) cursor_.next();  // the name may be repeated
    end_tag();
    return branch;
  }

  Statement condition() {
    Statement made{.kind = StatementKind::kIf};
    std::string_view word = "if";
    while (word != "endif") {
      const TemplateExpr* holds = word == "else" ? nullptr : exprs_.expressions();
      end_tag();
      made.branches.push_back({holds, body()});
      const bool was_last = word == "else";
      word = divider_of("endif", was_last);
    }
    end_tag();
    return made;
  }

  // "elif", "else" or `last`; after an else only `last`.
  std::string_view divider_of(std::string_view last, bool only_last) {
    if (!is_divider()) cursor_.refuse_here(last);
    cursor_.next();
    const bool is_other = cursor_.is_name("else") || (last == "endif" && cursor_.is_name("elif"));
    if (!cursor_.is_name(last) && (only_last || !is_other)) cursor_.refuse_here(last);
    return cursor_.next().text;
  }

  Statement loop() {
    Statement made{.kind = StatementKind::kFor, .names = targets()};
    if (!cursor_.skip_name("in")) cursor_.refuse_here("in");
    made.expr = exprs_.expressions(false);
    if (cursor_.skip_name("if")) made.condition = exprs_.expression();
    if (cursor_.is_name("recursive")) refuse_template("line {}: a recursive loop", cursor_.peek().line);
    end_tag();
    ++n_loops_;
    made.branches.push_back({.body = body()});
    --n_loops_;
    const bool has_else = divider_of("endfor", false) == "else";
    end_tag();
    if (!has_else) return made;
    made.branches.push_back({.body = body()});
    divider_of("endfor", true);
    end_tag();
    return made;
  }

  // a, b
  std::vector<std::string_view> targets() {
    const bool has_bracket = cursor_.skip_operator("(");
    std::vector<std::string_view> names = {cursor_.expect_name()};
    while (cursor_.skip_operator(",")) {
      if (cursor_.is(Token::kName) && !cursor_.is_name("in")) names.push_back(cursor_.next().text);
    }
    if (has_bracket) cursor_.expect_operator(")");
    return names;
  }

  Statement assignment() {
    Statement made{.kind = StatementKind::kSet, .names = targets()};
    if (made.names.size() == 1 && cursor_.skip_operator(".")) made.text = cursor_.expect_name();
    if (cursor_.skip_operator("=")) {
      made.expr = exprs_.expressions();
      end_tag();
      return made;
    }
    made.kind = StatementKind::kSetBlock;
    if (cursor_.skip_operator("|")) made.expr = exprs_.filters();
    made.branches.push_back(rest("endset"));
    return made;
  }

  std::vector<TemplateParameter> parameters() {
    std::vector<TemplateParameter> found;
    cursor_.expect_operator("(");
    while (!cursor_.is_operator(")")) {
      TemplateParameter parameter{.name = cursor_.expect_name()};
      if (cursor_.skip_operator("=")) parameter.value = exprs_.expression();
      memory_.budget().take(2 * sizeof parameter);
      found.push_back(parameter);
      if (!cursor_.skip_operator(",")) break;
    }
    cursor_.expect_operator(")");
    return found;
  }

  Statement macro() {
    Statement made{.kind = StatementKind::kMacro, .text = cursor_.expect_name()};
    made.parameters = parameters();
    const int n_loops_around = std::exchange(n_loops_, 0);  // break in a macro does not end a loop around the macro
    made.branches.push_back(rest("endmacro"));
    n_loops_ = n_loops_around;
    return made;
  }

  Statement call_block() {
    Statement made{.kind = StatementKind::kCallBlock};
    if (cursor_.is_operator("(")) made.parameters = parameters();
    const int line = cursor_.peek().line;
    made.expr = exprs_.postfix_expression();
    if (made.expr->kind != TemplateExprKind::kCall) refuse_template("line {}: a call block without a call", line);
    const int n_loops_around = std::exchange(n_loops_, 0);
    made.branches.push_back(rest("endcall"));
    n_loops_ = n_loops_around;
    return made;
  }

  Statement filter_block() {
    Statement made{.kind = StatementKind::kFilter, .expr = exprs_.filters()};
    made.branches.push_back(rest("endfilter"));
    return made;
  }

  Statement with_block() {
    Statement made{.kind = StatementKind::kScope};
    while (cursor_.is(Token::kName)) {
      TemplateParameter parameter{.name = cursor_.next().text};
      cursor_.expect_operator("=");
      parameter.value = exprs_.expression();
      made.parameters.push_back(parameter);
      if (!cursor_.skip_operator(",")) break;
    }
    made.branches.push_back(rest("endwith"));
    return made;
  }

  Statement jump() {
    if (n_loops_ == 0) cursor_.refuse_here();
    const bool is_break = cursor_.next().text == "break";
    end_tag();
    return {.kind = is_break ? StatementKind::kBreak : StatementKind::kContinue};
  }

  TemplateCursor cursor_;
  TemplateExprParser exprs_;
  TemplateMemory& memory_;
  int depth_ = 0;
  int n_loops_ = 0;  // loops around the current tag
};

}  // namespace

TemplateBody parse_template(std::string_view source, TemplateMemory& memory) {
  return TemplateParser(read_template_tokens(source, memory), memory).parse();
}

}  // namespace tern
