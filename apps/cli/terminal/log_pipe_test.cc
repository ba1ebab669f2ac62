#include "cli/terminal/log_pipe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

namespace tern::cli {
namespace {

class LogPipeTest : public testing::Test {
 protected:
  LogPipeTest() {
    if (::pipe(ends_.data()) != 0) std::abort();
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~LogPipeTest() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  // Returns all bytes in the pipe.
  std::string read() {
    std::string text;
    std::array<char, 4096> some = {};
    for (ssize_t n = 0; (n = ::read(ends_[0], some.data(), some.size())) > 0;) {
      text.append(some.data(), static_cast<size_t>(n));
    }
    return text;
  }

  std::array<int, 2> ends_ = {};
};

TEST_F(LogPipeTest, LinesComeWhole) {
  LogPipe log(ends_[1]);
  log.write("one");
  log.write("");
  log.write("two");
  EXPECT_EQ(read(), "one\n\ntwo\n");
}

TEST_F(LogPipeTest, WhatNobodyReadsIsLostAndSaidToBe) {
  LogPipe log(ends_[1], std::chrono::milliseconds(1));
  const std::string line(1000, 'x');
  constexpr int kLines = 200;  // more than a pipe holds
  for (int i = 0; i < kLines; ++i) log.write(line);
  const std::string first = read();
  const auto n_written = static_cast<int>(first.size() / (line.size() + 1));
  EXPECT_LT(n_written, kLines);
  EXPECT_EQ(first.size(), static_cast<size_t>(n_written) * (line.size() + 1)) << "no line in part";
  log.write("again");
  EXPECT_EQ(read(),
            std::to_string(kLines - n_written) + " lines of this log were lost, because they were not read\nagain\n");
  log.write("and again");
  EXPECT_EQ(read(), "and again\n");
}

}  // namespace
}  // namespace tern::cli
