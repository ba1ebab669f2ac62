#include "hub/choose.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hub/complete_model.h"
#include "hub/hub_test_support.h"

namespace tern::hub {
namespace {

using Names = std::vector<std::string>;

Listing listing_of(const Names& paths) {
  Listing listing{.commit = std::string(40, 'a'), .files = {}};
  for (const std::string& path : paths) listing.files.push_back({.path = path, .size = 2'500'000'000, .etag = ""});
  return listing;
}

// The chosen model, or the error's message after "error: ".
std::string chosen(const Names& paths, const std::string& wanted = "") {
  const auto choice = choose(listing_of(paths), wanted, "o/n");
  return choice ? choice->model : "error: " + choice.error().message;
}

Names files(const Names& paths, const std::string& wanted = "") {
  const auto choice = choose(listing_of(paths), wanted, "o/n");
  if (!choice) return {"error: " + choice.error().message};
  Names names;
  for (const RemoteFile& file : choice->files) names.push_back(file.path);
  return names;
}

TEST(Choose, TakesTheOneGguf) {
  EXPECT_EQ(chosen({"README.md", "model.gguf", "mmproj-F16.gguf", "imatrix.gguf"}), "model.gguf");
  EXPECT_EQ(chosen({"config.json", "model.safetensors", "sub/model.GGUF"}), "sub/model.GGUF");
}

TEST(Choose, PrefersWhatTernIsFor) {
  EXPECT_EQ(chosen({"m-F16.gguf", "m-Q2_0.gguf", "m-Q4_K_M.gguf"}), "m-Q2_0.gguf");
  EXPECT_EQ(chosen({"m-f16.gguf", "ggml-model-i2_s.gguf", "m-TQ2_0.gguf"}), "ggml-model-i2_s.gguf");
  EXPECT_EQ(chosen({"m-F16.gguf", "m-TQ2_0.gguf"}), "m-TQ2_0.gguf");
  EXPECT_EQ(chosen({"m-Q1_0.gguf", "m-Q1_0_g128.gguf"}), "m-Q1_0.gguf");
  EXPECT_EQ(chosen({"m-F16.gguf", "m-Q2_0_g64.gguf"}), "m-Q2_0_g64.gguf");
}

// With all of these in a repository the first is chosen; without it the second, and so on.
TEST(Choose, GoesThroughTheFormatsInOrder) {
  Names order;
  for (const char* format : {"i2_s", "Q1_0", "Q1_0_g128", "Q2_0_g64", "PQ2_0", "Q2_0", "Q2_0_g128", "TQ2_0", "TQ1_0",
                             "Q8_0", "Q6_K", "Q4_K_M", "Q4_0", "BF16", "F16", "Q5_K_M", "Q2_K", "F32"}) {
    order.push_back("Model-1.7B-" + std::string(format) + ".gguf");
  }
  Names left = order;
  left.push_back("Model-1.7B-IQ2_XXS.gguf");  // chosen only by name
  left.push_back("README.md");
  std::ranges::sort(left);
  for (const std::string& expected : order) {
    EXPECT_EQ(chosen(left), expected);
    std::erase(left, expected);
  }
  EXPECT_EQ(chosen(left), "Model-1.7B-IQ2_XXS.gguf");
}

TEST(Choose, WhatThePublishersOffer) {
  const Names bonsai = {"Ternary-Bonsai-1.7B-F16.gguf", "Ternary-Bonsai-1.7B-PQ2_0.gguf",
                        "Ternary-Bonsai-1.7B-Q2_0.gguf", "Ternary-Bonsai-1.7B-Q2_0_g64.gguf"};
  EXPECT_EQ(chosen(bonsai), "Ternary-Bonsai-1.7B-Q2_0_g64.gguf");
  EXPECT_EQ(chosen(bonsai, "F16"), "Ternary-Bonsai-1.7B-F16.gguf");
  EXPECT_EQ(chosen(bonsai, "Q2_0"), "Ternary-Bonsai-1.7B-Q2_0.gguf");  // a requested format is always taken
  EXPECT_EQ(chosen({"bitcpm4-1b-bf16.gguf", "bitcpm4-1b-tq2_0.gguf"}), "bitcpm4-1b-tq2_0.gguf");
  EXPECT_EQ(chosen({"Phi-3-mini-4k-instruct-fp16.gguf", "Phi-3-mini-4k-instruct-q4.gguf"}),
            "Phi-3-mini-4k-instruct-q4.gguf");
}

TEST(Choose, ListsWhatOnlyTheUserCanChoose) {
  EXPECT_EQ(chosen({"a-Q8_0.gguf", "b-Q8_0.gguf", "b-F16.gguf"}),
            "error: o/n: several models to choose from: a-Q8_0.gguf (2.50 GB), b-Q8_0.gguf (2.50 GB); name one as "
            "o/n:FILE");
  Names many;
  for (int i = 0; i < 30; ++i) many.push_back("m-" + std::to_string(i) + ".gguf");
  const std::string message = chosen(many);
  EXPECT_NE(message.find("and 18 more"), std::string::npos) << message;
}

TEST(Choose, FindsAFileByPartOfItsName) {
  const Names paths = {"m-TQ2_0.gguf", "m-Q2_0.gguf", "m-Q4_K_M.gguf", "m-Q4_K_S.gguf", "tokenizer.json"};
  EXPECT_EQ(chosen(paths, "m-Q4_K_S.gguf"), "m-Q4_K_S.gguf");
  EXPECT_EQ(chosen(paths, "m-q4_k_s"), "m-Q4_K_S.gguf");
  EXPECT_EQ(chosen(paths, "Q2_0"), "m-Q2_0.gguf");  // not TQ2_0
  EXPECT_EQ(chosen(paths, "tq2_0"), "m-TQ2_0.gguf");
  EXPECT_EQ(chosen(paths, "K_M"), "m-Q4_K_M.gguf");
  EXPECT_EQ(chosen(paths, "tokenizer.json"), "tokenizer.json");
  EXPECT_NE(chosen(paths, "Q4_K").find("several files fit 'Q4_K': m-Q4_K_M.gguf"), std::string::npos);
  EXPECT_NE(chosen(paths, "Q5_0").find("there is no file 'Q5_0'; there are m-Q2_0.gguf (2.50 GB)"), std::string::npos);
  EXPECT_NE(chosen({"README.md"}, "x").find("nor any GGUF file"), std::string::npos);
}

TEST(Choose, BringsAllPartsOfASplitFile) {
  const Names paths = {"m-Q8_0-00002-of-00003.gguf", "m-Q8_0-00001-of-00003.gguf", "m-Q8_0-00003-of-00003.gguf",
                       "m-Q4_0.gguf"};
  const Names parts = {"m-Q8_0-00001-of-00003.gguf", "m-Q8_0-00002-of-00003.gguf", "m-Q8_0-00003-of-00003.gguf"};
  EXPECT_EQ(files(paths, "Q8_0"), parts);
  EXPECT_EQ(files(paths, "m-Q8_0-00002-of-00003.gguf"), parts);
  EXPECT_EQ(chosen(paths, "Q8_0"), parts[0]);
  EXPECT_NE(chosen({parts[0], parts[2]}).find("has 3 parts, and only 2 are there"), std::string::npos);
  EXPECT_NE(chosen({parts[1]}).find("has 3 parts, and only 1"), std::string::npos);
}

TEST(Choose, TakesASafetensorsModelWithItsWeightsLast) {
  EXPECT_EQ(files({"README.md", "config.json", "model.safetensors", "original/model.safetensors", "tokenizer.json"}),
            (Names{"config.json", "tokenizer.json", "model.safetensors"}));
  EXPECT_EQ(files({"config.json", "consolidated.safetensors", "model-00001-of-00002.safetensors",
                   "model-00002-of-00002.safetensors", "model.safetensors.index.json", "chat_template.jinja"}),
            (Names{"config.json", "model.safetensors.index.json", "chat_template.jinja",
                   "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}));
}

TEST(Choose, TakesAnMlcModel) {
  EXPECT_EQ(files({"mlc-chat-config.json", "ndarray-cache.json", "params_shard_0.bin", "params_shard_1.bin",
                   "README.md", "tokenizer.json", "other.bin"}),
            (Names{"mlc-chat-config.json", "ndarray-cache.json", "tokenizer.json", "params_shard_0.bin",
                   "params_shard_1.bin"}));
}

TEST(Choose, SaysWhereThereIsNothingToLoad) {
  EXPECT_NE(chosen({"README.md", "pytorch_model.bin"}).find("nothing to load"), std::string::npos);
  EXPECT_NE(chosen({"model.safetensors"}).find("nothing to load"), std::string::npos);
  EXPECT_NE(chosen({}).find("nothing to load"), std::string::npos);
}

bool complete(const TestFolder& folder, const Names& paths) {
  const auto choice = choose(listing_of(paths), "", "o/n");
  EXPECT_TRUE(choice) << choice.error().message;
  return choice && is_complete(*choice, folder.path());
}

TEST(CompleteModel, HasWhatItsIndexNames) {
  const TestFolder folder;
  folder.write("model.safetensors.index.json", R"({"weight_map": {"a": "model-00001-of-00002.safetensors",
                                                                 "b": "model-00002-of-00002.safetensors"}})");
  const Names first = {"config.json", "model.safetensors.index.json", "model-00001-of-00002.safetensors"};
  Names both = first;
  both.push_back("model-00002-of-00002.safetensors");
  EXPECT_FALSE(complete(folder, first));
  EXPECT_TRUE(complete(folder, both));
  folder.write("model.safetensors.index.json", "{");
  EXPECT_FALSE(complete(folder, both));
  EXPECT_TRUE(complete(folder, {"config.json", "model.safetensors"}));

  folder.write("ndarray-cache.json",
               R"({"records": [{"dataPath": "params_shard_0.bin"}, {"dataPath": "params_shard_1.bin"}]})");
  EXPECT_FALSE(complete(folder, {"mlc-chat-config.json", "ndarray-cache.json", "params_shard_1.bin"}));
  EXPECT_TRUE(
      complete(folder, {"mlc-chat-config.json", "ndarray-cache.json", "params_shard_0.bin", "params_shard_1.bin"}));
  EXPECT_FALSE(complete(folder, {"mlc-chat-config.json", "params_shard_0.bin"}));
}

}  // namespace
}  // namespace tern::hub
