// Mixtures of experts: the products of chosen experts, for one token at a time and in tiles of tokens, against the
// reference, for experts that no token chose, and one that all chose.
#include "backend/gpu/kernels/expert_tiles.h"

#include "backend/gpu/kernels/float/float_matmul_matrix.h"
#include "conform/gpu/expert_problem.h"

namespace tern::conform {
namespace {

using namespace wgsl;

gpu::Grid grid_of(uint32_t rows, uint32_t tile_rows, uint32_t tokens, int n_choices) {
  return {.x = ceil_div(rows, tile_rows),
          .y = ceil_div(static_cast<uint32_t>(n_choices), tokens) + gpu::more_expert_tiles(kExperts)};
}

class GpuExpertTiles : public GpuConform {};
TERN_FOR_EVERY_VARIANT(GpuExpertTiles);

TEST_P(GpuExpertTiles, EveryChoiceIsInATileOfItsExpert) {
  for (const Choices& choices : {several_each(), one_for_all()}) {
    for (const int n : kNumbers) {
      for (const auto& [tokens, workgroup] : {std::pair{16u, 64u}, {64u, 256u}}) {
        const TileList list = tile_list(bench(), choices, n, tokens, workgroup);
        std::vector<int> counts(kExperts), times(static_cast<size_t>(n * choices.n_used));
        for (int choice = 0; choice < n * choices.n_used; ++choice)
          ++counts[static_cast<size_t>(choices.expert(choice))];
        uint32_t n_tiles = 0;
        for (const int count : counts) n_tiles += ceil_div(static_cast<uint32_t>(count), tokens);
        ASSERT_EQ(list.words[0], n_tiles);
        ASSERT_EQ(list.words[1], list.factors_at);
        for (uint32_t tile = 0; tile < n_tiles; ++tile) {
          const auto words = std::span(list.words).subspan(2 + tile * (2 + tokens), 2 + tokens);
          ASSERT_LE(words[1], tokens);
          for (uint32_t i = 0; i < tokens; ++i) {
            const uint32_t choice = words[2 + i];
            if (i >= words[1]) {
              ASSERT_EQ(choice, 0u);
              continue;
            }
            ASSERT_LT(choice, times.size());
            ++times[choice];
            ASSERT_EQ(static_cast<uint32_t>(choices.expert(static_cast<int>(choice))), words[0]);
          }
        }
        EXPECT_EQ(times, std::vector<int>(times.size(), 1)) << n << " tokens";
        for (size_t i = 2 + n_tiles * (2 + tokens); i < list.words.size(); ++i) ASSERT_EQ(list.words[i], kPoison);
      }
    }
  }
}

// Results of fewer tokens are those of more: no bit of a row depends on the others.
void expect_beginning(const std::vector<float>& few, const std::vector<float>& many) {
  EXPECT_EQ(few, std::vector<float>(many.begin(), many.begin() + static_cast<ptrdiff_t>(few.size())));
}

template <class Run>
void for_numbers(const Run& run) {
  const std::vector<float> all = run(kMost);
  for (const int n : kNumbers) expect_beginning(run(n), all);
}

double float_error(double terms, std::span<const float> x) {
  return (static_cast<double>(x.size()) + 4) * kUlp * terms;
}

class FloatTiles {
 public:
  FloatTiles(GpuBench& bench, const ExpertProblem& p, uint32_t tokens) : bench_(bench), p_(p), tokens_(tokens) {}

  std::vector<float> linear(int n) const {
    const Planes w(p_.w());
    const auto c = p_.config(matmul(64), true);
    const TileList list = tile_list(bench_, p_.choices(), n, tokens_);
    auto y = poisoned<float>(static_cast<size_t>(p_.n_choices(n) * ExpertProblem::kRows));
    bench_.run(gpu::expert_matmul(c), grid(c, n), in<gpu::WeightUnits>(w.units), in<U32>(w.scales),
               in<Vec4<F32>>(p_.x(p_.n_choices(n))), in<U32>(list.words), in<F32>(p_.biases()), out<F32>(y));
    return y;
  }
  std::vector<float> glu(int n) const {
    const Planes gate(p_.w()), up(p_.up());
    const auto c = p_.config(matmul(32), false);
    const TileList list = tile_list(bench_, p_.choices(), n, tokens_);
    auto y = poisoned<float>(static_cast<size_t>(p_.n_choices(n) * ExpertProblem::kRows));
    bench_.run(gpu::expert_glu_matmul(c, kExperts), grid(c, n), in<gpu::WeightUnits>(gate.units), in<U32>(gate.scales),
               in<gpu::WeightUnits>(up.units), in<U32>(up.scales), in<Vec4<F32>>(p_.x(n)), in<U32>(list.words),
               in<F32>(p_.biases()), out<F32>(y));
    return y;
  }

 private:
  gpu::FloatMatmulConfig matmul(uint32_t tile_rows) const {
    return {.rows = ExpertProblem::kRows,
            .cols = static_cast<uint32_t>(p_.cols()),
            .coding = {},
            .tile_rows = tile_rows,
            .tile_tokens = tokens_};
  }
  gpu::Grid grid(const gpu::ExpertMatmulConfig& c, int n) const {
    return grid_of(c.linear.rows, c.linear.tile_rows, tokens_, p_.n_choices(n));
  }

