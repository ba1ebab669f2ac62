#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/files/read_file_test_support.h"
#include "file/gguf/gguf_writer.h"
#include "support/checkout.h"
#include "tern/file_preview.h"

namespace tern {
namespace {

const std::string kDefaultModel = source_path("models/tern-stories.gguf");

std::vector<char> bytes_of(const std::string& path) {
  const std::string bytes = file_bytes(path);
  return {bytes.begin(), bytes.end()};
}

// A preview of the file that records the most bytes requested.
FilePreview preview_of(const std::vector<char>& bytes, size_t* most_read = nullptr) {
  return {
      .path = "o/m/file.gguf", .bytes = bytes.size(), .read_beginning = [&bytes, most_read](std::span<std::byte> into) {
        EXPECT_LE(into.size(), bytes.size());
        std::memcpy(into.data(), bytes.data(), into.size());
        if (most_read) *most_read = std::max(*most_read, into.size());
        return Result<void>();
      }};
}

Result<void> check(const std::vector<char>& bytes, size_t* most_read = nullptr) {
  const FilePreview preview = preview_of(bytes, most_read);
  return check_model_header({&preview, 1});
}

TEST(CheckHeader, AcceptsWhatLoadsWithoutItsWeights) {
  const std::vector<char> model = bytes_of(kDefaultModel);
  size_t most_read = 0;
  const Result<void> checked = check(model, &most_read);
  EXPECT_TRUE(checked) << checked.error().message;
  EXPECT_LE(most_read, 1u << 20);  // of 16 MB
  for (const char* family : {"llama", "qwen3_tied", "phi3", "bitnet_large"}) {
    EXPECT_TRUE(check(bytes_of(source_path("tests/golden/families/") + std::string(family) + ".gguf"))) << family;
  }
}

// One of two parts, each with every second tensor of the default model; the first part has the metadata.
std::vector<char> part_of_default_model(int number) {
  const std::string path = testing::TempDir() + "check_header_part.gguf";
  const GgufFile model = GgufFile::open(kDefaultModel).value();
  GgufWriter writer(path);
  for (const auto& [key, value] : model.metadata()) {
    if (number == 0) writer.add(key, value);
  }
  std::vector<const GgufTensor*> own;
  for (size_t i = static_cast<size_t>(number); i < model.tensors().size(); i += 2) own.push_back(&model.tensors()[i]);
  for (const GgufTensor* tensor : own) EXPECT_TRUE(writer.add_tensor(tensor->name, tensor->type, tensor->shape));
  EXPECT_TRUE(writer.begin());
  for (const GgufTensor* tensor : own) EXPECT_TRUE(writer.append(tensor->data.resident()));
  EXPECT_TRUE(writer.finish());
  return bytes_of(path);
}

TEST(CheckHeader, LooksAtAllPartsOfASplitModel) {
  const std::vector<char> first = part_of_default_model(0), second = part_of_default_model(1);
  const FilePreview parts[] = {preview_of(first), preview_of(second)};
  const Result<void> checked = check_model_header(parts);
  EXPECT_TRUE(checked) << checked.error().message;
  EXPECT_FALSE(check_model_header({parts, 1}));  // half of the tensors are missing
}

TEST(CheckHeader, RefusesAsLoadingDoes) {
  std::vector<char> model = bytes_of(kDefaultModel);
  const std::string_view family = "bitnet-b1.58";
  const auto at = std::ranges::search(model, family);
  ASSERT_FALSE(at.empty());
  *at.begin() = 'x';
  const Result<void> checked = check(model);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kNotSupported);
  EXPECT_TRUE(checked.error().message.starts_with("o/m/file.gguf: architecture \"xitnet-b1.58\" is not one"))
      << checked.error().message;
}

TEST(CheckHeader, RefusesATokenizerThatTernDoesNotHave) {
  std::vector<char> model = bytes_of(kDefaultModel);
  const std::string_view pre = "llama-bpe";
  const auto at = std::ranges::search(model, pre);
  ASSERT_FALSE(at.empty());
  std::ranges::copy(std::string_view("llama-xyz"), at.begin());
  const Result<void> checked = check(model);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("llama-xyz"), std::string::npos) << checked.error().message;
}

TEST(CheckHeader, RefusesWhatIsNoModel) {
  EXPECT_FALSE(check({}));
  EXPECT_FALSE(check(std::vector<char>(5000, 'x')));
  EXPECT_FALSE(check_model_header({}));
  std::vector<char> cut = bytes_of(kDefaultModel);
  cut.resize(2'000'000);  // the whole header, but the tensors exceed the file
  const Result<void> checked = check(cut);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kCorruption);
}

TEST(CheckHeader, SaysWhyTheBeginningCannotBeRead) {
  const FilePreview unreadable = {.path = "o/m/x.gguf", .bytes = 1000, .read_beginning = [](std::span<std::byte>) {
                                    return Result<void>(std::unexpected(Error{ErrorCode::kIo, "gone"}));
                                  }};
  const Result<void> checked = check_model_header({&unreadable, 1});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "gone");
}

}  // namespace
}  // namespace tern
