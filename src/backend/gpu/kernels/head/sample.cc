#include "backend/gpu/kernels/head/sample.h"

#include "backend/gpu/kernels/head/feed_back.h"
#include "backend/gpu/kernels/head/sample_search.h"

namespace tern::gpu {

using namespace wgsl;
using namespace sampling;

namespace {

void find_greatest(const SampleConfig& c, const SampleLogits& logits, const Out<"parts", U32>& parts,
                   const SampleHist& hist, const WorkgroupId& wg, const LocalIndex& tid) {
  const Keys keys;
  auto hist_at = hist_of_row(wg);
  loop("i", wg.x * kSize + tid, static_cast<uint32_t>(kSampleHistBytes / 4), c.parts * kSize,
       [&](const Name<U32>& i) { atomicStore(hist[hist_at + i], 0u); });
  auto most = var<U32>("most");
  for_part(c, logits, keys, wg, tid, [&](const Name<U32>& key) { most = max(most, key); });
  auto greatest = reduce_workgroup(Reduce::kMax, c.caps, let("mine", most), tid, kSize);
  when(tid == 0u, [&] { parts[parts_of_row(c, wg) + wg.x * kPartWords + kPartGreatest] = greatest; });
}

}  // namespace

SampleGreatestKernel sample_greatest(const SampleConfig& c) {
  CHECK(c.n <= kMaxSampleVocab && c.parts <= kSize);
  return kernel("sample_greatest", kSize,
                [&](SampleLogits logits, Out<"parts", U32> parts, SampleHist hist, InOut<"params", U32> params,
                    WorkgroupId wg, LocalIndex tid) {
                  begin_step(params, wg, tid);
                  find_greatest(c, logits, parts, hist, wg, tid);
                });
}

SampleAgainKernel sample_again(const SampleConfig& c) {
  return kernel("sample_again", kSize,
                [&](SampleLogits logits, Out<"parts", U32> parts, SampleHist hist, WorkgroupId wg, LocalIndex tid) {
                  find_greatest(c, logits, parts, hist, wg, tid);
                });
}

SampleLevelKernel sample_level(const SampleConfig& c, Measure measure, LevelBegin begin) {
  const Text name = cat("sample_", measure == Measure::kCount ? "count" : "share",
                        begin == LevelBegin::kStart        ? "_start"
                        : begin == LevelBegin::kAfterFloor ? "_floor"
                        : begin == LevelBegin::kNext       ? ""
                                                           : "_after");
  return kernel(name, kSize,
                [&](SampleLogits logits, In<"parts", U32> parts, SampleHist hist, SampleState state,
                    SampleOptions options, SampleLevelUniform level, WorkgroupId wg, LocalIndex tid) {
                  const Keys keys;
                  const RowOptions row_options(options, wg);
                  const Tools tools(c, hist, state, row_options, tid, keys,
                                    greatest_key(c, parts, parts_of_row(c, wg), tid), wg);
                  fill_level(tools, logits, level, measure, begin, wg, [](const Name<U32>& key) { return key; });
                });
}

namespace {

// Tokens below `key` are dropped. Of the tokens at `key`, `ties` are kept.
struct Cut {
  Name<U32> key, ties;
};

Cut final_cut(const Tools& t, Threshold threshold) {
  if (threshold == Threshold::kNone) return {let("cut", 0u), let("ties", 0u)};
  if (threshold == Threshold::kFloor) return {let("cut", t.state[t.state_of_row + kFloorWord] - 1u), let("ties", 0u)};
  const Measure measure = threshold == Threshold::kCount ? Measure::kCount : Measure::kShare;
  auto last = let("last_level", sample_level_index(measure, kSampleLevels - 1));
  const Search s = search_bin(t, measure, last, load_search(t, last));
  if (threshold == Threshold::kCount) return {s.prefix, let("ties", u32(s.rest))};
  return {s.prefix, ties_for_share(t, s, let("one", t.keys.weight(s.prefix, t.greatest, 1.0f)))};
}

}  // namespace

SampleWeighKernel sample_weigh(const SampleConfig& c, Threshold threshold) {
  const Text name = cat("sample_weigh", threshold == Threshold::kNone    ? ""
                                        : threshold == Threshold::kFloor ? "_floor"
                                        : threshold == Threshold::kCount ? "_count"
                                                                         : "_share");
  return kernel(name, kSize,
                [&](SampleLogits logits, InOut<"parts", U32> parts, SampleHist hist, SampleState state,
                    SampleOptions options, WorkgroupId wg, LocalIndex tid) {
                  const Keys keys;
                  const RowOptions row_options(options, wg);
                  auto parts_at = parts_of_row(c, wg);
                  auto greatest = greatest_key(c, parts, parts_at, tid);
                  const Tools tools(c, hist, state, row_options, tid, keys, greatest, wg);
                  const Cut cut = final_cut(tools, threshold);
                  when(wg.x == 0u && tid == 0u, [&] {
                    state[tools.state_of_row + kFinalState * kStateWords] = cut.key;
                    state[tools.state_of_row + (kFinalState * kStateWords + 1)] = cut.ties;
                  });
                  auto temperature = row_options.temperature();
                  auto min_p = row_options.min_p();
                  auto sum = var<F32>("sum_above");
                  auto ties = var<U32>("n_ties");
                  for_part(c, logits, keys, wg, tid, [&](const Name<U32>& key) {
                    when(key > cut.key, [&] { sum += keys.drawn(key, greatest, temperature, min_p); });
                    when(key == cut.key, [&] { ties += 1u; });
                  });
                  auto all = reduce_workgroup(Reduce::kSum, c.caps, let("my_sum", sum), tid, kSize);
                  auto all_ties = reduce_workgroup(Reduce::kSum, c.caps, let("my_ties", ties), tid, kSize);
                  when(tid == 0u, [&] {
                    parts[parts_at + wg.x * kPartWords + kPartTies] = all_ties;
                    parts[parts_at + wg.x * kPartWords + kPartWeight] = bitcast<U32>(all);
                  });
                });
}

namespace {

// The run of tokens (one run per invocation) that the draw falls into: the first one at which the cumulative weight
// exceeds `target`. If rounding leaves none, it is the last run that has a weight.
struct Run {
  Name<U32> index;
  Name<F32> target;       // what is left of the target at the run's first token
  Name<U32> ties_before;  // tokens at the threshold before the run
};

// For each run: the weights above the threshold, and the number of tokens at it. The first `ties_left` of those are
// kept.
struct RunSums {
  Name<F32> above;
  Name<U32> ties;
  Name<U32> ties_left;
  Name<F32> tie_weight;
};

// target_of(sum of all weights) returns the target.
template <class Target>
Run find_run(const RunSums& run, const LocalIndex& tid, Target&& target_of) {
  auto all_ties = scan("all_ties", run.ties, tid);
  auto ties_before = before("ties_before", all_ties, tid);
  auto kept = let("kept", min(run.ties, run.ties_left - min(run.ties_left, ties_before)));
  auto weight = let("weight", run.above + f32(kept) * run.tie_weight);
  auto weights = scan("weights", weight, tid);
  const Name<F32> target = target_of(let("all_weights", weights[kSize - 1]));
  auto reached = let("reached", weights[tid] > target);
  auto index = first_reached(reached, let("has_weight", weight > 0.0f), tid);
  auto weight_before = before("weight_before", weights, index);
  auto run_ties_before = before("run_ties_before", all_ties, index);
  return {index, let("target_left", target - weight_before), run_ties_before};
}

}  // namespace

SampleNextKernel sample_next(const SampleConfig& c) {
  CHECK(c.n <= kMaxSampleVocab && c.parts <= kSize);
  const uint32_t per_run = (part_size(c) + kSize - 1) / kSize;
  return kernel(
      "sample_next", kSize,
      [&](SampleLogits logits, In<"parts", U32> parts, In<"state", U32> state, In<"draws", F32> draws,
          SampleOptions options, Out<"tokens", U32> tokens, Out<"ids", U32> ids, InOut<"params", U32> params,
          WorkgroupId wg, LocalIndex tid) {
        const Keys keys;
        const RowOptions row_options(options, wg);
        auto parts_at = parts_of_row(c, wg);
        auto state_at = state_of_row(wg);
        auto logits_at = let("logits_of_row", wg.y * c.n);
        auto greatest = greatest_key(c, parts, parts_at, tid);
        auto cut = let("cut", state[state_at + kFinalState * kStateWords]);
        auto ties_left = let("ties_left", state[state_at + (kFinalState * kStateWords + 1)]);
        auto temperature = row_options.temperature();
        auto min_p = row_options.min_p();
        const auto weight_of = [&](const Name<U32>& key) { return keys.drawn(key, greatest, temperature, min_p); };
        auto tie_weight = let("tie_weight", weight_of(cut));
        auto in_ring = place_in_ring(params, wg, c.ring);

        note("The part of the vocabulary, one per invocation.");
        auto part_above = var<F32>("part_above");
        auto part_ties = var<U32>("part_ties");
        when(tid < c.parts, [&] {
          part_above = bitcast<F32>(parts[parts_at + tid * kPartWords + kPartWeight]);
          part_ties = parts[parts_at + tid * kPartWords + kPartTies];
        });
        auto my_above = let("my_above", part_above);
        auto my_ties = let("my_ties", part_ties);
        const Run part = find_run({my_above, my_ties, ties_left, tie_weight}, tid,
                                  [&](const Name<F32>& sum) { return let("aim", draws[in_ring] * sum); });

        note("The run of that part's tokens, one per invocation.");
        auto part_begin = let("part_begin", part.index * part_size(c));
        auto part_end = let("part_end", min(part_begin + part_size(c), c.n));
        auto first = let("first_token", part_begin + tid * per_run);
        auto end = let("end_token", min(first + per_run, part_end));
        auto run_above = var<F32>("run_above");
        auto run_ties = var<U32>("run_ties");
        loop("i", first, end, 1u, [&](const Name<U32>& i) {
          auto key = let("key", keys.key(logits[logits_at + i]));
          when(key > cut, [&] { run_above += weight_of(key); });
          when(key == cut, [&] { run_ties += 1u; });
        });
        auto above = let("above", run_above);
        auto ties = let("ties", run_ties);
        auto ties_here = let("ties_here", ties_left - min(ties_left, part.ties_before));
        const Run run =
            find_run({above, ties, ties_here, tie_weight}, tid, [&](const Name<F32>&) { return part.target; });

        note("The token, by the invocation that has the run.");
        when(tid == run.index, [&] {
          auto token = var<U32>("token");
          auto sum = var<F32>("sum");
          auto n_ties = var("n_ties", run.ties_before);
          auto is_done = var<U32>("is_done");
          loop("i", first, end, 1u, [&](const Name<U32>& i) {
            auto key = let("key", keys.key(logits[logits_at + i]));
            auto weight = var<F32>("token_weight");
            when(key > cut, [&] { weight = weight_of(key); });
            when(key == cut, [&] {
              when(n_ties < ties_here, [&] { weight = tie_weight; });
              n_ties += 1u;
            });
            when(is_done == 0u && weight > 0.0f, [&] {
              token = i;
              sum += weight;
              when(sum > run.target, [&] { is_done = 1u; });
            });
          });
          auto chosen = let("chosen", token);
          feed_back(chosen, in_ring, tokens, ids, params, wg);
        });
      });
}

}  // namespace tern::gpu
