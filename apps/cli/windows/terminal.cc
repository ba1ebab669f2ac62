#include "cli/terminal/terminal.h"

#include <windows.h>
// After windows.h.
#include <io.h>

#include "cli/terminal/answer.h"

namespace tern::cli {

// A screen; _isatty() is true of the null device, too.
bool is_terminal(int fd) {
  DWORD mode = 0;
  return ::GetConsoleMode(reinterpret_cast<HANDLE>(::_get_osfhandle(fd)), &mode) != 0;
}

int terminal_width(int fd) {
  CONSOLE_SCREEN_BUFFER_INFO info = {};
  if (!::GetConsoleScreenBufferInfo(reinterpret_cast<HANDLE>(::_get_osfhandle(fd)), &info)) return 80;
  return info.srWindow.Right - info.srWindow.Left + 1;
}

void discard_typed() { ::FlushConsoleInputBuffer(::GetStdHandle(STD_INPUT_HANDLE)); }

// Ctrl-C ends the read without a byte.
std::optional<std::string> read_answer(const InterruptPipe& interrupt) {
  std::string line;
  while (true) {
    char byte = 0;
    DWORD n = 0;
    if (!::ReadFile(::GetStdHandle(STD_INPUT_HANDLE), &byte, 1, &n, nullptr) || n == 0) return std::nullopt;
    if (interrupt.is_pressed()) return std::nullopt;
    if (byte == '\n') return line;
    if (byte != '\r') line += byte;
  }
}

}  // namespace tern::cli
