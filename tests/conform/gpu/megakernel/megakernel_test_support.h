// Models whose layers run as a megakernel or step by step, and helpers to compare both.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <regex>
#include <utility>

#include "backend/gpu/device/mutant_test_support.h"
#include "backend/gpu/run/executable.h"
#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_cache.h"
#include "conform/gpu/story_rows.h"
#include "model/model.h"
#include "support/checkout.h"

namespace tern {

inline constexpr int kContext = 640;

// Words passed between workgroups lose two bits, which occasionally changes an activation to the next int8 value.
inline constexpr double kClose = 1e-3;

class GpuMegakernel : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("LP_NUM_THREADS", "4", 1); }  // lavapipe's threads: two parts of a history
  void SetUp() override {
    if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  }

  struct Made {
    std::unique_ptr<Plan> plan;
    std::unique_ptr<Executable> executable;
    gpu::GpuExecutable& gpu() const { return static_cast<gpu::GpuExecutable&>(*executable); }
  };
  // Compiles the model with `find` replaced by `replace` in the text of `kernel`.
  Made make(MegakernelUse use, size_t n_layers = 2, const std::string& find = "", const std::string& replace = "",
            const Fusions& fuse = Fusions::all(), const std::string& kernel = "ternary_layers",
            const std::function<void(Model&)>& change = {}) {
    Model& model = models_.emplace_back(open_model(source_path("models/tern-stories.gguf")).value());
    model.config.n_ctx = kContext;
    model.weights.layers.resize(n_layers);
    model.config.n_layers = static_cast<int>(n_layers);
    if (change) change(model);
    return compile(make_plan(model.config, model.weights, {.fuse = fuse}), use, kernel, find, replace);
  }
  static Made compile(Plan plan, MegakernelUse use, const std::string& kernel, const std::string& find,
                      const std::string& replace) {
    Made made{.plan = std::make_unique<Plan>(std::move(plan)), .executable = nullptr};
    const CompileOptions options{
        .max_batch = 128, .max_logit_rows = 8, .gpu = {.without = {"serial"}, .megakernel = use}};
    auto compiled = gpu::compile(*made.plan, options, [=](const gpu::DeviceOptions& wanted) {
      return gpu::open_device(wanted).transform([&](std::unique_ptr<gpu::Device> device) {
        const auto rewrite = [=](const wgsl::Module& module) {
          wgsl::Module other = gpu::mutated(module);
          if (module.name == kernel && !find.empty()) {
            const std::string text =
                std::exchange(other.text, std::regex_replace(other.text, std::regex(find), replace));
            EXPECT_NE(other.text, text) << find;
          }
          return other;
        };
        return std::unique_ptr<gpu::Device>(std::make_unique<gpu::RewritingDevice>(std::move(device), rewrite));
      });
    });
    EXPECT_TRUE(compiled) << compiled.error().message;
    made.executable = std::move(*compiled);
    return made;
  }

  static Rows feed(Executable& e, KvCache& cache, std::span<const TokenId> tokens, size_t batch, int first_pos) {
    Rows last;
    for (size_t at = 0; at < tokens.size(); at += batch) {
      const auto part = tokens.subspan(at, std::min(batch, tokens.size() - at));
      const auto logits = e.run(cache, {.tokens = part, .first_pos = first_pos + static_cast<int>(at)});
      EXPECT_TRUE(logits) << logits.error().message;
      if (logits) last.assign(logits->begin(), logits->end());
    }
    return last;
  }
  // The logits of the last n tokens, one by one, after a prompt of `n_prompt` tokens.
  static std::vector<Rows> one_by_one(Executable& e, KvCache& cache, size_t n_prompt, size_t n) {
    const auto tokens = story(n_prompt + n);
    if (n_prompt > 0) feed(e, cache, std::span(tokens).first(n_prompt), 128, 0);
    std::vector<Rows> rows;
    for (size_t i = n_prompt; i < tokens.size(); ++i) {
      rows.push_back(feed(e, cache, std::span(tokens).subspan(i, 1), 1, static_cast<int>(i)));
    }
    return rows;
  }
  static std::vector<Rows> one_by_one(Executable& e, size_t n_prompt, size_t n, KvType type = KvType::kF16) {
    const auto cache = e.new_cache(kContext, type).value();
    return one_by_one(e, *cache, n_prompt, n);
  }
  static void expect_close(const std::vector<Rows>& actual, const std::vector<Rows>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) EXPECT_LT(nmse(actual[i], expected[i]), kClose) << "token " << i;
  }
  static int dispatches(const Made& made) { return made.executable->gpu_stats()->dispatches_per_token; }
  static std::vector<TokenId> greedy(Executable& e, KvCache& cache, int first_pos, int n) {
    const auto stream = e.decode(cache, 5, first_pos, n, {}).value();
    std::vector<TokenId> tokens;
    for (int i = 0; i < n; ++i) {
      const auto next = stream->next();
      EXPECT_TRUE(next) << next.error().message;
      tokens.push_back(next ? (*next)[0] : -1);
    }
    return tokens;
  }

  std::deque<Model> models_;  // plans point into them
};

// At positions 40 … 59, which the trial does not use, no workgroup waits, as if workgroups did not run at the same
// time.
inline constexpr const char* kPatience = R"(var patience: u32 = now(_\d+)?;)";
inline constexpr const char* kNoPatience =
    "var patience: u32 = select(now$1, 0u, params[3u] >= 40u && params[3u] < 60u);";

}  // namespace tern
