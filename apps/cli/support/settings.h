// Values for options that the command line does not give: from the environment and from a file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tern/error.h"

namespace tern::cli {

// TERN_MAX_WAITING for --max-waiting; empty for an option without a long name.
std::string variable_of(const CLI::Option& option);

// Sets an option without a value from its variable, after parsing. kInvalidArgument: the value is invalid.
Result<void> apply_variable(CLI::Option& option);

// Sets options without a value from their variables, then those still unset from `file` (TOML or INI; empty: none),
// whose keys are the long option names. An option that conflicts with one already set is skipped. Call this after
// parsing: it sets the bound variables. kInvalidArgument: an unknown key, one that is there twice, a section, or an
// invalid value; kNotFound, kIo: the file cannot be read.
Result<void> apply_settings(CLI::App& command, const std::string& file);

// A section of the file, which begins with [NAME].
struct SettingsSection {
  std::string name;
  std::vector<CLI::ConfigItem> items;
};

// Returns all sections of a file in order. kInvalidArgument: a key outside any section, or a repeated section name.
Result<std::vector<SettingsSection>> read_sections(const std::string& file);

// Sets options from a section and ignores the environment. Errors: those of apply_settings().
Result<void> apply_section(CLI::App& options, const SettingsSection& section, const std::string& file);

}  // namespace tern::cli
