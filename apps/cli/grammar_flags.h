// Options that say what a reply may be: a schema, a grammar, a regular expression.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tern/grammar.h"

namespace tern::cli {

class GrammarFlags {
 public:
  void add(CLI::App& app);

  // Null where none is given. Errors: what Grammar's functions refuse, with the file's name; a file that cannot be
  // read.
  Result<std::shared_ptr<const Grammar>> grammar() const;

 private:
  std::string schema_, gbnf_file_, regex_;
  bool json_object_ = false;
  CLI::Option* regex_option_ = nullptr;
};

}  // namespace tern::cli
