// Shell completion scripts, one for each shell: commands, options and their values.
#pragma once

#include <string>

#include "cli/manual/manual_description.h"

namespace tern::cli {

std::string bash_completions(const ProgramDescription& program);
std::string zsh_completions(const ProgramDescription& program);
std::string fish_completions(const ProgramDescription& program);

}  // namespace tern::cli
