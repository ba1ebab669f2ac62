#include <gtest/gtest.h>

#include <cmath>

#include "base/result_test_support.h"
#include "model/model.h"
#include "model/tiny_gguf_test_support.h"

namespace tern {
namespace {

using enum ErrorCode;

void expect_no_gemma4(const TinyGguf& file, ErrorCode code, std::string_view part) {
  const std::string path = file.write("refused");
  expect_failure(open_model(path), code, part, path);
}

TEST(Gemma4, LayersDifferInHeadsWindowAndKeys) {
  const auto model = open_model(tiny_gemma4().write("layers"));
  ASSERT_TRUE(model) << model.error().message;
  const Config& c = model->config;
  for (int i = 0; i < 4; ++i) {
    const LayerConfig layer = c.layer(i);
    EXPECT_EQ(layer.head_dim, i == 2 ? 64 : 32) << i;
    EXPECT_EQ(layer.window, i == 2 ? 0 : 8) << i;
    EXPECT_EQ(c.ropes[static_cast<size_t>(layer.rope)].rotated(c.head_dim), layer.head_dim) << i;
    EXPECT_EQ(layer.kv_layer, i == 3 ? 1 : i) << i;
    const Layer& weights = model->weights.layers[static_cast<size_t>(i)];
    EXPECT_EQ(weights.attn_k.is_present(), i != 3) << i;
    EXPECT_EQ(weights.attn_v_norm.cols, i == 3 ? 0 : layer.head_dim) << i;
  }
  EXPECT_EQ(c.ropes[1].theta, 10000);
  EXPECT_TRUE(c.ropes[1].divisors.empty());
}

// Only layers that make keys and values need their tensors, and only those without a window may lack a matrix of
// values.
TEST(Gemma4, LayersNeedWhatTheyUse) {
  TinyGguf file = tiny_gemma4();
  for (const auto* name : {"attn_k", "attn_v", "attn_k_norm"}) {
    file.tensors.erase("blk.3." + std::string(name) + ".weight");
  }
  EXPECT_TRUE(open_model(file.write("without")));
  file.tensors.erase("blk.2.attn_v.weight");
  const auto model = open_model(file.write("values"));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->weights.layers[2].attn_v.name, "blk.2.attn_k.weight");
  file.tensors.erase("blk.1.attn_v.weight");
  expect_no_gemma4(file, kCorruption, "tensor blk.1.attn_v.weight is missing");
}

TEST(Gemma4, RefusesKeysThatAreMissing) {
  for (const std::string key : {"attention.key_length", "attention.key_length_swa", "attention.sliding_window"}) {
    TinyGguf file = tiny_gemma4();
    file.integers.erase(key);
    expect_no_gemma4(file, kCorruption, "metadata key gemma4." + key + " is missing; convert the model again");
  }
  TinyGguf file = tiny_gemma4();
  file.integer_lists.clear();
  expect_no_gemma4(
      file, kCorruption,
      "gemma4.attention.sliding_window_pattern must be a list with a value for each of the 4 layers, but is "
      "missing or no list");
}

TEST(Gemma4, RefusesListsOfAnotherLength) {
  TinyGguf file = tiny_gemma4();
  file.integer_lists["gemma4.attention.sliding_window_pattern"] = {1, 0};
  expect_no_gemma4(file, kCorruption,
                   "with a value for each of the 4 layers, but has 2 values; convert the model again");
  file = tiny_gemma4();
  file.integers.erase("feed_forward_length");
  file.integer_lists["gemma4.feed_forward_length"] = {256, 256};
  expect_no_gemma4(file, kCorruption, "gemma4.feed_forward_length has 2 values, but the model has 4 layers");
}

TEST(Gemma4, RefusesMoreSharedLayersThanThereAre) {
  TinyGguf file = tiny_gemma4();
  file.integers["attention.shared_kv_layers"] = 5;
  expect_no_gemma4(file, kCorruption,
                   "gemma4.attention.shared_kv_layers is 5, but the model has 4 layers; convert the model again");
  file.integers["attention.shared_kv_layers"] = 2;
  expect_no_gemma4(
      file, kCorruption,
      "gemma4.attention.shared_kv_layers is 2, so layer 2 has no layer of its kind whose keys and values it "
      "could read");
}

TEST(Gemma4, RefusesRotationsThatDoNotFit) {
  TinyGguf file = tiny_gemma4();
  file.tensors["rope_freqs.weight"] = {GgmlType::kF32, {16}, {}};
  expect_no_gemma4(file, kCorruption, "tensor rope_freqs.weight has shape [16], but the metadata asks for [32]");
  file.tensors.erase("rope_freqs.weight");
  expect_no_gemma4(file, kCorruption, "tensor rope_freqs.weight is missing, which says how much of a head rotates");
  file = tiny_gemma4();
  file.integers["rope.dimension_count_swa"] = 16;
  expect_no_gemma4(file, kNotSupported,
                   "attention.key_length_swa is 32, but values have 32 dimensions and 16 rotate; Tern needs the same "
                   "multiple of 8");
}

TinyGguf tiny_gemma4_experts() {
  TinyGguf file = tiny_gemma4();
  file.integers["expert_count"] = 4;
  file.integers["expert_used_count"] = 2;
  file.integers["expert_feed_forward_length"] = 64;
  for (const std::string blk : {"blk.0.", "blk.1.", "blk.2.", "blk.3."}) {
    for (const auto* norm : {"pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"}) {
      file.tensors[blk + norm + ".weight"] = {GgmlType::kF32, {128}, {}};
    }
    file.tensors[blk + "ffn_gate_inp.weight"] = {GgmlType::kF32, {4, 128}, {}};
    file.tensors[blk + "ffn_gate_inp.scale"] = {GgmlType::kF32, {128}, {}};
    file.tensors[blk + "ffn_gate_up_exps.weight"] = {GgmlType::kF16, {4, 128, 128}, {}};
    file.tensors[blk + "ffn_down_exps.weight"] = {GgmlType::kF16, {4, 128, 64}, {}};
    file.tensors[blk + "ffn_down_exps.scale"] = {GgmlType::kF32, {4}, {}};
  }
  return file;
}

TEST(Gemma4, AMixtureKeepsItsDenseNetwork) {
  const auto model = open_model(tiny_gemma4_experts().write("experts"));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->config.experts, (ExpertConfig{.n = 4, .n_used = 2, .d_ff = 64, .weighs_chosen = true}));
  EXPECT_EQ(model->config.d_ff, 256);
  const Layer& layer = model->weights.layers[1];
  EXPECT_EQ(layer.ffn_down.cols, 256);
  EXPECT_EQ(layer.ffn_down_exps.cols, 64);
  EXPECT_EQ(layer.ffn_down_exps.scale, 1);  // the tensor of that name is not the matrix's
  EXPECT_EQ(layer.ffn_experts_scale.cols, 4);
  EXPECT_EQ(layer.ffn_router.scale, 1 / std::sqrt(128.0f));
}

TEST(Gemma4, AMixtureNeedsAllItsTensors) {
  for (const std::string name : {"ffn_gate_inp.scale", "ffn_down_exps.scale", "pre_ffw_norm_2.weight",
                                 "post_ffw_norm_1.weight", "post_ffw_norm_2.weight", "ffn_gate.weight"}) {
    TinyGguf file = tiny_gemma4_experts();
    file.tensors.erase("blk.1." + name);
    expect_no_gemma4(file, kCorruption, "tensor blk.1." + name + " is missing");
  }
  TinyGguf file = tiny_gemma4_experts();
  file.integers.erase("feed_forward_length");
  expect_no_gemma4(file, kCorruption, "metadata key gemma4.feed_forward_length is missing");
  file = tiny_gemma4_experts();
  file.integers["expert_count"] = 0;
  expect_no_gemma4(file, kNotSupported, "gemma4.expert_feed_forward_length' is 64");
}

}  // namespace
}  // namespace tern
