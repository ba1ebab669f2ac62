// Ends of the program that no code waits for: signals, refused memory and threads, crashes of drivers under a limit.
#pragma once

#include "tern/error.h"

namespace tern::cli {

// From now on: a signal that ends the program removes unfinished files first. An exception for memory or a thread that
// the system refuses, on any thread, ends the program with one line and exit code 1; so does a crash under a limit on
// memory, which GPU drivers do not survive. Writing past a limit on the size of files is an error of writing. Stacks
// are made as large as the system allows. kOutOfMemory: it allows too little for the program.
Result<void> prepare_for_sudden_ends();

// What differs between systems.
Result<void> widen_stack();
void handle_end_signals();

}  // namespace tern::cli
