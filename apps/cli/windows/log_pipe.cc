#include "cli/terminal/log_pipe.h"

namespace tern::cli {

// Windows cannot wait for the space of a pipe: a line waits for the reader.
bool LogPipe::takes_some() const { return true; }

}  // namespace tern::cli
