#include "base/phase_times.h"

#include <gtest/gtest.h>

#include <thread>

namespace tern {
namespace {

TEST(PhaseTimes, WhatComesAgainAddsUp) {
  using namespace std::chrono_literals;
  PhaseTimes times;
  std::this_thread::sleep_for(20ms);
  times.end("reading");
  times.end("thinking");
  std::this_thread::sleep_for(20ms);
  times.end("reading");
  ASSERT_EQ(times.phases().size(), 2u);
  EXPECT_EQ(times.phases()[0].first, "reading");
  EXPECT_EQ(times.phases()[1].first, "thinking");
  EXPECT_GE(times.phases()[0].second, 0.04);
  EXPECT_LT(times.phases()[1].second, 0.02);
}

}  // namespace
}  // namespace tern
