#include "cli/terminal/editing_reader.h"

#ifdef TERN_HAVE_ISOCLINE

#include <fcntl.h>
#include <isocline.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "base/platform/process.h"
#include "cli/terminal/key_pump.h"
#include "cli/terminal/terminal.h"

namespace tern::cli {
namespace {

constexpr long kHistoryMessages = 200;    // isocline's limit
constexpr const char* kTextBelow = "  ";  // before wrapped and later lines of a message

// $XDG_STATE_HOME/tern/messages, or below ~/.local/state; "" if there is no home. Creates the folder.
std::string history_path() {
  const std::filesystem::path folder = platform::user_state_folder();
  if (folder.empty()) return "";
  std::error_code ignored;  // without a history, chat still works
  std::filesystem::create_directories(folder / "tern", ignored);
  return (folder / "tern" / "messages").string();
}

// Replaces descriptor `fd` by `replacement` for its lifetime. isocline uses only descriptors 0 and 1.
class Replaced {
 public:
  Replaced(int fd, int replacement) : fd_(fd), before_(::fcntl(fd, F_DUPFD_CLOEXEC, 3)) { ::dup2(replacement, fd); }
  ~Replaced() {
    if (before_ < 0) return;
    ::dup2(before_, fd_);
    ::close(before_);
  }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;

 private:
  const int fd_;
  const int before_;
};

// isocline changes the locale and handles every signal that ends a program, and would keep doing so. This guard
// restores both; only SIGWINCH (window resize) stays isocline's.
class Guarded {
 public:
  Guarded() : locale_(std::setlocale(LC_ALL, nullptr)) {
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], nullptr, &actions_[i]);
    if (const char* variable = std::getenv("LC_ALL")) {
      lc_all_ = variable;
      had_lc_all_ = true;
    }
    ::setenv("LC_ALL", "C.UTF-8", 1);  // else no UTF-8 if the system lacks the user's locale
  }
  ~Guarded() {
    if (had_lc_all_) {
      ::setenv("LC_ALL", lc_all_.c_str(), 1);
    } else {
      ::unsetenv("LC_ALL");
    }
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &actions_[i], nullptr);
    std::setlocale(LC_ALL, locale_.c_str());
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

 private:
  static constexpr std::array kSignals = {SIGTERM, SIGINT, SIGQUIT, SIGHUP,  SIGSEGV,
                                          SIGTRAP, SIGBUS, SIGTSTP, SIGTTIN, SIGTTOU};
  const std::string locale_;
  std::array<struct sigaction, kSignals.size()> actions_ = {};
  std::string lc_all_;
  bool had_lc_all_ = false;
};

// This pump is notified of window resizes, after isocline.
std::atomic<KeyPump*> resized_pump = nullptr;
struct sigaction resized_before;

void on_resize(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (resized_before.sa_sigaction && resized_before.sa_handler != SIG_DFL && resized_before.sa_handler != SIG_IGN)
    resized_before.sa_sigaction(signal, info, context);
  if (KeyPump* const pump = resized_pump) pump->resized();
  errno = saved_errno;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

class EditingReader : public LineReader {
 public:
  explicit EditingReader(std::vector<Completion> completions)
      : completions_(std::move(completions)), terminal_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), pump_(terminal_) {
    set_up();
    resized_pump = &pump_;
    struct sigaction action = {};
    action.sa_sigaction = on_resize;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGWINCH, &action, &resized_before);
  }

  ~EditingReader() override {
    ::sigaction(SIGWINCH, &resized_before, nullptr);
    resized_pump = nullptr;
    if (terminal_ >= 0) ::close(terminal_);
  }

  bool works() const { return terminal_ >= 0 && pump_.works(); }

  Event read(const std::string& prompt, std::string& line) override;

 private:
  void set_up();
  static void remember_drawn(ic_highlight_env_t* environment, const char* line, void* reader);
  static void complete(ic_completion_env_t* environment, const char* before_cursor);
  void complete_command(ic_completion_env_t* environment, std::string_view before_cursor) const;

  const std::vector<Completion> completions_;
  const int terminal_;
  KeyPump pump_;
  std::string drawn_;  // the current line; isocline gives completers only the part before the cursor
};

