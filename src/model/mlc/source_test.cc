#include "model/mlc/source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "base/half.h"
#include "base/result_test_support.h"
#include "file/mlc/mlc_test_support.h"
#include "file/safetensors/safetensors_test_support.h"
#include "model/mlc/q4.h"
#include "model/model.h"

namespace tern {
namespace {

using enum ErrorCode;
namespace fs = std::filesystem;

// By definition: value i of a u32 is at bits 4i, times the scale of its group of 32.
float q4f16_1_value(Bytes codes, Bytes scales, size_t i) {
  const auto word = load<uint32_t>(codes.data() + i / 8 * 4);
  const float scale = f16_to_f32(load<uint16_t>(scales.data() + i / 32 * 2));
  return (static_cast<float>(word >> 4 * (i % 8) & 15) - 7.0f) * scale;
}

TEST(MlcQ4, WorkedExample) {
  std::vector<std::byte> codes(16, std::byte{0x77});
  store(codes.data(), 0xB69E8750u);
  const uint16_t scale = f32_to_f16(0.5f);
  std::vector<std::byte> q4_0(18);
  ThreadPool pool(1);
  ASSERT_TRUE(repack_mlc_q4(codes, std::as_bytes(std::span(&scale, 1)), MlcScales::kF16, 1, 32, q4_0, pool));
  std::vector<float> values(32);
  format_info(Format::kQ4_0).decode(q4_0, values);
  const float expected[] = {-3.5f, -1, 0, 0.5f, 3.5f, 1, -0.5f, 2};
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(values[i], i < 8 ? expected[i] : 0.0f) << i;
}

TEST(MlcQ4, EveryValueFindsItsPlace) {
  constexpr int64_t kRows = 7, kCols = 96;
  std::mt19937 random(1);
  std::vector<std::byte> codes(kRows * kCols / 2), scales(kRows * kCols / 32 * 2);
  for (std::byte& b : codes) b = static_cast<std::byte>(random() % 15 | random() % 15 << 4);
  for (size_t i = 0; i < scales.size(); i += 2) store(scales.data() + i, static_cast<uint16_t>(random() % 0x7C00));
  for (const int n_threads : {1, 3}) {
    ThreadPool pool(n_threads);
    std::vector<std::byte> q4_0(kRows * kCols / 32 * 18);
    ASSERT_TRUE(repack_mlc_q4(codes, scales, MlcScales::kF16, kRows, kCols, q4_0, pool));
    std::vector<float> values(kRows * kCols);
    format_info(Format::kQ4_0).decode(q4_0, values);
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], q4f16_1_value(codes, scales, i)) << i;
  }
}

TEST(MlcQ4, ScalesOfBfloat16) {
  constexpr int64_t kRows = 5, kCols = 64;
  std::mt19937 random(2);
  std::vector<std::byte> codes(kRows * kCols / 2), scales(kRows * kCols / 32 * 2);
  for (std::byte& b : codes) b = static_cast<std::byte>(random() % 15 | random() % 15 << 4);
  std::uniform_real_distribution<float> exponent(-17, 15.99f);
  for (size_t i = 0; i < scales.size(); i += 2) store(scales.data() + i, f32_to_bf16(std::exp2(exponent(random))));
  ThreadPool pool(2);
  std::vector<std::byte> q4_0(kRows * kCols / 32 * 18);
  ASSERT_TRUE(repack_mlc_q4(codes, scales, MlcScales::kBF16, kRows, kCols, q4_0, pool));
  std::vector<float> values(kRows * kCols);
  format_info(Format::kQ4_0).decode(q4_0, values);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto code = static_cast<int>(codes[i / 2]) >> 4 * (i % 2) & 15;
    const float scale = bf16_to_f32(load<uint16_t>(scales.data() + i / 32 * 2));
    ASSERT_EQ(values[i], static_cast<float>(code - 7) * scale) << i;
  }
  store(scales.data(), f32_to_bf16(70000.0f));
  EXPECT_FALSE(repack_mlc_q4(codes, scales, MlcScales::kBF16, kRows, kCols, q4_0, pool));
}

