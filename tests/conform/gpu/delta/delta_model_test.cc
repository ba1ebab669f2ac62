// Models with recurrent layers on the GPU: logits, states, streams.
#include "conform/delta_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/run/executable.h"
#include "backend/gpu/run/memory_need.h"
#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_cache.h"
#include "backend/kv_layout.h"
#include "backend/ref/ref_backend.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/rotated_model.h"

namespace tern::conform {
namespace {

// A whole model: the logits of the reference, and states that are kept, copied and read back.
TEST(GpuDeltaModel, GivesTheLogitsOfTheReference) {
  if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  DeltaModel model;
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  const Plan unfused = make_plan(model.config, model.weights, {.fuse = Fusions::none()});
  const auto ref = ref::compile(unfused, {.max_batch = 32, .max_logit_rows = 32}).value();
  const auto made = gpu::compile(plan, {.max_batch = 32, .max_logit_rows = 32, .gpu = {.validation = true}});
  ASSERT_TRUE(made) << made.error().message;
  Executable& gpu = **made;
  std::vector<TokenId> tokens;
  for (int i = 0; i < 24; ++i) tokens.push_back((i * 97 + 13) % model.config.n_vocab);
  const auto on_ref = ref->new_cache(64, KvType::kF32).value();
  const auto expected = ref->run(*on_ref, {.tokens = tokens, .first_pos = 0}).value();
  const auto store = gpu.new_kv_store(gpu.kv_block_tokens(64), KvType::kF32).value();
  const KvBlockId blocks[] = {0};
  ASSERT_TRUE(store->allocate(0));
  for (StateId state = 0; state < 3; ++state) ASSERT_TRUE(store->allocate_state(state));
  const auto run = [&](size_t from, size_t n, StateId state) {
    const Slice slice{.tokens = std::span(tokens).subspan(from, n),
                      .first_pos = static_cast<int>(from),
                      .blocks = blocks,
                      .n_ctx = 64,
                      .state = state};
    const auto logits = gpu.run(*store, {&slice, 1});
    EXPECT_TRUE(logits) << logits.error().message;
    return logits ? std::vector<float>(logits->begin(), logits->end()) : std::vector<float>();
  };
  EXPECT_LT(nmse(run(0, 24, 0), expected), 1e-6);
  // In parts, with the state kept in between as a copy and as bytes.
  run(0, 9, 1);
  ASSERT_TRUE(store->copy_state(1, 2));
  std::vector<std::byte> bytes(store->state_bytes());
  ASSERT_TRUE(store->read_state(1, bytes));
  const auto first = run(9, 15, 1);
  EXPECT_LT(nmse(first, expected), 1e-6);
  EXPECT_EQ(run(9, 15, 2), first);
  ASSERT_TRUE(store->write_state(2, bytes));
  EXPECT_EQ(run(9, 15, 2), first);
}

TEST(GpuDeltaModel, NeedsTheMemoryOfItsWeights) {
  if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  DeltaModel model;
  const CompileOptions options{.max_batch = 32, .gpu = {.validation = true}};
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  const auto gpu = gpu::compile(plan, options);
  ASSERT_TRUE(gpu) << gpu.error().message;
  const auto uploaded = static_cast<double>((*gpu)->gpu_stats()->upload_bytes);
  const auto needed = static_cast<double>(gpu::memory_need(plan, options, 0, KvType::kF16).weights);
  EXPECT_NEAR(needed / uploaded, 1, 0.01);
}

// Each of them has a second place, as after a run of single tokens. Constants, parameters and rounding come on top.
TEST(GpuDeltaModel, NeedsTheMemoryOfSixtyFourStates) {
  if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  DeltaModel model;
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  auto opened = gpu::open_device({.validation = true}).value();
  const gpu::Device& device = *opened;
  const auto executable = gpu::compile_on(std::move(opened), plan, {}).value();
  const auto store = executable->new_kv_store(executable->kv_block_tokens(512), KvType::kF16).value();
  ASSERT_TRUE(store->reserve(kv_blocks_for(512)));
  auto& states = static_cast<gpu::GpuKvStore&>(*store);
  for (StateId state = 0; state < 64; ++state) {
    ASSERT_TRUE(states.allocate_state(state));
    ASSERT_TRUE(states.pair_state(state));
  }
  const auto need = [&](int n) { return gpu::memory_need(plan, {}, 512, KvType::kF16, n); };
  EXPECT_EQ(need(64).states, 129 * store->state_bytes());
  EXPECT_EQ(need(64).total() - need(1).total(), 126 * store->state_bytes());
  EXPECT_GE(device.allocated_bytes(), need(64).total());
  EXPECT_LT(device.allocated_bytes(), need(64).total() + (1u << 20));
}

// However many tokens are taken from a stream, the state is the one after exactly these.
TEST(GpuDeltaModel, AStreamLeavesTheStateOfItsTokens) {
  if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  DeltaModel model;
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  const auto made = gpu::compile(
      plan, {.max_batch = 32, .max_logit_rows = 4, .gpu = {.validation = true, .without = {"serial", "tuned"}}});
  ASSERT_TRUE(made) << made.error().message;
  Executable& gpu = **made;
  const auto store = gpu.new_kv_store(gpu.kv_block_tokens(64), KvType::kF32).value();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(store->allocate(i));
    ASSERT_TRUE(store->allocate_state(i));
  }
  // Text i has block and state i.
  const auto slice = [&](std::span<const TokenId> tokens, int pos, const KvBlockId& i) {
    return Slice{.tokens = tokens, .first_pos = pos, .blocks = {&i, 1}, .n_ctx = 64, .state = i};
  };
  const auto state = [&](StateId id) {
    std::vector<std::byte> bytes(store->state_bytes());
    EXPECT_TRUE(store->read_state(id, bytes));
    return bytes;
  };
  const KvBlockId ids[] = {0, 1, 2, 3};
  const std::vector<TokenId> prompt = {5, 80, 3, 411, 7};
  // By the host, token by token.
  std::vector<TokenId> expected;
  std::vector<std::vector<std::byte>> states;
  std::vector<TokenId> next = prompt;
  for (int pos = 0; expected.size() < 12;) {
    const Slice one = slice(next, pos, ids[0]);
    const auto logits = gpu.run(*store, {&one, 1}).value();
    pos += static_cast<int>(next.size());
    next = {static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin())};
    expected.push_back(next[0]);
    states.push_back(state(0));
  }
  const std::vector<DeviceSampling> greedy(2);
  for (const int n_taken : {1, 2, 3, 8}) {
    for (const int n_asked : {n_taken, n_taken + 5}) {
      const Slice of_prompt[] = {slice(prompt, 0, ids[1]), slice(prompt, 0, ids[2])};
      ASSERT_TRUE(gpu.run(*store, of_prompt));
      const Slice starts[] = {slice({expected.data(), 1}, 5, ids[1]), slice({expected.data(), 1}, 5, ids[2])};
      {
        const auto stream = gpu.decode(*store, starts, n_asked, greedy).value();
        ASSERT_TRUE(stream);
        for (int i = 0; i < n_taken; ++i) {
          const auto tokens = stream->next().value();
          EXPECT_EQ(tokens[0], expected[static_cast<size_t>(i) + 1]);
          EXPECT_EQ(tokens[1], expected[static_cast<size_t>(i) + 1]);
          if (i != 1) continue;  // something else in between
          const Slice other = slice(prompt, 0, ids[3]);
          ASSERT_TRUE(gpu.run(*store, {&other, 1}));
          EXPECT_EQ(state(1), states[static_cast<size_t>(i) + 1]);
        }
      }
      EXPECT_EQ(state(1), states[static_cast<size_t>(n_taken)]) << n_taken << " of " << n_asked;
      EXPECT_EQ(state(2), states[static_cast<size_t>(n_taken)]) << n_taken << " of " << n_asked;
    }
  }
}

