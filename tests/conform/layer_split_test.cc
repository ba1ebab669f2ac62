// A model whose layers are in two executables computes what it does in one: bit for bit on the same backend, for
// every family and every layer that a part may begin with. Saved blocks and states are the same bytes.
#include "backend/hybrid/layer_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "conform/agreeing_model.h"
#include "engine/kv/sequence.h"
#include "model/model.h"
#include "support/checkout.h"

namespace tern {
namespace {

using Logits = std::vector<float>;

struct Split {
  Split(const Config& config, const Weights& weights, int border, const CompileOptions& options, ThreadPool& pool)
      : plans{make_plan(config, weights, {.layers = LayerRange{0, border}}),
              make_plan(config, weights, {.layers = LayerRange{border, config.n_layers}})} {
    std::array<std::unique_ptr<Executable>, 2> parts;
    for (size_t i = 0; i < 2; ++i) parts[i] = cpu::compile(plans[i], options, pool).value();
    executable = hybrid::join_layers(std::move(parts));
  }
  std::array<Plan, 2> plans;
  std::unique_ptr<Executable> executable;
};

std::vector<TokenId> text(int n, int seed, int n_vocab) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < n; ++i) tokens.push_back((i * 7919 + seed * 131 + 17) % n_vocab);
  return tokens;
}

// What two sequences leave: their logits, and what is saved of the first.
struct Outcome {
  Logits logits;
  std::vector<std::byte> block, state;
};

std::vector<std::byte> read_block(Sequence& sequence) {
  std::vector<std::byte> bytes(sequence.store().block_bytes());
  EXPECT_TRUE(sequence.store().read(sequence.blocks().front(), bytes));
  return bytes;
}

// Prompts of one sequence in several passes, then both sequences together in every pass. Ends with the first one being
// restored from its own saved bytes.
Outcome run(Executable& executable, int n_vocab) {
  constexpr int kContext = 96;
  auto blocks = std::make_shared<KvBlocks>(executable.new_kv_store(64, KvType::kF32).value(), KvBlocks::Options{});
  Sequence a(executable, blocks, kContext, Sequence::kNotShared), b(executable, blocks, kContext, Sequence::kNotShared);
  Outcome outcome;
  const auto keep = [&](const Result<std::span<const float>>& logits) {
    ASSERT_TRUE(logits) << logits.error().message;
    outcome.logits.insert(outcome.logits.end(), logits->begin(), logits->end());
  };
  const auto prompt = text(64, 1, n_vocab);
  for (size_t i = 0; i < prompt.size(); i += 16) keep(a.append(std::span(prompt).subspan(i, 16), WantLogits::kAll));
  for (int i = 0; i < 4; ++i) {
    const auto of_a = text(1 + i, 10 + i, n_vocab), of_b = text(9, 20 + i, n_vocab);
    const std::array slices = {a.extend(of_a, WantLogits::kLast).value(), b.extend(of_b, WantLogits::kAll).value()};
    keep(a.run(slices));
    a.add(of_a);
    b.add(of_b);
  }
  outcome.block = read_block(a);
  EXPECT_TRUE(blocks->store().copy(a.blocks()[0], b.blocks()[0]));
  EXPECT_EQ(read_block(b), outcome.block);
  if (!blocks->has_states()) return outcome;
  outcome.state.resize(blocks->store().state_bytes());
  EXPECT_TRUE(a.read_state(outcome.state));
  const std::vector<TokenId> tokens(a.tokens().begin(), a.tokens().end());
  std::vector<std::vector<std::byte>> contents;
  for (const KvBlockId block : a.blocks()) {
    EXPECT_TRUE(blocks->store().read(block, contents.emplace_back(blocks->store().block_bytes())));
  }
  const std::vector<Bytes> views(contents.begin(), contents.end());
  EXPECT_TRUE(b.restore(tokens, views, outcome.state));
  keep(b.append(text(5, 30, n_vocab), WantLogits::kAll));
  return outcome;
}

