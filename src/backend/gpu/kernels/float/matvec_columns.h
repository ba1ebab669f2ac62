// The rows of x that a workgroup of the float kernels for few tokens multiplies, and where results go. Included only by
// the files of such kernels.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "backend/gpu/kernels/float/float_dots.h"
#include "backend/gpu/kernels/float/int8_activations.h"

namespace tern::gpu::float_matvec {

// The dot products of each row with each of the workgroup's rows of x.
template <class X, class... More>
std::vector<Totals> multiply_as(const FloatDots& dots, const std::vector<Rows>& matrices, std::deque<Input>& in,
                                const More&... more) {
  std::vector<X> columns;
  for (Input& row : in) columns.emplace_back(row, more...);
  return dots.multiply(matrices, columns);
}
inline std::vector<Totals> multiply(const FloatDots& dots, const std::vector<Rows>& matrices, std::deque<Input>& in) {
  const FloatLinearConfig& c = in.front().config();
  if (c.int8_x) return multiply_as<Int8Activations>(dots, matrices, in, Dot4(c.caps));
  return multiply_as<Activations>(dots, matrices, in);
}

// The rows of x that a workgroup multiplies.
template <class In>
struct Columns {
  std::deque<In> in;
  std::vector<Name<U32>> rows;           // of x and y
  std::optional<Name<U32>> n_rows = {};  // the number of rows of x; unset: every row of the grid exists
};

// Calls body(row of x, totals, r) for each row of x and each row r of the group below `count`, on the lane that stores
// the result.
template <class In, class Count, class Body>
void store_columns(const FloatDots& dots, const Columns<In>& columns, const std::vector<Name<U32>>& rows,
                   const Count& count, const std::vector<Totals>& totals, const Body& body) {
  for (size_t column = 0; column < columns.rows.size(); ++column) {
    const Name<U32>& row = columns.rows[column];
    for (size_t r = 0; r < rows.size(); ++r) {
      const auto store = [&] { body(row, totals[column], r); };
      if (columns.n_rows) {
        when(dots.lane() == 0u && rows[r] < count && row < *columns.n_rows, store);
      } else {
        when(dots.lane() == 0u && rows[r] < count, store);
      }
    }
  }
}

struct Grid {
  WorkgroupId wg;
  NumWorkgroups n_wg;
  LocalIndex tid;
};

}  // namespace tern::gpu::float_matvec
