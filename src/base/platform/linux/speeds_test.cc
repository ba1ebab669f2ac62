#include "base/platform/linux/speeds.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/platform/processors.h"

namespace tern::platform {
namespace {

class Speeds : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(folder_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void write_capacity(int processor, int capacity) const {
    write("system/cpu/cpu" + std::to_string(processor) + "/cpu_capacity", std::to_string(capacity));
  }
  const std::string folder_ = testing::TempDir() + "/speeds";
};

// A phone: four slow cores, three that are nearly as fast as the fastest, and that.
TEST_F(Speeds, OfAPhone) {
  for (int i = 0; i < 4; ++i) write_capacity(i, 250);
  for (int i = 4; i < 7; ++i) write_capacity(i, 870);
  write_capacity(7, 1024);
  const std::vector<int> speeds = speeds_in(folder_, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(speeds, (std::vector{250, 250, 250, 250, 870, 870, 870, 1024}));
  EXPECT_EQ(count_fast(speeds), 4);
  EXPECT_EQ(count_fast(speeds_in(folder_, {2, 3, 7})), 1);
}

TEST_F(Speeds, OfIntelsTwoKinds) {
  write("cpu_core/cpus", "0-3,8");
  write("cpu_atom/cpus", "4-7");
  EXPECT_EQ(speeds_in(folder_, {0, 3, 4, 7, 8}), (std::vector{2, 2, 1, 1, 2}));
  EXPECT_EQ(count_fast(speeds_in(folder_, {0, 3, 4, 7, 8})), 3);
}

TEST_F(Speeds, AreUnknownOrAlike) {
  EXPECT_TRUE(speeds_in(folder_, {0, 1}).empty());
  write_capacity(0, 1024);
  EXPECT_TRUE(speeds_in(folder_, {0, 1}).empty());  // one of two is no answer
  write_capacity(1, 1024);
  EXPECT_TRUE(speeds_in(folder_, {0, 1}).empty());
  EXPECT_TRUE(speeds_in(folder_, {}).empty());
  EXPECT_EQ(count_fast({}), 0);
}

TEST_F(Speeds, BrokenFilesSayNothing) {
  write("system/cpu/cpu0/cpu_capacity", "fast");
  write("cpu_core/cpus", "x,-,3-");
  EXPECT_TRUE(speeds_in(folder_, {0, 1, 3}).empty());
}

// On this machine: no more than there are.
TEST(Processors, FastOnesAreSomeOfAll) { EXPECT_LE(fast_processors(), static_cast<int>(allowed_processors().size())); }

}  // namespace
}  // namespace tern::platform
