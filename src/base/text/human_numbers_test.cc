#include "base/text/human_numbers.h"

#include <gtest/gtest.h>

namespace tern {
namespace {

TEST(HumanNumbers, HaveThreeOrFourDigits) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(812), "812 B");
  EXPECT_EQ(human_bytes(999'499), "999 kB");
  EXPECT_EQ(human_bytes(999'500), "1.00 MB");
  EXPECT_EQ(human_bytes(12'345'678), "12.3 MB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "18446744 TB");
  EXPECT_EQ(human_count(24'540'000), "24.5 M");
  EXPECT_EQ(human_number(0), "0.0000");
  EXPECT_EQ(human_number(98.766), "98.77");
  EXPECT_EQ(human_number(123.45), "123.5");
  EXPECT_EQ(human_number(0.000012), "1.20e-05");
}

TEST(HumanNumbers, Seconds) {
  EXPECT_EQ(human_seconds(0.0012), "1.2 ms");
  EXPECT_EQ(human_seconds(0.035), "35 ms");
  EXPECT_EQ(human_seconds(1.25), "1.25 s");
  EXPECT_EQ(human_seconds(200), "3 min 20 s");
  EXPECT_EQ(human_seconds(7260), "2 h 1 min");
}

}  // namespace
}  // namespace tern
