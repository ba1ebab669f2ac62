// A plan's results do not depend on the number of workers or on which workers arrive in time. ThreadSanitizer runs
// these tests too.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/phases.h"
#include "backend/kv_cache.h"
#include "conform/float_model.h"
#include "model/model.h"
#include "support/checkout.h"

namespace tern {
namespace {

constexpr int kPrompt = 9, kTokens = 24;

// The logits after a prompt in two batches and after each of the tokens decoded one by one.
std::vector<float> run(const Plan& plan, ThreadPool& pool, const StepObserver& observer = {}) {
  const auto executable = cpu::compile(plan, {.max_batch = 5, .max_logit_rows = 5}, pool).value();
  executable->observe(observer);
  const auto cache = executable->new_cache(kTokens, KvType::kF16).value();
  std::vector<float> all;
  for (int pos = 0; pos < kTokens;) {
    std::vector<TokenId> tokens(pos == 0 ? 5 : pos < kPrompt ? kPrompt - pos : 1);
    for (TokenId& token : tokens) token = (pos + static_cast<int>(&token - tokens.data())) * 37 % 8192;
    const auto logits = executable->run(*cache, {.tokens = tokens, .first_pos = pos, .logits = WantLogits::kAll});
    all.insert(all.end(), logits->begin(), logits->end());
    pos += static_cast<int>(tokens.size());
  }
  return all;
}

void expect_same_for_all_pools(const Plan& plan) {
  ThreadPool alone(1);
  const std::vector<float> expected = run(plan, alone);
  ASSERT_EQ(expected.size(), static_cast<size_t>(kTokens) * 8192);
  for (const int n_threads : {2, 7}) {
    ThreadPool pool(n_threads);
    EXPECT_TRUE(run(plan, pool) == expected) << n_threads << " threads";
  }
  ThreadPool pinned({.n_threads = 3, .pin = true});
  EXPECT_TRUE(run(plan, pinned) == expected);
}

TEST(Threads, TernaryModel) {
  const Model model = open_model(source_path("models/tern-stories.gguf")).value();
  expect_same_for_all_pools(make_plan(model.config, model.weights, {.fuse = Fusions::host()}));
}

TEST(Threads, FloatActivations) {
  conform::FloatModel model;
  model.config.n_ctx = kTokens;
  expect_same_for_all_pools(make_plan(model.config, model.weights, {.fuse = Fusions::host()}));
}

// Worker 0 shows a step's output while the others wait; some of them run ahead afterwards.
TEST(Threads, ObservedStepByStep) {
  const Model model = open_model(source_path("models/tern-stories.gguf")).value();
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::host()});
  ThreadPool alone(1), many(5);
  const std::vector<float> expected = run(plan, alone);
  std::vector<std::string> steps_alone, steps;
  EXPECT_TRUE(run(plan, alone, [&](const StepOutput& o) { steps_alone.push_back(o.step->name); }) == expected);
  EXPECT_TRUE(run(plan, many, [&](const StepOutput& o) { steps.push_back(o.step->name); }) == expected);
  EXPECT_EQ(steps, steps_alone);
  EXPECT_FALSE(steps.empty());
}

// The claimed ranges cover all units once, for any numbers of workers, units and grain.
TEST(WorkQueue, RangesCoverAllUnitsOnce) {
  for (const int n_workers : {1, 2, 5, 64}) {
    for (const int n_units : {0, 1, 7, 16, 17, 1000, 13824}) {
      for (const int grain : {1, 4, 16}) {
        std::atomic<int> next = 0;
        cpu::WorkQueue queue(next, n_workers, {});
        std::vector<int> covered(static_cast<size_t>(n_units), 0);
        int previous_end = 0, last = n_units;
        queue.for_ranges(n_units, grain, [&](int begin, int end) {
          EXPECT_EQ(begin, previous_end);
          EXPECT_EQ(begin % grain, 0);
          EXPECT_LT(begin, end);
          EXPECT_LE(end - begin, std::max(last, grain));  // ranges never grow
          previous_end = end;
          last = end - begin;
          for (int i = begin; i < end; ++i) ++covered[static_cast<size_t>(i)];
        });
        EXPECT_EQ(covered, std::vector<int>(static_cast<size_t>(n_units), 1));
        EXPECT_EQ(queue.units(), n_units);
        EXPECT_EQ(queue.done(), n_units);
        if (n_workers > 1 && n_units >= 1000) {
          EXPECT_LE(last, grain);  // no long wait for the last range
        }
      }
    }
  }
}

// A worker that arrives after a phase has ended passes through it. A worker with a claimed range is waited for.
TEST(Phases, WaitForWhatIsClaimedOnly) {
  cpu::Phases phases(2);
  std::atomic<int> next = 0;
  cpu::Phases::Walk first(phases), late(phases);
  {
    cpu::WorkQueue queue(next, 2, {});
    queue.for_ranges(10, 1, [](int, int) {});
    first.add(queue);
    first.next_phase();  // alone: does not wait for the other
  }
  cpu::WorkQueue queue(next, 2, {});
  queue.for_ranges(10, 1, [](int, int) { FAIL() << "nothing is left"; });
  late.add(queue);
  late.next_phase();
  first.add_unit(true);
  first.finish_phase();
  first.add_unit(true);  // ahead of the other worker, within the phase
  first.finish_phase();
  late.add_unit(false);
  late.finish_phase();
}

}  // namespace
}  // namespace tern
