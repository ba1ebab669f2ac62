// Help pages, as wide as the terminal allows, and what options may have as a value.
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

// Accepts finite numbers in [low, high], or only those without a fraction. (CLI::Range lets NaN through.)
CLI::Validator in_range(double low, double high, bool whole = false);

// Accepts any text but the empty one, which a script's unset variable leaves behind.
CLI::Validator not_empty();

// Accepts these words.
CLI::Validator one_of(std::vector<std::string> words);

// The words that one_of lets an option have; none where it takes others too.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace tern::cli
