#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "file/gguf/gguf.h"
#include "quant/format.h"
#include "support/checkout.h"
#include "tern/engine.h"
#include "tools/tools_test_support.h"

namespace tern {
namespace {

const std::string kGolden = source_path("tests/golden/");

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
  const std::vector<TokenId> tokens = {0, 5, 17, 5, 59};
  EXPECT_TRUE(session.logits(tokens, [&](size_t, std::span<const float> row) {
    logits.insert(logits.end(), row.begin(), row.end());
    return Result<void>();
  }));
  return logits;
}

// Ternary codes and scales survive any conversion among the three formats, bit for bit.
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

// Without options everything is copied: metadata, tokenizer, tensors.
TEST(Convert, CopiesWhatIsNotAskedFor) {
  const TemporaryPath copy(".gguf");
  convert_or_fail({.in_path = kDefaultModel, .out_path = copy.str()});
  const auto from = GgufFile::open(kDefaultModel).value(), to = GgufFile::open(copy.str()).value();
  for (const auto& [key, value] : from.metadata()) {
    if (key == "general.file_type" || key == "general.alignment") continue;  // set by the writer
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

// Per-layer lists are copied like other metadata.
TEST(Convert, KeepsWhatLayersDifferIn) {
  const std::string from_path = kGolden + "families/llama_layer_heads.gguf";
  const TemporaryPath copy(".gguf");
  convert_or_fail({.in_path = from_path, .out_path = copy.str(), .type = "f32"});
  const auto from = GgufFile::open(from_path).value(), to = GgufFile::open(copy.str()).value();
  for (const std::string key : {"attention.head_count", "attention.head_count_kv", "feed_forward_length"}) {
    const auto values = to.get_ints("llama." + key).value();
    ASSERT_TRUE(values) << key;
    EXPECT_EQ(*values, from.get_ints("llama." + key).value()) << key;
  }
  EXPECT_EQ(logits_of(copy.str()), logits_of(from_path));
}

// I2_S rows that begin and end inside blocks: they get separate blocks in between, and the final bytes are the same.
TEST(Convert, WritesBlocksThatRunAcrossRows) {
  const TemporaryPath odd(".gguf"), copy(".copy.gguf");
  ASSERT_TRUE(synth({.preset = "tiny-odd", .out_path = odd.str()}));
  convert_or_fail({.in_path = odd.str(), .out_path = copy.str(), .type = "i2_s"});
  const auto from = GgufFile::open(odd.str()).value(), to = GgufFile::open(copy.str()).value();
  for (const GgufTensor& tensor : from.tensors()) {
    const GgufTensor* copied = to.find_tensor(tensor.name);
    ASSERT_NE(copied, nullptr) << tensor.name;
    ASSERT_EQ(copied->type, tensor.type);
    EXPECT_TRUE(std::ranges::equal(copied->data, tensor.data)) << tensor.name;
  }
  EXPECT_EQ(from.find_tensor("blk.0.ffn_down.weight")->data.size(), 160u * 416 / 4 + 32);
  const auto refused = convert({.in_path = odd.str(), .out_path = copy.str(), .type = "tq2_0"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("rows of tensor blk.0.attn_q.weight have 160 values, but TQ2_0 packs 256"),
            std::string::npos);
}

// Unpacking and packing again reproduces the bytes that llama.cpp wrote.
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

// Another program wrote the same model as a GGUF file: rows of q and k in llama.cpp's order, ternary weights packed
// (not left as f16), fused matrices unchanged.
TEST(Convert, MakesOfADirectoryWhatTheGgufFileHolds) {
  for (const std::string name : {"qwen3_tied", "phi3", "llama", "llama_bitlinear", "bitnet_autobitlinear",
                                 "bitnet_odd_rows", "llama_biases", "qwen2", "gemma2", "gemma3"}) {
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
    const auto actual = logits_of(out.str()), wanted = logits_of(kGolden + "families/" + name + ".gguf");
    ASSERT_EQ(actual.size(), wanted.size());
    for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], wanted[i], is_ternary ? 1e-3 : 1e-5) << name;
  }
}

// Returns the error message of a failed conversion, and checks that no file is left.
std::string refusal(const std::string& in_path, const std::string& type, const std::string& head = {},
                    const std::string& imatrix_path = {}) {
  const TemporaryPath out(".refused.gguf");
  const auto done =
      convert({.in_path = in_path, .out_path = out.str(), .type = type, .head = head, .imatrix_path = imatrix_path});
  EXPECT_FALSE(done) << type;
  EXPECT_FALSE(std::filesystem::exists(out.str()));
  return done ? "" : done.error().message;
}

TEST(Convert, RefusesToDestroyWeights) {
  const std::string plain = kGolden + "packed/qwen3_q8_0.gguf";
  for (const std::string type : {"tq2_0", "tq1_0", "q1_0", "q2_0", "pq2_0"}) {
    const std::string kind = type == "q1_0" ? "binary" : "ternary";
    const std::string head = refusal(plain, type);
    EXPECT_NE(head.find("tensor token_embd.weight is not " + kind + ": in row 0, "), std::string::npos) << head;
    EXPECT_TRUE(head.ends_with("choose another head: q8_0 or q6_k")) << head;
    const std::string layer = refusal(plain, type, "q8_0");
    EXPECT_NE(layer.find("tensor blk.0.attn_q.weight is not " + kind), std::string::npos) << layer;
    EXPECT_TRUE(layer.ends_with("choose another type: q8_0 or q6_k")) << layer;
  }
  // Binary weights are ternary, but a block of 256 spans two of their scales. Ternary weights have zeros, so not
  // binary.
  const TemporaryPath out(".gguf");
  convert_or_fail({.in_path = kGolden + "packed/qwen3_q1_0.gguf", .out_path = out.str(), .type = "pq2_0"});
  EXPECT_NE(refusal(kGolden + "packed/qwen3_q1_0.gguf", "tq2_0").find("is not ternary"), std::string::npos);
  EXPECT_NE(refusal(kGolden + "packed/qwen3_tq2_0.gguf", "q1_0").find("is not binary"), std::string::npos);
}

// File offset of the weight at (row, column) of an F32 matrix.
size_t place_in_file(const std::string& path, std::string_view name, size_t row, size_t column) {
  const auto file = GgufFile::open(path).value();
  const GgufTensor& tensor = *file.find_tensor(name);
  return tensor.offset + (row * static_cast<size_t>(tensor.shape.back()) + column) * sizeof(float);
}

// Changes one weight of a ternary matrix by 0.4 ‰ (below the precision of an f16 scale) and by 2 ‰.
TEST(Convert, RefusesASingleWeightThatIsNotTernary) {
  const TemporaryPath plain(".f32.gguf"), out(".gguf");
  convert_or_fail({.in_path = kGolden + "packed/qwen3_tq2_0.gguf", .out_path = plain.str(), .type = "f32"});
  const std::string bytes = file_bytes(plain.str());
  const size_t at = place_in_file(plain.str(), "blk.0.ffn_down.weight", 3, 7);
  const auto with_factor = [&](float factor) {
    std::string changed = bytes;
    float value = 0;
    for (size_t place = at; value == 0; place += sizeof(float)) {
      std::memcpy(&value, changed.data() + place, sizeof(float));
      if (value == 0) continue;
      value *= factor;
      std::memcpy(changed.data() + place, &value, sizeof(float));
    }
    std::ofstream(plain.str(), std::ios::binary) << changed;
  };
  with_factor(1.0004f);
  convert_or_fail({.in_path = plain.str(), .out_path = out.str(), .type = "tq2_0"});
  with_factor(1.002f);
  const std::string message = refusal(plain.str(), "tq2_0");
  EXPECT_NE(message.find("tensor blk.0.ffn_down.weight is not ternary: in row 3, TQ2_0 would turn "), std::string::npos)
      << message;
  with_factor(std::numeric_limits<float>::infinity());
  EXPECT_NE(refusal(plain.str(), "q8_0").find("blk.0.ffn_down.weight, row 3: "), std::string::npos);
  with_factor(1e30f);
  EXPECT_NE(refusal(plain.str(), "f16").find("is too great for F16; choose another type"), std::string::npos);
}

std::vector<float> decoded(const GgufFile& file, std::string_view name) {
  const GgufTensor& tensor = *file.find_tensor(name);
  std::vector<float> values(static_cast<size_t>(tensor.n_elements()));
  find_format(ggml_type_info(tensor.type)->name)->decode(tensor.data.resident(), values);
  return values;
}

// NMSE between a matrix in two files, by its definition. `importance`: of each column; empty: 1.
double nmse_between(const std::string& path, const std::string& packed_path, const std::string& name,
                    const std::vector<float>& importance = {}) {
  const auto from = GgufFile::open(path).value(), to = GgufFile::open(packed_path).value();
  const std::vector<float> values = decoded(from, name), packed = decoded(to, name);
  double error = 0, total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double weight = importance.empty() ? 1 : static_cast<double>(importance[i % importance.size()]);
    error += weight * std::pow(static_cast<double>(packed[i]) - static_cast<double>(values[i]), 2);
    total += weight * std::pow(static_cast<double>(values[i]), 2);
  }
  return error / total;
}

TEST(Convert, MeasuresWhatIsLost) {
  const std::string from = kGolden + "packed/qwen3_q8_0.gguf";
  const TemporaryPath out(".gguf");
  const auto result = convert({.in_path = from, .out_path = out.str(), .type = "q4_0", .head = "q8_0"}).value();
  ASSERT_EQ(result.losses.size(), 7u);  // the layer's matrices; the embedding is copied
  for (const MatrixLoss& loss : result.losses) {
    EXPECT_EQ(loss.from, "Q8_0");
    EXPECT_EQ(loss.to, "Q4_0");
    EXPECT_NEAR(loss.nmse, nmse_between(from, out.str(), loss.name), 1e-12) << loss.name;
    EXPECT_GT(loss.nmse, 1e-3);  // four bits lose that much
    EXPECT_LT(loss.nmse, 3e-2);
    EXPECT_FALSE(loss.weighted_nmse);
  }
  EXPECT_TRUE(std::ranges::is_sorted(result.losses, std::greater(), &MatrixLoss::nmse));
  EXPECT_GT(result.losses.front().nmse, result.losses.back().nmse);
  EXPECT_LE(result.nmse, result.losses.front().nmse);
  EXPECT_GE(result.nmse, result.losses.back().nmse);
  const auto copied = convert({.in_path = from, .out_path = out.str()}).value();
  EXPECT_TRUE(copied.losses.empty());
  EXPECT_EQ(copied.nmse, 0);
}

// An imatrix in the old format for these matrices. A few inputs of a matrix are far larger than the others.
class MadeImatrix : public TemporaryPath {
 public:
  explicit MadeImatrix(const std::vector<std::pair<std::string, size_t>>& matrices) : TemporaryPath(".dat") {
    std::ofstream file(str(), std::ios::binary);
    const auto put = [&](int32_t number) { file.write(reinterpret_cast<const char*>(&number), sizeof number); };
    put(static_cast<int32_t>(matrices.size()));
    for (const auto& [name, width] : matrices) {
      put(static_cast<int32_t>(name.size()));
      file << name;
      put(1);
      put(static_cast<int32_t>(width));
      const std::vector<float> values = importance(width);
      file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(width * sizeof(float)));
    }
  }

