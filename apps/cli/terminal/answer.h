// A question to the person at the terminal, which must be in its usual mode.
#pragma once

#include <optional>
#include <string>

#include "cli/terminal/interrupt.h"

namespace tern::cli {

// Drops what was typed and not read.
void discard_typed();

// The next line, without its end; nullopt after Ctrl-C or at the end of the input.
std::optional<std::string> read_answer(const InterruptPipe& interrupt);

}  // namespace tern::cli
