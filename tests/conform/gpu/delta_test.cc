// The kernels of recurrent layers against the reference, and against themselves: however a text is divided into passes
// and whatever runs beside it, outputs and states are the same bits.
#include "backend/gpu/kernels/delta.h"

#include <algorithm>
#include <cmath>

#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_cache.h"
#include "backend/ref/ops.h"
#include "backend/ref/ref_backend.h"
#include "backend/state_layout.h"
#include "conform/delta_model.h"
#include "conform/gpu/gpu_bench.h"
#include "conform/rotated_model.h"

namespace tern::conform {
namespace {

using namespace wgsl;

constexpr uint32_t kLength = 21, kStates = 6;  // rows of a text, states of a buffer

// A text: the inputs of a layer, and the state that is its own.
struct Text {
  Text(const DeltaConfig& d, uint64_t seed, uint32_t state) : Text(d, seed, state, state) {}
  // Its state moves to another place with each run, and back.
  Text(const DeltaConfig& d, uint64_t seed, uint32_t state, uint32_t other) : state(state), other(other) {
    const auto rows = [&](int width, uint64_t more) {
      return random(kLength * static_cast<size_t>(width), seed + more);
    };
    x = rows(d.channels(), 0);
    alpha = rows(d.n_v_heads, 1);
    beta = rows(d.n_v_heads, 2);
  }
  std::vector<float> x, alpha, beta;
  uint32_t state, other;
  uint32_t n_run = 0;
  std::vector<float> y = {};  // of the rows so far
};

class GpuDelta : public GpuConform {
 protected:
  static constexpr DeltaConfig kShapes[] = {
      {.n_k_heads = 2, .n_v_heads = 6, .head_dim = 32, .conv_taps = 4, .is_tiled = true},
      {.n_k_heads = 1, .n_v_heads = 2, .head_dim = 128, .conv_taps = 4, .is_tiled = false},
      {.n_k_heads = 3, .n_v_heads = 3, .head_dim = 48, .conv_taps = 2, .is_tiled = true},
  };

  // The weights of a layer and its states, which begin with other texts' contents.
  struct Layer {
    explicit Layer(const DeltaConfig& d)
        : d(d),
          shape{.n_k_heads = static_cast<uint32_t>(d.n_k_heads),
                .n_v_heads = static_cast<uint32_t>(d.n_v_heads),
                .head_dim = static_cast<uint32_t>(d.head_dim),
                .n_taps = static_cast<uint32_t>(d.conv_taps),
                .is_tiled = d.is_tiled} {
      taps = random(static_cast<size_t>(d.channels() * d.conv_taps), 1);
      decay = random(static_cast<size_t>(d.n_v_heads), 2);
      for (float& value : decay) value = -std::abs(value) - 0.01f;
      dt_bias = random(static_cast<size_t>(d.n_v_heads), 3);
      states = random(kStates * shape.state_floats(), 4);
    }
    std::span<const float> state(uint32_t i) const {
      return std::span(states).subspan(i * shape.state_floats(), shape.state_floats());
    }
    DeltaConfig d;
    gpu::DeltaShape shape;
    std::vector<float> taps, decay, dt_bias, states;
  };

