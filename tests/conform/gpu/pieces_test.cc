// Models that are not in memory are read, converted and uploaded to the GPU piece by piece. The results are
// bit-identical.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "backend/gpu/memory/weights/weight_store.h"
#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_cache.h"
#include "model/model.h"
#include "support/checkout.h"
#include "tern/tools.h"

namespace tern {
namespace {

const std::string kDefaultModel = source_path("models/tern-stories.gguf");

std::vector<float> logits_of(const std::string& path, Access access) {
  const auto model = open_model(path, {}, access);
  EXPECT_TRUE(model) << model.error().message;
  if (!model) return {};
  const Plan plan = make_plan(model->config, model->weights, {.fuse = Fusions::all()});
  const auto executable = gpu::compile(plan, {.max_batch = 8, .max_logit_rows = 8, .gpu = {.validation = true}});
  EXPECT_TRUE(executable) << path << ": " << executable.error().message;
  if (!executable) return {};
  const auto cache = (*executable)->new_cache(16, KvType::kF32).value();
  const std::vector<TokenId> tokens = {1, 5, 17, 5, 99};
  const auto logits = (*executable)->run(*cache, {.tokens = tokens, .first_pos = 0, .logits = WantLogits::kAll});
  EXPECT_TRUE(logits) << path << ": " << logits.error().message;
  return logits ? std::vector<float>(logits->begin(), logits->end()) : std::vector<float>();
}

class GpuPieces : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  }
  static void expect_same(const std::string& path) {
    const auto expected = logits_of(path, Access::kResident);
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(logits_of(path, Access::kPieces), expected) << path;
  }
};

TEST_F(GpuPieces, GgufComputesTheSame) {
  expect_same(kDefaultModel);
  for (const char* name : {"q4_0", "q8_0", "q6_k", "tq2_0"}) {
    expect_same(source_path("tests/golden/packed/qwen3_") + name + ".gguf");
  }
}

TEST_F(GpuPieces, TernaryMatricesAreRepackedAsTheyAreRead) {
  const std::string path = testing::TempDir() + "tern_pieces_" + std::to_string(::getpid()) + ".gguf";
  ASSERT_TRUE(convert({.in_path = kDefaultModel, .out_path = path, .type = "tq2_0"}));
  expect_same(path);
  std::filesystem::remove(path);
}

TEST_F(GpuPieces, DirectoriesComputeTheSame) {
  for (const char* name : {"containers/phi3_q4f16_1", "containers/qwen3_q4f16_1", "containers/llama_q4f32_1",
                           "families/bitnet_autobitlinear", "families/llama_bitlinear", "families/qwen3_tied"}) {
    expect_same(source_path("tests/golden/") + name);
  }
}

// Whatever the size of the model, only a few megabytes are read at once.
TEST_F(GpuPieces, TakeLittleMemory) {
  const auto device = gpu::open_validation_device().value();
  const Model model = open_model(kDefaultModel, {}, Access::kPieces).value();
  gpu::WeightStore store(*device, 0, {}, nullptr);
  ASSERT_TRUE(store.matrix(model.weights.token_embd));
  ASSERT_TRUE(store.f32_matrix(model.weights.output));
  const uint64_t floats = store.bytes();
  for (const Layer& layer : model.weights.layers) {
    const Tensor* const matrices[] = {&layer.ffn_gate, &layer.ffn_up};
    ASSERT_TRUE(store.ternary(matrices));
    ASSERT_TRUE(store.vector(layer.ffn_norm));
  }
  EXPECT_GT(store.bytes(), floats);
  EXPECT_GT(floats, 20u << 20);
  EXPECT_LE(store.scratch_bytes(), 4u << 20);
}

}  // namespace
}  // namespace tern
