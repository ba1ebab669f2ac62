// A device that is lost, a device that is too small, and requests that are too large.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_cache.h"
#include "engine/engine_impl.h"
#include "engine/load/tokenizers.h"
#include "support/checkout.h"

namespace tern {
namespace {

class GpuPlanFaults : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  }
  Result<std::unique_ptr<Executable>> compile(const gpu::Restrictions& without = {}) {
    auto opened = gpu::open_device({.validation = true, .without = without}).value();
    device_ = opened.get();
    return gpu::compile_on(std::move(opened), plan_, {});
  }
  uint64_t need(int n_ctx) const { return gpu::memory_need(plan_, {}, n_ctx, KvType::kF16).total(); }

  const Model model_ = open_model(source_path("models/tern-stories.gguf")).value();
  const Plan plan_ = make_plan(model_.config, model_.weights, {.fuse = Fusions::all()});
  gpu::Device* device_ = nullptr;
};

// A kernel that quantizes its norms could not show such a gain in its results.
TEST_F(GpuPlanFaults, AGainThatIsNoNumberIsRefused) {
  for (const float bad : {NAN, -std::numeric_limits<float>::infinity()}) {
    Model model = open_model(source_path("models/tern-stories.gguf")).value();
    std::vector<float> gain(512, 1.0f);
    gain[77] = bad;
    model.weights.layers[3].attn_norm.data = std::as_bytes(std::span<const float>(gain));
    const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
    const auto refused = gpu::compile_on(gpu::open_device({.validation = true}).value(), plan, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kCorruption);
    EXPECT_TRUE(refused.error().message.contains(
        "tensor blk.3.attn_norm.weight has values that are not finite numbers; the model's file is damaged"))
        << refused.error().message;
  }
}

TEST_F(GpuPlanFaults, ALostDeviceEndsTheReplyAndKeepsItsText) {
  const auto executable = compile().value();
  const auto tokenizer = make_tokenizer(*model_.source).value();
  SessionCore generator(Sequence::alone(*executable, 200, KvType::kF16).value(), tokenizer.get(),
                        model_.config.n_vocab);
  const GenerateOptions greedy{.max_tokens = 100, .sample = {.temperature = 0}, .stop = {}, .ignore_eos = true};
  std::string expected, shown;
  ASSERT_TRUE(generator.generate(tokenizer->encode("Once upon a time", {}), greedy,
                                 [&](std::string_view text) { expected += text; }, {}));
  generator.reset();
  int pieces = 0;
  const auto lose_later = [&](std::string_view text) {
    shown += text;
    if (++pieces == 10) device_->lose();
  };
  const auto result = generator.generate(tokenizer->encode("Once upon a time", {}), greedy, lose_later, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kDeviceLost) << result.error().message;
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  EXPECT_GE(pieces, 10);
  EXPECT_TRUE(expected.starts_with(shown)) << shown;
  // From then on every call fails at once; it never hangs.
  const auto again = generator.generate(tokenizer->encode("The", {}), greedy, {}, {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kDeviceLost);
  EXPECT_FALSE(executable->new_cache(10, KvType::kF16));
}

TEST_F(GpuPlanFaults, ADeviceLostInThePromptIsAnError) {
  const auto executable = compile().value();
  const auto cache = executable->new_cache(100, KvType::kF16).value();
  device_->lose();
  const std::vector<TokenId> tokens = {1, 2, 3};
  const auto logits = executable->run(*cache, {.tokens = tokens});
  ASSERT_FALSE(logits);
  EXPECT_EQ(logits.error().code, ErrorCode::kDeviceLost);
}

TEST_F(GpuPlanFaults, HeadsThatTheKernelsCannotSplitAreRefused) {
  for (const int head_dim : {2, 6, 4096}) {
    Plan plan = plan_;
    plan.config.head_dim = head_dim;
    const auto executable = gpu::compile_on(gpu::open_device({.without = {.subgroups = true}}).value(), plan, {});
    ASSERT_FALSE(executable) << head_dim;
    EXPECT_EQ(executable.error().code, ErrorCode::kNotSupported);
    EXPECT_TRUE(executable.error().message.starts_with("heads of")) << executable.error().message;
  }
}

TEST_F(GpuPlanFaults, AModelThatDoesNotFitIsRefusedBeforeItIsUploaded) {
  const auto executable = compile({.memory_bytes = need(0) - 1});
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().code, ErrorCode::kOutOfMemory);
  for (const char* word : {"needs 0.0 GB", "has 0.0 GB", "use the cpu backend"}) {
    EXPECT_NE(executable.error().message.find(word), std::string::npos) << executable.error().message;
  }
  EXPECT_TRUE(compile({.memory_bytes = need(100) + (32u << 20)}));
}

TEST_F(GpuPlanFaults, AContextThatDoesNotFitIsRefused) {
  const auto executable = compile({.memory_bytes = need(512)}).value();
  std::vector<std::unique_ptr<KvCache>> caches;
  while (caches.size() < 100) {  // every cache takes part of the remaining memory
    auto cache = executable->new_cache(512, KvType::kF16);
    if (!cache) {
      EXPECT_EQ(cache.error().code, ErrorCode::kOutOfMemory);
      EXPECT_NE(cache.error().message.find("use a smaller context"), std::string::npos) << cache.error().message;
      break;
    }
    caches.push_back(std::move(*cache));
  }
  EXPECT_LT(caches.size(), 10u);
  caches.clear();
  EXPECT_TRUE(executable->new_cache(16, KvType::kF16));  // the remaining memory is still usable
}

TEST_F(GpuPlanFaults, AContextBeyondABindingIsRefused) {
  const auto executable = compile({.default_limits = true}).value();
  const auto cache = executable->new_cache(2'000'000, KvType::kF32);
  ASSERT_FALSE(cache);
  EXPECT_EQ(cache.error().code, ErrorCode::kOutOfMemory);
  EXPECT_NE(cache.error().message.find("smaller context"), std::string::npos) << cache.error().message;
}

TEST_F(GpuPlanFaults, MemoryNeedIsWhatIsAllocated) {
  const auto executable = compile().value();
  const auto cache = executable->new_cache(512, KvType::kF16).value();
  const uint64_t allocated = device_->allocated_bytes();
  // Constants, parameters, token rings and rounding come on top.
  EXPECT_GE(allocated, need(512));
  EXPECT_LT(allocated, need(512) + (1u << 20));
}

}  // namespace
}  // namespace tern
