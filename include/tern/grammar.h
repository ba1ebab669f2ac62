// Grammars: constraints on the text of a reply.
//
//   auto grammar = tern::Grammar::json_schema(R"({"type": "object", "properties": {"name": {"type": "string"}}})");
//   if (!grammar) …  // Tern cannot enforce a part of the schema; the error names the part and its place
//   auto reply = session.generate(prompt, {.grammar = *grammar});
//
// Tokens that the grammar does not allow get no probability. The model's stop tokens are allowed where the text may
// end. If only the end is possible, the reply ends by itself (FinishReason::kStopToken). A reply that max_tokens or a
// stop text cuts short is a prefix of a text that the grammar allows.
#pragma once

#include <memory>
#include <string_view>

#include "tern/error.h"

namespace tern {

// Immutable: one grammar may serve any number of replies at once, of any model, on any threads. Results computed for a
// grammar and a vocabulary are cached while both live, so make a grammar once and use it often.
//
// All functions reject what Tern cannot enforce: kInvalidArgument for mistakes, kNotSupported for features that Tern
// does not have. The message names the place: a JSON pointer, or a line and a column.
class Grammar {
 public:
  // JSON documents that are valid for a JSON Schema (drafts 4 to 2020-12). docs/grammar.md lists the keywords; others
  // are annotations. Every generated document is valid, but not every valid document can be generated: properties come
  // in the schema's order, and unnamed ones last.
  static Result<std::shared_ptr<const Grammar>> json_schema(std::string_view schema_json);

  // The text after the mark that begins a tool call: JSON that is valid for the schema, and the text `end`. White space
  // may precede each.
  static Result<std::shared_ptr<const Grammar>> tool_call(std::string_view schema_json, std::string_view end);

  // What either grammar allows.
  static Result<std::shared_ptr<const Grammar>> either(const Grammar& a, const Grammar& b);

  // Any JSON object.
  static Result<std::shared_ptr<const Grammar>> json_object();

  // A grammar in llama.cpp's notation, GBNF; `root` is the start symbol. Left recursion is rejected.
  static Result<std::shared_ptr<const Grammar>> gbnf(std::string_view text);

  // The same in xgrammar's notation, EBNF. Look-ahead, macros and options of rules are rejected.
  static Result<std::shared_ptr<const Grammar>> ebnf(std::string_view text);

  // A structural tag as xgrammar has it, as JSON: free text, and what follows its marks. docs/grammar.md lists the
  // formats.
  static Result<std::shared_ptr<const Grammar>> structural_tag(std::string_view json);

  // A grammar in Lark's notation; `start` is where a text begins. Templates and other libraries than `common` are
  // rejected.
  static Result<std::shared_ptr<const Grammar>> lark(std::string_view text);

  // Texts that match a regular expression as a whole. The syntax is JavaScript's without look-around, back references
  // and \b.
  static Result<std::shared_ptr<const Grammar>> regex(std::string_view pattern);

  // True if the grammar allows the whole text; false if the check would take too long.
  bool matches(std::string_view text) const;
  // True if some text that the grammar allows begins with this one.
  bool may_begin(std::string_view text) const;

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
