#include "model/hf/source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/half.h"
#include "base/result_test_support.h"
#include "file/safetensors/safetensors_test_support.h"
#include "model/model.h"
#include "quant/formats/i2_s.h"

namespace tern {
namespace {

using enum ErrorCode;
namespace fs = std::filesystem;

struct Stored {
  std::string dtype;
  std::vector<int64_t> shape;
  std::string data;
};

// Distinct values by place, so that no two tensors or rows are alike. They are exact in bf16.
float value_at(std::string_view name, size_t i) {
  return static_cast<float>((std::hash<std::string_view>()(name) + i * 37) % 251) - 125.0f;
}

// A complete directory that a test then breaks: one layer, d_model 128, 2 heads, 1 KV head, d_ff 256, 8 tokens.
class HfSourceTest : public testing::Test {
 protected:
  HfSourceTest() {
    config_ = {{"architectures", {"LlamaForCausalLM"}},
               {"model_type", "llama"},
               {"hidden_size", 128},
               {"intermediate_size", 256},
               {"num_hidden_layers", 1},
               {"num_attention_heads", 2},
               {"num_key_value_heads", 1},
               {"max_position_embeddings", 64},
               {"rms_norm_eps", 1e-5},
               {"rope_theta", 20000.0},
               {"hidden_act", "silu"},
               {"tie_word_embeddings", false}};
    bf16("model.embed_tokens.weight", {8, 128});
    bf16("lm_head.weight", {8, 128});
    bf16("model.norm.weight", {128});
    for (const auto* norm : {"input_layernorm", "post_attention_layernorm"}) bf16(layer(norm), {128});
    for (const auto& [name, rows, cols] : kLinear) bf16(layer(name), {rows, cols});
  }
  ~HfSourceTest() override { fs::remove_all(folder_); }

  struct Linear {
    const char* name;
    int64_t rows, cols;
  };
  static constexpr Linear kLinear[] = {{"self_attn.q_proj", 128, 128}, {"self_attn.k_proj", 64, 128},
                                       {"self_attn.v_proj", 64, 128},  {"self_attn.o_proj", 128, 128},
                                       {"mlp.gate_proj", 256, 128},    {"mlp.up_proj", 256, 128},
                                       {"mlp.down_proj", 128, 256}};

  static std::string layer(std::string_view name) { return format_text("model.layers.0.{}.weight", name); }