  // Runs the next n rows of each text in one batch.
  void run(Layer& layer, std::span<Text* const> texts, uint32_t n) {
    std::vector<uint32_t> sequences(gpu::kSequenceOfRow, kPoison);
    std::vector<float> x, alpha, beta;
    for (uint32_t i = 0; i < texts.size(); ++i) {
      Text& text = *texts[i];
      uint32_t* const words = sequences.data() + size_t{gpu::kSequenceWords} * i;
      words[gpu::kFirstRowOf] = i * n;
      words[gpu::kRowsOf] = n;
      words[gpu::kStateOf] = text.state;
      words[gpu::kStateTo] = text.other;
      words[gpu::kIsNew] = text.n_run == 0 ? 1 : 0;
      sequences.insert(sequences.end(), n, i);
      const auto take = [&](const std::vector<float>& from, int width, std::vector<float>& to) {
        const auto begin = from.begin() + static_cast<ptrdiff_t>(text.n_run) * width;
        to.insert(to.end(), begin, begin + static_cast<ptrdiff_t>(n) * width);
      };
      take(text.x, layer.d.channels(), x);
      take(text.alpha, layer.d.n_v_heads, alpha);
      take(text.beta, layer.d.n_v_heads, beta);
      text.n_run += n;
    }
    const auto n_texts = static_cast<uint32_t>(texts.size()), n_rows = n * n_texts;
    const gpu::DeltaRuleConfig config{.shape = layer.shape, .caps = caps()};
    auto conv = poisoned<float>(x.size());
    auto y = poisoned<float>(n_rows * layer.shape.value_width());
    const uint32_t groups = (layer.shape.channels() + gpu::kElementwiseWorkgroup - 1) / gpu::kElementwiseWorkgroup;
    bench().run(gpu::causal_conv(layer.shape), {.x = groups, .y = n_rows}, in<F32>(x), in<F32>(layer.taps),
                in<U32>(sequences), in<F32>(layer.states), out<F32>(conv));
    bench().run(gpu::keep_columns(layer.shape), {.x = groups, .y = n_texts}, in<F32>(x), in<U32>(sequences),
                out<F32>(layer.states));
    bench().run(gpu::delta_rule(config), {.x = layer.shape.n_v_heads * config.parts_of_head(), .y = n_texts},
                in<F32>(conv), in<F32>(alpha), in<F32>(beta), in<F32>(layer.decay), in<F32>(layer.dt_bias),
                in<U32>(sequences), out<F32>(layer.states), out<F32>(y));
    const size_t of_text = n * layer.shape.value_width();
    for (size_t i = 0; i < texts.size(); ++i) {
      std::swap(texts[i]->state, texts[i]->other);
      texts[i]->y.insert(texts[i]->y.end(), y.begin() + static_cast<ptrdiff_t>(i * of_text),
                         y.begin() + static_cast<ptrdiff_t>((i + 1) * of_text));
    }
  }