void EditingReader::set_up() {
  const Guarded guarded;
  const Replaced output(STDOUT_FILENO, STDERR_FILENO);
  const std::string path = history_path();
  ic_set_history(path.empty() ? nullptr : path.c_str(), kHistoryMessages);
  ic_enable_color(Style::of(STDERR_FILENO).enabled());
  ic_style_def("ic-prompt", "ansi-green bold");
  ic_set_default_completer(complete, this);
  ic_set_default_highlighter(remember_drawn, this);
  // Text for a model is prose, not code: turn off automatic braces, matching and hints.
  ic_enable_brace_insertion(false);
  ic_enable_brace_matching(false);
  ic_enable_hint(false);
  ic_enable_beep(false);
  ic_set_tty_esc_delay(100, 100);  // the pump sends whole sequences
}

// isocline calls this after each change of the line.
void EditingReader::remember_drawn(ic_highlight_env_t*, const char* line, void* reader) {
  static_cast<EditingReader*>(reader)->drawn_ = line;
}

void EditingReader::complete(ic_completion_env_t* environment, const char* before_cursor) {
  auto& reader = *static_cast<EditingReader*>(ic_completion_arg(environment));
  if (const std::optional<EditAction> action = reader.pump_.take_action()) {
    // A completion is how isocline inserts a long text in one step; key by key it would redraw the line each time.
    if (action->kind == EditAction::Kind::kPaste)
      ic_add_completion_prim(environment, action->text.c_str(), nullptr, nullptr, 0, 0);
    reader.pump_.answer(keys_for(*action, reader.drawn_, std::string_view(before_cursor).size()));
  } else if (reader.pump_.take_tab()) {  // the right arrow at the line's end asks too; ignore it
    reader.complete_command(environment, before_cursor);
  }
}

// Completes word by word, so that "/s" offers /set and not every full command.
void EditingReader::complete_command(ic_completion_env_t* environment, std::string_view before_cursor) const {
  std::set<std::string> offered;
  for (const auto& [text, help] : completions_) {
    if (!text.starts_with(before_cursor)) continue;
    const size_t space = text.find(' ', before_cursor.size());
    const std::string words = text.substr(0, space == text.npos ? space : space + 1);
    if (!offered.insert(words).second) continue;
    ic_add_completion_prim(environment, words.c_str(), words.c_str(), help.c_str(),
                           static_cast<long>(before_cursor.size()), 0);
  }
}

LineReader::Event EditingReader::read(const std::string& prompt, std::string& line) {
  ic_set_prompt_marker(prompt.c_str(), kTextBelow);
  drawn_.clear();
  if (!pump_.start()) return read_plainly(prompt, line);
  char* text = nullptr;
  {
    const Replaced input(STDIN_FILENO, pump_.fd());
    const Replaced output(STDOUT_FILENO, STDERR_FILENO);
    text = ic_readline("");
    pump_.stop();
  }
  line = text ? text : "";
  const bool entered = text != nullptr;
  ic_free(text);
  if (pump_.ended()) return Event::kEnd;
  if (line.empty() && pump_.interrupted()) return Event::kInterrupted;
  replace_all(line, KeyFilter::kTabSign, "\t");
  return entered ? Event::kLine : Event::kEnd;
}

}  // namespace

std::unique_ptr<LineReader> open_editing_reader(std::vector<Completion> completions) {
  auto reader = std::make_unique<EditingReader>(std::move(completions));
  if (!reader->works()) return nullptr;
  return reader;
}

}  // namespace tern::cli

#else

namespace tern::cli {

std::unique_ptr<LineReader> open_editing_reader(std::vector<Completion>) { return nullptr; }

}  // namespace tern::cli

#endif
