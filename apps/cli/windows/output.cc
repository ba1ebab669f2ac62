#include "cli/terminal/output.h"

#include <windows.h>
// After windows.h.
#include <fcntl.h>
#include <io.h>

#include <cstdlib>

namespace tern::cli {

void prepare_standard_streams() {
  for (const int fd : {0, 1, 2}) ::_setmode(fd, _O_BINARY);  // line ends stay as they are
  ::SetConsoleOutputCP(CP_UTF8);
  ::SetConsoleCP(CP_UTF8);
  for (const DWORD stream : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE}) {  // escape sequences for colors
    const HANDLE console = ::GetStdHandle(stream);
    DWORD mode = 0;
    if (::GetConsoleMode(console, &mode)) ::SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
}

// There are no signals, and no exit code is usual for this.
void die_of_closed_pipe() { std::_Exit(1); }

}  // namespace tern::cli
