// A progress line on standard error, for what takes longer than a second. Nothing where that is no terminal.
#pragma once

#include <chrono>
#include <string>

#include "tern/options.h"

namespace tern::cli {

// "loading  [=====>    ]  52 %  1.2 GB/s  3.4 s left", at most `width` columns. The rate is over the whole task, of
// which `done_before` was done when it was first seen: a download may continue an earlier one.
std::string progress_line(const Progress& progress, double elapsed_seconds, int width, uint64_t done_before = 0);

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // wipes the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const Progress& progress);
  void wipe();  // before something else is printed

  // For the options structs: calls show() on this bar, which must outlive the task.
  OnProgress callback();

 private:
  using Clock = std::chrono::steady_clock;

  const bool enabled_;
  std::string what_;  // the task that started_ belongs to
  uint64_t done_before_ = 0;
  Clock::time_point started_;
  Clock::time_point drawn_;
  bool visible_ = false;
};

}  // namespace tern::cli
