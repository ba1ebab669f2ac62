// The next token of a stream and its row of the embedding table: the largest logit via the head's copy, part by part,
// and the choice among parts.
#include <algorithm>
#include <cmath>

#include "backend/gpu/kernels/head/argmax.h"
#include "conform/gpu/head/best_logits_data.h"

namespace tern::conform {
namespace {

using namespace wgsl;
using namespace exact_head;
using GpuNextToken = GpuConform;
TERN_FOR_EVERY_VARIANT(GpuNextToken);

constexpr uint32_t kNoIndex = 0xFFFFFFFF, kIdsRing = 8;

struct Parts {
  std::vector<float> values;
  std::vector<uint32_t> indices;
};

// The parts of the head's rows, `of_part` rows each.
Parts parts_of(GpuBench& bench, const HeadCase& c, uint32_t of_part) {
  const Estimates e = estimates_of(bench, c, 1);
  const Planes planes(c.w);
  gpu::BestLogitsConfig config{.linear = linear_config(bench, c, planes), .n_best = 1};
  config.linear.rows_per_group = 1;
  config.linear.workgroup = of_part;
  const uint32_t n = ceil_div(config.linear.rows, of_part);
  Parts parts{poisoned<float>(n), poisoned<uint32_t>(n)};
  bench.run(gpu::greatest_logit(config), {.x = n}, in<gpu::WeightUnits>(planes.units), in<U32>(planes.scales),
            in<Vec4<F32>>(c.x), in<Vec4<F32>>(gain_of(c)), in<F32>(e.upper), in<U32>(e.greatest),
            out<F32>(parts.values), out<U32>(parts.indices));
  return parts;
}

// Each part has one of float_linear's logits for its rows, or none. The first of the largest logits is among them.
void expect_greatest(GpuBench& bench, const HeadCase& c) {
  constexpr uint32_t kOfPart = 128;
  const std::vector<float> exact = all_logits(bench, c);
  const Parts parts = parts_of(bench, c, kOfPart);
  size_t best = exact.size();
  for (size_t i = 0; i < exact.size(); ++i) {
    if (!std::isnan(exact[i]) && (best == exact.size() || exact[i] > exact[best])) best = i;
  }
  size_t n_found = 0;
  for (size_t part = 0; part < parts.values.size(); ++part) {
    const uint32_t index = parts.indices[part];
    if (index == kNoIndex) {
      EXPECT_LT(parts.values[part], -1e38f) << "part " << part;
      continue;
    }
    ASSERT_EQ(index / kOfPart, part);
    ASSERT_EQ(parts.values[part], exact[index]) << "row " << index;
    n_found += index == best ? 1 : 0;
  }
  EXPECT_EQ(n_found, best == exact.size() ? 0u : 1u) << "row " << best;
}

TEST_P(GpuNextToken, TheGreatestLogitIsThatOfTheMatrix) {
  for (const Format format : {Format::kF16, Format::kBF16, Format::kF32}) {
    for (const uint64_t seed : {31, 32, 33}) {
      HeadCase c(format, 1500, 144, 1, seed);
      expect_greatest(bench(), c);
      c.gain = random(144, seed + 2);
      expect_greatest(bench(), c);
    }
  }
}

TEST_P(GpuNextToken, AmongManyOfAnInvocation) {
  HeadCase c(Format::kF16, 300, 48, 1, 51);
  c.x[20] = 1e30f;  // too large for a bound: all rows are computed
  expect_greatest(bench(), c);
}

TEST_P(GpuNextToken, OfEqualsTheFirstIs) {
  HeadCase same(Format::kF16, 300, 48, 1, 41);
  const auto row = same.row(0);
  for (int r = 0; r < 300; ++r) same.set_row(r, row);
  expect_greatest(bench(), same);
  const Parts parts = parts_of(bench(), same, 128);
  EXPECT_EQ(parts.indices, (std::vector<uint32_t>{0, 128, 256}));
}

TEST_P(GpuNextToken, NaNIsNeverTheGreatest) {
  HeadCase c(Format::kF16, 300, 48, 1, 61);
  for (const int r : {7, 299}) {
    auto row = c.row(r);
    row[5] = kNotANumber;
    c.set_row(r, row);
  }
  expect_greatest(bench(), c);
  c.x[3] = kNotANumber;  // now all logits are NaN
  expect_greatest(bench(), c);
}

struct Next {
  uint32_t token;
  std::vector<float> row;
};
Next next_of(GpuBench& bench, Parts parts, const Tensor& table, float scale, bool begins_step, uint32_t workgroup) {
  constexpr uint32_t kStepsBefore = 13;
  const Planes planes(table);
  const auto cols = static_cast<uint32_t>(table.cols);
  const gpu::ArgmaxEmbedConfig config{.parts = static_cast<uint32_t>(parts.values.size()),
                                      .begins_step = begins_step,
                                      .ring = kIdsRing,
                                      .workgroup = workgroup,
                                      .embed = {cols, planes.coding, scale}};
  const uint32_t begun = kStepsBefore + (begins_step ? 0 : 1);
  std::vector<uint32_t> params = {1, 7, begun, 20, 30, 40}, tokens = poisoned<uint32_t>(3),
                        ids = poisoned<uint32_t>(kIdsRing);
  Next next{0, poisoned<float>(2 * cols)};
  bench.run(gpu::argmax_embed(config), {}, in<F32>(parts.values), in<U32>(parts.indices), out<U32>(tokens),
            out<U32>(ids), out<U32>(params), in<gpu::WeightUnits>(planes.units), in<U32>(planes.scales),
            out<Vec4<F32>>(next.row));
  EXPECT_EQ(params, (std::vector<uint32_t>{1, 7, kStepsBefore + 1, 21, 30, 40}));
  next.token = tokens[0];
  EXPECT_EQ(tokens, (std::vector<uint32_t>{next.token, kPoison, kPoison}));
  for (uint32_t i = 0; i < kIdsRing; ++i) EXPECT_EQ(ids[i], i == kStepsBefore % kIdsRing ? next.token : kPoison) << i;
  for (size_t i = cols; i < next.row.size(); ++i) EXPECT_EQ(std::bit_cast<uint32_t>(next.row[i]), kPoison) << i;
  next.row.resize(cols);
  return next;
}

TEST_P(GpuNextToken, IsChosenAndEmbedded) {
  for (const Format format : {Format::kF16, Format::kF32, Format::kQ8_0, Format::kQ4_0, Format::kQ1_0, Format::kQ6_K}) {
    SCOPED_TRACE(std::string(format_info(format).name));
    const WeightMatrix table(format, 40, 768, 5);
    for (const uint32_t n_parts : {1u, 5u, 64u, 300u}) {
      Parts parts{random(n_parts, n_parts), {}};
      if (n_parts == 300) parts.values.back() = 9;
      for (uint32_t i = 0; i < n_parts; ++i) parts.indices.push_back((i * 7 + 3) % 40);
      const auto best = static_cast<size_t>(std::ranges::max_element(parts.values) - parts.values.begin());
      for (const float scale : {1.0f, 2.5f}) {
        const Next next = next_of(bench(), parts, table.tensor, scale, n_parts == 5, n_parts == 64 ? 64 : 128);
        ASSERT_EQ(next.token, parts.indices[best]);
        const std::vector<float> expected = row_of(table.tensor, static_cast<int>(next.token));
        for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(next.row[i], expected[i] * scale) << i;
      }
    }
  }
}

TEST_P(GpuNextToken, IsTheLowestOfEqualsAndTheFirstWhereThereIsNone) {
  const WeightMatrix table(Format::kF16, 40, 64, 6);
  const auto token = [&](Parts parts) { return next_of(bench(), std::move(parts), table.tensor, 1, true, 32).token; };
  EXPECT_EQ(token({{1, 3, 3, 2}, {4, 30, 20, 5}}), 20u);
  std::vector<uint32_t> indices(70);
  for (uint32_t i = 0; i < 70; ++i) indices[i] = 39 - i % 40;
  EXPECT_EQ(token({std::vector<float>(70, 2.0f), indices}), 0u);
  EXPECT_EQ(token({std::vector<float>(70, -3.4e38f), std::vector<uint32_t>(70, kNoIndex)}), 0u);
}

}  // namespace
}  // namespace tern::conform
