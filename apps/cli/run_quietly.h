// Another program, to see how long it takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tern/error.h"

namespace tern::cli {

// Seconds from the start of the program to its end, with nothing to read and its output thrown away. `arguments`: the
// first is its name. kIo: it cannot be started, or ends with anything but 0.
Result<double> run_quietly(const std::string& program, const std::vector<std::string>& arguments);

// Words of a command line, each ended by '\0', that come before a program's own arguments: its name, or a loader with
// two options that have values (packaging/launcher.cc) and the program.
std::vector<std::string> command_before_arguments(std::string_view command_line);

// This program with other arguments. kIo, as above.
Result<double> run_self_quietly(const std::vector<std::string>& arguments);

}  // namespace tern::cli
