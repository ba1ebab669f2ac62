#include "model/tiny_gguf_test_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "base/result_test_support.h"
#include "file/gguf/gguf_writer.h"
#include "model/model.h"
#include "quant/format.h"
#include "quant/formats/i2_s.h"

namespace tern {
namespace {

// I2_S tensors get weights of all three values, as models whose weights are all equal are refused.
std::vector<std::byte> plain_data(const TinyTensor& tensor) {
  const GgmlTypeInfo& type = *ggml_type_info(tensor.type);
  int64_t n = 1;
  for (const int64_t dim : tensor.shape) n *= dim;
  std::vector<std::byte> data(static_cast<size_t>(n) / type.block * type.block_bytes + type.tail_bytes);
  if (tensor.type == GgmlType::kI2_S) {
    std::vector<int8_t> codes(static_cast<size_t>(n));
    for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<int8_t>(static_cast<int>(i * 7 % 5 % 3) - 1);
    encode_i2_s_tensor(codes, 1.0f, data);
  }
  return data;
}

}  // namespace

TinyGguf::TinyGguf() {
  integers = {{"block_count", 2},          {"embedding_length", 128},      {"feed_forward_length", 256},
              {"attention.head_count", 2}, {"attention.head_count_kv", 1}, {"context_length", 64}};
  floats = {{"attention.layer_norm_rms_epsilon", 1e-5f}, {"rope.freq_base", 10000.0f}};
  const auto f32 = [](int64_t n) { return TinyTensor{GgmlType::kF32, {n}, {}}; };
  const auto i2_s = [](int64_t rows, int64_t cols) { return TinyTensor{GgmlType::kI2_S, {rows, cols}, {}}; };
  tensors = {{"token_embd.weight", {GgmlType::kF16, {8, 128}, {}}}, {"output_norm.weight", f32(128)}};
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    for (const auto* norm : {"attn_norm", "attn_sub_norm", "ffn_norm"}) tensors[blk + norm + ".weight"] = f32(128);
    tensors[blk + "ffn_sub_norm.weight"] = f32(256);
    tensors[blk + "attn_q.weight"] = i2_s(128, 128);
    tensors[blk + "attn_k.weight"] = i2_s(64, 128);
    tensors[blk + "attn_v.weight"] = i2_s(64, 128);
    tensors[blk + "attn_output.weight"] = i2_s(128, 128);
    tensors[blk + "ffn_gate.weight"] = i2_s(256, 128);
    tensors[blk + "ffn_up.weight"] = i2_s(256, 128);
    tensors[blk + "ffn_down.weight"] = i2_s(128, 256);
  }
}

void put_experts(TinyGguf& file) {
  file.integers["expert_count"] = 4;
  file.integers["expert_used_count"] = 2;
  file.integers["expert_feed_forward_length"] = 64;
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    for (const auto* name : {"ffn_gate", "ffn_up", "ffn_down"}) file.tensors.erase(blk + name + ".weight");
    file.tensors[blk + "ffn_gate_inp.weight"] = {GgmlType::kF32, {4, 128}, {}};
    file.tensors[blk + "ffn_gate_exps.weight"] = {GgmlType::kF16, {4, 64, 128}, {}};
    file.tensors[blk + "ffn_up_exps.weight"] = {GgmlType::kF16, {4, 64, 128}, {}};
    file.tensors[blk + "ffn_down_exps.weight"] = {GgmlType::kF16, {4, 128, 64}, {}};
  }
}

TinyGguf tiny_qwen35() {
  TinyGguf file;
  file.architecture = "qwen35";
  file.integers["full_attention_interval"] = 2;
  for (const auto& [key, value] :
       {std::pair("conv_kernel", 4u), std::pair("state_size", 16u), std::pair("group_count", 2u),
        std::pair("time_step_rank", 4u), std::pair("inner_size", 64u)}) {
    file.integers[std::string("ssm.") + key] = value;
  }
  const auto f32 = [](std::vector<int64_t> shape) { return TinyTensor{GgmlType::kF32, std::move(shape), {}}; };
  const auto f16 = [](int64_t rows, int64_t cols) { return TinyTensor{GgmlType::kF16, {rows, cols}, {}}; };
  auto& tensors = file.tensors;
  std::erase_if(tensors, [](const auto& tensor) {
    return tensor.first.contains("sub_norm") || tensor.first.contains("ffn_norm") ||
           tensor.first.starts_with("blk.0.attn_");
  });
  for (auto& [name, tensor] : tensors) {
    if (tensor.type == GgmlType::kI2_S) tensor.type = GgmlType::kF16;
  }
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    for (const auto* norm : {"attn_norm", "post_attention_norm"}) tensors[blk + norm + ".weight"] = f32({128});
  }
  tensors["blk.0.attn_qkv.weight"] = f16(128, 128);
  tensors["blk.0.attn_gate.weight"] = f16(64, 128);
  for (const auto* name : {"ssm_alpha", "ssm_beta"}) tensors[std::string("blk.0.") + name + ".weight"] = f16(4, 128);
  tensors["blk.0.ssm_conv1d.weight"] = f32({128, 4});
  for (const auto* name : {"ssm_a", "ssm_dt.bias"}) tensors[std::string("blk.0.") + name] = f32({4});
  tensors["blk.0.ssm_norm.weight"] = f32({16});
  tensors["blk.0.ssm_out.weight"] = f16(128, 64);
  tensors["blk.1.attn_q.weight"] = f16(256, 128);  // queries, and gates
  for (const auto* norm : {"attn_q_norm", "attn_k_norm"}) {
    tensors[std::string("blk.1.") + norm + ".weight"] = f32({64});
  }
  return file;
}

