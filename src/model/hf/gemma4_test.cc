// Directories of Gemma 4 and of Hunyuan whose configuration is wrong. That they run as transformers does is tested in
// tests/golden.
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

class OddDirectory : public testing::Test {
 protected:
  ~OddDirectory() override { std::filesystem::remove_all(folder_); }

  void copy(const std::string& golden) {
    std::filesystem::copy(source_path("tests/golden/families/" + golden), folder_,
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    std::ifstream file(folder_ / "config.json");
    good_ = nlohmann::json::parse(file);
    config_ = good_;
  }
  void expect_refused(ErrorCode code, std::string_view part) {
    std::ofstream(folder_ / "config.json") << config_.dump();
    expect_failure(open_model(folder_), code, part, folder_.string());
    config_ = good_;
  }

  const std::filesystem::path folder_ = fresh_folder("odd_directory");
  nlohmann::json config_, good_;
};

TEST_F(OddDirectory, OfGemma4) {
  copy("gemma4");
  config_["layer_types"][1] = "chunked_attention";
  expect_refused(kNotSupported,
                 "layer_types has '\"chunked_attention\"'; Tern knows sliding_attention and full_attention");
  config_.erase("layer_types");
  expect_refused(kCorruption, "\"layer_types\" is missing or no list; download the file again");
  config_["layer_types"].erase(0);
  config_["use_double_wide_mlp"] = false;  // its widths would be fewer, too
  expect_refused(kCorruption, "must be a list with a value for each of the 5 layers, but has 4 values");
  config_.erase("head_dim");
  expect_refused(kCorruption, "\"head_dim\" is missing; download the file again");
  config_["num_kv_shared_layers"] = 7;
  config_["use_double_wide_mlp"] = false;
  expect_refused(kCorruption, "gemma4.attention.shared_kv_layers is 7, but the model has 5 layers");
  config_["rope_parameters"]["full_attention"]["partial_rotary_factor"] = 2;
  expect_refused(kCorruption, "\"partial_rotary_factor\" is 2 and \"factor\" 1; download the file again");
  config_["use_bidirectional_attention"] = "all";
  expect_refused(kNotSupported, "attention.causal");
}

TEST_F(OddDirectory, OfGemma4WithExperts) {
  copy("gemma4_experts");
  config_["text_config"].erase("top_k_experts");
  expect_refused(kCorruption, "\"top_k_experts\" is missing; download the file again");
  config_["text_config"].erase("num_experts");
  expect_refused(kCorruption, "\"num_experts\" is missing; download the file again");
  config_["text_config"].erase("moe_intermediate_size");
  expect_refused(kCorruption, "\"moe_intermediate_size\" is missing; download the file again");
  config_["text_config"]["enable_moe_block"] = false;
  expect_refused(kNotSupported, "'gemma4.expert_feed_forward_length' is 32, which Tern does not compute");
}

TEST_F(OddDirectory, OfHunyuan) {
  copy("hunyuan");
  config_["rope_scaling"].erase("alpha");
  expect_refused(kCorruption, "\"alpha\" of the RoPE scaling is missing or not positive; download the file again");
}

}  // namespace
}  // namespace tern
