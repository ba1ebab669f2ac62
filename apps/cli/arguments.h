// Rewrites the command line before it is parsed: option names of other programs become Tern's names.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tern/error.h"

namespace tern::cli {

// Returns the arguments after the program's name, with "-hf" as "--hf", "--n-predict" as "--max-tokens", "help run" as
// "run --help", and an option with one dash too few ("-temp") as what it means. Arguments after "--" stay as they are.
// kInvalidArgument: the option belongs to another command, which the message names.
Result<std::vector<std::string>> known_arguments(const CLI::App& tern, int argc, const char* const* argv);

}  // namespace tern::cli
