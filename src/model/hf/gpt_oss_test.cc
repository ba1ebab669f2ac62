// Directories of gpt-oss. That they run as transformers does is tested in tests/golden.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/result_test_support.h"
#include "file/safetensors/safetensors_test_support.h"
#include "model/model.h"
#include "support/checkout.h"

namespace tern {
namespace {

using enum ErrorCode;
namespace fs = std::filesystem;

const std::string kGptOssGoldens = source_path("tests/golden/families/");

class GptOssDirectory : public testing::Test {
 protected:
  ~GptOssDirectory() override { fs::remove_all(folder_); }

  void copy(const std::string& golden) {
    fs::copy(kGptOssGoldens + golden, folder_, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    std::ifstream file(folder_ / "config.json");
    config_ = good_ = nlohmann::json::parse(file);
  }
  void expect_refused(ErrorCode code, std::string_view part) {
    std::ofstream(folder_ / "config.json") << config_.dump();
    expect_failure(open_model(folder_), code, part, folder_.string());
    config_ = good_;
  }
  // Renames a tensor in the file's header.
  void rename(std::string_view from, std::string_view to) {
    ASSERT_EQ(from.size(), to.size());
    std::fstream file(folder_ / "model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    file.clear();
    file.seekp(static_cast<std::streamoff>(at));
    file << to;
  }

  const fs::path folder_ = fresh_folder("gpt_oss_directory");
  nlohmann::json config_, good_;
};

std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.rows) * static_cast<size_t>(tensor.cols));
  Scratch scratch;
  format_info(tensor.format).decode(tensor.data.read_all(scratch).value(), values);
  return values;
}

// The file has f16, which rounds the least of the values.
void expect_equal(const Tensor& a, const Tensor& b) {
  const auto values = floats_of(a), expected = floats_of(b);
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], expected[i], 1e-7f) << a.name << " " << i;
}

// This holds for files in memory and for files that are read in pieces, which may begin inside an expert.
TEST(GptOss, ADirectoryHasTheValuesOfTheFile) {
  for (const std::string name : {"gpt_oss", "gpt_oss_mxfp4"}) {
    const auto file = open_model(kGptOssGoldens + name + ".gguf").value();
    for (const Access access : {Access::kResident, Access::kPieces}) {
      const auto model = open_model(kGptOssGoldens + name, {}, access);
      ASSERT_TRUE(model) << model.error().message;
      EXPECT_EQ(model->config.experts, file.config.experts);
      for (size_t i = 0; i < file.weights.layers.size(); ++i) {
        const Layer &a = model->weights.layers[i], &b = file.weights.layers[i];
        for (const auto of : {&Layer::ffn_gate_exps, &Layer::ffn_up_exps, &Layer::ffn_down_exps}) {
          EXPECT_EQ((a.*of).format, name == "gpt_oss" ? Format::kBF16 : Format::kMXFP4);
          expect_equal(a.*of, b.*of);
          EXPECT_EQ(floats_of((a.*of).bias), floats_of((b.*of).bias)) << name << " " << (a.*of).name;
          const uint64_t row = row_bytes((a.*of).format, (a.*of).cols), first = static_cast<uint64_t>((a.*of).rows) / 3;
          Scratch one, all;
          const Bytes part = (a.*of).data.read(first * row, 5 * row, one).value();
          const Bytes whole = (a.*of).data.read_all(all).value();
          EXPECT_TRUE(std::ranges::equal(part, whole.subspan(first * row, 5 * row)));
        }
        EXPECT_EQ(floats_of(a.attn_sinks), floats_of(b.attn_sinks));
      }
    }
  }
}

TEST_F(GptOssDirectory, RefusesKeysByName) {
  copy("gpt_oss");
  config_["key_of_tomorrow"] = 1;
  expect_refused(kNotSupported, "key 'key_of_tomorrow' is not one that Tern knows in gpt-oss");
  config_["rope_scaling"]["mystery"] = 2;
  expect_refused(kNotSupported, "key 'mystery' is not one that Tern knows in gpt-oss");
  config_["swiglu_limit"] = 5.0;
  expect_refused(kNotSupported, "swiglu_limit is 5, but Tern computes 7");
  config_["hidden_act"] = "gelu_new";
  expect_refused(kNotSupported, "hidden_act is 'gelu_new', but Tern computes silu in gpt-oss");
  config_["experts_per_token"] = 3;
  expect_refused(kCorruption, "num_experts_per_tok is 2, but experts_per_token 3");
  config_["layer_types"][1] = "sliding_attention";
  expect_refused(kNotSupported, "for layer 1; Tern knows full_attention there in gpt-oss");
  config_["layer_types"].erase(2);
  expect_refused(kCorruption, "\"layer_types\" is no list with a type for each layer");
  config_["rope_scaling"].erase("truncate");
  expect_refused(kNotSupported, "\"truncate\" of the RoPE scaling is true, which Tern does not compute in this model");
  config_.erase("rope_scaling");
  expect_refused(kCorruption, "\"rope_scaling\" is missing; download the file again");
  config_.erase("rope_theta");
  expect_refused(kCorruption, "\"rope_theta\" is missing; download the file again");
  config_.erase("sliding_window");
  expect_refused(kCorruption, "metadata key gpt-oss.attention.sliding_window is missing");
  config_["quantization_config"] = {{"quant_method", "gptq"}};
  expect_refused(kNotSupported, "the weights are quantized by 'gptq', which Tern cannot read");
}

TEST_F(GptOssDirectory, TakesKeysThatChangeNothing) {
  copy("gpt_oss");
  config_.update(
      {{"swiglu_limit", 7.0}, {"experts_per_token", 2}, {"initial_context_length", 64}, {"dtype", "bfloat16"}});
  std::ofstream(folder_ / "config.json") << config_.dump();
  const auto model = open_model(folder_);
  EXPECT_TRUE(model) << model.error().message;
}

TEST_F(GptOssDirectory, RefusesExpertsThatLackAPart) {
  copy("gpt_oss_mxfp4");
  rename("layers.1.mlp.experts.down_proj_scales", "layers.9.mlp.experts.down_proj_scales");
  expect_refused(kCorruption,
                 "tensor model.layers.1.mlp.experts.down_proj_scales is missing, which belongs to "
                 "model.layers.1.mlp.experts.down_proj_blocks; download all files again");
  rename("layers.9.mlp.experts.down_proj_scales", "layers.1.mlp.experts.down_proj_scales");
  rename("layers.1.mlp.experts.gate_up_proj_blocks", "layers.9.mlp.experts.gate_up_proj_blocks");
  expect_refused(kCorruption,
                 "tensor model.layers.1.mlp.experts.gate_up_proj_blocks is missing, which belongs to "
                 "model.layers.1.mlp.experts.gate_up_proj_scales; download all files again");
  rename("layers.9.mlp.experts.gate_up_proj_blocks", "layers.1.mlp.experts.gate_up_proj_blockz");
  expect_refused(kNotSupported, "gate_up_proj_blockz' is not one that Tern knows");
}

}  // namespace
}  // namespace tern
