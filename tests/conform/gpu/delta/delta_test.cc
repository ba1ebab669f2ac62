// The kernels of recurrent layers against the reference, and against themselves: however a text is divided into passes
// and whatever runs beside it, outputs and states are the same bits.
#include "backend/gpu/kernels/delta/delta.h"

#include <algorithm>
#include <cmath>

#include "backend/ref/ops.h"
#include "backend/state_layout.h"
#include "conform/gpu/gpu_bench.h"

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
                in<Vec4<F32>>(conv), in<F32>(alpha), in<F32>(beta), in<F32>(layer.decay), in<F32>(layer.dt_bias),
                in<U32>(sequences), out<F32>(layer.states), out<F32>(y));
    const size_t of_text = n * layer.shape.value_width();
    for (size_t i = 0; i < texts.size(); ++i) {
      std::swap(texts[i]->state, texts[i]->other);
      texts[i]->y.insert(texts[i]->y.end(), y.begin() + static_cast<ptrdiff_t>(i * of_text),
                         y.begin() + static_cast<ptrdiff_t>((i + 1) * of_text));
    }
  }

  // Runs the next row of each text in one dispatch. Returns the normed outputs.
  std::vector<float> run_at_once(Layer& layer, std::span<Text* const> texts, std::span<const float> gates,
                                 const std::vector<float>& gain) {
    std::vector<uint32_t> sequences(gpu::kSequenceOfRow, kPoison);
    std::vector<float> rows;
    const auto take = [&rows](std::span<const float> from, size_t row, int width) {
      const auto values = from.subspan(row * static_cast<size_t>(width), static_cast<size_t>(width));
      rows.insert(rows.end(), values.begin(), values.end());
    };
    for (uint32_t i = 0; i < texts.size(); ++i) {
      Text& text = *texts[i];
      uint32_t* const words = sequences.data() + size_t{gpu::kSequenceWords} * i;
      words[gpu::kFirstRowOf] = i;
      words[gpu::kRowsOf] = 1;
      words[gpu::kStateOf] = text.state;
      words[gpu::kStateTo] = text.other;
      words[gpu::kIsNew] = text.n_run == 0 ? 1 : 0;
      take(text.x, text.n_run, layer.d.channels());
      take(gates, text.n_run, layer.d.value_width());
      take(text.alpha, text.n_run, layer.d.n_v_heads);
      take(text.beta, text.n_run, layer.d.n_v_heads);
      std::swap(text.state, text.other);
      ++text.n_run;
    }
    gpu::DeltaShape shape = layer.shape;
    shape.are_side_by_side = true;
    gpu::GatedDeltaConfig config{.shape = shape, .norm = norm_of(shape), .workgroup = 4 * shape.head_dim};
    while (config.workgroup > bench().device().limits().invocations) config.workgroup /= 2;
    EXPECT_TRUE(gpu::has_gated_delta(config, bench().device().limits().invocations));
    const auto n_texts = static_cast<uint32_t>(texts.size());
    auto y = poisoned<float>(n_texts * shape.value_width());
    bench().run(gpu::gated_delta(config), {.x = shape.n_v_heads, .y = n_texts}, in<F32>(rows), in<F32>(layer.taps),
                in<F32>(layer.decay), in<F32>(layer.dt_bias), in<F32>(gain), in<U32>(sequences), out<F32>(layer.states),
                out<F32>(y));
    return y;
  }
  gpu::GatedNormConfig norm_of(const gpu::DeltaShape& shape) {
    return {.n_heads = shape.n_v_heads,
            .head_dim = shape.head_dim,
            .eps = kEps,
            .caps = caps(),
            .gate_stride = shape.gate_stride(),
            .gate_at = shape.gate_at()};
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

TEST_P(GpuDelta, OneDispatchGivesTheSameBits) {
  for (const DeltaConfig& d : kShapes) {
    Layer layer(d);
    Text steps(d, 10, 0), at_once(d, 10, 4, 5), other(d, 20, 1, 3);
    const auto gates = random(kLength * layer.shape.value_width(), 7, 4);
    const auto gain = random(layer.shape.head_dim, 9);
    Text* const alone[] = {&steps};
    run(layer, alone, kLength);
    auto expected = poisoned<float>(steps.y.size());
    bench().run(gpu::gated_norm(norm_of(layer.shape)), {.x = layer.shape.n_v_heads, .y = kLength}, in<F32>(steps.y),
                in<F32>(gates), in<F32>(gain), out<F32>(expected));
    std::vector<float> y;
    for (uint32_t i = 0; i < kLength; ++i) {
      Text* const both[] = {&other, &at_once};
      const auto rows = run_at_once(layer, both, gates, gain);
      y.insert(y.end(), rows.begin() + layer.shape.value_width(), rows.end());
    }
    EXPECT_EQ(y, expected);
    EXPECT_TRUE(std::ranges::equal(layer.state(5), layer.state(0)));
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
  bench().run(
      gpu::gated_norm({.n_heads = kHeads, .head_dim = kDim, .eps = kEps, .caps = caps(), .gate_stride = kHeads * kDim}),
      {.x = kHeads, .y = kRows}, in<F32>(x), in<F32>(gate), in<F32>(gain), out<F32>(y));
  bench().run(gpu::sigmoid_mul({kHeads * kDim}), {.x = 2, .y = kRows}, in<F32>(gate), out<F32>(gated));
  EXPECT_LT(nmse(y, normed), 1e-12);
  EXPECT_LT(nmse(gated, product), 1e-12);
  constexpr uint32_t kStride = 2 * kHeads * kDim + 5;  // the same gates in rows with other values
  std::vector<float> rows = poisoned<float>(kRows * kStride), gated_by_rows = x;
  for (uint32_t i = 0; i < x.size(); ++i) {
    const uint32_t row = i / (kHeads * kDim), head = i / kDim % kHeads;
    rows[row * kStride + head * 2 * kDim + kDim + i % kDim] = gate[i];
  }
  bench().run(gpu::sigmoid_mul({.width = kHeads * kDim, .stride = kStride, .head_dim = kDim}), {.x = 2, .y = kRows},
              in<F32>(rows), out<F32>(gated_by_rows));
  EXPECT_EQ(gated_by_rows, gated);
  std::vector<float> both = random(2 * x.size(), 11), q = poisoned<float>(x.size()), g = q, eq = q, eg = q;
  ref::split_heads({both.data(), kRows, kHeads, kDim, eq.data(), eg.data()});
  bench().run(gpu::split_heads({kHeads, kDim}), {.x = 2, .y = kRows}, in<F32>(both), out<F32>(q), out<F32>(g));
  EXPECT_EQ(q, eq);
  EXPECT_EQ(g, eg);
}

TEST_P(GpuDelta, Rotations) {
  constexpr uint32_t kRows = 2;
  for (const gpu::RotateConfig& c :
       {gpu::RotateConfig{.width = 256, .block = 128},
        gpu::RotateConfig{.width = 2048, .block = 1024, .is_inverse = true},
        gpu::RotateConfig{.width = 192, .block = 64, .n_groups = 2, .head_dim = 16},
        gpu::RotateConfig{.width = 320, .block = 64, .normed = true, .eps = kEps, .caps = caps()}}) {
    const auto x = random(kRows * c.width, 1), gain = random(c.width, 3);
    auto rows = x;
    if (c.normed) ref::rms_norm({x.data(), gain.data(), kEps, kRows, static_cast<int>(c.width), rows.data()});
    auto signs = random(c.width, 2);
    for (float& sign : signs) sign = sign < 0 ? -1.0f : 1.0f;
    std::vector<float> expected(x.size()), y = poisoned<float>(x.size());
    ref::rotate({rows.data(), signs.data(), kRows, static_cast<int>(c.width), static_cast<int>(c.block), c.is_inverse,
                 static_cast<int>(c.n_groups), static_cast<int>(c.head_dim), expected.data()});
    bench().run(gpu::rotate(c), {.x = c.width / c.block, .y = kRows}, in<F32>(x), in<F32>(gain), in<F32>(signs),
                out<F32>(y));
    EXPECT_LT(nmse(y, expected), 1e-12) << c.width;
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, GpuDelta, testing::ValuesIn(variants()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tern::conform
