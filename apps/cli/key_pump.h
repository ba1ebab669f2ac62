// Carries keys from the terminal to the line editor, through a KeyFilter, while a line is being edited.
#pragma once

#include <termios.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/interrupt.h"
#include "cli/key_filter.h"

namespace tern::cli {

// Single keys instead of lines, no echo, and pasted text marked as such (bracketed paste) while it exists. Also undone
// when SIGTERM or SIGHUP ends the program.
class RawTerminal {
 public:
  explicit RawTerminal(int fd);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  void suspend();  // stops the program, as Ctrl-Z does elsewhere; returns when it goes on

 private:
  void enter();
  void leave();

  const int fd_;
  termios before_ = {};
};

// Keys that were typed too early stay in it for the next line.
class KeyPump {
 public:
  explicit KeyPump(int terminal);  // which it does not own
  ~KeyPump();
  KeyPump(const KeyPump&) = delete;
  KeyPump& operator=(const KeyPump&) = delete;

  bool works() const { return keys_[0] >= 0 && wake_[0] >= 0; }
  int fd() const { return keys_[0]; }  // where the editor reads

  // Between the two a line is edited.
  void start();
  void stop();

  void resized();  // may be called by a signal handler

  bool interrupted() const { return interrupted_; }  // Ctrl-C ended the line
  bool ended() const { return ended_; }              // the terminal is gone
  // What a KeyFilter::kActionKey that the editor has got stands for. No key after it is sent before answer().
  std::optional<EditAction> take_action();
  void answer(std::string keys);  // to be typed in its place
  bool take_tab();                // whether a Tab arrived that was not asked for yet

 private:
  void run(RawTerminal& raw, const InterruptPipe& interrupt);
  void read_terminal(RawTerminal& raw);
  void forward(FilteredKeys keys);
  void send();
  void take_answer();

  const int terminal_;
  int keys_[2] = {-1, -1};
  int wake_[2] = {-1, -1};  // 'q': stop, 'w': the window has another size, 'a': an answer
  KeyFilter filter_;
  std::string unsent_;
  std::mutex mutex_;
  std::deque<EditAction> actions_;
  std::string answer_;
  bool waiting_ = false;  // for an answer
  std::atomic<int> n_tabs_ = 0;
  std::atomic<bool> interrupted_ = false;
  std::atomic<bool> ended_ = false;
  std::optional<RawTerminal> raw_;
  std::optional<InterruptPipe> interrupt_;
  std::thread thread_;
};

}  // namespace tern::cli