  void bf16(const std::string& name, const std::vector<int64_t>& shape) {
    std::vector<uint16_t> values(static_cast<size_t>(shape[0] * (shape.size() > 1 ? shape[1] : 1)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = f32_to_bf16(value_at(name, i));
    tensors_[name] = {"BF16", shape, raw_values(values)};
  }
  // Stores the linear layers as packed codes with a weight_scale of 0.5.
  void pack(std::string_view linear_class) {
    config_["quantization_config"] = {{"quant_method", "bitnet"}, {"linear_class", linear_class}};
    for (const auto& [name, rows, cols] : kLinear) {
      std::string bytes(static_cast<size_t>(rows / 4 * cols), '\0');
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = "\x92\x09\xA5\x54"[i * 7 % 13 % 4];
      tensors_[layer(name)] = {"U8", {rows / 4, cols}, bytes};
      tensors_[layer(name) + "_scale"] = {"BF16", {1}, raw_values<uint16_t>({f32_to_bf16(0.5f)})};
    }
  }
  void make_bitnet() {
    config_["model_type"] = "bitnet";
    config_["architectures"] = {"BitNetForCausalLM"};
    config_["hidden_act"] = "relu2";
    bf16(layer("self_attn.attn_sub_norm"), {128});
    bf16(layer("mlp.ffn_sub_norm"), {256});
  }

  Result<Model> open() const {
    SafetensorsBytes bytes;
    for (const auto& [name, file] : tensors_) bytes.tensor(name, file.dtype, file.shape, file.data);
    bytes.write(folder_ / "model.safetensors");
    std::ofstream(folder_ / "config.json") << config_.dump();
    return open_model(folder_);
  }
  void expect_refused(ErrorCode code, std::string_view part) const {
    expect_failure(open(), code, part, folder_.string());
  }

  const fs::path folder_ = fresh_folder("hf_source");
  nlohmann::json config_;
  std::map<std::string, Stored> tensors_;
};

void expect_values(const Tensor& tensor, std::string_view name) {
  std::vector<float> values(static_cast<size_t>(tensor.rows) * static_cast<size_t>(tensor.cols));
  format_info(tensor.format).decode(tensor.data, values);
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], value_at(name, i)) << name << " at " << i;
}

TEST_F(HfSourceTest, FloatsAreWhereTheyBelong) {
  const auto model = open();
  ASSERT_TRUE(model) << model.error().message;
  const Config& c = model->config;
  EXPECT_EQ(model->name, folder_.filename());
  EXPECT_EQ(c.architecture, "llama");
  EXPECT_EQ(c.ropes[0].pairs, RopePairs::kHalves);
  EXPECT_EQ(c.ropes[0].theta, 20000.0f);
  EXPECT_EQ(c.rms_eps, 1e-5f);
  EXPECT_EQ(c.n_ctx, 64);
  EXPECT_EQ(c.head_dim, 64);
  EXPECT_EQ(c.n_vocab, 8);
  EXPECT_FALSE(c.int8_activations);
  const Weights& w = model->weights;
  expect_values(w.token_embd, "model.embed_tokens.weight");
  expect_values(w.output, "lm_head.weight");
  expect_values(w.output_norm, "model.norm.weight");
  expect_values(w.layers[0].attn_norm, layer("input_layernorm"));
  expect_values(w.layers[0].ffn_norm, layer("post_attention_layernorm"));
  expect_values(w.layers[0].attn_q, layer("self_attn.q_proj"));
  expect_values(w.layers[0].attn_v, layer("self_attn.v_proj"));
  expect_values(w.layers[0].attn_output, layer("self_attn.o_proj"));
  expect_values(w.layers[0].ffn_gate, layer("mlp.gate_proj"));
  expect_values(w.layers[0].ffn_up, layer("mlp.up_proj"));
  expect_values(w.layers[0].ffn_down, layer("mlp.down_proj"));
}

TEST_F(HfSourceTest, WeightScaleHasTwoMeanings) {
  for (const auto& [linear_class, scale] : {std::pair("autobitlinear", 0.5f), std::pair("bitlinear", 2.0f)}) {
    pack(linear_class);
    const auto model = open();
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_TRUE(model->config.int8_activations);
    const Tensor& k = model->weights.layers[0].attn_k;
    EXPECT_EQ(k.format, Format::kI2_S);
    EXPECT_EQ(k.scale, scale);
    EXPECT_EQ(i2_s_scale(k.data), scale);
    std::vector<int8_t> codes(64 * 128);
    decode_i2_s_codes(k.data.first(codes.size() / 4), codes);
    const std::string& packed = tensors_[layer("self_attn.k_proj")].data;
    for (size_t r = 0; r < 64; ++r) {
      for (size_t c = 0; c < 128; ++c) {
        const int code = packed[r % 16 * 128 + c] >> 2 * (r / 16) & 3;
        ASSERT_EQ(codes[r * 128 + c], code - 1) << r << ", " << c;
      }
    }
  }
}

TEST_F(HfSourceTest, BitnetAndItsSpellings) {
  make_bitnet();
  pack("autobitlinear");
  auto model = open();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->config.glu_act, GluAct::kRelu2);
  expect_values(model->weights.layers[0].ffn_sub_norm, layer("mlp.ffn_sub_norm"));
  // 1bitLLM's files: latent weights, other names, SiLU.
  config_.erase("quantization_config");
  config_["model_type"] = "llama";
  config_["architectures"] = {"BitnetForCausalLM"};
  config_["hidden_act"] = "silu";
  for (const auto& [name, rows, cols] : kLinear) {
    tensors_.erase(layer(name) + "_scale");
    bf16(layer(name), {rows, cols});
  }
  tensors_.erase(layer("self_attn.attn_sub_norm"));
  tensors_.erase(layer("mlp.ffn_sub_norm"));
  bf16(layer("self_attn.inner_attn_ln"), {128});
  bf16(layer("mlp.ffn_layernorm"), {256});
  model = open();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->config.glu_act, GluAct::kSilu);
  EXPECT_EQ(model->weights.layers[0].attn_q.format, Format::kI2_S);
  expect_values(model->weights.layers[0].ffn_sub_norm, layer("mlp.ffn_layernorm"));
  const auto in_pieces = open_model(folder_, {}, Access::kPieces);
  ASSERT_TRUE(in_pieces) << in_pieces.error().message;
  const Tensor &lazy = in_pieces->weights.layers[0].ffn_down, &made = model->weights.layers[0].ffn_down;
  EXPECT_EQ(lazy.scale, made.scale);
  EXPECT_FALSE(lazy.data.is_resident());
  Scratch scratch;
  EXPECT_TRUE(std::ranges::equal(lazy.data.read_all(scratch).value(), made.data));
  // The class alone is not enough.
  config_["model_type"] = "mamba";
  expect_refused(kNotSupported, "model_type 'mamba'");
}

