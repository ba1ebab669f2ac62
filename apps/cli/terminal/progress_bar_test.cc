#include "cli/terminal/progress_bar.h"

#include <gtest/gtest.h>

#include "cli/terminal/layout.h"

namespace tern::cli {
namespace {

TEST(ProgressLine, ShowsShareSpeedAndTimeLeft) {
  const std::string line =
      progress_line({.what = "loading", .done = 25'000'000, .total = 100'000'000, .unit = "B"}, 2, 79);
  EXPECT_EQ(line, "loading  [=======>                      ]  25 %  12.5 MB/s  6.00 s left");
}

TEST(ProgressLine, DoesNotCountWhatWasDoneBefore) {
  const std::string line =
      progress_line({.what = "loading", .done = 50'000'000, .total = 100'000'000, .unit = "B"}, 2, 79, 25'000'000);
  EXPECT_NE(line.find(" 50 %  12.5 MB/s  4.00 s left"), std::string::npos) << line;
}

TEST(ProgressLine, FitsAnyWidth) {
  const Progress progress = {.what = "a rather long name of a task", .done = 7, .total = 9, .unit = "tokens"};
  for (int width = 1; width < 120; ++width) {
    EXPECT_LE(display_width(progress_line(progress, 3, width)), static_cast<size_t>(width)) << width;
  }
}

TEST(ProgressLine, SurvivesOddNumbers) {
  EXPECT_NE(progress_line({.what = "x", .done = 0, .total = 0, .unit = "B"}, 0, 60).find("  0 %"), std::string::npos);
  EXPECT_NE(progress_line({.what = "x", .done = 9, .total = 3, .unit = "B"}, 1, 60).find("100 %"), std::string::npos);
}

}  // namespace
}  // namespace tern::cli
