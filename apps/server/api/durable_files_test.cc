#include "server/api/durable_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tern::server::test {
namespace {

// Runs in a folder of its own, so that file names without a folder can be tested.
class Disk : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
  }
  void TearDown() override { std::filesystem::current_path(before_); }
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::filesystem::path before_ = std::filesystem::current_path();
  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / "disk";
};

TEST_F(Disk, ANameWithoutAFolderIsAFileLikeOthers) {
  std::filesystem::create_directory("below");
  for (const std::string& path : {std::string("out"), std::string("below/out"), (folder_ / "whole").string()}) {
    const Result<void> written = write_file(path, "one");
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(read(path), "one");
    const Result<void> moved = move_file(path, path + "2");
    ASSERT_TRUE(moved) << moved.error().message;
    const Result<void> removed = remove_file(path + "2");
    ASSERT_TRUE(removed) << removed.error().message;
    EXPECT_FALSE(std::filesystem::exists(path + "2"));
  }
}

TEST_F(Disk, WhatIsNotKeptLeavesNothing) {
  {
    Result<NewFile> file = NewFile::create("out");
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->add("half"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_EQ(write_file("nowhere/out", "x").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace tern::server::test