TEST(MlcQ4, RefusesWhatTheQuantizerNeverWrites) {
  ThreadPool pool(2);
  std::vector<std::byte> q4_0(4 * 18);
  for (size_t at = 0; at < 64; ++at) {
    for (const int bad : {0x0F, 0xF0}) {
      std::vector<std::byte> codes(64, std::byte{0xEE});
      std::vector<std::byte> scales(8, std::byte{0x10});
      EXPECT_TRUE(repack_mlc_q4(codes, scales, MlcScales::kF16, 2, 64, q4_0, pool));
      codes[at] = static_cast<std::byte>(bad);
      EXPECT_FALSE(repack_mlc_q4(codes, scales, MlcScales::kF16, 2, 64, q4_0, pool)) << at;
      codes[at] = std::byte{0};
      store(scales.data() + at / 16 * 2, uint16_t{0x7C00});
      EXPECT_FALSE(repack_mlc_q4(codes, scales, MlcScales::kF16, 2, 64, q4_0, pool)) << at;
    }
  }
}

struct Matrix {
  int64_t rows, cols;
};

// A complete Qwen3 directory: one layer, d_model 64, 2 heads of 32 and 1 KV head, d_ff 96, 8 tokens, tied.
class MlcSourceTest : public testing::Test {
 protected:
  MlcSourceTest() {
    config_ = {{"model_type", "qwen3"},
               {"quantization", "q4f16_1"},
               {"model_config",
                {{"hidden_size", 64},
                 {"intermediate_size", 96},
                 {"num_hidden_layers", 1},
                 {"num_attention_heads", 2},
                 {"num_key_value_heads", 1},
                 {"head_dim", 32},
                 {"hidden_act", "silu"},
                 {"rms_norm_eps", 1e-6},
                 {"rope_theta", 1000000},
                 {"tie_word_embeddings", true},
                 {"context_window_size", 64},
                 {"vocab_size", 8}}}};
    matrices_ = {{"model.embed_tokens", {8, 64}},
                 {"model.layers.0.self_attn.c_attn", {128, 64}},
                 {"model.layers.0.self_attn.o_proj", {64, 64}},
                 {"model.layers.0.mlp.gate_up_proj", {192, 64}},
                 {"model.layers.0.mlp.down_proj", {64, 96}}};
    vectors_ = {{"model.norm", 64},
                {"model.layers.0.input_layernorm", 64},
                {"model.layers.0.post_attention_layernorm", 64},
                {"model.layers.0.self_attn.q_norm", 32},
                {"model.layers.0.self_attn.k_norm", 32}};
  }
  ~MlcSourceTest() override {
    fs::remove_all(folder_);
    fs::remove_all(cache_);
  }
  void SetUp() override { ::setenv("XDG_CACHE_HOME", cache_.c_str(), 1); }

  static std::string codes_of(std::string_view name, const Matrix& m) {
    std::mt19937 random(static_cast<unsigned>(std::hash<std::string_view>()(name)));
    std::string codes(static_cast<size_t>(m.rows * m.cols / 2), '\0');
    for (char& c : codes) c = static_cast<char>(random() % 15 | random() % 15 << 4);
    return codes;
  }
  static std::string scales_of(std::string_view name, const Matrix& m) {
    std::vector<uint16_t> scales(static_cast<size_t>(m.rows * m.cols / 32));
    for (size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<uint16_t>(0x2000 + i * 3 + name.size());
    return raw_values(scales);
  }

  Result<Model> open() const {
    MlcBytes bytes = extra_;
    for (const auto& [name, m] : matrices_) {
      bytes.shard().tensor(name + ".q_weight", "uint32", {m.rows, m.cols / 8}, codes_of(name, m));
      bytes.tensor(name + ".q_scale", "float16", {m.rows, m.cols / 32}, scales_of(name, m));
    }
    for (const auto& [name, n] : vectors_) {
      bytes.tensor(
          name + ".weight", "float16", {n},
          raw_values(std::vector<uint16_t>(static_cast<size_t>(n), f32_to_f16(static_cast<float>(name.size())))));
    }
    bytes.write(folder_);
    std::ofstream(folder_ / "mlc-chat-config.json") << config_.dump();
    return open_model(folder_);
  }
  // Rows [first, first + tensor.rows) of the matrix `name`.
  void expect_rows(const Tensor& tensor, const std::string& name, int64_t first) const {
    const Matrix& m = matrices_.at(name);
    EXPECT_EQ(tensor.format, Format::kQ4_0);
    ASSERT_EQ(tensor.cols, m.cols);
    std::vector<float> values(static_cast<size_t>(tensor.rows) * static_cast<size_t>(tensor.cols));
    format_info(tensor.format).decode(tensor.data, values);
    const std::string codes = codes_of(name, m), scales = scales_of(name, m);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t at = i + static_cast<size_t>(first * m.cols);
      ASSERT_EQ(values[i], q4f16_1_value(as_bytes(codes), as_bytes(scales), at)) << name << " at " << at;
    }
  }
  void expect_refused(ErrorCode code, std::string_view part) const {
    expect_failure(open(), code, part, folder_.string());
  }

