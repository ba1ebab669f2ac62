// Standard output, checked: a full disk or a closed pipe is an error, never silence.
#pragma once

#include <string_view>

#include "tern/error.h"

namespace tern::cli {

// Call first in main: a closed pipe becomes an error of print() instead of a signal, so that what must be cleaned up
// is; and a standard descriptor that was closed by the caller is occupied, so that no file opened later can take its
// number and receive our output.
void prepare_standard_streams();

// Writes all of `text` to standard output, unbuffered, so that every piece is visible at once.
Result<void> print(std::string_view text);

// The same for text that a model or a file made up: on a terminal, control characters other than line feed and tab are
// replaced, so that it cannot move the cursor or change the title. `text` holds whole UTF-8 characters.
Result<void> print_untrusted(std::string_view text);

// Whether the program that reads standard output has closed its end ("tern … | head"). That is no error: end then with
// die_of_closed_pipe(), as programs do that leave the signal alone.
bool is_output_pipe_closed();
[[noreturn]] void die_of_closed_pipe();

// Some file systems report a full disk only here. Nothing may be printed afterwards.
Result<void> close_output();

}  // namespace tern::cli
