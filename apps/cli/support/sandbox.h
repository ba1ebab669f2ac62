// --sandbox: a command gives up the rights that it does not need.
#pragma once

#include <CLI/CLI.hpp>

#include "tern/error.h"

namespace tern::cli {

// Adds the flag to the commands that know it.
void add_sandbox(CLI::App& command);

// Enters the sandbox if the parsed command has the flag, and says on standard error what is in force. What the command
// may read and write follows from its options: files that they name, the folders of files that it writes, the system's
// libraries and drivers, and the caches. kNotSupported: there is none on this system, or it does not go
// with an option. kInvalidArgument: the flag's variable has another value than true or false.
Result<void> enter_sandbox(CLI::App& command);

}  // namespace tern::cli
