// What is looked at before it is downloaded.
#include "base/format_text.h"
#include "hub/pull_test_support.h"

namespace tern::hub {
namespace {

using PullCheckTest = PullTest;

// Reads `n` bytes of the first part and says `answer`.
auto check_reading(size_t n, Result<void> answer, std::string* seen = nullptr) {
  return [=](std::span<const FilePreview> parts) -> Result<void> {
    std::string bytes(n, '\0');
    TRY_STATUS(parts.front().read_beginning(std::as_writable_bytes(std::span(bytes))));
    if (seen)
      *seen = format_text("{} parts, {} of {} bytes: {}", parts.size(), parts.front().path, parts.front().bytes, bytes);
    return answer;
  };
}

TEST_F(PullCheckTest, WhatIsRefusedIsNotDownloaded) {
  hub_.files["model-i2_s.gguf"].bytes = test_bytes(9'000'000);
  options_.check = check_reading(100, fail(ErrorCode::kNotSupported, "no such family"));
  const auto path = pull();
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().message, "no such family");
  EXPECT_EQ(path.error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(hub_.server().count("GET", "/resolve/"), 1u);  // of the first megabyte
  EXPECT_EQ(partial_files(), 0u);
  EXPECT_FALSE(std::filesystem::exists(repo("refs/main")));
}

TEST_F(PullCheckTest, ChecksTheBeginningOnlyWhereSomethingIsMissing) {
  std::string seen;
  options_.check = check_reading(4, {}, &seen);
  ASSERT_TRUE(pull());
  EXPECT_EQ(seen, "1 parts, owner/model/model-i2_s.gguf of 300000 bytes: " + test_bytes(4));
  seen.clear();
  ASSERT_TRUE(pull());
  EXPECT_EQ(seen, "");
  ASSERT_TRUE(pull("owner/model:README.md"));  // no GGUF file
  EXPECT_EQ(seen, "");
}

TEST_F(PullCheckTest, ChecksAllPartsOfASplitModel) {
  hub_.files.clear();
  hub_.files["m-00001-of-00002.gguf"].bytes = test_bytes(70'000);
  hub_.files["m-00002-of-00002.gguf"].bytes = test_bytes(50'000, 2);
  std::string seen;
  options_.check = check_reading(1, {}, &seen);
  ASSERT_TRUE(pull());
  EXPECT_TRUE(seen.starts_with("2 parts, owner/model/m-00001-of-00002.gguf of 70000 bytes")) << seen;
}

TEST_F(PullCheckTest, AHostWithoutRangesIsNotAsked) {
  hub_.knows_ranges = false;
  hub_.files["model-i2_s.gguf"].bytes = test_bytes(3'000'000);
  options_.check = check_reading(100, fail(ErrorCode::kNotSupported, "no such family"));
  const auto path = pull();
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_TRUE(bytes_of(*path) == hub_.files["model-i2_s.gguf"].bytes);
}

}  // namespace
}  // namespace tern::hub