  GpuBench& bench_;
  const ExpertProblem& p_;
  uint32_t tokens_;
};

TEST_P(GpuExpertTiles, ProductsOfEveryFormat) {
  uint64_t seed = 100;
  for (const Format format : formats_for(GetParam().name)) {
    const bool is_odd = ++seed % 2 == 1;
    const ExpertProblem p(several_each(), format, block_of(format) * (block_of(format) < 64 ? 3 : 1), seed += 10,
                          is_odd);
    const FloatTiles tiles(bench(), p, is_odd ? 16 : 32);
    p.expect_linear(tiles.linear(kNumbers[2]), kNumbers[2], float_error);
    p.expect_glu(tiles.glu(kNumbers[1]), kNumbers[1], float_error);
  }
}

TEST_P(GpuExpertTiles, ProductsOfAnyNumberOfTokens) {
  for (const Choices& choices : {several_each(), one_for_all()}) {
    const ExpertProblem p(choices, Format::kQ4_0, 96, 7, true);
    const FloatTiles tiles(bench(), p, 32);
    for_numbers([&](int n) {
      const auto y = tiles.linear(n);
      p.expect_linear(y, n, float_error);
      return y;
    });
    for_numbers([&](int n) {
      const auto y = tiles.glu(n);
      p.expect_glu(y, n, float_error);
      return y;
    });
  }
}

TEST_P(GpuExpertTiles, ProductsOfOneTokenAtATime) {
  constexpr int kN = 7;
  for (const bool has_bias : {false, true}) {
    const ExpertProblem p(several_each(), Format::kQ8_0, 96, 9, has_bias);
    const Planes w(p.w()), up(p.up());
    const auto c = p.config(gpu::fit(gpu::FloatLinearConfig{.rows = ExpertProblem::kRows,
                                                            .cols = 96,
                                                            .coding = w.coding,
                                                            .caps = caps(),
                                                            .lanes = 4,
                                                            .rows_per_group = 2,
                                                            .workgroup = 64}),
                            true);
    auto of_input = c;
    of_input.own_input = false, of_input.limit = has_bias ? 1.5f : 0;
    const gpu::Grid grid{.x = c.n_used * gpu::workgroups_per_expert(c), .z = kN};
    const auto chosen = p.choices().of(kN);
    auto y = poisoned<float>(static_cast<size_t>(p.n_choices(kN) * ExpertProblem::kRows)), glu = y;
    bench().run(gpu::expert_linear(c), grid, in<gpu::WeightUnits>(w.units), in<U32>(w.scales),
                in<Vec4<F32>>(p.x(p.n_choices(kN))), in<F32>(chosen), in<F32>(p.biases()), out<F32>(y));
    p.expect_linear(y, kN, float_error);
    bench().run(gpu::expert_glu(of_input, kExperts), grid, in<gpu::WeightUnits>(w.units), in<U32>(w.scales),
                in<gpu::WeightUnits>(up.units), in<U32>(up.scales), in<Vec4<F32>>(p.x(kN)), in<F32>(chosen),
                in<F32>(p.biases()), out<F32>(glu));
    p.expect_glu(glu, kN, float_error);
  }
}

TEST_P(GpuExpertTiles, ProductsOfNormedTokens) {
  if (bench().device().limits().storage_buffers < gpu::kExpertNormGluBuffers) GTEST_SKIP() << "too few bindings";
  constexpr int kN = 7, kCols = 96;
  const auto error = [](double terms, std::span<const float>) { return (kCols + 4 + kCols / 2.0 + 20) * kUlp * terms; };
  for (const bool has_bias : {false, true}) {
    ExpertProblem p(several_each(), Format::kQ8_0, kCols, 9, has_bias);
    const auto x = p.x(kN), gain = p.norm_x(77);
    const Planes w(p.w()), up(p.up());
    const auto c = p.config(gpu::fit(gpu::FloatLinearConfig{.rows = ExpertProblem::kRows,
                                                            .cols = kCols,
                                                            .coding = w.coding,
                                                            .normed = true,
                                                            .eps = kEps,
                                                            .caps = caps(),
                                                            .lanes = 4,
                                                            .rows_per_group = 2,
                                                            .workgroup = 64}),
                            false);
    auto y = poisoned<float>(static_cast<size_t>(p.n_choices(kN) * ExpertProblem::kRows));
    bench().run(gpu::expert_norm_glu(c, kExperts), {.x = c.n_used * gpu::workgroups_per_expert(c), .z = kN},
                in<gpu::WeightUnits>(w.units), in<U32>(w.scales), in<gpu::WeightUnits>(up.units), in<U32>(up.scales),
                in<Vec4<F32>>(x), in<Vec4<F32>>(gain), in<F32>(p.choices().of(kN)), in<F32>(p.biases()), out<F32>(y));
    p.expect_glu(y, kN, error);
  }
}

class MatrixTiles {
 public:
  MatrixTiles(GpuBench& bench, const ExpertProblem& p, const MatrixShape& shape, const gpu::PromptTile& tile)
      : bench_(bench), p_(p) {
    linear_ = gpu::fit(gpu::FloatMatrixMatmulConfig{.rows = ExpertProblem::kRows,
                                                    .cols = static_cast<uint32_t>(p.cols()),
                                                    .coding = gpu::coding_of(p.w()),
                                                    .shape = shape,
                                                    .subgroup = bench.device().features().subgroup_max,
                                                    .tile = tile});
  }
  bool fits() const {
    const gpu::Limits& limits = bench_.device().limits();
    return linear_.workgroup() <= limits.invocations && linear_.workgroup_bytes(2) <= limits.workgroup_bytes;
  }

