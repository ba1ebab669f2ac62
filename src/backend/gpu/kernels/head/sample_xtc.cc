// XTC: drops the top choices but the least probable one.
#include "backend/gpu/kernels/head/feed_back.h"
#include "backend/gpu/kernels/head/sample.h"
#include "backend/gpu/kernels/head/sample_search.h"

namespace tern::gpu {

using namespace wgsl;
using namespace sampling;

SampleXtcKernel sample_xtc(const SampleConfig& c) {
  return kernel(
      "sample_xtc", kSize,
      [&](SampleLogits logits, In<"parts", U32> parts, In<"moments", F32> moments, In<"thresholds", F32> thresholds,
          InOut<"params", U32> params, Out<"choices", U32> choices, WorkgroupId wg, LocalIndex tid) {
        const Keys keys;
        auto greatest = greatest_key(c, parts, parts_of_row(c, wg), tid);
        auto part_weight = var<F32>("part_weight");
        when(tid < c.parts, [&] { part_weight = moments[(wg.y * c.parts + tid) * kMomentWords]; });
        auto total = reduce_workgroup(Reduce::kSum, c.caps, let("some_weight", part_weight), tid, kSize);
        auto in_ring = place_in_ring(params, wg, c.ring);
        auto least = let("least", thresholds[in_ring] * total);
        note("The least probable top choice of the part; the last one of those that are equal.");
        auto lowest = var<U32>("lowest");  // all bits of its key, inverted
        for_part(c, logits, keys, wg, tid, [&](const Name<U32>& key) {
          auto weight = let("weight", keys.weight(key, greatest, 1.0f));
          when(key > 0u && weight > 0.0f && weight >= least, [&] { lowest = max(lowest, ~key); });
        });
        auto found = reduce_workgroup(Reduce::kMax, c.caps, let("my_lowest", lowest), tid, kSize);
        auto after = var<U32>("after");
        auto end = let("part_end", min(wg.x * part_size(c) + part_size(c), c.n));
        loop("i", wg.x * part_size(c) + tid, end, kSize,
             [&](const Name<U32>& i) { when(keys.key(logits[wg.y * c.n + i]) == ~found, [&] { after = i + 1u; }); });
        auto last = reduce_workgroup(Reduce::kMax, c.caps, let("my_after", after), tid, kSize);
        when(tid == 0u, [&] {
          auto at = let("choice_at", (wg.y * c.parts + wg.x) * 2u);
          choices[at] = found;
          choices[at + 1u] = last;
        });
      });
}

SampleDropTopKernel sample_drop_top(const SampleConfig& c) {
  return kernel("sample_drop_top", kSize,
                [&](InOut<"logits", U32> logits, In<"choices", U32> choices, WorkgroupId wg, LocalIndex tid) {
                  const Keys keys;
                  auto part_lowest = var<U32>("part_lowest");
                  auto part_after = var<U32>("part_after");
                  when(tid < c.parts, [&] {
                    auto at = let("choice_at", (wg.y * c.parts + tid) * 2u);
                    part_lowest = choices[at];
                    part_after = choices[at + 1u];
                  });
                  auto lowest = let("lowest", part_lowest);
                  auto found = reduce_workgroup(Reduce::kMax, c.caps, lowest, tid, kSize);
                  auto mine = let("mine", select(0u, part_after, lowest == found));
                  auto after = reduce_workgroup(Reduce::kMax, c.caps, mine, tid, kSize);
                  auto kept = let("kept", ~found);
                  auto end = let("end", min(wg.x * part_size(c) + part_size(c), c.n));
                  loop("i", wg.x * part_size(c) + tid, end, kSize, [&](const Name<U32>& i) {
                    auto key = let("key", keys.key(logits[wg.y * c.n + i]));
                    auto is_better = let("is_better", key > kept || (key == kept && i + 1u < after));
                    when(is_better && found > 0u, [&] { logits[wg.y * c.n + i] = kNoLogit; });
                  });
                });
}

}  // namespace tern::gpu
