// Options of a command that its command line does not give: from the environment, and from a file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tern/error.h"

namespace tern::cli {

// TERN_MAX_WAITING for --max-waiting; empty for an option that has no long name.
std::string variable_of(const CLI::Option& option);

// Gives options without a value that of their variable, and those still without one that of `file` (TOML or INI; empty:
// none), where keys are called like long options. What excludes an option that has a value gets none. Call it after
// parsing: what options were bound to is set. kInvalidArgument: a key that is no option, a section, a value that the
// option does not take; kNotFound, kIo: the file cannot be read.
Result<void> apply_settings(CLI::App& command, const std::string& file);

// A part of such a file that begins with [NAME].
struct SettingsSection {
  std::string name;
  std::vector<CLI::ConfigItem> items;
};

// All of a file's sections, in their order. kInvalidArgument: what is in none, or in two of the same name.
Result<std::vector<SettingsSection>> read_sections(const std::string& file);

// Gives the options what a section says, whatever the environment says. Errors: those of apply_settings().
Result<void> apply_section(CLI::App& options, const SettingsSection& section, const std::string& file);

}  // namespace tern::cli
