// The default model on the GPU, compared with the CPU and with itself in every other configuration. The whole model
// runs only where its depth matters: CPU drivers take long for ten layers, and errors between layers show with two.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "backend/cpu/cpu_backend.h"
#include "backend/gpu/run/executable.h"
#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_cache.h"
#include "conform/gpu/small_tiles.h"
#include "conform/gpu/story_rows.h"
#include "model/model.h"
#include "sample/random.h"
#include "support/checkout.h"

namespace tern {
namespace {

struct Device {
  std::vector<std::string> without = {};
  bool serial = false;  // what a software driver uses by default; otherwise what GPUs use
  Fusions fuse = Fusions::all();
  int max_batch = 128;
  int max_logit_rows = 16;
};

Model first_layers(size_t n, int n_ctx) {
  Model model = open_model(source_path("models/tern-stories.gguf")).value();
  model.config.n_ctx = n_ctx;
  model.weights.layers.resize(n);
  model.config.n_layers = static_cast<int>(n);
  return model;
}

class GpuPlan : public testing::Test {
 protected:
  explicit GpuPlan(size_t n_layers = 2, int n_ctx = 512) : model_(first_layers(n_layers, n_ctx)) {}

  void SetUp() override {
    if (const auto adapters = gpu::list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
  }

  std::unique_ptr<Executable> on_gpu(const Device& device = {}) {
    plans_.push_back(std::make_unique<Plan>(make_plan(model_.config, model_.weights, {.fuse = device.fuse})));
    auto without = device.without;
    if (!device.serial) without.emplace_back("serial");
    auto compiled = gpu::compile(*plans_.back(), {.max_batch = device.max_batch,
                                                  .max_logit_rows = device.max_logit_rows,
                                                  .gpu = {.validation = true, .without = without}});
    EXPECT_TRUE(compiled) << compiled.error().message;
    return std::move(*compiled);
  }
  std::unique_ptr<Executable> on_cpu() {
    plans_.push_back(std::make_unique<Plan>(make_plan(model_.config, model_.weights)));
    return cpu::compile(*plans_.back(), {.max_batch = 128}, pool_).value();
  }

  // Runs `tokens` from `first_pos` on in batches of `batch`. Returns the logits of the last batch.
  static Rows feed(Executable& e, KvCache& cache, std::span<const TokenId> tokens, size_t batch, int first_pos = 0) {
    Rows last;
    for (size_t at = 0; at < tokens.size(); at += batch) {
      const auto part = tokens.subspan(at, std::min(batch, tokens.size() - at));
      const auto logits = e.run(cache, {.tokens = part, .first_pos = first_pos + static_cast<int>(at)});
      EXPECT_TRUE(logits) << logits.error().message;
      if (logits) last.assign(logits->begin(), logits->end());
    }
    return last;
  }
  Rows logits_of(Executable& e, std::span<const TokenId> tokens, size_t batch = 128, KvType type = KvType::kF16) {
    const auto cache = e.new_cache(512, type).value();
    return feed(e, *cache, tokens, batch);
  }

  // The next `n` tokens, greedily, decoded as SessionCore does: with a stream if the backend has one.
  static std::vector<TokenId> greedy(Executable& e, KvCache& cache, std::span<const TokenId> prompt, int n) {
    Rows logits = feed(e, cache, prompt, 128);
    std::vector<TokenId> tokens = {static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin())};
    int pos = static_cast<int>(prompt.size());
    const auto stream = n > 1 ? e.decode(cache, tokens.back(), pos, n - 1, {}).value() : nullptr;
    while (static_cast<int>(tokens.size()) < n) {
      if (stream) {
        const auto next = stream->next();
        EXPECT_TRUE(next) << next.error().message;
        tokens.push_back(next ? (*next)[0] : 0);
        continue;
      }
      logits = feed(e, cache, std::span(&tokens.back(), 1), 1, pos++);
      tokens.push_back(static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin()));
    }
    return tokens;
  }
  static std::vector<TokenId> greedy(Executable& e, std::span<const TokenId> prompt, int n,
                                     KvType type = KvType::kF16) {
    const auto cache = e.new_cache(512, type).value();
    return greedy(e, *cache, prompt, n);
  }

