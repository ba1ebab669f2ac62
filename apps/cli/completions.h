// What a shell offers when Tab is pressed: commands, options, their values. One script for each shell.
#pragma once

#include <string>

#include "cli/manual_description.h"

namespace tern::cli {

std::string bash_completions(const ProgramDescription& program);
std::string zsh_completions(const ProgramDescription& program);
std::string fish_completions(const ProgramDescription& program);

}  // namespace tern::cli
