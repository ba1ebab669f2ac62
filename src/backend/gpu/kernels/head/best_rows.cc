// Finds the rows that may have the best logits, and computes their logits.
#include "backend/gpu/kernels/float/float_dots.h"
#include "backend/gpu/kernels/head/best_logits.h"
#include "backend/gpu/kernels/head/greatest.h"

namespace tern::gpu {

using namespace wgsl;
using namespace float_matvec;

namespace {

constexpr uint32_t kMinusInfinityBits = kInfinityBits | 0x80000000;

// The n_best-th largest of the invocations' values, returned on every invocation.
Name<U32> nth_greatest(const BestLogitsConfig& c, const Name<U32>& mine, const LocalIndex& tid) {
  const uint32_t workgroup = c.linear.workgroup;
  if (c.n_best == 1) return reduce_workgroup(Reduce::kMax, c.linear.caps, mine, tid, workgroup);
  auto values = shared<U32>("values", workgroup);
  auto found = shared<U32>("found", 1);
  values[tid] = mine;
  workgroupBarrier();
  auto n_before = var("n_before", 0u);
  loop("i", 0u, workgroup, 1u, [&](const Name<U32>& i) {
    auto other = let("other", values[i]);
    n_before += select(0u, 1u, other > mine || (other == mine && i < tid));
  });
  when(n_before == c.n_best - 1, [&] { found[0u] = mine; });
  workgroupBarrier();
  return let("nth", found[0u]);
}

struct Head {
  In<"w", WeightUnits> w;
  In<"scales", U32> scales;
  FloatX x;
  FloatGain gain;
  In<"upper", F32> upper;
  In<"greatest", U32> greatest;
};

// Checks the workgroup's rows. on_other(index of a logit) is called for each row that cannot be among the best, on its
// own invocation. Then on_row(row, logit) is called for each row that may be, on one invocation. Returns the number of
// the latter.
template <class OnOther, class OnRow>
Name<U32> for_best_rows(const BestLogitsConfig& c, const Head& head, const WorkgroupId& wg, const LocalIndex& tid,
                        const OnOther& on_other, const OnRow& on_row) {
  const FloatLinearConfig& linear = c.linear;
  CHECK(linear.rows_per_group == 1 && linear.columns == 1 && !linear.staged && !linear.int8_x);
  CHECK(c.n_best >= 1 && c.n_best <= linear.workgroup);
  const uint32_t n_groups = linear.workgroup / linear.lanes;
  const WeightPlanes planes(linear.coding, head.w, head.scales);
  const FloatDots dots(linear, tid);
  note("The n-th greatest of the least that logits can be: n are no less.");
  auto mine = var("mine", 0u);
  loop("i", tid, kGreatestParts, linear.workgroup,
       [&](const Name<U32>& i) { mine = max(mine, head.greatest[wg.y * kGreatestParts + i]); });
  auto threshold = nth_greatest(c, let("my_greatest", mine), tid);

  note("Rows that may reach it are computed.");
  auto n_chosen = shared<Atomic<U32>>("n_chosen", 1);
  auto chosen = shared<U32>("chosen", linear.workgroup);
  auto my_row = let("my_row", wg.x * linear.workgroup + tid);
  when(my_row < linear.rows, [&] {
    auto index = let("index", wg.y * linear.rows + my_row);
    when(
        key_of(head.upper[index]) >= threshold,
        [&] {
          auto place = atomicAdd(n_chosen[0u], 1u);
          chosen[place] = my_row;
        },
        [&] { on_other(index); });
  });
  auto n = workgroupUniformLoad(n_chosen);
  auto turns = let("turns", (n + (n_groups - 1)) / n_groups);
  const auto compute = [&](const Name<U32>& turn) {
    auto place = let("place", turn * n_groups + dots.group());
    auto row = let("row", chosen[min(place, n - 1u)]);
    auto start = let("start", row * dots.units());
    Input in(linear, head.x, head.gain, wg.y, tid);
    std::vector<Activations> columns;
    columns.emplace_back(in);
    const auto totals = dots.multiply({{&planes, {start}}}, columns);
    when(dots.lane() == 0u && place < n, [&] { on_row(row, totals[0][0]); });
  };
  // Lavapipe was seen to crash in a loop that no invocation enters and that contains another loop.
  when(n > 0u, [&] { loop("turn", 0u, turns, 1u, compute); });
  return n;
}

}  // namespace

BestLogitsKernel best_logits(const BestLogitsConfig& c) {
  return kernel(
      "best_logits", c.linear.workgroup,
      [&](In<"w", WeightUnits> w, In<"scales", U32> scales, FloatX x, FloatGain gain, In<"upper", F32> upper,
          In<"greatest", U32> greatest, Out<"y", U32> y, WorkgroupId wg, LocalIndex tid) {
        for_best_rows(
            c, {w, scales, x, gain, upper, greatest}, wg, tid,
            [&](const Name<U32>& index) { y[index] = kMinusInfinityBits; },
            [&](const Name<U32>& row, const Name<F32>& logit) { y[wg.y * c.linear.rows + row] = bitcast<U32>(logit); });
      });
}

GreatestLogitKernel greatest_logit(const BestLogitsConfig& c) {
  CHECK(c.n_best == 1);
  return kernel("greatest_logit", c.linear.workgroup,
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, FloatX x, FloatGain gain, In<"upper", F32> upper,
                    In<"greatest", U32> greatest, Out<"values", F32> values, Out<"indices", U32> indices,
                    WorkgroupId wg, LocalIndex tid) {
                  const greatest::Greatest mine;
                  auto n = for_best_rows(
                      c, {w, scales, x, gain, upper, greatest}, wg, tid, [](const Name<U32>&) {},
                      [&](const Name<U32>& row, const Name<F32>& logit) { mine.see(logit, row); });
                  when(n > 0u, [&] {
                    const greatest::Best best = greatest::best_of_workgroup(mine, tid, c.linear.workgroup);
                    mine.value = best.values[0u];
                    mine.index = best.indices[0u];
                  });
                  when(tid == 0u, [&] {
                    values[wg.x] = mine.value;
                    indices[wg.x] = mine.index;
                  });
                });
}

}  // namespace tern::gpu
