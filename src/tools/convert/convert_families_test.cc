// Models with tensors and keys of their own in other formats: Qwen3.5, Gemma 4 and Hunyuan.
#include <gtest/gtest.h>

#include <cmath>

#include "file/gguf/gguf.h"
#include "file/gguf/gguf_writer.h"
#include "model/hf/qwen35_test_support.h"
#include "model/model.h"
#include "support/checkout.h"
#include "tern/tools.h"
#include "tools/tools_test_support.h"

namespace tern {
namespace {

const std::string kFamilies = source_path("tests/golden/families/");

std::vector<float> values_of(const Tensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.rows) * static_cast<size_t>(tensor.cols));
  format_info(tensor.format).decode(tensor.data, values);
  return values;
}

std::vector<float> values_of(const GgufTensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.n_elements()));
  format_info(tensor.type == GgmlType::kF32 ? Format::kF32 : Format::kF16).decode(tensor.data.resident(), values);
  return values;
}

// The matrices that float_formats() does not apply to, and the vectors, keep their values.
void expect_same_small_tensors(const Model& a, const Model& b) {
  ASSERT_EQ(a.weights.layers.size(), b.weights.layers.size());
  for (size_t i = 0; i < a.weights.layers.size(); ++i) {
    for (Tensor Layer::* of : {&Layer::attn_norm, &Layer::ffn_norm, &Layer::delta_conv, &Layer::delta_decay,
                               &Layer::delta_dt_bias, &Layer::delta_norm, &Layer::attn_q_norm}) {
      const Tensor &in_a = a.weights.layers[i].*of, &in_b = b.weights.layers[i].*of;
      ASSERT_EQ(in_a.is_present(), in_b.is_present()) << i;
      if (in_a.is_present()) EXPECT_EQ(values_of(in_a), values_of(in_b)) << in_a.name;
    }
  }
}

TEST(ConvertQwen35, KeepsWhatIsNoLinearLayer) {
  for (const std::string name : {"qwen35", "qwen35_tied"}) {
    const std::string from = kFamilies + name + ".gguf";
    for (const std::string type : {"", "q8_0"}) {
      const TemporaryPath out("." + name + ".gguf");
      const auto done = convert({.in_path = from, .out_path = out.str(), .type = type});
      ASSERT_TRUE(done) << done.error().message;
      const auto before = open_model(from), after = open_model(out.str());
      ASSERT_TRUE(after) << after.error().message;
      EXPECT_EQ(after->config.delta, before->config.delta);
      expect_same_small_tensors(*before, *after);
      const Tensor &w = before->weights.layers[0].delta_output, &packed = after->weights.layers[0].delta_output;
      EXPECT_EQ(packed.format, type.empty() ? w.format : Format::kQ8_0);
      const auto wanted = values_of(w), got = values_of(packed);
      for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(got[i], wanted[i], type.empty() ? 0 : 0.01) << i;
    }
  }
}

// A copy of a golden file with one more layer, which only proposes draft tokens.
void write_with_draft_layer(const std::string& path, bool has_interval) {
  const auto file = GgufFile::open(kFamilies + "qwen35.gguf").value();
  GgufWriter writer(path);
  for (const auto& [key, value] : file.metadata()) {
    const bool is_interval = key == "qwen35.full_attention_interval";
    if (key != "qwen35.block_count" && (has_interval || !is_interval)) writer.add(key, value);
  }
  writer.add_u32("qwen35.block_count", 5);
  writer.add_u32("qwen35.nextn_predict_layers", 1);
  writer.add_i32s("qwen35.attention.recurrent_layers", std::vector<int32_t>{1, 1, 1, 0, 0});
  for (const GgufTensor& tensor : file.tensors()) {
    EXPECT_TRUE(writer.add_tensor(tensor.name, tensor.type, tensor.shape));
  }
  const int64_t shape[] = {4, 4};
  EXPECT_TRUE(writer.add_tensor("blk.4.nextn.eh_proj.weight", GgmlType::kF32, shape));
  EXPECT_TRUE(writer.begin());
  for (const GgufTensor& tensor : file.tensors()) EXPECT_TRUE(writer.append(tensor.data));
  EXPECT_TRUE(writer.append(std::vector<std::byte>(64)));
  EXPECT_TRUE(writer.finish());
}

TEST(ConvertQwen35, KeepsTheLayerThatProposesDraftTokens) {
  const std::string from = kFamilies + "qwen35_predicts.gguf";
  for (const std::string type : {"", "q8_0"}) {
    const TemporaryPath out(".gguf");
    const auto done = convert({.in_path = from, .out_path = out.str(), .type = type});
    ASSERT_TRUE(done) << done.error().message;
    const auto before = open_model(from), after = open_model(out.str());
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_EQ(after->config.n_layers, before->config.n_layers);
    ASSERT_TRUE(after->prediction);
    const Weights &was = before->prediction->weights, &is = after->prediction->weights;
    EXPECT_EQ(values_of(is.next_norm), values_of(was.next_norm));
    EXPECT_EQ(values_of(is.hidden_norm), values_of(was.hidden_norm));
    EXPECT_EQ(values_of(is.output_norm), values_of(was.output_norm));
    EXPECT_EQ(values_of(is.layers[0].attn_k_norm), values_of(was.layers[0].attn_k_norm));
    EXPECT_EQ(is.layers[0].attn_q.format, type.empty() ? was.layers[0].attn_q.format : Format::kQ8_0);
    EXPECT_EQ(is.next_proj.format, type.empty() ? was.next_proj.format : Format::kQ8_0);
  }
}