TinyGguf tiny_gemma4() {
  TinyGguf file;
  file.architecture = "gemma4";
  for (const auto& [key, value] :
       {std::pair("block_count", 4u), std::pair("attention.key_length", 64u),
        std::pair("attention.key_length_swa", 32u), std::pair("attention.sliding_window", 8u),
        std::pair("attention.shared_kv_layers", 1u), std::pair("embedding_length_per_layer_input", 32u)}) {
    file.integers[key] = value;
  }
  file.integer_lists["gemma4.attention.sliding_window_pattern"] = {1, 1, 0, 1};
  const auto f32 = [](int64_t n) { return TinyTensor{GgmlType::kF32, {n}, {}}; };
  const auto f16 = [](int64_t rows, int64_t cols) { return TinyTensor{GgmlType::kF16, {rows, cols}, {}}; };
  file.tensors = {{"token_embd.weight", f16(8, 128)},
                  {"output_norm.weight", f32(128)},
                  {"rope_freqs.weight", f32(32)},
                  {"per_layer_token_embd.weight", f16(8, 4 * 32)},
                  {"per_layer_model_proj.weight", f16(4 * 32, 128)},
                  {"per_layer_proj_norm.weight", f32(32)}};
  const std::vector<float> ones(32, 1.0f);
  const auto bytes = std::as_bytes(std::span(ones));
  file.tensors["rope_freqs.weight"].data.assign(bytes.begin(), bytes.end());
  for (int i = 0; i < 4; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    const int64_t dim = i == 2 ? 64 : 32;
    for (const auto* norm : {"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm", "post_norm"}) {
      file.tensors[blk + norm + ".weight"] = f32(128);
    }
    for (const auto* norm : {"attn_q_norm", "attn_k_norm"}) file.tensors[blk + norm + ".weight"] = f32(dim);
    file.tensors[blk + "attn_q.weight"] = f16(2 * dim, 128);
    for (const auto* name : {"attn_k", "attn_v"}) file.tensors[blk + name + ".weight"] = f16(dim, 128);
    file.tensors[blk + "attn_output.weight"] = f16(128, 2 * dim);
    for (const auto* name : {"ffn_gate", "ffn_up"}) file.tensors[blk + name + ".weight"] = f16(256, 128);
    file.tensors[blk + "ffn_down.weight"] = f16(128, 256);
    file.tensors[blk + "inp_gate.weight"] = f16(32, 128);
    file.tensors[blk + "proj.weight"] = f16(128, 32);
    file.tensors[blk + "layer_output_scale.weight"] = f32(1);
  }
  return file;
}

std::string TinyGguf::write(const std::string& name) const {
  // Tests run in parallel, so each needs its own file.
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string file = std::string(test->test_suite_name()) + "_" + test->name() + "_" + name;
  std::ranges::replace(file, '/', '_');
  const std::string path = testing::TempDir() + "tern_" + file + ".gguf";
  GgufWriter writer(path);
  if (!architecture.empty()) writer.add_string("general.architecture", architecture);
  for (const auto& [key, value] : integers) writer.add_u32(architecture + "." + key, value);
  for (const auto& [key, value] : floats) writer.add_f32(architecture + "." + key, value);
  for (const auto& [key, value] : flags) writer.add_bool(architecture + "." + key, value);
  for (const auto& [key, value] : strings) writer.add_string(key, value);
  for (const auto& [key, value] : token_ids) writer.add_u32(key, value);
  for (const auto& [key, value] : bools) writer.add_bool(key, value);
  for (const auto& [key, value] : whole_floats) writer.add_f32(key, value);
  for (const auto& [key, values] : string_lists) {
    writer.add_strings(key, std::vector<std::string_view>(values.begin(), values.end()));
  }
  for (const auto& [key, values] : integer_lists) writer.add_i32s(key, values);
  for (const auto& [key, values] : float_lists) writer.add_f32s(key, values);
  for (const auto& [tensor_name, tensor] : tensors) {
    EXPECT_TRUE(writer.add_tensor(tensor_name, tensor.type, tensor.shape)) << tensor_name;
  }
  EXPECT_TRUE(writer.begin());
  for (const auto& [tensor_name, tensor] : tensors) {
    EXPECT_TRUE(writer.append(tensor.data.empty() ? plain_data(tensor) : tensor.data)) << tensor_name;
  }
  EXPECT_TRUE(writer.finish());
  return path;
}

void expect_refused(const TinyGguf& file, ErrorCode code, std::string_view part) {
  const std::string path = file.write("refused");
  expect_failure(open_model(path), code, part, path);
}

}  // namespace tern
