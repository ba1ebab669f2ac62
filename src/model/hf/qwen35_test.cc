// Directories of Qwen3.5: for text alone, and in the form of models for text and images.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/result_test_support.h"
#include "file/safetensors/safetensors_test_support.h"
#include "model/hf/qwen35_test_support.h"
#include "model/model.h"
#include "support/checkout.h"

namespace tern {
namespace {

using enum ErrorCode;
namespace fs = std::filesystem;

// A copy of a golden directory whose configuration a test changes.
class Qwen35Directory : public testing::Test {
 protected:
  ~Qwen35Directory() override { fs::remove_all(folder_); }

  void copy(const std::string& golden) {
    fs::copy(source_path("tests/golden/families/" + golden), folder_,
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    std::ifstream file(folder_ / "config.json");
    config_ = good_ = nlohmann::json::parse(file);
  }
  Result<Model> open() const {
    std::ofstream(folder_ / "config.json") << config_.dump();
    return open_model(folder_);
  }
  void expect_refused(ErrorCode code, std::string_view part) {
    expect_failure(open(), code, part, folder_.string());
    config_ = good_;
  }

  const fs::path folder_ = fresh_folder("qwen35_directory");
  nlohmann::json config_, good_;
};

std::vector<float> values_of(const Tensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.rows) * static_cast<size_t>(tensor.cols));
  format_info(tensor.format).decode(tensor.data, values);
  return values;
}

TEST_F(Qwen35Directory, IsWhatTheFileIs) {
  for (const std::string name : {"qwen35", "qwen35_tied"}) {
    copy(name);
    const auto model = open(), file = open_model(source_path("tests/golden/families/" + name + ".gguf"));
    ASSERT_TRUE(model) << model.error().message;
    Config expected = file->config;
    expected.delta.is_tiled = false;
    EXPECT_EQ(model->config.delta, expected.delta);
    EXPECT_EQ(model->config.ropes[0].n_dims, expected.ropes[0].n_dims);
    EXPECT_TRUE(model->config.has_gated_attention);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(model->config.layer(i).is_recurrent, expected.layer(i).is_recurrent) << i;
    const Layer &l = model->weights.layers[0], &of_file = file->weights.layers[0];
    EXPECT_EQ(values_of(l.attn_norm), values_of(of_file.attn_norm));
    EXPECT_EQ(values_of(l.ffn_norm), values_of(of_file.ffn_norm));
    EXPECT_EQ(values_of(l.delta_norm), values_of(of_file.delta_norm));
    EXPECT_EQ(values_of(l.delta_conv)[0], values_of(of_file.delta_conv)[0]);
    EXPECT_NEAR(values_of(l.delta_decay)[0], values_of(of_file.delta_decay)[0], 1e-6);
  }
}

TEST_F(Qwen35Directory, SaysWhichLayersAreRecurrent) {
  copy("qwen35");
  config_["full_attention_interval"] = 2;  // layer_types counts
  EXPECT_TRUE(open()->config.layer(1).is_recurrent);
  config_.erase("layer_types");
  expect_refused(kCorruption, "blk.1.attn_q.weight is missing");
  config_.erase("layer_types");
  EXPECT_TRUE(open());  // every fourth has attention, unless the configuration says otherwise
  config_["layer_types"] = {"linear_attention", "full_attention", "linear_attention", "linear_attention"};
  expect_refused(kNotSupported, "for layer 3; Tern knows full_attention, and linear_attention in all layers but");
}

TEST_F(Qwen35Directory, RotatesAQuarterOfAHead) {
  copy("qwen35");
  config_["rope_parameters"].erase("partial_rotary_factor");
  EXPECT_EQ(open()->config.ropes[0].n_dims, 8);
  config_["partial_rotary_factor"] = 0.5;
  EXPECT_EQ(open()->config.ropes[0].n_dims, 16);
  config_["rope_parameters"]["partial_rotary_factor"] = 0.75;  // counts
  EXPECT_EQ(open()->config.ropes[0].n_dims, 24);
  config_["rope_parameters"]["partial_rotary_factor"] = 1.5;
  expect_refused(kCorruption, "partial_rotary_factor 1.5 of head_dim 32 is no part of a head");
}

class Qwen35DraftLayer : public Qwen35Directory {
 protected:
  void add_layer(const std::string& more = {}) {
    copy("qwen35");
    add_draft_layer(folder_, more);
  }
};

TEST_F(Qwen35DraftLayer, IsReadAsInAFile) {
  add_layer();
  const auto model = open();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->config.n_layers, 4);
  EXPECT_EQ(model->config.n_prediction_layers, 1);
  ASSERT_TRUE(model->prediction);
  const Weights& block = model->prediction->weights;
  const Layer &layer = block.layers.at(0), &same = model->weights.layers[3];
  for (const auto& [own, expected] : {std::pair<const Tensor&, const Tensor&>{layer.attn_norm, same.attn_norm},
                                      {layer.attn_q, same.attn_q},
                                      {layer.attn_k_norm, same.attn_k_norm},
                                      {layer.attn_output, same.attn_output},
                                      {layer.ffn_norm, same.ffn_norm},
                                      {layer.ffn_down, same.ffn_down}}) {
    EXPECT_EQ(values_of(own), values_of(expected)) << expected.name;
  }
  EXPECT_EQ(values_of(block.next_norm), std::vector<float>(32, 1.25f));
  EXPECT_EQ(values_of(block.hidden_norm), std::vector<float>(32, 1.5f));
  EXPECT_EQ(values_of(block.output_norm), std::vector<float>(32, 1.75f));
  // The embedding's half of a row comes first.
  Scratch scratch;
  for (const auto& [half, first] : {std::pair{&block.next_proj, 0}, {&block.hidden_proj, 32}}) {
    std::vector<float> row(32);
    format_info(Format::kF32).decode(half->data.read(32 * 4, 32 * 4, scratch).value(), row);
    EXPECT_EQ(row[0], static_cast<float>(64 + first));
    EXPECT_EQ(row[31], static_cast<float>(64 + first + 31));
  }
}

