#include "file/npy_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/bytes.h"
#include "base/files/mapped_file.h"
#include "base/result_test_support.h"
#include "base/text/format_text.h"

namespace tern {
namespace {

namespace fs = std::filesystem;
using enum ErrorCode;
using namespace std::string_literals;

std::string temp_path(std::string_view name) { return testing::TempDir() + "tern_" + std::string(name); }

TEST(NpyStream, WritesWhatNumpyReads) {
  const std::string path = temp_path("two_by_three.npy");
  auto npy = NpyStream::create(path, 2, 3);
  ASSERT_TRUE(npy) << npy.error().message;
  ASSERT_TRUE(npy->append(std::vector{1.0f, 2.0f, 3.0f}));
  ASSERT_TRUE(npy->append(std::vector{-1.0f, 0.5f, 0.0f}));
  ASSERT_TRUE(npy->finish());
  // Same layout as `numpy.save`: 10 bytes, then 118 of dictionary, spaces and newline.
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  const std::string header =
      "\x93NUMPY\x01\x00\x76\x00"s + dictionary + std::string(117 - dictionary.size(), ' ') + "\n";
  const float values[] = {1, 2, 3, -1, 0.5f, 0};
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(as_text(file->bytes()), header + std::string(as_text(std::as_bytes(std::span(values)))));
  fs::remove(path);
}

TEST(NpyStream, NumbersStartAtAMultipleOf64) {
  const std::string path = temp_path("padded.npy");
  for (size_t rows = 0, digits = 0; digits < 12; ++digits, rows = rows * 10) {
    auto npy = NpyStream::create(path, rows, 0);
    ASSERT_TRUE(npy);
    ASSERT_TRUE(npy->finish());
    EXPECT_EQ(fs::file_size(path) % 64, 0u) << rows;
  }
  // The digits of the shape move the end of the dictionary through a full padding step.
  for (size_t cols = 1; cols <= 1'000'000'000; cols *= 10) {
    auto npy = NpyStream::create(path, 0, cols);
    ASSERT_TRUE(npy);
    ASSERT_TRUE(npy->finish());
    EXPECT_EQ(fs::file_size(path) % 64, 0u) << cols;
  }
  fs::remove(path);
}

TEST(NpyStream, LargeArraysGoThroughWhole) {
  const std::string path = temp_path("large.npy");
  constexpr size_t kRows = 37, kCols = 100'003;
  auto npy = NpyStream::create(path, kRows, kCols);
  ASSERT_TRUE(npy);
  std::vector<float> row(kCols);
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kCols; ++c) row[c] = static_cast<float>(r * 7 + c);
    ASSERT_TRUE(npy->append(row));
  }
  ASSERT_TRUE(npy->finish());
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  ASSERT_EQ(file->bytes().size(), 128 + kRows * kCols * sizeof(float));
  for (size_t i = 0; i < kRows * kCols; ++i) {
    ASSERT_EQ(load<float>(file->bytes().data() + 128 + i * sizeof(float)),
              static_cast<float>(i / kCols * 7 + i % kCols));
  }
  fs::remove(path);
}

// Counts unfinished files beside `path`.
int n_partial_files(const std::string& path) {
  int n = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path())) {
    const std::string name = entry.path().filename().string();
    n += name.starts_with(fs::path(path).filename().string() + ".") && name.ends_with(".partial");
  }
  return n;
}

TEST(NpyStream, TwoWritersOfOneFileMakeAWholeOneEach) {
  const std::string path = temp_path("two_writers.npy");
  auto first = NpyStream::create(path, 2, 1);
  auto second = NpyStream::create(path, 2, 1);
  ASSERT_TRUE(first && second);
  for (const float value : {1.0f, 2.0f}) {
    ASSERT_TRUE(first->append(std::vector{value}));
    ASSERT_TRUE(second->append(std::vector{10 * value}));
  }
  const auto last_value = [&] {
    const auto file = MappedFile::open(path).value();
    EXPECT_EQ(file.bytes().size(), 128 + 2 * sizeof(float));
    return load<float>(file.bytes().data() + 128 + sizeof(float));
  };
  ASSERT_TRUE(first->finish());
  EXPECT_EQ(last_value(), 2);
  ASSERT_TRUE(second->finish());
  EXPECT_EQ(last_value(), 20);
  EXPECT_EQ(n_partial_files(path), 0);
  fs::remove(path);
}

