#include "backend/gpu/kernels/head/sample_search.h"

namespace tern::gpu::sampling {

using namespace wgsl;

namespace {

constexpr uint32_t kStatePrefix = 0, kStateRest = 1, kStateAbove = 2, kStateFloor = 3, kStateFloorTies = 4;

constexpr float kUnknown = -1.0f;  // the wanted share, before the sum of all is known

}  // namespace

Keys::Keys()
    : key(function("key_of",
                   [](Name<U32> bits) {
                     auto b = let("b", select(bits, 0u, bits == 0x80000000u));
                     auto order = let("order", order_of(b));
                     return select(order, 0u, (bits & 0x7FFFFFFFu) > kInfinityBits);
                   })),
      value(function("value_of",
                     [](Name<U32> k) { return bitcast<F32>(select(~k, k ^ 0x80000000u, k >= 0x80000000u)); })),
      weight(function("weight_of",
                      [this](Name<U32> k, Name<U32> greatest, Name<F32> temperature) {
                        auto below = let("below", value(k) - value(greatest));
                        auto w = let("w", exp(max(below / temperature, -200.0f)));
                        auto none = let("none", k <= kKeyMinusInfinity || greatest == kKeyPlusInfinity);
                        return select(select(w, 0.0f, none), 1.0f, k == greatest);
                      })),
      drawn(function("drawn_weight", [this](Name<U32> k, Name<U32> greatest, Name<F32> temperature, Name<F32> min_p) {
        auto w = let("w", weight(k, greatest, temperature));
        return select(w, 0.0f, weight(k, greatest, 1.0f) < min_p);
      })) {}

Name<U32> first_reached(const Name<Bool>& reached, const Name<Bool>& counts, const LocalIndex& tid) {
  auto best = shared<Atomic<U32>>("best", 1);
  when(counts, [&] { atomicMax(best[0u], select(tid + 1u, 2 * kSize - tid, reached)); });
  workgroupBarrier();
  auto found = let("found", atomicLoad(best[0u]));
  return let("first", select(select(found - 1u, 0u, found == 0u), 2 * kSize - found, found > kSize));
}

Search load_search(const Tools& t, const Name<U32>& index) {
  const auto word = [&](uint32_t i) { return t.state[t.state_of_row + index * kStateWords + i]; };
  auto prefix = let("old_prefix", word(kStatePrefix));
  auto rest = let("old_rest", bitcast<F32>(word(kStateRest)));
  auto above = let("old_above", bitcast<F32>(word(kStateAbove)));
  auto floor = let("least", word(kStateFloor));
  auto floor_ties = let("floor_ties", bitcast<F32>(word(kStateFloorTies)));
  return {prefix, rest, above, floor, floor_ties};
}

void store_search(const Tools& t, const Name<U32>& index, const Search& s) {
  const auto word = [&](uint32_t i) { return t.state[t.state_of_row + index * kStateWords + i]; };
  word(kStatePrefix) = s.prefix;
  word(kStateRest) = bitcast<U32>(s.rest);
  word(kStateAbove) = bitcast<U32>(s.above);
  word(kStateFloor) = s.floor;
  word(kStateFloorTies) = bitcast<U32>(s.floor_ties);
}

Search search_bin(const Tools& t, Measure measure, const Name<U32>& index, const Search& s) {
  const LocalIndex& tid = t.tid;
  auto at = let("bin_at", t.hist_of_row + (index * kSampleBins + ((kSampleBins - 1) - tid)) * kHistWords);
  auto count = atomicLoad(t.hist[at]);
  auto coarse = atomicLoad(t.hist[at + 1u]);
  auto fine = atomicLoad(t.hist[at + 2u]);
  auto share = let("share", f32(coarse) * (1 / kCoarse) + f32(fine) * (1 / kCoarse / kFine));
  auto shares = scan("shares", share, tid);
  auto counts = measure == Measure::kCount ? scan("counts", let("in_bin", f32(count)), tid) : shares;
  auto rest = s.rest;
  if (measure == Measure::kShare) {
    auto wanted = let("wanted", max(t.options.top_p() * shares[kSize - 1], kTiny));
    rest = let("rest", select(s.rest, wanted, s.rest == kUnknown));
  }
  auto is_any = let("is_any", count > 0u);
  auto reached = let("reached", counts[tid] >= rest);
  auto bin = first_reached(reached, is_any, tid);
  auto counts_before = before("counts_before", counts, bin);
  auto shares_before = before("shares_before", shares, bin);
  if (measure == Measure::kCount) rest = let("there", min(rest, counts[bin]));  // NaN is never a candidate
  return {.prefix = let("prefix", (s.prefix << 8u) | ((kSampleBins - 1) - bin)),
          .rest = let("new_rest", rest - counts_before),
          .above = let("above", s.above + shares_before),
          .floor = s.floor,
          .floor_ties = s.floor_ties};
}

Name<U32> ties_for_share(const Tools& t, const Search& s, const Name<F32>& one) {
  const auto most = static_cast<float>(t.c.n);
  auto some = let("some", floor(clamp(s.rest / max(one, kTiny), 0.0f, most)));
  auto enough = let("enough", max(select(some, some + 1.0f, some * one < s.rest), 1.0f));
  auto limit = let("limit", select(most, s.floor_ties, s.prefix == s.floor));
  return let("ties", u32(min(enough, limit)));
}

Search begin_level(const Tools& t, Measure measure, LevelBegin begin, const Name<U32>& index) {
  if (begin == LevelBegin::kStart || begin == LevelBegin::kAfterFloor) {
    auto rest = measure == Measure::kCount ? let("rest", t.options.top_k()) : let("rest", kUnknown);
    const bool has_floor = begin == LevelBegin::kAfterFloor;
    return {.prefix = let("prefix", 0u),
            .rest = rest,
            .above = let("above", 0.0f),
            .floor = has_floor ? let("least", t.state[t.state_of_row + kFloorWord]) : let("least", 1u),
            .floor_ties = let("floor_ties", static_cast<float>(t.c.n))};
  }
  auto last = let("last_level", index - 1u);
  const Search old = load_search(t, last);
  if (begin == LevelBegin::kNext) return search_bin(t, measure, last, old);
  const Search found = search_bin(t, Measure::kCount, last, old);
  auto total = let("total", found.above + found.rest * t.keys.weight(found.prefix, t.greatest, 1.0f));
  return {.prefix = let("no_bits", 0u),
          .rest = let("share_rest", max(t.options.top_p() * total, kTiny)),
          .above = let("none_above", 0.0f),
          .floor = found.prefix,
          .floor_ties = found.rest};
}

}  // namespace tern::gpu::sampling
