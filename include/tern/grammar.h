// What a reply may say: a grammar, by which every token is chosen.
//
//   auto grammar = tern::Grammar::json_schema(R"({"type": "object", "properties": {"name": {"type": "string"}}})");
//   if (!grammar) …  // the schema says something that Tern cannot hold a model to; the error names it and its place
//   auto reply = session.generate(prompt, {.grammar = *grammar});
//
// Tokens that the grammar does not allow have no probability; the model's stop tokens are allowed where the text may
// end, and where nothing but the end is possible the reply ends by itself (FinishReason::kStopToken). A reply that is
// cut short, by max_tokens or a stop text, is the beginning of a text of the grammar.
#pragma once

#include <memory>
#include <string_view>

#include "tern/error.h"

namespace tern {

// Immutable: one grammar may serve any number of replies at once, of any model, on any threads. What has been found out
// about a grammar and a vocabulary is kept as long as both live, so make a grammar once and use it often.
//
// All functions refuse what they cannot hold a reply to, with kInvalidArgument for mistakes and kNotSupported for what
// Tern does not do, each with the place: a JSON pointer, or a line and a column.
class Grammar {
 public:
  // JSON documents that are valid by a JSON Schema (draft 2020-12). docs/grammar.md lists the keywords; any other is
  // refused. Every document is valid, but not every valid one is possible: properties come in the schema's order, those
  // that the schema does not name only where additionalProperties asks for them.
  static Result<std::shared_ptr<const Grammar>> json_schema(std::string_view schema_json);

  // What follows the mark with which a call of a tool begins: JSON that is valid by the schema, and the text `end`.
  // White space may come before each.
  static Result<std::shared_ptr<const Grammar>> tool_call(std::string_view schema_json, std::string_view end);

  // Any JSON object.
  static Result<std::shared_ptr<const Grammar>> json_object();

  // A grammar in llama.cpp's notation, GBNF: what `root` stands for. Left recursion is refused.
  static Result<std::shared_ptr<const Grammar>> gbnf(std::string_view text);

  // Texts that match all of a regular expression, in the syntax of JavaScript's without look-around, back references
  // and \b.
  static Result<std::shared_ptr<const Grammar>> regex(std::string_view pattern);

  // Whether the whole text is one of the grammar's. Where that would take too long, it is not.
  bool matches(std::string_view text) const;

  ~Grammar();
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;

  struct Impl;
  explicit Grammar(std::unique_ptr<const Impl> impl);
  const Impl& impl() const { return *impl_; }  // for src/grammar

 private:
  std::unique_ptr<const Impl> impl_;
};

}  // namespace tern
