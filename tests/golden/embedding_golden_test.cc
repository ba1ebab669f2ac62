// Embedding vectors of texts compared with Hugging Face transformers (make_family_goldens.py).
#include <gtest/gtest.h>

#include <filesystem>

#include "golden/golden_support.h"

namespace tern::golden {
namespace {

std::vector<float> embed(const std::string& path, const Golden& golden, LoadOptions load, Pooling pooling) {
  load.model_path = path;
  load.embeddings = true;
  const auto engine = Engine::load(load);
  if (!engine) {
    ADD_FAILURE() << engine.error().message;
    return {};
  }
  auto session = engine->new_session({.kv_type = KvType::kF32}).value();
  const auto values = session.embed(golden.tokens, pooling);
  EXPECT_TRUE(values) << values.error().message;
  EXPECT_EQ(engine->info().n_embd, static_cast<int>(values.value_or(std::vector<float>()).size()));
  return values.value_or(std::vector<float>());
}

void expect_vectors(const LoadOptions& load, double most) {
  int n_models = 0;
  for (const Golden& golden : read_goldens("families")) {
    if (golden.vectors.empty()) continue;
    ++n_models;
    const size_t width = golden.vectors.size() / 2;
    const std::vector<float> last(golden.vectors.begin(), golden.vectors.begin() + static_cast<ptrdiff_t>(width));
    const std::vector<float> mean(golden.vectors.begin() + static_cast<ptrdiff_t>(width), golden.vectors.end());
    const auto directory = std::filesystem::path(golden.model_path).replace_extension("").string();
    for (const std::string& path : {golden.model_path, directory}) {
      EXPECT_LT(nmse(embed(path, golden, load, Pooling::kLast), last), most) << path;
      EXPECT_LT(nmse(embed(path, golden, load, Pooling::kMean), mean), most) << path;
      EXPECT_EQ(embed(path, golden, load, Pooling::kAuto), embed(path, golden, load, Pooling::kLast)) << path;
    }
  }
  EXPECT_EQ(n_models, 2);
}

TEST(EmbeddingGolden, ReferenceAgreesWithTransformers) { expect_vectors({.backend = BackendKind::kRef}, 1e-9); }

TEST(EmbeddingGolden, CpuAgreesWithTransformers) {
  for (const int max_batch : {3, 32}) {
    expect_vectors({.backend = BackendKind::kCpu, .n_threads = 2, .max_batch = max_batch}, 1e-9);
  }
}

TEST(EmbeddingGolden, GpuAgreesWithTransformers) {
  const auto probe = Engine::load({.backend = BackendKind::kWebGpu});
  if (!probe) GTEST_SKIP() << probe.error().message;
  expect_vectors({.backend = BackendKind::kWebGpu, .max_batch = 32, .gpu = {.validation = true}}, 1e-6);
}

// A model is loaded for either vectors or text, and refuses the other.
TEST(EmbeddingGolden, VectorsAndTextDoNotMix) {
  const Golden golden = read_goldens("families").front();
  for (const bool embeddings : {false, true}) {
    const auto engine =
        Engine::load({.model_path = golden.model_path, .backend = BackendKind::kCpu, .embeddings = embeddings}).value();
    auto session = engine.new_session().value();
    EXPECT_EQ(session.embed(golden.tokens).has_value(), embeddings);
    const auto text = session.generate(golden.tokens, {.max_tokens = 1});
    EXPECT_EQ(text.has_value(), !embeddings);
    if (!text) {
      EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace tern::golden