TEST_F(HfSourceTest, TheHeadMayBeTheEmbedding) {
  config_["tie_word_embeddings"] = true;  // then the files' lm_head is ignored
  const auto model = open();
  EXPECT_EQ(model->weights.output.data.data(), model->weights.token_embd.data.data());
  config_["tie_word_embeddings"] = false;
  tensors_.erase("lm_head.weight");
  expect_refused(kCorruption, "lm_head.weight is missing");
  config_.erase("tie_word_embeddings");
  EXPECT_TRUE(open());
}

TEST_F(HfSourceTest, BothSpellingsOfRope) {
  config_.erase("rope_theta");
  config_["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 30000.0}};
  EXPECT_EQ(open()->config.ropes[0].theta, 30000.0f);
  config_["rope_parameters"]["rope_type"] = "dynamic";
  expect_refused(kNotSupported, "rope_type is 'dynamic'");
  config_["rope_parameters"]["rope_type"] = "llama3";
  expect_refused(kCorruption, "\"factor\" of the RoPE scaling");
  config_.erase("rope_parameters");
  config_["rope_scaling"] = {{"type", "longrope"}};
  expect_refused(kCorruption, "\"short_factor\" of the RoPE scaling");
  config_["rope_scaling"] = nullptr;
  EXPECT_EQ(open()->config.ropes[0].theta, 10000.0f);
  config_["partial_rotary_factor"] = 0.75;
  expect_refused(kNotSupported, "partial_rotary_factor is 0.75");
}

TEST_F(HfSourceTest, RefusesOtherQuantizationsByName) {
  for (const auto* method : {"gptq", "awq", "bitsandbytes", "fp8"}) {
    config_["quantization_config"] = {{"quant_method", method}};
    expect_refused(kNotSupported, format_text("quantized by '{}'", method));
  }
  config_["quantization_config"] = {{"quant_method", "bitnet"}, {"linear_class", "other"}};
  expect_refused(kNotSupported, "linear_class 'other'");
  config_["quantization_config"] = {{"quant_method", "bitnet"}, {"use_rms_norm", true}};
  expect_refused(kNotSupported, "quantization_config.rms_norm_eps is 1e-06, but rms_norm_eps");
  config_["quantization_config"]["rms_norm_eps"] = config_["rms_norm_eps"];
  expect_refused(kCorruption, "q_proj.rms_norm.weight is missing");
  config_["quantization_config"] = {{"quant_method", "bitnet"}, {"modules_to_not_convert", {"lm_head", "mlp"}}};
  expect_refused(kNotSupported, "modules_to_not_convert names '\"mlp\"'");
}

TEST_F(HfSourceTest, RefusesPackedWeightsThatAreNone) {
  pack("bitlinear");
  const auto good = tensors_;
  tensors_.erase(layer("mlp.down_proj") + "_scale");
  expect_refused(kCorruption, "mlp.down_proj.weight_scale is missing");
  tensors_ = good;
  tensors_[layer("mlp.down_proj") + "_scale"].data = raw_values<uint16_t>({0});
  expect_refused(kCorruption, "is not one positive float");
  tensors_ = good;
  tensors_[layer("mlp.up_proj")].data[99] = '\xC0';
  expect_refused(kCorruption, "mlp.up_proj.weight holds two-bit codes that no ternary weight has");
  // When reading in pieces, this may be found only when the weights are read.
  const auto in_pieces = open_model(folder_, {}, Access::kPieces);
  Scratch scratch;
  const auto read = in_pieces ? in_pieces->weights.layers[0].ffn_up.data.read_all(scratch)
                              : Result<Bytes>(std::unexpected(in_pieces.error()));
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("holds two-bit codes that no ternary weight has"), std::string::npos);
  tensors_ = good;
  bf16(layer("mlp.up_proj"), {256, 128});
  expect_refused(kNotSupported, "is 'BF16', but config.json says that it is packed");
  tensors_ = good;
  tensors_[layer("mlp.down_proj")] = {"U8", {32, 30}, std::string(32 * 30, '\x54')};
  expect_refused(kNotSupported, "has rows of 30 values; Tern takes ternary rows of 32 or more, a multiple of 4");
  tensors_ = good;
  tensors_[layer("self_attn.q_proj")].shape = {16, 256};
  expect_refused(kCorruption, "blk.0.attn_q.weight has shape [64, 256]");
}

