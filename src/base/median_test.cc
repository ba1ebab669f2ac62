#include "base/median.h"

#include <gtest/gtest.h>

#include <vector>

namespace tern {
namespace {

TEST(Median, IsTheMiddle) {
  std::vector<double> values = {7, 1, 3};
  EXPECT_EQ(median(values), 3);
  values = {4, 1, 3, 2};
  EXPECT_EQ(median(values), 3);
  EXPECT_EQ(median({}), 0);
}

}  // namespace
}  // namespace tern
