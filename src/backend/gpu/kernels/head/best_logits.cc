#include "backend/gpu/kernels/head/best_logits.h"

#include <cmath>

#include "backend/gpu/kernels/float/float_dots.h"

namespace tern::gpu {

using namespace wgsl;
using namespace float_matvec;

namespace {

// Limits for rows and activations. Beyond them no bounds are computed: the squares of the values, or of their rounding
// errors, would overflow or underflow an f32. kLeastScale limits the step of a row's codes.
constexpr float kMostSquares = 0x1p100f, kLeastScale = 0x1p-40f;
constexpr float kMostInputSquares = 0x1p120f, kLeastInput = 0x1p-30f;
constexpr float kLost = 0x1p-80f;  // added to every bound, so that it is never 0
// More than the rounding errors of a sum of up to 32768 squares, a root and a few products.
constexpr float kUp = 1 + 0x1p-9f;
constexpr float kCodes = 127, kInputCodes = 8191;
constexpr float kBelowAll = -3e38f, kAboveAll = 3e38f;

// The integers nearest to `scaled`, limited to a magnitude of `most`.
template <ValueOf<Vec4<F32>> V>
Name<Vec4<F32>> nearest(V&& scaled, float most) {
  auto limited = clamp(round(std::forward<V>(scaled)), splat<Vec4<F32>>(-most), splat<Vec4<F32>>(most));
  return let("q", std::move(limited));
}

Name<I8x4> packed(const Caps& caps, const Name<Vec4<F32>>& q) {
  return pack_int8(caps, let("q_int", call<Vec4<I32>>("vec4<i32>", q)));
}

// length_above: an upper bound of a vector's length, from its sum of squares. missed_above: the same for what rounding
// to codes lost, which is itself computed with the rounding errors of a product and a difference.
Name<F32> length_above(const Name<F32>& squares) { return let("norm_of_row", sqrt(squares) * kUp); }
Name<F32> missed_above(const Name<F32>& squares, const Name<F32>& norm) {
  return let("all_missed", sqrt(squares) * kUp + norm * 0x1p-20f);
}

Name<HeadCodes> vec4_of(const std::vector<Name<I8x4>>& words) {
  return let("four", call<HeadCodes>("vec4<u32>", words[0], words[1], words[2], words[3]));
}

}  // namespace

HeadCopyKernel head_copy(const HeadCopyConfig& c) {
  CHECK(!c.coding.has_codes() && c.cols % 16 == 0 && c.workgroup % c.lanes == 0);
  const uint32_t units = c.cols / c.coding.values(), units_of_codes = 16 / c.coding.values();
  return kernel("head_copy", c.workgroup,
                [&](In<"w", WeightUnits> w, In<"scales", U32> scales, Out<"codes", HeadCodes> codes,
                    Out<"errors", HeadErrors> errors, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const WeightPlanes planes(c.coding, w, scales);
                  const Unpack unpack(c.coding);
                  auto row = let("row", (wg.y * n_wg.x + wg.x) * c.rows_per_workgroup() + tid / c.lanes);
                  auto lane = let("lane", tid & (c.lanes - 1));
                  note("Past the last row it is copied again, and not stored.");
                  auto read_row = let("read_row", min(row, c.rows - 1));
                  auto most = var("most", 0u);
                  auto squares = var("squares", 0.0f);
                  loop("i", lane, units, c.lanes, [&](const Name<U32>& i) {
                    auto unit = let("unit", planes.unit(read_row * units + i));
                    for (uint32_t k = 0; k < c.coding.quads(); ++k) {
                      auto v = let("v", unpack(unit, k));
                      add_largest(most, v);
                      squares += dot(v, v);
                    }
                  });
                  auto my_most = let("my_most", most);
                  auto of_row = reduce_lanes(Reduce::kMax, c.caps, my_most, tid, c.lanes, c.workgroup);
                  auto my_squares = let("my_squares", squares);
                  auto all_squares = reduce_lanes(Reduce::kSum, c.caps, my_squares, tid, c.lanes, c.workgroup);
                  auto is_in_range = let("is_in_range", of_row < kInfinityBits && all_squares <= kMostSquares);
                  auto step = let("unit_scale", bitcast<F32>(select(0u, of_row, is_in_range)) / kCodes);
                  auto has_scale = let("has_scale", step >= kLeastScale);
                  auto is_known = let("is_known", has_scale || of_row == 0u);
                  auto scale = let("scale", select(0.0f, step, has_scale));
                  auto inverse = let("inverse", select(0.0f, 1.0f / step, has_scale));

                  auto misses = var("misses", 0.0f);
                  loop("i", lane, c.cols / 16, c.lanes, [&](const Name<U32>& i) {
                    std::vector<Name<I8x4>> words;
                    for (uint32_t u = 0; u < units_of_codes; ++u) {
                      auto unit = let("unit", planes.unit(read_row * units + i * units_of_codes + u));
                      for (uint32_t k = 0; k < c.coding.quads(); ++k) {
                        auto v = let("v", unpack(unit, k));
                        auto q = nearest(v * inverse, kCodes);
                        auto missed = let("missed", v - q * scale);
                        misses += dot(missed, missed);
                        words.push_back(packed(c.caps, q));
                      }
                    }
                    auto four = vec4_of(words);
                    when(row < c.rows, [&] { codes[row * (c.cols / 16) + i] = four; });
                  });
                  auto my_misses = let("my_misses", misses);
                  auto all_misses = reduce_lanes(Reduce::kSum, c.caps, my_misses, tid, c.lanes, c.workgroup);
                  when(lane == 0u && row < c.rows, [&] {
                    auto norm = length_above(all_squares);
                    auto error = missed_above(all_misses, norm);
                    errors[row] = vec4f(scale, select(kUnknown, error, is_known), select(0.0f, norm, is_known), 0.0f);
                  });
                });
}

EstimatedInputKernel estimated_input(const EstimatedInputConfig& c) {
  CHECK(c.cols % 16 == 0);
  const uint32_t quads = c.cols / 4, rounds = ceil_div(quads, c.workgroup);
  return kernel("estimated_input", c.workgroup,
                [&](FloatX x, FloatGain gain, Out<"parts", I8x4> parts, Out<"bounds", HeadErrors> bounds,
                    Out<"greatest", U32> greatest, WorkgroupId wg, LocalIndex tid) {
                  loop("i", tid, kGreatestParts, c.workgroup,
                       [&](const Name<U32>& i) { greatest[wg.y * kGreatestParts + i] = 0u; });
                  // Each invocation keeps its values. Values past the end are zero.
                  std::vector<Name<U32>> places;
                  std::vector<Name<Vec4<F32>>> values;
                  auto most = var("most", 0u);
                  auto squares = var("squares", 0.0f);
                  for (uint32_t k = 0; k < rounds; ++k) {
                    places.push_back(let("quad", tid + k * c.workgroup));
                    auto from = let("from_quad", min(places[k], quads - 1));
                    auto loaded = let("loaded", x[wg.y * quads + from]);
                    auto weighted = c.normed ? let("weighted", loaded * gain[from]) : loaded;
                    auto v = weighted;
                    if ((k + 1) * c.workgroup > quads) {
                      auto existing = var<Vec4<F32>>("existing");
                      when(places[k] < quads, [&] { existing = weighted; });
                      v = let("v", existing);
                    }
                    add_largest(most, v);
                    squares += dot(v, v);
                    values.push_back(v);
                  }
                  auto my_most = let("my_most", most);
                  auto of_row = reduce_workgroup(Reduce::kMax, c.caps, my_most, tid, c.workgroup);
                  auto my_squares = let("my_squares", squares);
                  auto all_squares = reduce_workgroup(Reduce::kSum, c.caps, my_squares, tid, c.workgroup);
                  auto top = let("top", bitcast<F32>(min(of_row, kInfinityBits - 1)));
                  auto is_bounded = let(
                      "is_bounded", of_row < kInfinityBits && top >= kLeastInput && all_squares <= kMostInputSquares);
                  auto scale = let("scale", select(0.0f, top / kInputCodes, is_bounded));
                  auto inverse = let("inverse", select(0.0f, kInputCodes / top, is_bounded));

                  auto misses = var("misses", 0.0f);
                  for (uint32_t k = 0; k < rounds; ++k) {
                    auto q = nearest(values[k] * inverse, kInputCodes);
                    auto missed = let("missed", values[k] - q * scale);
                    misses += dot(missed, missed);
                    auto h = let("h", round(q * (1.0f / 128)));
                    auto l = let("l", q - h * 128.0f);
                    auto high = packed(c.caps, h);
                    auto low = packed(c.caps, l);
                    auto place = let("place", wg.y * (2 * quads) + places[k] / 4u * 8u + places[k] % 4u);
                    const auto store = [&] {
                      parts[place] = high;
                      parts[place + 4u] = low;
                    };
                    if ((k + 1) * c.workgroup <= quads) {
                      store();
                    } else {
                      when(places[k] < quads, store);
                    }
                  }
                  auto my_misses = let("my_misses", misses);
                  auto all_misses = reduce_workgroup(Reduce::kSum, c.caps, my_misses, tid, c.workgroup);
                  when(tid == 0u, [&] {
                    const float roundings = static_cast<float>(c.cols + 64) * 0x1p-24f * kUp;
                    const float of_low = 128 * std::sqrt(static_cast<float>(c.cols)) * kUp;
                    auto norm = length_above(all_squares);
                    auto missed = missed_above(all_misses, norm);
                    auto rounded = let("rounded", (norm + missed + scale * of_low) * roundings);
                    auto per_norm = let("per_norm", (missed + rounded) * kUp);
                    auto per_error = let("per_error", (norm + missed + rounded) * kUp);
                    bounds[wg.y] = vec4f(scale, per_error, per_norm, select(kUnknown, kLost, is_bounded));
                  });
                });
}

EstimateConfig fit(EstimateConfig c) {
  while (c.lanes > 1 && c.lanes / 2 * 16 >= c.cols) c.lanes /= 2, c.workgroup /= 2;
  return c;
}

namespace {

// A lane's sums of H and L, for each row of the group and each column.
struct Sums {
  std::vector<Var<I32>> high, low;
};

void add_codes(const Dot4& dot4, const std::vector<Name<HeadCodes>>& codes, const In<"parts", HeadCodes>& parts,
               uint32_t units, uint32_t columns, const Name<U32>& i, const Sums& sums) {
  for (uint32_t column = 0; column < columns; ++column) {
    auto at_parts = let("at_parts", (i + column * units) * 2u);
    auto high = let("high", parts[at_parts]);
    auto low = let("low", parts[at_parts + 1u]);
    for (size_t r = 0; r < codes.size(); ++r) {
      const size_t sum = r * columns + column;
      for (uint32_t k = 0; k < 4; ++k) {
        sums.high[sum] += dot4(at(codes[r], k), at(high, k));
        sums.low[sum] += dot4(at(codes[r], k), at(low, k));
      }
    }
  }
}

// Sums over the lane's codes of all rows of the group. `starts`: where the rows' codes begin.
Sums sum_codes(const EstimateConfig& c, const In<"codes", HeadCodes>& codes, const In<"parts", HeadCodes>& parts,
               const std::vector<Name<U32>>& starts, const Name<U32>& lane) {
  const Dot4 dot4(c.caps);
  const uint32_t units = c.cols / 16, rounds = ceil_div(units, c.lanes);
  const auto load = [&](const Name<U32>& i) {
    std::vector<Name<HeadCodes>> loaded;
    for (const Name<U32>& start : starts) loaded.push_back(let("codes16", codes[start + i]));
    return loaded;
  };
  Sums sums;
  for (uint32_t i = 0; i < c.rows_per_group * c.columns; ++i) {
    sums.high.push_back(var("sum_high", 0));
    sums.low.push_back(var("sum_low", 0));
  }
  const auto add = [&](const std::vector<Name<HeadCodes>>& loaded, const Name<U32>& i) {
    add_codes(dot4, loaded, parts, units, c.columns, i, sums);
  };
  if (rounds * c.rows_per_group > c.most_ahead) {
    loop("i", lane, units, c.lanes, [&](const Name<U32>& i) { add(load(i), i); });
    return sums;
  }
  in_rounds_ahead(units, lane, c.lanes, load, [] {}, add);
  return sums;
}

}  // namespace

EstimateKernel estimate_logits(const EstimateConfig& c) {
  CHECK(c.cols % 16 == 0 && c.workgroup % c.lanes == 0 && c.columns <= kMostBestRows);
  return kernel(
      "estimate_logits", c.workgroup,
      [&](In<"codes", HeadCodes> codes, In<"errors", HeadErrors> errors, In<"parts", HeadCodes> parts,
          In<"bounds", HeadErrors> bounds, Out<"upper", F32> upper, InOut<"greatest", Atomic<U32>> greatest,
          WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
        auto group = let("workgroup_index", wg.y * n_wg.x + wg.x);
        auto lane = let("lane", tid & (c.lanes - 1));
        auto first = let("first", group * c.rows_per_workgroup() + tid / c.lanes);
        std::vector<Name<U32>> rows, existing, starts;
        for (uint32_t r = 0; r < c.rows_per_group; ++r) {
          rows.push_back(let("row", first + r * (c.workgroup / c.lanes)));
          existing.push_back(let("existing", min(rows[r], c.rows - 1)));
          starts.push_back(let("start", existing[r] * (c.cols / 16)));
        }
        const Sums sums = sum_codes(c, codes, parts, starts, lane);
        std::vector<Name<HeadErrors>> known;
        for (const Name<U32>& row : existing) known.push_back(let("known", errors[row]));
        for (uint32_t column = 0; column < c.columns; ++column) {
          auto bound = let("bound", bounds[column]);
          auto lower = var("lower", kBelowAll);
          for (uint32_t r = 0; r < c.rows_per_group; ++r) {
            const size_t i = r * c.columns + column;
            auto mine = let("mine", f32(sums.high[i]) * 128.0f + f32(sums.low[i]));
            auto sum = reduce_lanes(Reduce::kSum, c.caps, mine, tid, c.lanes, c.workgroup);
            auto estimate = let("estimate", sum * (at(bound, 0) * at(known[r], 0)));
            auto off =
                let("off", (at(known[r], 1) * at(bound, 1) + at(known[r], 2) * at(bound, 2) + at(bound, 3)) * kUp);
            auto is_known = let("is_known", at(known[r], 1) < kUnknown && at(bound, 3) < kUnknown);
            when(rows[r] < c.rows, [&] {
              when(is_known, [&] { lower = max(lower, estimate - off); });
              when(lane == 0u, [&] { upper[column * c.rows + rows[r]] = select(kAboveAll, estimate + off, is_known); });
            });
          }
          auto of_group = let("of_group", lower);
          auto all = reduce_workgroup(Reduce::kMax, c.caps, of_group, tid, c.workgroup);
          when(tid == 0u && group < c.n_workgroups(),
               [&] { atomicMax(greatest[column * kGreatestParts + group % kGreatestParts], key_of(all)); });
        }
      });
}

}  // namespace tern::gpu
