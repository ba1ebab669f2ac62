#include "base/files/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace tern {
namespace {

TEST(MappedFile, MapsTheWholeFile) {
  const std::string path = testing::TempDir() + "tern_mapped_file";
  std::ofstream(path) << "hello";
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(as_text(file->bytes()), "hello");
  MappedFile moved = std::move(*file);
  EXPECT_EQ(as_text(moved.bytes()), "hello");
  EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFile, SaysWhyItCannot) {
  EXPECT_EQ(MappedFile::open("/nonexistent/file").error().code, ErrorCode::kNotFound);
  EXPECT_NE(MappedFile::open("/tmp").error().message.find("directory"), std::string::npos);
  EXPECT_EQ(MappedFile::open("/dev/null").error().code, ErrorCode::kIo);
  const std::string pipe = testing::TempDir() + "tern_pipe";
  ASSERT_TRUE(::mkfifo(pipe.c_str(), 0600) == 0 || errno == EEXIST);
  EXPECT_EQ(MappedFile::open(pipe).error().code, ErrorCode::kIo);
  const std::string path = testing::TempDir() + "tern_empty_file";
  std::ofstream(path).close();
  EXPECT_EQ(MappedFile::open(path).error().code, ErrorCode::kCorruption);
}

TEST(ReadTextFile, ReadsMoreThanOneChunk) {
  const std::string path = testing::TempDir() + "tern_long_text";
  const std::string text(200'001, 'x');
  std::ofstream(path) << text;
  EXPECT_EQ(read_text_file(path).value(), text);
  EXPECT_EQ(read_text_file("/tmp").error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace tern
