// The ops of mixtures of experts against the reference, and against themselves: whatever other tokens are in a pass, a
// token's results are the same bits.
#include <cmath>
#include <set>

#include "backend/cpu/ops/ops.h"
#include "backend/ref/ops.h"
#include "conform/conform.h"
#include "conform/matrix.h"

namespace tern::conform {
namespace {

constexpr int kTokens = 23, kExperts = 7, kUsed = 3, kWidth = 512, kInner = 256;

TEST(Conform, RouteChoosesTheGreatestScores) {
  for (const auto& [weighs_chosen, has_scale] : {std::pair{false, false}, {true, false}, {true, true}}) {
    for (const auto& [n_experts, n_used] : {std::pair{7, 3}, {4, 4}, {256, 8}, {1, 1}}) {
      auto scores = random(static_cast<size_t>(kTokens * n_experts), 5);
      for (float& score : scores) score = std::round(score * 8) / 8;  // with many that are equal
      const auto scale = random(static_cast<size_t>(n_experts), 6);
      const ops::Route op{scores.data(),
                          kTokens,
                          {.n = n_experts, .n_used = n_used, .weighs_chosen = weighs_chosen},
                          {},
                          has_scale ? scale.data() : nullptr};
      std::vector<float> expected(static_cast<size_t>(kTokens * 2 * n_used)), actual(expected.size());
      ops::Route on_ref = op, on_cpu = op;
      on_ref.out = expected.data(), on_cpu.out = actual.data();
      ref::route(on_ref);
      run_on(3, cpu::route, on_cpu);
      for (int row = 0; row < kTokens; ++row) {
        const ops::Chosen a{expected.data(), kTokens, n_used}, b{actual.data(), kTokens, n_used};
        float sum = 0;
        for (int i = 0; i < n_used; ++i) {
          EXPECT_EQ(b.expert(row, i), a.expert(row, i)) << row;
          EXPECT_NEAR(b.weight(row, i), a.weight(row, i), 1e-6f);
          sum += b.weight(row, i);
        }
        if (weighs_chosen && !has_scale) EXPECT_NEAR(sum, 1, 1e-5f);
      }
    }
  }
}

TEST(Conform, RouteNamesExpertsThatExistWhateverTheScores) {
  std::vector<float> scores(kTokens * kExperts, NAN);
  for (size_t i = 0; i < scores.size(); i += 3) scores[i] = INFINITY;
  for (size_t i = 1; i < scores.size(); i += 5) scores[i] = -INFINITY;
  std::vector<float> out(kTokens * 2 * kUsed);
  for (const auto& run :
       {+[](const ops::Route& op) { ref::route(op); }, +[](const ops::Route& op) { run_on(2, cpu::route, op); }}) {
    run({scores.data(), kTokens, {.n = kExperts, .n_used = kUsed}, out.data()});
    const ops::Chosen chosen{out.data(), kTokens, kUsed};
    for (int row = 0; row < kTokens; ++row) {
      std::set<int> numbers;
      for (int i = 0; i < kUsed; ++i) numbers.insert(chosen.expert(row, i));
      EXPECT_EQ(numbers.size(), kUsed);
      EXPECT_GE(*numbers.begin(), 0);
      EXPECT_LT(*numbers.rbegin(), kExperts);
    }
  }
}

// Experts for every token, one of which no token has.
std::vector<float> some_choices() {
  std::vector<float> chosen;
  for (int row = 0; row < kTokens; ++row) {
    for (int i = 0; i < kUsed; ++i) chosen.push_back(static_cast<float>((row * 5 + i * 2) % (kExperts - 1)));
    for (int i = 0; i < kUsed; ++i) chosen.push_back(0.5f / static_cast<float>(1 + i));
  }
  return chosen;
}

// The input of a layer of experts: floats, or int8 blocks.
struct Input {
  Input(int rows, int cols, bool is_blocks) : x(random(static_cast<size_t>(rows * cols), 3)), width(cols) {
    if (!is_blocks) return;
    q.resize(x.size());
    scale.resize(x.size() / kInt8Block);
    sum.resize(scale.size());
    ref::quantize_blocks({x.data(), rows, cols, {q.data(), scale.data(), sum.data()}});
  }
  ops::FloatRows rows(int first = 0) const {
    const auto at = static_cast<size_t>(first) * static_cast<size_t>(width);
    if (q.empty()) return {.x = x.data() + at};
    const size_t block = at / kInt8Block;
    return {.blocks = {q.data() + at, scale.data() + block, sum.data() + block}};
  }
  std::vector<float> x;
  int width;
  std::vector<int8_t> q;
  std::vector<float> scale;
  std::vector<int32_t> sum;
};

struct Experts {
  Experts(Format format, int rows, int cols, uint64_t seed) : matrix(format, kExperts * rows, cols, seed) {
    matrix.tensor.n_experts = kExperts;
    bias = random(static_cast<size_t>(kExperts * rows), seed + 1);
  }
  Matrix matrix;
  std::vector<float> bias;
};

// What the experts of each token do with it, and whether a token's results are the same when it is alone.
class ConformExperts : public testing::TestWithParam<Format> {
 protected:
  bool is_blocks() const { return format_info(GetParam()).coding.has_codes(); }

