#include "cli/line_reader.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "cli/interrupt.h"
#include "cli/terminal.h"

#ifdef TERN_HAVE_LIBEDIT
#include <histedit.h>
#include <poll.h>

#include <cerrno>
#include <cwchar>
#endif

namespace tern::cli {
namespace {

class PlainReader : public LineReader {
 public:
  explicit PlainReader(bool shows_prompt) : shows_prompt_(shows_prompt) {}

  Event read(const std::string& prompt, std::string& line) override {
    if (shows_prompt_) std::fputs(prompt.c_str(), stderr);
    if (!std::getline(std::cin, line)) return Event::kEnd;
    if (line.ends_with('\r')) line.pop_back();
    return Event::kLine;
  }

 private:
  const bool shows_prompt_;
};

#ifdef TERN_HAVE_LIBEDIT

constexpr int kHistoryLines = 1000;

// $XDG_STATE_HOME/tern/history, or below ~/.local/state; "" where there is no home. Makes the folder.
std::string history_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path folder;
  if (state && *state == '/') {
    folder = state;
  } else if (home && *home == '/') {
    folder = std::filesystem::path(home) / ".local" / "state";
  } else {
    return "";
  }
  std::error_code ignored;  // a history that cannot be kept is no reason not to talk
  std::filesystem::create_directories(folder / "tern", ignored);
  return folder / "tern" / "history";
}

class EditingReader : public LineReader {
 public:
  EditingReader() : edit_(el_init("tern", stdin, stderr, stderr)), history_(history_init()), path_(history_path()) {
    HistEvent event;
    history(history_, &event, H_SETSIZE, kHistoryLines);
    history(history_, &event, H_SETUNIQUE, 1);
    if (!path_.empty()) history(history_, &event, H_LOAD, path_.c_str());
    el_set(edit_, EL_CLIENTDATA, this);
    el_set(edit_, EL_PROMPT_ESC, prompt_of, '\1');
    el_set(edit_, EL_EDITOR, "emacs");
    el_set(edit_, EL_HIST, history, history_);
    el_set(edit_, EL_GETCFN, read_character);
    el_source(edit_, nullptr);  // the person's ~/.editrc
  }

  ~EditingReader() override {
    history_end(history_);
    el_end(edit_);
  }

  Event read(const std::string& prompt, std::string& line) override {
    // Around the escape sequences libedit wants its marker, so that it knows how wide the prompt looks.
    const Style style = Style::of(STDERR_FILENO);
    prompt_ = style.enabled() ? "\1\x1b[1;32m\1" + prompt + "\1\x1b[0m\1" : prompt;
    InterruptPipe interrupt(InterruptPipe::SecondPress::kRepeats);
    interrupt_fd_ = interrupt.fd();
    interrupted_ = false;
    el_resize(edit_);
    int length = 0;
    const char* text = el_gets(edit_, &length);
    if (interrupted_) {
      std::fputs("^C\n", stderr);
      return Event::kInterrupted;
    }
    if (!text || length <= 0) {
      std::fputs("\n", stderr);
      return Event::kEnd;
    }
    line.assign(text, static_cast<size_t>(length));
    while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
    if (!line.empty()) remember(line);
    return Event::kLine;
  }

 private:
  static EditingReader& self(EditLine* edit) {
    void* data = nullptr;
    el_get(edit, EL_CLIENTDATA, &data);
    return *static_cast<EditingReader*>(data);
  }

  static char* prompt_of(EditLine* edit) { return self(edit).prompt_.data(); }

  // libedit's own function retries after a signal; this one lets Ctrl-C end the line.
  static int read_character(EditLine* edit, wchar_t* character) {
    EditingReader& reader = self(edit);
    std::mbstate_t state = {};
    while (true) {
      pollfd sources[] = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                          {.fd = reader.interrupt_fd_, .events = POLLIN, .revents = 0}};
      if (::poll(sources, 2, -1) < 0) {
        if (errno == EINTR) continue;
        return -1;
      }
      if (sources[1].revents != 0) {
        reader.interrupted_ = true;
        return -1;
      }
      char byte = 0;
      const ssize_t n = ::read(STDIN_FILENO, &byte, 1);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return static_cast<int>(n);
      const size_t used = std::mbrtowc(character, &byte, 1, &state);
      if (used == static_cast<size_t>(-2)) continue;  // more bytes belong to it
      if (used == static_cast<size_t>(-1)) {
        state = {};  // not UTF-8: skipped
        continue;
      }
      return 1;
    }
  }

  // Saved at once: the second Ctrl-C during a reply ends the program.
  void remember(const std::string& line) {
    HistEvent event;
    history(history_, &event, H_ENTER, line.c_str());
    if (!path_.empty()) history(history_, &event, H_SAVE, path_.c_str());
  }

  EditLine* edit_;
  History* history_;
  std::string path_;
  std::string prompt_;
  int interrupt_fd_ = -1;
  bool interrupted_ = false;
};

#endif

}  // namespace

std::unique_ptr<LineReader> LineReader::open() {
  const bool person = is_terminal(STDIN_FILENO) && is_terminal(STDERR_FILENO);
#ifdef TERN_HAVE_LIBEDIT
  const char* term = std::getenv("TERM");
  if (person && term && std::string_view(term) != "dumb") return std::make_unique<EditingReader>();
#endif
  return std::make_unique<PlainReader>(person);
}

}  // namespace tern::cli
