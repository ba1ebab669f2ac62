// The ops of recurrent layers against the reference, and against themselves: however a text is divided into passes, and
// whether its tokens were checked first, outputs and state are the same bits.
#include <cmath>
#include <cstring>
#include <numeric>

#include "backend/cpu/ops/ops.h"
#include "backend/ref/ops.h"
#include "backend/rope_table.h"
#include "backend/state_layout.h"
#include "conform/conform.h"

namespace tern::conform {
namespace {

constexpr int kTexts = 2, kLength = 37;  // rows of a text

// A layer of the model with random inputs for two texts, and room for its state.
struct Delta {
  explicit Delta(const DeltaConfig& shape) : shape(shape) {
    config.n_layers = 1;
    config.layers = {{.is_recurrent = true}};
    config.delta = shape;
    layout = std::make_unique<StateLayout>(config);
    const auto size = [](int n) { return static_cast<size_t>(n); };
    in = random(size(kTexts * kLength * shape.channels()), 1);
    alpha = random(size(kTexts * kLength * shape.n_v_heads), 2);
    beta = random(size(kTexts * kLength * shape.n_v_heads), 3);
    decay = random(size(shape.n_v_heads), 4);
    for (float& value : decay) value = -std::abs(value) - 0.01f;
    dt_bias = random(size(shape.n_v_heads), 5);
    taps = random(size(shape.channels() * shape.conv_taps), 6);
  }

  struct Results {
    std::vector<float> conv, out;
    std::vector<std::vector<float>> kept;  // of each text's state, without pending tokens
    bool operator==(const Results&) const = default;
  };

  // Runs both texts in passes of these lengths. Texts are laid out pass by pass, so that a pass is one run of rows.
  // `checks`: each pass is a check, whose last row is run again, unless the text ends there.
  template <class Convolve, class Rule>
  Results run(std::span<const int> passes, bool checks, const Convolve& convolve, const Rule& rule) const {
    const auto size = [](int n) { return static_cast<size_t>(n); };
    Results results{.conv = std::vector<float>(in.size()), .out = {}, .kept = {}};
    results.out.resize(size(kTexts * kLength * shape.value_width()));
    std::vector<Guarded<float>> states;
    for (int t = 0; t < kTexts; ++t) states.emplace_back(layout->bytes() / sizeof(float));
    for (auto& state : states) std::fill_n(state.data(), state.size(), NAN);  // a new state need not be cleared
    int at = 0, n_confirmed = 0, set = 0;
    for (const int n : passes) {
      std::vector<float> pass_in, pass_alpha, pass_beta;
      std::vector<ops::StateRows> rows;
      for (int t = 0; t < kTexts; ++t) {
        const size_t first = size(t * kLength + at);
        const auto take = [&](const std::vector<float>& from, int width, std::vector<float>& to) {
          const auto begin = from.begin() + static_cast<ptrdiff_t>(first * size(width));
          to.insert(to.end(), begin, begin + static_cast<ptrdiff_t>(size(n) * size(width)));
        };
        take(in, shape.channels(), pass_in);
        take(alpha, shape.n_v_heads, pass_alpha);
        take(beta, shape.n_v_heads, pass_beta);
        rows.push_back({.first = t * n,
                        .n = n,
                        .state = reinterpret_cast<std::byte*>(states[size(t)].data()),
                        .is_new = at - n_confirmed == 0,
                        .n_confirmed = n_confirmed,
                        .confirmed_set = set,
                        .is_check = checks});
      }
      std::vector<float> conv(pass_in.size()), out(size(kTexts * n * shape.value_width()));
      convolve({pass_in.data(), taps.data(), shape.channels(), shape.conv_taps, rows, layout->layer(0), conv.data()});
      rule({conv.data(), pass_alpha.data(), pass_beta.data(), decay.data(), dt_bias.data(), shape, rows,
            layout->layer(0), out.data()});
      // After a check the last row turns out wrong, except in the last pass and where there is only one.
      const int n_kept = checks && n > 1 && at + n < kLength ? n - 1 : n;
      for (int t = 0; t < kTexts; ++t) {
        const auto put = [&](const std::vector<float>& from, int width, std::vector<float>& to) {
          std::copy_n(from.begin() + t * n * width, n_kept * width, to.begin() + (t * kLength + at) * width);
        };
        put(conv, shape.channels(), results.conv);
        put(out, shape.value_width(), results.out);
      }
      at += n_kept;
      n_confirmed = checks ? n_kept : 0;
      if (checks) set = 1 - set;
    }
    EXPECT_EQ(at, kLength);
    for (auto& state : states) {
      EXPECT_TRUE(state.intact());
      results.kept.emplace_back(state.data(), state.data() + layout->kept_bytes() / sizeof(float));
    }
    return results;
  }

  Results reference() const {
    const int all[] = {kLength};
    return run(all, false, ref::causal_conv, ref::delta_rule);
  }
  Results on_cpu(std::span<const int> passes, bool checks, int n_threads) const {
    return run(
        passes, checks, [&](const ops::CausalConv& op) { run_on(n_threads, cpu::causal_conv, op); },
        [&](const ops::DeltaRule& op) { run_on(n_threads, cpu::delta_rule, op, cpu::delta_scratch(shape.head_dim)); });
  }

