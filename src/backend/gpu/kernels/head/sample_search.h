// The search for a filter's threshold, and other code that the sampling kernels share; sample.h explains it. Included
// only by the sampling kernels.
#pragma once

#include "backend/gpu/kernels/head/sample.h"
#include "base/bytes.h"

namespace tern::gpu::sampling {

inline constexpr uint32_t kSize = kSampleWorkgroup;
static_assert(kSampleBins == kSize);  // one bin per invocation

// Words in an entry of `parts`, `hist` and `state`.
inline constexpr uint32_t kPartGreatest = 0, kPartTies = 1, kPartWeight = 2, kPartWords = 4;
inline constexpr uint32_t kHistWords = 3;
inline constexpr uint32_t kStateWords = 8;
inline constexpr uint32_t kFinalState = 2 * kSampleLevels;
inline constexpr uint32_t kFloorWord = kFinalState * kStateWords + 2;  // of a row's `state`
inline constexpr uint32_t kMomentWords = 3;

// Keys of the infinities; NaN has key 0.
inline constexpr uint32_t kKeyMinusInfinity = 0x007FFFFF, kKeyPlusInfinity = 0xFF800000;

inline constexpr float kCoarse = 0x1p13f, kFine = 0x1p13f;  // units of the sums: 2^-13, and 2^-26 for the remainder
inline constexpr float kTiny = 1e-30f;                      // keeps shares and divisors above 0

constexpr uint32_t part_size(const SampleConfig& c) { return ceil_div(c.n, c.parts); }

// Functions of the WGSL module. A key is an integer that sorts like the logit whose bits it is made of; −0 equals 0,
// and NaN has key 0. weight(key, key of the largest logit, temperature) is the probability relative to that of the
// largest logit. drawn(…, temperature, min_p) is the same, but 0 below min_p.
struct Keys {
  Keys();
  wgsl::Function<wgsl::U32, wgsl::U32> key;
  wgsl::Function<wgsl::F32, wgsl::U32> value;
  wgsl::Function<wgsl::F32, wgsl::U32, wgsl::U32, wgsl::F32> weight;
  wgsl::Function<wgsl::F32, wgsl::U32, wgsl::U32, wgsl::F32, wgsl::F32> drawn;
};

// Inclusive prefix sums over all invocations: entry i of the result is the sum up to invocation i.
template <class T>
wgsl::Shared<T> scan(std::string_view name, const wgsl::Name<T>& v, const wgsl::LocalIndex& tid) {
  auto sums = wgsl::shared<T>(name, kSize);
  auto sum = wgsl::var("sum", v);
  sums[tid] = v;
  wgsl::workgroupBarrier();
  for (uint32_t d = 1; d < kSize; d *= 2) {
    wgsl::when(tid >= d, [&] { sum += sums[tid - d]; });
    wgsl::workgroupBarrier();
    sums[tid] = sum;
    wgsl::workgroupBarrier();
  }
  return sums;
}

// The sum of everything before `at` in a scan.
template <class T>
wgsl::Name<T> before(std::string_view name, const wgsl::Shared<T>& sums, const wgsl::Name<wgsl::U32>& at) {
  auto sum = wgsl::var<T>(name);
  wgsl::when(at > 0u, [&] { sum = sums[at - 1u]; });
  return wgsl::let(name, sum);
}

// The first invocation where `reached`; if there is none, the last one that `counts`; 0 if there is none either.
wgsl::Name<wgsl::U32> first_reached(const wgsl::Name<wgsl::Bool>& reached, const wgsl::Name<wgsl::Bool>& counts,
                                    const wgsl::LocalIndex& tid);

// Where this workgroup's row begins in `parts`, `hist` and `state`.
inline wgsl::Name<wgsl::U32> parts_of_row(const SampleConfig& c, const wgsl::WorkgroupId& wg) {
  return wgsl::let("parts_of_row", wg.y * (c.parts * kPartWords));
}
inline wgsl::Name<wgsl::U32> hist_of_row(const wgsl::WorkgroupId& wg) {
  return wgsl::let("hist_of_row", wg.y * static_cast<uint32_t>(kSampleHistBytes / 4));
}
inline wgsl::Name<wgsl::U32> state_of_row(const wgsl::WorkgroupId& wg) {
  return wgsl::let("state_of_row", wg.y * static_cast<uint32_t>(kSampleStateBytes / 4));
}

// Key of the row's largest logit.
template <class Parts>
wgsl::Name<wgsl::U32> greatest_key(const SampleConfig& c, const Parts& parts, const wgsl::Name<wgsl::U32>& of_row,
                                   const wgsl::LocalIndex& tid) {
  using namespace wgsl;
  auto mine = var<U32>("mine");
  when(tid < c.parts, [&] { mine = parts[of_row + tid * kPartWords + kPartGreatest]; });
  return reduce_workgroup(Reduce::kMax, c.caps, let("part_greatest", mine), tid, kSize);
}

// A search: the bits found so far, the amount of the measure still wanted from the keys that begin with them, and the
// probability of all greater keys. `floor` and `floor_ties`: the previous filter's threshold, the lower limit of this
// search.
struct Search {
  wgsl::Name<wgsl::U32> prefix;
  wgsl::Name<wgsl::F32> rest, above;
  wgsl::Name<wgsl::U32> floor;
  wgsl::Name<wgsl::F32> floor_ties;
};

// A row's options.
struct RowOptions {
  RowOptions(const SampleOptions& options, const wgsl::WorkgroupId& wg)
      : all(wgsl::let("row_options", options[wg.y])) {}
  wgsl::Name<wgsl::F32> temperature() const { return wgsl::let("temperature", wgsl::at(all, 0)); }
  wgsl::Name<wgsl::F32> top_k() const { return wgsl::let("top_k", wgsl::at(all, 1)); }
  wgsl::Name<wgsl::F32> top_p() const { return wgsl::let("top_p", wgsl::at(all, 2)); }
  wgsl::Name<wgsl::F32> min_p() const { return wgsl::let("min_p", wgsl::at(all, 3)); }
  wgsl::Name<wgsl::Vec4<wgsl::F32>> all;
};

// What the search functions need.
struct Tools {
  const SampleConfig& c;
  const SampleHist& hist;
  const SampleState& state;
  const RowOptions& options;
  const wgsl::LocalIndex& tid;
  const Keys& keys;
  wgsl::Name<wgsl::U32> greatest;  // key of the largest logit
  wgsl::Name<wgsl::U32> hist_of_row, state_of_row;

