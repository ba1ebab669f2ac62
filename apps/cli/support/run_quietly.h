// Runs another program to measure how long it takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tern/error.h"

namespace tern::cli {

// Returns the seconds that the program ran, with empty input and discarded output. `arguments`: the first is the
// program's name. kIo: it cannot be started, or its exit code is not 0.
Result<double> run_quietly(const std::string& program, const std::vector<std::string>& arguments);

// Returns the words of a command line, each ended by '\0', that come before a program's own arguments: the program's
// name, or a loader with two options and their values (packaging/launcher.cc) and the program.
std::vector<std::string> command_before_arguments(std::string_view command_line);

// Runs this program with other arguments. kIo: as above.
Result<double> run_self_quietly(const std::vector<std::string>& arguments);

}  // namespace tern::cli
