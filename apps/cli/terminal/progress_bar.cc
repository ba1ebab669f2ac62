#include "cli/terminal/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/terminal/layout.h"
#include "cli/terminal/terminal.h"

namespace tern::cli {
namespace {

constexpr auto kQuietTime = std::chrono::seconds(1);
constexpr auto kRedrawTime = std::chrono::milliseconds(100);

std::string human_rate(double per_second, const std::string& unit) {
  if (unit == "B") return human_bytes(static_cast<uint64_t>(per_second)) + "/s";
  return format_text("{} {}/s", human_number(per_second), unit);
}

}  // namespace

std::string progress_line(const Progress& progress, double elapsed_seconds, int width, uint64_t done_before) {
  const double total = static_cast<double>(std::max<uint64_t>(progress.total, 1));
  const double done = std::min(static_cast<double>(progress.done), total);
  std::string right = format_text(" {:3.0f} %", 100 * done / total);
  const double gained = done - static_cast<double>(done_before);
  if (elapsed_seconds > 0 && gained > 0) {
    const double rate = gained / elapsed_seconds;
    right += format_text("  {}  {} left", human_rate(rate, progress.unit), human_seconds((total - done) / rate));
  }
  const std::string left = one_line(progress.what) + "  ";
  const int room = width - static_cast<int>(display_width(left) + display_width(right)) - 2;  // 2: the brackets
  if (room < 5) return shorten(left + right, static_cast<size_t>(std::max(width, 1)));
  const int bar = std::min(room, 30);
  const int filled = static_cast<int>(static_cast<double>(bar) * done / total);
  std::string cells(static_cast<size_t>(filled), '=');
  if (filled < bar) cells += '>';
  cells.resize(static_cast<size_t>(bar), ' ');
  return left + "[" + cells + "]" + right;
}

ProgressBar::ProgressBar() : enabled_(is_terminal(STDERR_FILENO)) {}

ProgressBar::~ProgressBar() { wipe(); }

void ProgressBar::show(const Progress& progress) {
  if (!enabled_) return;
  const auto now = Clock::now();
  if (progress.what != what_) {
    what_ = progress.what;
    done_before_ = progress.done;
    started_ = now;
    wipe();
  }
  if (now - started_ < kQuietTime || (visible_ && now - drawn_ < kRedrawTime)) return;
  const double elapsed = std::chrono::duration<double>(now - started_).count();
  // One column stays free: a full last column makes some terminals wrap.
  const std::string line = progress_line(progress, elapsed, terminal_width(STDERR_FILENO) - 1, done_before_);
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  std::fflush(stderr);
  drawn_ = now;
  visible_ = true;
}

void ProgressBar::wipe() {
  if (!visible_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  visible_ = false;
}

OnProgress ProgressBar::callback() {
  return [this](const Progress& progress) { show(progress); };
}

}  // namespace tern::cli
