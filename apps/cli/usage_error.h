// Command lines that cannot be understood, as one sentence with the way out.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tern::cli {

// The one line for a command line that could not be parsed: what is wrong in the person's own words, what to write
// instead, and the command or option that was probably meant where one is close.
std::string usage_error(const CLI::App& tern, const CLI::ParseError& error);

}  // namespace tern::cli