TEST_F(Qwen35DraftLayer, IsLeftOutInAnyOtherForm) {
  for (const char* other : {"mtp.layers.1.input_layernorm.weight", "mtp.embed_tokens.weight"}) {
    add_layer(other);
    const auto model = open();
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->config.n_layers, 4);
    EXPECT_EQ(model->config.n_prediction_layers, 0);
    EXPECT_FALSE(model->prediction);
  }
}

TEST_F(Qwen35Directory, RefusesOtherShapes) {
  copy("qwen35");
  config_["linear_value_head_dim"] = 32;
  expect_refused(kNotSupported, "linear_value_head_dim is 32, but Tern runs recurrent layers only if it is");
  config_.erase("linear_conv_kernel_dim");
  expect_refused(kCorruption, "qwen35.ssm.conv_kernel is missing");
  config_["linear_conv_kernel_dim"] = 3;
  expect_refused(kCorruption, "blk.0.ssm_conv1d.weight has shape [128, 4]");
}

TEST_F(Qwen35Directory, TheOuterObjectSpeaksOfTheWholeModel) {
  copy("qwen35_tied");
  config_.erase("text_config");
  expect_refused(kCorruption, "\"text_config\" is missing");
  config_["quantization_config"] = {{"quant_method", "fp8"}};
  expect_refused(kNotSupported, "quantized by 'fp8'");
  config_["tie_word_embeddings"] = false;
  expect_refused(kCorruption, "lm_head.weight is missing");
  config_.erase("tie_word_embeddings");
  config_["text_config"]["tie_word_embeddings"] = false;
  expect_refused(kCorruption, "lm_head.weight is missing");
  config_["text_config"]["num_hidden_layers"] = 2;
  expect_refused(kCorruption, "config.json has 2 layers");
}

}  // namespace
}  // namespace tern