TEST(NpyStream, WhatAKilledWriterLeftIsRemoved) {
  const std::string path = temp_path("left_behind.npy");
  std::vector<std::string> left;
  for (int i = 0; i < 60; ++i) {
    left.push_back(path + "." + std::to_string(::getpid()) + "-" + std::to_string(i) + ".partial");
    std::ofstream(left.back()) << "old";
  }
  auto npy = NpyStream::create(path, 1, 1);
  ASSERT_TRUE(npy);
  ASSERT_TRUE(npy->append(std::vector{1.0f}));
  ASSERT_TRUE(npy->finish());
  EXPECT_EQ(fs::file_size(path), 128 + sizeof(float));
  for (const std::string& file : left) EXPECT_FALSE(fs::exists(file)) << file;
  fs::remove(path);
}

TEST(NpyStream, AnUnfinishedFileIsRemoved) {
  const std::string path = temp_path("unfinished.npy");
  {
    auto npy = NpyStream::create(path, 2, 1);
    ASSERT_TRUE(npy);
    ASSERT_TRUE(npy->append(std::vector{1.0f}));
    expect_failure(npy->append(std::vector{1.0f, 2.0f}), kInvalidArgument, "row 2 of 2 values does not fit");
    expect_failure(npy->finish(), kInvalidArgument, "finished after 1 of 2 rows");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(n_partial_files(path), 0);
}

TEST(NpyStream, TooManyRowsAreRefused) {
  const std::string path = temp_path("too_many.npy");
  auto npy = NpyStream::create(path, 1, 1);
  ASSERT_TRUE(npy);
  ASSERT_TRUE(npy->append(std::vector{1.0f}));
  expect_failure(npy->append(std::vector{1.0f}), kInvalidArgument, "does not fit an array of 1 rows of 1");
  ASSERT_TRUE(npy->finish());
  fs::remove(path);
}

TEST(NpyStream, FollowsSymbolicLinks) {
  const std::string target = temp_path("link_target.npy"), link = temp_path("link.npy");
  std::ofstream(target) << "old";
  fs::remove(link);
  fs::create_symlink(target, link);
  auto npy = NpyStream::create(link, 0, 1);
  ASSERT_TRUE(npy);
  ASSERT_TRUE(npy->finish());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(fs::file_size(target), 128u);
  fs::remove(link);
  fs::remove(target);
}

TEST(NpyStream, ReportsAFullDisk) {
  const std::string no_space = "/dev/full: cannot write it: No space left on device; free some space";
  auto small = NpyStream::create("/dev/full", 1, 4);
  ASSERT_TRUE(small);
  ASSERT_TRUE(small->append(std::vector<float>(4)));  // still buffered
  expect_failure(small->finish(), kIo, no_space);
  expect_failure(small->finish(), kIo, no_space);
  auto large = NpyStream::create("/dev/full", 2, 1 << 20);
  ASSERT_TRUE(large);
  const std::vector<float> row(1 << 20);
  expect_failure(large->append(row), kIo, no_space);
  EXPECT_TRUE(fs::exists("/dev/full"));
}

TEST(NpyStream, ReportsAClosedPipeAndLivesOn) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  auto npy = NpyStream::create(format_text("/dev/fd/{}", ends[1]), 1, 2);
  ASSERT_TRUE(npy) << npy.error().message;
  ASSERT_TRUE(npy->append(std::vector{1.0f, 2.0f}));
  ::close(ends[0]);
  expect_failure(npy->finish(), kIo, "Broken pipe; the reading program ended early");
  ::close(ends[1]);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST(NpyStream, WritesIntoPipes) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  auto npy = NpyStream::create(format_text("/dev/fd/{}", ends[1]), 1, 2);
  ASSERT_TRUE(npy) << npy.error().message;
  ASSERT_TRUE(npy->append(std::vector{1.0f, 2.0f}));
  ASSERT_TRUE(npy->finish());
  ::close(ends[1]);
  char bytes[256];
  EXPECT_EQ(::read(ends[0], bytes, sizeof(bytes)), 128 + 8);
  ::close(ends[0]);
}

TEST(NpyStream, DashIsStandardOutput) {
  const std::string path = temp_path("stdout.npy");
  const int saved = ::dup(STDOUT_FILENO);
  const int to = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ASSERT_GE(to, 0);
  ::dup2(to, STDOUT_FILENO);
  Result<void> finished = fail(kIo, "not reached");
  if (auto npy = NpyStream::create("-", 0, 1)) finished = npy->finish();
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ::close(to);
  EXPECT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(fs::file_size(path), 128u);
  fs::remove(path);
}

}  // namespace
}  // namespace tern