TEST_F(HfSourceTest, RefusesWhatWouldBeLeftOut) {
  const auto good = tensors_;
  bf16("model.layers.0.input_layernorm.bias", {128});
  expect_refused(kNotSupported,
                 "'model.layers.0.input_layernorm.bias' is not one that Tern knows in architecture llama");
  tensors_ = good;
  bf16("model.layers.0.self_attn.q_proj.rms_norm.weight", {128});
  expect_refused(kCorruption,
                 "has quantization_config.use_rms_norm false, but tensor "
                 "model.layers.0.self_attn.q_proj.rms_norm.weight is there");
  tensors_ = good;
  config_["attention_bias"] = true;
  expect_refused(kCorruption, "has attention_bias true, but tensor model.layers.0.self_attn.q_proj.bias is missing");
  config_["attention_bias"] = false;
  bf16("model.layers.0.self_attn.q_proj.bias", {128});
  expect_refused(kCorruption, "has attention_bias false, but tensor model.layers.0.self_attn.q_proj.bias is there");
  config_.erase("attention_bias");
  EXPECT_TRUE(open());
  tensors_ = good;
  bf16("model.layers.1.input_layernorm.weight", {128});
  expect_refused(kCorruption, "config.json has 1 layers, but there are tensors of more layers");
  tensors_ = good;
  bf16("model.rotary_emb.inv_freq", {32});
  EXPECT_TRUE(open());
  tensors_.erase(layer("mlp.gate_proj"));
  expect_refused(kCorruption, "blk.0.ffn_gate.weight is missing");
  tensors_ = good;
  tensors_[layer("mlp.gate_proj")].dtype = "I16";
  expect_refused(kNotSupported, "is 'I16', but Tern runs it only as");
}

TEST_F(HfSourceTest, RefusesMixturesThatAreNotComputed) {
  std::erase_if(tensors_, [](const auto& tensor) { return tensor.first.contains(".mlp."); });
  config_["model_type"] = "qwen3_moe";
  for (const char* key : {"num_experts", "num_experts_per_tok"}) config_[key] = 2;
  config_["moe_intermediate_size"] = 32;
  expect_refused(kNotSupported, "qwen3moe.expert_weights_norm is false");  // which it is without norm_topk_prob
  config_["norm_topk_prob"] = true;
  config_["mlp_only_layers"] = {0};
  expect_refused(kNotSupported, "mlp_only_layers leave layers without experts");
  config_.erase("mlp_only_layers");
  config_["decoder_sparse_step"] = 2;
  expect_refused(kNotSupported, "decoder_sparse_step or mlp_only_layers leave layers without experts");
}

TEST_F(HfSourceTest, RefusesConfigurationsThatAreNone) {
  const auto good = config_;
  config_["model_type"] = "mamba";
  expect_refused(
      kNotSupported,
      "model_type 'mamba' is not one that Tern runs (bitnet, gemma2, gemma3_text, gemma4_text, gemma4, gpt_oss, "
      "granite, hunyuan_v1_dense, llama, minicpm, olmoe, phi3, qwen2, qwen3_5_text, qwen3_5, "
      "qwen3_5_moe_text, qwen3_5_moe, qwen3, qwen3_moe)");
  config_ = good;
  config_.erase("hidden_size");
  expect_refused(kCorruption, "\"hidden_size\" is missing");
  config_ = good;
  config_["hidden_size"] = "128";
  expect_refused(kCorruption, "\"hidden_size\" is of type string, not an integer");
  config_ = good;
  config_["num_key_value_heads"] = {1, 2};  // one value per layer
  expect_refused(kCorruption, "\"num_key_value_heads\" is of type array, not an integer");
  config_ = good;
  config_["num_hidden_layers"] = 5000000000;
  expect_refused(kCorruption, "block_count is 5000000000, outside");
  config_ = good;
  config_["hidden_act"] = "gelu";
  expect_refused(kNotSupported, "hidden_act is 'gelu'");
  config_ = good;
  config_["use_sliding_window"] = true;
  config_["sliding_window"] = 16;
  expect_refused(kNotSupported, "use_sliding_window is true");
  config_ = nlohmann::json::array();
  expect_refused(kCorruption, "is not a JSON object");
}

TEST_F(HfSourceTest, ADirectoryOfNothing) {
  const auto model = open_model(folder_);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, kNotFound);
  EXPECT_NE(model.error().message.find("neither config.json (Hugging Face) nor tensor-cache.json (MLC)"),
            std::string::npos);
}

}  // namespace
}  // namespace tern
