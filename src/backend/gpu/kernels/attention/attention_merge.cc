// The sum of the parts of a long history.
#include <algorithm>

#include "backend/gpu/kernels/attention/leave_stats.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// All dimensions of a head are added up at once.
uint32_t merge_workgroup(const AttentionConfig& c) { return c.heads.head_dim > 128 ? 256 : 128; }
// Splits whose values are loaded at a time: as many waits for memory as there are splits would take longer than all
// else.
uint32_t merged_ahead(const AttentionConfig& c) { return std::clamp(c.max_splits / 2, 8u, 32u); }
uint32_t padded_splits(const AttentionConfig& c) { return ceil_div(c.max_splits, merged_ahead(c)) * merged_ahead(c); }

// The splits of one head and token.
struct SplitParts {
  SplitParts(const AttentionConfig& c, const In<"parts", F32>& all, const ParamsBuffer& params, const WorkgroupId& wg)
      : config(c),
        parts(all),
        row(let("row", wg.y * c.heads.n_heads + wg.x)),
        base(let("base", row * (c.max_splits * c.partial_stride()))),
        n_pos(let("n_pos", row_word(params, wg.y, kRowPos) + 1u)),
        splits(let("splits", min((n_pos + (c.chunk - 1)) / c.chunk, c.max_splits))),
        // 0 where there is no split.
        shares(shared<F32>("shares", padded_splits(c))) {}

  // Computes each split's share of the total before the values are added up, and returns the total. `sink`: one more
  // score, or null.
  Name<F32> weigh(const LocalIndex& tid, const Name<F32>* sink) const {
    const uint32_t places = padded_splits(config), workgroup = merge_workgroup(config);
    CHECK(places <= workgroup);
    auto my_part = let("my_part", base + min(tid, splits - 1u) * config.partial_stride());
    auto my_greatest = let("my_greatest", parts[my_part + config.heads.head_dim]);
    auto my_sum = let("my_sum", parts[my_part + (config.heads.head_dim + 1)]);
    auto greatest = reduce_workgroup(Reduce::kMax, config.caps, my_greatest, tid, workgroup);
    if (sink) greatest = let("greatest_score", max(greatest, *sink));
    auto share = let("share", select(0.0f, exp(my_greatest - greatest), tid < splits));
    auto weighed = let("weighed", share * my_sum);
    auto total = reduce_workgroup(Reduce::kSum, config.caps, weighed, tid, workgroup);
    when(tid < places, [&] { shares[tid] = share; });
    workgroupBarrier();
    return sink ? let("with_sink", total + exp(*sink - greatest)) : total;
  }

  // Dimension `d` of the values' weighted sum. The values of several splits are loaded at a time.
  Var<F32> sum_of(const Name<U32>& d) const {
    auto sum = var("sum", 0.0f);
    const uint32_t ahead = merged_ahead(config);
    loop("i", 0u, splits, ahead, [&](const Name<U32>& i) {
      std::vector<Name<F32>> values;
      for (uint32_t j = 0; j < ahead; ++j) {
        auto split = let("split", min(i + j, splits - 1u));
        values.push_back(let("part_value", parts[base + split * config.partial_stride() + d]));
      }
      for (uint32_t j = 0; j < ahead; ++j) sum += values[j] * shares[i + j];
    });
    return sum;
  }

  AttentionConfig config;
  In<"parts", F32> parts;
  Name<U32> row, base, n_pos, splits;
  Shared<F32> shares;
};

}  // namespace

AttentionMergeKernel attention_merge(const AttentionConfig& c) {
  const HeadShape& s = c.heads;
  return kernel("attention_merge", merge_workgroup(c),
                [&](In<"parts", F32> parts, ParamsBuffer params, Out<"y", F32> y, NextGain next_gain,
                    NextParts next_parts, WorkgroupId wg, LocalIndex tid) {
                  const SplitParts split(c, parts, params, wg);
                  auto total = split.weigh(tid, nullptr);
                  auto squares = var("squares", 0.0f);
                  auto largest = var("largest", 0.0f);
                  loop("d", tid, s.head_dim, merge_workgroup(c), [&](const Name<U32>& d) {
                    auto result = let("result", split.sum_of(d) / total);
                    y[split.row * s.head_dim + d] = result;
                    squares += result * result;
                    auto gain = let("gain", next_gain[wg.x * s.head_dim + d]);
                    largest = max(largest, abs(result * gain));
                  });
                  leave_stats(c.caps, squares, largest, tid, merge_workgroup(c), next_parts, split.row);
                });
}

SinkMergeKernel attention_merge_sinks(const AttentionConfig& c) {
  return kernel(kSinkMergeName, merge_workgroup(c),
                [&](In<"parts", F32> parts, ParamsBuffer params, In<"sinks", F32> sinks, Out<"y", F32> y,
                    WorkgroupId wg, LocalIndex tid) {
                  const SplitParts split(c, parts, params, wg);
                  auto sink = let("sink", sinks[wg.x]);
                  auto total = split.weigh(tid, &sink);
                  loop("d", tid, c.heads.head_dim, merge_workgroup(c),
                       [&](const Name<U32>& d) { y[split.row * c.heads.head_dim + d] = split.sum_of(d) / total; });
                });
}

}  // namespace tern::gpu