  const fs::path folder_ = fresh_folder("mlc_source");
  const fs::path cache_ = fresh_folder("mlc_source_cache");
  nlohmann::json config_;
  std::map<std::string, Matrix> matrices_;
  std::map<std::string, int64_t> vectors_;
  MlcBytes extra_;
};

TEST_F(MlcSourceTest, Qwen3) {
  const auto model = open();
  ASSERT_TRUE(model) << model.error().message;
  const Config& c = model->config;
  EXPECT_EQ(c.ropes[0].theta, 1e6f);
  EXPECT_EQ(c.n_ctx, 64);
  EXPECT_EQ(c.ropes[0].pairs, RopePairs::kHalves);
  const Weights& w = model->weights;
  const Layer& l = w.layers[0];
  expect_rows(w.token_embd, "model.embed_tokens", 0);
  EXPECT_EQ(w.output.data.data(), w.token_embd.data.data());
  expect_rows(l.attn_q, "model.layers.0.self_attn.c_attn", 0);
  expect_rows(l.attn_k, "model.layers.0.self_attn.c_attn", 64);
  expect_rows(l.attn_v, "model.layers.0.self_attn.c_attn", 96);
  EXPECT_EQ(l.attn_v.rows, 32);
  expect_rows(l.attn_output, "model.layers.0.self_attn.o_proj", 0);
  expect_rows(l.ffn_gate, "model.layers.0.mlp.gate_up_proj", 0);
  expect_rows(l.ffn_up, "model.layers.0.mlp.gate_up_proj", 96);
  expect_rows(l.ffn_down, "model.layers.0.mlp.down_proj", 0);
  for (const auto& [norm, name] :
       {std::pair(&l.attn_q_norm, "model.layers.0.self_attn.q_norm"),
        std::pair(&l.attn_norm, "model.layers.0.input_layernorm"), std::pair(&w.output_norm, "model.norm")}) {
    EXPECT_EQ(norm->format, Format::kF32);
    EXPECT_EQ(load<float>(norm->data.data()), static_cast<float>(std::string_view(name).size())) << name;
  }
}

TEST_F(MlcSourceTest, Phi3) {
  config_["model_type"] = "phi3";
  config_["model_config"].erase("head_dim");
  config_["model_config"]["position_embedding_base"] = 10000;
  config_["model_config"]["num_key_value_heads"] = 2;
  matrices_ = {{"transformer.embd", {8, 64}},
               {"lm_head", {8, 64}},
               {"transformer.h.0.mixer.qkv_proj", {192, 64}},
               {"transformer.h.0.mixer.out_proj", {64, 64}},
               {"transformer.h.0.mlp.gate_up_proj", {192, 64}},
               {"transformer.h.0.mlp.down_proj", {64, 96}}};
  vectors_ = {{"transformer.norm", 64}, {"transformer.h.0.ln", 64}, {"transformer.h.0.post_attention_layernorm", 64}};
  config_["model_config"]["tie_word_embeddings"] = false;
  const auto model = open();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->config.ropes[0].theta, 10000.0f);
  const Layer& l = model->weights.layers[0];
  expect_rows(model->weights.output, "lm_head", 0);
  expect_rows(l.attn_q, "transformer.h.0.mixer.qkv_proj", 0);
  expect_rows(l.attn_k, "transformer.h.0.mixer.qkv_proj", 64);
  expect_rows(l.attn_v, "transformer.h.0.mixer.qkv_proj", 128);
  expect_rows(l.attn_output, "transformer.h.0.mixer.out_proj", 0);
  expect_rows(l.ffn_gate, "transformer.h.0.mlp.gate_up_proj", 0);
  expect_rows(l.ffn_up, "transformer.h.0.mlp.gate_up_proj", 96);
  config_["model_config"]["rope_scaling"] = {{"type", "longrope"}};
  expect_refused(kCorruption, "\"short_factor\" of the RoPE scaling");
}

