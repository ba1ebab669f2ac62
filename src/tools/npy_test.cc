#include <gtest/gtest.h>

#include "tools/tools_test_support.h"

namespace tern {
namespace {

TEST(NpyWriter, WritesRowsBehindAHeader) {
  const TemporaryPath path(".npy");
  auto writer = NpyWriter::create(path.str(), 2, 3);
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  ASSERT_TRUE(writer->append(std::vector<float>{1, 2, 3}));
  ASSERT_TRUE(writer->append(std::vector<float>{4, 5, 6}));
  ASSERT_TRUE(writer->finish());
  const auto text = read_text(path.str());
  ASSERT_TRUE(text.has_value());
  EXPECT_TRUE(text->starts_with("\x93NUMPY"));
  EXPECT_NE(text->find("'shape': (2, 3)"), std::string::npos);
  EXPECT_EQ(text->size() % 64, 6 * sizeof(float));
  EXPECT_EQ(load<float>(as_bytes(*text).last(4).data()), 6.0f);
}

TEST(NpyWriter, AnUnfinishedFileIsRemoved) {
  const TemporaryPath path(".npy");
  {
    auto writer = NpyWriter::create(path.str(), 2, 1);
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(writer->append(std::vector<float>{1}));
  }
  EXPECT_FALSE(std::filesystem::exists(path.str()));
}

TEST(ReadText, ErrorsNameTheFile) {
  const auto text = read_text("/nowhere/text.txt");
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::kNotFound);
  EXPECT_NE(text.error().message.find("/nowhere/text.txt"), std::string::npos);
}

}  // namespace
}  // namespace tern
