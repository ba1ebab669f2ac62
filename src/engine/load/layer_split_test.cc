#include "engine/load/layer_split.h"

#include <gtest/gtest.h>

#include <climits>

#include "support/checkout.h"
#include "tern/engine.h"
#include "tern/scheduler.h"

namespace tern {
namespace {

const std::string kWholeModel = source_path("models/tern-stories.gguf");

class LayerSplits : public testing::Test {
 protected:
  uint64_t bytes_of_last(int n_on_gpu) const {
    const int n = model_.config.n_layers;
    const Plan plan = make_plan(model_.config, model_.weights,
                                {.fuse = fusions_for(BackendKind::kWebGpu), .layers = LayerRange{n - n_on_gpu, n}});
    return gpu_bytes(plan, {}, model_.config.n_ctx);
  }
  Result<LayerSplit> with_memory(uint64_t bytes) const {
    return split_by_memory(model_, {.name = "Card", .driver = "", .memory_bytes = bytes}, {});
  }
  Model model_ = open_model(kWholeModel).value();
};

TEST_F(LayerSplits, AsManyAsTheMemoryHolds) {
  if (bytes_of_last(1) == 0) GTEST_SKIP() << "this build has no webgpu backend";
  for (const int n : {2, 5, model_.config.n_layers - 1}) {
    const auto split = with_memory(bytes_of_last(n) / 9 * 10 + 10);
    ASSERT_TRUE(split) << split.error().message;
    EXPECT_EQ(split->n_on_gpu, n);
    EXPECT_TRUE(split->reason.starts_with(std::to_string(n) + " of 10 layers on the GPU")) << split->reason;
    EXPECT_NE(split->reason.find("Card has"), std::string::npos) << split->reason;
  }
}

TEST_F(LayerSplits, RefusesMemoryThatHoldsTooLittleOrAll) {
  if (bytes_of_last(1) == 0) GTEST_SKIP() << "this build has no webgpu backend";
  EXPECT_EQ(with_memory(bytes_of_last(1) / 2).error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(with_memory(uint64_t{1} << 40).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(with_memory(0).error().code, ErrorCode::kNotFound);
}

TEST_F(LayerSplits, AsManyAsAskedFor) {
  EXPECT_EQ(split_with(model_.config, 3).value().n_on_gpu, 3);
  const Model gemma = open_model(source_path("tests/golden/families/gemma4.gguf")).value();
  EXPECT_EQ(split_with(gemma.config, 1).error().code, ErrorCode::kNotSupported);
}

// Where the layers may not be parted as asked for, the GPU has fewer.
TEST_F(LayerSplits, FewerWhereLayersReadKeysOfOthers) {
  Config config = model_.config;
  config.each_layer()[7].kv_layer = 5;
  EXPECT_EQ(split_with(config, 4).value().n_on_gpu, 2);
  EXPECT_EQ(split_with(config, 5).value().n_on_gpu, 5);
  EXPECT_EQ(split_with(config, 2).value().n_on_gpu, 2);
}

TEST(LoadOptionsOfLayers, AreRefusedWhereTheyMeanNothing) {
  for (const LoadOptions& options :
       {LoadOptions{.model_path = kWholeModel, .gpu_layers = 0},
        LoadOptions{.model_path = kWholeModel, .backend = BackendKind::kCpu, .gpu_layers = 3}}) {
    const auto engine = Engine::load(options);
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().code, ErrorCode::kInvalidArgument);
  }
}

class OnTwoDevices : public testing::Test {
 protected:
  void SetUp() override {
    const auto probe = Engine::load({.model_path = kWholeModel, .backend = BackendKind::kWebGpu});
    if (!probe) GTEST_SKIP() << probe.error().message;  // no GPU, or no such backend in this build
    gpu_ = probe->info().adapter.value().name;
  }
  Result<Engine> load(int n_layers) const {
    return Engine::load({.model_path = kWholeModel, .n_threads = 2, .gpu_layers = n_layers, .gpu = {.adapter = gpu_}});
  }
  std::string gpu_;
};

TEST_F(OnTwoDevices, RepliesAreTheSameAloneTogetherCachedAndGuessed) {
  const Engine engine = load(4).value();
  EXPECT_TRUE(engine.info().backend.starts_with("layers on both: cpu")) << engine.info().backend;
  EXPECT_EQ(engine.info().choice, "4 of 10 layers on the GPU, as asked for");
  const auto prompt = engine.tokenizer().encode("Once upon a time there was a little dog who");
  GenerateOptions options{.max_tokens = 40, .sample = {.temperature = 0}, .ignore_eos = true};
  Session session = engine.new_session().value();
  const auto alone = session.generate(prompt, options).value().tokens;
  EXPECT_EQ(session.generate(prompt, options).value().tokens, alone);  // the prompt is cached
  options.speculate = 4;
  EXPECT_EQ(engine.new_session().value().generate(prompt, options).value().tokens, alone);
  options.speculate = 0;
  Scheduler scheduler = engine.new_scheduler({.max_replies = 4}).value();
  std::vector<std::vector<TokenId>> replies(4);
  for (auto& reply : replies) {
    ASSERT_TRUE(scheduler.submit(prompt, options, [&](const Result<GenerationStep>& step, const GenerateResult& all) {
      ASSERT_TRUE(step) << step.error().message;
      reply = all.tokens;
    }));
  }
  while (scheduler.step()) {
  }
  for (const auto& reply : replies) EXPECT_EQ(reply, alone);
}

// A conversation that was saved where the model is whole goes on where it is divided.
TEST_F(OnTwoDevices, ContinuesWhatTheCpuSaved) {
  const std::string path = testing::TempDir() + "/layers.cache";
  const Engine whole = Engine::load({.model_path = kWholeModel, .backend = BackendKind::kCpu, .n_threads = 2}).value();
  const auto prompt = whole.tokenizer().encode("Once upon a time there was a little dog who lived in a big house and");
  const GenerateOptions options{.max_tokens = 8, .sample = {.temperature = 0}, .ignore_eos = true};
  Session session = whole.new_session().value();
  const auto expected = session.generate(prompt, options).value();
  ASSERT_TRUE(session.save_cache(path));
  const Engine engine = load(4).value();
  Session divided = engine.new_session().value();
  ASSERT_TRUE(divided.load_cache(path));
  const auto result = divided.generate(prompt, options).value();
  EXPECT_GT(result.stats.n_reused, 0);
  EXPECT_EQ(result.tokens, expected.tokens);
}

TEST_F(OnTwoDevices, MoreLayersThanTheModelHasAreTheWholeModel) {
  const Engine engine = load(INT_MAX).value();
  EXPECT_TRUE(engine.info().backend.starts_with("webgpu")) << engine.info().backend;
}

}  // namespace
}  // namespace tern
