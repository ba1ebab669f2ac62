// Locally typical tokens, and what is dropped for the filters after a threshold.
#include "backend/gpu/kernels/head/sample.h"
#include "backend/gpu/kernels/head/sample_search.h"

namespace tern::gpu {

using namespace wgsl;
using namespace sampling;

namespace {

// With d the distance of a logit from the greatest, the surprise is d + ln Σe^−d, and the entropy is the mean surprise.
// So a token is as far from typical as its d is from the mean of d.
Name<F32> mean_distance(const SampleConfig& c, const In<"moments", F32>& moments, const WorkgroupId& wg,
                        const LocalIndex& tid) {
  auto my_weight = var<F32>("part_weight");
  auto my_sum = var<F32>("part_sum");
  when(tid < c.parts, [&] {
    auto at = let("moments_at", (wg.y * c.parts + tid) * kMomentWords);
    my_weight = moments[at];
    my_sum = moments[at + 1u];
  });
  auto weight = reduce_workgroup(Reduce::kSum, c.caps, let("some_weight", my_weight), tid, kSize);
  auto sum = reduce_workgroup(Reduce::kSum, c.caps, let("some_sum", my_sum), tid, kSize);
  return let("mean", sum / max(weight, kTiny));
}

// Sorts keys by how typical they are: the closest has the largest place. The more probable of two equally close ones
// comes first. Without a probability, the place is 0.
struct Places {
  explicit Places(const Keys& keys)
      : below(function("below_of",
                       [&keys](Name<U32> k, Name<U32> greatest) {
                         return select(keys.value(greatest) - keys.value(k), 0.0f, k == greatest);
                       })),
        place(function("place_of", [this, &keys](Name<U32> k, Name<U32> greatest, Name<F32> mean) {
          auto off = let("off", below(k, greatest) - mean);
          auto side = let("side", select(0u, 1u, off <= 0.0f));
          auto at = let("at", ((0x7FFFFFFFu - bitcast<U32>(abs(off))) << 1u) | side);
          return select(at, 0u, keys.weight(k, greatest, 1.0f) == 0.0f);
        })) {}
  Function<F32, U32, U32> below;
  Function<U32, U32, U32, F32> place;
};

// The weight of the tokens at a place.
Name<F32> weight_at(const Name<U32>& place, const Name<F32>& mean) {
  auto far = let("far", bitcast<F32>(0x7FFFFFFFu - (place >> 1u)));
  auto below = let("below", select(mean + far, mean - far, (place & 1u) == 1u));
  return let("weight_there", exp(-max(below, 0.0f)));
}

}  // namespace

SampleSurpriseKernel sample_surprise(const SampleConfig& c) {
  return kernel(
      "sample_surprise", kSize,
      [&](SampleLogits logits, In<"parts", U32> parts, Out<"moments", F32> moments, WorkgroupId wg, LocalIndex tid) {
        const Keys keys;
        const Places places(keys);
        auto greatest = greatest_key(c, parts, parts_of_row(c, wg), tid);
        auto sum = var<F32>("sum");
        auto distances = var<F32>("distances");
        for_part(c, logits, keys, wg, tid, [&](const Name<U32>& key) {
          auto weight = let("weight", keys.weight(key, greatest, 1.0f));
          when(weight > 0.0f, [&] {
            sum += weight;
            distances += weight * places.below(key, greatest);
          });
        });
        auto at = let("moments_at", (wg.y * c.parts + wg.x) * kMomentWords);
        auto all = reduce_workgroup(Reduce::kSum, c.caps, let("my_sum", sum), tid, kSize);
        auto all_distances = reduce_workgroup(Reduce::kSum, c.caps, let("my_distances", distances), tid, kSize);
        when(tid == 0u, [&] {
          moments[at] = all;
          moments[at + 1u] = all_distances;
        });
      });
}

SampleTypicalKernel sample_typical(const SampleConfig& c, LevelBegin begin) {
  return kernel(
      begin == LevelBegin::kStart ? "sample_typical_start" : "sample_typical", kSize,
      [&](SampleLogits logits, In<"parts", U32> parts, In<"moments", F32> moments, SampleHist hist, SampleState state,
          SampleOptions options, SampleLevelUniform level, WorkgroupId wg, LocalIndex tid) {
        const Keys keys;
        const Places places(keys);
        const RowOptions row_options(options, wg);
        const Tools tools(c, hist, state, row_options, tid, keys, greatest_key(c, parts, parts_of_row(c, wg), tid), wg);
        auto mean = mean_distance(c, moments, wg, tid);
        fill_level(tools, logits, level, Measure::kShare, begin, wg,
                   [&](const Name<U32>& key) { return let("place", places.place(key, tools.greatest, mean)); });
      });
}

SampleTypicalCutKernel sample_typical_cut(const SampleConfig& c) {
  return kernel("sample_typical_cut", kSize,
                [&](SampleLogits logits, InOut<"parts", U32> parts, In<"moments", F32> moments, SampleHist hist,
                    SampleState state, SampleOptions options, WorkgroupId wg, LocalIndex tid) {
                  const Keys keys;
                  const Places places(keys);
                  const RowOptions row_options(options, wg);
                  auto parts_at = parts_of_row(c, wg);
                  auto greatest = greatest_key(c, parts, parts_at, tid);
                  const Tools tools(c, hist, state, row_options, tid, keys, greatest, wg);
                  auto mean = mean_distance(c, moments, wg, tid);
                  auto last = let("last_level", sample_level_index(Measure::kShare, kSampleLevels - 1));
                  const Search s = search_bin(tools, Measure::kShare, last, load_search(tools, last));
                  auto share = let("share", row_options.top_p());
                  auto cut = let("cut", select(0u, s.prefix, share < 1.0f));  // 0: nothing is dropped
                  const Name<U32> ties = ties_for_share(tools, s, weight_at(s.prefix, mean));
                  when(wg.x == 0u && tid == 0u, [&] {
                    state[tools.state_of_row + kFinalState * kStateWords] = cut;
                    state[tools.state_of_row + (kFinalState * kStateWords + 1)] = ties;
                  });
                  auto n = var<U32>("n_ties");
                  for_part(c, logits, keys, wg, tid, [&](const Name<U32>& key) {
                    when(places.place(key, greatest, mean) == s.prefix, [&] { n += 1u; });
                  });
                  auto all = reduce_workgroup(Reduce::kSum, c.caps, let("my_ties", n), tid, kSize);
                  when(tid == 0u, [&] { parts[parts_at + wg.x * kPartWords + kPartTies] = all; });
                });
}

namespace {

// Drops a part's tokens that are behind the threshold, or at it after as many as are kept. Each invocation has a run of
// tokens, in the order of ids.
template <class PlaceOf, class Keeps>
void drop(const SampleConfig& c, const InOut<"logits", U32>& logits, const In<"parts", U32>& parts,
          const In<"state", U32>& state, const Keys& keys, const WorkgroupId& wg, const LocalIndex& tid,
          PlaceOf&& place_of, Keeps&& keeps) {
  auto parts_at = parts_of_row(c, wg);
  auto state_at = state_of_row(wg);
  auto cut = let("cut", state[state_at + kFinalState * kStateWords]);
  auto ties_left = let("ties_left", state[state_at + (kFinalState * kStateWords + 1)]);
  auto my_ties = var<U32>("part_ties");
  when(tid < wg.x, [&] { my_ties = parts[parts_at + tid * kPartWords + kPartTies]; });
  auto ties_of_parts = reduce_workgroup(Reduce::kSum, c.caps, let("some_ties", my_ties), tid, kSize);
  const uint32_t per_run = ceil_div(part_size(c), kSize);
  auto first = let("first_token", wg.x * part_size(c) + tid * per_run);
  auto end = let("end_token", min(min(first + per_run, wg.x * part_size(c) + part_size(c)), c.n));
  auto logits_at = let("logits_of_row", wg.y * c.n);
  auto run_ties = var<U32>("run_ties");
  loop("i", first, end, 1u, [&](const Name<U32>& i) {
    auto key = let("key", keys.key(logits[logits_at + i]));
    when(place_of(key) == cut, [&] { run_ties += 1u; });
  });
  auto ties = let("ties", run_ties);
  auto all_ties = scan("all_ties", ties, tid);
  auto n_ties = var("n_ties", ties_of_parts + before("ties_before", all_ties, tid));
  loop("i", first, end, 1u, [&](const Name<U32>& i) {
    auto key = let("key", keys.key(logits[logits_at + i]));
    const Name<U32> place = place_of(key);
    auto is_tie = let("is_tie", place == cut && n_ties < ties_left);
    when(place == cut, [&] { n_ties += 1u; });
    when(!((place > cut || is_tie) && keeps(key)), [&] { logits[logits_at + i] = kNoLogit; });
  });
}

}  // namespace

SampleDropKernel sample_drop(const SampleConfig& c, bool by_min_p) {
  return kernel(by_min_p ? "sample_drop_min_p" : "sample_drop", kSize,
                [&](InOut<"logits", U32> logits, In<"parts", U32> parts, In<"state", U32> state, SampleOptions options,
                    WorkgroupId wg, LocalIndex tid) {
                  const Keys keys;
                  const RowOptions row_options(options, wg);
                  auto greatest = greatest_key(c, parts, parts_of_row(c, wg), tid);
                  auto min_p = row_options.min_p();
                  drop(
                      c, logits, parts, state, keys, wg, tid, [](const Name<U32>& key) { return key; },
                      [&](const Name<U32>& key) {
                        if (!by_min_p) return let("keeps", key > 0u);
                        return let("keeps", keys.weight(key, greatest, 1.0f) >= min_p);
                      });
                });
}

SampleDropUntypicalKernel sample_drop_untypical(const SampleConfig& c) {
  return kernel("sample_drop_untypical", kSize,
                [&](InOut<"logits", U32> logits, In<"parts", U32> parts, In<"moments", F32> moments,
                    In<"state", U32> state, SampleOptions options, WorkgroupId wg, LocalIndex tid) {
                  const Keys keys;
                  const Places places(keys);
                  const RowOptions row_options(options, wg);
                  auto greatest = greatest_key(c, parts, parts_of_row(c, wg), tid);
                  auto mean = mean_distance(c, moments, wg, tid);
                  auto share = let("share", row_options.top_p());
                  // Where the filter is off, tokens without a probability stay, too.
                  auto always = let("always", select(0xFFFFFFFFu, 0u, share < 1.0f));
                  drop(
                      c, logits, parts, state, keys, wg, tid,
                      [&](const Name<U32>& key) { return let("place", places.place(key, greatest, mean) | always); },
                      [](const Name<U32>& key) { return let("keeps", key > 0u); });
                });
}

}  // namespace tern::gpu
