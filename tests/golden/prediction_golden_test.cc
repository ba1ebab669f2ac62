// The layer that proposes draft tokens, against the layers of transformers (make_family_goldens.py), which has no such
// model.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "backend/cpu/cpu_backend.h"
#include "backend/kv_cache.h"
#include "backend/ref/ref_backend.h"
#include "engine/reply/block_drafter.h"
#include "golden/golden_support.h"
#include "model/model.h"

namespace tern::golden {
namespace {

Golden predicting() {
  const auto goldens = read_goldens("families");
  const auto found = std::ranges::find(goldens, "qwen35_predicts", &Golden::name);
  EXPECT_TRUE(found != goldens.end() && !found->predicted.empty());
  return *found;
}

// The model and its block on one backend.
struct Compiled {
  explicit Compiled(const Golden& golden, bool on_cpu) : model(open_model(golden.model_path).value()) {
    const Fusions fusions = on_cpu ? Fusions::host() : Fusions::none();
    plan = make_plan(model.config, model.weights, {.fuse = fusions, .keeps_hidden = true});
    block_plan = make_prediction_plan(*model.prediction, {.fuse = fusions, .keeps_hidden = true});
    for (const auto& [of, executable] : {std::pair{&plan, &whole}, {&block_plan, &block}}) {
      const CompileOptions options{.max_batch = 64, .max_logit_rows = 64};
      *executable = on_cpu ? cpu::compile(*of, options, pool).value() : ref::compile(*of, options).value();
    }
  }
  // Rows of all tokens.
  std::vector<float> hidden(std::span<const TokenId> tokens) {
    const auto cache = whole->new_cache(64, KvType::kF32).value();
    EXPECT_TRUE(whole->run(*cache, {.tokens = tokens}));
    return {whole->hidden().begin(), whole->hidden().end()};
  }

  Model model;
  ThreadPool pool{2};
  Plan plan, block_plan;
  std::unique_ptr<Executable> whole, block;
};

TEST(PredictionGolden, AgreesWithTransformers) {
  const Golden golden = predicting();
  for (const bool on_cpu : {false, true}) {
    Compiled c(golden, on_cpu);
    const auto rows = c.hidden(golden.tokens);
    const auto next = std::span(golden.tokens).subspan(1);
    ASSERT_EQ(rows.size(), golden.tokens.size() * 32);
    const auto cache = c.block->new_cache(64, KvType::kF32).value();
    const auto logits = c.block->run(
        *cache, {.tokens = next, .logits = WantLogits::kAll, .hidden = std::span(rows).first(next.size() * 32)});
    ASSERT_TRUE(logits) << logits.error().message;
    EXPECT_LT(nmse({logits->begin(), logits->end()}, golden.predicted), 1e-9) << on_cpu;
  }
}

// In whatever passes the model has read the text, and with draft tokens that were wrong in between.
TEST(PredictionGolden, DraftsWhatTheLayerPredicts) {
  const Golden golden = predicting();
  Compiled c(golden, /*on_cpu=*/true);
  const auto rows = c.hidden(golden.tokens);
  const size_t vocab = golden.predicted.size() / (golden.tokens.size() - 1);
  BlockDrafter drafter(Sequence::alone(*c.block, 64, KvType::kF32).value());
  const auto observe = [&](size_t first, size_t n) {
    drafter.observe(first, n, std::span(rows).subspan(first * 32, n * 32));
  };
  const auto known = std::span(golden.tokens);
  EXPECT_TRUE(drafter.draft(known.first(5), 3).tokens.empty());  // no row is known yet
  size_t n = 0;
  for (const size_t more : {7u, 1u, 1u, 5u, 2u, 1u, 9u}) {
    drafter.observe(n, 3, std::span(rows).subspan(3 * 32, 3 * 32));  // of a pass whose tokens are not in the text
    observe(n, std::min(more + 3, golden.tokens.size() - n));        // three of them will be run again
    n += more;
    const Draft draft = drafter.draft(known.first(n + 1), 4);
    ASSERT_EQ(draft.tokens.size(), 4u) << n;
    const auto row = std::span(golden.predicted).subspan((n - 1) * vocab, vocab);
    EXPECT_EQ(draft.tokens[0], std::ranges::max_element(row) - row.begin()) << n;
  }
  // Another text that begins alike, and one whose beginning was not observed.
  observe(10, 4);
  EXPECT_EQ(drafter.draft(known.first(15), 1).tokens.size(), 1u);
  observe(30, 2);
  EXPECT_EQ(drafter.draft(known.first(33), 2).tokens.size(), 2u);
  EXPECT_TRUE(drafter.draft(known.first(33), 2).tokens.empty());  // no row has come since
}

}  // namespace
}  // namespace tern::golden
