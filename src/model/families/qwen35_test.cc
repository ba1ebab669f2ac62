#include <gtest/gtest.h>

#include "model/model.h"
#include "model/tiny_gguf_test_support.h"

namespace tern {
namespace {

using enum ErrorCode;

TEST(Qwen35, OpensWithEitherKeyForItsLayers) {
  TinyGguf file = tiny_qwen35();
  for (const bool has_list : {false, true}) {
    if (has_list) file.integer_lists["qwen35.attention.recurrent_layers"] = {1, 0};
    for (const bool has_interval : {true, false}) {
      if (!has_interval && !has_list) continue;
      if (!has_interval) file.integers.erase("full_attention_interval");
      const auto model = open_model(file.write("layers"));
      ASSERT_TRUE(model) << model.error().message;
      EXPECT_TRUE(model->config.layer(0).is_recurrent);
      EXPECT_FALSE(model->config.layer(1).is_recurrent);
      EXPECT_TRUE(model->config.delta.is_tiled);
    }
  }
  file.integer_lists.clear();  // without either, every fourth layer has attention
  expect_refused(file, kCorruption, "tensor blk.1.attn_qkv.weight is missing");
}

TEST(Qwen35, RefusesAListOfLayersThatDoesNotFit) {
  TinyGguf file = tiny_qwen35();
  file.integer_lists["qwen35.attention.recurrent_layers"] = {1, 1};
  expect_refused(file, kCorruption,
                 "qwen35.full_attention_interval and qwen35.attention.recurrent_layers disagree about layer 1; convert "
                 "the model again");
  for (const auto& list : {std::vector{1}, std::vector{1, 0, 1}}) {
    file.integer_lists["qwen35.attention.recurrent_layers"] = list;
    expect_refused(file, kCorruption,
                   "qwen35.attention.recurrent_layers has " + std::to_string(list.size()) +
                       " values, but the model has 2 layers; convert the model again");
  }
}

TEST(Qwen35, RefusesHeadsThatDoNotFit) {
  TinyGguf file = tiny_qwen35();
  file.integers["ssm.inner_size"] = 128;
  expect_refused(file, kCorruption,
                 "ssm.inner_size is 128, but ssm.time_step_rank · ssm.state_size is 64; convert the model again");
  file = tiny_qwen35();
  file.integers["ssm.time_step_rank"] = 3;
  expect_refused(file, kCorruption,
                 "ssm.time_step_rank 3 is not a multiple of ssm.group_count 2; convert the model again");
  file = tiny_qwen35();
  file.integers["ssm.state_size"] = 24;
  expect_refused(file, kNotSupported, "ssm.state_size is 24 and ssm.conv_kernel 4; Tern runs states of a multiple");
  file = tiny_qwen35();
  file.integers["ssm.conv_kernel"] = 1;
  expect_refused(file, kNotSupported, "ssm.conv_kernel 1; Tern runs");
  file.integers["ssm.conv_kernel"] = 0;
  expect_refused(file, kCorruption, "qwen35.ssm.conv_kernel is 0, outside");
}

TEST(Qwen35, RefusesAFileWithoutAPartOfALayer) {
  for (const char* name :
       {"ssm_a", "ssm_dt.bias", "ssm_conv1d.weight", "ssm_norm.weight", "post_attention_norm.weight"}) {
    TinyGguf file = tiny_qwen35();
    file.tensors.erase(std::string("blk.0.") + name);
    expect_refused(file, kCorruption,
                   std::string("tensor blk.0.") + name + " is missing; the file is not a complete model");
  }
  TinyGguf file = tiny_qwen35();
  file.tensors["blk.1.attn_q.weight"].shape = {128, 128};  // without gates
  expect_refused(file, kCorruption, "blk.1.attn_q.weight has shape [128, 128]");
}

TEST(Qwen35, LeavesOutLayersThatProposeDraftTokens) {
  TinyGguf file = tiny_qwen35();
  file.integers["block_count"] = 3;
  file.integers["nextn_predict_layers"] = 1;
  file.tensors["blk.2.nextn.eh_proj.weight"] = {GgmlType::kF16, {128, 256}, {}};
  file.integer_lists["qwen35.attention.recurrent_layers"] = {1, 0, 0};
  const auto model = open_model(file.write("draft"));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->config.n_layers, 2);
  EXPECT_EQ(model->config.n_prediction_layers, 1);
  EXPECT_FALSE(model->prediction);
  TinyGguf with_norm = file;  // then the whole layer is read
  with_norm.tensors["blk.2.nextn.enorm.weight"] = {GgmlType::kF32, {128}, {}};
  expect_refused(with_norm, kCorruption, "tensor blk.2.attn_norm.weight is missing");
  for (const uint32_t n : {3u, 4u}) {
    file.integers["nextn_predict_layers"] = n;
    expect_refused(file, kCorruption,
                   "qwen35.nextn_predict_layers is " + std::to_string(n) +
                       ", but block_count is 3 and includes them; convert the model again");
  }
}

TEST(Qwen35, RotatesAPartOfAHead) {
  TinyGguf file = tiny_qwen35();
  file.integers["rope.dimension_count"] = 16;
  EXPECT_EQ(open_model(file.write("part"))->config.ropes[0].n_dims, 16);
  file.integers["rope.dimension_count"] = 64;
  EXPECT_EQ(open_model(file.write("whole"))->config.ropes[0].n_dims, 0);
  file.integers["rope.dimension_count"] = 15;
  expect_refused(file, kNotSupported, "rope.dimension_count is 15, not a multiple of 8, as Tern's kernels need it");
  file.integers["rope.dimension_count"] = 128;
  expect_refused(file, kCorruption,
                 "rope.dimension_count is 128, but a head has 64 dimensions; convert the model again");
}

}  // namespace
}  // namespace tern
