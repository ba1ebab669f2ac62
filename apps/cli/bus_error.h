// Explains what happened when a mapped model file becomes shorter during a run.
#pragma once

namespace tern::cli {

// From now on, reading a mapped file past its new end, or from a failing disk, ends the program with one line that
// names the file, and exit code 1. By default, SIGBUS would end it without an explanation.
void explain_bus_errors();

}  // namespace tern::cli