  std::vector<float> linear(int n) const {
    const Planes w(p_.w());
    const Input x(*this, n, static_cast<uint32_t>(p_.choices().n_used));
    auto y = poisoned<float>(static_cast<size_t>(p_.n_choices(n) * ExpertProblem::kRows));
    bench_.run(gpu::expert_matmul_matrix(p_.config(linear_, true)), grid(n), in<gpu::WeightUnits>(w.units),
               in<U32>(w.scales), in<Vec4<F16>>(x.halves), in<U32>(x.list.words), in<F32>(p_.biases()), out<F32>(y));
    return y;
  }
  std::vector<float> glu(int n) const {
    const Planes gate(p_.w()), up(p_.up());
    const Input x(*this, n, 1);
    auto y = poisoned<float>(static_cast<size_t>(p_.n_choices(n) * ExpertProblem::kRows));
    bench_.run(gpu::expert_glu_matmul_matrix(p_.config(linear_, false), kExperts), grid(n),
               in<gpu::WeightUnits>(gate.units), in<U32>(gate.scales), in<gpu::WeightUnits>(up.units),
               in<U32>(up.scales), in<Vec4<F16>>(x.halves), in<U32>(x.list.words), in<F32>(p_.biases()), out<F32>(y));
    return y;
  }

 private:
  // Rows as f16, with their factors behind the list of tiles.
  struct Input {
    Input(const MatrixTiles& t, int n, uint32_t per_token)
        : list(tile_list(t.bench_, t.p_.choices(), n, t.linear_.tile_tokens)) {
      const auto tokens = static_cast<uint32_t>(n), rows = tokens * per_token, width = t.linear_.cols;
      halves.resize(size_t{round_up(rows, gpu::kRowsOfGroup)} * width);
      auto factors = poisoned<float>(rows);
      t.bench_.run(gpu::halve_tokens({.width = width, .caps = t.bench_.caps(), .per_token = per_token}),
                   {.x = per_token, .y = tokens}, in<Vec4<F32>>(t.p_.x(static_cast<int>(rows))), out<Vec4<F16>>(halves),
                   out<F32>(factors));
      for (uint32_t row = 0; row < rows; ++row)
        list.words[list.factors_at + row] = std::bit_cast<uint32_t>(factors[row]);
    }
    TileList list;
    std::vector<uint16_t> halves;
  };
  gpu::Grid grid(int n) const { return grid_of(linear_.rows, linear_.tile_rows, linear_.tile_tokens, p_.n_choices(n)); }

  GpuBench& bench_;
  const ExpertProblem& p_;
  gpu::FloatMatrixMatmulConfig linear_;
};

class GpuExpertMatrices : public GpuConform {};
INSTANTIATE_TEST_SUITE_P(Gpu, GpuExpertMatrices, testing::ValuesIn(variants_with_matrices()),
                         [](const auto& test) { return test.param.name; });

double halves_error(double terms, std::span<const float> x) {
  double sum = 0;
  for (const float value : x) sum += std::abs(value);
  return matrix_error(terms, sum, static_cast<int>(x.size()));
}

TEST_P(GpuExpertMatrices, ProductsOnSubgroupMatrices) {
  const auto& f = bench().device().features();
  const auto shape = std::ranges::find_if(f.matrices, gpu::has_float_matrix_matmul);
  if (!f.f16 || shape == f.matrices.end() || f.subgroup_min != f.subgroup_max) GTEST_SKIP() << "no such matrices";
  uint64_t seed = 200;
  auto formats = formats_on_matrices(GetParam().name);
  if (!std::ranges::contains(formats, Format::kMXFP4)) formats.push_back(Format::kMXFP4);
  for (const Format format : formats) {
    seed += 10;
    const bool is_odd = seed / 10 % 2 == 1;
    const ExpertProblem p(is_odd ? several_each() : one_for_all(), format, std::max(block_of(format), 64), seed,
                          is_odd);
    MatrixTiles tiles(bench(), p, *shape, {2, 1, 1, 2, 1});
    if (!tiles.fits()) GTEST_SKIP() << "this device's workgroups are too small";
    for_numbers([&](int n) {
      const auto y = tiles.linear(n);
      p.expect_linear(y, n, halves_error);
      return y;
    });
    for_numbers([&](int n) {
      const auto y = tiles.glu(n);
      p.expect_glu(y, n, halves_error);
      return y;
    });
  }
}

}  // namespace
}  // namespace tern::conform