  // By the reference: the outputs, and the state in the end.
  static std::pair<std::vector<float>, std::vector<float>> reference(const Layer& layer, const Text& text) {
    Config config{.n_layers = 1, .layers = {{.is_recurrent = true}}, .delta = layer.d};
    const StateLayout layout(config);
    std::vector<float> state(layout.bytes() / sizeof(float));
    const ops::StateRows rows[] = {{.first = 0,
                                    .n = static_cast<int>(kLength),
                                    .state = reinterpret_cast<std::byte*>(state.data()),
                                    .is_new = true,
                                    .n_confirmed = 0,
                                    .confirmed_set = 0,
                                    .is_check = false}};
    std::vector<float> conv(text.x.size()), y(kLength * layer.shape.value_width());
    ref::causal_conv(
        {text.x.data(), layer.taps.data(), layer.d.channels(), layer.d.conv_taps, rows, layout.layer(0), conv.data()});
    ref::delta_rule({conv.data(), text.alpha.data(), text.beta.data(), layer.decay.data(), layer.dt_bias.data(),
                     layer.d, rows, layout.layer(0), y.data()});
    state.resize(layout.kept_bytes() / sizeof(float));
    return {y, state};
  }
};

TEST_P(GpuDelta, ComputesTheReference) {
  for (const DeltaConfig& d : kShapes) {
    Layer layer(d);
    Text one(d, 10, 2), other(d, 20, 1);
    Text* const both[] = {&one, &other};
    run(layer, both, kLength);
    for (const Text* text : both) {
      const auto [y, state] = reference(layer, *text);
      EXPECT_LT(nmse(text->y, y), 1e-11);
      EXPECT_LT(nmse(layer.state(text->state), state), 1e-11);
    }
  }
}

TEST_P(GpuDelta, DoesNotDependOnPassesOrNeighbors) {
  for (const DeltaConfig& d : kShapes) {
    Layer layer(d);
    const Layer before = layer;
    Text whole(d, 10, 0), parts(d, 10, 3), other(d, 20, 1), moving(d, 10, 4, 5);
    Text* const alone[] = {&whole};
    run(layer, alone, kLength);
    for (const uint32_t n : {1u, 2u, 9u, 8u, 1u}) {
      Text* const together[] = {&other, &parts, &moving};
      run(layer, together, n);
    }
    EXPECT_EQ(parts.y, whole.y);
    EXPECT_EQ(moving.y, whole.y);
    EXPECT_TRUE(std::ranges::equal(layer.state(3), layer.state(0)));
    EXPECT_EQ(moving.state, 5u);
    EXPECT_TRUE(std::ranges::equal(layer.state(5), layer.state(0)));
    EXPECT_FALSE(std::ranges::equal(layer.state(4), layer.state(0)));  // it has the state before the last row
    EXPECT_TRUE(std::ranges::equal(layer.state(2), before.state(2)));
  }
}

TEST_P(GpuDelta, StatesAreTurned) {
  std::vector<uint32_t> words(gpu::kSequenceOfRow);
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = i + 1;
  std::vector<uint32_t> expected = words;
  for (uint32_t i = 0; i < gpu::kMostSequences; ++i) {
    uint32_t* const of = expected.data() + size_t{gpu::kSequenceWords} * i;
    std::swap(of[gpu::kStateOf], of[gpu::kStateTo]);
    of[gpu::kIsNew] = 0;
  }
  bench().run(gpu::turn_states(), {}, out<U32>(words));
  EXPECT_EQ(words, expected);
}

TEST_P(GpuDelta, Gates) {
  constexpr uint32_t kHeads = 3, kDim = 48, kRows = 2;
  const auto gate = random(kRows * kHeads * kDim, 7, 4), x = random(kRows * kHeads * kDim, 8), gain = random(kDim, 9);
  std::vector<float> normed(x.size()), product = x, y = poisoned<float>(x.size()), gated = x;
  ref::gated_norm({x.data(), gate.data(), gain.data(), kEps, kRows * kHeads, kDim, normed.data()});
  ref::sigmoid_mul({gate.data(), gate.size(), product.data()});
  bench().run(gpu::gated_norm({.n_heads = kHeads, .head_dim = kDim, .eps = kEps, .caps = caps()}),
              {.x = kHeads, .y = kRows}, in<F32>(x), in<F32>(gate), in<F32>(gain), out<F32>(y));
  bench().run(gpu::sigmoid_mul({kHeads * kDim}), {.x = 2, .y = kRows}, in<F32>(gate), out<F32>(gated));
  EXPECT_LT(nmse(y, normed), 1e-12);
  EXPECT_LT(nmse(gated, product), 1e-12);
  std::vector<float> both = random(2 * x.size(), 11), q = poisoned<float>(x.size()), g = q, eq = q, eg = q;
  ref::split_heads({both.data(), kRows, kHeads, kDim, eq.data(), eg.data()});
  bench().run(gpu::split_heads({kHeads, kDim}), {.x = 2, .y = kRows}, in<F32>(both), out<F32>(q), out<F32>(g));
  EXPECT_EQ(q, eq);
  EXPECT_EQ(g, eg);
}

TEST_P(GpuDelta, Rotations) {
  constexpr uint32_t kRows = 2;
  for (const gpu::RotateConfig& c : {gpu::RotateConfig{.width = 256, .block = 128},
                                     gpu::RotateConfig{.width = 2048, .block = 1024, .is_inverse = true},
                                     gpu::RotateConfig{.width = 192, .block = 64, .n_groups = 2, .head_dim = 16}}) {
    const auto x = random(kRows * c.width, 1);
    auto signs = random(c.width, 2);
    for (float& sign : signs) sign = sign < 0 ? -1.0f : 1.0f;
    std::vector<float> expected(x.size()), y = poisoned<float>(x.size());
    ref::rotate({x.data(), signs.data(), kRows, static_cast<int>(c.width), static_cast<int>(c.block), c.is_inverse,
                 static_cast<int>(c.n_groups), static_cast<int>(c.head_dim), expected.data()});
    bench().run(gpu::rotate(c), {.x = c.width / c.block, .y = kRows}, in<F32>(x), in<F32>(signs), out<F32>(y));
    EXPECT_LT(nmse(y, expected), 1e-12) << c.width;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, GpuDelta, testing::ValuesIn(variants()),
                         [](const auto& info) { return info.param.name; });

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
  const auto ref = ref::compile(make_plan(model.config, model.weights, {.fuse = Fusions::none()}), {.max_batch = 8});
  const auto on_ref = (*ref)->new_cache(16, KvType::kF32).value();
  const auto logits = (*ref)->run(*on_ref, {.tokens = tokens, .first_pos = 0}).value();
  const std::vector<float> expected(logits.begin(), logits.end());
  rotate(model);
  const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
  const auto gpu = gpu::compile(plan, {.max_batch = 8, .gpu = {.validation = true}});
  ASSERT_TRUE(gpu) << gpu.error().message;
  const auto cache = (*gpu)->new_cache(16, KvType::kF32).value();
  EXPECT_LT(nmse((*gpu)->run(*cache, {.tokens = tokens, .first_pos = 0}).value(), expected), 1e-9);
}

}  // namespace
}  // namespace tern::conform
