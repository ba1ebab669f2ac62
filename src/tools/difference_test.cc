#include "tools/difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tern {
namespace {

using Values = std::vector<float>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Difference, AddsUpOverCalls) {
  Difference d;
  d.add(Values{3, 0}, Values{3, 1});
  d.add(Values{4}, Values{4});
  EXPECT_DOUBLE_EQ(d.max_abs(), 1);
  EXPECT_DOUBLE_EQ(d.nmse(), 1.0 / 25);
  EXPECT_DOUBLE_EQ(d.cosine(), 25 / std::sqrt(25.0 * 26));
}

TEST(Difference, Zeros) {
  Difference same;
  same.add(Values{0, 0}, Values{0, 0});
  EXPECT_EQ(same.nmse(), 0);
  EXPECT_EQ(same.cosine(), 1);
  Difference other;
  other.add(Values{0, 0}, Values{0, 1});
  EXPECT_EQ(other.nmse(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(other.cosine(), 0);
}

TEST(Difference, ANanStays) {
  Difference d;
  d.add(Values{1, 1}, Values{kNan, 1});
  d.add(Values{1}, Values{5});
  EXPECT_TRUE(std::isnan(d.max_abs()));
  EXPECT_TRUE(std::isnan(d.nmse()));
  EXPECT_TRUE(std::isnan(d.cosine()));
}

TEST(Top1, LowestOnATieAndNoneForNan) {
  EXPECT_EQ(top1(Values{1, 3, 3, 2}), 1);
  EXPECT_EQ(top1(Values{}), -1);
  EXPECT_EQ(top1(Values{1, kNan, 3}), -1);
}

TEST(Top1Margin, IsTheReferencesLeadInItsOwnSpread) {
  const Values reference = {0, 10, 9, -19};  // mean 0, RMS √135.5
  EXPECT_EQ(top1_margin(reference, Values{0, 5, 4, 0}), 0);
  EXPECT_DOUBLE_EQ(top1_margin(reference, Values{0, 4, 5, 0}), 1 / std::sqrt(135.5));
  EXPECT_DOUBLE_EQ(top1_margin(reference, Values{5, 4, 4, 0}), 10 / std::sqrt(135.5));
  EXPECT_EQ(top1_margin(Values{2, 2}, Values{1, 3}), 0);
  EXPECT_EQ(top1_margin(reference, Values{0, 10, kNan, 0}), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace tern