  static std::vector<float> importance(size_t width) {
    std::vector<float> values(width);
    for (size_t i = 0; i < width; ++i) values[i] = i % 11 == 3 ? 100.0f : 0.5f;
    return values;
  }
};

class ConvertWithImatrix : public testing::Test {
 protected:
  // All matrices of the layers with their widths.
  static std::vector<std::pair<std::string, size_t>> matrices() {
    std::vector<std::pair<std::string, size_t>> found;
    const auto file = GgufFile::open(kFrom).value();
    for (const GgufTensor& tensor : file.tensors()) {
      const bool of_layer = tensor.name.starts_with("blk.") && tensor.shape.size() == 2;
      if (of_layer) found.emplace_back(tensor.name, static_cast<size_t>(tensor.shape.back()));
    }
    return found;
  }

  const TemporaryPath out_{".gguf"};
  inline static const std::string kFrom = kGolden + "packed/qwen3_q8_0.gguf";
};

TEST_F(ConvertWithImatrix, ErrorsThatMatterGetSmaller) {
  const MadeImatrix imatrix(matrices());
  const TemporaryPath plain(".plain.gguf");
  convert_or_fail({.in_path = kFrom, .out_path = plain.str(), .type = "q6_k"});
  const auto result =
      convert({.in_path = kFrom, .out_path = out_.str(), .type = "q6_k", .imatrix_path = imatrix.str()}).value();
  ASSERT_EQ(result.losses.size(), matrices().size() + 1);
  size_t n_weighted = 0;
  for (const MatrixLoss& loss : result.losses) {
    EXPECT_NEAR(loss.nmse, nmse_between(kFrom, out_.str(), loss.name), 1e-12) << loss.name;
    if (!loss.weighted_nmse) continue;
    ++n_weighted;
    const auto width = static_cast<size_t>(GgufFile::open(kFrom).value().find_tensor(loss.name)->shape.back());
    const std::vector<float> importance = MadeImatrix::importance(width);
    EXPECT_NEAR(*loss.weighted_nmse, nmse_between(kFrom, out_.str(), loss.name, importance), 1e-12);
    EXPECT_LT(*loss.weighted_nmse, 0.8 * nmse_between(kFrom, plain.str(), loss.name, importance)) << loss.name;
  }
  EXPECT_EQ(n_weighted, matrices().size());
  EXPECT_EQ(result.not_in_imatrix, std::vector<std::string>{"token_embd.weight"});
  EXPECT_TRUE(result.not_in_model.empty());
}

