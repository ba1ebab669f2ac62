// Options that constrain a reply: a schema, a grammar, or a regular expression.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tern/grammar.h"

namespace tern::cli {

class GrammarFlags {
 public:
  void add(CLI::App& app);

  // Returns null if none is given. Errors: those of Grammar's functions, with the file's name, or an unreadable file.
  Result<std::shared_ptr<const Grammar>> grammar() const;

 private:
  std::string schema_, gbnf_file_, regex_;
  bool json_object_ = false;
  CLI::Option* regex_option_ = nullptr;
};

}  // namespace tern::cli
