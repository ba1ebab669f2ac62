#include <gtest/gtest.h>

#include "file/gguf.h"
#include "tern/engine.h"
#include "tools/test_support.h"

namespace tern {
namespace {

const std::string kGolden = TERN_SOURCE_DIR "/tests/golden/";

void convert_or_fail(const ConvertOptions& options) {
  const auto done = convert(options);
  ASSERT_TRUE(done) << done.error().message;
}

std::vector<float> logits_of(const std::string& path) {
  auto engine = Engine::load({.model_path = path, .backend = BackendKind::kCpu, .n_threads = 1});
  if (!engine) ADD_FAILURE() << engine.error().message;
  if (!engine) return {};
  auto session = engine->new_session({.kv_type = KvType::kF32}).value();
  std::vector<float> logits;
  const std::vector<TokenId> tokens = {0, 5, 17, 5, 99};
  EXPECT_TRUE(session.logits(tokens, [&](size_t, std::span<const float> row) {
    logits.insert(logits.end(), row.begin(), row.end());
    return Result<void>();
  }));
  return logits;
}

// Ternary codes and their scales survive any way through the three formats, to the bit.
TEST(Convert, TernaryFormatsLoseNothing) {
  const TemporaryPath tq2(".tq2.gguf"), tq1(".tq1.gguf"), back(".back.gguf");
  convert_or_fail({.in_path = kDefaultModel, .out_path = tq2.str(), .type = "tq2_0"});
  convert_or_fail({.in_path = tq2.str(), .out_path = tq1.str(), .type = "tq1_0"});
  convert_or_fail({.in_path = tq1.str(), .out_path = back.str(), .type = "i2_s"});
  const auto expected = logits_of(kDefaultModel);
  EXPECT_EQ(logits_of(tq2.str()), expected);
  EXPECT_EQ(logits_of(tq1.str()), expected);
  EXPECT_EQ(logits_of(back.str()), expected);
}

// Without options everything stays: metadata, tokenizer, tensors.
TEST(Convert, CopiesWhatIsNotAskedFor) {
  const TemporaryPath copy(".gguf");
  convert_or_fail({.in_path = kDefaultModel, .out_path = copy.str()});
  const auto from = GgufFile::open(kDefaultModel).value(), to = GgufFile::open(copy.str()).value();
  for (const auto& [key, value] : from.metadata()) {
    if (key == "general.file_type" || key == "general.alignment") continue;  // the writer's business
    const GgufValue* copied = to.find(key);
    ASSERT_NE(copied, nullptr) << key;
    EXPECT_TRUE(std::ranges::equal(copied->data, value.data)) << key;
  }
  for (const GgufTensor& tensor : from.tensors()) {
    const GgufTensor* copied = to.find_tensor(tensor.name);
    ASSERT_NE(copied, nullptr) << tensor.name;
    EXPECT_EQ(copied->type, tensor.type);
    EXPECT_TRUE(std::ranges::equal(copied->data.first(tensor.data.size() - (tensor.type == GgmlType::kI2_S ? 28 : 0)),
                                   tensor.data.first(tensor.data.size() - (tensor.type == GgmlType::kI2_S ? 28 : 0))))
        << tensor.name;
  }
}

// Unpacked and packed again, the bytes that llama.cpp wrote come back.
TEST(Convert, PacksAsLlamaCpp) {
  for (const std::string type : {"q8_0", "q4_0", "q1_0", "q2_0", "tq1_0", "tq2_0"}) {
    const std::string packed = kGolden + "packed/qwen3_" + type + ".gguf";
    const TemporaryPath plain(".f32.gguf"), again(".again.gguf");
    convert_or_fail({.in_path = packed, .out_path = plain.str(), .type = "f32"});
    convert_or_fail({.in_path = plain.str(), .out_path = again.str(), .type = type});
    const auto from = GgufFile::open(packed).value(), to = GgufFile::open(again.str()).value();
    for (const GgufTensor& tensor : from.tensors()) {
      const GgufTensor* found = to.find_tensor(tensor.name);
      ASSERT_NE(found, nullptr) << tensor.name;
      EXPECT_EQ(found->type, tensor.type) << type << " " << tensor.name;
      EXPECT_TRUE(std::ranges::equal(found->data, tensor.data)) << type << " " << tensor.name;
    }
  }
}

TEST(Convert, GivesTheHeadAFormatOfItsOwn) {
  const TemporaryPath out(".gguf");
  convert_or_fail({.in_path = kDefaultModel, .out_path = out.str(), .head = "q6_k"});
  const auto file = GgufFile::open(out.str()).value();
  EXPECT_EQ(file.find_tensor("token_embd.weight")->type, GgmlType::kQ6_K);
  EXPECT_EQ(file.find_tensor("blk.0.attn_q.weight")->type, GgmlType::kI2_S);
}

// The same model was written as a GGUF file by another program: rows of q and k in llama.cpp's order, ternary weights
// packed (not left as f16), fused matrices as they are.
TEST(Convert, MakesOfADirectoryWhatTheGgufFileHolds) {
  for (const std::string name : {"qwen3_tied", "phi3", "llama", "llama_bitlinear", "bitnet_autobitlinear"}) {
    const bool is_ternary = name.contains("bit");
    const TemporaryPath out(".gguf");
    convert_or_fail({.in_path = kGolden + "families/" + name,
                     .out_path = out.str(),
                     .type = is_ternary ? "i2_s" : "f16",
                     .head = "f16"});
    const auto expected = GgufFile::open(kGolden + "families/" + name + ".gguf").value();
    const auto file = GgufFile::open(out.str()).value();
    EXPECT_EQ(file.tensors().size(), expected.tensors().size()) << name;
    for (const GgufTensor& tensor : expected.tensors()) {
      const GgufTensor* found = file.find_tensor(tensor.name);
      ASSERT_NE(found, nullptr) << name << " " << tensor.name;
      ASSERT_EQ(found->type, tensor.type) << name << " " << tensor.name;
      EXPECT_EQ(found->shape, tensor.shape);
      const size_t tail = tensor.type == GgmlType::kI2_S ? 32 : 0;
      const size_t size = tensor.data.size() - tail;
      EXPECT_TRUE(std::ranges::equal(found->data.first(size), tensor.data.first(size))) << name << " " << tensor.name;
      if (tail == 0) continue;
      const auto scale = load<float>(tensor.data.data() + size);
      EXPECT_NEAR(load<float>(found->data.data() + size), scale, 1e-6 * scale) << name << " " << tensor.name;
    }
    EXPECT_EQ(logits_of(out.str()).size(), logits_of(kGolden + "families/" + name + ".gguf").size());
  }
}

TEST(Convert, RefusesWithTheReason) {
  const struct {
    ConvertOptions options;
    ErrorCode code;
    const char* message;
  } cases[] = {
      {{.in_path = kDefaultModel, .out_path = kDefaultModel}, ErrorCode::kInvalidArgument, "over itself"},
      {{.in_path = kDefaultModel, .out_path = ""}, ErrorCode::kInvalidArgument, "name the file"},
      {{.in_path = kDefaultModel, .out_path = "/tmp/x.gguf", .type = "q8_0"},
       ErrorCode::kInvalidArgument,
       "choose one of i2_s, tq1_0, tq2_0"},
      {{.in_path = kDefaultModel, .out_path = "/tmp/x.gguf", .head = "i2_s"},
       ErrorCode::kInvalidArgument,
       "the head cannot be \"i2_s\""},
      {{.in_path = kGolden + "families/llama.gguf", .out_path = "/tmp/x.gguf", .type = "tq2_0"},
       ErrorCode::kNotSupported,
       "choose another type"},
      {{.in_path = "/does/not/exist", .out_path = "/tmp/x.gguf"}, ErrorCode::kNotFound, "/does/not/exist"},
  };
  for (const auto& c : cases) {
    const auto done = convert(c.options);
    ASSERT_FALSE(done) << c.message;
    EXPECT_EQ(done.error().code, c.code) << done.error().message;
    EXPECT_NE(done.error().message.find(c.message), std::string::npos) << done.error().message;
  }
}

}  // namespace
}  // namespace tern
