#include "tern/published.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "support/checkout.h"

namespace tern {
namespace {

using Json = nlohmann::json;

TEST(Published, NamesAreShortLowerCaseAndUnique) {
  std::set<std::string_view> names;
  for (const PublishedModel& model : published_models()) {
    EXPECT_TRUE(names.insert(model.name).second) << model.name;
    for (const char c : model.name)
      EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.');
    EXPECT_FALSE(model.name.ends_with(".gguf"));  // it would be taken for a path
    EXPECT_TRUE(model.hub_name.contains('/')) << model.name;
    EXPECT_FALSE(model.license.empty()) << model.name;
    EXPECT_FALSE(model.format.empty()) << model.name;
  }
}

TEST(Published, AreFoundInAnyCase) {
  const PublishedModel* bonsai = find_published_model("Bonsai-1.7B");
  ASSERT_NE(bonsai, nullptr);
  EXPECT_EQ(bonsai->hub_name, "prism-ml/Bonsai-1.7B-gguf:Bonsai-1.7B-Q1_0.gguf");
  EXPECT_EQ(find_published_model("bonsai-1.7"), nullptr);
  EXPECT_EQ(find_published_model(""), nullptr);
}

TEST(Published, AFileIsRecognizedByItsKeys) {
  const PublishedModel* found = find_published_file("Bonsai-8B", "qwen3");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "bonsai-8b");
  EXPECT_EQ(found->sampling.temperature, 0.5f);
  EXPECT_EQ(find_published_file("Bonsai-8B", "llama"), nullptr);
  EXPECT_EQ(find_published_file("", ""), nullptr);
}

TEST(Published, MemoryIsWeightsAndCache) {
  const PublishedModel model{.name = "x",
                             .hub_name = "o/x",
                             .format = "Q8_0",
                             .license = "MIT",
                             .general_name = "X",
                             .architecture = "llama",
                             .file_bytes = 0,
                             .weight_bytes = 1000,
                             .n_layers = 3,
                             .kv_width = 8,
                             .sampling = {},
                             .replica = ""};
  PublishedModel recurrent = model;
  recurrent.n_kv_layers = 1;
  recurrent.state_bytes = 500;
  EXPECT_EQ(recurrent.memory_bytes(5), 1500u + 5 * 1 * 8 * 2 * 2);
  EXPECT_EQ(model.memory_bytes(0), 1000u);
  EXPECT_EQ(model.memory_bytes(5), 1000u + 5 * 3 * 8 * 2 * 2);
  EXPECT_EQ(model.download_bytes(), 1000u);
}

// ---- checks against descriptions of the published files: their metadata and tensors

struct TypeSize {
  uint64_t block, bytes, tail;
};
const std::map<std::string, TypeSize> kTypes = {
    {"F32", {1, 4, 0}},      {"F16", {1, 2, 0}},      {"Q8_0", {32, 34, 0}},   {"Q4_K", {256, 144, 0}},
    {"Q5_K", {256, 176, 0}}, {"Q6_K", {256, 210, 0}}, {"I2_S", {128, 32, 32}}, {"Q1_0", {128, 18, 0}},
    {"Q2_0", {64, 18, 0}},   {"BF16", {1, 2, 0}},     {"PQ2_0", {128, 34, 0}}, {"STQ1_0", {256, 42, 0}},
    {"TQ2_0", {256, 66, 0}}, {"MXFP4", {32, 17, 0}},
};

uint64_t bytes_of(const Json& dims, const std::string& type) {
  uint64_t n = 1;
  for (const Json& dim : dims) n *= dim.get<uint64_t>();
  const TypeSize& size = kTypes.at(type);
  return n / size.block * size.bytes + size.tail;
}

// A type may be {"default": T, "3": T3}: T3 in layer 3, T elsewhere.
std::string type_in(const Json& type, uint64_t layer) {
  const auto name = type.is_string() ? type.get<std::string>()
                                     : type.value(std::to_string(layer), type["default"].get<std::string>());
  return name == "STQ1_0_42" ? "STQ1_0" : name;  // under its first number
}

// A fourth element says which layers have the tensor.
bool is_in(const Json& tensor, uint64_t layer) {
  if (tensor.size() < 4) return true;
  const auto condition = tensor[3].get<std::string>();
  const std::map<std::string, bool> holds = {{"i % 4 == 3", layer % 4 == 3}, {"i % 4 != 3", layer % 4 != 3},
                                             {"i % 5 == 4", layer % 5 == 4}, {"i % 5 != 4", layer % 5 != 4},
                                             {"i < 15", layer < 15},         {"i >= 15", layer >= 15}};
  EXPECT_TRUE(holds.contains(condition)) << condition;
  return holds.at(condition);
}

uint64_t weight_bytes(const Json& description, uint64_t n_layers) {
  uint64_t bytes = 0;
  for (const Json& tensor : description["tensors"]) {
    const bool in_layers = tensor[0].get<std::string>().contains("{i}");
    for (uint64_t i = 0; i < (in_layers ? n_layers : 1); ++i) {
      if (!in_layers || is_in(tensor, i)) bytes += bytes_of(tensor[1], type_in(tensor[2], i));
    }
  }
  return bytes;
}

class AgainstFiles : public testing::TestWithParam<size_t> {};

TEST_P(AgainstFiles, EveryNumberIsTheFilesOwn) {
  const PublishedModel& model = published_models()[GetParam()];
  const std::string path = source_path("../shared/data/headers/") + std::string(model.replica) + ".json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  std::ifstream stream(path);
  const Json file = Json::parse(stream);
  const Json& keys = file["kv"];
  const std::string prefix = std::string(model.architecture) + ".";
  const auto number = [&](const std::string& key) { return keys[prefix + key][1].get<uint64_t>(); };
  EXPECT_EQ(keys["general.architecture"][1], model.architecture);
  EXPECT_EQ(keys["general.name"][1], model.general_name);
  EXPECT_EQ(number("block_count"), model.n_layers);
  const uint64_t n_heads = number("attention.head_count");
  const uint64_t n_kv_heads =
      keys.contains(prefix + "attention.head_count_kv") ? number("attention.head_count_kv") : n_heads;
  const uint64_t head = keys.contains(prefix + "attention.key_length") ? number("attention.key_length")
                                                                       : number("embedding_length") / n_heads;
  EXPECT_EQ(n_kv_heads * head, model.kv_width);
  EXPECT_EQ(weight_bytes(file, model.n_layers), model.weight_bytes);
  if (keys.contains(prefix + "full_attention_interval")) {
    EXPECT_EQ(model.n_layers / number("full_attention_interval"), model.n_kv_layers);
    const uint64_t dim = number("ssm.state_size"), n_v = number("ssm.time_step_rank");
    const uint64_t channels = dim * (2 * number("ssm.group_count") + n_v);
    const uint64_t floats = n_v * dim * dim + (number("ssm.conv_kernel") - 1) * channels;
    EXPECT_EQ((model.n_layers - model.n_kv_layers) * floats * sizeof(float), model.state_bytes);
  }
  if (keys.contains(prefix + "attention.shared_kv_layers")) {
    const Json& pattern = keys[prefix + "attention.sliding_window_pattern"][1];
    uint64_t width = 0;
    for (uint64_t i = 0; i < model.n_layers - number("attention.shared_kv_layers"); ++i) {
      width += n_kv_heads * (pattern[i].get<bool>() ? number("attention.key_length_swa") : head);
    }
    EXPECT_EQ(width, uint64_t{model.n_kv_layers} * model.kv_width);
  }
  if (file.contains("file_bytes")) {
    EXPECT_EQ(file["file_bytes"], model.file_bytes);
  }
  if (model.file_bytes > 0) {
    EXPECT_GT(model.file_bytes, model.weight_bytes);
    EXPECT_LT(model.file_bytes - model.weight_bytes, 16u << 20);
  }
  const bool has_format = std::ranges::any_of(file["tensors"], [&](const Json& tensor) {
    return tensor[0].get<std::string>().contains("ffn_gate") && type_in(tensor[2], 9) == model.format;
  });
  EXPECT_TRUE(has_format || model.architecture == "phi3") << model.format;  // phi3 has its gate inside ffn_up
}

INSTANTIATE_TEST_SUITE_P(Published, AgainstFiles, testing::Range(size_t{0}, published_models().size()),
                         [](const auto& tested) {
                           std::string name(published_models()[tested.param].name);
                           std::ranges::replace_if(name, [](char c) { return c == '-' || c == '.'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace tern
