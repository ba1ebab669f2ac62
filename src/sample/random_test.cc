#include "sample/random.h"

#include <gtest/gtest.h>

namespace tern {
namespace {

// The reference program's output for this seed, as published on Rosetta Code ("Pseudo-random numbers/Splitmix64").
TEST(SplitMix64, ReferenceVector) {
  SplitMix64 random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
  EXPECT_EQ(random.next(), 4593380528125082431u);
  EXPECT_EQ(random.next(), 16408922859458223821u);
}

// The same source: counts of floor(5 · uniform) in 100,000 draws with seed 987654321.
TEST(SplitMix64, ReferenceHistogram) {
  SplitMix64 random(987654321);
  int counts[5] = {};
  for (int i = 0; i < 100000; ++i) {
    const float u = random.uniform();
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    ++counts[static_cast<int>(static_cast<double>(u) * 5)];
  }
  EXPECT_EQ(counts[0], 20027);
  EXPECT_EQ(counts[1], 19892);
  EXPECT_EQ(counts[2], 20073);
  EXPECT_EQ(counts[3], 19978);
  EXPECT_EQ(counts[4], 20030);
}

}  // namespace
}  // namespace tern
