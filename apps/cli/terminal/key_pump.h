// Carries keys from the terminal to the line editor, through a KeyFilter, while a line is edited.
#pragma once

#include <termios.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/terminal/interrupt.h"
#include "cli/terminal/key_filter.h"

namespace tern::cli {

// Raw mode for its lifetime: single keys, no echo, and pasted text marked (bracketed paste). Also undone when SIGTERM
// or SIGHUP ends the program.
class RawTerminal {
 public:
  explicit RawTerminal(int fd);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  void suspend();  // stops the program as Ctrl-Z does; returns when it continues

 private:
  void enter();
  void leave();

  const int fd_;
  termios before_ = {};
};

// Carries keys to the editor. Keys typed too early stay here for the next line.
class KeyPump {
 public:
  explicit KeyPump(int terminal);  // not owned
  ~KeyPump();
  KeyPump(const KeyPump&) = delete;
  KeyPump& operator=(const KeyPump&) = delete;

  bool works() const { return keys_[0] >= 0 && wake_[0] >= 0; }
  int fd() const { return keys_[0]; }  // where the editor reads

  // A line is edited between start() and stop(). False: the system has no thread for it.
  bool start();
  void stop();

  void resized();  // may be called by a signal handler

  bool interrupted() const { return interrupted_; }  // Ctrl-C ended the line
  bool ended() const { return ended_; }              // the terminal is gone
  // Returns the action of the KeyFilter::kActionKey that the editor received. Later keys wait for answer().
  std::optional<EditAction> take_action();
  void answer(std::string keys);  // typed in place of the action key
  bool take_tab();                // true if a Tab arrived that was not taken yet

 private:
  void run(RawTerminal& raw, const InterruptPipe& interrupt);
  void read_terminal(RawTerminal& raw);
  void forward(FilteredKeys keys);
  void send();
  void take_answer();

  const int terminal_;
  int keys_[2] = {-1, -1};
  int wake_[2] = {-1, -1};  // 'q': stop, 'w': window resized, 'a': an answer
  KeyFilter filter_;
  std::string unsent_;
  std::mutex mutex_;
  std::deque<EditAction> actions_;
  std::string answer_;
  bool waiting_ = false;  // for an answer to an action key
  std::atomic<int> n_tabs_ = 0;
  std::atomic<bool> interrupted_ = false;
  std::atomic<bool> ended_ = false;
  std::optional<RawTerminal> raw_;
  std::optional<InterruptPipe> interrupt_;
  std::jthread thread_;
};

}  // namespace tern::cli
