// Help pages, as wide as the terminal allows, and usage errors in one line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tern::cli {

// Lays out a command's help: what it does, usage, options by group, and the footer as it is (the examples).
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// The one line for a command line that could not be parsed, with the nearest option or command where one is close.
std::string usage_error(const CLI::App& tern, const CLI::ParseError& error);

// Accepts finite numbers in [low, high]. (CLI::Range lets NaN through.)
CLI::Validator in_range(double low, double high);

// Accepts any text but the empty one, which a script's unset variable leaves behind.
CLI::Validator not_empty();

// Accepts these words.
CLI::Validator one_of(std::vector<std::string> words);

// The words that one_of lets an option have; none where it takes others too.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace tern::cli
