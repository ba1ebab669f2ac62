// Checked standard output: a full disk or a closed pipe is reported as an error.
#pragma once

#include <string_view>

#include "tern/error.h"

namespace tern::cli {

// Call this first in main. A closed pipe then makes print() fail instead of raising a signal, so that cleanup runs. It
// also occupies standard descriptors that the parent process closed, so that no file opened later gets their number and
// receives our output.
void prepare_standard_streams();

// Writes all of `text` to standard output, unbuffered, so that every piece shows immediately.
Result<void> print(std::string_view text);

// Same for text from a model or a file: on a terminal, control characters other than line feed and tab are replaced, so
// that it cannot move the cursor or change the title. `text` contains whole UTF-8 characters.
Result<void> print_untrusted(std::string_view text);

// True if the program that reads standard output has closed its end ("tern … | head"). This is not an error: end with
// die_of_closed_pipe(), like programs that do not handle SIGPIPE.
bool is_output_pipe_closed();
[[noreturn]] void die_of_closed_pipe();

// Closes standard output: some file systems report a full disk only here. Do not print afterwards.
Result<void> close_output();

}  // namespace tern::cli