TEST(GpuDeltaModel, ARotatedModelComputesTheSame) {
  if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  DeltaModel model(Format::kF32);
  const std::vector<TokenId> tokens = {5, 80, 3, 411, 7, 7, 90, 1};
  const Plan unfused = make_plan(model.config, model.weights, {.fuse = Fusions::none()});
  const auto ref = ref::compile(unfused, {.max_batch = 8});
  const auto on_ref = (*ref)->new_cache(16, KvType::kF32).value();
  const auto logits = (*ref)->run(*on_ref, {.tokens = tokens, .first_pos = 0}).value();
  const std::vector<float> expected(logits.begin(), logits.end());
  rotate(model);
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  const auto is_norm = [](const Step& step) { return std::holds_alternative<step::RmsNorm>(step.body); };
  EXPECT_TRUE(std::ranges::none_of(plan.steps, is_norm));  // rotations and stacks norm what they read
  const auto gpu = gpu::compile(plan, {.max_batch = 8, .gpu = {.validation = true}});
  ASSERT_TRUE(gpu) << gpu.error().message;
  const auto cache = (*gpu)->new_cache(16, KvType::kF32).value();
  EXPECT_LT(nmse((*gpu)->run(*cache, {.tokens = tokens, .first_pos = 0}).value(), expected), 1e-9);
}

