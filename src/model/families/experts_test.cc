#include <gtest/gtest.h>

#include "model/model.h"
#include "model/tiny_gguf_test_support.h"

namespace tern {
namespace {

using enum ErrorCode;

TinyGguf tiny_experts() {
  TinyGguf file = tiny_qwen35();
  file.architecture = "qwen35moe";
  put_experts(file);
  return file;
}

TEST(Experts, OpensAFile) {
  const auto model = open_model(tiny_experts().write("experts"));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->config.experts, (ExpertConfig{.n = 4, .n_used = 2, .d_ff = 64, .weighs_chosen = true}));
  const Layer& layer = model->weights.layers[1];
  EXPECT_EQ(layer.ffn_gate_exps.rows, 4 * 64);
  EXPECT_EQ(layer.ffn_gate_exps.expert_rows(), 64);
  // Half of the experts are read for a token.
  const uint64_t each = 64 * 128 * 2;
  EXPECT_EQ(model->weights.bytes_per_token(4) - model->weights.bytes_per_token(2), 2 * 3 * 2 * each);
}

TEST(Experts, TakesJoinedGatesAndUps) {
  TinyGguf file = tiny_experts();
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    file.tensors.erase(blk + "ffn_gate_exps.weight");
    file.tensors.erase(blk + "ffn_up_exps.weight");
    std::vector<std::byte> bytes(4 * 128 * 128 * 2);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i / 256 % 128);  // the same in a row
    file.tensors[blk + "ffn_gate_up_exps.weight"] = {GgmlType::kF16, {4, 128, 128}, bytes};
  }
  const auto model = open_model(file.write("joined"));
  ASSERT_TRUE(model) << model.error().message;
  const Layer& layer = model->weights.layers[0];
  for (const uint64_t expert : {0, 3}) {
    const uint64_t row = (expert * 64 + 5) * 256;
    Scratch scratch;
    EXPECT_EQ(layer.ffn_gate_exps.data.read(row, 1, scratch).value()[0], std::byte{5});
    EXPECT_EQ(layer.ffn_up_exps.data.read(row, 1, scratch).value()[0], std::byte{64 + 5});
  }
}

TEST(Experts, RefusesCountsThatDoNotFit) {
  TinyGguf file = tiny_experts();
  file.integers["expert_used_count"] = 5;
  expect_refused(file, kCorruption,
                 "expert_used_count is 5, but a layer has only expert_count 4; convert the model again");
  file = tiny_experts();
  file.integers["expert_count"] = 3;
  expect_refused(file, kCorruption, "tensor blk.0.ffn_gate_inp.weight has shape [4, 128], but the metadata asks for");
  file = tiny_experts();
  file.integers["expert_count"] = 0;
  expect_refused(file, kCorruption, "qwen35moe.expert_count is 0, outside 1 to 1024");
  file = tiny_experts();
  file.integers.erase("expert_used_count");
  expect_refused(file, kCorruption, "metadata key qwen35moe.expert_used_count is missing");
  file = tiny_experts();
  file.integers["expert_feed_forward_length"] = 48;
  expect_refused(file, kNotSupported, "expert_feed_forward_length is 48, not a multiple of 32");
}

TEST(Experts, RefusesTensorsThatDoNotFit) {
  TinyGguf file = tiny_experts();
  file.tensors["blk.1.ffn_down_exps.weight"].shape = {3, 128, 64};
  expect_refused(file, kCorruption,
                 "tensor blk.1.ffn_down_exps.weight has shape [3, 128, 64], but the metadata asks for [4, 128, 64]");
  file = tiny_experts();
  file.tensors.erase("blk.1.ffn_up_exps.weight");
  expect_refused(file, kCorruption, "tensor blk.1.ffn_up_exps.weight is missing");
  file = tiny_experts();
  file.integers["expert_shared_feed_forward_length"] = 64;
  expect_refused(file, kCorruption, "tensor blk.0.ffn_gate_shexp.weight is missing");
  file = tiny_experts();
  file.tensors["blk.0.ffn_gate_shexp.weight"] = {GgmlType::kF16, {64, 128}, {}};
  expect_refused(file, kNotSupported, "tensor 'blk.0.ffn_gate_shexp.weight' is not one that Tern knows");
}

TEST(Experts, RefusesWeightsThatAreNotComputed) {
  TinyGguf file = tiny_experts();
  file.integers["expert_gating_func"] = 1;
  file.flags["expert_weights_norm"] = true;
  file.floats["expert_weights_scale"] = 1;
  EXPECT_TRUE(open_model(file.write("usual")));
  file.integers["expert_gating_func"] = 2;
  expect_refused(file, kNotSupported, "qwen35moe.expert_gating_func is 2, but Tern computes only the softmax");
  file = tiny_experts();
  file.flags["expert_weights_norm"] = false;
  expect_refused(file, kNotSupported, "qwen35moe.expert_weights_norm is false, which Tern does not compute");
  file = tiny_experts();
  file.floats["expert_weights_scale"] = 2.5f;
  expect_refused(file, kNotSupported, "qwen35moe.expert_weights_scale is 2.5, but Tern knows only 1");
}

}  // namespace
}  // namespace tern
