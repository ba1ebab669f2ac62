#include "base/files/file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tern {
namespace {

TEST(File, IsThereInMemoryOrInPieces) {
  const std::string path = testing::TempDir() + "tern_file";
  std::ofstream(path) << "0123456789";
  for (const Access access : {Access::kResident, Access::kPieces}) {
    const auto file = open_file(path, access);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ((*file)->size(), 10u);
    EXPECT_EQ((*file)->path(), path);
    EXPECT_EQ((*file)->file(), file->get());
    EXPECT_EQ(as_text((*file)->resident()), access == Access::kResident ? "0123456789" : "");
    std::string text(4, ' ');
    ASSERT_TRUE((*file)->read(5, std::as_writable_bytes(std::span(text))));
    EXPECT_EQ(text, "5678");
    const StoredBytes bytes(**file, 2, 6);
    EXPECT_EQ(bytes.is_resident(), access == Access::kResident);
    Scratch scratch;
    EXPECT_EQ(as_text(bytes.read(1, 3, scratch).value()), "345");
  }
}

TEST(File, SaysWhyItCannot) {
  const std::string path = testing::TempDir() + "tern_short_file";
  std::ofstream(path) << "0123456789";
  const auto file = open_file(path, Access::kPieces);
  ASSERT_TRUE(file);
  std::filesystem::resize_file(path, 4);
  std::string text(8, ' ');
  EXPECT_NE((*file)->read(0, std::as_writable_bytes(std::span(text))).error().message.find("became shorter"),
            std::string::npos);
  for (const Access access : {Access::kResident, Access::kPieces}) {
    EXPECT_EQ(open_file("/nonexistent/file", access).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(open_file("/tmp", access).error().code, ErrorCode::kIo);
  }
}

TEST(File, TellsFilesFromDirectories) {
  const std::string folder = testing::TempDir() + "tern_folder";
  std::filesystem::create_directories(folder + "/inner");
  std::ofstream(folder + "/a.txt") << "a";
  EXPECT_TRUE(is_directory(folder));
  EXPECT_FALSE(is_file(folder));
  EXPECT_TRUE(is_file(folder + "/a.txt"));
  EXPECT_FALSE(is_directory(folder + "/b.txt"));
  auto names = list_directory(folder);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"a.txt", "inner"}));
  EXPECT_TRUE(list_directory(folder + "/none").empty());
}

}  // namespace
}  // namespace tern