TEST(ConvertQwen35, LeavesOutLayersThatProposeDraftTokens) {
  for (const bool has_interval : {true, false}) {
    const TemporaryPath in(".in.gguf"), out(".out.gguf");
    write_with_draft_layer(in.str(), has_interval);
    const auto done = convert({.in_path = in.str(), .out_path = out.str()});
    ASSERT_TRUE(done) << done.error().message;
    const auto model = open_model(out.str());
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->config.n_layers, 4);
    EXPECT_EQ(model->config.n_prediction_layers, 0);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(model->config.layer(i).is_recurrent, i < 3) << i;
  }
}

TEST(ConvertQwen35, WritesADirectorysLayerForDraftTokens) {
  const std::filesystem::path folder = fresh_folder("convert_drafts");
  std::filesystem::copy(kFamilies + "qwen35", folder,
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  add_draft_layer(folder);
  const TemporaryPath out(".gguf");
  const auto done = convert({.in_path = folder.string(), .out_path = out.str()});
  ASSERT_TRUE(done) << done.error().message;
  const auto before = open_model(folder.string()), after = open_model(out.str());
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->config.n_layers, 4);
  ASSERT_TRUE(before->prediction && after->prediction);
  const Weights &was = before->prediction->weights, &is = after->prediction->weights;
  EXPECT_EQ(values_of(is.next_norm), values_of(was.next_norm));
  EXPECT_EQ(values_of(is.layers[0].attn_q_norm), values_of(was.layers[0].attn_q_norm));
  Scratch scratch;
  std::vector<float> row(32);
  format_info(Format::kF16).decode(is.hidden_proj.data.read(32 * 2, 32 * 2, scratch).value(), row);
  EXPECT_EQ(row[0], 96);
  std::filesystem::remove_all(folder);
}

// The files are those of another converter, from the same weights.
TEST(ConvertQwen35, WritesDirectoriesAsFilesHaveThem) {
  for (const std::string name : {"qwen35", "qwen35_tied", "qwen35moe"}) {
    const TemporaryPath out(".gguf");
    const auto done = convert({.in_path = kFamilies + name, .out_path = out.str(), .type = "f32", .head = "f32"});
    ASSERT_TRUE(done) << done.error().message;
    const auto wanted = GgufFile::open(kFamilies + name + ".gguf").value(), got = GgufFile::open(out.str()).value();
    const auto model = open_model(out.str());
    ASSERT_TRUE(model) << model.error().message;
    const Config expected = open_model(kFamilies + name + ".gguf")->config;
    EXPECT_EQ(model->config.delta, expected.delta) << name;
    for (int i = 0; i < expected.n_layers; ++i) {
      EXPECT_EQ(model->config.layer(i).is_recurrent, expected.layer(i).is_recurrent) << name << " " << i;
    }
    ASSERT_EQ(got.tensors().size(), wanted.tensors().size()) << name;
    for (const GgufTensor& tensor : wanted.tensors()) {
      const GgufTensor* own = got.find_tensor(tensor.name);
      ASSERT_TRUE(own) << tensor.name;
      ASSERT_EQ(own->shape, tensor.shape) << tensor.name;
      const auto a = values_of(*own), b = values_of(tensor);
      for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-3 * (1 + std::abs(b[i]))) << tensor.name << i;
    }
  }
}

TEST(ConvertGemma4, KeepsAllTensors) {
  for (const std::string name : {"gemma4", "gemma4_values_are_keys"}) {
    const std::string from = kFamilies + name + ".gguf";
    for (const std::string type : {"", "q8_0"}) {
      const TemporaryPath out("." + name + ".gguf");
      const auto done = convert({.in_path = from, .out_path = out.str(), .type = type});
      ASSERT_TRUE(done) << done.error().message;
      const auto before = open_model(from), after = open_model(out.str());
      ASSERT_TRUE(after) << after.error().message;
      expect_same_small_tensors(*before, *after);
      EXPECT_EQ(after->config.ropes, before->config.ropes);
      EXPECT_EQ(after->weights.n_params(), before->weights.n_params());
      for (size_t i = 0; i < before->weights.layers.size(); ++i) {
        EXPECT_EQ(after->weights.layers[i].output_scale, before->weights.layers[i].output_scale) << i;
      }
    }
  }
  const TemporaryPath out(".gguf");
  const auto done = convert({.in_path = kFamilies + "gemma4", .out_path = out.str()});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("Tern does not write the keys of Gemma 4's layers"), std::string::npos);
}

TEST(ConvertHunyuan, WritesTheGreaterBase) {
  const TemporaryPath out(".gguf");
  const auto done = convert({.in_path = kFamilies + "hunyuan", .out_path = out.str()});
  ASSERT_TRUE(done) << done.error().message;
  const auto before = open_model(kFamilies + "hunyuan.gguf"), after = open_model(out.str());
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_FLOAT_EQ(after->config.ropes[0].theta, before->config.ropes[0].theta);
  EXPECT_TRUE(after->config.norms_follow_rope);
  expect_same_small_tensors(*before, *after);
}

}  // namespace
}  // namespace tern
