// Choosing an instruction set by name.
#include "backend/cpu/ops/cpu_target.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>

namespace tern::cpu {
namespace {

class CpuTargets : public testing::Test {
 protected:
  ~CpuTargets() override { EXPECT_TRUE(choose_cpu_target("")); }
};

TEST_F(CpuTargets, EachRunsByNameOrSaysThatItCannot) {
  int n_run = 0;
  for (const CpuTarget& target : cpu_targets()) {
    const auto chosen = choose_cpu_target(target.name);
    if (can_run(target)) {
      ASSERT_TRUE(chosen) << target.name;
      EXPECT_EQ(cpu_target().name, target.name);
      EXPECT_NE(targets_that_run().find(target.name), std::string::npos);
      ++n_run;
    } else {
      ASSERT_FALSE(chosen) << target.name;
      EXPECT_EQ(chosen.error().code, ErrorCode::kNotSupported);
      EXPECT_NE(chosen.error().message.find(target.name), std::string::npos);
      EXPECT_NE(chosen.error().message.find(targets_that_run()), std::string::npos) << chosen.error().message;
    }
  }
  EXPECT_GE(n_run, 1);
}

TEST_F(CpuTargets, TheBestIsChosenAndCanBeHadBack) {
  const std::string best(cpu_target().name);
  EXPECT_TRUE(targets_that_run().ends_with(best));
  ASSERT_TRUE(choose_cpu_target(cpu_targets().front().name));
  ASSERT_TRUE(choose_cpu_target(""));
  EXPECT_EQ(cpu_target().name, best);
}

// A build for one machine must find the same set as Highway does when it runs.
TEST_F(CpuTargets, TheBestSetOfThisMachineIsCompiled) {
  struct Set {
    int64_t vectors;
    std::string_view target;
  };
  constexpr Set kBestFirst[] = {
      {HWY_AVX3_DL, "avx512vnni"}, {HWY_AVX3, "avx512"}, {HWY_AVX2, "avx2"}, {HWY_SSE4, "sse4"}};
  for (const Set& set : kBestFirst) {
    if ((hwy::SupportedTargets() & set.vectors) == 0) continue;
    EXPECT_TRUE(std::ranges::contains(cpu_targets(), set.target, &CpuTarget::name)) << set.target;
    return;
  }
}

TEST_F(CpuTargets, UnknownNamesAreRefused) {
  const std::string before(cpu_target().name);
  for (const char* name : {"avx9", "AVX2", " avx2", "avx2 ", "best"}) {
    const auto chosen = choose_cpu_target(name);
    ASSERT_FALSE(chosen) << name;
    EXPECT_EQ(chosen.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(cpu_target().name, before);
  }
}

}  // namespace
}  // namespace tern::cpu
