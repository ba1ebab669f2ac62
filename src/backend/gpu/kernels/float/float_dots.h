// Dot products of a few rows of a float matrix with one or more rows of activations. Included only by the files of such
// kernels.
#pragma once

#include <algorithm>
#include <vector>

#include "backend/gpu/kernels/float/float_activations.h"
#include "base/bytes.h"
#include "base/check.h"

namespace tern::gpu::float_matvec {

// Takes a row's units, `lanes` at a time, unrolled: loads all of them, calls between(), and then calls add(result of
// load(i), i) for each. Past the row's end the last unit is loaded again, but not added.
template <class Load, class Between, class Add>
void in_rounds_ahead(uint32_t units, const Name<U32>& lane, uint32_t lanes, const Load& load, const Between& between,
                     const Add& add) {
  const uint32_t rounds = ceil_div(units, lanes);
  const auto is_whole = [&](uint32_t k) { return (k + 1) * lanes <= units; };
  std::vector<decltype(load(lane))> ahead;
  for (uint32_t k = 0; k < rounds; ++k) {
    auto i = is_whole(k) ? let("i", lane + k * lanes) : let("i", min(lane + k * lanes, units - 1));
    ahead.push_back(load(i));
  }
  between();
  for (uint32_t k = 0; k < rounds; ++k) {
    auto i = let("i", lane + k * lanes);
    if (is_whole(k)) {
      add(ahead[k], i);
    } else {
      when(i < units, [&] { add(ahead[k], i); });
    }
  }
}

using Totals = std::vector<Name<F32>>;  // one total for each row of all matrices

// Dot products of several rows, of one or two matrices, with one or more rows of activations.
class FloatDots {
 public:
  FloatDots(const FloatLinearConfig& c, const LocalIndex& tid)
      : c_(c), tid_(tid), group_(let("group", tid / c.lanes)), lane_(let("lane_of_row", tid & (c.lanes - 1))) {
    CHECK(c.cols % c.coding.values() == 0 && (c.lanes & (c.lanes - 1)) == 0 && c.workgroup % c.lanes == 0);
  }
  const Name<U32>& group() const { return group_; }
  const Name<U32>& lane() const { return lane_; }
  uint32_t units() const { return c_.cols / c_.coding.values(); }

  // The totals for each row of activations, on every lane of the group.
  template <class X>
  std::vector<Totals> multiply(const std::vector<Rows>& matrices, std::vector<X>& columns) const {
    std::vector<Sums> sums(columns.size());
    for (Sums& of_column : sums) {
      for (const Rows& m : matrices) {
        for (size_t r = 0; r < m.starts.size(); ++r) of_column.push_back(var("acc", 0.0f));
      }
    }
    const uint32_t rounds = ceil_div(units(), c_.lanes);
    if (rounds * sums.front().size() <= c_.most_ahead) {
      multiply_ahead(matrices, columns, sums);
    } else {
      for (X& x : columns) x.prepare();
      loop("i", lane_, units(), c_.lanes,
           [&](const Name<U32>& i) { add(columns, matrices, load(matrices, i), i, sums); });
    }
    std::vector<Totals> totals(columns.size());
    for (size_t column = 0; column < columns.size(); ++column) {
      for (const Var<F32>& sum : sums[column]) {
        auto mine = let("mine", sum);
        totals[column].push_back(reduce_lanes(Reduce::kSum, c_.caps, mine, tid_, c_.lanes, c_.workgroup));
      }
      if (!c_.normed) continue;
      const Name<F32> factor = columns[column].factor();
      for (Name<F32>& total : totals[column]) total = let("normed", total * factor);
    }
    return totals;
  }

 private:
  using Sums = std::vector<Var<F32>>;

  template <class X>
  static void add(const std::vector<X>& columns, const std::vector<Rows>& matrices, const std::vector<Loaded>& loaded,
                  const Name<U32>& i, const std::vector<Sums>& sums) {
    if constexpr (requires { X::add_to_all(columns, matrices, loaded, i, sums); }) {
      X::add_to_all(columns, matrices, loaded, i, sums);
    } else {
      for (size_t column = 0; column < columns.size(); ++column) columns[column].add(matrices, loaded, i, sums[column]);
    }
  }

  template <class X>
  void multiply_ahead(const std::vector<Rows>& matrices, std::vector<X>& columns, const std::vector<Sums>& sums) const {
    in_rounds_ahead(
        units(), lane_, c_.lanes, [&](const Name<U32>& i) { return load(matrices, i); },
        [&] {
          for (X& x : columns) x.prepare();
        },
        [&](const std::vector<Loaded>& loaded, const Name<U32>& i) { add(columns, matrices, loaded, i, sums); });
  }

  static std::vector<Loaded> load(const std::vector<Rows>& matrices, const Name<U32>& i) {
    std::vector<Loaded> loaded;
    for (const Rows& m : matrices) {
      for (const Name<U32>& start : m.starts) {
        auto at = let("at", start + i);
        auto unit = let("unit", m.w->unit(e(at)));
        loaded.push_back({unit, m.w->coding.group > 0 ? m.w->scale(at) : UnitScale{}});
      }
    }
    return loaded;
  }

  FloatLinearConfig c_;
  LocalIndex tid_;
  Name<U32> group_, lane_;
};

}  // namespace tern::gpu::float_matvec
