// A progress line on standard error, for tasks longer than a second. Shows nothing if that is not a terminal.
#pragma once

#include <chrono>
#include <string>

#include "tern/options.h"

namespace tern::cli {

// "loading  [=====>    ]  52 %  1.2 GB/s  3.4 s left", at most `width` columns. The rate covers the whole task except
// `done_before`, the part that was already done at first sight (a resumed download).
std::string progress_line(const Progress& progress, double elapsed_seconds, int width, uint64_t done_before = 0);

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // erases the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const Progress& progress);
  void wipe();  // call it before printing something else

  // Returns a callback for options structs; it calls show() on this bar, which must outlive the task.
  OnProgress callback();

 private:
  using Clock = std::chrono::steady_clock;

  const bool enabled_;
  std::string what_;  // the task that started_ refers to
  uint64_t done_before_ = 0;
  Clock::time_point started_;
  Clock::time_point drawn_;
  bool visible_ = false;
};

}  // namespace tern::cli
