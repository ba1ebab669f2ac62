#include <windows.h>

#include <atomic>
#include <utility>

#include "base/files/unfinished_files.h"
#include "cli/terminal/interrupt.h"

namespace tern::cli {
namespace {

// What the handler uses, which Windows calls on a thread of its own.
std::atomic<HANDLE> handler_event = nullptr;
std::atomic<int> presses = 0;
std::atomic<bool> second_press_exits = false;

// Closing the window, logging off and shutting down count as a press, too. Windows ends the process when the handler
// returns from these, or after five seconds.
BOOL WINAPI on_interrupt(DWORD event) {
  if (presses.fetch_add(1) > 0 && second_press_exits) {
    remove_unfinished_files();
    ::ExitProcess(130);
  }
  ::SetEvent(handler_event);
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) ::Sleep(4500);
  return TRUE;
}

}  // namespace

struct InterruptPipe::Handlers {
  HANDLE event = nullptr;
  HANDLE event_before = nullptr;
  bool exited_before = false;
};

InterruptPipe::InterruptPipe(SecondPress second_press, std::span<const int> /*signals*/)
    : handlers_(std::make_unique<Handlers>()) {
  handlers_->event = ::CreateEventW(nullptr, /*manual=*/TRUE, FALSE, nullptr);
  if (!is_open()) return;
  handlers_->event_before = handler_event.exchange(handlers_->event);
  handlers_->exited_before = second_press_exits.exchange(second_press == SecondPress::kExits);
  presses = 0;
  if (handlers_->event_before == nullptr) ::SetConsoleCtrlHandler(on_interrupt, TRUE);
}

InterruptPipe::~InterruptPipe() {
  if (!is_open()) return;
  if (handlers_->event_before == nullptr) ::SetConsoleCtrlHandler(on_interrupt, FALSE);
  handler_event = handlers_->event_before;
  second_press_exits = handlers_->exited_before;
  presses = 0;
  ::CloseHandle(handlers_->event);
}

bool InterruptPipe::is_open() const { return handlers_->event != nullptr; }
bool InterruptPipe::is_pressed() const { return presses > 0; }
void InterruptPipe::wait() const { ::WaitForSingleObject(handlers_->event, INFINITE); }

void InterruptPipe::drain() {
  ::ResetEvent(handlers_->event);
  presses = 0;
}

void InterruptPipe::wake() { ::SetEvent(handlers_->event); }

}  // namespace tern::cli
