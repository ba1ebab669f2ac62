#include "backend/gpu/record/tuned_layouts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tern::gpu {
namespace {

using Settings = std::vector<std::string>;

TEST(TunedLayouts, AreKeptForEachKey) {
  EXPECT_EQ(kept_settings("", "a"), Settings{});
  std::string file = with_settings("", "a", {"glu=16x2x256", "norm=512"});
  file = with_settings(file, "a b", {"norm=256"});
  EXPECT_EQ(kept_settings(file, "a"), (Settings{"glu=16x2x256", "norm=512"}));
  EXPECT_EQ(kept_settings(file, "a b"), Settings{"norm=256"});
  EXPECT_EQ(kept_settings(file, "b"), Settings{});
  file = with_settings(file, "a", {"norm=1024"});
  EXPECT_EQ(kept_settings(file, "a"), Settings{"norm=1024"});
  file = with_settings(file, "a", {});
  EXPECT_EQ(kept_settings(file, "a"), Settings{});
  EXPECT_EQ(kept_settings(file, "a b"), Settings{"norm=256"});
  EXPECT_EQ(file, "tern gpu layouts 1\na b\tnorm=256\n");
}

TEST(TunedLayouts, OnlyKnownSettingsAreTakenFromAFile) {
  const std::string file = "tern gpu layouts 1\na\tnorm=0 glu=1x1x4294967295 norm=512 rm -rf\nb\t\n\n\t";
  EXPECT_EQ(kept_settings(file, "a"), Settings{"norm=512"});
  EXPECT_EQ(kept_settings(file, "b"), Settings{});
}

TEST(TunedLayouts, AFileOfAnotherVersionIsReplaced) {
  const std::string file = "tern gpu layouts 0\na\tnorm=512\n";
  EXPECT_EQ(kept_settings(file, "a"), Settings{});
  EXPECT_EQ(with_settings(file, "b", {"norm=256"}), "tern gpu layouts 1\nb\tnorm=256\n");
}

}  // namespace
}  // namespace tern::gpu
