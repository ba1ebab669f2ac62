#include "backend/gpu/record/tuned_layouts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tern::gpu {
namespace {

using Settings = std::vector<std::string>;

class ScratchFolder {
 public:
  ScratchFolder() { std::filesystem::create_directories(folder_); }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tern-tuned-layouts-" + std::to_string(::getpid()));
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TunedLayouts, AreKeptForEachKey) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path("new");
  EXPECT_EQ(kept_settings(folder, "a"), Settings{});
  ASSERT_TRUE(keep_settings(folder, "a", {"glu=16x2x256", "norm=512"}));
  ASSERT_TRUE(keep_settings(folder, "a b", {"norm=256"}));
  EXPECT_EQ(kept_settings(folder, "a"), (Settings{"glu=16x2x256", "norm=512"}));
  EXPECT_EQ(kept_settings(folder, "a b"), Settings{"norm=256"});
  EXPECT_EQ(kept_settings(folder, "b"), Settings{});
  ASSERT_TRUE(keep_settings(folder, "a", {"norm=1024"}));
  EXPECT_EQ(kept_settings(folder, "a"), Settings{"norm=1024"});
  const auto file = keep_settings(folder, "a", {});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(kept_settings(folder, "a"), Settings{});
  EXPECT_EQ(kept_settings(folder, "a b"), Settings{"norm=256"});
  EXPECT_EQ(text_of(*file), "tern gpu layouts 1\na b\tnorm=256\n");
}

TEST(TunedLayouts, OnlyKnownSettingsAreTakenFromAFile) {
  const ScratchFolder scratch;
  std::ofstream(scratch.path("layouts"))
      << "tern gpu layouts 1\na\tnorm=0 glu=1x1x4294967295 norm=512 rm -rf\nb\t\n\n\t";
  EXPECT_EQ(kept_settings(scratch.path(""), "a"), Settings{"norm=512"});
  EXPECT_EQ(kept_settings(scratch.path(""), "b"), Settings{});
}

TEST(TunedLayouts, AFileOfAnotherVersionIsReplaced) {
  const ScratchFolder scratch;
  std::ofstream(scratch.path("layouts")) << "tern gpu layouts 0\na\tnorm=512\n";
  EXPECT_EQ(kept_settings(scratch.path(""), "a"), Settings{});
  ASSERT_TRUE(keep_settings(scratch.path(""), "b", {"norm=256"}));
  EXPECT_EQ(text_of(scratch.path("layouts")), "tern gpu layouts 1\nb\tnorm=256\n");
}

TEST(TunedLayouts, AFolderThatCannotBeWritten) {
  const ScratchFolder scratch;
  std::ofstream(scratch.path("file")) << "x";
  const auto kept = keep_settings(scratch.path("file"), "a", {"norm=256"});
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, ErrorCode::kIo);
  EXPECT_NE(kept.error().message.find(scratch.path("file")), std::string::npos) << kept.error().message;
}

}  // namespace
}  // namespace tern::gpu