// The logits of a prompt of five tokens, of each of four further tokens, and of one more in each of three sequences.
std::vector<float> logits_with(const DeltaModel& model, std::vector<gpu::Layouts::Int8Rows> int8_rows) {
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  const auto gpu = gpu::compile(
      plan, {.max_batch = 32, .max_logit_rows = 4, .gpu = {.validation = true, .without = {"serial", "tuned"}}});
  CHECK(gpu.has_value());
  static_cast<gpu::GpuExecutable&>(**gpu).set_layouts({.int8_rows = std::move(int8_rows), .wide_int8_rows = 1});
  const auto store = (*gpu)->new_kv_store((*gpu)->kv_block_tokens(64), KvType::kF32).value();
  const KvBlockId ids[] = {0, 1, 2};
  for (const int id : ids) {
    CHECK(store->allocate(id).has_value());
    CHECK(store->allocate_state(id).has_value());
  }
  const std::vector<TokenId> tokens = {5, 80, 3, 411, 7, 7, 90, 1, 33, 12};
  std::vector<float> all;
  const auto run = [&](std::span<const Slice> slices) {
    const auto logits = (*gpu)->run(*store, slices);
    CHECK(logits.has_value());
    all.insert(all.end(), logits->begin(), logits->end());
  };
  const auto slice = [&](size_t first, size_t n, int id) {
    return Slice{.tokens = std::span(tokens).subspan(first, n),
                 .first_pos = static_cast<int>(first),
                 .blocks = {&ids[id], 1},
                 .n_ctx = 64,
                 .state = id};
  };
  for (int id = 0; id < 3; ++id) {
    const Slice prompt = slice(0, 5, id);
    run({&prompt, 1});
  }
  for (size_t i = 5; i < 9; ++i) {
    const Slice one = slice(i, 1, 0);
    run({&one, 1});
  }
  const Slice three[] = {slice(9, 1, 0), slice(5, 1, 1), slice(5, 1, 2)};
  run(three);
  return all;
}

// The rows that rotations, recurrent layers, gates of attention and GLUs leave as int8 are those that products would
// make of their results. The factor of a norm is multiplied elsewhere, so that some integers are others.
TEST(GpuDeltaModel, StepsLeaveTheRowsThatProductsWouldMake) {
  if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  for (const bool rotated : {false, true}) {
    DeltaModel model;
    if (rotated) mark_rotated(model);
    const auto expected = logits_with(model, {});
    const auto left = logits_with(model, {{.bits = 8, .from_wide = 1, .from = 1, .most = 8}});
    if (rotated) {  // no product norms its input
      EXPECT_EQ(left, expected);
    } else {
      EXPECT_LT(nmse(left, expected), 1e-5);
    }
    // From two rows on: single tokens use other kernels.
    EXPECT_LT(nmse(logits_with(model, {{.bits = 8, .from_wide = 2, .from = 2, .most = 2}}), expected), 1e-5) << rotated;
  }
}

}  // namespace
}  // namespace tern::conform
