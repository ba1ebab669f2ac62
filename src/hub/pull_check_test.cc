// The check before a download.
#include "base/text/format_text.h"
#include "hub/pull_test_support.h"

namespace tern::hub {
namespace {

using PullCheckTest = PullTest;

// Reads `n` bytes of the first part and returns `answer`.
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
  EXPECT_EQ(hub_.server().count("GET", "/resolve/"), 1u);  // for the first megabyte
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
  ASSERT_TRUE(pull("owner/model:README.md"));  // not a GGUF file
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
  EXPECT_TRUE(file_bytes(*path) == hub_.files["model-i2_s.gguf"].bytes);
}

// A Hugging Face directory on the hub: large weights, and small files that describe them.
class PullCheckDirectoryTest : public PullTest {
 protected:
  PullCheckDirectoryTest() {
    hub_.files.clear();
    hub_.files["config.json"] = {.bytes = "{\"model_type\": \"x\"}", .is_large = false};
    hub_.files["tokenizer.json"] = {.bytes = test_bytes(2'000'000, 3)};
    hub_.files["model.safetensors"].bytes = test_bytes(9'000'000);
  }

  // Reads all of config.json, and 8 bytes of the weights.
  auto check_config(Result<void> answer) {
    return [answer, this](std::span<const FilePreview> files) -> Result<void> {
      seen_ += format_text("{} files", files.size());
      for (const FilePreview& file : files) {
        if (!file.path.ends_with("config.json") && !file.path.ends_with(".safetensors")) continue;
        std::string bytes(file.path.ends_with(".json") ? file.bytes : 8, '\0');
        TRY_STATUS(file.read_beginning(std::as_writable_bytes(std::span(bytes))));
        seen_ += format_text(", {} of {} bytes", file.path, file.bytes);
        is_right_ = is_right_ && hub_.files[file.path.substr(12)].bytes.starts_with(bytes);
      }
      return answer;
    };
  }

  std::string seen_;
  bool is_right_ = true;
};

TEST_F(PullCheckDirectoryTest, WhatIsRefusedIsNotDownloaded) {
  options_.check = check_config(fail(ErrorCode::kNotSupported, "no such family"));
  EXPECT_EQ(failure(), "no such family");
  EXPECT_EQ(seen_, "3 files, owner/model/config.json of 19 bytes, owner/model/model.safetensors of 9000000 bytes");
  EXPECT_TRUE(is_right_);
  EXPECT_EQ(hub_.server().count("GET", "/resolve/"), 2u);  // all of config.json, and the first megabyte of the weights
  EXPECT_FALSE(std::filesystem::exists(repo("blobs")));
}

TEST_F(PullCheckDirectoryTest, WhatIsHereIsReadWhereItIs) {
  options_.check = check_config({});
  hub_.before = [](const TestRequest& request) {
    const bool is_rest =
        request.path.contains(".safetensors") && !request.headers.at("range").starts_with("bytes=0-1048575");
    return TestReply{.status = is_rest ? 403 : 0};
  };
  EXPECT_FALSE(pull());  // the small files were fetched, the weights were not
  hub_.before = [](const TestRequest&) { return TestReply{.status = 0}; };
  seen_.clear();
  const size_t config_requests = hub_.server().count("GET", "config.json");
  ASSERT_TRUE(pull());
  EXPECT_TRUE(seen_.starts_with("3 files")) << seen_;
  EXPECT_TRUE(is_right_);
  EXPECT_EQ(hub_.server().count("GET", "config.json"), config_requests);
  seen_.clear();
  ASSERT_TRUE(pull());
  EXPECT_EQ(seen_, "");  // all files are here
}

TEST_F(PullCheckDirectoryTest, AHostWithoutRangesSendsSmallFilesWhole) {
  hub_.knows_ranges = false;
  options_.check = [this](std::span<const FilePreview> files) -> Result<void> {
    std::string bytes(files.front().bytes, '\0');
    TRY_STATUS(files.front().read_beginning(std::as_writable_bytes(std::span(bytes))));
    is_right_ = bytes == hub_.files["config.json"].bytes;
    return fail(ErrorCode::kNotSupported, "no such family");
  };
  EXPECT_EQ(failure(), "no such family");
  EXPECT_TRUE(is_right_);
  options_.check = check_config(fail(ErrorCode::kNotSupported, "no such family"));
  ASSERT_TRUE(pull());  // the beginning of the weights is not available
}

}  // namespace
}  // namespace tern::hub
