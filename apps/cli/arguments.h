// The command line before it is parsed: names that people know from other programs, under those of Tern.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tern/error.h"

namespace tern::cli {

// The arguments after the program's name, with "-hf" as "--hf", "--n-predict" as "--max-tokens", "help run" as
// "run --help", and an option with one dash too few ("-temp") as what it means. What follows "--" stays as it is.
// kInvalidArgument where a known name leads elsewhere, with where.
Result<std::vector<std::string>> known_arguments(const CLI::App& tern, int argc, const char* const* argv);

}  // namespace tern::cli