  template <class Op, class Reference, class Cpu>
  void check(Op op, int rows, const Reference& reference, const Cpu& on_cpu, const Input& in, int in_rows) {
    const ExpertConfig shape{.n = kExperts, .n_used = kUsed};
    const auto row_floats = static_cast<size_t>(kUsed * rows);
    std::vector<float> expected(kTokens * row_floats);
    op.out = expected.data();
    reference(op);
    on_every_target([&] {
      const int cols = in.width;
      for (const int n_threads : {1, 3}) {
        Guarded<float> out(expected.size());
        op.out = out.data();
        run_on(n_threads, on_cpu, op, cpu::expert_scratch(cols, kTokens, shape, is_blocks()));
        EXPECT_TRUE(out.intact());
        EXPECT_LT(nmse(out.values(), expected), 1e-11);
        for (const int token : {0, 9, kTokens - 1}) {
          Guarded<float> alone(row_floats);
          Op one = op;
          one.in = in.rows(token * in_rows);
          one.chosen = {op.chosen.values + op.chosen.at(token), 1, kUsed};
          one.out = alone.data();
          run_on(n_threads, on_cpu, one, cpu::expert_scratch(cols, 1, shape, is_blocks()));
          EXPECT_TRUE(alone.intact());
          const auto* const together = out.data() + static_cast<size_t>(token) * row_floats;
          EXPECT_EQ(alone.values(), std::vector<float>(together, together + row_floats)) << "token " << token;
        }
      }
    });
  }
};

TEST_P(ConformExperts, Linear) {
  const Experts w(GetParam(), kWidth, kInner, 11);
  const Input in(kTokens * kUsed, kInner, is_blocks());
  const auto chosen = some_choices();
  for (const bool has_bias : {false, true}) {
    const ops::ExpertLinear op{.in = in.rows(),
                               .chosen = {chosen.data(), kTokens, kUsed},
                               .w = &w.matrix.tensor,
                               .bias = has_bias ? w.bias.data() : nullptr,
                               .out = nullptr};
    check(op, kWidth, ref::expert_linear, cpu::expert_linear, in, kUsed);
  }
}

TEST_P(ConformExperts, Glu) {
  const Experts gate(GetParam(), kInner, kWidth, 21);
  const Experts up(is_blocks() ? Format::kQ8_0 : GetParam(), kInner, kWidth, 31);
  const Input in(kTokens, kWidth, is_blocks());
  const auto chosen = some_choices();
  for (const bool has_bias : {false, true}) {
    const ops::ExpertGlu op{.in = in.rows(),
                            .chosen = {chosen.data(), kTokens, kUsed},
                            .w_gate = &gate.matrix.tensor,
                            .w_up = &up.matrix.tensor,
                            .gate_bias = has_bias ? gate.bias.data() : nullptr,
                            .up_bias = has_bias ? up.bias.data() : nullptr,
                            .limit = has_bias ? 2.0f : 0,
                            .act = GluAct::kSilu,
                            .out = nullptr};
    check(op, kInner, ref::expert_glu, cpu::expert_glu, in, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ConformExperts,
                         testing::Values(Format::kF32, Format::kBF16, Format::kQ8_0, Format::kQ4_K, Format::kQ6_K,
                                         Format::kTQ2_0, Format::kPQ2_0),
                         [](const auto& info) { return std::string(format_info(info.param).name); });

TEST(Conform, MixExpertsAddsInOrder) {
  const auto in = random(kTokens * kUsed * 96, 1), shared = random(kTokens * 96, 2), gate = random(kTokens, 3);
  const auto chosen = some_choices();
  for (const bool has_shared : {false, true}) {
    std::vector<float> expected(shared.size()), actual(shared.size());
    ops::MixExperts op{.in = in.data(),
                       .chosen = {chosen.data(), kTokens, kUsed},
                       .shared = has_shared ? shared.data() : nullptr,
                       .gate = has_shared ? gate.data() : nullptr,
                       .width = 96,
                       .out = expected.data()};
    ref::mix_experts(op);
    op.out = actual.data();
    run_on(3, cpu::mix_experts, op);
    EXPECT_LT(nmse(actual, expected), 1e-13);
  }
}

}  // namespace
}  // namespace tern::conform
