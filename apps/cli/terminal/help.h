// Help pages, as wide as the terminal allows, and validators for option values.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tern::cli {

// Lays out a command's help: description, usage, options by group, and the footer (the examples) unchanged.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// Accepts finite numbers in [low, high]; `whole`: only whole numbers. (CLI::Range lets NaN through.)
CLI::Validator in_range(double low, double high, bool whole = false);

// Accepts any text except the empty one, which a script's unset variable leaves behind.
CLI::Validator not_empty();

// Accepts only these words.
CLI::Validator one_of(std::vector<std::string> words);

// The words that one_of allows for an option; empty if the option accepts other values too.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace tern::cli