  const Model model_;
  ThreadPool pool_{2};
  std::vector<std::unique_ptr<Plan>> plans_;
};

class GpuWholePlan : public GpuPlan {
 protected:
  GpuWholePlan() : GpuPlan(10) {}
};

// Keys or values rounded to f16, or float sums in another order, change some activations to the next int8 value. That
// changes this model's logits by an NMSE of about 1e-4, as much as an f32 cache instead of an f16 one does on the CPU.
// A wrong step gives 1e-1 and more.
constexpr double kClose = 1e-3;

// A context so long that attention is split.
class GpuLongPlan : public GpuPlan {
 protected:
  GpuLongPlan() : GpuPlan(2, 1024) {}
};

TEST_F(GpuLongPlan, LogitsAreThoseOfTheCpu) {
  const auto cpu = on_cpu(), gpu = on_gpu();
  const auto tokens = story(520);
  for (const KvType type : {KvType::kF16, KvType::kQ8_0}) {
    const auto logits = [&](Executable& e) {
      const auto cache = e.new_cache(700, type).value();
      feed(e, *cache, std::span(tokens).first(514), 128);
      return feed(e, *cache, std::span(tokens).subspan(514), 2, 514);
    };
    const Rows expected = logits(*cpu);
    EXPECT_LT(nmse(logits(*gpu), expected), kClose) << static_cast<int>(type);
    auto& executable = static_cast<gpu::GpuExecutable&>(*gpu);
    executable.set_layouts({.group_heads = gpu::Layouts::Group::kAlways, .most_splits_of_groups = 100});
    EXPECT_LT(nmse(logits(*gpu), expected), kClose) << static_cast<int>(type) << ", heads together";
    executable.set_layouts({});
  }
}

// Prompts with layers and attention on subgroup matrices, in small tiles and in big ones.
TEST_F(GpuLongPlan, PromptsOnSubgroupMatrices) {
  const auto cpu = on_cpu(), gpu = on_gpu();
  auto& executable = static_cast<gpu::GpuExecutable&>(*gpu);
  if (executable.device().features().matrices.empty()) GTEST_SKIP() << "no subgroup matrices";
  const auto tokens = story(100);
  const Rows expected = logits_of(*cpu, tokens), without = logits_of(*gpu, tokens);
  for (const uint32_t big_from : {100000u, 1u}) {
    executable.set_layouts(with_matrices(executable.device(), {.big_tiles_from = big_from}));
    const Rows logits = logits_of(*gpu, tokens);
    EXPECT_LT(nmse(logits, expected), kClose) << "big tiles from " << big_from << " on";
    EXPECT_NE(logits, without) << "was anything on matrices?";
  }
}

TEST_F(GpuWholePlan, LogitsAreThoseOfTheCpu) {
  const auto cpu = on_cpu(), gpu = on_gpu();
  for (const size_t n : {1u, 5u, 100u}) {
    const auto tokens = story(n);
    for (const KvType type : {KvType::kF16, KvType::kF32, KvType::kQ8_0}) {
      EXPECT_LT(nmse(logits_of(*gpu, tokens, 128, type), logits_of(*cpu, tokens, 128, type)), kClose) << n << " tokens";
    }
  }
}

TEST_F(GpuWholePlan, LogitsOfSoftwareDriversAreThoseOfTheCpu) {
  const auto cpu = on_cpu(), gpu = on_gpu({.serial = true});
  for (const size_t n : {1u, 5u, 100u}) {
    const auto tokens = story(n);
    for (const KvType type : {KvType::kF16, KvType::kF32, KvType::kQ8_0}) {
      EXPECT_LT(nmse(logits_of(*gpu, tokens, 64, type), logits_of(*cpu, tokens, 128, type)), kClose) << n << " tokens";
    }
  }
}

// The other tests of this folder check each kernel without single features.
TEST_F(GpuPlan, FeaturesCanBeLeftOut) {
  const auto tokens = story(70);
  const Rows expected = logits_of(*on_cpu(), tokens);
  const std::vector<std::string> all = {"f16", "subgroups", "subgroup-matrix", "dot4", "timestamps", "limits"};
  std::vector<std::vector<std::string>> sets = {all};
  for (const char* name : {"subgroups", "limits"}) sets.push_back({name});
  for (const auto& without : sets) {
    const auto gpu = on_gpu({.without = without});
    EXPECT_LT(nmse(logits_of(*gpu, tokens), expected), kClose) << "without " << without.front();
  }
}

TEST_F(GpuPlan, FusedAndUnfusedAgree) {
  const auto fused = on_gpu(), unfused = on_gpu({.fuse = Fusions::none()}), host = on_gpu({.fuse = Fusions::host()});
  for (const size_t batch : {1u, 128u}) {
    const auto tokens = story(40);
    const Rows expected = logits_of(*unfused, tokens, batch);
    EXPECT_LT(nmse(logits_of(*fused, tokens, batch), expected), kClose) << "batch " << batch;
    EXPECT_LT(nmse(logits_of(*host, tokens, batch), expected), kClose) << "batch " << batch;
  }
}

// Batches around the switch from vectors to matrices, and around a tile of tokens.
TEST_F(GpuPlan, TheBatchSizeDoesNotMatter) {
  const auto cpu = on_cpu(), gpu = on_gpu(), small = on_gpu({.max_batch = 4});
  const auto tokens = story(130);
  const auto few = std::span(tokens).first(18);
  const Rows expected = logits_of(*cpu, tokens), expected_of_few = logits_of(*cpu, few);
  for (const size_t batch : {64u, 65u, 128u}) {
    EXPECT_LT(nmse(logits_of(*gpu, tokens, batch), expected), kClose) << "batches of " << batch;
  }
  for (const size_t batch : {2u, 7u, 8u, 9u}) {
    EXPECT_LT(nmse(logits_of(*gpu, few, batch), expected_of_few), kClose) << "batches of " << batch;
  }
  EXPECT_LT(nmse(logits_of(*small, few, 4), expected_of_few), kClose) << "max_batch 4";
}

TEST_F(GpuPlan, GivesAsManyRowsOfLogitsAsAreWanted) {
  const auto gpu = on_gpu({.max_logit_rows = 20}), cpu = on_cpu();
  const auto tokens = story(20);
  const auto vocab = static_cast<size_t>(model_.config.n_vocab);
  const auto cache = gpu->new_cache(64, KvType::kF16).value();
  const auto all = gpu->run(*cache, {.tokens = tokens, .logits = WantLogits::kAll}).value();
  ASSERT_EQ(all.size(), 20 * vocab);
  const Rows rows(all.begin(), all.end());
  for (const size_t n : {1u, 7u, 8u, 20u}) {
    const auto row = std::span(rows).subspan((n - 1) * vocab, vocab);
    const Rows expected = logits_of(*cpu, std::span(tokens).first(n));
    EXPECT_LT(nmse(Rows(row.begin(), row.end()), expected), kClose) << "row " << n;
  }
  const auto last = gpu->run(*cache, {.tokens = tokens, .logits = WantLogits::kLast}).value();
  EXPECT_EQ(Rows(last.begin(), last.end()), Rows(rows.end() - static_cast<ptrdiff_t>(vocab), rows.end()));
  EXPECT_TRUE(gpu->run(*cache, {.tokens = tokens, .logits = WantLogits::kNone}).value().empty());
}

// The device is some tokens ahead when a stream is dropped. What it has written must not affect later runs.
TEST_F(GpuPlan, RunsAfterADroppedStream) {
  const auto gpu = on_gpu();
  const auto prompt = story(10);
  const auto more = story(30);
  const auto fresh = gpu->new_cache(512, KvType::kF16).value();
  feed(*gpu, *fresh, prompt, 128);
  const Rows expected = feed(*gpu, *fresh, more, 128, 10);
  for (const int taken : {0, 1, 5}) {
    const auto cache = gpu->new_cache(512, KvType::kF16).value();
    feed(*gpu, *cache, prompt, 128);
    {
      const auto stream = gpu->decode(*cache, 5, 10, 50, {}).value();
      ASSERT_NE(stream, nullptr);
      for (int i = 0; i < taken; ++i) ASSERT_TRUE(stream->next());
    }
    EXPECT_EQ(feed(*gpu, *cache, more, 128, 10), expected) << taken << " tokens taken";
  }
}

TEST_F(GpuPlan, ConversationsDoNotMix) {
  const auto gpu = on_gpu();
  const auto a = story(24), b = story(48);
  const std::span<const TokenId> second(b.begin() + 24, b.end());
  const Rows alone_a = logits_of(*gpu, a, 6), alone_b = logits_of(*gpu, second, 6, KvType::kF32);
  const auto cache_a = gpu->new_cache(100, KvType::kF16).value(), cache_b = gpu->new_cache(60, KvType::kF32).value();
  Rows last_a, last_b;
  for (int at = 0; at < 24; at += 6) {
    last_a = feed(*gpu, *cache_a, std::span(a).subspan(static_cast<size_t>(at), 6), 6, at);
    last_b = feed(*gpu, *cache_b, second.subspan(static_cast<size_t>(at), 6), 6, at);
  }
  EXPECT_EQ(last_a, alone_a);
  EXPECT_EQ(last_b, alone_b);
}

const DeviceSampling kGreedy;

// A sequence in blocks of a store that also has others.
struct InBlocks {
  Rows feed(Executable& e, KvStore& store, std::span<const TokenId> tokens) {
    const Slice slice{.tokens = tokens, .first_pos = n_run, .blocks = blocks, .n_ctx = 512};
    const auto logits = e.run(store, {&slice, 1});
    EXPECT_TRUE(logits) << logits.error().message;
    n_run += static_cast<int>(tokens.size());
    return logits ? Rows(logits->begin(), logits->end()) : Rows();
  }
  std::vector<KvBlockId> blocks;
  int n_run = 0;
};

TEST_F(GpuPlan, SequencesInAnyBlocksAreAsTheyAreAlone) {
  const auto cpu = on_cpu(), gpu = on_gpu();
  const auto a = story(180), all = story(400);
  const std::span<const TokenId> b(all.begin() + 200, all.begin() + 380);
  const auto store = gpu->new_kv_store(gpu->kv_block_tokens(512), KvType::kF16).value();
  for (KvBlockId block = 0; block < 8; ++block) ASSERT_TRUE(store->allocate(block));
  const auto alone_a = gpu->new_cache(512, KvType::kF16).value(), alone_b = gpu->new_cache(512, KvType::kF16).value();
  InBlocks in_a{{5, 2, 7, 12}}, in_b{{0, 6, 1}};
  for (size_t at = 0; at < 180; at += 60) {
    const auto part_a = std::span(a).subspan(at, 60), part_b = b.subspan(at, 60);
    if (at == 120) {  // the store grows and keeps its contents
      for (KvBlockId block = 8; block < 20; ++block) ASSERT_TRUE(store->allocate(block));
    }
    const Rows of_a = in_a.feed(*gpu, *store, part_a), of_b = in_b.feed(*gpu, *store, part_b);
    EXPECT_EQ(of_a, feed(*gpu, *alone_a, part_a, 60, static_cast<int>(at)));
    EXPECT_EQ(of_b, feed(*gpu, *alone_b, part_b, 60, static_cast<int>(at)));
  }
  EXPECT_LT(nmse(in_a.feed(*gpu, *store, std::span(all).subspan(180, 1)), logits_of(*cpu, std::span(all).first(181))),
            kClose);
  // Tokens that the device chooses, past a block's end, with a run of another sequence in between.
  const Slice start{.tokens = {&all[181], 1}, .first_pos = 181, .blocks = in_a.blocks, .n_ctx = 512};
  const auto stream = gpu->decode(*store, {&start, 1}, 40, {&kGreedy, 1}).value();
  std::vector<TokenId> tokens, expected;
  for (int i = 0; i < 40; ++i) {
    if (i == 20) in_b.feed(*gpu, *store, std::span(all).subspan(380, 5));
    tokens.push_back(stream->next().value()[0]);
  }
  feed(*gpu, *alone_a, std::span(all).subspan(180, 1), 1, 180);
  const auto alone = gpu->decode(*alone_a, all[181], 181, 40, {}).value();
  for (int i = 0; i < 40; ++i) expected.push_back(alone->next().value()[0]);
  EXPECT_EQ(tokens, expected);
}

// Each sequence of a stream gets the same tokens as in a stream of its own: some greedy, some sampled, past a block's
// end, and with other work in between. Once with few rows, once with enough that kernels multiply several at a time.
TEST_F(GpuPlan, AStreamOfSeveralSequencesGivesEachItsOwnTokens) {
  constexpr int kSteps = 10;
  const auto gpu = on_gpu();
  const auto tokens = story(400);
  const auto sampling = [](size_t i, SplitMix64& random) {
    DeviceSampling how{
        .temperature = i % 3 == 1 ? 0.0f : 1.0f, .top_k = i % 3 == 0 ? 20 : 0, .top_p = i == 2 ? 0.9f : 1};
    how.uniform = [&random] { return random.uniform(); };
    return how;
  };
  for (const size_t n_sequences : {3u, 9u}) {
    const auto store = gpu->new_kv_store(gpu->kv_block_tokens(512), KvType::kF16).value();
    for (KvBlockId block = 0; block < 20; ++block) ASSERT_TRUE(store->allocate(block));
    std::vector<SplitMix64> random(n_sequences, SplitMix64(3)), random_alone = random;
    std::vector<std::vector<TokenId>> together(n_sequences), alone(n_sequences);
    std::vector<InBlocks> sequences;
    std::vector<Slice> starts;
    std::vector<DeviceSampling> how;
    for (size_t i = 0; i < n_sequences; ++i)
      sequences.push_back({{static_cast<KvBlockId>(19 - 2 * i), static_cast<KvBlockId>(i * 2)}});
    for (size_t i = 0; i < n_sequences; ++i) {
      const size_t length = i == 0 ? 60 : 3 + 11 * i;
      const auto prompt = std::span(tokens).subspan(30 * i, length + 1);
      sequences[i].feed(*gpu, *store, prompt.first(length));
      const int pos = sequences[i].n_run;
      starts.push_back({.tokens = prompt.last(1), .first_pos = pos, .blocks = sequences[i].blocks, .n_ctx = 512});
      how.push_back(sampling(i, random[i]));
      const auto cache = gpu->new_cache(512, KvType::kF16).value();
      feed(*gpu, *cache, prompt.first(length), 128);
      const auto stream = gpu->decode(*cache, prompt.back(), pos, kSteps, sampling(i, random_alone[i])).value();
      for (int step = 0; step < kSteps; ++step) alone[i].push_back(stream->next().value()[0]);
    }
    const auto stream = gpu->decode(*store, starts, kSteps, how).value();
    const auto other = gpu->new_cache(512, KvType::kF16).value();
    for (int step = 0; step < kSteps; ++step) {
      if (step == 5) feed(*gpu, *other, std::span(tokens).first(3), 128);
      const auto next = stream->next();
      ASSERT_TRUE(next) << next.error().message;
      ASSERT_EQ(next->size(), n_sequences);
      for (size_t i = 0; i < n_sequences; ++i) together[i].push_back((*next)[i]);
    }
    EXPECT_EQ(together, alone);
  }
}

TEST_F(GpuPlan, BlocksAreCopiedReadAndWritten) {
  const auto gpu = on_gpu();
  const auto tokens = story(100);
  for (const KvType type : {KvType::kF16, KvType::kF32, KvType::kQ8_0}) {
    const auto store = gpu->new_kv_store(gpu->kv_block_tokens(512), type).value();
    for (KvBlockId block = 0; block < 6; ++block) ASSERT_TRUE(store->allocate(block));
    InBlocks original{{3, 1}}, copied{{3, 4}}, moved{{5, 4}};
    original.feed(*gpu, *store, std::span(tokens).first(99));
    copied.n_run = moved.n_run = 99;
    const auto last = std::span(tokens).subspan(99);
    const Rows expected = original.feed(*gpu, *store, last);
    ASSERT_TRUE(store->copy(1, 4));
    EXPECT_EQ(copied.feed(*gpu, *store, last), expected);
    std::vector<std::byte> bytes(store->block_bytes());
    ASSERT_TRUE(store->read(3, bytes));
    store->free(3);
    ASSERT_TRUE(store->write(5, bytes));
    EXPECT_EQ(moved.feed(*gpu, *store, last), expected);
  }
}

// Files with keys and values rely on this (engine/kv/session_cache.h).
TEST_F(GpuPlan, BlocksOfTheCpuAreReadAndTheOtherWayRound) {
  const auto cpu = on_cpu(), gpu = on_gpu();
  const auto tokens = story(100);
  const auto last = std::span(tokens).subspan(99);
  for (const KvType type : {KvType::kF16, KvType::kF32, KvType::kQ8_0}) {
    for (const bool from_gpu : {false, true}) {
      Executable &one = from_gpu ? *gpu : *cpu, &other = from_gpu ? *cpu : *gpu;
      const auto from = one.new_kv_store(one.kv_block_tokens(512), type).value();
      const auto to = other.new_kv_store(other.kv_block_tokens(512), type).value();
      ASSERT_EQ(from->block_bytes(), to->block_bytes());
      InBlocks original{{0, 1}}, taken{{1, 2}, 99};
      for (KvBlockId block = 0; block < 3; ++block) {
        ASSERT_TRUE(from->allocate(block));
        ASSERT_TRUE(to->allocate(block));
      }
      original.feed(one, *from, std::span(tokens).first(99));
      std::vector<std::byte> bytes(from->block_bytes());
      for (KvBlockId block = 0; block < 2; ++block) {
        ASSERT_TRUE(from->read(block, bytes));
        ASSERT_TRUE(to->write(block + 1, bytes));
      }
      EXPECT_LT(nmse(taken.feed(other, *to, last), original.feed(one, *from, last)), kClose)
          << (from_gpu ? "from" : "to") << " the GPU, type " << static_cast<int>(type);
    }
  }
}

// One batch with slices of several sequences, of equal and different lengths: each is as in a batch of its own.
TEST_F(GpuPlan, SlicesOfSeveralSequencesAreAsTheyAreAlone) {
  const auto tokens = story(300);
  const auto vocab = static_cast<size_t>(model_.config.n_vocab);
  for (const bool serial : {false, true}) {
    const auto gpu = on_gpu({.serial = serial, .max_logit_rows = 20}), cpu = on_cpu();
    const auto store = gpu->new_kv_store(gpu->kv_block_tokens(512), KvType::kF16).value();
    for (KvBlockId block = 0; block < 9; ++block) ASSERT_TRUE(store->allocate(block));
    std::vector<InBlocks> sequences = {{{4, 8}}, {{0, 6}}, {{7, 1}}};
    std::vector<std::unique_ptr<KvCache>> alone;
    for (size_t i = 0; i < 3; ++i) alone.push_back(gpu->new_cache(512, KvType::kF16).value());
    // Several prompts, a prompt with single tokens, single tokens, and enough rows for the matrix kernels.
    for (const auto& sizes : {std::array<size_t, 3>{20, 34, 5}, {1, 30, 1}, {1, 1, 1}, {2, 1, 3}, {7, 1, 5}}) {
      std::vector<Slice> slices;
      for (size_t i = 0; i < 3; ++i) {
        const InBlocks& in = sequences[i];
        const WantLogits wanted = sizes[i] == 30 ? WantLogits::kNone : i == 2 ? WantLogits::kAll : WantLogits::kLast;
        slices.push_back({.tokens = std::span(tokens).subspan(100 * i + static_cast<size_t>(in.n_run), sizes[i]),
                          .first_pos = in.n_run,
                          .logits = wanted,
                          .blocks = in.blocks,
                          .n_ctx = 512});
      }
      const auto together = gpu->run(*store, slices);
      ASSERT_TRUE(together) << together.error().message;
      Rows rest(together->begin(), together->end());
      for (size_t i = 0; i < 3; ++i) {
        const size_t n = static_cast<size_t>(slices[i].n_logit_rows()) * vocab;
        const Rows rows(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(n));
        rest.erase(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(n));
        const auto own = gpu->run(*alone[i], slices[i]).value();
        if (n > 0) {
          EXPECT_LT(nmse(rows, Rows(own.begin(), own.end())), kClose) << "sequence " << i << ", " << sizes[i];
        }
        sequences[i].n_run += static_cast<int>(sizes[i]);
        if (n == 0) continue;
        const auto seen = std::span(tokens).subspan(100 * i, static_cast<size_t>(sequences[i].n_run));
        EXPECT_LT(nmse(Rows(rows.end() - static_cast<ptrdiff_t>(vocab), rows.end()), logits_of(*cpu, seen)), kClose)
            << "sequence " << i << ", " << sizes[i] << " tokens";
      }
      EXPECT_TRUE(rest.empty());
    }
  }
}

TEST_F(GpuPlan, FillsTheContextToTheLastPosition) {
  const auto gpu = on_gpu();
  const auto prompt = story(20);
  const auto roomy = gpu->new_cache(512, KvType::kF16).value(), tight = gpu->new_cache(40, KvType::kF16).value();
  EXPECT_EQ(greedy(*gpu, *tight, prompt, 21), greedy(*gpu, *roomy, prompt, 21));  // positions 20 … 39
}

// Logits are close but not bit-identical, so texts diverge where two tokens are almost equally probable. This prompt
// was chosen to have no such tokens (tests/golden/make_default_model_goldens.py).
TEST_F(GpuWholePlan, GreedyTokensAreThoseOfTransformers) {
  std::ifstream file(source_path("tests/golden/bitnet/tern_stories_greedy.json"));
  const nlohmann::json golden = nlohmann::json::parse(file)["without_ties"];
  const std::vector<TokenId> prompt = golden["prompt_ids"], expected = golden["ids"];
  ASSERT_GE(expected.size(), 20u);
  const auto n = static_cast<int>(expected.size());
  EXPECT_EQ(greedy(*on_cpu(), prompt, n), expected);
  EXPECT_EQ(greedy(*on_gpu(), prompt, n), expected);
  EXPECT_EQ(greedy(*on_gpu({.serial = true}), prompt, n), expected);
}

}  // namespace
}  // namespace tern
