// Explains a command line that cannot be parsed in one sentence, with a remedy.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tern::cli {

// Returns one line: what is wrong, in the user's own words, what to write instead, and the closest command or option if
// one is close.
std::string usage_error(const CLI::App& tern, const CLI::ParseError& error);

}  // namespace tern::cli
