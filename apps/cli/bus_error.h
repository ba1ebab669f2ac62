// A model that is mapped and becomes shorter while it runs.
#pragma once

namespace tern::cli {

// From now on, reading a mapped file past its new end, or where its disk fails, ends the program with one line that
// names the file, and exit code 1. The system's own way is a signal that nobody sees.
void explain_bus_errors();

}  // namespace tern::cli