  Tools(const SampleConfig& config, const SampleHist& histograms, const SampleState& states, const RowOptions& of_row,
        const wgsl::LocalIndex& local, const Keys& functions, const wgsl::Name<wgsl::U32>& largest,
        const wgsl::WorkgroupId& wg)
      : c(config),
        hist(histograms),
        state(states),
        options(of_row),
        tid(local),
        keys(functions),
        greatest(largest),
        hist_of_row(sampling::hist_of_row(wg)),
        state_of_row(sampling::state_of_row(wg)) {}
};

Search load_search(const Tools& t, const wgsl::Name<wgsl::U32>& index);
void store_search(const Tools& t, const wgsl::Name<wgsl::U32>& index, const Search& s);

// Finds eight more bits of the threshold from the histogram of level `index`. Invocation i has the i-th bin from the
// top.
Search search_bin(const Tools& t, Measure measure, const wgsl::Name<wgsl::U32>& index, const Search& s);

// The search as level `index` continues it.
Search begin_level(const Tools& t, Measure measure, LevelBegin begin, const wgsl::Name<wgsl::U32>& index);

// The smallest number of ties, each of weight `one`, whose sum reaches the rest of a finished search.
wgsl::Name<wgsl::U32> ties_for_share(const Tools& t, const Search& s, const wgsl::Name<wgsl::F32>& one);

// Calls body(key) for each of a part's logits, divided among the invocations.
template <class Body>
void for_part(const SampleConfig& c, const SampleLogits& logits, const Keys& keys, const wgsl::WorkgroupId& wg,
              const wgsl::LocalIndex& tid, Body&& body) {
  using namespace wgsl;
  auto end = let("end", min(wg.x * part_size(c) + part_size(c), c.n));
  loop("i", wg.x * part_size(c) + tid, end, kSize,
       [&](const Name<U32>& i) { body(let("key", keys.key(logits[wg.y * c.n + i]))); });
}

// A level of the search among places: place_of(key) orders the keys, and is 0 for those that are no candidates.
template <class PlaceOf>
void fill_level(const Tools& t, const SampleLogits& logits, const SampleLevelUniform& level, Measure measure,
                LevelBegin begin, const wgsl::WorkgroupId& wg, PlaceOf&& place_of) {
  using namespace wgsl;
  const LocalIndex& tid = t.tid;
  auto index = level.get<"index">();
  const Search s = begin_level(t, measure, begin, index);
  when(wg.x == 0u && tid == 0u, [&] { store_search(t, index, s); });

  auto bins = shared<Atomic<U32>>("bins", kSampleBins * kHistWords);
  auto shift = level.get<"shift">();
  for_part(t.c, logits, t.keys, wg, tid, [&](const Name<U32>& key) {
    const Name<U32> place = place_of(key);
    auto high = let("high", place >> shift);
    when(place >= s.floor && (high >> 8u) == s.prefix, [&] {
      auto at = let("at", (high & 255u) * kHistWords);
      auto scaled = let("scaled", t.keys.weight(key, t.greatest, 1.0f) * kCoarse);
      auto whole = let("whole", floor(scaled));
      atomicAdd(bins[at], 1u);
      atomicAdd(bins[at + 1u], u32(whole));
      atomicAdd(bins[at + 2u], u32(round((scaled - whole) * kFine)));
    });
  });
  workgroupBarrier();
  when(atomicLoad(bins[tid * kHistWords]) > 0u, [&] {
    for (uint32_t word = 0; word < kHistWords; ++word) {
      auto sum = atomicLoad(bins[tid * kHistWords + word]);
      atomicAdd(t.hist[t.hist_of_row + (index * kSampleBins + tid) * kHistWords + word], sum);
    }
  });
}

}  // namespace tern::gpu::sampling