TEST_F(ConvertWithImatrix, WhatDoesNotFitIsNamed) {
  auto some = matrices();
  some.pop_back();
  some.emplace_back("blk.99.attn_q.weight", 4);
  const MadeImatrix incomplete(some);
  const ConvertOptions options{
      .in_path = kFrom, .out_path = out_.str(), .type = "q6_k", .head = "q8_0", .imatrix_path = incomplete.str()};
  const auto result = convert(options).value();
  EXPECT_EQ(result.not_in_imatrix, std::vector<std::string>{matrices().back().first});
  EXPECT_EQ(result.not_in_model, std::vector<std::string>{"blk.99.attn_q.weight"});

  some = matrices();
  some[2].second += 1;
  const MadeImatrix other_model(some);
  const auto message = [&](const MadeImatrix& imatrix, const std::string& type, const std::string& head = "q8_0") {
    return refusal(kFrom, type, head, imatrix.str());
  };
  EXPECT_NE(
      message(other_model, "q6_k").find(some[2].first + ", whose rows have " + std::to_string(some[2].second - 1)),
      std::string::npos);
  EXPECT_NE(message(MadeImatrix(matrices()), "q4_0").find("no matrix is packed as a K-quant"), std::string::npos);
  EXPECT_NE(message(MadeImatrix(matrices()), "", "q6_k").find("such as token_embd.weight"), std::string::npos);
  EXPECT_NE(refusal(kFrom, "q6_k", "", kFrom).find("no imatrix"), std::string::npos);
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
