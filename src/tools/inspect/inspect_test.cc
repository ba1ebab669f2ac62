#include <gtest/gtest.h>

#include <algorithm>

#include "file/gguf/gguf_writer.h"
#include "support/checkout.h"
#include "tools/tools_test_support.h"

namespace tern {
namespace {

std::string value_of(const FileInfo& info, std::string_view key) {
  for (const auto& [name, value] : info.metadata) {
    if (name == key) return value;
  }
  return "absent";
}

TEST(Inspect, TheDefaultModel) {
  const auto info = inspect(kDefaultModel);
  ASSERT_TRUE(info.has_value()) << info.error().message;
  EXPECT_EQ(info->container, "GGUF v3");
  EXPECT_EQ(info->file_bytes, std::filesystem::file_size(kDefaultModel));
  EXPECT_EQ(info->not_supported, "");
  EXPECT_EQ(value_of(*info, "general.architecture"), "bitnet-b1.58");
  EXPECT_NE(value_of(*info, "tokenizer.ggml.tokens").find("8192 in all"), std::string::npos);
  // Ten layers of width 512: q and o have 512², k and v 128·512, the three others 1536·512; plus norms and the tied
  // embedding.
  const uint64_t ternary = 10 * (2 * 512 * 512 + 2 * 128 * 512 + 3 * 1536 * 512);
  const uint64_t norms = 10 * (3 * 512 + 1536) + 512;
  EXPECT_EQ(info->n_params, ternary + norms + 8192 * 512);
  // I2_S has two bits per weight and a 32-byte tail; norms are f32. The head reads the whole embedding, a token one row
  // of it.
  EXPECT_EQ(info->bytes_per_token, ternary / 4 + 10 * 7 * 32 + norms * 4 + 8192 * 512 * 2 + 512 * 2);
  EXPECT_EQ(info->kv_bytes_per_token, 10u * 2 * 128 * 2);
  EXPECT_EQ(inspect(kDefaultModel, KvType::kF32)->kv_bytes_per_token, 10u * 2 * 128 * 4);
}

TEST(Inspect, AgreesWithTheLoadedModel) {
  const SynthModel file;
  const auto info = inspect(file.str());
  const auto engine = Engine::load({.model_path = file.str(), .n_threads = 1});
  ASSERT_TRUE(info && engine);
  EXPECT_EQ(info->n_params, engine->info().n_params);
  EXPECT_EQ(info->bytes_per_token, engine->info().bytes_per_token);
  EXPECT_EQ(info->kv_bytes_per_token, engine->info().kv_bytes_per_token);
}

TEST(Inspect, TensorsAreListedAsTheyLie) {
  const SynthModel file;
  const auto info = inspect(file.str());
  ASSERT_TRUE(info.has_value());
  const auto found = std::ranges::find(info->tensors, "blk.1.ffn_down.weight", &TensorInfo::name);
  ASSERT_NE(found, info->tensors.end());
  EXPECT_EQ(found->type, "I2_S");
  EXPECT_EQ(found->shape, (std::vector<int64_t>{128, 256}));
  EXPECT_EQ(found->bytes, 128u * 256 / 4 + 32);
  EXPECT_LE(found->offset + found->bytes, info->file_bytes);
  EXPECT_EQ(found->offset % 32, 0u);
}

TEST(Inspect, DirectoriesWithTheirOwnNames) {
  const std::string golden = source_path("tests/golden/");
  const auto hf = inspect(golden + "families/qwen3_tied");
  ASSERT_TRUE(hf.has_value()) << hf.error().message;
  EXPECT_EQ(hf->container, "safetensors");
  EXPECT_EQ(hf->not_supported, "");
  EXPECT_EQ(value_of(*hf, "model_type"), "qwen3");
  EXPECT_EQ(value_of(*hf, "rope_parameters.rope_type"), "default");
  const auto found = std::ranges::find(hf->tensors, "model.layers.1.mlp.up_proj.weight", &TensorInfo::name);
  ASSERT_NE(found, hf->tensors.end());
  EXPECT_EQ(found->type, "BF16");
  EXPECT_EQ(found->shape, (std::vector<int64_t>{96, 64}));

  const auto mlc = inspect(golden + "containers/phi3_q4f16_1/");
  ASSERT_TRUE(mlc.has_value()) << mlc.error().message;
  EXPECT_EQ(mlc->container, "MLC");
  EXPECT_EQ(mlc->not_supported, "");
  EXPECT_EQ(value_of(*mlc, "model_config.hidden_size"), "192");
  EXPECT_GT(mlc->bytes_per_token, 0u);

  EXPECT_FALSE(inspect(golden));
}

TEST(Inspect, LayersThatDiffer) {
  const auto info = inspect(source_path("tests/golden/families/llama_layer_heads.gguf"));
  ASSERT_TRUE(info.has_value()) << info.error().message;
  EXPECT_EQ(info->not_supported, "");
  EXPECT_EQ(value_of(*info, "llama.attention.head_count"), "[4, 2, 6, 2]");
  ASSERT_EQ(info->layers.size(), 4u);
  EXPECT_EQ(info->layers[2].n_heads, 6);
  EXPECT_EQ(info->layers[2].n_kv_heads, 2);
  EXPECT_EQ(info->layers[3].d_ff, 96);
  EXPECT_EQ(info->kv_bytes_per_token, 2u * (2 + 1 + 2 + 1) * 16 * 2);
  EXPECT_TRUE(inspect(kDefaultModel)->layers.empty());
}

// A file of another model family, as other programs write it.
TEST(Inspect, AModelThatTernCannotRun) {
  const TemporaryPath path(".gguf");
  GgufWriter writer(path.str());
  writer.add_string("general.architecture", "mamba");
  writer.add_string("tokenizer.chat_template", "{% for m in messages %}\n" + std::string(1000, 'x'));
  const int64_t shape[] = {3, 4};
  ASSERT_TRUE(writer.add_tensor("some.weight", GgmlType::kF16, shape));
  ASSERT_TRUE(writer.begin());
  ASSERT_TRUE(writer.append(std::vector<std::byte>(24)));
  ASSERT_TRUE(writer.finish());

  const auto info = inspect(path.str());
  ASSERT_TRUE(info.has_value()) << info.error().message;
  EXPECT_NE(info->not_supported.find("mamba"), std::string::npos);
  EXPECT_EQ(info->n_params, 12u);
  EXPECT_EQ(info->bytes_per_token, 0u);
  EXPECT_EQ(info->kv_bytes_per_token, 0u);
  EXPECT_TRUE(value_of(*info, "tokenizer.chat_template").starts_with("{% for m in messages %}\\nxxx"));
  EXPECT_TRUE(value_of(*info, "tokenizer.chat_template").ends_with("… (1024 bytes)"));
}

TEST(Inspect, ErrorsNameTheFile) {
  EXPECT_EQ(inspect("/nowhere/x.gguf").error().code, ErrorCode::kNotFound);
  const auto not_a_model = inspect(source_path("CMakeLists.txt"));
  ASSERT_FALSE(not_a_model.has_value());
  EXPECT_NE(not_a_model.error().message.find("CMakeLists.txt"), std::string::npos);
}

}  // namespace
}  // namespace tern