TEST_F(MlcSourceTest, RefusesOtherQuantizationsByName) {
  for (const auto& [name, why] : {std::pair("q4f16_0", "transposed"), std::pair("q4f16_2", "unquantized"),
                                  std::pair("q3f16_1", "3-bit"), std::pair("q9", "not known")}) {
    config_["quantization"] = name;
    expect_refused(kNotSupported, format_text("quantized as '{}', which Tern cannot read (", name));
    expect_refused(kNotSupported, why);
  }
  config_.erase("quantization");
  expect_refused(kCorruption, "\"quantization\" is missing");
}

TEST_F(MlcSourceTest, RefusesWhatDoesNotFit) {
  const auto good = matrices_;
  matrices_["model.layers.0.self_attn.c_attn"] = {160, 64};
  expect_refused(kCorruption, "c_attn has 160 rows, which are not those of its parts");
  matrices_ = good;
  matrices_.erase("model.layers.0.mlp.down_proj");
  expect_refused(kCorruption, "blk.0.ffn_down.weight is missing");
  matrices_ = good;
  matrices_["model.layers.0.self_attn.c_attn.bias"] = {128, 64};
  expect_refused(kNotSupported,
                 "'model.layers.0.self_attn.c_attn.bias.q_weight' is not one that Tern knows in architecture qwen3");
  matrices_ = good;
  config_["model_config"]["tie_word_embeddings"] = false;
  expect_refused(kCorruption, "tensor lm_head is missing");
  config_["model_config"]["num_attention_heads"] = 0;
  expect_refused(kCorruption, "a width or number of heads is 0");
  config_.erase("model_config");
  expect_refused(kCorruption, "\"model_config\" is missing");
  config_["model_type"] = "gemma";
  expect_refused(kNotSupported, "model_type 'gemma' is not one that Tern runs from an MLC directory");
}

TEST_F(MlcSourceTest, RefusesForeignCodes) {
  matrices_.erase("model.layers.0.mlp.down_proj");
  extra_.tensor("model.layers.0.mlp.down_proj.q_weight", "uint32", {64, 12}, std::string(64 * 48, '\xF0'));
  extra_.tensor("model.layers.0.mlp.down_proj.q_scale", "float16", {64, 3}, std::string(64 * 6, '\x10'));
  expect_refused(kCorruption, "holds codes or scales that q4f16_1 never has");
}

// Matrices that are not quantized are used unchanged; float32 is stored as bf16.
TEST_F(MlcSourceTest, Unquantized) {
  config_["quantization"] = "q0f16";
  matrices_.erase("model.layers.0.mlp.down_proj");
  std::vector<uint16_t> values(64 * 96);
  for (size_t i = 0; i < values.size(); ++i) values[i] = f32_to_bf16(static_cast<float>(i % 200));
  extra_.tensor("model.layers.0.mlp.down_proj.weight", "float32", {64, 96}, raw_values(values));
  const auto model = open();
  ASSERT_TRUE(model) << model.error().message;
  const Tensor& down = model->weights.layers[0].ffn_down;
  EXPECT_EQ(down.format, Format::kBF16);
  EXPECT_EQ(as_text(down.data), raw_values(values));
}

}  // namespace
}  // namespace tern
