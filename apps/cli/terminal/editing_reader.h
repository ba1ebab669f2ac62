// The line reader for terminals: isocline draws and edits, and a thread feeds it keys (key_pump.h).
#pragma once

#include <memory>
#include <vector>

#include "cli/terminal/line_reader.h"

namespace tern::cli {

// Returns null if Tern was built without isocline or the terminal cannot be edited on. Requires that standard input and
// standard error are terminals.
std::unique_ptr<LineReader> open_editing_reader(std::vector<Completion> completions);

}  // namespace tern::cli