// Returns how many borders were tried.
int expect_same_at_all_borders(const std::string& name, const Config& config, const Weights& weights) {
  ThreadPool pool{2};
  const CompileOptions options{.max_batch = 16, .max_logit_rows = 16};
  const Plan plan = make_plan(config, weights);
  const auto whole = cpu::compile(plan, options, pool).value();
  const Outcome expected = run(*whole, config.n_vocab);
  int n = 0;
  for (int border = 1; border < config.n_layers; ++border) {
    if (!may_part_before(config, border)) continue;
    const Split split(config, weights, border, options, pool);
    const Outcome outcome = run(*split.executable, config.n_vocab);
    EXPECT_EQ(outcome.logits, expected.logits) << name << ", before layer " << border;
    EXPECT_EQ(outcome.block, expected.block) << name << ", before layer " << border;
    EXPECT_EQ(outcome.state, expected.state) << name << ", before layer " << border;
    ++n;
  }
  return n;
}

TEST(LayerSplit, ComputesTheSameInEveryFamily) {
  int n_models = 0, n_borders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("tests/golden/families"))) {
    if (entry.path().extension() != ".gguf") continue;
    Model model = open_model(entry.path().string()).value();
    model.config.n_ctx = std::max(model.config.n_ctx, 96);
    n_borders += expect_same_at_all_borders(entry.path().filename().string(), model.config, model.weights);
    ++n_models;
  }
  EXPECT_GE(n_models, 30);
  EXPECT_GE(n_borders, 30);
}

TEST(LayerSplit, ComputesTheSameWithRecurrentLayersOnOneSideOnly) {
  const Model model = open_model(conform::agreeing_model()).value();
  EXPECT_GE(expect_same_at_all_borders("agreeing", model.config, model.weights), 1);
}

// Steps keep the model's names, and a part has what belongs to its own layers.
TEST(LayerSplit, PartsHaveTheirOwnLayers) {
  const Model model = open_model(source_path("tests/golden/families/llama.gguf")).value();
  const Plan first = make_plan(model.config, model.weights, {.layers = LayerRange{0, 1}});
  const Plan second = make_plan(model.config, model.weights, {.layers = LayerRange{1, model.config.n_layers}});
  EXPECT_TRUE(std::holds_alternative<step::Embed>(first.steps.front().body));
  EXPECT_TRUE(std::holds_alternative<step::Hidden>(second.steps.front().body));
  EXPECT_EQ(first.config.n_layers + second.config.n_layers, model.config.n_layers);
  EXPECT_EQ(first.slot(first.hidden).width, model.config.d_model);
  EXPECT_EQ(second.slot(second.logits).width, model.config.n_vocab);
  for (const Step& step : first.steps) EXPECT_FALSE(step.name.starts_with("blk.1.")) << step.name;
  for (const Step& step : second.steps) EXPECT_FALSE(step.name.starts_with("blk.0.")) << step.name;
}

// A layer that reads keys and values of one before cannot begin a part, nor can one that reads the token itself.
TEST(LayerSplit, KnowsWhereAModelMayPart) {
  const Config own = open_model(source_path("tests/golden/families/gemma4.gguf")).value().config;
  EXPECT_GT(own.per_layer_width, 0);
  Config shared = own;
  shared.per_layer_width = 0;
  bool has_shared = false;
  for (int i = 1; i < own.n_layers; ++i) {
    EXPECT_FALSE(may_part_before(own, i));
    bool crosses = false;
    for (int j = i; j < own.n_layers; ++j) crosses |= own.layer(j).kv_layer < i;
    EXPECT_EQ(may_part_before(shared, i), !crosses);
    has_shared |= crosses;
  }
  EXPECT_TRUE(has_shared);
  EXPECT_FALSE(may_part_before(shared, 0));
  EXPECT_FALSE(may_part_before(shared, own.n_layers));
}

}  // namespace
}  // namespace tern
