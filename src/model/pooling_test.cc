#include "model/pooling.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "model/tiny_gguf_test_support.h"
#include "support/checkout.h"

namespace tern {
namespace {

Result<Pooling> of_gguf(std::optional<int64_t> type, bool has_input_norms = false) {
  TinyGguf file;
  if (type) file.integers["pooling_type"] = static_cast<uint32_t>(*type);
  if (has_input_norms) file.tensors["blk.0.attn_q_norm_in.weight"] = {GgmlType::kF32, {128}, {}};
  const auto model = open_model(file.write("pooling"));
  EXPECT_TRUE(model) << model.error().message;
  return read_pooling(*model);
}

TEST(Pooling, OfAGgufFile) {
  EXPECT_EQ(of_gguf({}), Pooling::kLast);
  EXPECT_EQ(of_gguf(0), Pooling::kLast);
  EXPECT_EQ(of_gguf(1), Pooling::kMean);
  EXPECT_EQ(of_gguf(3), Pooling::kLast);
  EXPECT_EQ(of_gguf(1, true), Pooling::kLast);
  const auto refused = of_gguf(2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotSupported);
  EXPECT_NE(refused.error().message.find("pooling_type is 2"), std::string::npos) << refused.error().message;
}

Result<Pooling> of_directory(const std::string& text) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "pooling";
  fs::remove_all(folder);
  fs::copy(source_path("tests/golden/families/qwen3_tied"), folder);
  fs::create_directory(folder / "1_Pooling");
  std::ofstream(folder / "1_Pooling" / "config.json") << text;
  return read_pooling(open_model(folder.string()).value());
}

TEST(Pooling, OfADirectory) {
  EXPECT_EQ(of_directory(R"({"pooling_mode_mean_tokens": true, "pooling_mode_lasttoken": false})"), Pooling::kMean);
  EXPECT_EQ(of_directory(R"({"pooling_mode_mean_tokens": false, "pooling_mode_lasttoken": true})"), Pooling::kLast);
  const auto cls = of_directory(R"({"pooling_mode_cls_token": true})");
  ASSERT_FALSE(cls);
  EXPECT_NE(cls.error().message.find("'pooling_mode_cls_token' is set"), std::string::npos) << cls.error().message;
  const auto two = of_directory(R"({"pooling_mode_mean_tokens": true, "pooling_mode_lasttoken": true})");
  ASSERT_FALSE(two);
  EXPECT_EQ(of_directory("[]").error().code, ErrorCode::kCorruption);
}

}  // namespace
}  // namespace tern