  DeltaConfig shape;
  Config config;
  std::unique_ptr<StateLayout> layout;
  std::vector<float> in, alpha, beta, decay, dt_bias, taps;
};

constexpr DeltaConfig kShapes[] = {
    {.n_k_heads = 2, .n_v_heads = 6, .head_dim = 32, .conv_taps = 4, .is_tiled = true},
    {.n_k_heads = 2, .n_v_heads = 4, .head_dim = 128, .conv_taps = 4, .is_tiled = false},
    {.n_k_heads = 3, .n_v_heads = 3, .head_dim = 80, .conv_taps = 2, .is_tiled = true},
};

TEST(Conform, DeltaRuleComputesTheReference) {
  for (const DeltaConfig& shape : kShapes) {
    const Delta delta(shape);
    const auto expected = delta.reference();
    on_every_target([&] {
      const int all[] = {kLength};
      const auto actual = delta.on_cpu(all, false, 2);
      EXPECT_LT(nmse(actual.conv, expected.conv), 1e-12);
      EXPECT_LT(nmse(actual.out, expected.out), 1e-11);
      for (int t = 0; t < kTexts; ++t) {
        EXPECT_LT(nmse(actual.kept[static_cast<size_t>(t)], expected.kept[static_cast<size_t>(t)]), 1e-11);
      }
    });
  }
}

TEST(Conform, DeltaRuleDoesNotDependOnPasses) {
  for (const DeltaConfig& shape : kShapes) {
    const Delta delta(shape);
    on_every_target([&] {
      const int all[] = {kLength}, some[] = {1, 2, 17, 16, 1};
      const std::vector<int> one_by_one(kLength, 1);
      const auto expected = delta.on_cpu(all, false, 1);
      EXPECT_EQ(delta.on_cpu(some, false, 3), expected);
      EXPECT_EQ(delta.on_cpu(one_by_one, false, 2), expected);
    });
  }
}

TEST(Conform, DeltaRuleTakesInOnlyConfirmedTokens) {
  for (const DeltaConfig& shape : kShapes) {
    const Delta delta(shape);
    // Each pass of n > 1 rows keeps n − 1 of them, the last all.
    const int passes[] = {1, 4, 16, 2, 9, 8, 2};
    static_assert(1 + 3 + 15 + 1 + 8 + 7 + 2 == kLength);
    const auto on_ref = delta.run(passes, true, ref::causal_conv, ref::delta_rule);
    EXPECT_LT(nmse(on_ref.out, delta.reference().out), 1e-15);
    on_every_target([&] {
      const int all[] = {kLength};
      const auto expected = delta.on_cpu(all, false, 1);
      const auto checked = delta.on_cpu(passes, true, 3);
      EXPECT_EQ(checked.conv, expected.conv);
      EXPECT_EQ(checked.out, expected.out);
    });
  }
}

TEST(Conform, GatesAreWithinAFewRoundings) {
  constexpr int kHeads = 5, kDim = 48;
  const auto gate = random(kHeads * kDim, 7, 4), x = random(kHeads * kDim, 8), gain = random(kDim, 9);
  std::vector<float> expected(x.size()), mul = x;
  ref::gated_norm({x.data(), gate.data(), gain.data(), kEps, kHeads, kDim, expected.data()});
  ref::sigmoid_mul({gate.data(), gate.size(), mul.data()});
  on_every_target([&] {
    Guarded<float> actual(x.size(), 1), product(x.size(), 3);
    run_on(2, cpu::gated_norm, {x.data(), gate.data(), gain.data(), kEps, kHeads, kDim, actual.data()});
    std::ranges::copy(x, product.data());
    run_on(2, cpu::sigmoid_mul, {gate.data(), gate.size(), product.data()});
    EXPECT_LT(nmse(actual.values(), expected), 1e-12);
    EXPECT_LT(nmse(product.values(), mul), 1e-12);
    EXPECT_TRUE(actual.intact() && product.intact());
  });
}

TEST(Conform, SigmoidKeepsNan) {
  on_every_target([] {
    std::vector<float> gate(37, 1.0f), expected(37, 2.0f);
    for (const size_t i : {0, 5, 31, 36}) gate[i] = NAN;
    auto actual = expected;
    ref::sigmoid_mul({gate.data(), gate.size(), expected.data()});
    run_on(1, cpu::sigmoid_mul, {gate.data(), gate.size(), actual.data()});
    for (size_t i = 0; i < gate.size(); ++i) {
      ASSERT_EQ(std::isnan(expected[i]), std::isnan(gate[i])) << i;
      ASSERT_EQ(std::isnan(actual[i]), std::isnan(gate[i])) << i;
    }
  });
}

TEST(Conform, HeadsAreSplitFromTheirGates) {
  constexpr int kHeads = 3, kDim = 8;
  std::vector<float> in(2 * kHeads * kDim);
  std::iota(in.begin(), in.end(), 0.0f);
  Guarded<float> q(kHeads * kDim), gate(kHeads * kDim);
  run_on(2, cpu::split_heads, {in.data(), 1, kHeads, kDim, q.data(), gate.data()});
  for (int i = 0; i < kHeads * kDim; ++i) {
    const int head = i / kDim;
    EXPECT_EQ(q[static_cast<size_t>(i)], static_cast<float>(i + head * kDim));
    EXPECT_EQ(gate[static_cast<size_t>(i)], static_cast<float>(i + (head + 1) * kDim));
  }
}

TEST(Conform, RopeTurnsOnlyTheFirstDimensions) {
  constexpr int kDim = 32, kTurned = 8;
  RopeTable table({.theta = 100, .n_dims = kTurned}, kDim, 2);
  table.fill(0, 2, 5);
  const auto x = random(2 * 3 * kDim, 10);
  auto actual = x, expected = x;
  ref::rope({expected.data(), 2, 3, kDim, table.cos(), table.sin(), RopePairs::kHalves, kTurned});
  run_on(2, cpu::rope, {actual.data(), 2, 3, kDim, table.cos(), table.sin(), RopePairs::kHalves, kTurned});
  EXPECT_EQ(actual, expected);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(actual[i] == x[i], i % kDim >= kTurned) << i;
}

}  // namespace
}  // namespace tern::conform
